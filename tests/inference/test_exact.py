"""Exact calibration: enumerated by hand through the public API, and what must not change.

A direct enumeration swaps x_i and y_i (or permutes labels inside units), runs the whole test
again on the new data, bandwidths included, and counts how often its evidence is at least that of
the data as they are.
"""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from _reference import unit_rows
from nosplit import (
    Blocks,
    ChiBar,
    Exact,
    Gaussian,
    InputError,
    Laplace,
    Linear,
    Split,
    Wald,
    Wild,
    mean_test,
    plan,
    two_sample_test,
)
from nosplit.inference.calibrating.ranking import Joining, hedged, rank_draws
from nosplit.methods import OST
from nosplit.methods.normal.laws import Flips
from nosplit.pairs.draws import Signs, signed_sums, unwrapped

TIE = 1e-6
# The chi-bar law's weights play no part in its evidence, so few draws will do for them.
METHODS = ["ost", "nonnegative", "wald", "best", ChiBar(draws=100), "adaptive", Split(0.5)]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: getattr(m, "name", m))


def few_kernels(l2, l1):
    return [Gaussian(l2), Laplace(l1 / 2)]


def more_kernels(l2, l1):
    return [Gaussian(l2), Gaussian(l2 / 3), Laplace(l1), Linear()]


def samples(n, m, seed=0):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(n, 2)), 1.5 * rng.normal(size=(m, 2)) + 0.5


def run(x, y, method, pairs, **options):
    """The test without shuffling, on a few kernels where there are few pairs."""
    few = pairs in ("linear", "adjacent")
    kernels = few_kernels if few else more_kernels
    options = {"calibration": "exact", "shuffle": False, "kernels": kernels, **options}
    return two_sample_test(x, y, method=method, pairs=pairs, **options)


def swapped(x, y):
    """All 2^N ways to swap x_i and y_i, as they are first."""
    for pattern in product([False, True], repeat=len(x)):
        swap = np.array(pattern)[:, None]
        yield np.where(swap, y, x), np.where(swap, x, y)


def relabelled(x, y):
    """All ways to choose the lone row inside each unit, as they are first."""
    n, m = len(x), len(y)
    z, units = np.concatenate([x, y]), unit_rows(n, m)
    for choice in product(*(range(len(a) + len(b)) for a, b in units)):
        few, many = [], []
        for (a, b), place in zip(units, choice, strict=True):
            rows = [*a, *(n + j for j in b)] if n < m else [*(n + j for j in b), *a]
            few.append(rows.pop(place))
            many.extend(rows)
        yield (z[few], z[many]) if n < m else (z[many], z[few])


def share(evidence):
    """How many of all have at least the evidence of the first, ties counted."""
    evidence = np.array(evidence)
    return np.mean(evidence >= evidence[0] - TIE * max(1.0, abs(evidence[0])))


