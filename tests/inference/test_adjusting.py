"""P-values of many columns: adjusted for how many there are, and exact with few draws for most."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from nosplit.inference.calibrating.evidence import step_down
from nosplit.inference.columns.adjusting import benjamini_hochberg, holm
from nosplit.inference.columns.sequential import enough_draws, sequential_pvalues


def test_holm_is_closed_testing_with_bonferroni():
    rng = np.random.default_rng(0)
    for p in rng.uniform(0, 0.2, (50, 5)):
        families = [f for size in range(1, 6) for f in combinations(range(5), size)]
        expected = [
            max(min(1.0, len(f) * min(p[i] for i in f)) for f in families if j in f)
            for j in range(5)
        ]
        np.testing.assert_allclose(holm(p), expected)


def test_benjamini_hochberg_against_scipy():
    p = np.random.default_rng(1).uniform(0, 0.5, 40)
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p))


def test_step_down_compares_each_with_those_that_remain():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
    scores /= scores.std(axis=0)
    scores[0] += [3.0, 0.0, 2.0, 0.0, 1.0, 0.0]
    adjusted = step_down(scores)
    # Columns with the same tails: -log p is a function of the score alone, nearly.
    order = np.argsort(-scores[0])
    largest, expected = 0.0, {}
    for i, j in enumerate(order):
        rest = scores[:, order[i:]].max(axis=1)
        largest = max(largest, float(np.mean(rest >= rest[0])))
        expected[int(j)] = largest
    np.testing.assert_allclose(adjusted, [expected[j] for j in range(6)], atol=0.05)
    assert np.all(np.diff(adjusted[order]) >= 0)


def test_columns_with_other_laws_are_compared_by_their_tails():
    """The best of thirty statistics has larger scores than one: neither must hide the other."""
    rng = np.random.default_rng(3)
    many = rng.normal(size=(4000, 30)).max(axis=1)
    one = rng.normal(size=4000)
    one[0], many[0] = 3.0, 0.0
    adjusted = step_down(np.stack([one, many], axis=1))
    # P(N > 3) = .00135, twice; compared by scores alone it would be thirty times that.
    assert adjusted[0] <= 0.006


def test_sequential_p_values_are_exact_against_theory():
    """P(p ≤ t) ≤ t for all t, for 40,000 columns with nothing to find, and most stop early."""
    rng = np.random.default_rng(4)
    k, most = 40_000, 3_999
    scores = rng.normal(size=(k, 200)).T

    def extreme(columns, first, stop):
        return rng.binomial(stop - first, stats.norm.sf(scores[0, columns]))

    p, draws = sequential_pvalues(scores, extreme, most)
    assert draws.mean() < 1_500
    assert set(np.unique(draws)) == {199, 1_599, 3_999}
    for t in (0.0005, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.2, 0.3):
        found = np.count_nonzero(p <= t)
        assert found <= stats.binom.isf(1e-6, k, t)
        assert found >= stats.binom.ppf(1e-6, k, t - 1 / 200 if t > 0.25 else 0.9 * t)


def test_enough_draws_for_holm():
    assert enough_draws(15, 0.05) == 6_000
    p, draws = sequential_pvalues(
        np.zeros((100, 3)) + [[9.0, 0.0, 1.0]] * 1, lambda c, a, b: np.zeros(len(c), int), 1_000
    )
    assert p.tolist() == [1.0, 1.0, 1.0]  # ties count against
    assert draws.tolist() == [99, 99, 99]


@pytest.mark.parametrize("k", [1, 2])
def test_few_columns(k):
    scores = np.random.default_rng(5).normal(size=(50, k))
    assert step_down(scores).shape == (k,)
