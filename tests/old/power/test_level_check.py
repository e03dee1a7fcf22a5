"""The check of a test's level on merged samples (Appendix D.1)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import nosplit
from nosplit._old.power.level import wilson


def test_wilson_against_scipy():
    for hits, trials in ((0, 10), (3, 10), (50, 1000), (10, 10)):
        expected = stats.binomtest(hits, trials).proportion_ci(method="wilson")
        np.testing.assert_allclose(wilson(hits, trials), expected, atol=1e-12)


def test_level_holds_where_it_should_even_for_samples_that_differ():
    """x and y differ, but merged and split again they do not. False alarm rate below 1e-4."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2000, 1)), rng.normal(1.0, 1.0, size=(2000, 1))
    check = nosplit.power.calibration_check(x, y, kernels="paper1", pairs="linear", trials=2000)
    assert check.pvalues.shape == (40, 50)
    assert abs(check.rate - 0.05) < stats.norm.isf(1e-4) * np.sqrt(0.05 * 0.95 / 2000) + 0.005
    assert check.holds
    assert "The level holds" in str(check)


def test_too_few_pairs_are_found_out():
    """Fifty pairs with six kernels run far above the level."""
    x, y = np.random.default_rng(1).normal(size=(2, 60))
    check = nosplit.power.calibration_check(x, y, kernels="paper6", pairs="linear", trials=2000)
    assert not check.holds
    assert check.low > 0.05
    assert "does not hold" in str(check)


@pytest.mark.filterwarnings("ignore:Every kernel's statistic is below zero")
def test_reused_pairs_give_the_law_of_whole_tests():
    """p-values by signs and by whole tests on new splits: Kolmogorov-Smirnov at 1e-4."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 300, 2))
    options = {"kernels": "paper2", "pairs": 2, "method": "ost"}
    reused = nosplit.power.calibration_check(x, y, trials=3000, **options).pvalues.ravel()
    merged, whole = np.concatenate([x, y]), []
    for _ in range(400):
        z = merged[rng.permutation(600)]
        res = nosplit.two_sample_test(
            z[:300], z[300:], calibration="asymptotic", shuffle=False, **options
        )
        whole.append(res.pvalue)
    assert stats.ks_2samp(reused, whole).pvalue > 1e-4


def test_unequal_sizes_and_exact_calibration_run_whole_tests():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 1)), rng.normal(size=(25, 1))
    with pytest.raises(nosplit.InputError, match="need samples of the same size, got 40 and 25"):
        nosplit.power.calibration_check(x, y, pairs=2)
    exact = nosplit.Exact(n_resamples=39)
    check = nosplit.power.calibration_check(x, y, kernels="paper1", trials=60, calibration=exact)
    assert check.pvalues.shape == (60, 1)
    assert check.rate <= stats.binom.isf(1e-5, 60, 0.05) / 60


@pytest.mark.parametrize("trials", [0, -1, 2.5, True])
def test_trials_iv(trials):
    with pytest.raises(nosplit.InputError, match="`trials` must be an int ≥ 1"):
        nosplit.power.calibration_check([1.0, 2.0], [2.0, 3.0], trials=trials)


def test_tables_are_checked_as_they_are_tested():
    """Categories are compared for equality, by signs and by whole tests alike."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    x, y = (
        pd.DataFrame({"u": rng.normal(size=n), "kind": rng.choice(["a", "b", "c"], n)})
        for n in (600, 600)
    )
    options = {"pairs": 2, "method": "ost", "trials": 400}
    assert nosplit.power.calibration_check(x, y, **options).holds
    split = nosplit.methods.Split(0.5)
    some = nosplit.power.calibration_check(x, y, **{**options, "method": split, "trials": 20})
    assert some.pvalues.shape == (20, 1)
    assert nosplit.power.calibration_check(x, y, columns=["kind"], **options).holds
