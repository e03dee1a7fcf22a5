"""Separation: against theory, without a difference, and by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import nosplit
from nosplit.inference.effect import (
    FOLDS,
    DealtSamples,
    bins_of_values,
    deal_rows,
    largest_of,
    separation_of_counts,
    separations_of_both,
    separations_of_rows,
)


def separation(x, y, categories=False):
    found = separations_of_both(x[:, None], y[:, None], [(0,)], (0,) if categories else ())
    return found[0]


def zeros(rng, n):
    return np.where(rng.random(n) < 0.95, 0.0, rng.normal(size=n))


LAWS = {
    "spread": (lambda r, n: r.normal(size=n), lambda r, n: r.normal(scale=3.0, size=n), 0.742),
    "zeros": (zeros, lambda r, n: r.normal(scale=0.05, size=n), 0.975),
    "rounded": (
        lambda r, n: np.round(r.normal(size=n) * 2) / 2,
        lambda r, n: r.normal(size=n),
        0.99,
    ),
    "shift": (
        lambda r, n: r.normal(size=n),
        lambda r, n: r.normal(1.0, size=n),
        stats.norm.cdf(0.5),
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_best_rule_against_theory(law):
    first, second, best = LAWS[law]
    rng = np.random.default_rng(0)
    found = separation(first(rng, 20_000), second(rng, 20_000))
    assert found.value == pytest.approx(best, abs=4.0 * found.error + 0.002)
    assert found.error < 0.003


NULLS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "counts": lambda rng, n: rng.poisson(3.0, n).astype(float),
    "flags": lambda rng, n: (rng.random(n) < 0.3).astype(float),
}


@pytest.mark.parametrize("sizes", [(20, 20), (50, 50), (20, 200), (200, 200)])
@pytest.mark.parametrize("law", NULLS)
def test_without_a_difference_against_theory(law, sizes):
    """Unbiased, and the interval contains one half in 93 % of trials; false alarms 1e-4."""
    rng, trials = np.random.default_rng(1), 400
    found = [separation(*(NULLS[law](rng, n) for n in sizes)) for _ in range(trials)]
    values = np.array([own.value for own in found])
    assert abs(values.mean() - 0.5) < 0.01 + 4.0 * values.std() / np.sqrt(trials)
    hit = sum(own.low <= 0.5 <= own.high for own in found)
    assert hit >= stats.binom.ppf(1e-4, trials, 0.93)


def test_largest_of_many_columns_against_theory():
    """The interval of the largest of 20 columns is adjusted for all of them."""
    rng, trials = np.random.default_rng(3), 200
    groups = [(j,) for j in range(20)]
    best = [
        largest_of(separations_of_both(*rng.normal(size=(2, 100, 20)), groups))[1]
        for _ in range(trials)
    ]
    assert all(own.looks == 20 for own in best)
    assert sum(own.low <= 0.5 for own in best) >= stats.binom.ppf(1e-4, trials, 0.95)


def test_sorted_rows_and_swapped_samples():
    """Folds are dealt by a key: sorted rows give no bias, and labels of samples no difference."""
    rng = np.random.default_rng(4)
    x, y = np.sort(rng.normal(size=1000)), np.sort(rng.normal(size=800))
    found = separation(x, y)
    assert abs(found.value - 0.5) < 4.0 * found.error
    assert separation(y, x).value == pytest.approx(found.value)
    assert separation(3.0 * x - 1.0, 3.0 * y - 1.0).value == pytest.approx(found.value)


def test_rules_against_enumeration():
    """The estimate from counts is that of rules which are learned and judged one by one."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 9, (2, FOLDS, 7)).astype(float)
    accuracy = []
    for k in range(FOLDS):
        others = np.delete(counts / counts.sum(axis=2, keepdims=True), k, axis=1)
        p, q = (
            np.average(others[s], axis=0, weights=_harmonic(np.delete(counts, k, axis=1)))
            for s in (0, 1)
        )
        right = [np.where(p == q, 0.5, p > q), np.where(p == q, 0.5, q > p)]
        accuracy.append(np.mean([counts[s, k] @ right[s] / counts[s, k].sum() for s in (0, 1)]))
    expected = np.average(accuracy, weights=_harmonic(counts))
    assert separation_of_counts(counts).value == pytest.approx(expected)


def _harmonic(counts):
    n, m = counts.sum(axis=2)
    return n * m / (n + m)


def test_categories_against_theory():
    rng = np.random.default_rng(7)
    often = np.where(np.arange(200) % 2, 2.0, 1.0) / 300.0
    x, y = (rng.choice(200, 20_000, p=p).astype(float) for p in (often, often[::-1]))
    assert separation(x, y, categories=True).value == pytest.approx(2.0 / 3.0, abs=0.01)


@pytest.mark.parametrize("sizes", [(40, 40), (2, 3)])
def test_strata_are_compared_inside(sizes):
    """Strata that differ in size and in level show no difference: large ones, and matched sets."""
    rng, found = np.random.default_rng(8), []
    n, m = sizes
    for _ in range(100):
        strata = 400 // (n + m)
        block = np.repeat(np.arange(strata), n + m)
        y = np.tile(np.arange(n + m) >= n, strata) ^ (block % 3 == 0)
        values = 3.0 * (block % 3) + rng.normal(size=len(y))
        dealt = deal_rows(y, block=block)
        found.append(dealt.separation(*bins_of_values(values, False)))
    values = np.array([own.value for own in found])
    assert abs(values.mean() - 0.5) < 4.0 * values.std() / 10.0
    assert sum(own.low <= 0.5 <= own.high for own in found) >= stats.binom.ppf(1e-4, 100, 0.93)


def test_pairs_have_the_share_in_which_y_is_larger():
    rng = np.random.default_rng(10)
    x = rng.normal(size=(200, 2))
    y = x - [[0.5, 0.0]] + rng.normal(size=(200, 2))
    res = nosplit.two_sample_test(x, y, paired=True)
    first = res.columns.rows[0].separation
    assert first.paired
    assert first.value == np.mean(y[:, 0] > x[:, 0]) < 0.4
    assert first.size == 1.0 - first.value
    assert res.to_dict()["columns"][0]["share_larger"] == first.value
    assert f"y is lower in {first.size:.0%}".replace("%", " %") in str(res)


def test_several_samples_name_the_one_that_differs():
    rng = np.random.default_rng(11)
    samples = [rng.normal(size=(150, 1)) + (2.0 if k == 2 else 0.0) for k in range(4)]
    dealt = DealtSamples.of(np.repeat(np.arange(4), 150), ["a", "b", "c", "d"])
    [found] = separations_of_rows(np.concatenate(samples), dealt, [(0,)])
    assert found.sample == "c"
    assert found.looks == 4
    assert found.value == pytest.approx(stats.norm.cdf(1.0), abs=0.05)
