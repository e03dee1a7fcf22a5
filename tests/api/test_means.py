"""Tests of means: signs of rows, closed forms and resamples of rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from nosplit import Exact, InputError, joint_normal_test, mean_test, two_sample_test
from nosplit.api.means import ROWS_AT_ONCE, _signed_means
from nosplit.kernels import Gaussian, Linear
from nosplit.methods import Split

quiet = pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
# Most rejections of 100 tests at level .05; false alarms: 1e-4.
MOST = stats.binom.isf(1e-4, 100, 0.05)


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("method", ["adaptive", "ost", "nonnegative", "wald", "best"])
def test_exact_by_full_enumeration(method, length):
    """Over all signs of five rows, or of blocks of rows, P(p ≤ k / 32) is at most k / 32."""
    h = np.random.default_rng(0).normal([0.5, 0.2, 0.0], 1.0, size=(5 * length, 3))
    options = {"method": method, "symmetric": True, "series": length if length > 1 else False}
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=5))).repeat(length, axis=1)
    results = [mean_test(e[:, None] * h, **options) for e in signs]
    assert all(res.how.n_resamples == 31 for res in results)
    ranks = np.sort([round(32 * res.pvalue) for res in results])
    assert (ranks >= np.arange(1, 33)).all()
    assert ranks[0] <= 2


@pytest.mark.parametrize("law", ["standard_cauchy", "standard_normal"])
@pytest.mark.parametrize("series", [False, 3])
def test_level_of_signs(law, series):
    rng, hits = np.random.default_rng(1), 0
    for _ in range(100):
        h = getattr(rng, law)((30, 1)) * [1.0, 0.5, 0.1] + getattr(rng, law)((30, 3))
        h = h + 0.5 * np.roll(h, 1, axis=0) if series else h
        res = mean_test(h, symmetric=True, series=series, calibration=Exact(199), rng=rng)
        assert res.how.calibration == ("series" if series else "exact")
        hits += res.reject()
    assert hits <= MOST


def test_signs_of_many_rows_are_drawn_in_parts():
    """All moments of the draws are those of independent signs; false alarms: 1e-6."""
    h = np.random.default_rng(2).normal(0.1, 1.0, size=(ROWS_AT_ONCE + 1, 2))
    drawn = _signed_means(h, 1999, np.random.default_rng(3))
    np.testing.assert_allclose(drawn[0], np.sqrt(len(h)) * h.mean(axis=0), rtol=1e-3)
    z = drawn[1:] / np.sqrt(np.mean(h**2, axis=0))
    assert np.abs(z.mean(axis=0)).max() * np.sqrt(1999) < 5.2
    assert np.abs((z**2).mean(axis=0) - 1.0).max() * np.sqrt(1999 / 2) < 5.2


@quiet
def test_asymptotic_level():
    """Skewed rows, 400 of 3, by the bootstrap: at most .065; false alarm 1e-4."""
    rng, trials = np.random.default_rng(2), 60
    hits = sum(mean_test(rng.exponential(size=(400, 3)) - 1.0).reject() for _ in range(trials))
    assert hits <= stats.binom.isf(1e-4, trials, 0.065)


@quiet
@pytest.mark.parametrize("method", ["ost", "wald", "best", "nonnegative"])
def test_columns_in_another_order_and_other_units(method):
    """Rows that were missed belong to columns, wherever these stand."""
    h = 1.2 - np.random.default_rng(5).exponential(size=(40, 3))
    found = [mean_test(v, method=method) for v in (h, h[:, [2, 0, 1]], h * [3.0, 0.5, 7.0])]
    assert {result.how.calibration for result in found} == {"cautious"}
    assert len({result.pvalue for result in found}) == 1


@pytest.mark.parametrize("method", ["ost", "wald", "best", "nonnegative"])
def test_near_copies_in_another_order(method):
    """The first of copies was taken: its last digits made p = .5, those of the last one .25."""
    h = 1e9 + np.array([[0.48, 0.01, 1.2, 0.1], [-0.69, -1.14, 1e20, 0.33]])
    orders = map(list, itertools.permutations(range(4)))
    found = {mean_test(h[:, o], method=method, symmetric=True).pvalue for o in orders}
    assert len(found) == 1


def test_linear_pairs_are_a_mean_test():
    """The paper's own statistic: rows of h values over disjoint pairs."""
    x, y = np.random.default_rng(3).normal(size=(2, 600, 2))
    kernels = (Gaussian(1.0), Linear())
    options = {"method": "ost", "calibration": "asymptotic", "shuffle": False}
    result = two_sample_test(x, y, kernels=kernels, pairs="linear", **options)
    a, b, c, d = x[:300], x[300:], y[:300], y[300:]
    h = [k.aligned(a, b) + k.aligned(c, d) - k.aligned(a, d) - k.aligned(c, b) for k in kernels]
    again = mean_test(np.transpose(h), **options)
    assert again.log_pvalue == pytest.approx(result.log_pvalue, rel=1e-9)
    third = joint_normal_test(again.selection.tau, again.selection.cov)
    assert third.log_pvalue == pytest.approx(result.log_pvalue, rel=1e-9)


