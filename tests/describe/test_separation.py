"""How often rows are told apart: against counting, against theory, and never less with more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import nosplit
from nosplit.describe import separation
from nosplit.describe.separation import auc, column_rules, lower_bound, model_rules


def normal(n, p, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n, p))
    y[:, 0] += shift
    return x, y


def named(p):
    return {f"column {i}": (i,) for i in range(p)}


def test_auc_against_counting():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 40).astype(float), rng.integers(1, 6, 30).astype(float)
    pairs = np.sign(a[:, None] - b).ravel()
    assert auc(a, b)[0] == pytest.approx((1.0 + pairs.mean()) / 2.0)


def test_bins_against_rows():
    """The area and its error from counts in bins are those of the rows' scores."""
    rng = np.random.default_rng(1)
    scores = np.array([0.3, -0.2, 0.9, 0.1])
    a, b = rng.integers(0, 4, 50), rng.integers(0, 3, 70)
    counts = np.array([np.bincount(places, minlength=4) for places in (a, b)], dtype=float)
    found = separation._auc_of_bins(scores, counts)
    np.testing.assert_allclose(found, auc(scores[a], scores[b]))


def test_few_rows_that_are_all_told_apart():
    """Of n rows none on the wrong side: one in n / 3 may be, with a chance of 5 %."""
    x, y = normal(60, 2, 7, 50.0)
    rules = column_rules(x, y, named(2))
    assert rules[0].auc == 1.0
    assert 0.85 < lower_bound(rules) < 1.0 - 1.0 / 60.0


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_lower_bound_holds_against_theory(shift):
    """The best rule for a shift is right Φ(d / √2) of the time; the bound is above it rarely."""
    best = stats.norm.cdf(shift / np.sqrt(2.0))
    rules = [column_rules(*normal(200, 4, seed, shift), named(4)) for seed in range(100)]
    above = sum(lower_bound(found) > best + 1e-9 for found in rules)
    assert above <= stats.binom.ppf(1.0 - 1e-4, 100, 0.025)
    # Standard errors are not too small, for one rule that was not picked.
    areas, errors = np.array([found[0][1:] for found in rules]).T
    assert areas.std(ddof=1) < 1.25 * errors.mean()


def test_large_samples_reach_the_best_rule_against_theory():
    found = column_rules(*normal(20_000, 2, 0, 1.0), named(2))
    assert found[0].auc == pytest.approx(stats.norm.cdf(1.0 / np.sqrt(2.0)), abs=0.01)
    assert found[1].auc == pytest.approx(0.5, abs=0.02)


def test_columns_add_up():
    """Ten columns that differ a little tell more together than any of them."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 1000, 10)) + np.array([0.0, 0.3])[:, None, None]
    *each, together = column_rules(x, y, named(10))
    assert together.auc > max(rule.auc for rule in each) + 0.05
    assert together.auc < stats.norm.cdf(0.3 * np.sqrt(5.0)) + 3.0 * together.error


def test_categories_and_values_of_many_rows():
    rng = np.random.default_rng(3)
    x, y = (rng.choice(5, (2000, 1), p=p) for p in ([0.2] * 5, [0.1, 0.3, 0.2, 0.2, 0.2]))
    [codes] = column_rules(x.astype(float), y.astype(float), named(1), frozenset([0]))
    [numbers] = column_rules(x.astype(float), y.astype(float), named(1))
    assert 0.53 < codes.auc == pytest.approx(numbers.auc, abs=0.02)


def test_hundreds_of_categories_against_theory():
    """Every other level is twice as frequent in x, the rest in y: told apart 2/3 of the time."""
    rng = np.random.default_rng(4)
    often = np.where(np.arange(500) % 2, 2.0, 1.0) / 750.0
    x, y = (rng.choice(500, (20_000, 1), p=p).astype(float) for p in (often, often[::-1]))
    [rule] = column_rules(x, y, named(1), frozenset([0]))
    assert rule.auc == pytest.approx(2.0 / 3.0, abs=0.02)


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_never_smaller_with_more_columns(shift):
    x, y = normal(300, 6, 5, shift)
    told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    for j in range(6):
        a, b = x[:, [j]], y[:, [j]]
        alone = nosplit.explain(nosplit.two_sample_test(a, b), a, b)
        assert alone.effect.separation <= told.effect.separation


def test_a_classifier_sees_what_single_columns_do_not(scikit_learn):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 1500, 3))
    y[:, 1] = np.abs(y[:, 1]) * np.sign(y[:, 0])
    [boosted] = model_rules(x, y, frozenset())
    assert boosted.auc - 3.0 * boosted.error > 0.6
    assert boosted.auc > 0.1 + max(rule.auc for rule in column_rules(x, y, named(3)))
