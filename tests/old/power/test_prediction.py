"""Predicted power: closed forms, covariances, pilots; and that it is what tests then do."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

import nosplit
from nosplit import Blocks, Exact, InputError, sample_size
from nosplit._old.power.alternative import overlap
from nosplit._old.power.pilot import _estimated
from nosplit.core.pairings import Adjacent, Aligned, Band, Complete, LinearPairs, Tile, Window
from nosplit.datasets import MNIST, Blobs, DiffVar
from nosplit.kernels import Linear
from nosplit.methods import Wald
from nosplit.power import Alternative, predict_power

mpl.use("agg")

# False alarms of the statistical checks below, each: 1e-4 or less.
Z = stats.norm.isf(5e-5)


# A model whose moments are known: units a ~ N(m, I) in three dimensions, h_u(a, b) = a' A_u b ----

FACTORS = np.random.default_rng(7).normal(size=(2, 2, 3)) * [[[1.0]], [[0.6]]]
A = np.einsum("uki,ukj->uij", FACTORS, FACTORS)
MEAN = np.array([0.5, -0.2, 0.3])


def known(mean):
    """μ, Σ and ζ₁ of the model, by Isserlis' theorem."""
    mu = np.einsum("i,uij,j->u", mean, A, mean)
    zeta = np.einsum("i,uij,vjk,k->uv", mean, A, A, mean)
    return mu, 2.0 * zeta + np.einsum("uij,vji->uv", A, A), zeta


@dataclass(frozen=True, eq=False)
class Vectors:
    """Units of the model."""

    w: np.ndarray

    @property
    def n_units(self):
        return len(self.w)

    rows_per_unit = 2.0

    def values(self, job):
        assert isinstance(job, Tile)
        return np.einsum("ai,uij,bj->uab", self.w[job.a.start : job.a.stop], A, self._b(job))

    def _b(self, job):
        return self.w[job.b.start : job.b.stop]


def pairs_of(pairing, n):
    """All pairs of a pairing, one by one."""
    found = []
    for job in pairing.jobs(n, 16):
        match job:
            case Aligned(a, b):
                found += zip(a, b, strict=True)
            case Band(units, R):
                found += [(i, (i + r) % n) for i in units for r in range(1, R + 1)]
            case Tile(a, b):
                found += combinations(a, 2) if a == b else [(i, j) for i in a for j in b]
    return found


PAIRINGS = [LinearPairs(), Adjacent(), Window(1), Window(3), Blocks(4), Blocks(5), Complete()]


@pytest.mark.parametrize("pairing", PAIRINGS, ids=repr)
@pytest.mark.parametrize("n", [7, 12, 23])
def test_overlap_against_counting(pairing, n):
    pairs = [set(p) for p in pairs_of(pairing, n)]
    shared = sum(len(p & q) == 1 for p in pairs for q in pairs)
    assert overlap(pairing, n) == pytest.approx(shared / len(pairs))


@pytest.mark.parametrize("pairing", [Window(3), Window(5), Blocks(4), Complete()], ids=repr)
def test_spread_against_monte_carlo(pairing):
    """The covariance of τ under the alternative, at a size where nothing is asymptotic."""
    n, trials = 12, 40_000
    mu, cov, zeta = known(MEAN)
    w = np.random.default_rng(1).normal(MEAN, 1.0, size=(trials, n, 3))
    a, b = np.array(pairs_of(pairing, n)).T
    tau = np.stack([np.einsum("tpi,ij,tpj->t", w[:, a], M, w[:, b]) for M in A], axis=1)
    tau /= np.sqrt(len(a))
    np.testing.assert_array_less(
        np.abs(tau.mean(0) - np.sqrt(len(a)) * mu), Z * tau.std(0) / np.sqrt(trials)
    )
    centred = tau - np.sqrt(len(a)) * mu
    products = centred[:, :, None] * centred[:, None, :]
    error = Z * products.std(0) / np.sqrt(trials)
    expected = Alternative(mu, cov, zeta).spread(pairing, n)
    np.testing.assert_array_less(np.abs(products.mean(0) - expected), error)
    # Without ζ₁ the variances would be far off.
    assert np.all(np.diagonal(np.abs(products.mean(0) - cov) - 3 * error) > 0)


# Estimates from a pilot ---------------------------------------------------------------------------