# Enumeration --------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("pairs", ["linear", 2, Blocks(3), "complete"], ids=str)
def test_all_swaps_against_enumeration(method, pairs):
    if isinstance(method, Split):
        pairs = {2: 1, Blocks(3): "adjacent"}.get(pairs, pairs)  # what parts of two units allow
    N = 8 if isinstance(method, Split) and pairs == 1 else 6
    x, y = samples(N, N)
    results = [run(a, b, method, pairs) for a, b in swapped(x, y)]
    assert results[0].n_resamples == 2 ** (N - 1) - 1  # ε and -ε are one pattern
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@pytest.mark.parametrize("pairs", ["linear", 3, "complete"])
def test_all_swaps_of_eight_units_against_enumeration(pairs):
    x, y = samples(8, 8, seed=1)
    results = [run(a, b, "ost", pairs) for a, b in swapped(x, y)]
    assert len(results) == 256
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@every_method
@pytest.mark.parametrize(("n", "m"), [(4, 8), (6, 4)], ids=["1:2", "3:2"])
@pytest.mark.parametrize("pairs", ["linear", 1, "complete"])
def test_all_labellings_against_enumeration(method, n, m, pairs):
    """3^4 labellings of 2 : 1, and 2·3·2·3 of 3 : 2, where units have two rows or three."""
    if isinstance(method, Split) and pairs == 1:
        pairs = "adjacent"  # a part of two units has no window
    x, y = samples(n, m)
    results = [run(a, b, method, pairs) for a, b in relabelled(x, y)]
    assert results[0].n_resamples == len(results) - 1 == (80 if m == 8 else 35)
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@pytest.mark.parametrize("pairs", ["linear", 2, "complete"])
def test_all_labellings_of_six_units_against_enumeration(pairs):
    """9 : 6, 216 labellings."""
    x, y = samples(9, 6, seed=2)
    results = [run(a, b, "ost", pairs) for a, b in relabelled(x, y)]
    assert len(results) == 216
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@pytest.mark.parametrize("method", ["ost", "wald", "adaptive", Split(0.5)], ids=str)
def test_all_flips_of_rows_against_enumeration(method):
    """`mean_test` of rows that are symmetric under the null."""
    h = np.random.default_rng(3).normal(0.3, 1.0, size=(8, 2))
    options = {"method": method, "symmetric": True, "calibration": "exact", "shuffle": False}
    results = [
        mean_test(h * np.array(signs)[:, None], **options)
        for signs in product([1.0, -1.0], repeat=8)
    ]
    assert results[0].n_resamples == 255
    assert results[0].pvalue == pytest.approx(share([r.statistic for r in results]), abs=1e-12)


@pytest.mark.parametrize("method", ["ost", "wald", "adaptive", Split(0.5)], ids=str)
@pytest.mark.parametrize(("n", "m", "total"), [(12, 12, 2**11), (7, 14, 3**7)])
@pytest.mark.parametrize("pairs", ["linear", "complete"])
def test_sampled_draws_converge_to_the_enumeration(method, n, m, total, pairs):
    """p from 1,999 draws is binomial around p from all of them; false alarms: 1e-6 a case."""
    x, y = samples(n, m, seed=4)
    every = run(x, y, method, pairs, calibration=Exact(n_resamples=total - 1))
    assert every.n_resamples == total - 1
    sampled = run(x, y, method, pairs, calibration=Exact(n_resamples=1999), rng=5)
    assert sampled.n_resamples == 1999
    hits = round(sampled.pvalue * 2000) - 1
    # Adaptive ranks among the draws themselves: its p is not binomial, but nearly so.
    alarm = 1e-6
    low, high = binom.ppf(alarm / 2, 1999, every.pvalue), binom.isf(alarm / 2, 1999, every.pvalue)
    slack = 20 if method == "adaptive" else 0
    assert low - slack <= hits <= high + slack


# What must be invariant ---------------------------------------------------------------------------


@cache
def invariants(n, m, pairs, draws):
    """Kernels, Σ and plan of the data, and after some random swaps or labellings."""
    rng = np.random.default_rng([n, m])
    x, y = samples(n, m)
    out = []
    for i in range(draws):
        a, b = (x, y) if i == 0 else randomly_drawn(x, y, rng)
        out.append(run(a, b, "ost", pairs, kernels=None, calibration=Exact(n_resamples=99), rng=7))
    return out


def randomly_drawn(x, y, rng):
    n, m = len(x), len(y)
    if n == m:
        swap = rng.random((n, 1)) < 0.5
        return np.where(swap, y, x), np.where(swap, x, y)
    z, few, many = np.concatenate([x, y]), [], []
    for a, b in unit_rows(n, m):
        rows = list(rng.permutation([*a, *(n + j for j in b)]))
        few.append(rows.pop())
        many.extend(rows)
    return (z[few], z[many]) if n < m else (z[many], z[few])


