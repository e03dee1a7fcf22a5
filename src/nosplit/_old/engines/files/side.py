"""A sample in files, read in order, in batches, as often as need be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nosplit._lazy import extra
from nosplit._old.data.files.npy import ArrayFile
from nosplit._old.data.files.source import Source
from nosplit._old.data.files.whole import by_position
from nosplit._old.engines.sides import Batches, sketch_batches
from nosplit._old.engines.sketching.task import Census, SketchTask
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.data.frames import Raw, as_frame
from nosplit.data.matching import picked, present_rows
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["FileSide"]

# Values of a batch: some of them are in memory at a time.
BATCH = 1 << 20


@dataclass(frozen=True, eq=False)
class FileSide:
    """A sample in a file, or in several.

    Rows are numbered in the order of the file. Under "omit", those in which something is missing
    have no number, so they have to be counted in a pass before the others.

    Attributes
    ----------
    source : Source
        The file.
    options : Options
        What to do with the columns, which are named one by one.
    positional : bool
        Whether columns are known by their places, because the other sample has no names.
    """

    source: Source
    options: Options
    positional: bool = False

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.source.path

    @property
    def _titles(self) -> tuple[str, ...] | None:
        """Names of the columns to read; None for all."""
        return None if self.positional or self.source.names is None else self.options.columns

    def census(self) -> Census:
        """Count rows, and where that matters what is missing: what the file does not tell."""
        policy = self.options.nan_policy
        if policy == "raise":
            return Census(self.source.n_rows)
        n = left_out = 0
        missing: Counter[str] = Counter()
        for batch in self.batches():
            raws = self.raws(batch)
            kept = int(np.count_nonzero(present_rows(raws))) if policy == "omit" else len(batch)
            n, left_out = n + kept, left_out + len(batch) - kept
            if policy == "indicate":
                gaps = (int(np.count_nonzero(np.isnan(raw.values))) for raw in raws)
                missing.update(dict(zip(self.options.columns or (), gaps, strict=True)))
        return Census(n, left_out, missing)

    def raws(self, batch: Any) -> list[Raw]:
        """The columns of a batch that are asked for, as they came."""
        source = as_frame(batch, self.name)
        return [source.read(i) for i in picked(source, self.options.columns, None)]

    def batches(self) -> Any:
        """All rows, in order."""
        rows = max(1024, BATCH // self.source.width)
        for batch in self.source.batches(rows, self._titles):
            yield by_position(batch, self.name) if self.positional else batch

    def numbered(self) -> Batches:
        """The rows that are not left out, in batches, with the number of the first of each."""
        first = 0
        for batch in self.batches():
            if self.options.nan_policy == "omit":
                kept = present_rows(self.raws(batch))
                if not kept.all():
                    batch = batch[kept] if isinstance(batch, np.ndarray) else batch.filter(kept)
            yield first, batch
            first += len(batch)

    def pilot(self, rows: Index) -> Any:
        """Rows of given numbers, ascending: at once from an array, else in a pass of their own."""
        if isinstance(self.source, ArrayFile) and self.options.nan_policy != "omit":
            return self.source.values[rows]
        found = []
        for first, batch in self.numbered():
            some = rows[slice(*np.searchsorted(rows, (first, first + len(batch))))] - first
            if len(some):
                found.append(batch[some] if isinstance(batch, np.ndarray) else batch.take(some))
            if rows[-1] < first + len(batch):
                break
        else:
            raise self._changed()
        if isinstance(found[0], np.ndarray):
            return np.concatenate(found)
        return extra("pyarrow", "tables").concat_tables(found)

    def sums(
        self, task: SketchTask, side: int, workers: int | None, step: Callable[[int], None] | None
    ) -> CellSums:
        """Its sketch, in one pass."""
        return sketch_batches(task, side, self.counted(task.deal(side).n), workers, step)

    def counted(self, n: int) -> Batches:
        """The rows, of which there must be so many."""
        end = 0
        for first, batch in self.numbered():
            end = first + len(batch)
            if end > n:
                raise self._changed()
            yield first, batch
        if end != n:
            raise self._changed()

    def _changed(self) -> InputError:
        return InputError(
            f"`{self.name}` must not change while it is read, got other rows than before."
        )
