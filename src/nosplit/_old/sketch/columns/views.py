"""Statistics of single columns of two sketches under every draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nosplit._old.pairs.statistics import ColumnDraws
from nosplit._old.sketch.bins import ColumnBins
from nosplit._old.sketch.cells import Sketched, gamma_laws, look, mapped, means_of, units_of
from nosplit._old.sketch.lenses import ColumnView, column_view
from nosplit._old.sketch.swaps import DRAWS, Swaps
from nosplit._types import Array
from nosplit.backend.threads import n_workers, one_blas_thread

__all__ = ["SeenColumns", "look_at_cells"]


@dataclass(frozen=True, eq=False)
class SeenColumns:
    """Columns of two sketches.

    Attributes
    ----------
    draws : Swaps
        What draws do with cells.
    view : ColumnView
        The numbers of cells that show the columns.
    bins : sequence of ColumnBins
        The bins of each column of the rows.
    counts : array, shape (2, Q)
        Rows of x and of y in all bins.
    """

    draws: Swaps
    view: ColumnView
    bins: Sequence[ColumnBins]
    counts: Array

    def under(self, n_draws: int, workers: int | None = None) -> ColumnDraws:
        """Statistics under the first draws; number 0 is the data as it is."""
        units, lenses = self.view.units, self.view.lenses
        with one_blas_thread():
            means = [means_of(self.draws, units, lens) for lens in lenses]
            spreads, shapes = gamma_laws(self.draws, units, lenses)

            def part(chunk: tuple[int, int]) -> Array:
                sums = self.draws.sums(self.draws.weights(*chunk), units)
                return look(sums, lenses, means) / spreads

            chunks = [(i, min(DRAWS, n_draws - i)) for i in range(0, n_draws, DRAWS)]
            found = mapped(part, chunks, n_workers(workers))
        shows = np.array([name for lens in lenses for name in lens.shown], dtype=str)
        return ColumnDraws(np.concatenate(found), shapes, self.view.columns, shows)


def look_at_cells(sketched: Sketched, key: int, owners: Sequence[int] | None = None) -> SeenColumns:
    """Columns of two sketches; `owners` are those that columns of the rows belong to."""
    sketch = sketched.map
    swaps, _, bins, pooled = units_of(sketched.x, sketched.y, 0, key)
    view = column_view(sketch, bins, pooled, list(range(sketch.p) if owners is None else owners))
    return SeenColumns(swaps, view, sketch.bins, sketched.counts(1)[:, 0])
