"""Goodness of fit: Stein kernels against their definition, calibrations against theory."""

from __future__ import annotations

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.signal import lfilter

from nosplit import (
    Exact,
    Gaussian,
    InputError,
    Linear,
    Matern,
    Split,
    Wild,
    goodness_of_fit_test,
    models,
)
from nosplit.api.ways.scored import SEVERAL_KERNELS
from nosplit.errors import DependentRowsWarning, UnsafeAsymptoticsWarning
from nosplit.families.chain import (
    ChainBlocks,
    Runs,
    batch_length,
    chain_blocks,
    correlation_times,
)
from nosplit.families.fitting import fit_stein_bank
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.inference.caveats import SMALLEST_PAIRS
from nosplit.kernels import IMQ, Laplace
from nosplit.kernels.derived.stein import SteinBank, default_stein_kernels
from nosplit.pairs.dealing import Natural, shuffled
from nosplit.pairs.loop import accumulate, accumulate_draws
from nosplit.pairs.neighbours import LagOne
from nosplit.pairs.pairing import Adjacent, Aligned, Blocks, Complete, LinearPairs, Tile, Window

KERNELS = (
    Gaussian(0.5),
    Gaussian(1.0),  # from the first one by squaring
    Gaussian(3.0),
    IMQ(1.0),
    IMQ(2.0, -0.3),
    Matern(1.5, 1.5),
    Matern(2.0, 2.5),
)
MODEL = models.StudentT(4.0, [0.0, 1.0, 0.0], 2.0)
NORMAL = models.MultivariateNormal(0.0)


def units(x, scores, kernels=KERNELS, order=None):
    return SteinUnits(x, scores, order or Natural(), SteinBank(tuple(kernels)), range(len(x)))


def sample(n, seed=0, model=MODEL):
    x = model.sample(n, np.random.default_rng(seed))
    return x, model.score(x)


def definition(kernel, x, y, s, t, step=1e-4):
    """Liu et al. (2016), definition 3.2, its derivatives by central differences."""

    def k(a, b):
        return float(kernel.aligned(a[None], b[None])[0])

    moves = step * np.eye(len(x))
    in_x = np.array([k(x + e, y) - k(x - e, y) for e in moves]) / (2 * step)
    in_y = np.array([k(x, y + e) - k(x, y - e) for e in moves]) / (2 * step)
    mixed = [k(x + e, y + e) - k(x + e, y - e) - k(x - e, y + e) + k(x - e, y - e) for e in moves]
    return s @ t * k(x, y) + s @ in_y + t @ in_x + sum(mixed) / (4 * step**2)


def chain(n, p, phi, rng):
    noise = rng.standard_normal((n + 500, p)) * np.sqrt(1.0 - phi**2)
    return np.ascontiguousarray(lfilter([1.0], [1.0, -phi], noise, axis=0)[500:])


def most(trials, share, false_alarm=1e-4):
    """Rejections that are exceeded with probability `false_alarm` if `share` is the true level."""
    return stats.binom.isf(false_alarm, trials, share)


# The statistic ----------------------------------------------------------------------------------


@pytest.mark.parametrize("u", range(len(KERNELS)), ids=[str(k) for k in KERNELS])
def test_stein_kernel_against_its_definition(u):
    x, s = sample(12)
    values = units(x, s).values(Tile(range(6), range(6, 12)))[u]
    wanted = [
        [definition(KERNELS[u], x[i], x[j], s[i], s[j]) for j in range(6, 12)] for i in range(6)
    ]
    np.testing.assert_allclose(values, wanted, atol=1e-6)


@pytest.mark.parametrize("u", range(len(KERNELS)), ids=[str(k) for k in KERNELS])
def test_mean_over_the_model_is_zero_against_theory(u):
    """E u(x, X') = 0 for every x: by quadrature under a standard normal model."""
    for at in (-1.3, 0.2, 2.0):

        def integrand(y, at=at):
            x = np.array([[at], [y]])
            value = units(x, -x).values(Aligned(range(1), range(1, 2)))[u, 0]
            return value * stats.norm.pdf(y)

        parts = [integrate.quad(integrand, *ends)[0] for ends in ((-12, at), (at, 12))]
        assert abs(sum(parts)) < 1e-7


