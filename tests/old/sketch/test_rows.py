"""Columns and flattened spectra of samples in memory: exact, invariant, and what they should be."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import rankdata

from _reference import at_most, within
from nosplit import Exact, InputError, two_sample_test
from nosplit._old.families.pooled import Pooled, label_draws
from nosplit._old.pairs.statistics import SMOOTH
from nosplit._old.sketch import rows as rows_module
from nosplit._old.sketch.bins import fit_bins, fit_pooled, number_of_bins
from nosplit._old.sketch.rows import column_counts, look_at_rows, places_of
from nosplit._old.sketch.swaps import Swaps
from nosplit.kernels import Gaussian, Linear, Spectral
from nosplit.kernels.bank import Bank
from nosplit.kernels.eigenbases import default_eigenbases, gains_of, leading_count
from nosplit.kernels.orders import sorted_rows

ALARM = 1e-6


def all_signs(n):
    return np.array(list(product([1.0, -1.0], repeat=n)))


def swapped(x, y, pattern):
    swap = np.array(pattern, bool)[:, None]
    return np.where(swap, y, x), np.where(swap, x, y)


# -- exactness by enumeration ----------------------------------------------------------------------

TINY = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "discrete": lambda rng, shape: rng.integers(3, size=shape).astype(float),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
}


@pytest.mark.parametrize("law", TINY)
def test_all_labellings_have_uniform_pvalues(law):
    """Four rows against four and three: all 35 ways to choose three of seven."""
    z = TINY[law](np.random.default_rng(5), (7, 2))
    chosen = [np.isin(np.arange(7), c) for c in combinations(range(7), 3)]
    results = [two_sample_test(z[c], z[~c], workers=1) for c in chosen]
    assert results[0].how.n_resamples == 34
    pvalues = np.array([r.pvalue for r in results])
    for value in np.unique(pvalues):
        assert np.mean(pvalues <= value) <= value + 1e-12
    if law != "discrete":
        assert pvalues.min() == pytest.approx(1 / 35)


# -- what must be invariant ------------------------------------------------------------------------


@pytest.mark.parametrize("law", TINY)
def test_swaps_change_signs_only(law):
    """Swapped samples under a draw have the statistics of the samples under another, exactly."""
    rng = np.random.default_rng(8)
    x, y = TINY[law](rng, (2, 40, 3))
    pattern = rng.random(40) < 0.5
    signs = rng.choice([1.0, -1.0], (30, 40))
    first = look_at_rows(x, y, signs, categorical=(2,))
    other = look_at_rows(
        *swapped(x, y, pattern), signs * np.where(pattern, -1, 1), categorical=(2,)
    )
    np.testing.assert_array_equal(first.flat_tau, other.flat_tau)
    np.testing.assert_array_equal(first.columns.values, other.columns.values)
    np.testing.assert_array_equal(first.columns.shapes, other.columns.shapes)
    np.testing.assert_array_equal(first.pairs.values, other.pairs.values)
    np.testing.assert_array_equal(first.distances, other.distances)
    np.testing.assert_allclose(first.flat_cov, other.flat_cov, rtol=1e-12)


def test_relabelling_changes_labels_only():
    rng = np.random.default_rng(9)
    z = np.round(rng.normal(size=(50, 2)), 1)
    weights = label_draws(20, 30, 25, rng)
    again = rng.permutation(50)
    first = look_at_rows(z[:20], z[20:], weights)
    other = look_at_rows(z[again[:20]], z[again[20:]], weights[:, again])
    # Within the tolerance for ties: means are sums in another order.
    np.testing.assert_allclose(first.flat_tau, other.flat_tau, atol=1e-12)
    np.testing.assert_allclose(first.columns.values, other.columns.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(first.pairs.values, other.pairs.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(first.distances, other.distances, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("law", TINY)
def test_pairs_of_numbers_do_not_depend_on_swaps_or_on_the_order_of_columns(law):
    rng = np.random.default_rng(12)
    x, y = TINY[law](rng, (2, 200, 3))
    pattern = rng.random(200) < 0.5
    signs = rng.choice([1.0, -1.0], (30, 200))
    first = look_at_rows(x, y, signs).pairs
    other = look_at_rows(*swapped(x, y, pattern), signs * np.where(pattern, -1, 1)).pairs
    np.testing.assert_array_equal(first.values, other.values)
    np.testing.assert_array_equal(first.shapes, other.shapes)
    turned = look_at_rows(x[:, ::-1] ** 3, y[:, ::-1] ** 3, signs).pairs  # ranks are the same
    assert first.columns.tolist() == turned.columns.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    of_pair = [2, 1, 0]  # (0, 1), (0, 2), (1, 2), from the other side
    values = np.concatenate([turned.values[:, turned.columns == j] for j in of_pair], axis=1)
    np.testing.assert_allclose(first.values, values, rtol=1e-9, atol=1e-9)


def test_sorted_rows_say_nothing_of_their_order():
    rng = np.random.default_rng(1)
    rows = rng.integers(3, size=(60, 3)).astype(float)
    again = rng.permutation(60)
    first, place = sorted_rows(rows)
    other, moved = sorted_rows(rows[again])
    np.testing.assert_array_equal(first, other)
    np.testing.assert_array_equal(place[again], moved)
    np.testing.assert_array_equal(first[place], rows)


def test_columns_in_another_order_or_in_other_units_leave_rows_in_order():
    rng = np.random.default_rng(2)
    for rows in (rng.normal(size=(80, 4)), rng.integers(4, size=(80, 4)).astype(float)):
        first, _ = sorted_rows(rows)
        order = np.array([2, 0, 3, 1])
        other, _ = sorted_rows(rows[:, order] * 3.0 + 1.0)
        np.testing.assert_allclose(other, first[:, order] * 3.0 + 1.0)


def test_equal_eigenvalues_are_kept_or_left_out_together():
    values = np.array([5.0, 3.0, 2.0, 2.0, 2.0 - 1e-12, 1.0])
    assert [leading_count(values, most) for most in (2, 3, 4, 5, 6)] == [2, 2, 2, 5, 6]
    assert leading_count(np.array([5.0, 2.0, 2.0, 2.0, 1.0]), 2) == 1
    assert leading_count(np.array([2.0, 2.0, 2.0, 2.0 - 1e-12, 1.0]), 2) == 4
    assert leading_count(np.ones(5), 3) == 5
    gains = gains_of(values, ((1e-1, 0.5), (1e-1, 1.0)))
    assert np.count_nonzero(gains, axis=0).tolist() == [5, 6]


# -- against brute force ---------------------------------------------------------------------------


def test_flattened_statistics_against_brute_force():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 45, 2))
    signs = np.concatenate([np.ones((1, 45)), rng.choice([1.0, -1.0], (20, 45))])
    seen = look_at_rows(x, y, signs)
    rows, place = sorted_rows(np.concatenate([x, y]))
    column = 0
    for basis, features in default_eigenbases(rows):
        np.testing.assert_allclose(basis.features(rows), features, atol=1e-8)
        for gains in basis.gains().T:
            own = features[place][:45] - features[place][45:]
            H = (own * gains) @ own.T
            np.fill_diagonal(H, 0.0)
            expected = np.einsum("fa,ab,fb->f", signs, H, signs) / 2 / np.sqrt(990)
            scale = np.sqrt((H**2).sum() / 2 / 990)
            np.testing.assert_allclose(
                seen.flat_tau[:, column] / scale, expected / scale, atol=1e-3
            )
            assert seen.flat_cov[column, column] == pytest.approx(scale**2, rel=1e-3)
            column += 1
    assert column == seen.flat_tau.shape[1] == 8


def test_column_statistics_against_brute_force():
    """Chi-squared of bins, in standard deviations over all flips."""
    rng = np.random.default_rng(4)
    x, y = rng.integers(4, size=(2, 10, 1)).astype(float)
    signs = all_signs(10)
    seen = look_at_rows(x, y, signs, categorical=(0,))
    pooled = np.concatenate([x, y])[:, 0]
    values, counts = np.unique(pooled, return_counts=True)
    often = values[counts >= 10]  # the others share a bin
    cells = [pooled == v for v in often] + [~np.isin(pooled, often)]
    psi = np.stack([c[:10] * 1.0 - c[10:] for c in cells], axis=1)
    V = ((signs @ psi) ** 2 / [c.mean() for c in cells]).sum(axis=1)
    if V.std() > 0:
        np.testing.assert_allclose(seen.columns.values[:, 0], (V - V.mean()) / V.std(), atol=1e-9)


def test_pairs_of_numbers_against_brute_force():
    """Squared sums of products of cosines of ranks: the first, three and nine of each."""
    rng = np.random.default_rng(7)
    n = 170
    x, y = rng.normal(size=(2, n, 2))
    signs = np.concatenate([np.ones((1, n)), rng.choice([1.0, -1.0], (40, n))])
    seen = look_at_rows(x, y, signs).pairs
    pooled = np.concatenate([x, y])
    places = places_of(pooled, fit_pooled(pooled, set()))
    ranks = (rankdata(places, axis=0) - 0.5) / len(pooled)
    waves = np.sqrt(2) * np.cos(np.pi * ranks[:, :, None] * np.arange(1, 10))
    for at, J in enumerate((1, 3, 9)):
        psi = (waves[:, 0, :J, None] * waves[:, 1, None, :J]).reshape(2 * n, -1)
        psi = psi[:n] - psi[n:]
        H = psi @ psi.T
        np.fill_diagonal(H, 0.0)
        expected = np.einsum("fa,ab,fb->f", signs, H, signs) / np.sqrt(2.0 * (H**2).sum())
        np.testing.assert_allclose(seen.values[:, at], expected, atol=1e-3)
    assert seen.values.shape[1] == 3


@pytest.mark.parametrize(("n", "p", "scales"), [(17, 2, 1), (18, 2, 2), (162, 2, 3), (200, 3, 3)])
@pytest.mark.parametrize("more", [0, 9])
def test_few_rows_and_many_pairs_have_fewer_waves(n, p, scales, more):
    x, y = np.random.default_rng(0).normal(size=(2, n, p + more))
    seen = look_at_rows(x, y, np.ones((2, n))).pairs
    pairs = (p + more) * (p + more - 1) // 2
    assert seen.values.shape[1] == pairs * (1 if more else scales)
    assert look_at_rows(x[:, :1], y[:, :1], np.ones((2, n))).pairs is None
    wide = np.random.default_rng(0).normal(size=(2, 12, 21))
    assert look_at_rows(*wide, np.ones((2, 12))).pairs is None


def test_the_smooth_statistic_of_a_column_against_brute_force():
    """Eight cosines of ranks that count alike, and only of a column that is alone."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 12, 1))
    signs = all_signs(12)
    seen = look_at_rows(x, y, signs).columns
    pooled = np.concatenate([x, y])
    places = places_of(pooled, fit_pooled(pooled, set()))
    ranks = (rankdata(places) - 0.5) / len(pooled)
    count = min(8, len(np.unique(places)) - 1)
    waves = np.cos(np.pi * np.outer(ranks, np.arange(1, count + 1)))
    V = np.square(signs @ (waves[:12] - waves[12:])).sum(axis=1)
    np.testing.assert_allclose(seen.showing(SMOOTH)[:, 0], (V - V.mean()) / V.std(), atol=1e-9)
    assert not look_at_rows(np.c_[x, y], np.c_[y, x], signs).columns.showing(SMOOTH).size


