"""Ways to look at the bins of a column."""

import numpy as np
import pytest
from scipy import stats

import nosplit
from nosplit._old.sketch.lenses import lenses_of_bins


def test_scores_against_theory():
    """Equal shares of a normal law: the scores are its quantiles, and their squares."""
    counts = np.full(128, 10.0)
    axes = lenses_of_bins(np.arange(128), counts, categories=False)[2].axes
    quantiles = stats.norm.ppf((np.arange(128) + 0.5) / 128)
    assert np.corrcoef(axes[:, 0], quantiles)[0, 1] == pytest.approx(1.0)
    assert np.corrcoef(axes[:, 1], quantiles**2)[0, 1] == pytest.approx(1.0)


def test_flags_and_categories_are_looked_at_bin_by_bin():
    assert len(lenses_of_bins(np.arange(2), np.array([90.0, 10.0]), categories=False)) == 1
    assert len(lenses_of_bins(np.arange(5), np.full(5, 20.0), categories=True)) == 1


def test_a_spread_is_found_in_one_of_many_columns():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20_000, 8))
    y[:, 3] *= 1.06
    res = nosplit.two_sample_test(x, y, calibration=nosplit.Exact(999))
    assert res.reject(0.01)
    assert res.columns.differing(0.01) == ("3",)