def test_complete_pairs_are_the_textbook_u_statistic():
    """Chwialkowski et al. (2016), section 2, for a Gaussian kernel, over all i ≠ j."""
    x, s = sample(40)
    n, p, width = len(x), x.shape[1], 1.3
    total = 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                d = x[i] - x[j]
                k = np.exp(-d @ d / (2 * width**2))
                total += k * (
                    s[i] @ s[j]
                    + s[i] @ d / width**2
                    - s[j] @ d / width**2
                    + p / width**2
                    - d @ d / width**4
                )
    moments = accumulate(units(x, s, [Gaussian(width)]), Complete(), workers=1)
    assert moments.mean[0] == pytest.approx(total / (n * (n - 1)), rel=1e-12)


@pytest.mark.parametrize(
    "pairing", [LinearPairs(), Adjacent(), Window(3), Blocks(7), Complete()], ids=str
)
def test_pairings_and_orders_agree_with_one_tile(pairing):
    x, s = sample(41)
    order = shuffled(41, np.random.default_rng(1))
    rows = order.rows(range(41))
    whole = units(x[rows], s[rows]).values(Tile(range(41), range(41)))
    pairs = {LinearPairs: [(i, 20 + i) for i in range(20)]}.get(type(pairing))
    moments = accumulate(units(x, s, order=order), pairing, workers=1)
    again = accumulate(units(x, s, order=order), pairing, workers=2)
    assert moments.n == pairing.n_pairs(41)
    np.testing.assert_array_equal(moments.mean, again.mean)
    if pairs is not None:
        i, j = np.transpose(pairs)
        np.testing.assert_allclose(moments.mean, whole[:, i, j].mean(axis=1), rtol=1e-12)
    if isinstance(pairing, Complete):
        i, j = np.triu_indices(41, 1)
        np.testing.assert_allclose(moments.mean, whole[:, i, j].mean(axis=1), rtol=1e-12)


