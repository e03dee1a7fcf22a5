"""Rows in memory as units, to be summed by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.cells import Means, View, see_all
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import BLOCK, CellSums, sketch_rows
from nosplit._old.sketch.swaps import CellDraws
from nosplit._types import Array, Index

__all__ = ["RowsInUnits"]


@dataclass(frozen=True, eq=False)
class RowsInUnits:
    """Rows in memory, and the unit of each.

    Parameters
    ----------
    rows : array, shape (N, p)
        The rows, which are all in units.
    unit : array of int, shape (N,)
        Their units.
    workers : int or None
        Threads; all cores by default.
    """

    rows: NDArray[Any]
    unit: Index
    workers: int | None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def see(self, draws: CellDraws, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
        """Look at views on cells under all draws."""
        return see_all(draws, views, means, self.workers)

    def some(self, rows: Index) -> Array:
        """Rows of given numbers."""
        return np.asarray(self.rows[rows], dtype=np.float64)

    def sums(
        self, sketch: SketchMap, cell: Index, cells: int, some: Index | None = None
    ) -> CellSums:
        """Sums of rows by cell; `cells` stands for no cell, and `some` for some rows only."""
        numbers = cell.astype(np.int32)
        if some is None:
            return sketch_rows(sketch, self.rows, _Given(numbers, cells), self.workers)
        sums = CellSums.empty(sketch, cells)
        for start in range(0, len(some), BLOCK):
            part = slice(start, start + BLOCK)
            sums.add(sketch, self.rows[some[part]], numbers[part])
        return sums


@dataclass(frozen=True, eq=False)
class _Given:
    """Cells of rows that are known one by one."""

    cell: NDArray[np.int32]
    cells: int

    def cell_of(self, first: int, count: int) -> NDArray[np.int32]:
        """Cells of the rows first…first + count - 1."""
        return self.cell[first : first + count]