def test_estimates_against_pairs_of_pairs(monkeypatch):
    """Σ and ζ₁ as averages over all pairs of pairs, by the number of units they share."""
    module, seen = sys.modules["nosplit._old.power.pilot"], {}
    monkeypatch.setattr(
        module, "within", lambda zeta, cov: seen.update(zeta=zeta, cov=cov) or cov / 4
    )
    for sizes in ([8], [5, 5]):
        n = sum(sizes)
        monkeypatch.setattr(module, "LARGEST_BLOCK", max(sizes))
        w = np.random.default_rng(n).normal(MEAN, 1.0, size=(n, 3))
        _estimated(Vectors(w))
        cuts = np.cumsum([0, *sizes])
        pairs = [
            p for i, s in zip(cuts, sizes, strict=False) for p in combinations(range(i, i + s), 2)
        ]
        h = np.array([np.einsum("i,uij,j->u", w[a], A, w[b]) for a, b in pairs])
        products = {k: [] for k in range(3)}
        for p, x in zip(pairs, h, strict=True):
            for q, y in zip(pairs, h, strict=True):
                products[len({*p} & {*q})].append(np.outer(x, y))
        apart, shared, same = (np.mean(products[k], axis=0) for k in range(3))
        np.testing.assert_allclose(seen["cov"], same - apart, atol=1e-10)
        np.testing.assert_allclose(seen["zeta"], shared - apart, atol=1e-10)


def test_intervals_hold_the_truth():
    """Of 40 pilots of 100 rows at least 30 do: 95 % on paper; below 1e-4 for 90 % in truth."""
    options = {"n": 600, "pairs": "linear", "calibration": "asymptotic"}
    data = DiffVar(1.6)
    truth = predict_power(nosplit.pilot(*data.sample(20_000, rng=99), kernels="paper1"), **options)
    inside, widths = 0, []
    for seed in range(40):
        small = predict_power(
            nosplit.pilot(*data.sample(100, rng=seed), kernels="paper1"), **options
        )
        inside += small.low <= truth.power <= small.high
        widths.append(small.high - small.low)
    assert inside >= 30
    assert np.median(widths) > 2 * (truth.high - truth.low)


def test_no_difference_promises_nothing():
    x, y = np.random.default_rng(5).normal(size=(2, 300, 2))
    flat = nosplit.pilot(x, y, kernels="paper6")
    for pairs, calibration in (("linear", "asymptotic"), (5, "asymptotic"), ("complete", "exact")):
        found = predict_power(flat, n=300, pairs=pairs, calibration=calibration, trials=2000)
        assert found.low < 0.06
        assert found.power < 0.4
    assert np.all(flat.mu >= 0)
    assert "pilot of 300 rows each" in repr(flat)


def test_less_than_nothing_is_not_certainty():
    """A sample against itself: values are below chance, and what that allows is still wide."""
    x = np.random.default_rng(6).normal(size=(60, 2))
    flat = nosplit.pilot(x, x)
    assert not flat.mu.any()
    assert not flat.zeta.any()
    found = predict_power(flat, n=1000, trials=1000, pairs="complete")
    assert abs(found.power - 0.05) < 0.01 + Z * np.sqrt(2 * 0.05 * 0.95 / 1000)
    assert found.high > 0.5
    with pytest.raises(InputError, match="is not reached with up to"):
        sample_size(flat, pairs="linear", calibration="asymptotic", limit=10_000)


# Closed forms -------------------------------------------------------------------------------------

MU, COV = (
    np.array([0.05, 0.02, 0.04]),
    np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 2.0]]),
)
GIVEN = Alternative(MU, COV, 0.02 * COV)


def test_equation_one():
    """One statistic: Φ(√m μ/σ - z), and for a fixed combination the same with β."""
    one = predict_power(Alternative([0.1], [[2.0]]), n=1000, alpha=0.01)
    expected = stats.norm.sf(stats.norm.isf(0.01) - np.sqrt(500) * 0.1 / np.sqrt(2.0))
    assert one.power == pytest.approx(expected, abs=1e-12)
    assert (one.low, one.high, one.how) == (one.power, one.power, "closed form")
    beta = np.array([1.0, -0.5, 2.0])
    fixed = predict_power(GIVEN.combined(beta), n=1000)
    snr = np.sqrt(500) * beta @ MU / np.sqrt(beta @ COV @ beta)
    assert fixed.power == pytest.approx(stats.norm.sf(stats.norm.isf(0.05) - snr), abs=1e-12)
    best = predict_power(GIVEN.combined(), n=1000).power
    assert best > fixed.power
    for method in ("ost", "nonnegative", "wald", "best", "chibar", "split"):
        assert predict_power(GIVEN, n=1000, method=method).power < best


