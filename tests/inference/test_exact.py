"""Exact calibration: enumerated by hand through the public API, and what must not change.

A direct enumeration swaps x_i and y_i of pairs, or permutes labels of all rows, runs the whole test
again on the new data, bandwidths included, and counts how often its evidence is at least that of
the data as they are.
"""

from __future__ import annotations

import pickle
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from nosplit import Exact, InputError, Wild, mean_test, plan, two_sample_test
from nosplit.kernels import Gaussian, Laplace, Linear
from nosplit.methods import ChiBar, Split

TIE = 1e-6
# The chi-bar law's weights play no part in its evidence, so few draws will do for them.
METHODS = ["ost", "nonnegative", "wald", "best", ChiBar(draws=100), "adaptive"]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: getattr(m, "name", m))


def more_kernels(l2, l1):
    return [Gaussian(l2), Gaussian(l2 / 3), Laplace(l1), Linear()]


def samples(n, m, seed=0):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(n, 2)), 1.5 * rng.normal(size=(m, 2)) + 0.5


def run(x, y, method, **options):
    """The exact test of pairs."""
    options = {"calibration": "exact", "paired": True, "kernels": more_kernels, **options}
    return two_sample_test(x, y, method=method, **options)


def swapped(x, y):
    """All 2^N ways to swap x_i and y_i, as they are first."""
    for pattern in product([False, True], repeat=len(x)):
        swap = np.array(pattern)[:, None]
        yield np.where(swap, y, x), np.where(swap, x, y)


def share(evidence):
    """How many of all have at least the evidence of the first, ties counted."""
    evidence = np.array(evidence)
    return np.mean(evidence >= evidence[0] - TIE * max(1.0, abs(evidence[0])))


# Enumeration --------------------------------------------------------------------------------------


def relabelled(x, y):
    """All ways to share out the rows to samples of these sizes, as they are first."""
    rows, n = np.concatenate([x, y]), len(x)
    for chosen in combinations(range(len(rows)), n):
        of_x = np.isin(np.arange(len(rows)), chosen)
        yield rows[of_x], rows[~of_x]


@every_method
@pytest.mark.parametrize("n", [5, 7])
def test_all_swaps_against_enumeration(method, n):
    results = [run(a, b, method) for a, b in swapped(*samples(n, n))]
    assert len(results) == 2**n
    assert results[0].how.n_resamples == 2 ** (n - 1) - 1  # ε and -ε are one pattern
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@every_method
@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 4)])
def test_all_labels_against_enumeration(method, n, m):
    results = [run(a, b, method, paired=False) for a, b in relabelled(*samples(n, m))]
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@pytest.mark.parametrize("method", ["ost", "wald", "adaptive"])
def test_all_flips_of_rows_against_enumeration(method):
    """`mean_test` of rows that are symmetric under the null."""
    h = np.random.default_rng(3).normal(0.3, 1.0, size=(7, 2))
    options = {"method": method, "symmetric": True, "calibration": "exact", "shuffle": False}
    results = [
        mean_test(h * np.array(signs)[:, None], **options)
        for signs in product([1.0, -1.0], repeat=7)
    ]
    assert results[0].how.n_resamples == 127
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@pytest.mark.parametrize("method", ["ost", "wald", "adaptive"])
def test_sampled_draws_converge_to_the_enumeration(method):
    """p from 1,999 draws is binomial around p from all of them; false alarms: 1e-6 a case."""
    (x, y), total = samples(12, 12, seed=4), 2**11
    every = run(x, y, method, calibration=Exact(n_resamples=total - 1))
    assert every.how.n_resamples == total - 1
    sampled = run(x, y, method, calibration=Exact(n_resamples=1999), rng=5)
    assert sampled.how.n_resamples == 1999
    hits = round(sampled.pvalue * 2000) - 1
    # Adaptive ranks among the draws themselves: its p is not binomial, but nearly so.
    alarm = 1e-6
    low, high = binom.ppf(alarm / 2, 1999, every.pvalue), binom.isf(alarm / 2, 1999, every.pvalue)
    slack = 20 if method == "adaptive" else 0
    assert low - slack <= hits <= high + slack


