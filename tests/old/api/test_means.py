"""`mean_test`: any base functions, no kernel needed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from nosplit import Exact, InputError, joint_normal_test, mean_test, two_sample_test
from nosplit.kernels import Gaussian, Linear
from nosplit.methods import Split


def test_exact_by_full_enumeration():
    """Over all signs of five rows, the share of p ≤ k/32 is at most k/32, for every method."""
    h = np.random.default_rng(0).normal([0.5, 0.2, 0.0], 1.0, size=(5, 3))
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=5)))
    for method in ("adaptive", "ost", "nonnegative", "wald", "best"):
        results = [mean_test(e[:, None] * h, method=method, symmetric=True) for e in signs]
        assert all(r.how.n_resamples == 31 for r in results)
        pvalues = np.array([r.pvalue for r in results])
        for k in range(1, 33):
            assert np.mean(pvalues <= k / 32 + 1e-9) <= k / 32 + 1e-12


def test_exact_p_values_are_uniform_for_heavy_tails():
    """Cauchy rows, twelve of them: chi-square over five classes, false alarm 1e-4."""
    rng, ranks = np.random.default_rng(1), []
    for _ in range(500):
        h = rng.standard_cauchy((12, 1)) * [1.0, 0.5, 0.1] + rng.standard_cauchy((12, 3))
        result = mean_test(h, symmetric=True, calibration=Exact(19), rng=rng)
        assert result.how.calibration == "exact"
        ranks.append(round(20 * result.pvalue))
    counts = np.bincount(ranks, minlength=21)[1:].reshape(5, 4).sum(axis=1)
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_asymptotic_level():
    """Skewed rows, 400 of 3, by the bootstrap: at most .065; false alarm 1e-4."""
    rng, trials = np.random.default_rng(2), 60
    hits = sum(mean_test(rng.exponential(size=(400, 3)) - 1.0).reject() for _ in range(trials))
    assert hits <= stats.binom.isf(1e-4, trials, 0.065)


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
@pytest.mark.parametrize("method", ["ost", "wald", "best", "nonnegative"])
def test_columns_in_another_order_and_other_units(method):
    """Rows that were not seen belong to columns, wherever these stand."""
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


def test_mean_embedding_features():
    """Differences of features at fixed places (Chwialkowski et al. 2015), of either sign: Wald."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(500, 1)), rng.normal(size=(500, 1)) * 1.5
    places = np.array([-2.0, 0.0, 2.0])
    h = np.exp(-((x - places) ** 2)) - np.exp(-((y - places) ** 2))
    result = mean_test(h, method="wald", symmetric=True)
    assert result.reject(0.01)
    assert (result.how.pairs, result.how.n_pairs, result.how.n_used) == ("rows", 500, 500)


def test_classifier_logits():
    """A classifier learned on other data: its logits are higher in one of the samples."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(0.3, 1.0, size=(400, 3)), rng.normal(size=(400, 3))
    train, rest = slice(200), slice(200, 400)
    direction = x[train].mean(axis=0) - y[train].mean(axis=0)
    logits = np.column_stack([(x[rest] - y[rest]) @ direction, x[rest, 0] - y[rest, 0]])
    assert mean_test(logits, symmetric=True).reject(0.01)


def test_shuffling_matters_to_splits_only():
    h = np.random.default_rng(6).normal(size=(301, 2))
    kept, moved = (mean_test(h, shuffle=s).pvalue for s in (False, True))
    assert kept == pytest.approx(moved, rel=1e-9)
    kept, moved = (mean_test(h, method=Split(0.5), shuffle=s).pvalue for s in (False, True))
    assert kept != moved


def test_mean_iv():
    h = np.random.default_rng(7).normal(size=(50, 2))

    def refuse(match, h=h, **options):
        with pytest.raises(InputError, match=match):
            mean_test(h, **options)

    refuse("say so with symmetric=True", calibration="exact")
    refuse("naive has no exact form", calibration="exact", symmetric=True, method="naive")
    refuse("`h` must have at least 2 rows, got 1", h=h[:1])
    refuse("`h` must be a non-empty matrix", h=h[:, 0])
    refuse("The values of all pairs are the same", h=np.zeros((10, 2)))
