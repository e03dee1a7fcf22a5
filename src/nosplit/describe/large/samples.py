"""Two large samples that are to be described: in memory, or read in passes wherever they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite
from nosplit._support.types import Index
from nosplit.data.options import Options
from nosplit.describe.rows import Coded, encoded
from nosplit.engines.memory import ArraySide
from nosplit.engines.reading import Reader
from nosplit.engines.sides import Sides
from nosplit.engines.sketching.task import Pair, SketchTask
from nosplit.errors import InputError
from nosplit.inference.result import TestResult
from nosplit.sketch.dealing import Layout
from nosplit.sketch.maps import SketchMap
from nosplit.sketch.sums import CellSums

__all__ = ["LargeSamples", "MemorySamples", "PassedSamples", "Picked", "as_tested"]


class Picked(NamedTuple):
    """Some rows of a sample.

    `positions` are those in the sample; `came` holds the rows as they came, at `places`.
    """

    rows: NDArray[Any]
    positions: Index
    came: Any
    places: Index


class LargeSamples(Protocol):
    """Two samples of which all rows can be summed, and some looked at."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows that were used, of either."""
        ...

    @property
    def width(self) -> int:
        """Columns of the numbers that the test saw."""
        ...

    def pick(self, x: Index, y: Index) -> tuple[Picked, Picked]:
        """Some rows of either, by their numbers among those that were used."""
        ...

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        ...


@dataclass(frozen=True, eq=False)
class MemorySamples:
    """Samples in memory: as they came, and as the numbers that the test saw."""

    came: tuple[Any, Any]
    coded: tuple[Coded, Coded]

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows that were used, of either."""
        return len(self.coded[0].rows), len(self.coded[1].rows)

    @property
    def width(self) -> int:
        """Columns of the numbers that the test saw."""
        return int(self.coded[0].rows.shape[1])

    def pick(self, x: Index, y: Index) -> tuple[Picked, Picked]:
        """Some rows of either, by their numbers among those that were used."""
        return self._pick(0, x), self._pick(1, y)

    def _pick(self, side: int, numbers: Index) -> Picked:
        sample = self.coded[side]
        rows = np.take(sample.rows, numbers, axis=0)
        check_finite(rows, "x` and `y")
        index = numbers if sample.kept is None else sample.kept[numbers]
        return Picked(rows, index, self.came[side], index)

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        x, y = (ArraySide(n, c.rows) for n, c in zip("xy", self.coded, strict=True))
        return Sides(x, y).sums(SketchTask(("x", "y"), Reader(), sketch, layout))


def as_tested(res: TestResult) -> Options:
    """Options that treat columns as a test did: which they are, and what to do about gaps."""
    encoding = res.encoding
    if encoding is None:
        return Options(scale=None, columns=None, exclude=None, nan_policy="raise")
    return Options(scale=None, columns=encoding.names, exclude=None, nan_policy=encoding.nan_policy)


@dataclass(frozen=True, eq=False)
class PassedSamples:
    """Samples in files or on a cluster: a pass counts rows if need be, one picks, and one sums."""

    result: TestResult
    pair: Pair
    sizes: tuple[int, int]
    width: int
    left_out: int

    @classmethod
    def of(cls, res: TestResult, pair: Pair, width: int) -> PassedSamples:
        """Samples whose rows become numbers as those of a test did; arrays have so many columns."""
        x, y = pair.census()
        width = width if res.encoding is None else res.encoding.width
        return cls(res, pair, (x.n, y.n), width, x.left_out + y.left_out)

    def pick(self, x: Index, y: Index) -> tuple[Picked, Picked]:
        """Some rows of either, by their numbers among those that were used."""
        orders = np.argsort(x), np.argsort(y)
        found = self.pair.pilot(x[orders[0]], y[orders[1]])
        each = zip(self.pair.names, found, (x, y), orders, strict=True)
        first, second = (self._picked(*one) for one in each)
        return first, second

    def _picked(self, name: str, came: Any, numbers: Index, order: Index) -> Picked:
        """Rows that came in ascending order, in the order of their numbers."""
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        rows = encoded(self.result, came, name, 0).rows[places]
        if rows.shape[1] != self.width:
            raise InputError(f"`{name}` must have {self.width} columns, got {rows.shape[1]}.")
        return Picked(rows, numbers, came, places)

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        reader = Reader(self.result.encoding)
        return self.pair.sums(SketchTask(self.pair.names, reader, sketch, layout))