def test_certainty_is_not_nan():
    assert predict_power(Alternative([1e100, 1.0], np.eye(2)), n=100, method="wald").power == 1.0


def test_wald_against_scipy():
    found = predict_power(GIVEN, n=3001, method="wald", alpha=0.1)
    noncentrality = 1500 * MU @ np.linalg.solve(COV, MU)
    expected = stats.ncx2.sf(stats.chi2.isf(0.1, 3), 3, noncentrality)
    assert found.power == pytest.approx(expected, abs=1e-12)
    assert found.how == "closed form"


@pytest.mark.parametrize("calibration", ["asymptotic", "exact"])
@pytest.mark.parametrize("pairs", ["linear", 4, Blocks(6)], ids=str)
@pytest.mark.parametrize("method", ["ost", "nonnegative", "wald", "best", "chibar", "split"])
def test_one_kernel_against_simulation(method, pairs, calibration):
    """The closed form of d = 1 beside the same statistic twice, which is simulated."""
    one = Alternative([0.1], [[1.0]], [[0.05]])
    options = {"n": 300, "pairs": pairs, "calibration": calibration, "method": method}
    closed = predict_power(one, **options)
    assert closed.how == "closed form"
    beside = Alternative([0.1, 0.1], np.ones((2, 2)), np.full((2, 2), 0.05))
    simulated = predict_power(beside, trials=10_000, **options)
    if not (method == "wald" and pairs == "linear" and calibration == "asymptotic"):
        assert simulated.how == "normal"
    error = Z * np.sqrt(closed.power * (1 - closed.power) / 10_000)
    assert abs(closed.power - simulated.power) < error + 1e-12


def observed(data, n, trials, **options):
    hits = 0
    for seed in range(trials):
        x, y = data.sample(n, rng=seed + 1000)
        hits += nosplit.two_sample_test(
            x, y, rng=seed, shuffle=False, workers=1, **options
        ).reject()
    return hits / trials


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize(
    ("data", "n_linear", "n_window", "n_complete"),
    [(DiffVar(), 1500, 200, 80), (MNIST(), 1000, 150, 50), (Blobs(), 1600, 200, 60)],
    ids=["diff_var", "mnist", "blobs"],
)
def test_predicted_is_observed(data, n_linear, n_window, n_complete):
    """Within the pilot's interval, .05 for the normal limit, and the observation's own error."""
    trials = 60
    large = nosplit.pilot(*data.sample(3000, rng=1), kernels="paper6")
    for pairs, n, calibration in (
        ("linear", n_linear, "asymptotic"),
        (5, n_window, "asymptotic"),
        ("complete", n_complete, Exact(99)),
    ):
        options = {"pairs": pairs, "calibration": calibration, "method": "ost"}
        expected = predict_power(large, n=n, trials=2000, **options)
        rate = observed(data, n, trials, kernels="paper6", **options)
        error = 0.05 + Z * np.sqrt(max(rate * (1 - rate), 0.05) / trials)
        assert expected.low - error < rate < expected.high + error
        assert 0.1 < expected.power < 0.95
        assert abs(rate - expected.power) < 0.1 + error


# Sizes and curves ---------------------------------------------------------------------------------


def test_sample_size_is_the_smallest():
    found = sample_size(GIVEN, power=0.9, method="wald")
    assert found.prediction.power >= 0.9
    assert (found.low, found.high) == (found.n, found.n)
    assert predict_power(GIVEN, n=found.n - 1, method="wald").power < 0.9
    found = sample_size(GIVEN, power=0.9, method="ost", pairs=3)
    assert found.prediction.power >= 0.9
    assert predict_power(GIVEN, n=int(found.n / 1.01), method="ost", pairs=3).power < 0.9
    assert sample_size(Alternative([50.0], [[1.0]]), power=0.5).n == 4  # fewer pairs than two
    assert f"n = {found.n:,} rows of each sample" in str(found)


