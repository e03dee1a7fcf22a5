"""Goodness of fit: Stein kernels against their definition, exactness, level, designs, input."""

from __future__ import annotations

import sys
import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.signal import lfilter

import nosplit
from nosplit import Exact, InputError, Wild, goodness_of_fit_test, models
from nosplit.core.exchange import signs
from nosplit.core.order import Natural, shuffled
from nosplit.core.pairings import (
    Adjacent,
    Aligned,
    Blocks,
    Complete,
    LinearPairs,
    Tile,
    Window,
)
from nosplit.core.statistics import statistics
from nosplit.data.labels import RowLabels
from nosplit.data.scored import ScoredRows
from nosplit.errors import UnsafeAsymptoticsWarning
from nosplit.families import design
from nosplit.families.stein import compare_by_signs, compare_with_samples
from nosplit.families.stein_pairs import SteinUnits
from nosplit.inference.plan import Effort
from nosplit.kernels import IMQ, Gaussian, Laplace, Linear, Matern
from nosplit.kernels.stein import SteinBank, default_stein_kernels

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
    moments = units(x, s, [Gaussian(width)]).total(Complete(), workers=1)
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
    moments, again = (units(x, s, order=order).total(pairing, w) for w in (1, 2))
    assert moments.n == pairing.n_pairs(41)
    np.testing.assert_array_equal(moments.mean, again.mean)
    if pairs is not None:
        i, j = np.transpose(pairs)
        np.testing.assert_allclose(moments.mean, whole[:, i, j].mean(axis=1), rtol=1e-12)
    if isinstance(pairing, Complete):
        i, j = np.triu_indices(41, 1)
        np.testing.assert_allclose(moments.mean, whole[:, i, j].mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("p", [1, 3])
def test_means_of_samples_are_those_of_their_pairs(p):
    """In runs of 1,024 pairs, which 60 rows have more of."""
    from nosplit.backend.numba.stein import sample_means

    x, bank = np.random.default_rng(0).normal(size=(3, 60, p)), SteinBank(KERNELS)
    means = np.empty((3, len(bank)))
    sample_means(bank.program, x, -x, means)
    expected = [units(rows, -rows).total(Complete(), 1).mean for rows in x]
    np.testing.assert_allclose(means, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("n", "at_once"), [(300, 1024), (30, 1)])
def test_signs_of_groups_against_brute_force(n, at_once, monkeypatch):
    """Sums over groups of several sizes, in more than one tile, and a few rows at a time."""
    monkeypatch.setattr(design, "MAX_ROWS_AT_ONCE", at_once)
    x = np.random.default_rng(1).normal(size=(n, 2))
    label = np.sort(np.random.default_rng(2).integers(n // 2, size=n))
    groups, said = design.signed_design(x, RowLabels(label, ()), False)
    bank, exchange = SteinBank(KERNELS[:2]), signs(groups.n, 50, 7)
    own = x[groups.row]
    form = groups.gram(2, lambda a, b: bank.tile((own[a], -own[a]), (own[b], -own[b])))
    found = statistics(exchange, {"kernels": form})["kernels"].tau
    member = (label == np.unique(label)[:, None]) * np.sqrt(groups.n / n)
    H = member @ bank.tile((x, -x), (x, -x)) @ member.T
    weights = exchange.chunks[0][:, 0].astype(float)
    wanted = [[w @ np.triu(h, 1) @ w / 4.0 for h in H] for w in weights]
    assert said.count == groups.n == len(np.unique(label))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-5 * np.abs(wanted).max())


# Calibration ------------------------------------------------------------------------------------


def assert_uniform_at_most(found):
    values = np.asarray(found)
    share = np.mean(values[:, None] <= values + 1e-12, axis=0)
    assert np.all(share <= values + 1e-12)
    assert values.min() < 0.2


@pytest.mark.parametrize("law", ["normal", "tails"])
@pytest.mark.parametrize("p", [1, 3])
@pytest.mark.parametrize("how", ["everything", "waves", "named", "best"])
def test_simulation_is_exact(law, p, how):
    """Any of twenty samples of the model may be the data: each p-value comes once."""
    rng = np.random.default_rng(3)
    draw = rng.normal if law == "normal" else rng.standard_cauchy
    pilot, samples = draw(size=(1000, p)), draw(size=(20, 8, p))
    kernels, method = (Gaussian(1.0) if how == "named" else None), None
    method = nosplit.methods.Best() if how == "best" else None
    joint, alone = [], []
    for r in range(20):
        batches = iter([pilot, np.delete(samples, r, axis=0).reshape(-1, p)])
        found = compare_with_samples(
            ScoredRows(samples[r], -samples[r]),
            lambda count, batches=batches: ScoredRows(own := next(batches)[:count], -own),
            kernels,
            Effort(19, 16 if how == "waves" else 0),
            np.random.default_rng(0),
            method,
            scaled=how == "waves",
        ).finding
        joint.append(found.pvalue)
        alone.append(0.05 if found.columns is None else found.columns.adjusted.min())
    assert_uniform_at_most(joint)
    if how in ("everything", "waves"):
        assert_uniform_at_most(alone)
    else:
        assert found.columns is None


@pytest.mark.parametrize("length", [1, 2])
def test_signs_are_exact_for_scores_that_are_odd(length):
    """Linear features of -x are those of x with another sign: all data sets of an orbit."""
    x = np.random.default_rng(4).standard_cauchy((7 * length, 2))
    found = []
    for flips in product([-1.0, 1.0], repeat=7):
        rows = np.repeat(flips, length)[:, None] * x
        units, _ = design.signed_design(x, None, length)
        test = compare_by_signs(
            ScoredRows(rows, -rows), units, None, None, Effort(999), np.random.default_rng(0)
        )
        found.append(test.finding.kinds["linear"])
        assert set(test.finding.kinds) == {"learned", "linear"}
        assert (test.finding.n_draws, test.n_permutations) == (64, 64.0)
    assert_uniform_at_most(found)


def test_what_is_fitted_knows_no_data():
    """Bandwidths are those of a pilot sample of the model, whatever the data."""
    seen = []

    def recipe(bandwidth):
        seen.append(bandwidth)
        return default_stein_kernels(bandwidth)

    x = NORMAL.sample(20, np.random.default_rng(1))
    for scale in (1.0, 10.0):
        goodness_of_fit_test(scale * x, NORMAL, kernels=recipe, calibration=Exact(19), workers=1)
    fitted = [bandwidth for bandwidth in seen if bandwidth != 1.0]  # 1.0 counts the kernels
    assert len(fitted) == 2
    assert fitted[0] == fitted[1] == pytest.approx(0.954, rel=0.05)  # of N(0, 2)


@pytest.mark.parametrize(("n", "p"), [(25, 1), (50, 3)])
@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_wild_level(n, p):
    """At most .08 (docs/measured/goodness_of_fit.md); false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(4), 100, 0
    model = models.MultivariateNormal(np.zeros(p))
    for _ in range(trials):
        x = model.sample(n, rng)
        hits += goodness_of_fit_test(x, model.score, calibration=Wild(199), rng=rng).reject(0.05)
    assert hits <= most(trials, 0.08)


def test_level_of_groups():
    """Thirty groups of one to five rows that have half of their variance in common."""
    rng, trials, hits = np.random.default_rng(5), 100, 0
    for trial in range(trials):
        label = np.repeat(np.arange(30), 1 + np.arange(30) % 5)
        x = np.sqrt(0.5) * (rng.normal(size=(30, 2))[label] + rng.normal(size=(len(label), 2)))
        res = goodness_of_fit_test(x, normal_score, groups=label, calibration=Wild(199), rng=trial)
        hits += res.reject(0.05)
    assert hits <= most(trials, 0.08)
    assert res.how.design.count == res.how.n_units == 30


def test_asymptotic_level_of_linear_pairs():
    """At most .08 with 1,000 pairs a kernel, as docs/measured has it; false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(5), 100, 0
    for _ in range(trials):
        x = NORMAL.sample(8000, rng)
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
    assert result.how.calibration == calibration


# Choices ----------------------------------------------------------------------------------------


def gamma_score(x):
    return 2.0 / x - 1.0  # of a gamma law with shape 3


def test_a_declared_support_against_a_model():
    """The same coordinates as those of a model with ends, for functions and for arrays."""
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.gamma(3.0, size=80), rng.beta(2.0, 3.0, size=80), rng.normal(size=80)])
    scores = np.column_stack(
        [gamma_score(x[:, 0]), 1.0 / x[:, 1] - 2.0 / (1.0 - x[:, 1]), -x[:, 2]]
    )
    ends = models.Ends.of_support(([0, 0, -np.inf], [np.inf, 1, np.inf]), x)
    z, s = ends.on_the_line(x, scores)
    found = goodness_of_fit_test(
        x, scores, support=([0, 0, -np.inf], [np.inf, 1, np.inf]), scale=False
    )
    assert found.pvalue == goodness_of_fit_test(z, s).pvalue
    assert np.array_equal(z[:, 2], x[:, 2])
    alone = goodness_of_fit_test(x[:, 0], gamma_score, support=(0, np.inf))
    assert alone.pvalue > 0.05
    assert goodness_of_fit_test(x[:, 0] ** 2, gamma_score, support=(0, np.inf)).reject(0.01)
    assert goodness_of_fit_test(-x[:, 0], lambda x: -gamma_score(-x), support=(-np.inf, 0)).pvalue


