"""Cells of several sizes: which rows they hold, and what becomes of them when parts are merged."""

from __future__ import annotations

import numpy as np
import pytest

from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.saved import tiers as module
from nosplit._old.sketch.saved.tiers import Tiers, fill, merge_tiers
from nosplit._old.sketch.sums import CellSums, sketch_rows
from nosplit.kernels import Gaussian, Linear
from nosplit.kernels.recipes import as_recipe

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(3000, 2))
MAP = fit_map(
    RNG.normal(size=(200, 2)),
    as_recipe([Gaussian(1.0), Linear()]),
    categorical=(),
    frequencies=4,
    cells=100,
    key=1,
)


@pytest.fixture
def small(monkeypatch):
    """Room for 16 cells of a size, so that 3,000 rows need several."""
    monkeypatch.setattr(module, "MOST_CELLS", 16)
    monkeypatch.setattr(module, "FEWEST_CELLS", 4)


def filled(rows, tiers, key=7, chunk=None, workers=1):
    cells = CellSums.empty(MAP, tiers.n_cells)
    deal = Deal(len(rows), 1, len(rows), key)
    for start in range(0, len(rows), chunk or len(rows)):
        some = rows[start : start + (chunk or len(rows))]
        fill(cells, MAP, some, tiers.cell_of(deal.places(start, len(some))), workers)
    return cells


@pytest.mark.parametrize("n", [399, 400, 40_000, 40_039, 40_040, 160_000, 10_000_000])
def test_counts_are_full_before_the_next_size(n):
    tiers = Tiers.of(n, 10)
    assert tiers.n_rows <= n
    assert n - tiers.n_rows < tiers.sizes[-1] * 4
    assert all(count == (4000 if k == 0 else 3000) for k, count in enumerate(tiers.counts[:-1]))
    for size, cells in tiers.levels:
        assert cells == min(4000, n // size)


def test_places_are_dealt_to_cells_of_their_size(small):
    tiers = Tiers.of(len(ROWS), 5)
    assert len(tiers.counts) == 4
    cells = tiers.cell_of(np.arange(len(ROWS)))
    counts = np.bincount(cells, minlength=tiers.n_cells + 1)
    assert np.array_equal(counts[:-1], np.repeat(tiers.sizes, tiers.counts))
    assert counts[-1] == len(ROWS) - tiers.n_rows
    assert np.all(np.diff(cells) >= 0)


def test_every_level_against_a_deal_of_its_own(small):
    """Level k holds what a sketch with cells of that size would: nothing is lost between sizes."""
    tiers = Tiers.of(len(ROWS), 5)
    cells = filled(ROWS, tiers)
    for number, (size, count) in enumerate(tiers.levels):
        level = tiers.level(cells, number)
        direct = sketch_rows(MAP, ROWS, Deal(len(ROWS), size, count, 7), 1)
        assert len(level.features) == count
        assert np.array_equal(level.features, direct.features)
        assert np.array_equal(level.bins, direct.bins)


def test_sums_do_not_depend_on_workers_or_batches(small, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 64)
    tiers = Tiers.of(len(ROWS), 5)
    one = filled(ROWS, tiers)
    for chunk, workers in ((None, 3), (701, 2)):
        other = filled(ROWS, tiers, chunk=chunk, workers=workers)
        assert np.array_equal(one.features, other.features)
        assert np.array_equal(one.bins, other.bins)


def test_merged_is_made_at_once_when_dealt_alike(small):
    """Without too many cells of a size, parts in their order are what all of it is in its order."""
    first, second = ROWS[:40], ROWS[40:75]
    parts = [
        (tiers, filled(rows, tiers, key=None))
        for rows in (first, second)
        for tiers in (Tiers.of(len(rows), 5),)
    ]
    tiers, cells = merge_tiers(*parts, 40 / 75)
    whole = Tiers.of(75, 5)
    expected = filled(ROWS[:75], whole, key=None)
    assert tiers == whole
    assert np.array_equal(cells.features, expected.features)
    assert np.array_equal(cells.bins, expected.bins)


@pytest.mark.parametrize(("n", "m"), [(2000, 1000), (2950, 50), (100, 2900), (81, 83)])
def test_merging_keeps_rows_and_sizes(small, n, m):
    parts = []
    for rows in (ROWS[:n], ROWS[n : n + m]):
        tiers = Tiers.of(len(rows), 5)
        parts.append((tiers, filled(rows, tiers)))
    tiers, cells = merge_tiers(*parts, n / (n + m))
    sizes = np.repeat(tiers.sizes, tiers.counts)
    assert np.array_equal(cells.bins[:, : len(MAP.bins[0])].sum(axis=1), sizes)
    assert tiers.counts[0] == min(16, n // 5 + m // 5)
    assert all(count <= 12 for count in tiers.counts[1:])
    # At most three cells of each part are left over at each size.
    held = sum(t.n_rows for t, _ in parts)
    assert held - 6 * sum(tiers.sizes) <= tiers.n_rows <= held
    for number, (size, count) in enumerate(tiers.levels):
        level = tiers.level(cells, number)
        assert np.array_equal(level.bins[:, : len(MAP.bins[0])].sum(axis=1), np.full(count, size))


def test_room_is_shared_by_rows(small):
    """A small part does not crowd out a large one."""
    parts = [(Tiers.of(n, 5), filled(ROWS[:n], Tiers.of(n, 5))) for n in (2400, 600)]
    _, cells = merge_tiers(*parts, 0.8)
    ours = {row.tobytes() for row in parts[0][1].features}
    assert sum(row.tobytes() in ours for row in cells.features[:16]) >= 13
