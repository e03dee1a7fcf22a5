"""Rows as units in blocks, cells of units, and draws of their labels."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from nosplit import InputError
from nosplit._old.designs.cells import SHAPES, deal_units, sums_of_places
from nosplit._old.designs.draws import BlockDraws
from nosplit._old.designs.pairs import RowsInUnits
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.sums import CellSums
from nosplit.data.labels import RowLabels
from nosplit.families.design import design_of
from nosplit.kernels.recipes import as_recipe


def labels(codes):
    codes = np.asarray(codes)
    return RowLabels(codes, list(range(codes.max() + 1)))


def every_labelling(starts, counts):
    """All ways to label units of x inside blocks, the observed one first."""
    ways = [
        [tuple(start + i for i in way) for way in combinations(range(size), count)]
        for start, size, count in zip(starts, np.diff(starts), counts, strict=False)
    ]
    rows = np.zeros((np.prod([len(w) for w in ways]), starts[-1]))
    for row, picked in zip(rows, product(*ways), strict=True):
        row[list(sum(picked, ()))] = 1.0
    return rows


def design(n, m, strata, groups):
    return design_of((n, m), strata, groups, np.random.default_rng(0))


def test_strata_are_blocks_of_rows():
    found = design(4, 5, labels([0, 1, 0, 2, 0, 0, 1, 3, 0]), None)
    # Strata 2 and 3 have rows of one sample only.
    assert found.unit.tolist() == [0, 5, 1, -1, 2, 3, 6, -1, 4]
    assert found.starts.tolist() == [0, 5, 7]
    assert found.counts[:, 0].tolist() == [2, 1]
    assert str(found.said) == (
        "rows are permuted inside 2 strata; 2 strata of one sample only left out, 2 rows: '2', '3'"
    )


def test_groups_of_one_size_are_permuted():
    found = design(4, 4, None, labels([0, 0, 1, 1, 2, 2, 3, 3]))
    assert found.unit.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert found.starts.tolist() == [0, 4]
    assert found.counts[:, 0].tolist() == [2]
    assert found.means
    assert str(found.said) == "4 groups of the same size are permuted (2 and 2)"


def test_groups_of_different_sizes_are_thinned_to_the_same():
    """Group 2 has three rows, which no group of x has: it keeps two of them."""
    found = design(4, 5, None, labels([0, 0, 1, 1, 2, 2, 2, 3, 3]))
    assert found.starts.tolist() == [0, 4]
    assert np.bincount(found.unit[found.dealt]).tolist() == [2, 2, 2, 2]
    assert found.n_used == 8
    assert str(found.said) == (
        "4 groups of the same size are permuted (2 and 2); 1 row left out so that sizes are equal"
    )


def test_groups_are_permuted_with_groups_of_their_size_only():
    """Two rows: groups 0, 1 and 3; one row: groups 2 and 4."""
    found = design(5, 3, None, labels([0, 0, 1, 1, 2, 3, 3, 4]))
    assert found.n_used == 8
    assert found.starts.tolist() == [0, 2, 5]
    assert found.counts[:, 0].tolist() == [1, 2]


def test_every_group_keeps_its_rows_with_equal_probability():
    kept = np.zeros(7)
    codes = labels([0, 0, 0, 0, 0, 1, 1])
    for seed in range(2000):
        kept += design_of((5, 2), None, codes, np.random.default_rng(seed)).dealt
    assert kept[5:].tolist() == [2000, 2000]
    # Seven standard deviations of a share of 2 / 5.
    assert np.all(np.abs(kept[:5] - 800) < 7 * np.sqrt(2000 * 0.4 * 0.6))


def test_groups_of_both_samples_are_swapped_inside():
    found = design(4, 4, None, labels([0, 0, 1, 1, 0, 1, 1, 0]))
    assert found.unit.tolist() == [0, 0, 2, 2, 1, 3, 3, 1]
    assert found.starts.tolist() == [0, 2, 4]
    assert str(found.said) == "x and y are swapped inside 2 groups"


def test_groups_of_one_and_of_both_samples():
    """Group 0 is swapped inside; 1 is permuted with 3 and 4, and 2 with none without them."""
    found = design(4, 5, None, labels([0, 1, 1, 2, 0, 3, 3, 4, 4]))
    assert found.starts.tolist() == [0, 2, 5]
    assert found.counts[:, 0].tolist() == [1, 1]
    fewer = design(4, 2, None, labels([0, 1, 1, 2, 0, 1]))
    assert fewer.starts.tolist() == [0, 2, 4]
    assert "2 rows left out so that sizes are equal, all of 1 group: '2'" in str(fewer.said)


def test_groups_in_strata():
    strata = labels([0, 0, 0, 1, 0, 0, 1, 1])
    found = design(4, 4, strata, labels([0, 0, 1, 2, 3, 4, 5, 5]))
    # Stratum 0: group 0 of two rows is thinned to one, as 1, 3 and 4 have. Stratum 1: 5 is, as 2.
    assert found.starts.tolist() == [0, 4, 6]
    assert found.n_used == 6
    assert found.said.kind == "strata"
    with pytest.raises(InputError, match=r"`groups` must each lie in one stratum.* group 0 "):
        design(4, 4, strata, labels([0, 0, 1, 0, 3, 4, 5, 5]))


def test_designs_in_which_nothing_can_be_permuted_iv():
    with pytest.raises(InputError, match=r"`strata` must have rows of both samples.* '0'.* '1'"):
        design(2, 2, labels([0, 0, 1, 1]), None)
    missing = RowLabels(np.array([0, 0, -1, -1]), [0])
    with pytest.raises(
        InputError, match=r"`groups` must be in both samples.* got 1 in x and 0 in y"
    ):
        design(2, 2, None, missing)
    with pytest.raises(InputError, match="have groups in any stratum"):
        design(2, 2, labels([0, 0, 1, 1]), labels([0, 1, 2, 3]))


@pytest.mark.parametrize(("starts", "counts"), [([0, 5, 9], [2, 1]), ([0, 2, 4, 6], [1, 1, 1])])
def test_few_labellings_are_all_listed(starts, counts):
    """The sample of the first unit is called x if the samples have equally many in all blocks."""
    draws = BlockDraws(np.array(starts), np.array(counts), 199, 0)
    found = np.concatenate([draws.weights(*chunk) for chunk in draws.chunks()])
    expected = every_labelling(np.array(starts), counts)
    if draws.even:
        expected = np.where(expected[:, :1] > 0, expected, 1 - expected)
    assert np.array_equal(found, expected)
    assert draws.relabellings == len(np.unique(expected, axis=0))


def test_random_labellings_keep_their_blocks_and_are_all_as_likely():
    starts, counts = np.array([0, 3, 7]), np.array([1, 2])
    draws = BlockDraws(starts, counts, 5999, 3)
    object.__setattr__(draws, "every", None)
    found = np.concatenate([draws.weights(*chunk) for chunk in draws.chunks()])
    assert found.shape == (6000, 7)
    assert found[0].tolist() == [1, 0, 0, 1, 1, 0, 0]
    assert np.array_equal(found[:, :3].sum(axis=1), np.ones(6000))
    assert np.array_equal(found[:, 3:].sum(axis=1), 2 * np.ones(6000))
    number = found @ 2.0 ** np.arange(7)
    counted = np.unique(number, return_counts=True)[1]
    assert len(counted) == 18
    # Seven standard deviations of one of 18 counts: false alarms of 1e-11.
    assert np.all(np.abs(counted - 6000 / 18) < 7 * np.sqrt(6000 / 18))


@pytest.mark.parametrize(("starts", "counts"), [([0, 5, 9], [2, 1]), ([0, 2, 4, 6], [1, 1, 1])])
def test_means_of_squared_sums_against_all_labellings(starts, counts):
    starts = np.array(starts)
    draws = BlockDraws(starts, np.array(counts), 199, 0)
    values = np.random.default_rng(0).normal(size=(starts[-1], 3))
    units = draws.units(values)
    sums = draws.sums(draws.weights(0, draws.flips + 1), units)
    if not draws.even:  # or samples change their names, and sums their signs
        np.testing.assert_allclose(sums.mean(axis=0), 0.0, atol=1e-6 * np.abs(sums).max())
    along = units.values.astype(float)
    np.testing.assert_allclose(draws.mean_square(along), (sums**2).mean(axis=0), rtol=1e-6)


def test_cells_hold_whole_sets_of_one_shape():
    rng = np.random.default_rng(6)
    n, m = rng.integers(1, 9, 300), rng.integers(1, 9, 300)
    starts = np.concatenate([[0], np.cumsum(n + m)])
    places = deal_units(starts, n, rng, most=400)
    block = np.repeat(np.arange(300), n + m)
    is_x = np.arange(starts[-1]) - starts[block] < n[block]
    assert places.cells < 500
    cell = np.searchsorted(places.starts, places.place, side="right") - 1
    within = places.place - places.starts[cell]
    kept = places.place >= 0
    assert kept.mean() > 0.9
    # x has the first places of a cell, and every place has units of the same blocks.
    assert np.array_equal(within[kept] < places.counts[cell[kept]], is_x[kept])
    for c in range(len(places.counts)):
        size = places.starts[c + 1] - places.starts[c]
        assert (places.counts[c], size - places.counts[c]) in SHAPES
        held = [np.sort(block[kept & (cell == c) & (within == i)]).tolist() for i in range(size)]
        assert all(own == held[0] for own in held)


def test_sums_of_places_against_numpy():
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(300, 2))
    sketch = fit_map(rows, as_recipe(None), categorical=(), frequencies=4, cells=40, key=1)
    unit = np.sort(rng.integers(0, 60, 300))
    unit = np.unique(unit, return_inverse=True)[1]
    U = unit.max() + 1
    places = deal_units(np.array([0, U]), np.array([U // 2]), rng, most=20)
    single = CellSums.empty(sketch, 300)
    single.add(sketch, rows, np.arange(300, dtype=np.int32))
    sizes = np.bincount(unit)
    for means in (True, False):
        found, bins = sums_of_places(sketch, RowsInUnits(rows, unit, 1), places, means=means)
        expected = np.zeros_like(found)
        share = 1.0 / sizes[unit] if means else np.ones(300)
        for i in range(300):
            if places.place[unit[i]] >= 0:
                expected[places.place[unit[i]]] += share[i] * single.features[i]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-3)
        assert bins.sum() == pytest.approx(2 * (share * (places.place[unit] >= 0)).sum())