@pytest.mark.parametrize("options", [{}, {"series": 5}, {"pairs": "sketch"}])
@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_an_undeclared_support_is_mentioned(options, tmp_path):
    x = np.random.default_rng(0).gamma(3.0, size=(400, 1))
    res = goodness_of_fit_test(x, gamma_score, **options)
    assert sum("declare support=(0, inf)" in w for w in res.warnings) == 1
    for support in ((0, np.inf), (-np.inf, np.inf)):
        res = goodness_of_fit_test(x, gamma_score, support=support, **options)
        assert not any("declare support" in w for w in res.warnings)
    res = goodness_of_fit_test(x, models.Gamma(3.0), **options)
    assert not any("declare support" in w for w in res.warnings)


@pytest.mark.parametrize("support", [5, (0,), (1, 0), (np.nan, 1), ([0, 0], [1, 1]), "positive"])
def test_support_iv(support):
    x = np.random.default_rng(0).gamma(3.0, size=30)
    with pytest.raises(InputError, match=r"`support` must be a pair \(low, high\)"):
        goodness_of_fit_test(x, gamma_score, support=support)
    with pytest.raises(InputError, match="rows where the model's density is zero"):
        goodness_of_fit_test(x, gamma_score, support=(1.0, np.inf))
    with pytest.raises(InputError, match="a model declares it as `ends`"):
        goodness_of_fit_test(x, models.Gamma(3.0), support=(0, np.inf))


