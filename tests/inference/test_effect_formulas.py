"""Separations: standard errors against trials and closed forms, folds and bins by their rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nosplit.inference.effect import (
    FOLDS,
    Separation,
    bins_of_both,
    bins_of_groups,
    bins_of_values,
    coarser_bins,
    deal_rows,
    largest_of,
    plain_separation,
    separation_of_counts,
    separations_of_both,
)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((0.5, 0.5), (0.5, 0.5)),
        ((0.7, 0.1, 0.1, 0.1),) * 2,
        ((0.2,) * 5, (0.25, 0.2, 0.2, 0.2, 0.15)),
    ],
)
@pytest.mark.parametrize("sizes", [(60, 60), (30, 150)])
def test_standard_error_against_multinomial_trials(p, q, sizes):
    """Within 12 %: 9 % are four standard errors of 1,000 trials, the rest the approximation's."""
    rng, found = np.random.default_rng(0), []
    for _ in range(1000):
        counts = np.stack(
            [rng.multinomial(n, own, FOLDS) for n, own in zip(sizes, (p, q), strict=True)]
        )
        found.append(separation_of_counts(counts.astype(float)))
    values, errors = np.array([(own.value, own.error) for own in found]).T
    assert np.sqrt(np.mean(errors**2)) / values.std() == pytest.approx(1.0, abs=0.12)


def extended_variance(scores):
    """Variance of the mean of scores after a score of -1 and one of 1 (Laplace)."""
    return np.var([*scores, -1.0, 1.0]) / len(scores)


def test_error_of_samples_that_share_no_bin():
    """All rules agree: errors are those of two means, of Welch's degrees of freedom."""
    counts = np.zeros((2, FOLDS, 3))
    counts[0, :, 0], counts[1, :, 2] = 8.0, 20.0
    found = separation_of_counts(counts)
    own = [extended_variance(np.ones(n)) for n in (40, 100)]
    assert found.value == 1.0
    assert found.error == pytest.approx(0.25 * np.sqrt(sum(own)), rel=1e-6)
    assert found.freedom == pytest.approx(sum(own) ** 2 / (own[0] ** 2 / 39 + own[1] ** 2 / 99))
    counts[:, 1:] = 0.0
    assert separation_of_counts(counts) is None  # no second fold to learn from


def test_rows_are_counted_in_their_bins():
    """Independent rows in one block: the estimate is that from counts of folds and bins."""
    rng = np.random.default_rng(1)
    y, bins = rng.random(300) < 0.4, rng.integers(0, 6, 300)
    dealt = deal_rows(y)
    counts = np.zeros((2, FOLDS, 6))
    np.add.at(counts, (y.astype(int), dealt.place % FOLDS, bins), 1.0)
    found, expected = dealt.separation(bins, 6), separation_of_counts(counts)
    for name in ("value", "error", "freedom"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))
    # As units, rows are what they are; four copies of each row say no more than one of them.
    alone = deal_rows(y, np.arange(300)).separation(bins, 6)
    assert alone.value == pytest.approx(found.value)
    assert alone.error == pytest.approx(found.error, rel=0.02)
    four = deal_rows(np.repeat(y, 4), np.repeat(np.arange(300), 4))
    assert four.separation(np.repeat(bins, 4), 6).error == pytest.approx(alone.error, rel=0.1)


