"""Two large samples that are to be described: in memory, or read in passes wherever they lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._old.data.files import whole
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.describe.rows import FEWEST_ROWS, Coded, encoded
from nosplit._old.engines.files.side import FileSide
from nosplit._old.engines.memory import ArraySide
from nosplit._old.engines.reading import Reader
from nosplit._old.engines.sketching.task import Census, Pair, SketchTask
from nosplit._old.sketch.dealing import Layout
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.data.options import Options
from nosplit.errors import InputError
from nosplit.inference.result import TestResult

__all__ = [
    "FileSample",
    "LargeSample",
    "LargeSamples",
    "MemorySample",
    "MemorySamples",
    "PassedSamples",
    "Picked",
    "as_tested",
    "sample_compared",
]


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


class LargeSample(Protocol):
    """One sample of which all rows can be summed, and some looked at."""

    @property
    def n(self) -> int:
        """Rows that were used."""
        ...

    @property
    def left_out(self) -> int:
        """Rows left out because something in them is missing."""
        ...

    def pick(self, numbers: Index) -> Picked:
        """Some rows, by their numbers among those that were used."""
        ...

    def sums(self, task: SketchTask, side: int) -> CellSums:
        """Sums over the rows of each cell."""
        ...


@dataclass(frozen=True, eq=False)
class MemorySample:
    """A sample in memory: as it came, and as the numbers that the test saw."""

    name: str
    came: Any
    coded: Coded

    @property
    def n(self) -> int:
        """Rows that were used."""
        return len(self.coded.rows)

    @property
    def left_out(self) -> int:
        """Rows left out because something in them is missing."""
        return self.coded.omitted

    def pick(self, numbers: Index) -> Picked:
        """Some rows, by their numbers among those that were used."""
        rows = np.take(self.coded.rows, numbers, axis=0)
        check_finite(rows, self.name)
        kept = self.coded.kept
        index = numbers if kept is None else kept[numbers]
        return Picked(rows, index, self.came, index)

    def sums(self, task: SketchTask, side: int) -> CellSums:
        """Sums over the rows of each cell."""
        return ArraySide(self.name, self.coded.rows).sums(task, side, None, None)


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
        return self._sample(0).pick(x), self._sample(1).pick(y)

    def _sample(self, side: int) -> MemorySample:
        return MemorySample("xy"[side], self.came[side], self.coded[side])

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        task = SketchTask(("x", "y"), Reader(), sketch, layout)
        return self._sample(0).sums(task, 0), self._sample(1).sums(task, 1)


def as_tested(res: TestResult) -> Options:
    """Options that treat columns as a test did: which they are, and what to do about gaps."""
    encoding = res.how.encoding
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
        width = width if res.how.encoding is None else res.how.encoding.width
        return cls(res, pair, (x.n, y.n), width, x.left_out + y.left_out)

    def pick(self, x: Index, y: Index) -> tuple[Picked, Picked]:
        """Some rows of either, by their numbers among those that were used."""
        found = self.pair.pilot(np.sort(x), np.sort(y))
        each = zip(self.pair.names, found, (x, y), strict=True)
        first, second = (_as_picked(self.result, self.width, *one) for one in each)
        return first, second

    def sums(self, sketch: SketchMap, layout: Layout) -> tuple[CellSums, CellSums]:
        """Sums over the rows of each cell."""
        reader = Reader(self.result.how.encoding)
        return self.pair.sums(SketchTask(self.pair.names, reader, sketch, layout))


@dataclass(frozen=True, eq=False)
class FileSample:
    """A sample in a file: a pass counts rows if need be, one picks, and one sums."""

    result: TestResult
    side: FileSide
    width: int

    @cached_property
    def census(self) -> Census:
        """Its rows, counted."""
        return self.side.census()

    @property
    def n(self) -> int:
        """Rows that were used."""
        return self.census.n

    @property
    def left_out(self) -> int:
        """Rows left out because something in them is missing."""
        return self.census.left_out

    def pick(self, numbers: Index) -> Picked:
        """Some rows, by their numbers among those that were used."""
        came = self.side.pilot(np.sort(numbers))
        return _as_picked(self.result, self.width, self.side.name, came, numbers)

    def sums(self, task: SketchTask, side: int) -> CellSums:
        """Sums over the rows of each cell."""
        return self.side.sums(task, side, None, None)


def sample_compared(res: TestResult, value: Any, name: str) -> MemorySample | FileSample:
    """A sample that was compared with a profile: in memory, or in a file that is not read whole."""
    encoding = res.how.encoding
    if is_path(value) and (source := open_source(value)).n_values > whole.SMALL:
        # Of arrays a result does not tell whether rows were left out.
        options = as_tested(res) if encoding else Options.of(None, None, None, "omit")
        width = encoding.width if encoding else source.width
        return FileSample(res, FileSide(source, options), width)
    came = read_if_path(value)
    if encoding is not None:
        return MemorySample(name, came, encoded(res, came, name, FEWEST_ROWS))
    rows = check_sample(came, name, smallest=FEWEST_ROWS, finite=False)
    kept = ~np.isnan(rows).any(axis=1)
    if kept.all():
        return MemorySample(name, came, Coded(rows))
    coded = Coded(rows[kept], np.flatnonzero(kept), int(np.count_nonzero(~kept)))
    return MemorySample(name, came, coded)


def _as_picked(res: TestResult, width: int, name: str, came: Any, numbers: Index) -> Picked:
    """Rows that came in ascending order, in the order of their numbers."""
    places = np.argsort(np.argsort(numbers))
    rows = encoded(res, came, name, 0).rows[places]
    if rows.shape[1] != width:
        raise InputError(f"`{name}` must have {width} columns, got {rows.shape[1]}.")
    return Picked(rows, numbers, came, places)