def test_features_and_logits_are_found():
    """Differences of features at fixed places (Chwialkowski et al. 2015), and of learned logits."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(500, 1)), rng.normal(size=(500, 1)) * 1.5
    places = np.array([-2.0, 0.0, 2.0])
    h = np.exp(-((x - places) ** 2)) - np.exp(-((y - places) ** 2))
    result = mean_test(h, method="wald", symmetric=True)
    assert result.reject(0.01)
    assert (result.how.pairs, result.how.n_pairs, result.how.n_used) == ("rows", 500, 500)
    x, y = rng.normal(0.3, 1.0, size=(400, 3)), rng.normal(size=(400, 3))
    direction = x[:200].mean(axis=0) - y[:200].mean(axis=0)
    logits = np.column_stack([(x[200:] - y[200:]) @ direction, x[200:, 0] - y[200:, 0]])
    assert mean_test(logits, symmetric=True).reject(0.01)


def test_shuffling_matters_to_splits_only():
    h = np.random.default_rng(6).normal(size=(301, 2))
    kept, moved = (mean_test(h, shuffle=s).pvalue for s in (False, True))
    assert kept == pytest.approx(moved, rel=1e-9)
    kept, moved = (mean_test(h, method=Split(0.5), shuffle=s).pvalue for s in (False, True))
    assert kept != moved


def test_a_trend_is_too_little_data():
    """No block is longer than the dependence: there are two signs."""
    res = mean_test(np.arange(1.0, 61.0)[:, None], symmetric=True, series=True)
    assert (res.pvalue, res.how.smallest_pvalue, res.how.n_units) == (0.5, 0.5, 1)
    assert res.verdict() == "too little data"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calibration": "exact"}, "say so with symmetric=True"),
        ({"calibration": "exact", "symmetric": True, "method": "naive"}, "has no exact form"),
        ({"calibration": "exact", "symmetric": True, "method": "split"}, "has no exact form"),
        ({"calibration": "bootstrap", "method": "chibar"}, "has no bootstrap form"),
        ({"h": np.ones((1, 2))}, "`h` must have at least 2 rows, got 1"),
        ({"h": np.ones(5)}, "`h` must be a non-empty matrix"),
        ({"h": np.zeros((10, 2))}, "`h` is 0 in all rows"),
        ({"h": np.eye(5)}, "`h` must have more rows than columns, got 5 rows and 5 columns"),
        ({"series": 0}, "`series` must be an int ≥ 1, got 0"),
        ({"series": 26}, "`h` has too few rows for `series`: means of blocks of 26 rows"),
    ],
)
def test_mean_iv(options, message):
    h = np.random.default_rng(7).normal(size=(50, 2))
    with pytest.raises(InputError, match=message):
        mean_test(**{"h": h, **options})
