"""Accuracy of all columns together: against theory, and what single columns do not show."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import nosplit


def explained(x, y):
    return nosplit.explain(nosplit.two_sample_test(x, y), x, y)


def test_columns_add_up_against_theory():
    """Ten columns that differ a little show more together than any of them."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 1000, 10)) + np.array([0.0, 0.3])[:, None, None]
    told = explained(x, y)
    best = stats.norm.cdf(0.15 * np.sqrt(10.0))
    assert told.accuracy.value > told.effect.separation + 0.05
    assert told.accuracy.value == pytest.approx(best, abs=0.03)
    assert told.accuracy.low < best


def test_a_pair_that_no_column_shows():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 1500, 3))
    y[:, 1] = np.abs(y[:, 1]) * np.sign(y[:, 0])
    told = explained(x, y)
    assert told.effect.largest.low < 0.52
    assert told.accuracy.low > 0.55


def test_without_a_difference_against_theory():
    rng = np.random.default_rng(7)
    found = [explained(*rng.normal(size=(2, 100, 4))).accuracy for _ in range(60)]
    assert sum(own.low <= 0.5 <= own.high for own in found) >= stats.binom.ppf(1e-4, 60, 0.93)


def test_one_column_has_a_separation_only():
    rng = np.random.default_rng(8)
    told = explained(rng.normal(size=(100, 1)), rng.normal(1.0, size=(100, 1)))
    assert told.accuracy is None
    assert told.to_dict()["effect"]["accuracy"] is None
