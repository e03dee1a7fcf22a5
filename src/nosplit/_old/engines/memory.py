"""Samples in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._old.engines.reading import Columns
from nosplit._old.engines.sides import Batches, SampleSide, sketch_batches
from nosplit._old.engines.sketching.task import ROWS, Census, SketchTask
from nosplit._old.sketch.sums import CellSums, sketch_rows
from nosplit._types import Index
from nosplit.data.encoding import Mask
from nosplit.data.fit_encoding import Read, read_one
from nosplit.data.frames import Frame, Raw, as_frame, is_table
from nosplit.data.options import Options
from nosplit.data.samples import Samples
from nosplit.errors import NonFiniteError

__all__ = ["ArraySide", "TableSide", "side_in_memory", "sides_of"]


@dataclass(frozen=True, eq=False)
class ArraySide:
    """An array that is tested as it came."""

    name: str
    rows: NDArray[Any]

    def census(self) -> Census:
        """Count it."""
        return Census(len(self.rows))

    def numbered(self) -> Batches:
        """Its rows, in batches."""
        for first in range(0, len(self.rows), ROWS):
            yield first, self.rows[first : first + ROWS]

    def pilot(self, rows: Index) -> NDArray[Any]:
        """Some rows."""
        return self.rows if len(rows) == len(self.rows) else self.rows[rows]

    def sums(
        self, task: SketchTask, side: int, workers: int | None, step: Callable[[int], None] | None
    ) -> CellSums:
        """Its sketch."""
        try:
            found = sketch_rows(task.map, self.rows, task.deal(side), workers)
        except NonFiniteError:
            check_finite(self.rows, self.name)
            raise
        if step is not None:
            step(len(self.rows))
        return found


@dataclass(frozen=True, eq=False)
class TableSide:
    """Columns of a table, or of an array, that are encoded block by block.

    Attributes
    ----------
    name : str
        What it is called in messages.
    titles : sequence of str
        Names of the columns.
    raws : sequence of Raw
        The columns, as they came.
    kept : array of bool
        Which rows are not left out.
    table : bool
        Whether it has names of its own.
    indicate : bool
        Whether what is missing is to be compared.
    """

    name: str
    titles: Sequence[str]
    raws: Sequence[Raw]
    kept: Mask
    table: bool
    indicate: bool

    @classmethod
    def of(cls, read: Read, side: int, name: str) -> TableSide:
        """One of the samples that were read."""
        indicate = read.options.nan_policy == "indicate"
        raws, kept, source = read.samples[side], read.kept[side], read.sources[side]
        return cls(name, read.names, raws, kept, source.table, indicate)

    def census(self) -> Census:
        """Count it."""
        n = int(np.count_nonzero(self.kept))
        missing = {}
        if self.indicate:
            counts = (int(np.count_nonzero(np.isnan(raw.values))) for raw in self.raws)
            missing = dict(zip(self.titles, counts, strict=True))
        return Census(n, len(self.kept) - n, missing)

    def pilot(self, rows: Index) -> Frame:
        """Some rows."""
        places = np.flatnonzero(self.kept)[rows]
        raws = [Raw(raw.kind, raw.values[places]) for raw in self.raws]
        return Frame(self.name, tuple(self.titles), len(rows), raws.__getitem__, self.table)

    def sums(
        self, task: SketchTask, side: int, workers: int | None, step: Callable[[int], None] | None
    ) -> CellSums:
        """Its sketch."""
        return sketch_batches(task, side, self.numbered(), workers, step)

    def numbered(self) -> Batches:
        """Its rows that are kept, in batches."""
        first, whole = 0, bool(self.kept.all())
        for start in range(0, len(self.kept), ROWS):
            part = Columns(self.raws).slice(start, ROWS)
            if not whole:
                kept = self.kept[start : start + ROWS]
                part = Columns([Raw(raw.kind, raw.values[kept]) for raw in part.raws])
            yield first, part
            first += len(part)


def side_in_memory(value: Any, name: str, options: Options) -> SampleSide:
    """A sample in memory beside one that is not; columns are named one by one."""
    if options.idle and not is_table(value):
        return ArraySide(name, check_sample(value, name, finite=False))
    return TableSide.of(read_one(as_frame(value, name), options), 0, name)


def sides_of(data: Samples) -> tuple[SampleSide, SampleSide]:
    """Two samples in memory."""
    if data.read is None:
        return ArraySide("x", data.x), ArraySide("y", data.y)
    return TableSide.of(data.read, 0, "x"), TableSide.of(data.read, 1, "y")