@pytest.mark.parametrize("pairs", ["linear", 3, Blocks(5), "complete"], ids=str)
@pytest.mark.parametrize(("n", "m"), [(30, 30), (400, 400), (20, 40), (30, 20), (200, 700)])
def test_kernels_and_covariance_are_invariant(n, m, pairs):
    first, *others = invariants(n, m, pairs, 4)
    sd = np.sqrt(np.diagonal(first.cov))
    for other in others:
        assert not np.allclose(other.tau, first.tau)
        for k, l in zip(first.kernels, other.kernels, strict=True):
            assert type(k) is type(l)
            if hasattr(k, "bandwidth"):
                assert l.bandwidth == pytest.approx(k.bandwidth, rel=1e-14)
        assert np.max(np.abs(other.cov - first.cov) / np.outer(sd, sd)) < 1e-11
        for name in ("pairs", "n_pairs", "n_units", "n_used", "n_resamples", "calibration"):
            assert getattr(other, name) == getattr(first, name)


@pytest.mark.parametrize(("n", "m"), [(30, 30), (30, 20)])
def test_choices_depend_on_sizes_alone(n, m):
    """ "auto" on data of any kind does what `plan` says for its sizes, if rows look independent."""
    rng = np.random.default_rng(0)
    expected = plan(n=n, m=m, p=2)
    for scale, shift in ((1.0, 0.0), (100.0, 3.0), (1e-3, 1e3)):
        x, y = rng.standard_cauchy((n, 2)), scale * rng.normal(size=(m, 2)) + shift
        res = two_sample_test(x, y)
        assert (res.pairs, res.n_pairs, res.n_units) == (
            expected.pairs,
            expected.n_pairs,
            expected.n_units,
        )
        assert res.calibration == "exact"


@pytest.mark.parametrize(("n", "m"), [(40, 40), (40, 70)])
@pytest.mark.parametrize("pairs", ["linear", 3, "complete"])
def test_result_is_determined_by_rng(n, m, pairs):
    """Same seed, same p, whatever the number of workers; another seed, other draws."""
    x, y = samples(n, m)
    options = {"kernels": more_kernels, "shuffle": True}
    first = run(x, y, "ost", pairs, rng=1, workers=1, **options)
    again = run(x, y, "ost", pairs, rng=1, workers=2, **options)
    other = run(x, y, "ost", pairs, rng=2, **options)
    assert first.pvalue == again.pvalue
    assert first.statistic == pytest.approx(again.statistic, rel=1e-9)
    assert not np.array_equal(first.null.values, other.null.values)


def test_observed_data_are_the_first_draw():
    """The statistic under exact calibration is the evidence, and its threshold a quantile."""
    x, y = samples(50, 50)
    for method in ("ost", "wald", "best", "adaptive", Split(0.3)):
        res = run(x, y, method, "complete")
        assert res.null.values[0] == res.statistic
        assert len(res.null.values) == 1000
        for alpha in (0.01, 0.05, 0.2, 0.5):
            assert res.reject(alpha) == (res.pvalue <= alpha)
            assert res.reject(alpha) == (res.statistic >= res.threshold(alpha) * (1 - 1e-12))


# Draws --------------------------------------------------------------------------------------------


def test_all_patterns_are_different():
    signs = Signs(7, 127, np.random.default_rng(0), products=False)
    assert signs.exhaustive
    patterns = signs.columns(range(7))
    assert np.all(patterns[0] == 1.0)
    assert len(np.unique(patterns, axis=0)) == 128
    assert not Signs(7, 126, np.random.default_rng(0), products=False).exhaustive


def test_products_of_signs_have_half_as_many_patterns():
    signs = Signs(8, 127, np.random.default_rng(0))
    assert signs.exhaustive
    patterns = signs.columns(range(8))
    outer = (patterns[:, :, None] * patterns[:, None]).reshape(128, -1)
    assert len(np.unique(outer, axis=0)) == 128