def test_samplers_are_no_scores_iv():
    x = np.random.default_rng(0).normal(size=30)
    with pytest.raises(InputError, match=r"signature \(n, rng\).*assert_fits"):
        goodness_of_fit_test(x, lambda n, rng: rng.normal(size=n))


def test_auto_simulates_small_samples_of_models_and_flips_others():
    x, _ = sample(40, model=NORMAL)
    assert goodness_of_fit_test(x, NORMAL).how.calibration == "simulate"
    result = goodness_of_fit_test(x, NORMAL.score)
    assert (result.how.calibration, result.how.pairs, result.how.method) == (
        "wild",
        "complete",
        "adaptive",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = goodness_of_fit_test(x[:11], NORMAL.score)
    assert "11 rows are few for random signs" in " ".join(few.warnings)
    x, _ = sample(600, model=NORMAL)
    result = goodness_of_fit_test(x, NORMAL, budget=0.1)
    assert (result.how.calibration, result.how.pairs) == ("wild", "complete")
    assert "samples of the model do not fit the budget" in result.notes[0]
    x, _ = sample(30_000, model=NORMAL)
    result = goodness_of_fit_test(x, NORMAL, budget=0.05)
    assert (result.how.calibration, result.how.pairs, result.how.method) == (
        "wild",
        "sketch",
        "adaptive",
    )


@pytest.mark.parametrize("calibration", ["asymptotic", "wild", "simulate"])
def test_workers_do_not_change_the_result(calibration):
    x, _ = sample(2000 if calibration == "asymptotic" else 300, model=NORMAL)
    options = {"calibration": Exact(199) if calibration == "simulate" else calibration}
    one, two = (goodness_of_fit_test(x, NORMAL, workers=w, **options) for w in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.how.calibration == calibration


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


# Rows in time order ----------------------------------------------------------------------------


def normal_score(x):
    return -x


def test_level_of_a_series_against_theory():
    """AR(1) with φ = .5: at most .08 (docs/measured/goodness_of_fit.md); false alarm 1e-4."""
    rng, trials, hits, n = np.random.default_rng(6), 100, 0, 200
    for _ in range(trials):
        x = chain(n, 1, 0.5, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsafeAsymptoticsWarning)
            hits += goodness_of_fit_test(x, normal_score, series=True, workers=1).pvalue <= 0.05
    assert hits <= most(trials, 0.08)


@pytest.mark.parametrize(
    "how",
    [
        {"score": normal_score},
        {"score": NORMAL, "calibration": Exact(19)},
        {"score": normal_score, "calibration": "asymptotic", "pairs": "linear"},
        {"score": normal_score, "pairs": "sketch"},
    ],
    ids=["wild", "simulate", "asymptotic", "sketch"],
)
@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_the_check_of_neighbouring_rows_never_changes_the_result(how, monkeypatch):
    x = chain(2000, 1, 0.9, np.random.default_rng(7))
    checked = goodness_of_fit_test(x, **how).to_dict()
    for module in ("nosplit.api.goodness_of_fit", "nosplit._old.engines.families.goodness_of_fit"):
        monkeypatch.setattr(f"{module}.check_rows", lambda *rows, **options: [])
    unchecked = goodness_of_fit_test(x, **how).to_dict()
    said = set(checked.pop("warnings")) - set(unchecked.pop("warnings"))
    assert checked == unchecked
    assert [text[:20] for text in said] == ["DependentRowsWarning"]
    how = checked["how"]
    assert how["n_used"] == 2000 or how["pairs"] == "sketch"  # which has pilot rows


def test_a_series_from_another_law_is_found():
    x = chain(2000, 2, 0.5, np.random.default_rng(9)) + 0.5
    result = goodness_of_fit_test(x, normal_score, series=True)
    assert result.reject(0.01)
    assert (result.how.calibration, result.how.pairs) == ("wild", "complete")
    assert (result.how.design.kind, result.how.design.unit) == ("series", "blocks")
    assert not result.warnings


def test_the_length_of_blocks_may_be_given():
    x = chain(500, 1, 0.5, np.random.default_rng(10))
    result = goodness_of_fit_test(x, normal_score, series=24)
    assert (result.how.n_units, result.how.n_used, result.how.n_left_out) == (20, 480, 20)
    assert "blocks of 24 rows have random signs (20 blocks)" in str(result.how.design)
    assert "20 rows beyond the last whole block left out" in str(result.how.design)
    first = goodness_of_fit_test(x[:480], normal_score, series=24, kernels=result.selection.kernels)
    again = goodness_of_fit_test(x, normal_score, series=24, kernels=result.selection.kernels)
    assert again.pvalue == first.pvalue
    assert goodness_of_fit_test(x, normal_score, series=np.int64(24)).pvalue == result.pvalue


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_a_series_that_is_too_short():
    rising = np.sort(np.random.default_rng(11).normal(size=(300, 1)), axis=0)
    result = goodness_of_fit_test(rising, normal_score, series=True)
    assert (result.pvalue, result.how.smallest_pvalue) == (1.0, 1.0)
    assert result.verdict() == "too little data"
    assert str(result.how.design) == "no block of rows is longer than the dependence between rows"
    few = goodness_of_fit_test(rising, normal_score, series=100)
    assert few.pvalue >= few.how.smallest_pvalue == 0.25  # three blocks: four products of signs
    assert few.verdict() == "too little data"
    assert "3 blocks are few for random signs" in " ".join(few.warnings)


# Input ------------------------------------------------------------------------------------------


def refuse(match, x=None, score=None, **options):
    rows = sample(30, model=NORMAL)[0] if x is None else x
    with pytest.raises(InputError, match=match):
        goodness_of_fit_test(rows, NORMAL.score if score is None else score, **options)


def test_series_and_groups_iv():
    one = np.zeros(30, int)
    for how in ({"series": True}, {"groups": np.arange(30) // 2}):
        refuse("`groups` or `series` are not", score=NORMAL, calibration=Exact(), **how)
        refuse("closed forms of the paper do not", calibration="asymptotic", **how)
        refuse("closed forms of the paper do not", pairs=3, **how)
        refuse("need all pairs of rows, one by one", pairs="sketch", **how)
        refuse("closed forms of the paper do not", method="naive", **how)
        refuse(r"nominal seconds for 30 rows, more than budget=0.001", budget=0.001, **how)
    refuse("`series` must be an int ≥ 1, got 0", series=0)
    refuse("`series` must be an int ≥ 1, got 'yes'", series="yes")
    refuse("`series` must be at most half .* blocks of 16 rows for 30 rows", series=16)
    refuse("`series` is not supported on a device", series=True, device="cpu")
    refuse("do not go with it", series=True, groups=one)
    refuse("`groups` must have a label for each of the 30 rows of `x`, got 3", groups=[1, 2, 3])
    refuse("`groups` names a column, 'user', but `x` is no table", groups="user")
    refuse("`groups` has 1 missing labels", groups=[None, *range(29)])
    refuse("`x` must have at least 4 rows, got 3", x=np.arange(3.0))


def test_groups_of_tables():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=66), "user": np.repeat(np.arange(22), 3).astype(str)})
    named = goodness_of_fit_test(x, normal_score, groups="user")
    given = goodness_of_fit_test(x[["a"]], normal_score, groups=x["user"])
    assert named.pvalue == given.pvalue
    assert (named.how.design.name, named.how.n_columns) == ("user", (1,))
    assert goodness_of_fit_test(x[["a"]], NORMAL, groups=x["user"]).how.calibration == "wild"
    x.loc[:2, "user"] = None
    left = goodness_of_fit_test(x, normal_score, groups="user", nan_policy="omit")
    assert (left.how.n_used, left.how.n_left_out, left.how.n_units) == (63, 3, 21)


def test_score_iv():
    refuse(r"`score` must give one row of 1 .* got shape \(30, 2\)", score=np.zeros((30, 2)))
    refuse("`score` must be finite", score=lambda x: x * np.nan)
    refuse(r"Call it: `StudentT\(...\)`", score=models.StudentT)
    refuse("counts have none", score=stats.poisson(3))
    refuse("Models are in `nosplit.models`", score="normal")
    refuse("needs a model that can sample", calibration="simulate")
    refuse("`calibration` must be one of .* Did you mean 'wild'", calibration="wilde")
    refuse("`calibration` must be a name", calibration=3)
    with pytest.raises(InputError, match="`n_resamples` must be an int ≥ 19"):
        Wild(n_resamples=5)


def test_kernels_iv():
    for kernel in (Linear(), Laplace(1.0), Matern(1.0, 0.5), Gaussian(1.0) + Gaussian(2.0)):
        refuse("`kernels` of a Stein test must be Gaussian, IMQ or Matern", kernels=[kernel])
    refuse("`kernels` must be a kernel, some kernels", kernels=[])
    refuse("`x` is constant", x=np.ones((10, 1)))
    refuse("needs pairs with a normal limit", pairs="complete", calibration="asymptotic")
    refuse("wild gives signs to all rows, so `pairs` must be all", pairs=3, calibration="wild")


def test_errors_in_functions_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        goodness_of_fit_test(np.arange(10.0), lambda x: 1 / 0)


@pytest.mark.parametrize(("n", "p", "few"), [(50, 10, 0), (50, 50, 1), (90, 50, 0), (25, 5, 1)])
def test_few_rows_of_many_columns_have_two_kernels(n, p, few):
    """Of 1,826 samples of 50 rows of 50 columns .077 were rejected at .05 without a word.

    Learning from so few rows which of four kernels to trust is what cost the level.
    """
    x = np.random.default_rng(3).normal(size=(n, p))
    alone = goodness_of_fit_test(x, -x, workers=1)
    assert len(alone.selection.kernels) == (2 if few else 4)
    assert not alone.warnings
    if few:
        with pytest.warns(UnsafeAsymptoticsWarning, match=f"{n} rows are few for random signs"):
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
