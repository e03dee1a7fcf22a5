"""Two large samples that are to be described: in memory, or in files that are read in passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite
from nosplit._support.types import Index
from nosplit.data.options import Options
from nosplit.describe.rows import Coded, encoded
from nosplit.engines.files.two_sample import Opened
from nosplit.engines.memory import ArraySide
from nosplit.engines.reading import Reader
from nosplit.engines.sides import Sides
from nosplit.engines.sketching.task import SketchTask
from nosplit.inference.result import TestResult
from nosplit.sketch.dealing import Layout
from nosplit.sketch.maps import SketchMap
from nosplit.sketch.sums import CellSums

__all__ = ["FileSamples", "LargeSamples", "MemorySamples", "Picked"]


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

    def pick(self, side: int, numbers: Index) -> Picked:
        """Some rows of a sample, by their numbers among those that were used."""
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

    def pick(self, side: int, numbers: Index) -> Picked:
        """Some rows of a sample, by their numbers among those that were used."""
        sample = self.coded[side]
        rows = np.take(sample.rows, numbers, axis=0)
        check_finite(rows, "x` and `y")
        index = numbers if sample.kept is None else sample.kept[numbers]
        return Picked(rows, index, self.came[side], index)

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        x, y = (ArraySide(n, c.rows) for n, c in zip("xy", self.coded, strict=True))
        return Sides(x, y).sums(SketchTask(("x", "y"), Reader(), sketch, layout))


@dataclass(frozen=True, eq=False)
class FileSamples:
    """Samples in files: a pass counts rows where some were left out, one picks, and one sums."""

    result: TestResult
    sides: Sides
    sizes: tuple[int, int]
    width: int
    left_out: int

    @classmethod
    def of(cls, res: TestResult, opened: Opened) -> FileSamples:
        """Files whose rows become numbers as those of a test did."""
        encoding = res.encoding
        options = Options(
            scale=None,
            columns=None if encoding is None else encoding.names,
            exclude=None,
            nan_policy="raise" if encoding is None else encoding.nan_policy,
        )
        sides, _ = opened.sides(options, None, progress=False)
        x, y = sides.census()
        width = opened.x.width if encoding is None else encoding.width
        return cls(res, sides, (x.n, y.n), width, x.left_out + y.left_out)

    def pick(self, side: int, numbers: Index) -> Picked:
        """Some rows of a sample, by their numbers among those that were used."""
        sample = (self.sides.x, self.sides.y)[side]
        order = np.argsort(numbers)
        came = sample.pilot(numbers[order])
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        rows = encoded(self.result, came, sample.name, 0).rows[places]
        return Picked(rows, numbers, came, places)

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        reader = Reader(self.result.encoding)
        return self.sides.sums(SketchTask(self.sides.names, reader, sketch, layout))
