"""Columns under draws that are made as they are asked for: of all columns, or of some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index
from nosplit.pairs.loop import n_workers, one_blas_thread
from nosplit.pairs.statistics import ColumnDraws
from nosplit.sketch.cells import gamma_laws, look, mapped, means_of
from nosplit.sketch.lenses import ColumnView, of_lenses
from nosplit.sketch.swaps import DRAWS, CellDraws
from nosplit.sketch.units import CellUnits, Lens

__all__ = ["ColumnLook"]


@dataclass(frozen=True, eq=False)
class _Part:
    """Numbers of cells, lenses on them, and the laws of what they show under the draws."""

    units: CellUnits
    lenses: list[Lens]
    means: list[Array]
    spreads: Array
    shapes: Array
    columns: Index

    def some(self, columns: Index) -> _Part:
        """Some of its columns, numbered anew, and only the numbers that they need."""
        kept = np.flatnonzero(np.isin(self.columns, columns))
        # All statistics of a lens are of one column.
        some = np.unique(of_lenses(range(len(self.lenses)), self.lenses)[kept])
        where = [_places_of_lens(self.lenses[i], self.units) for i in some]
        needed = np.unique(np.concatenate([np.zeros(0, np.int64), *where]))
        lenses = [
            replace(self.lenses[i], where=np.searchsorted(needed, own))
            for i, own in zip(some, where, strict=True)
        ]
        return _Part(
            CellUnits(np.ascontiguousarray(self.units.values[:, needed]), self.units.steps[needed]),
            lenses,
            [self.means[i] for i in some],
            self.spreads[kept],
            self.shapes[kept],
            np.searchsorted(columns, self.columns[kept]),
        )


def _places_of_lens(lens: Lens, units: CellUnits) -> NDArray[np.int64]:
    """Places of the numbers of a lens."""
    return np.arange(units.values.shape[1])[lens.where]


@dataclass(frozen=True, eq=False)
class ColumnLook:
    """Statistics of columns under draws of any kind.

    Attributes
    ----------
    draws : CellDraws
        What draws do with cells.
    parts : tuple
        Columns, those that share their numbers together; they are numbered in order.
    """

    draws: CellDraws
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, draws: CellDraws, views: Sequence[ColumnView]) -> ColumnLook:
        """Look at columns, and maybe pairs of them, that are numbered in the order of the views."""
        parts = []
        with one_blas_thread():
            for view in views:
                means = [means_of(draws, view.units, lens) for lens in view.lenses]
                laws = gamma_laws(draws, view.units, view.lenses)
                parts.append(_Part(view.units, view.lenses, means, *laws, view.columns))
        return cls(draws, tuple(parts))

    def some(self, columns: Index) -> ColumnLook:
        """Look at some columns only, which are numbered anew."""
        parts = (part.some(columns) for part in self.parts)
        return replace(self, parts=tuple(part for part in parts if part.lenses))

    def under(self, first: int, stop: int, workers: int | None = None) -> ColumnDraws:
        """Statistics under the draws from number `first` on; number 0 is the data as it is."""

        def part(chunk: tuple[int, int]) -> Array:
            weights = self.draws.weights(*chunk)
            values = [
                look(self.draws.sums(weights, p.units), p.lenses, p.means) / p.spreads
                for p in self.parts
            ]
            return np.concatenate(values, axis=1)

        chunks = [(i, min(DRAWS, stop - i)) for i in range(first, stop, DRAWS)]
        with one_blas_thread():
            found = mapped(part, chunks, n_workers(workers))
        shapes, columns = (
            np.concatenate([getattr(p, name) for p in self.parts]) for name in ("shapes", "columns")
        )
        lenses = [lens for p in self.parts for lens in p.lenses]
        shows = np.array([name for lens in lenses for name in lens.shown], dtype=str)
        return ColumnDraws(np.concatenate(found), shapes, columns, shows)
