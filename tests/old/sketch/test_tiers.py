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
