"""Columns and flattened spectra of samples in memory: exact, invariant, and what they should be."""

from __future__ import annotations

import numpy as np
import pytest

from _reference import at_most, within
from nosplit import Exact, InputError, two_sample_test
from nosplit._old.families.pooled import label_draws
from nosplit._old.sketch import rows as rows_module
from nosplit._old.sketch.bins import fit_pooled
from nosplit._old.sketch.rows import places_of
from nosplit.kernels import Gaussian, Linear, Spectral
from nosplit.kernels.bank import Bank
from nosplit.kernels.eigenbases import gains_of, leading_count
from nosplit.kernels.orders import sorted_rows

ALARM = 1e-6


def test_sorted_rows_say_nothing_of_their_order():
    rng = np.random.default_rng(1)
    rows = rng.integers(3, size=(60, 3)).astype(float)
    again = rng.permutation(60)
    first, place = sorted_rows(rows)
    other, moved = sorted_rows(rows[again])
    np.testing.assert_array_equal(first, other)
    np.testing.assert_array_equal(place[again], moved)
    np.testing.assert_array_equal(first[place], rows)


def test_equal_eigenvalues_are_kept_or_left_out_together():
    values = np.array([5.0, 3.0, 2.0, 2.0, 2.0 - 1e-12, 1.0])
    assert [leading_count(values, most) for most in (2, 3, 4, 5, 6)] == [2, 2, 2, 5, 6]
    assert leading_count(np.array([5.0, 2.0, 2.0, 2.0, 1.0]), 2) == 1
    assert leading_count(np.array([2.0, 2.0, 2.0, 2.0 - 1e-12, 1.0]), 2) == 4
    assert leading_count(np.ones(5), 3) == 5
    gains = gains_of(values, ((1e-1, 0.5), (1e-1, 1.0)))
    assert np.count_nonzero(gains, axis=0).tolist() == [5, 6]


def test_permuted_kernels_against_brute_force():
    rng = np.random.default_rng(0)
    rows, kernels = rng.normal(size=(60, 3)) + 1e4, (Gaussian(1.0), Linear())
    weights = label_draws(25, 35, 30, rng)
    torch = pytest.importorskip("torch")
    from nosplit._old.engines.torch.pairs.pooled import TensorPooled

    pooled = TensorPooled(torch.from_numpy(rows), Bank(kernels))
    tau, cov = pooled.under(torch.from_numpy(weights))
    centred = rows - rows.mean(axis=0)
    share = 25 / 60
    spread = share * (1 - share)
    for u, kernel in enumerate(kernels):
        K = kernel.tile(centred, centred)
        np.fill_diagonal(K, 0.0)
        values = np.einsum("fa,ab,fb->f", weights - share, K, weights - share)
        values += spread / 59 * K.sum()
        scale = 2 * np.sqrt(60 * 59 / 2) * spread
        np.testing.assert_allclose(tau[:, u], values / scale, atol=2e-4 * np.sqrt(cov[u, u]))
    many = pooled.under(torch.from_numpy(label_draws(25, 35, 3000, rng)))[0]
    # Standard error of a standard deviation from 3,000 draws of a skewed law: about 3 %.
    assert np.all(np.abs(many.std(axis=0) / np.sqrt(np.diagonal(cov)) - 1) < 0.15)


def test_all_labellings_are_enumerated():
    weights = label_draws(2, 3, 99, np.random.default_rng(0))
    assert len(weights) == 10
    assert len(np.unique(weights, axis=0)) == 10
    np.testing.assert_array_equal(weights[0], [1, 1, 0, 0, 0])


def test_a_column_in_which_one_row_differs_is_no_evidence():
    x, y = np.random.default_rng(0).normal(size=(2, 30, 2))
    x[:, 1], y[:, 1] = 0.0, 0.0
    x[3, 1] = 1.0
    res = two_sample_test(x, y)
    assert res.columns.rows[1].pvalue == 1.0
    constant = two_sample_test(np.c_[x[:, 0], np.ones(30)], np.c_[y[:, 0], np.ones(30)])
    assert constant.columns.rows[1].pvalue == 1.0


def test_wide_tables_work():
    x, y = np.random.default_rng(0).normal(size=(2, 20, 1000))
    y[:, 17] += 3.0
    res = two_sample_test(x, y, pairs="complete", calibration=Exact(199))
    assert res.columns["17"].adjusted <= 0.05
    assert len(res.columns) == 1000


