"""Many units as cells: sums of units that are dealt alike.

Inside a block, a units of x and b of y make a set. Sets of the same shape a + b, of whatever block,
are dealt at random to cells, each of which adds up its sets place by place. The a + b places of a
cell are then a block of their own: a draw permutes their labels, and so those of every set in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Array, Index

__all__ = ["CellRows", "Places", "deal_units", "sums_of_places"]

# Places of all cells together, beyond which units are put together.
MOST_PLACES = 4000
# Shapes that sets may have: up to eight of either sample, or one and up to sixteen.
SHAPES = [(a, b) for a in range(1, 9) for b in range(1, 9)]
SHAPES += [(1, k) for k in range(9, 17)] + [(k, 1) for k in range(9, 17)]
# Groups whose sums are kept at once.
GROUPS = 512


class CellRows(Protocol):
    """Rows that are in units, wherever they lie, to be summed by cell."""

    @property
    def unit(self) -> Index:
        """The unit of each row."""
        ...

    def sums(
        self, sketch: SketchMap, cell: Index, cells: int, some: Index | None = None
    ) -> CellSums:
        """Sums of rows by cell; `cells` stands for no cell, and `some` for some rows only."""
        ...


@dataclass(frozen=True, eq=False)
class Places:
    """Places of cells, block by block.

    Attributes
    ----------
    place : array of int, shape (U,)
        The place of each unit; -1 for units that are left over.
    starts, counts : array of int
        Where the places of each cell begin, and how many of them are of x, as in `Design`.
    """

    place: Index
    starts: Index
    counts: Index

    @property
    def cells(self) -> int:
        """Number of places."""
        return int(self.starts[-1])


def deal_units(
    starts: Index, counts: Index, rng: np.random.Generator, most: int = MOST_PLACES
) -> Places:
    """Put units of blocks together in cells, if they are many.

    Parameters
    ----------
    starts, counts : array of int
        Blocks, and units of x in each of them, as in `Design`.
    rng : Generator
        Deals units to sets, and sets to cells.
    most : int
        Places of all cells together, about.
    """
    U = int(starts[-1])
    if most >= U:
        return Places(np.arange(U), starts, counts)
    shape, sets = _shapes(counts, np.diff(starts) - counts)
    rank, block, is_x = _random_ranks(starts, counts, rng)
    a, b = (np.array(SHAPES)[shape][block, side] for side in (0, 1))
    which = np.where(is_x, rank // a, rank // b)
    within = np.where(is_x, rank % a, a + rank % b)
    kept = which < sets[block]
    place = np.full(U, -1, np.int64)
    begins, of_x, first = [], [], 0
    rows = float(np.sum(sets * np.array(SHAPES)[shape].sum(axis=1)))
    for s in np.unique(shape):
        mine, size = shape == s, sum(SHAPES[s])
        total = int(sets[mine].sum())
        if not total:
            continue
        cells = int(np.clip(round(most * total / rows), 1, total))
        numbers = np.cumsum(np.where(mine, sets, 0)) - np.where(mine, sets, 0)
        cell = rng.permutation(total) * cells // total
        units = kept & mine[block]
        dealt = cell[numbers[block[units]] + which[units]]
        place[units] = first + dealt * size + within[units]
        begins.append(first + np.arange(cells) * size)
        of_x.append(np.full(cells, SHAPES[s][0]))
        first += cells * size
    return Places(place, np.append(np.concatenate(begins), first), np.concatenate(of_x))


def _shapes(n: Index, m: Index) -> tuple[Index, Index]:
    """The shape of the sets of each block, and how many there are: those that lose the least.

    A set of a and b units is worth ab / (a + b), as the variance of a difference of means says.
    """
    a, b = np.array(SHAPES).T
    sets = np.minimum(n[:, None] // a, m[:, None] // b)
    best = np.argmax(sets * (a * b / (a + b)), axis=1)
    return best, sets[np.arange(len(n)), best]


def _random_ranks(
    starts: Index, counts: Index, rng: np.random.Generator
) -> tuple[Index, Index, NDArray[np.bool_]]:
    """A random rank of each unit among those of its sample in its block; its block; its sample."""
    sizes = np.diff(starts)
    block = np.repeat(np.arange(len(sizes)), sizes)
    inside = np.arange(int(starts[-1])) - starts[:-1][block]
    is_x = inside < counts[block]
    order = np.lexsort((rng.random(len(block)), ~is_x, block))
    rank = np.empty(len(block), np.int64)
    rank[order] = np.where(is_x, inside, inside - counts[block])
    return rank, block, np.asarray(is_x)


def sums_of_places(
    sketch: SketchMap, rows: CellRows, places: Places, *, means: bool
) -> tuple[Array, Array]:
    """Features and bins of all places, (S, D) and (S, Q): sums of rows, or of means of groups."""
    unit = rows.unit
    if not means:
        place = places.place[unit]
        sums = rows.sums(sketch, np.where(place < 0, places.cells, place), places.cells)
        return sums.features.astype(np.float64), sums.bins.astype(np.float64)
    features = np.zeros((places.cells, sketch.n_features))
    bins = np.zeros((places.cells, sketch.n_bins))
    order = np.argsort(unit, kind="stable")
    sizes = np.bincount(unit, minlength=len(places.place))
    ends = np.cumsum(sizes)
    for first in range(0, len(sizes), GROUPS):
        last = min(first + GROUPS, len(sizes))
        own = order[ends[first] - sizes[first] : ends[last - 1]]
        part = rows.sums(sketch, unit[own] - first, last - first, own)
        at, size = places.place[first:last], sizes[first:last, None]
        for total, own_sums in ((features, part.features), (bins, part.bins)):
            np.add.at(total, at[at >= 0], (own_sums / size)[at >= 0])
    return features, bins
