"""P-values of many columns, adjusted for how many there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from nosplit._old.pairs.statistics import own_tails
from nosplit.inference.rank import benjamini_hochberg, holm, step_down


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
    order = np.argsort(-scores[0])
    largest, expected = 0.0, {}
    for i, j in enumerate(order):
        rest = scores[:, order[i:]].max(axis=1)
        largest = max(largest, float(np.mean(rest >= rest[0])))
        expected[int(j)] = largest
    np.testing.assert_allclose(adjusted, [expected[j] for j in range(6)], rtol=1e-12)
    assert np.all(np.diff(adjusted[order]) >= 0)


def test_columns_with_other_laws_are_compared_by_their_tails():
    """The best of thirty statistics has larger scores than one: neither must hide the other."""
    rng = np.random.default_rng(3)
    many = rng.normal(size=(4000, 30)).max(axis=1)
    one = rng.normal(size=4000)
    one[0], many[0] = 3.0, 0.0
    scores = np.stack([one, many], axis=1)
    # P(N > 3) = .00135, twice; compared by scores alone it would be thirty times that.
    assert step_down(own_tails(scores, scores))[0] <= 0.006


@pytest.mark.parametrize("k", [1, 2])
def test_few_columns(k):
    scores = np.random.default_rng(5).normal(size=(50, k))
    assert step_down(scores).shape == (k,)