# What must be invariant ---------------------------------------------------------------------------


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("n", "m"), [(5, 5), (30, 30), (400, 400)])
def test_kernels_and_covariance_are_invariant(n, m, paired):
    """Σ is, too, if all permutations are listed."""
    rng, (x, y) = np.random.default_rng([n, m]), samples(n, m)
    results = []
    for i in range(4):
        if i:
            swap = rng.random((n, 1)) < 0.5
            x, y = np.where(swap, y, x), np.where(swap, x, y)
        results.append(run(x, y, "ost", kernels=None, calibration=Exact(299), paired=paired, rng=7))
    first, *others = results
    sd = np.sqrt(np.diagonal(first.selection.cov))
    for other in others:
        assert not np.allclose(other.selection.tau, first.selection.tau)
        for k, l in zip(first.selection.kernels, other.selection.kernels, strict=True):
            assert type(k) is type(l)
            if hasattr(k, "bandwidth"):
                assert l.bandwidth == pytest.approx(k.bandwidth, rel=1e-14)
        if n == 5:
            gap = np.abs(other.selection.cov - first.selection.cov)
            assert np.max(gap / np.outer(sd, sd)) < 1e-11
        for name in ("pairs", "n_pairs", "n_units", "n_used", "n_resamples", "calibration"):
            assert getattr(other.how, name) == getattr(first.how, name)


@pytest.mark.parametrize(("n", "m"), [(30, 30), (30, 20), (60, 60)])
def test_choices_depend_on_sizes_alone(n, m):
    """ "auto" on data of any kind does what `plan` says for its sizes, if rows look independent."""
    rng = np.random.default_rng(0)
    expected = plan(n=n, m=m, p=2)
    for scale, shift in ((1.0, 0.0), (100.0, 3.0), (1e-3, 1e3)):
        x, y = rng.standard_cauchy((n, 2)), scale * rng.normal(size=(m, 2)) + shift
        how = two_sample_test(x, y).how
        assert (how.pairs, how.n_pairs) == (expected.pairs, expected.n_pairs)
        assert (how.calibration, how.n_resamples) == ("exact", expected.n_resamples)


@pytest.mark.parametrize("paired", [False, True])
def test_result_is_determined_by_rng(paired):
    """Same seed, same p, whatever the number of workers; another seed, other draws."""
    x, y = samples(40, 40)
    first = run(x, y, "ost", rng=1, workers=1, paired=paired)
    again = run(x, y, "ost", rng=1, workers=2, paired=paired)
    other = run(x, y, "ost", rng=2, paired=paired)
    assert first.pvalue == again.pvalue
    assert first.statistic == pytest.approx(again.statistic, rel=1e-9)
    assert not np.array_equal(first.null.values, other.null.values)


# Input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_resamples", [0, 18, -1, 99.0, True, "many", None])
def test_n_resamples_iv(n_resamples):
    with pytest.raises(InputError, match=r"`n_resamples` must be an int ≥ 19, got "):
        Exact(n_resamples=n_resamples)


@pytest.mark.parametrize("calibration", [Exact, Wild])
def test_unknown_words_of_calibrations_iv(calibration):
    with pytest.raises(TypeError, match=r"takes `n_resamples` alone, got flips\."):
        calibration(flips=99)
    assert pickle.loads(pickle.dumps(calibration(99))) == calibration(n_resamples=99)
    assert Exact(99) != Wild(99)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "naive"}, r"naive.* has no exact form"),
        ({"calibration": "exakt"}, r"`calibration` must be one of .*mean 'exact'\?"),
        ({"calibration": 99}, r"`calibration` must be a name or Exact\(...\), got 99"),
        ({"method": Split(0.5)}, r"split.* has no exact form"),
        ({"pairs": 10}, r"exact permutes all rows, so `pairs` must be all of them, got Window"),
    ],
)
def test_exact_iv(options, message):
    x, y = samples(20, 20)
    with pytest.raises(InputError, match=message):
        two_sample_test(x, y, **{"calibration": "exact", "method": "ost", **options})
