"""Two samples as cells of one map: what every engine makes, and all that a test needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nosplit.pairs.loop import one_blas_thread
from nosplit.pairs.statistics import DrawnStatistics
from nosplit.sketch.cells import drawn_statistics
from nosplit.sketch.maps import SketchMap
from nosplit.sketch.sums import CellSums

__all__ = ["Sketched"]


@dataclass(frozen=True, eq=False)
class Sketched:
    """The sketches of two samples.

    Attributes
    ----------
    map : SketchMap
        The map of both.
    x, y : CellSums
        Their cells.
    c : int
        Rows of a cell.
    lag, block : int
        Up to which lag rows depend on one another (0: they do not), and rows dealt together.
    """

    map: SketchMap
    x: CellSums
    y: CellSums
    c: int
    lag: int = 0
    block: int = 1

    @property
    def n_used(self) -> int:
        """Rows in cells, of both samples."""
        return self.c * (len(self.x.features) + len(self.y.features))

    def drawn(
        self,
        flips: int,
        key: int,
        owners: Sequence[int] | None = None,
        workers: int | None = None,
    ) -> DrawnStatistics:
        """Statistics of kernels and columns under every draw."""
        with one_blas_thread():
            return drawn_statistics(
                self.map, self.x, self.y, flips=flips, key=key, owners=owners, workers=workers
            )