DESIGNS = {
    "rows": lambda rng: (rng.random(83) < 0.4, None, None),
    "units": lambda rng: (np.repeat(rng.random(40) < 0.5, 3), np.repeat(np.arange(40), 3), None),
    "blocks": lambda rng: (rng.random(90) < 0.5, None, np.repeat([7, 3, 5], [60, 24, 6])),
    "pairs": lambda rng: (np.tile([False, True], 31), None, np.repeat(np.arange(31), 2)),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_folds(name):
    """Units are whole; blocks of few units, too; folds of a block are of about one size."""
    y, unit, block = DESIGNS[name](np.random.default_rng(2))
    dealt = deal_rows(y, unit, block)
    fold, n = dealt.place % FOLDS, len(y)
    assert np.array_equal(dealt.place >= FOLDS, y)
    unit = np.arange(n) if unit is None else unit
    assert all(np.ptp(fold[unit == u]) == 0 for u in np.unique(unit))
    block = np.zeros(n, int) if block is None else block
    expected = np.zeros(FOLDS)
    for b in np.unique(block):
        own = block == b
        units = [len(np.unique(unit[own & (y == side)])) for side in (False, True)]
        if min(units) < FOLDS:
            assert np.ptp(fold[own]) == 0
        for side in (False, True) if min(units) >= FOLDS else ():
            first = np.unique(unit[own & (y == side)], return_index=True)[1]
            assert np.ptp(np.bincount(fold[own & (y == side)][first], minlength=FOLDS)) <= 1
        for f in range(FOLDS):
            n_x, n_y = (np.sum(own & (fold == f) & (y == side)) for side in (False, True))
            expected[f] += n_x * n_y / max(n_x + n_y, 1)
            # Inside a fold, a block weighs what a difference of its means is worth.
            for side, count in ((False, n_x), (True, n_y)):
                weight = dealt.weights[own & (fold == f) & (y == side)]
                part = n_x * n_y / max(n_x + n_y, 1) / max(count, 1) / max(dealt.folds[f], 1e-9)
                np.testing.assert_allclose(weight, part)
    np.testing.assert_allclose(dealt.folds, expected)
    if name == "pairs":
        assert np.ptp(np.bincount(fold)) <= 2
    live = np.repeat(dealt.folds[None] > 0, 2, axis=0).ravel()
    np.testing.assert_allclose(np.bincount(dealt.place, dealt.weights, 2 * FOLDS)[live], 1.0)


# Bins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 8, 49, 100, 2000, 6000])
def test_bins_of_numbers(n):
    """An even number of quantile bins up to 32, of 25 rows each; frequent values by themselves."""
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    place, n_bins = bins_of_values(values, False)
    count = min(max(2, n // 25) // 2 * 2, 32)
    assert n_bins == count == len(np.unique(place))
    sizes = np.bincount(place)
    assert np.ptp(sizes) <= 1
    assert np.all(np.diff(place[np.argsort(values)]) >= 0)
    # Two samples of one size that do not overlap share no bin.
    half = np.sort(values)[: n // 2]
    both = bins_of_values(np.concatenate([half, half + 100.0]), False)[0]
    assert both[: n // 2].max() < both[n // 2 :].min()
    often = rng.normal(size=n)
    often[: max(1, n // 4)] = 0.3
    codes = bins_of_values(often, False)[0]
    own = codes == codes[0]
    assert np.array_equal(own, often == 0.3) == (n // 4 >= 25)
    table = np.column_stack([values, often, np.round(often, 1)])
    found, widest = bins_of_groups(table, [(0,), (1,), (2,)], ())
    for code, column in zip(found, table.T, strict=True):
        expected = bins_of_values(column, False)[0]
        assert np.array_equal(
            np.unique(code, return_inverse=True)[1], np.unique(expected, return_inverse=True)[1]
        )
    assert widest > found.max()


def test_bins_of_categories_and_missing_values():
    """The most frequent first, at most one for 25 rows; all others share one."""
    levels = np.repeat(np.arange(9.0), [5, 40, 8, 30, 4, 3, 3, 4, 3])
    place, n_bins = bins_of_values(levels, True)
    assert n_bins == 5  # four of 100 rows, and the others
    first = [place[np.argmax(levels == v)] for v in (1.0, 3.0, 2.0, 0.0)]
    assert first == [0, 1, 2, 3]
    assert np.all(place[np.isin(levels, [4, 5, 6, 7, 8])] == 4)
    missing = np.arange(100) % 3 == 0
    table = np.column_stack([np.where(missing, 0.0, levels), missing])
    found, widest = bins_of_groups(table, [(0, 1)], (0,))
    known = bins_of_values(levels[~missing], True)
    assert np.array_equal(found[0, ~missing], known[0])
    assert np.all(found[0, missing] == known[1])
    assert widest == known[1] + 1
    assert bins_of_values(np.zeros(4), False, np.ones(4, bool))[0].tolist() == [1] * 4


@pytest.mark.parametrize(("n", "most"), [(80, 2), (250, 3), (2500, 10), (40_000, 32)])
def test_bins_of_two_columns_are_a_grid(n, most):
    rng = np.random.default_rng(3)
    table = np.column_stack([rng.normal(size=n), rng.choice(40, n, p=np.arange(1, 41) / 820)])
    place, n_bins = bins_of_both(table, [(0,), (1,)], (1,))
    assert n_bins == most**2 > place.max()
    first, second = place // most, place % most
    assert np.all(np.diff(first[np.argsort(table[:, 0])]) >= 0)
    assert first.max() == most - 1
    for v in np.unique(table[:, 1]):
        assert len(np.unique(second[table[:, 1] == v])) == 1
    # The most frequent categories have places of their own, all others share the last.
    order = np.argsort(-np.bincount(table[:, 1].astype(int)), kind="stable")
    assert [second[table[:, 1] == v][0] for v in order[: most - 1]] == list(range(most - 1))
    assert np.all(second[np.isin(table[:, 1], order[most - 1 :])] == most - 1)


def test_coarser_bins():
    """About 32 neighbours joined; bins of one row in a hundred or more stay alone."""
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 3, (2, FOLDS, 500)).astype(float)
    counts[:, :, 77] = 30.0
    found = coarser_bins(counts)
    np.testing.assert_array_equal(found.sum(axis=2), counts.sum(axis=2))
    edges = np.cumsum(found.sum(axis=(0, 1)))
    assert set(edges) <= set(np.cumsum(counts.sum(axis=(0, 1))))
    assert 300.0 in found.sum(axis=(0, 1))
    assert 32 <= found.shape[2] <= 35
    rest = np.sort(found.sum(axis=(0, 1)))
    assert rest[4:-1].min() > 0.8 * counts.sum() / 32
    few = counts[:, :, :20]
    assert np.array_equal(coarser_bins(few), few)


# One separation -----------------------------------------------------------------------------------


def test_intervals_against_scipy():
    """Student's, divided among looks (Bonferroni), cut to what an accuracy can be."""
    own = Separation(0.6, 0.03, 12.0)
    for looks in (1, 7):
        margin = 0.03 * stats.t.isf(0.025 / looks, 12)
        found = own.of(looks)
        assert (found.low, found.high) == pytest.approx((0.6 - margin, 0.6 + margin))
        assert found.shown == pytest.approx((0.6, max(0.6 - margin, 0.5), 0.6 + margin))
    assert own.of(2).of(3).looks == 6
    assert Separation(0.99, 0.02).shown[2] == 1.0
    assert (Separation(0.4, 0.01).size, Separation(0.4, 0.01, paired=True).size) == (0.5, 0.6)
    pair = Separation(0.2, 0.2, paired=True)
    assert pair.shown[::2] == (0.2, pytest.approx(0.2 + 0.2 * stats.norm.isf(0.025)))
    assert pair.shown[1] == 0.0
    assert (pair.better.value, own.better) == (0.8, own)
    assert largest_of([None, own, Separation(0.7, 0.01), None]) == (
        2,
        Separation(0.7, 0.01, looks=2),
    )
    assert largest_of([Separation(0.3, 0.1), Separation(0.4, 0.1)])[0] == 1
    assert largest_of([None]) is None
    assert plain_separation(pair)["share_larger"] == 0.2
    assert plain_separation(own)["share_larger"] is None
    assert list(plain_separation(None).values()) == [None] * 4


@pytest.mark.parametrize("block", [1, 4])
def test_share_of_pairs_in_which_y_is_larger(block):
    """Ties count half; of blocks of pairs the variance is that of their sums, if it is larger."""
    rng, n = np.random.default_rng(5), 60
    x = np.column_stack([rng.integers(0, 4, n), rng.random(n) < 0.2]).astype(float)
    level = np.repeat(rng.integers(0, 3, n // 4), 4)
    y = np.column_stack([x[:, 0] + level - 1.0, rng.random(n) < 0.2])
    groups = [(0,), (0, 1)]
    for found, kept in zip(
        separations_of_both(x, y, groups, paired=True, block=block),
        (np.ones(n, bool), (x[:, 1] != 1) & (y[:, 1] != 1)),
        strict=True,
    ):
        signs = np.sign(y[kept, 0] - x[kept, 0])
        unit = np.arange(n)[kept] // block
        assert found.value == pytest.approx(np.mean(signs > 0) + np.mean(signs == 0) / 2)
        variance = extended_variance(signs)
        if block > 1:
            sums = np.bincount(unit, signs - signs.mean())
            variance = max(variance, np.sum(sums**2) / len(signs) ** 2)
        assert found.error == pytest.approx(0.5 * np.sqrt(variance))
        assert found.freedom == len(np.unique(unit)) - 1
    few = separations_of_both(x[:4], y[:4], [(0,)], paired=True)
    assert few == [None]
    five = separations_of_both(x[:5], y[:5], [(0,)], paired=True)
    assert five[0].freedom == 4