def test_kernels_that_were_asked_for_are_all_that_is_looked_at():
    x, y = np.random.default_rng(0).normal(size=(2, 40, 2))
    assert two_sample_test(x, y, kernels=[Gaussian(1.0)]).columns.rows == ()
    assert two_sample_test(x, y, method="ost").columns.rows == ()
    assert len(two_sample_test(x, y).columns.rows) == 2


def test_fitted_spectral_kernels_are_positive_and_new_rows_work():
    rng = np.random.default_rng(1)
    rows, new = rng.normal(size=(80, 2)), rng.normal(size=(30, 2))
    kernel = Spectral(Gaussian(1.0), 1e-1).fit(rows)
    K = kernel.tile(new, new)
    assert np.linalg.eigvalsh(K).min() > -1e-9
    np.testing.assert_allclose(np.diagonal(K), kernel.aligned(new, new))
    again = Spectral(Gaussian(1.0), 1e-1).fit(rng.permutation(rows))
    np.testing.assert_array_equal(K, again.tile(new, new))


def test_spectral_iv():
    with pytest.raises(InputError, match="regularisation"):
        Spectral(Gaussian(1.0), 0.0)
    with pytest.raises(InputError, match="spectral itself"):
        Spectral(Spectral(Gaussian(1.0)))
    with pytest.raises(InputError, match="not fitted"):
        Spectral(Gaussian(1.0)).tile(np.zeros((2, 1)), np.zeros((2, 1)))


def clustered(rng, shape):
    return rng.normal(size=shape) + 20 * rng.integers(2, size=(shape[0], 1))


LAWS = {
    "discrete": lambda rng, shape: rng.integers(3, size=shape).astype(float),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "clustered": clustered,
    "rare": lambda rng, shape: (rng.random(shape) < 0.06) * 1.0 + (rng.random(shape) < 0.02),
    "skewed": lambda rng, shape: np.exp(2 * rng.normal(size=shape)),
}


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "m"), [(20, 20), (50, 50), (30, 20)])
def test_level_against_theory(law, n, m):
    """p ≤ k/100 no more often than k in 100 times, with 99 draws; false alarms: 1e-6 a bound."""
    trials, rng = 60, np.random.default_rng([n, m, len(law)])
    pvalues = []
    for t in range(trials):
        x, y = LAWS[law](rng, (n, 2)), LAWS[law](rng, (m, 2))
        x[0] += 1e-3  # never constant
        y[0] += 1e-3
        pvalues.append(
            two_sample_test(x, y, rng=t, calibration=Exact(99), pairs="complete", workers=1).pvalue
        )
    for k in (5, 10, 25):
        hits = np.count_nonzero(np.array(pvalues) <= k / 100)
        plausible = within if law in ("cauchy", "clustered", "skewed") else at_most
        assert plausible(hits, trials, k / 100, ALARM), (k, hits)


def test_power_of_one_column_of_many():
    """A shift of 1 in one of 40 columns: found, and named."""
    found = 0
    for t in range(10):
        rng = np.random.default_rng([t, 1])
        x, y = rng.normal(size=(2, 80, 40))
        y[:, 7] += 1.0
        res = two_sample_test(x, y, rng=t, calibration=Exact(199))
        found += res.reject() and res.columns.rows[7].adjusted <= 0.05
    assert found >= 8


@pytest.mark.parametrize("pairs", ["complete", "sketch"])
def test_a_fine_dependence_of_few_columns(pairs):
    """A wave of two among five columns: sketches saw two waves of a column, and none of it."""
    found = 0
    for t in range(4):
        rng = np.random.default_rng([t, 3])
        x, y = rng.normal(size=(2, 1500, 5))
        for rows, by in ((x, rng.normal(size=1500)), (y, y[:, 0])):
            rows[:, 1] = 0.45 * np.sin(3.0 * by) + 0.95 * rows[:, 1]
        res = two_sample_test(x, y, pairs=pairs, rng=t, calibration=Exact(199), workers=1)
        found += res.reject() and res.together() == (("0", "1"),)
    assert found >= 3


def test_bins_of_few_rows_are_those_of_the_compiled_loop(monkeypatch):
    rng = np.random.default_rng(3)
    numbers, codes = rng.normal(size=(400, 2)).round(1), rng.integers(0, 9, size=(400, 2))
    bins = fit_pooled(np.hstack([numbers, codes]).astype(float), {2, 3})
    far = np.array([[-np.inf, np.inf, -3.0, 2.5], [99.0, -99.0, 400.0, 8.0]])
    pooled = np.vstack([np.hstack([numbers, codes + 1]), far])
    few = places_of(pooled, bins)
    monkeypatch.setattr(rows_module, "FEW", 0)
    assert np.array_equal(few, places_of(pooled, bins))
    assert few.max(axis=0).min() > 5