@pytest.mark.parametrize("n", [6, 7, 9])
def test_few_patterns_are_drawn_without_replacement(n):
    """None twice, not even with all signs turned, and never the observed one again."""
    patterns = Signs(n, 19, np.random.default_rng(1)).columns(range(n))
    turned = patterns * patterns[:, -1:]
    assert len(patterns) == len(np.unique(turned, axis=0)) == 20


def test_random_signs_are_fair_and_independent():
    """Means and correlations of 2,000 × 300 signs; false alarms: 1e-6 in all."""
    signs = Signs(300, 2000, np.random.default_rng(1)).columns(range(300))[1:]
    limit = 6.9  # standard normal, two-sided, over 300 + 300 · 299 / 2 comparisons
    assert np.max(np.abs(signs.mean(axis=0))) * np.sqrt(2000) < limit
    correlation = signs.T @ signs / 2000
    np.fill_diagonal(correlation, 0.0)
    assert np.max(np.abs(correlation)) * np.sqrt(2000) < limit


@pytest.mark.parametrize("n", [3, 64, 65, 200])
def test_triangles_are_summed_as_squares_are(n):
    """In strips, without what is below the diagonal, to the last bit; and against float64."""
    rng = np.random.default_rng(n)
    signs = Signs(n, 40, rng).columns(range(n))
    values = np.triu(rng.normal(size=(n, n)), 1)
    sums = signed_sums(signs, values, signs, upper=True)
    np.testing.assert_array_equal(sums, signed_sums(signs, values, signs))
    plain = np.einsum("fi,ij,fj->f", signs, values, signs)
    np.testing.assert_allclose(sums, plain, atol=np.abs(values).max() * n**2 * n / 2**24)


@pytest.mark.parametrize("N", [5, 127, 128, 129, 1000])
def test_any_columns_of_the_signs_are_the_same(N):
    signs = Signs(N, 40, np.random.default_rng(2))
    whole = signs.columns(range(N))
    rng = np.random.default_rng(3)
    for step in (1, 2):
        for _ in range(30):
            start, stop = np.sort(rng.integers(N + 1, size=2))
            if start < stop:
                part = range(int(start), int(stop), step)
                assert np.array_equal(signs.columns(part), whole[:, start:stop:step])
    beyond = range(N - 2, N + 2)
    assert np.array_equal(signs.columns(beyond), whole[:, [N - 2, N - 1, 0, 1]])
    assert np.array_equal(signs.columns(range(N + 1, N + 3)), whole[:, [1, 2]])


def test_unwrapped():
    assert unwrapped(range(3, 7), 10) == [range(3, 7)]
    assert unwrapped(range(8, 12), 10) == [range(8, 10), range(2)]
    assert unwrapped(range(11, 13), 10) == [range(1, 3)]
    assert unwrapped(range(8, 10), 10) == [range(8, 10)]


# Ranks --------------------------------------------------------------------------------------------


def plainly_hedged(evidence):
    """By the definition: ranks with ties against, and their inverses added up, as fractions."""
    ranks = [[int(np.sum(kind >= v - TIE * max(1, abs(v)))) for v in kind] for kind in evidence]
    score = [sum(Fraction(1, r[f]) for r in ranks) for f in range(evidence.shape[1])]
    return np.array([np.mean([other >= own for other in score]) for own in score])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(arrays(np.float64, (3, 24), elements=st.integers(-6, 6).map(float)))
def test_hedging_with_ties_against_the_definition_properties(evidence):
    np.testing.assert_allclose(np.exp(-hedged(evidence)), plainly_hedged(evidence), rtol=1e-12)


@pytest.mark.parametrize("kinds", [1, 2, 5])
def test_hedging_against_the_definition(kinds):
    evidence = np.random.default_rng(kinds).normal(size=(kinds, 200))
    np.testing.assert_allclose(np.exp(-hedged(evidence)), plainly_hedged(evidence), rtol=1e-12)
    if kinds == 1:
        ranks = 1 + np.sum(evidence[0][:, None] < evidence[0], axis=1)
        np.testing.assert_allclose(np.exp(-hedged(evidence)), ranks / 200, rtol=1e-12)