def test_sample_size_of_a_pilot_has_an_interval():
    small = nosplit.pilot(*DiffVar(2.0).sample(100, rng=3), kernels="paper2")
    found = sample_size(small, pairs="linear", calibration="asymptotic", trials=1000)
    assert found.low < found.n < (found.high or np.inf)
    complete = sample_size(small, pairs="complete", trials=1000, limit=5000)
    assert complete.n < found.n
    assert abs(complete.prediction.power - 0.8) < 0.1


def test_curve_rises_with_n():
    curve = nosplit.power.power_curve(GIVEN, sizes=[100, 400, 1600, 6400], pairs=2, method="ost")
    assert np.all(np.diff(curve.power) > 0)
    assert np.all((curve.low <= curve.power) & (curve.power <= curve.high))
    assert list(curve.sizes) == [100, 400, 1600, 6400]
    assert curve.predictions[2] == predict_power(GIVEN, n=1600, pairs=2, method="ost")
    assert str(curve).count("\n") == 4


def test_auto_is_what_the_test_would_do():
    few = nosplit.pilot(*MNIST().sample(60, rng=1))
    for method in ("auto", "ost"):
        assert predict_power(few, n=100, trials=100, method=method).warnings == ()
    (said,) = predict_power(few, n=100, trials=100, method="best").warnings
    assert "above the interval" in said
    for n in (100, 20_000):
        how = nosplit.plan(n=n, p=49)
        found = predict_power(few, n=n, trials=200)
        assert found.pairs == how.pairs
        assert found.calibration == ("exact" if how.n_resamples else "asymptotic")
    assert predict_power(GIVEN, n=500).pairs == "linear"
    assert predict_power(GIVEN, n=500).calibration == "asymptotic"


def test_deterministic_whatever_generator():
    few = nosplit.pilot(*MNIST().sample(60, rng=1), kernels="paper2")
    options = {"n": 80, "pairs": "complete", "trials": 300}
    first = predict_power(few, **options)
    assert predict_power(few, rng=0, **options) == first
    generator = np.random.default_rng(0)
    assert predict_power(few, rng=generator, **options) == first
    assert predict_power(few, rng=generator, **options) != first
    again = nosplit.pilot(*MNIST().sample(60, rng=1), kernels="paper2")
    np.testing.assert_array_equal(again.mu, few.mu)


def test_pilot_of_tables():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame({"size": rng.normal(0.0, sd, 80), "kind": rng.choice(["a", "b"], 80, p=p)})
        for sd, p in ((1.0, [0.5, 0.5]), (3.0, [0.8, 0.2]))
    ]
    found = predict_power(nosplit.pilot(*frames), n=100, trials=300)
    assert found.power > 0.5
    assert nosplit.pilot(*frames, columns=["kind"]).d < nosplit.pilot(*frames).d
    frames[0].loc[3, "size"] = np.nan
    with pytest.raises(InputError, match="missing"):
        nosplit.pilot(*frames, nan_policy="raise")
    assert nosplit.pilot(*frames, nan_policy="omit").n_rows == 79


