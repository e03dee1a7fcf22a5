"""Small faults that were found on purpose: each failed before."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import (
    Blocks,
    Exact,
    InputError,
    NosplitWarning,
    goodness_of_fit_test,
    independence_test,
    joint_normal_test,
    mean_test,
    two_sample_test,
)
from nosplit.errors import NearCopyWarning, UnsafeAsymptoticsWarning
from nosplit.kernels import Gaussian
from nosplit.kernels.tensor import Tensor


def normal(*size, seed=0):
    return np.random.default_rng(seed).normal(size=size)


@pytest.mark.parametrize(
    ("pairs", "n", "used"), [("linear", 301, 600), ("adjacent", 301, 600), (Blocks(4), 2001, 4000)]
)
def test_rows_that_no_pair_uses_are_left_out(pairs, n, used):
    x, y = normal(2, n, 2)
    found = two_sample_test(x, y, pairs=pairs, calibration="asymptotic", kernels="paper2")
    assert (found.how.n_used, found.how.n_left_out) == (used, 2 * n - used)


@pytest.mark.parametrize("method", ["best", "ost", "wald"])
def test_tau_outside_the_range_of_a_singular_cov(method):
    with pytest.raises(InputError, match="range of `cov`"):
        joint_normal_test([1.0, 500.0], np.ones((2, 2)), method=method)
    assert joint_normal_test([2.0, 2.0], np.ones((2, 2)), method=method).pvalue < 0.1


def test_chibar_under_draws_makes_no_mixture_for_each(monkeypatch):
    """999 samples of the model took 17 s: each had 20,000 draws of its own."""
    made = []
    kept = nosplit.methods.ChiBar._mixture
    monkeypatch.setattr(
        nosplit.methods.ChiBar, "_mixture", lambda self, white: made.append(1) or kept(self, white)
    )
    model = nosplit.models.MultivariateNormal(np.zeros(2), 1.0)
    x = normal(20, 2)
    nosplit.goodness_of_fit_test(x, model, method="chibar", calibration=Exact(19))
    assert len(made) <= 2


def test_chibar_lengths_against_its_statistic():
    tau, root = normal(7, 3), normal(3, 3)
    method = nosplit.methods.ChiBar(draws=50)
    expected = method(tau, root @ root.T).statistic
    np.testing.assert_allclose(method.lengths(tau, root @ root.T), expected)


def test_whole_numbers_that_floats_round():
    x = 1000 * np.arange(40) + 2**60
    with pytest.warns(NosplitWarning, match="beyond 2"):
        two_sample_test(x, x + 5, kernels=[nosplit.kernels.Linear()], calibration=Exact(19))
    x = x - 2**60
    two_sample_test(x, x + 5, kernels=[nosplit.kernels.Linear()], calibration=Exact(19))


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("power", [53, 60])
def test_whole_numbers_that_floats_make_equal_iv(table, power):
    x, y = np.full(40, 2**power), np.full(40, 2**power + 1)
    if table:
        x, y = pd.DataFrame({"v": x}), pd.DataFrame({"v": y})
    with pytest.raises(nosplit.InputError, match="equal once they are rounded to floats"):
        two_sample_test(x, y)


def test_layouts_share_what_is_compiled():
    """Arrays of pandas lie by columns: loops were compiled again, for ten seconds."""
    from nosplit.backend.numba.values import two_sample_moments

    x, y = normal(2, 400, 3)
    fixed = x.copy()
    fixed.flags.writeable = False
    options = {"kernels": "paper1", "pairs": "linear", "calibration": "asymptotic"}
    two_sample_test(x, y, **options)
    before = len(two_sample_moments.signatures)
    for layout in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], fixed, x[::-1].copy()[::-1]):
        two_sample_test(layout, y, **options)
    assert len(two_sample_moments.signatures) == before


def test_few_rows_of_any_law_are_not_trusted():
    """Where a long tail was missed, no statistic of the rows shows it: 5 of 9 quiet ones at .01."""
    with pytest.warns(UnsafeAsymptoticsWarning, match="long tail"):
        found = mean_test(normal(60, 1))
    assert found.how.calibration == "cautious"


def test_last_bits_do_not_decide_what_is_learned():
    """At most k of the p-values of all eight swaps are up to k / 8; five were up to 4 / 8.

    Sums over swapped rows differ in their last bit, and of a singular Σ that was enough.
    """
    x = np.zeros((4, 2))
    y = np.array(
        [
            [1.61935822, -9.59628875],
            [-2.64912608, 6.35882204],
            [17.86456759, 15.39814884],
            [-3.3835194, 6.93384626],
        ]
    )
    found = []
    for swapped in itertools.product((False, True), repeat=3):
        which = np.array([False, *swapped])[:, None]
        a, b = np.where(which, y, x), np.where(which, x, y)
        found.append(two_sample_test(a, b, kernels="paper6", paired=True).pvalue)
    p = np.sort(found)
    assert np.all(np.searchsorted(p, p + 1e-12) <= 8 * p + 1e-9)


# Closed forms of few pairs ----------------------------------------------------------------------


def test_pairs_that_are_hardly_more_than_kernels_are_refused():
    """Of samples of one law .8 were rejected with 15 pairs of 10 kernels, with p down to 1e-60."""
    x, y = normal(2, 24, 3)
    with pytest.raises(nosplit.InputError, match=r"12 pairs are too few.*at least 14"):
        two_sample_test(x, y, pairs="linear", calibration="asymptotic")
    stream = nosplit.IndependenceAccumulator(pairs="adjacent")
    stream.update(*normal(2, 240, 3))
    with pytest.raises(nosplit.InputError, match=r"15 pairs are too few.*at least 20"):
        stream.result()


# Closed forms of streams ------------------------------------------------------------------------


def stream_of_flags(rate, n, seed):
    kernels = [(Gaussian(1.0), Gaussian(1.0))]
    stream = nosplit.IndependenceAccumulator(kernels, pairs="adjacent")
    rng = np.random.default_rng(seed)
    for _ in range(4):
        stream.update(*(1.0 * (rng.random((n // 4, 1)) < rate) for _ in range(2)))
    return stream


def test_effective_pairs_of_streams_add_up(tmp_path):
    parts = [stream_of_flags(0.3, 2000, seed) for seed in (0, 1)]
    counts = [part._state.effective for part in parts]
    parts[0] += parts[1]
    np.testing.assert_allclose(parts[0]._state.effective, counts[0] + counts[1])
    parts[0].save(tmp_path / "s.json")
    loaded = nosplit.load(tmp_path / "s.json")
    np.testing.assert_array_equal(loaded._state.effective, parts[0]._state.effective)


@pytest.mark.filterwarnings("ignore::nosplit.errors.NearCopyWarning")
def test_half_line_models_in_streams():
    """E score² is infinite: the closed form rejected the truth at .15."""
    from scipy.stats import gamma

    stream = nosplit.GoodnessOfFitAccumulator(lambda x: 0.2 / x - 1.0)
    stream.update(gamma(1.2).rvs((20_000, 1), random_state=1))
    with pytest.warns(UnsafeAsymptoticsWarning, match="rule the statistics"):
        stream.result(n_resamples=99)


def test_rare_categories_in_streams_of_two_variables():
    with pytest.warns(NosplitWarning, match=r"pairs carry a kernel|so p is 1"):
        stream_of_flags(0.02, 20_000, 2).result()


def test_states_with_another_number_of_effective_pairs_are_damaged(tmp_path):
    import json

    path = tmp_path / "s.json"
    stream_of_flags(0.3, 4000, 0).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["state"]["effective"] = [1.0, 2.0]
    path.write_text(json.dumps(document), encoding="utf-8")
    with warnings.catch_warnings(), pytest.raises(InputError, match="damaged"):
        nosplit.load(path)


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_default_kernels_that_are_nearly_copies_are_no_news(monkeypatch):
    """Nobody who named no kernels can drop one of them; who named them hears of it."""
    x, y = normal(2, 4000, 1)
    twins = (Gaussian(1.0), Gaussian(1.001))
    pairs = tuple(Tensor(k, Gaussian(1.0)) for k in twins)
    monkeypatch.setattr("nosplit.kernels.stein.default_stein_kernels", lambda *_: twins)
    monkeypatch.setattr("nosplit.kernels.tensor.default_tensors", lambda *_, **__: pairs)
    closed = {"calibration": "asymptotic", "pairs": "linear"}
    goodness_of_fit_test(x, lambda rows: -rows, **closed)  # a warning would be an error
    independence_test(x, y, **closed)
    with pytest.warns(NearCopyWarning):
        goodness_of_fit_test(x, lambda rows: -rows, kernels=twins, **closed)
    with pytest.warns(NearCopyWarning):
        independence_test(x, y, kernels=pairs, **closed)


# Odd files and numbers --------------------------------------------------------------------------


def test_p_values_of_a_check_are_never_zero():
    x, y = np.random.default_rng(0).normal(size=(2, 80))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nosplit.NosplitWarning)
        found = nosplit.power.calibration_check(x, y, method="naive", trials=100)
    assert np.all(found.pvalues > 0.0)
