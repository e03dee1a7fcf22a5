"""Blocks of a stream: runs of rows in the order of time, and the sums of their features.

Rows are put together to groups as they arrive: one row of x and one of y, or as many as a ratio
says. A block is a run of groups, of which slot by slot the features are summed: the cells of a
block all have as many rows, and under the null hypothesis they may change places. When there are
too many blocks, neighbours are merged two by two: a long stream has blocks of 2^k groups, and as
sums are sums of integers, they are the same whatever the batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._old.engines.streams.sketches.runs import FEW, BlockCounts, two_by_two
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.backend.threads import one_blas_thread

__all__ = ["BlockSums"]


@dataclass(frozen=True, eq=False)
class BlockSums(BlockCounts):
    """Blocks of a stream.

    Attributes
    ----------
    sketch : SketchMap
        How rows become numbers.
    ratio : (int, int)
        Rows of x and of y in a group.
    most : int
        Blocks at the most.
    length : int
        Groups of a block that is full; the last one may be open, and where streams were merged
        there are shorter ones.
    counts : array of int64, shape (N,)
        Groups in each block.
    x, y : CellSums
        Sums of the slots of each block, one after the other, and room for more.
    """

    sketch: SketchMap
    ratio: tuple[int, int]
    most: int
    length: int = 1
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    x: CellSums | None = None
    y: CellSums | None = None

    @property
    def cells(self) -> tuple[CellSums, CellSums]:
        """The cells of x and of y, block by block and slot by slot; not copied."""
        x, y = self._sides
        return _cells_between(x, 0, len(self) * self.ratio[0]), _cells_between(
            y, 0, len(self) * self.ratio[1]
        )

    @property
    def _sides(self) -> tuple[CellSums, CellSums]:
        if self.x is None or self.y is None:
            return CellSums.empty(self.sketch, 0), CellSums.empty(self.sketch, 0)
        return self.x, self.y

    # -- more rows ---------------------------------------------------------------------------

    def added(self, x: NDArray[Any], y: NDArray[Any]) -> BlockSums:
        """These blocks with the rows of whole groups; this object must not be used any more.

        Whatever can fail, fails before anything is changed.
        """
        count = len(x) // self.ratio[0]
        if not count:
            return self
        blocks, first, place = self._dealt(count)
        with one_blas_thread():
            parts = [
                blocks._sums(rows, place, size)
                for rows, size in zip((x, y), self.ratio, strict=True)
            ]
        return blocks._with(first, np.bincount(place), parts)

    def _sums(self, rows: NDArray[Any], place: NDArray[Any], size: int) -> CellSums:
        sums = CellSums.empty(self.sketch, (int(place[-1]) + 1) * size)
        sums.add(self.sketch, rows, (place[:, None] * size + np.arange(size)).ravel())
        return sums

    def _with(self, first: int, counts: NDArray[Any], parts: list[CellSums]) -> BlockSums:
        """Add parts to the blocks from `first` on."""
        total = first + len(counts)
        sides = []
        for side, part, size in zip(self._sides, parts, self.ratio, strict=True):
            if len(side.features) < total * size:
                side = _roomier(side, min(self.most, max(FEW, 2 * total)) * size)
            _cells_between(side, first * size, total * size).__iadd__(part)
            sides.append(side)
        counts = self._counts_with(first, counts)
        return replace(self, counts=counts, x=sides[0], y=sides[1])

    # -- fewer blocks ------------------------------------------------------------------------

    def halved(self) -> Self:
        """Neighbouring blocks merged two by two: half as many, twice as long."""
        x, y = (_merged(s, size) for s, size in zip(self.cells, self.ratio, strict=True))
        return replace(
            self, length=2 * self.length, counts=two_by_two(self.counts[:, None])[:, 0], x=x, y=y
        )

    def _joined(self, other: Self, counts: Index) -> Self:
        x, y = (
            CellSums(np.concatenate([a.features, b.features]), np.concatenate([a.bins, b.bins]))
            for a, b in zip(self.cells, other.cells, strict=True)
        )
        return replace(self, counts=counts, x=x, y=y)


def _cells_between(sums: CellSums, start: int, stop: int) -> CellSums:
    return CellSums(sums.features[start:stop], sums.bins[start:stop])


def _roomier(sums: CellSums, cells: int) -> CellSums:
    """The same with zeros after the last cell."""
    parts: tuple[NDArray[Any], ...] = (sums.features, sums.bins)
    new = [np.zeros((cells, part.shape[1]), part.dtype) for part in parts]
    for into, part in zip(new, parts, strict=True):
        into[: len(part)] = part
    return CellSums(*new)


def _merged(sums: CellSums, size: int) -> CellSums:
    """Cells of neighbouring blocks added slot by slot."""
    new: list[NDArray[Any]] = []
    parts: tuple[NDArray[Any], ...] = (sums.features, sums.bins)
    for part in parts:
        by_block = part.reshape(len(part) // size, size * part.shape[1])
        new.append(two_by_two(by_block).reshape(-1, part.shape[1]))
    return CellSums(*new)