# Wrong input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mu": [0.1, -0.1]}, "`mu` must be ≥ 0: its entries are squared distances, got -0.1"),
        ({"mu": [0.1, np.nan]}, "`mu`"),
        ({"mu": [[0.1, 0.1]]}, "`mu`"),
        ({"mu": []}, "`mu`"),
        ({"mu": [0.1, 0.1, 0.1]}, "`cov` must have 3 columns, got 2"),
        ({"cov": [[1.0, 2.0], [2.0, 1.0]]}, "`cov` must be positive semidefinite"),
        ({"cov": [[1.0, 0.5], [0.2, 1.0]]}, "`cov` must be symmetric"),
        ({"cov": [[1.0, 0.0], [0.0, 0.0]]}, "`mu` has an entry other than 0 where `cov` has"),
        ({"zeta": [[1.0]]}, "`zeta` must have 2 columns, got 1"),
        ({"zeta": np.eye(2)}, "`zeta` must be positive semidefinite and at most `cov` / 2"),
        ({"zeta": [[0.1, 0.2], [0.2, 0.1]]}, "`zeta` must be positive semidefinite"),
    ],
)
def test_alternative_iv(arguments, message):
    with pytest.raises(InputError, match=message):
        Alternative(**{"mu": [0.1, 0.1], "cov": np.eye(2), **arguments})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "`n` must be an int ≥ 2, got 1"),
        ({"n": -5}, "`n` must be an int ≥ 2, got -5"),
        ({"n": 2.5}, "`n` must be an int ≥ 2, got 2.5"),
        ({"n": 7}, "`n` = 7 gives 3 pairs, too few for asymptotic calibration with 3 kernels"),
        ({"n": 10, "pairs": 5}, "`pairs` = 5 is wider than 10 units allow"),
        ({"pairs": "complete"}, '`pairs="complete"` has no normal limit'),
        ({"pairs": "complete", "calibration": "exact"}, "needs a pilot sample"),
        ({"method": "naive"}, "`method` naive is not a test"),
        ({"method": "ots"}, "Did you mean 'ost'?"),
        ({"method": Wald}, "`method` must be a name or a method"),
        ({"pairs": "windows"}, "`pairs` must be one of"),
        ({"calibration": "exat"}, "Did you mean 'exact'?"),
        ({"alpha": 0.0}, "`alpha` must be strictly between 0 and 1"),
        ({"alpha": 0.01, "calibration": Exact(19)}, "`alpha` = 0.01 is below the smallest p-value"),
        ({"n": 9, "calibration": "exact"}, "`n` = 9 is too small for an exact test at level 0.05"),
        ({"trials": 10}, "`trials` must be an int ≥ 100"),
        ({"rng": -1}, "`rng` must be an int ≥ 0"),
        ({"alternative": (MU, COV)}, "`alternative` must be `nosplit.pilot"),
        ({"alternative": Alternative(MU, COV), "pairs": 3}, "which needs `zeta`"),
    ],
)
def test_predict_power_iv(options, message):
    given = {"alternative": GIVEN, "n": 500, **options}
    with pytest.raises(InputError) as error:
        predict_power(given.pop("alternative"), **given)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 0.05}, "`power` must be above `alpha` = 0.05, got 0.05"),
        ({"power": 80}, "`power` must be strictly between 0 and 1"),
        ({"limit": 300}, "`power` = 0.8 is not reached with up to `limit` = 300 rows"),
        ({"limit": 1}, "`limit` must be an int ≥ 2"),
        ({"limit": 5}, "`n` = 5 gives 2 pairs, too few"),
        ({"pairs": "complete", "calibration": "exact"}, "needs a pilot sample"),
    ],
)
def test_sample_size_iv(options, message):
    with pytest.raises(InputError) as error:
        sample_size(GIVEN, **options)
    assert message in str(error.value)


def test_pilot_iv():
    x, y = np.random.default_rng(0).normal(size=(2, 30, 2))
    for arguments, message in (
        ((x[:19], y), "at least 20 rows of `x` and of `y`, got 19 and 30"),
        ((x, y[:, :1]), "the same number of columns, got 2 and 1"),
        ((x, np.where(y > 2, np.inf, y)), "`y` must"),
        ((x * 0, y * 0), "constant and equal"),
        ((x * 0, y * 0 + 1), "constant, too small or too large to have a covariance matrix"),
        ((x * 1e100, y * 1e100), "values on the pilot are not finite. Rescale the data"),
    ):
        with pytest.raises(InputError, match=message):
            nosplit.pilot(*arguments)
    with pytest.raises(
        InputError, match="`kernels` must be a kernel, a sequence of kernels or a name"
    ):
        nosplit.pilot(x, y, kernels=5)
    with pytest.raises(InputError, match="Did you mean 'paper6'"):
        nosplit.pilot(x, y, kernels="paper7")
    for sizes in ([], 5, "500", [100, -1]):
        with pytest.raises(InputError, match="`sizes` must be"):
            nosplit.power.power_curve(GIVEN, sizes=sizes)
    with pytest.raises(InputError, match="`factor` must be a number ≥ 0"):
        GIVEN.scaled(-1)
    with pytest.raises(InputError, match="`weights`"):
        GIVEN.combined([1.0])
    with pytest.raises(InputError, match="`mu` must be ≥ 0"):
        GIVEN.combined([-1.0, 0.0, 0.0])


def test_kernel_without_values_is_left_alone():
    """A kernel whose values are all zero is dropped by the test, and does not trip the plan."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 1)), rng.normal(1.0, 1.0, size=(60, 1))
    kernels = [Linear(), nosplit.kernels.Gaussian(1e-9)]
    found = predict_power(nosplit.pilot(x, y, kernels=kernels), n=60, pairs="complete", trials=300)
    alone = predict_power(nosplit.pilot(x, y, kernels=Linear()), n=60, pairs="complete", trials=300)
    assert abs(found.power - alone.power) < 0.1