def test_all_flips_have_mean_zero_and_variance_one():
    x, y = np.random.default_rng(6).normal(size=(2, 11, 2))
    seen = look_at_rows(x, y, all_signs(11))
    np.testing.assert_allclose(seen.pairs.values.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(seen.pairs.values.std(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(seen.columns.values.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(seen.columns.values.std(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(seen.flat_tau.mean(axis=0), 0, atol=1e-4)
    sd = np.sqrt(np.diagonal(seen.flat_cov))
    np.testing.assert_allclose(seen.flat_tau.std(axis=0) / sd, 1, atol=1e-3)


def test_permuted_kernels_against_brute_force():
    rng = np.random.default_rng(0)
    rows, kernels = rng.normal(size=(60, 3)) + 1e4, (Gaussian(1.0), Linear())
    weights = label_draws(25, 35, 30, rng)
    tau, cov = Pooled(rows, Bank(kernels)).under(weights, 1)
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
    many = Pooled(rows, Bank(kernels)).under(label_draws(25, 35, 3000, rng), 1)[0]
    # Standard error of a standard deviation from 3,000 draws of a skewed law: about 3 %.
    assert np.all(np.abs(many.std(axis=0) / np.sqrt(np.diagonal(cov)) - 1) < 0.15)


def test_all_labellings_are_enumerated():
    weights = label_draws(2, 3, 99, np.random.default_rng(0))
    assert len(weights) == 10
    assert len(np.unique(weights, axis=0)) == 10
    np.testing.assert_array_equal(weights[0], [1, 1, 0, 0, 0])


# -- edges -----------------------------------------------------------------------------------------


def test_a_column_in_which_one_row_differs_is_no_evidence():
    x, y = np.random.default_rng(0).normal(size=(2, 30, 2))
    x[:, 1], y[:, 1] = 0.0, 0.0
    x[3, 1] = 1.0
    res = two_sample_test(x, y)
    assert res.columns.rows[1].pvalue == 1.0
    constant = two_sample_test(np.c_[x[:, 0], np.ones(30)], np.c_[y[:, 0], np.ones(30)])
    assert constant.columns.rows[1].pvalue == 1.0


def test_bins_keep_ties_together():
    values = np.repeat([0.0, 1.0, 2.0, 5.0], [40, 30, 20, 10])
    bins = fit_bins(values, categories=False, most=128, count=8)
    assert all(
        len(np.unique(np.searchsorted(bins.edges, values[values == v]))) == 1 for v in values
    )
    assert number_of_bins(40, 1) == 4
    assert number_of_bins(10_000, 1) == 128
    assert number_of_bins(10_000, 1000) == 16


def test_counts_of_units_sum_to_zero():
    x, y = np.random.default_rng(0).normal(size=(2, 25, 3))
    pooled = np.concatenate([x, y])
    bins = fit_pooled(pooled, set())
    counts, total, starts = column_counts(Swaps(25, 25, 1, 0), bins, places_of(pooled, bins))
    assert counts.sum() == 0
    assert list(np.add.reduceat(total, starts)) == [50.0] * 3


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


# -- spectral kernels ------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_spectral_kernels_of_ones_own():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60, 3))
    kernels = [Gaussian(1.0), Spectral(Gaussian(1.5), 1e-2)]
    for pairs, calibration in (("complete", "exact"), (3, "asymptotic")):
        res = two_sample_test(x, y, kernels=kernels, pairs=pairs, calibration=calibration)
        assert repr(res.selection.kernels[1]) == "Spectral(Gaussian(1.5), 0.01)"
        assert "Spectral(Gaussian(1.5), 0.01)" in str(res.selection)
        assert res.selection.kernels[1].tile(x[:4], y).shape == (4, 60)
    assert two_sample_test(x, y[:50], kernels=kernels, pairs="complete").pvalue > 0


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


# -- level and power -------------------------------------------------------------------------------


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


@pytest.mark.parametrize("m", [100, 80])
def test_power_of_a_dependence(m):
    """A wave that no column shows alone."""
    found = 0
    for t in range(8):
        rng = np.random.default_rng([t, 2])
        x, y = rng.normal(size=(100, 2)), rng.normal(size=(m, 2))
        y[:, 1] = 0.8 * np.sin(4 * y[:, 0]) * np.sqrt(2) + 0.6 * y[:, 1] * 0.5
        found += two_sample_test(x, y, rng=t, calibration=Exact(199)).reject()
    assert found >= 7


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