def test_wild_draws_are_signs_of_units():
    x, s = sample(6)
    some = units(x, s)
    draws = accumulate_draws(some, Complete(), some.draws(999, np.random.default_rng(0)))
    H = some.values(Tile(range(6), range(6)))
    signs = 1 - 2 * ((np.arange(32)[:, None] >> np.arange(6)) & 1)  # -ε gives what ε gives
    wanted = [[e @ np.triu(h, 1) @ e for h in H] for e in signs]
    np.testing.assert_allclose(draws.sums, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


# Calibration ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", Split(0.5)], ids=str)
def test_simulated_p_values_are_uniform_at_eight_rows(method):
    """The rank among 20 is uniform; a chi-square test, false alarm 1e-4 for each method."""
    rng, ranks = np.random.default_rng(3), []
    for _ in range(150):
        x = NORMAL.sample(8, rng)
        result = goodness_of_fit_test(
            x, NORMAL, method=method, calibration=Exact(19), pairs="complete", rng=rng, workers=1
        )
        assert result.calibration == "simulate"
        assert result.flips == 19
        ranks.append(round(20 * result.pvalue))
    counts = np.bincount(ranks, minlength=21)[1:]
    assert stats.chisquare(counts.reshape(5, 4).sum(axis=1)).pvalue > 1e-4
    assert counts[0] <= most(150, 0.05)


def test_wild_level_at_the_smallest_safe_n():
    """At most .08 there (docs/measured/goodness_of_fit.md); false alarm 1e-4."""
    rng, trials = np.random.default_rng(4), 100
    model = models.MultivariateNormal(np.zeros(3))
    hits = 0
    for _ in range(trials):
        x = model.sample(SEVERAL_KERNELS, rng)
        result = goodness_of_fit_test(x, model.score, calibration=Wild(199), rng=rng, workers=1)
        hits += result.pvalue <= 0.05
    assert hits <= most(trials, 0.08)


def test_asymptotic_level_of_linear_pairs():
    """At most .08 with 1,000 pairs a kernel, as docs/measured has it; false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(5), 100, 0
    for _ in range(trials):
        x = NORMAL.sample(4 * SMALLEST_PAIRS * 4, rng)
        result = goodness_of_fit_test(
            x, -x, calibration="asymptotic", pairs="linear", shuffle=False, workers=1
        )
        hits += result.pvalue <= 0.05
    assert hits <= most(trials, 0.08)


def test_fewer_pairs_than_that_are_warned_of():
    x = NORMAL.sample(1000, np.random.default_rng(5))
    with pytest.warns(
        UnsafeAsymptoticsWarning, match=r"500 pairs are few .*at least 4000 are safe"
    ):
        goodness_of_fit_test(x, -x, calibration="asymptotic", pairs="linear")


@pytest.mark.parametrize("calibration", ["simulate", "wild"])
def test_power_against_a_heavier_tail(calibration):
    x = np.random.default_rng(0).laplace(size=(150, 1))
    result = goodness_of_fit_test(x, NORMAL, calibration=calibration)
    assert result.reject(0.01)
    assert result.calibration == calibration


def test_simulation_makes_bandwidths_again():
    """With the data's bandwidth kept, a sample ten times too wide could not be told so well."""
    seen = []

    def recipe(bandwidth):
        seen.append(bandwidth)
        return default_stein_kernels(bandwidth)

    x = NORMAL.sample(20, np.random.default_rng(1)) * 10.0
    goodness_of_fit_test(x, NORMAL, kernels=recipe, calibration=Exact(19), workers=1)
    assert seen[0] == 1.0  # to count the kernels
    assert seen[1] == seen[2] > 5.0 > max(seen[3:])  # to plan, and to test
    assert len(set(seen)) == 21


# Choices ----------------------------------------------------------------------------------------


def test_auto_simulates_small_samples_of_models_and_flips_others():
    x, _ = sample(40, model=NORMAL)
    assert goodness_of_fit_test(x, NORMAL).calibration == "simulate"
    result = goodness_of_fit_test(x, NORMAL.score)
    assert (result.calibration, result.pairs, result.method) == ("wild", "complete", "adaptive")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = goodness_of_fit_test(x[:11], NORMAL.score)
    assert "11 rows are few for the wild bootstrap" in " ".join(few.warnings)
    x, _ = sample(30_000, model=NORMAL)
    result = goodness_of_fit_test(x, NORMAL, budget=0.05)
    assert (result.calibration, result.pairs, result.method) == ("wild", "sketch", "adaptive")


@pytest.mark.parametrize("calibration", ["asymptotic", "wild", "simulate"])
def test_workers_do_not_change_the_result(calibration):
    x, _ = sample(2000 if calibration == "asymptotic" else 300, model=NORMAL)
    options = {"calibration": Exact(19) if calibration == "simulate" else calibration, "pairs": 2}
    one, two = (goodness_of_fit_test(x, NORMAL, workers=w, **options) for w in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.calibration == calibration


class Tensor:
    """What of a torch tensor matters here."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def cpu(self):
        return self

    def __neg__(self):
        return Tensor(-self.values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


def test_scores_from_functions_arrays_models_and_tensors(monkeypatch):
    x, scores = sample(60, model=NORMAL)

    def torch_only(x):
        if not isinstance(x, Tensor):
            raise TypeError("expected a tensor")
        return -x

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(as_tensor=Tensor))
    results = [
        goodness_of_fit_test(x, score, calibration="wild", kernels=Gaussian(1.0)).pvalue
        for score in (NORMAL, NORMAL.score, scores, scores[:, 0], lambda x: -x[:, 0], torch_only)
    ]
    assert len(set(results)) == 1


def test_thinning_takes_scores_along():
    x, scores = sample(300, model=NORMAL)
    results = [
        goodness_of_fit_test(rows, score, thin=thin, calibration="wild").pvalue
        for rows, score, thin in ((x, scores, 3), (x, NORMAL.score, 3), (x[::3], scores[::3], 1))
    ]
    assert len(set(results)) == 1


# Chains -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("phi", "n"), [(0.5, 4_000), (0.9, 10_000)])
def test_level_on_a_chain(phi, n):
    """AR(1) chains: at most .07 with dependent=True; false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(6), 15, 0
    for _ in range(trials):
        x = chain(n, 2, phi, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsafeAsymptoticsWarning)
            hits += goodness_of_fit_test(x, -x, dependent=True, workers=1).pvalue <= 0.05
    assert hits <= most(trials, 0.07)


def test_a_chain_taken_for_independent_rows_is_thinned():
    """Nearly all such chains of 40 to 2,000 rows were rejected, the short ones without a word."""
    x = chain(2000, 2, 0.9, np.random.default_rng(7))
    with pytest.warns(DependentRowsWarning, match=r"one in \d+ was used.*Use dependent=True"):
        result = goodness_of_fit_test(x, -x)
    assert not result.reject(0.01)
    assert 20 < result.n_used < 400
    assert result.n_used + result.n_left_out == 2000


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_short_chains():
    """15 of 20 were rejected."""
    rng, trials = np.random.default_rng(11), 30
    hits = sum(
        goodness_of_fit_test(chain(60, 1, 0.9, rng), lambda x: -x, rng=t).reject(0.05)
        for t in range(trials)
    )
    assert hits <= most(trials, 0.1)


def test_independent_rows_do_not_look_like_a_chain():
    """One false alarm in a thousand: at most 4 in 500 (probability of more 1.7e-4)."""
    from nosplit.families.chain import looks_like_a_chain

    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(500):
        x = NORMAL.sample(200, rng)
        alarms += bool(looks_like_a_chain(units(x, -x, default_stein_kernels(1.0))))
    assert alarms <= 4


def test_chain_from_another_law_is_found():
    x = chain(20_000, 2, 0.9, np.random.default_rng(9)) + 0.5
    result = goodness_of_fit_test(x, -x, dependent=True)
    assert result.reject(0.01)
    assert (result.calibration, result.pairs) == ("wild", "complete")
    assert result.n_used + result.n_left_out == 20_000
    closed = goodness_of_fit_test(x, -x, dependent=True, calibration="asymptotic")
    assert closed.reject(0.01)
    assert (closed.calibration, closed.pairs) == ("asymptotic", "linear")
    assert len(closed.kernels) in (1, 3)


def test_blocks_of_a_chain_are_sums_of_rows():
    """Values of pairs of blocks against plain sums over their rows."""
    x = chain(60, 2, 0.5, np.random.default_rng(13))
    rows = units(x, -x, [IMQ(1.0), IMQ(2.0)])
    h = ChainBlocks(rows, 10, 1).values(Tile(range(6), range(6)))
    every = rows.values(Tile(range(60), range(60)))
    expected = every.reshape(2, 6, 10, 6, 10).sum(axis=(2, 4)) / 10
    np.testing.assert_allclose(h, expected, rtol=1e-12)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_correlation_times_against_theory(phi):
    """(1 + φ)/(1 - φ) for an AR(1) series, alone or beside fast ones, within a third."""
    x = chain(50_000, 3, phi, np.random.default_rng(14)).T
    x[1:] = np.random.default_rng(15).normal(size=(2, 50_000))
    assert correlation_times(x) == pytest.approx((1 + phi) / (1 - phi), rel=1 / 3)


def test_runs_are_batch_means():
    """τ is that of all pairs, Σ̂ the length times the covariance of batch means."""
    x = chain(400, 2, 0.5, np.random.default_rng(10))
    rows = units(x, -x, [IMQ(1.0), IMQ(2.0)])
    h = rows.values(Aligned(range(200), range(200, 400)))
    moments = accumulate(Runs(rows, 10), LinearPairs(), workers=1)
    batches = h.reshape(2, 20, 10).mean(axis=2)
    np.testing.assert_allclose(moments.tau, np.sqrt(200) * h.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(moments.cov, 10 * np.cov(batches, bias=True), rtol=1e-10)


def test_batches_grow_with_correlation():
    rng = np.random.default_rng(11)
    lengths = []
    for phi in (0.0, 0.5, 0.9):
        values = chain(5000, 1, phi, rng).T
        assert LagOne.of_values(values).correlations[0] == pytest.approx(phi, abs=0.05)
        lengths.append(batch_length(values, 5000))
    assert lengths == sorted(lengths)
    assert 20 <= lengths[1] <= 45  # 10 (1 + φ)/(1 - φ) = 30


def test_short_chains_use_one_kernel_and_warn_when_too_short():
    x = chain(3000, 1, 0.8, np.random.default_rng(12))
    closed = {"dependent": True, "calibration": "asymptotic"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsafeAsymptoticsWarning)
        assert len(goodness_of_fit_test(x, -x, **closed).kernels) == 1
    with pytest.warns(UnsafeAsymptoticsWarning, match="run it longer"):
        goodness_of_fit_test(x[:500], -x[:500], **closed)
    with pytest.warns(UnsafeAsymptoticsWarning, match="run it longer"):
        goodness_of_fit_test(x[:500], -x[:500], dependent=True)


# Input ------------------------------------------------------------------------------------------


def refuse(match, x=None, score=None, **options):
    rows = sample(30, model=NORMAL)[0] if x is None else x
    with pytest.raises(InputError, match=match):
        goodness_of_fit_test(rows, NORMAL.score if score is None else score, **options)


def test_chain_iv():
    closed = {"dependent": True, "calibration": "asymptotic"}
    refuse('`pairs` must be "complete", or "linear"', **closed, pairs="complete")
    refuse('`pairs` must be "complete", or "linear"', dependent=True, pairs=3)
    refuse('`calibration` must be "wild", or', dependent=True, calibration=Exact())
    refuse('`calibration` must be "wild", or', dependent=True, calibration="wild", pairs="linear")
    refuse("`thin` must be an int ≥ 1, got 0", thin=0)
    refuse(r"`x` must have at least 4 rows \(after thinning\), got 3", thin=10)


def test_score_iv():
    refuse(r"`score` must give one row of 1 .* got shape \(30, 2\)", score=np.zeros((30, 2)))
    refuse("`score` must be finite", score=lambda x: x * np.nan)
    refuse(r"Call it: `StudentT\(...\)`", score=models.StudentT)
    refuse("counts have none", score=stats.poisson(3))
    refuse("Models are in `nosplit.models`", score="normal")
    refuse("needs a model that can sample", calibration="simulate")
    refuse("`calibration` must be one of .* Did you mean 'wild'", calibration="wilde")
    refuse("`calibration` must be a name", calibration=3)
    with pytest.raises(InputError, match="`flips` must be an int ≥ 19"):
        Wild(flips=5)


def test_kernels_iv():
    for kernel in (Linear(), Laplace(1.0), Matern(1.0, 0.5), Gaussian(1.0) + Gaussian(2.0)):
        refuse("`kernels` of a Stein test must be Gaussian, IMQ or Matern", kernels=[kernel])
    refuse("`kernels` must be a kernel, some kernels", kernels=[])
    refuse("`x` is constant", x=np.ones((10, 1)))
    refuse('`pairs="complete"` has no normal limit', pairs="complete", calibration="asymptotic")


def test_errors_in_functions_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        goodness_of_fit_test(np.arange(10.0), lambda x: 1 / 0)


def test_blocks_of_chains_grow_where_there_are_many():
    """Six correlation times at the least, sixty blocks if there can be as many."""
    rng = np.random.default_rng(2)
    counts = {}
    for n in (400, 4_000, 40_000):
        x = rng.normal(size=(n, 1))
        units = SteinUnits(x, -x, Natural(), fit_stein_bank(None, x), range(n))
        blocks = chain_blocks(units, most_rows=n)
        counts[n] = blocks.n_units
        assert blocks.length >= 6
    assert 50 <= counts[400] <= 67
    assert 100 <= counts[4_000] < 4_000**0.6 * 1.2
    assert counts[4_000] < counts[40_000] < 40_000**0.6 * 1.2


@pytest.mark.parametrize(("n", "p", "few"), [(50, 10, 0), (50, 50, 1), (90, 50, 0), (25, 5, 1)])
def test_few_rows_of_many_columns_have_two_kernels(n, p, few):
    """Of 1,826 samples of 50 rows of 50 columns .077 were rejected at .05 without a word.

    Learning from so few rows which of four kernels to trust is what cost the level.
    """
    x = np.random.default_rng(3).normal(size=(n, p))
    alone = goodness_of_fit_test(x, -x, workers=1)
    assert len(alone.kernels) == (2 if few else 4)
    assert not alone.warnings
    model = models.MultivariateNormal(np.zeros(p))  # too little time for all pairs:
    narrow = goodness_of_fit_test(x, model, budget=0.025 if n < 50 else 0.05, workers=1)
    assert narrow.calibration == ("simulate" if few else "wild")
    if few:
        with pytest.warns(UnsafeAsymptoticsWarning, match=f"{n} rows are few for the wild"):
            goodness_of_fit_test(x, -x, kernels=[IMQ(1.0), IMQ(2.0), IMQ(5.0)], workers=1)


def test_two_kernels_of_few_rows_see_what_one_does_not():
    """A common part of 40 rows of ten columns: one kernel finds a seventh of such samples."""
    rng, trials, found = np.random.default_rng(4), 30, {"default": 0, "one": 0}
    for trial in range(trials):
        x = rng.normal(size=(40, 10))
        x = (x + 0.5 * x[:, :1]) / np.where(np.arange(10) == 0, 1.5, np.sqrt(1.25))
        options = {"calibration": Wild(199), "rng": trial, "workers": 1}
        for name, kernels in (("default", None), ("one", lambda b: [IMQ(b)])):
            found[name] += goodness_of_fit_test(x, -x, kernels=kernels, **options).reject(0.05)
    assert found["one"] <= 12
    assert found["default"] >= 20


def test_two_kernels_of_few_rows_keep_the_level():
    """20 rows of 50 columns had .11; false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(12), 200, 0
    for trial in range(trials):
        x = rng.normal(size=(20, 50))
        hits += goodness_of_fit_test(x, -x, calibration=Wild(99), rng=trial).pvalue <= 0.05
    assert hits <= most(trials, 0.055)
