"""No quiet false alarm: where an approximation is poor, another way is taken or a warning given.

Every case is a null hypothesis that was rejected far too often, without a word. A *quiet* false
alarm is a rejection at .05 that no warning goes with. Bounds are binomial quantiles at .05, with a
false alarm rate of 1e-3 each.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import beta, binom, expon, gamma, lognorm, uniform, weibull_min

import nosplit
from nosplit import (
    Exact,
    NosplitWarning,
    goodness_of_fit_test,
    independence_test,
    mean_test,
    models,
    two_sample_test,
)
from nosplit.errors import DroppedKernelWarning, UnsafeAsymptoticsWarning
from nosplit.methods import Split

ALARM = 1e-3
DOUBTS = (UnsafeAsymptoticsWarning, DroppedKernelWarning)


def most(trials, rate=0.05):
    """Rejections that so many trials exceed with probability 1e-3 at most."""
    return int(binom.isf(ALARM, trials, rate))


def quiet_rejections(test, trials):
    """How many of some tests reject at .05 without a warning that p is not to be trusted."""
    found = 0
    for i in range(trials):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            rejected = test(i).reject(0.05)
        found += rejected and not any(issubclass(w.category, DOUBTS) for w in said)
    return found


def flags(rng, n, rate):
    return np.array(["a", "b"])[(rng.random(n) < rate).astype(int)]


# Closed forms -----------------------------------------------------------------------------------


def test_rare_categories_in_two_variables():
    """Were rejected quietly at .17."""
    rng = np.random.default_rng(4)
    for i in range(4):
        x, y = flags(rng, 8000, 0.02), flags(rng, 8000, 0.02)
        with pytest.warns(NosplitWarning, match=r"pairs carry a kernel|so p is 1"):
            independence_test(x, y, calibration="asymptotic", rng=i)


def test_split_looks_at_the_part_it_tests_with():
    x, y = np.random.default_rng(5).normal(size=(2, 700, 1))
    with pytest.warns(UnsafeAsymptoticsWarning, match="part that the split tests with"):
        two_sample_test(x, y, method=Split(0.95), pairs=5, calibration="asymptotic")


@pytest.mark.filterwarnings("ignore::nosplit.errors.NearCopyWarning")
def test_stein_pairs_grow_with_columns():
    """2,000 pairs are as many as four kernels need for one column, not for fifty: .095."""
    x = np.random.default_rng(6).normal(size=(4000, 50))
    kernels = [nosplit.kernels.IMQ(s) for s in (2.0, 5.0, 10.0, 20.0)]
    options = {"kernels": kernels, "pairs": "linear", "calibration": "asymptotic"}
    with pytest.warns(UnsafeAsymptoticsWarning, match="4 Stein stat"):
        goodness_of_fit_test(x, -x, **options)


def test_a_sample_against_itself():
    """Auto sees no difference (.19 before); who asks for OST by name is told."""
    rng, trials, hits = np.random.default_rng(7), 100, 0
    x = rng.normal(size=500)
    options = {"pairs": 4, "calibration": "asymptotic"}
    for i in range(trials):
        y = x[rng.permutation(500)]
        hits += two_sample_test(x, y, rng=i, **options).reject()
        named = two_sample_test(x, y, method="ost", rng=i, **options)
        told = any("samples that share rows" in text for text in named.warnings)
        assert told == (named.reject() and not np.any(named.selection.tau > 0))
    assert hits <= most(trials)


def test_samples_that_are_more_alike_than_chance_has_it():
    """Two stratified samples: 400 of 400 rejected without a word."""
    u = (np.arange(200) + np.random.default_rng(8).random((2, 200))) / 200
    alike = two_sample_test(u[0], u[1], method="wald", calibration=Exact(199))
    assert alike.reject()
    assert any("samples that share rows" in text for text in alike.warnings)
    for method in ("auto", "ost", "chibar"):
        assert not two_sample_test(u[0], u[1], method=method, calibration=Exact(199)).reject()


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_ost_of_samples_that_share_rows(share):
    """Exact calibration, by name: 30 of 30 were rejected, with a warning."""
    rng, n = np.random.default_rng(9), 500
    for i in range(3):
        x, own = rng.normal(size=(2, n))
        y = np.where(np.arange(n) < share * n, x, own)[rng.permutation(n)]
        assert not two_sample_test(x, y, method="ost", calibration=Exact(199), rng=i).reject()


# Means ------------------------------------------------------------------------------------------

SKEWED = {
    "log-normal": (lambda rng, size: np.exp(9 / 8) - rng.lognormal(0.0, 1.5, size=size), 350, 7),
    "rare": (lambda rng, size: 0.02 - (rng.random(size) < 0.02), 350, 7),
}


@pytest.mark.parametrize("name", SKEWED)
def test_skewed_rows(name):
    """Were rejected quietly at .36 and .29."""
    law, n, d = SKEWED[name]
    rng, trials = np.random.default_rng(8), 30
    assert quiet_rejections(lambda i: mean_test(law(rng, (n, d)), rng=i), trials) <= most(trials)


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_bootstrap_level_of_skewed_rows():
    """The bootstrap itself: exponential rows, .09 with seven columns by the closed form."""
    rng, trials, hits = np.random.default_rng(9), 40, 0
    for i in range(trials):
        h = 1.0 - rng.exponential(size=(350, 1))
        hits += mean_test(h, calibration="bootstrap", rng=i).reject()
    assert hits <= most(trials)


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("method", ["ost", "wald"])
def test_tails_that_were_not_seen(n, method):
    """Minus log-normal rows were rejected at .16 and .12: now at .04, cautiously.

    A mean below 0 counts for Wald, too, so that both tails do.
    """
    rng, trials, hits = np.random.default_rng([n, 2]), 100, 0
    for i in range(trials):
        h = rng.lognormal(0.0, 1.5, size=(n, 1)) - np.exp(9 / 8)
        found = mean_test(h if method == "wald" and i % 2 else -h, method=method, rng=i)
        assert found.how.calibration == "cautious"
        hits += found.reject()
    assert hits <= most(trials)


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_caution_costs_little_where_rows_are_even():
    """Normal rows, three standard errors above 0: found as by the bootstrap, but for one in ten."""
    rng, found = np.random.default_rng(3), []
    for i in range(60):
        h = rng.normal(size=(50, 1)) + 3.0 / np.sqrt(50)
        ways = [mean_test(h, calibration=c, rng=i) for c in ("bootstrap", "cautious")]
        assert ways[1].pvalue >= ways[0].pvalue  # it is the larger of several, this one among them
        found.append([way.reject() for way in ways])
    bootstrap, cautious = np.sum(found, axis=0)
    assert cautious >= bootstrap - 6
    assert cautious >= 45


def test_closed_form_of_skewed_rows_warns():
    h = 1.0 - np.random.default_rng(10).exponential(size=(400, 2))
    with pytest.warns(UnsafeAsymptoticsWarning, match="calibration='bootstrap'"):
        mean_test(h, calibration="asymptotic")
    assert mean_test(np.random.default_rng(0).normal(size=(400, 2))).how.calibration == "asymptotic"


# Goodness of fit --------------------------------------------------------------------------------

HALF_LINES = {
    "gamma(1.2)": gamma(1.2),
    "Weibull(1.5)": weibull_min(1.5),
    "log-normal": lognorm(1.0),
    "beta(2, 5)": beta(2.0, 5.0),
    "gamma(3)": gamma(3.0),
    "exponential": expon(),
    "uniform": uniform(),
}


@pytest.mark.parametrize("name", HALF_LINES)
def test_level_of_models_with_ends(name):
    """Random signs rejected the true model at .48, .23, .12, .11 and .09 with 250 rows."""
    model = models.from_scipy(HALF_LINES[name])
    rng, trials = np.random.default_rng(11), 40

    def test(i):
        return goodness_of_fit_test(model.sample(250, rng), model, calibration="wild", rng=i)

    assert quiet_rejections(test, trials) <= most(trials)


def test_normal_rows_stay_with_random_signs():
    x = np.random.default_rng(12).normal(size=(800, 2))
    found = goodness_of_fit_test(x, models.MultivariateNormal(np.zeros(2), 1.0))
    assert (found.how.calibration, found.warnings) == ("wild", ())


# Series -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_a_slow_coordinate_among_fast_ones():
    """The correlation of neighbouring values of a kernel of all columns hardly shows it."""
    rng, trials, hits, phi = np.random.default_rng(13), 30, 0, 0.99
    for i in range(trials):
        steps = rng.normal(size=(6000, 1)) * np.sqrt(1.0 - phi**2)
        slow = lfilter([1.0], [1.0, -phi], steps, axis=0)[2000:]
        x = np.hstack([slow, rng.normal(size=(4000, 2))])
        hits += goodness_of_fit_test(x, -x, series=True, rng=i).reject()
    assert hits <= most(trials)


def test_a_series_that_does_not_fit_is_found():
    """2,000 rows, φ = .6, 15 % too wide."""
    hits = 0
    for i in range(8):
        steps = np.random.default_rng([14, i]).normal(size=(2100, 1)) * 0.8
        x = 1.15 * lfilter([1.0], [1.0, -0.6], steps, axis=0)[100:]
        hits += goodness_of_fit_test(x, -x, series=True).reject()
    assert hits >= 6


# Errors where a p-value was due -----------------------------------------------------------------


def test_arrays_that_are_mostly_one_value():
    rng = np.random.default_rng(16)
    for _ in range(4):
        x, y = (np.where(rng.random(3000) < 0.001, 5.0 + rng.random(3000), 2.0) for _ in range(2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nosplit.NosplitWarning)
            assert 0.0 < two_sample_test(x, y, calibration=Exact(99)).pvalue <= 1.0


def test_one_row_that_differs_and_is_left_out():
    """A sketch sees rows of one value then: no evidence, where it said that data is too small."""
    x, y = np.zeros((2, 3000))
    x[9] = 1.0
    for i in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DroppedKernelWarning)
            assert two_sample_test(x, y, pairs="sketch", calibration=Exact(99), rng=i).pvalue > 0.05


@pytest.mark.parametrize("pairs", ["sketch", "adjacent"])
def test_streams_that_are_mostly_one_value(pairs):
    """The first rows were alike: they were refused, and so was every batch that came after."""
    rng, stream = np.random.default_rng(16), nosplit.TwoSampleAccumulator(pairs=pairs)
    for rate in (0.0, 0.1):
        stream.update(*(5.0 * (rng.random((2, 600, 1)) < rate)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nosplit.NosplitWarning)
        assert 0.0 < stream.result().pvalue <= 1.0
    assert stream.n_dropped == stream.n_waiting == 0


@pytest.mark.parametrize(
    "options",
    [{"calibration": "exact"}, {"calibration": "asymptotic", "pairs": "linear", "shuffle": False}],
)
def test_no_evidence_is_no_error(options):
    x = np.array([0.0] * 99 + [1.0])
    with pytest.warns(DroppedKernelWarning, match="so p is 1"):
        found = two_sample_test(x, np.zeros(100), **options)
    assert found.pvalue == 1.0
    assert not found.reject(0.99)
