"""Cells of several sizes, filled in one pass.

Two samples are compared by cells of the same number of rows, and how many rows serves best depends
on the smaller sample. So a reference that is to be compared with samples of any size has cells of
c rows, of 4c, of 16c and so on, up to 4,000 of each. A row is summed once, in the cell of the
finest size that has room for it; four cells make one of the next size, so the first 1,000 of those
need no room of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import BLOCK, CellSums
from nosplit.backend.threads import n_workers, one_blas_thread

__all__ = [
    "FEWEST_CELLS",
    "GROWTH",
    "LARGEST_CELL",
    "MOST_CELLS",
    "Tiers",
    "fill",
    "merge_tiers",
    "some",
]

# Cells of a size, and cells of one size that make one of the next.
MOST_CELLS, GROWTH = 4000, 4
# Rows of a cell: those of all 4,000 put together are counted in 32 bits.
LARGEST_CELL = 1 << 24
# Cells of a sample with which a test is worth while.
FEWEST_CELLS = 40


@dataclass(frozen=True)
class Tiers:
    """Tiers: numbers and sizes of the cells that are kept.

    Attributes
    ----------
    c : int
        Rows of the smallest cells.
    counts : tuple of int
        Cells of c rows, then those of 4c rows that are not made of them, and so on.

    Examples
    --------
    >>> tiers = Tiers.of(100_000, 10)
    >>> tiers.counts, tiers.n_rows
    ((4000, 1500), 100000)
    >>> tiers.levels
    ((10, 4000), (40, 2500), (160, 625), (640, 156))
    """

    c: int
    counts: tuple[int, ...]

    @classmethod
    def of(cls, n: int, c: int) -> Tiers:
        """Cells for n rows: those of one size are full before there are any of the next."""
        counts = []
        for size, most in _sizes_of_tiers(c):
            counts.append(min(n // size, most))
            n -= counts[-1] * size
            if counts[-1] < most or size > LARGEST_CELL // GROWTH:
                break
        while len(counts) > 1 and counts[-1] == 0:
            counts.pop()
        return cls(c, tuple(counts))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of a cell of each tier."""
        return tuple(self.c * GROWTH**k for k in range(len(self.counts)))

    @property
    def n_cells(self) -> int:
        """Cells that are kept."""
        return sum(self.counts)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Ends of the cells of each tier."""
        return tuple(accumulate(self.counts))

    @property
    def n_rows(self) -> int:
        """Rows in cells."""
        return sum(n * size for n, size in zip(self.counts, self.sizes, strict=True))

    @cached_property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """Rows of a cell and number of cells for each size that is worth while."""
        found: list[tuple[int, int]] = []
        size, cells = self.c, self.counts[0]
        while not found or cells >= FEWEST_CELLS:
            found.append((size, cells))
            size, cells = size * GROWTH, cells // GROWTH
            if len(found) < len(self.counts):
                cells += self.counts[len(found)]
        return tuple(found)

    def cell_of(self, places: NDArray[Any]) -> NDArray[np.int32]:
        """The cell of each place of a dealt sample; `n_cells` for places that have none."""
        sizes = np.array([*self.sizes, 1])
        rows = np.array([0, *accumulate(np.multiply(self.counts, self.sizes))])
        tier = np.searchsorted(rows[1:], places, side="right")
        cells = np.array([0, *self.ends])[tier] + (places - rows[tier]) // sizes[tier]
        return np.asarray(np.minimum(cells, self.n_cells), dtype=np.int32)

    def part(self, cells: CellSums, tier: int) -> CellSums:
        """The cells of one tier."""
        first = self.ends[tier - 1] if tier else 0
        return some(cells, slice(first, self.ends[tier]))

    def level(self, cells: CellSums, number: int) -> CellSums:
        """All cells of one size: sums of four of the size below, and those of their own."""
        if number == 0:
            return self.part(cells, 0)
        made = fours(self.level(cells, number - 1))
        if number >= len(self.counts):
            return made
        return joined([made, self.part(cells, number)])


def _sizes_of_tiers(c: int) -> Iterable[tuple[int, int]]:
    """Rows of a cell and most cells of each tier, without end."""
    yield c, MOST_CELLS
    while True:
        c *= GROWTH
        yield c, MOST_CELLS - MOST_CELLS // GROWTH


def some(cells: CellSums, which: slice) -> CellSums:
    """Some of the cells."""
    return CellSums(cells.features[which], cells.bins[which])


def joined(parts: list[CellSums]) -> CellSums:
    """Cells of several sketches, one after the other."""
    features, bins = [part.features for part in parts], [part.bins for part in parts]
    return CellSums(np.concatenate(features), np.concatenate(bins))


def fours(cells: CellSums) -> CellSums:
    """Sums of four cells each; up to three at the end are left out."""
    whole = len(cells.features) // GROWTH * GROWTH
    return CellSums(
        cells.features[:whole].reshape(-1, GROWTH, cells.features.shape[1]).sum(axis=1),
        cells.bins[:whole].reshape(-1, GROWTH, cells.bins.shape[1]).sum(axis=1, dtype=np.int32),
    )


def fill(
    cells: CellSums,
    sketch: SketchMap,
    rows: NDArray[Any],
    numbers: NDArray[np.int32],
    workers: int | None = None,
) -> None:
    """Add rows to their cells, by threads that have some of the cells each.

    Rows of a cell are taken together, so that every cell is touched once. The sums are the same
    for every number of threads, and for every way to cut a sample into calls.
    """
    # Numbers of 16 bits are sorted by their digits, several times as fast.
    small = len(cells.features) < 1 << 16
    order = np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")
    order = order[: int(np.count_nonzero(numbers < len(cells.features)))]
    threads = max(1, min(n_workers(workers), len(order) // BLOCK))
    # No cell is that of two threads.
    cuts = [len(order) * w // threads for w in range(1, threads)]
    cuts = [int(np.searchsorted(numbers[order], numbers[order[cut]])) for cut in cuts]

    def work(part: NDArray[Any]) -> None:
        for start in range(0, len(part), BLOCK):
            block = part[start : start + BLOCK]
            cells.add(sketch, rows[block], numbers[block])

    with one_blas_thread():
        if threads == 1:
            work(order)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, np.split(order, cuts)))


def merge_tiers(
    ours: tuple[Tiers, CellSums], theirs: tuple[Tiers, CellSums], share: float
) -> tuple[Tiers, CellSums]:
    """Cells of two parts of a sample.

    Where there are too many of a size, each part has its `share` and 1 - `share` of the room, and
    the rest becomes cells of the next size.

    Parameters
    ----------
    ours, theirs : pair of Tiers and CellSums
        The parts, with cells of the same numbers of rows.
    share : float
        The first part's share of all rows.
    """
    kept: list[CellSums] = []
    over: tuple[CellSums, ...] = tuple(some(cells, slice(0, 0)) for _, cells in (ours, theirs))
    for tier, (_, most) in enumerate(_sizes_of_tiers(ours[0].c)):
        both = zip(over, (ours, theirs), strict=True)
        pools = [
            joined([rest, tiers.part(cells, tier)]) if tier < len(tiers.counts) else rest
            for rest, (tiers, cells) in both
        ]
        counts = [len(pool.features) for pool in pools]
        if not any(counts):
            break
        first = min(counts[0], max(round(most * share), most - counts[1]))
        keep = first, min(counts[1], most - first)
        each = list(zip(pools, keep, strict=True))
        kept.append(joined([some(pool, slice(0, k)) for pool, k in each]))
        over = tuple(fours(some(pool, slice(k, None))) for pool, k in each)
    counts = [len(part.features) for part in kept]
    return Tiers(ours[0].c, tuple(counts)), joined(kept)