def test_hedged_pvalues_are_exact():
    """Any draw may have been the observed one: their p-values are at most uniform."""
    evidence = np.round(np.random.default_rng(4).normal(size=(3, 500)), 1)
    p = np.sort(np.exp(-hedged(evidence)))
    assert np.all(p >= np.arange(1, 501) / 500 - 1e-12)


def test_weights_and_powers_of_ranks_against_the_definition():
    """Σ weight · rank^-power, and still any draw may have been the observed one."""
    evidence = np.round(np.random.default_rng(5).normal(size=(3, 300)), 1)
    weights, power = np.array([6.0, 2.0, 1.0]), 0.75
    ranks = np.sum(evidence[:, None, :] >= evidence[:, :, None], axis=2) / 300
    score = weights @ ranks**-power
    told = np.exp(-hedged(evidence, Joining(weights, power)))
    np.testing.assert_allclose(told, np.mean(score[None] >= score[:, None] - 1e-12, axis=1))
    assert np.all(np.sort(told) >= np.arange(1, 301) / 300 - 1e-12)
    alone = np.exp(-hedged(evidence, Joining(np.array([0.0, 1.0, 0.0]), power)))
    np.testing.assert_allclose(alone, ranks[1])


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    arrays(np.float64, st.integers(1, 30), elements=st.integers(-4, 4).map(lambda v: v / 2)),
    st.floats(0.01, 0.99),
)
def test_threshold_and_tail_agree_properties(values, alpha):
    law = Flips(values)
    assert np.exp(law.log_sf(values[0])) == pytest.approx(np.mean(values >= values[0] - 1e-9))
    threshold = law.isf(alpha)
    for value in np.unique(values):
        assert (value >= threshold) == (np.mean(values >= value - 1e-9) <= alpha)


def test_rounding_is_no_evidence():
    """Values that differ by rounding are ties, near zero as well."""
    for centre in (0.0, 1.0, 1e6):
        noise = 1e-13 * max(centre, 1.0) * np.random.default_rng(0).normal(size=200)
        noise[0] = np.abs(noise).max()
        assert Flips(centre + noise).log_sf(centre + noise[0]) == 0.0
        np.testing.assert_array_equal(hedged((centre + noise)[None]), np.zeros(200))


def test_evidence_of_each_method_against_the_design():
    """OST: -log p of the closed form, and 0 where every statistic is below 0; Wald: the statistic;
    Split: learned again for every draw."""
    rng = np.random.default_rng(5)
    tau, cov = rng.normal(size=(50, 3)), np.cov(rng.normal(size=(3, 40)))
    some = np.any(tau > 0, axis=1)
    assert 0 < np.count_nonzero(~some) < 20
    expected = np.where(some, -OST()(tau, cov).log_pvalue, 0.0)
    np.testing.assert_array_equal(rank_draws(OST(), tau, cov).values, expected)
    np.testing.assert_array_equal(rank_draws(Wald(), tau, cov).values, Wald()(tau, cov).statistic)
    halves = rng.normal(size=(50, 2, 3))
    split = Split(0.5)
    single = [float(split(pair, cov).statistic) for pair in halves]
    np.testing.assert_allclose(rank_draws(split, halves, cov).values, single, rtol=1e-9)


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
        ({"pairs": 10}, r"`pairs` = 10 is wider than 20 units allow"),
        ({"pairs": "complete", "calibration": "asymptotic"}, r"has no normal limit"),
        ({"method": Split(0.01)}, r"`method` splits 20 units into 0 and 20"),
    ],
)
def test_exact_iv(options, message):
    x, y = samples(20, 20)
    with pytest.raises(InputError, match=message):
        two_sample_test(x, y, **{"calibration": "exact", "method": "ost", **options})
