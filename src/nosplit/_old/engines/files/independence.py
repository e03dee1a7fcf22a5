"""Independence tests of files that are too large to be read whole.

A unit is made of observations from all over the files, so that their order does not matter. Those
of a number of cells that fits in memory are collected in a pass, and summed; then those of the
next. Summing takes many times as long as reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import extra
from nosplit._old.data.files import whole
from nosplit._old.data.files.source import Source
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.families.encoded import check_pilot_varies, fit_variable, gaps_in
from nosplit._old.engines.families.independence import (
    TensorTask,
    observation_sizes,
    sketched_independence,
)
from nosplit._old.engines.files import side
from nosplit._old.engines.reading import Reader, check_read
from nosplit._old.engines.sketching.task import Census
from nosplit._old.sketch.families.independence_sums import ShiftSums, sketch_units
from nosplit._text import progress_bar
from nosplit._types import Index
from nosplit.core.pairings import Sketch
from nosplit.data.frames import as_frame, is_table
from nosplit.data.matching import picked, present_rows
from nosplit.data.options import Options
from nosplit.data.series import check_jointly, checked_rows
from nosplit.data.variables import Variable, check_named, own_options
from nosplit.errors import InputError
from nosplit.inference.questions import INDEPENDENCE
from nosplit.inference.result import TestResult

__all__ = ["independence_of_files"]

# Values that are collected in a pass.
AT_ONCE = 1 << 25


def independence_of_files(
    x: Source,
    y: Source,
    asked: Asked,
    unit_size: int,
    *,
    rng: np.random.Generator,
    workers: int | None = None,
    progress: bool = False,
) -> TestResult | None:
    """Test two large files by a sketch; None if they are to be read whole.

    That is so if they have few values, and if what is asked for is no sketch. The result is that
    of the same rows in memory.
    """
    if x.n_values + y.n_values <= whole.SMALL:
        return None
    if x.n_rows != y.n_rows:
        raise InputError(
            f"`{x.path}` and `{y.path}` must have as many rows, observed together, got "
            f"{x.n_rows:,} and {y.n_rows:,}."
        )
    files = ObservedFiles.of(x, y, asked.options, progress)
    some = files.fitted(np.asarray(checked_rows(files.n))).pilot
    columns = sum(v.rows.shape[1] for v in some)
    kinds = some[0].discrete, some[1].discrete
    sizes = observation_sizes(files.n, columns, kinds, asked.kernels, unit_size)
    how = asked.plan(sizes)
    if not isinstance(how.pairing, Sketch):
        return None
    done = sketched_independence(
        files, asked.kernels, sizes, how, asked.method, rng, asked.shuffle, workers
    )
    done = replace(done, outcome=done.outcome.noting(check_jointly(some[0].rows, some[1].rows)))
    result = done.result(INDEPENDENCE, x.n_rows, _names(done.encoding))
    return result.done(n_columns=tuple(v.n_columns for v in some))


def _names(encodings: Any) -> tuple[str, ...] | None:
    known = [e for e in encodings or () if e is not None]
    return tuple(name for e in known for name in e.names) or None


@dataclass(frozen=True, eq=False)
class ObservedFiles:
    """Two files, of which a row of one belongs to that of the other.

    Attributes
    ----------
    sources : pair of Source
        The files.
    options : pair of Options
        What to do with their columns, which are named one by one where they have names.
    progress : bool
        Whether to show how far a pass over them has come.
    """

    sources: tuple[Source, Source]
    options: tuple[Options, Options]
    progress: bool = False

    @classmethod
    def of(cls, x: Source, y: Source, options: Options, progress: bool) -> ObservedFiles:
        """See what their columns are."""
        heads = [next(iter(source.batches(1024))) for source in (x, y)]
        frames = [as_frame(head, name) for head, name in zip(heads, "xy", strict=True)]
        check_named(frames, options)
        own = []
        for head, frame in zip(heads, frames, strict=True):
            mine = own_options(options, frame)
            if is_table(head):
                places = picked(frame, mine.columns, mine.exclude)
                mine = replace(mine, columns=tuple(frame.names[i] for i in places), exclude=None)
            own.append(mine)
        return cls((x, y), (own[0], own[1]), progress)

    @property
    def n(self) -> int:
        """Observations that are used."""
        return self.census[0].n

    @cached_property
    def census(self) -> tuple[Census, Census]:
        """Rows in which nothing is missing, or all, and where something is."""
        policy = self.options[0].nan_policy
        n = self.sources[0].n_rows
        if policy == "raise":
            return Census(n), Census(n)
        kept, gaps = 0, (Counter[str](), Counter[str]())
        for batches in self._side_by_side():
            raws = [self._raws(batch, i) for i, batch in enumerate(batches)]
            if policy == "omit":
                kept += int(np.count_nonzero(present_rows([*raws[0], *raws[1]])))
                continue
            kept += len(batches[0])
            for i, found in enumerate(gaps):
                found.update(gaps_in(raws[i], self._names(batches[i], i)))
        return Census(kept, n - kept, gaps[0]), Census(kept, n - kept, gaps[1])

    def _names(self, batch: Any, i: int) -> tuple[str, ...]:
        return self.options[i].columns or as_frame(batch, self.sources[i].path).names

    def _raws(self, batch: Any, i: int) -> list[Any]:
        frame = as_frame(batch, self.sources[i].path)
        return [frame.read(j) for j in picked(frame, self.options[i].columns, None)]

    def _side_by_side(self) -> Iterator[tuple[Any, Any]]:
        """Batches of both files, of the same rows."""
        width = max(source.width for source in self.sources)
        x, y = (
            iter(source.batches(max(1024, side.BATCH // width), own.columns))
            for source, own in zip(self.sources, self.options, strict=True)
        )
        left = right = None
        while True:
            left = next(x, None) if left is None or not len(left) else left
            right = next(y, None) if right is None or not len(right) else right
            if left is None and right is None:
                return
            if left is None or right is None:
                raise self._changed()
            count = min(len(left), len(right))
            yield _slice(left, 0, count), _slice(right, 0, count)
            left, right = _slice(left, count, len(left)), _slice(right, count, len(right))

    def batches(self) -> Iterator[tuple[int, Any, Any]]:
        """The observations that are used, in batches, with the number of the first of each."""
        first = 0
        for x, y in self._side_by_side():
            if self.options[0].nan_policy == "omit":
                kept = present_rows([*self._raws(x, 0), *self._raws(y, 1)])
                x, y = _filter(x, kept), _filter(y, kept)
            yield first, x, y
            first += len(x)

    def some(self, rows: Index) -> tuple[Any, Any]:
        """Observations of given numbers, ascending."""
        found: tuple[list[Any], list[Any]] = [], []
        for first, *both in self.batches():
            here = rows[slice(*np.searchsorted(rows, (first, first + len(both[0]))))] - first
            for parts, batch in zip(found, both, strict=True):
                if len(here):
                    parts.append(batch[here] if isinstance(batch, np.ndarray) else batch.take(here))
            if rows[-1] < first + len(both[0]):
                return _joined_parts(found[0]), _joined_parts(found[1])
        raise self._changed()

    def fitted(self, pilot: Index) -> FittedFiles:
        """Find out how they become numbers, from rows of given numbers."""
        found = self.some(pilot)
        readers, variables = [], []
        for i, rows in enumerate(found):
            name, own = self.sources[i].path, self.options[i]
            plain = own.idle and not is_table(rows)
            frame = as_frame(rows, name)
            encoding = None if plain else fit_variable(frame, own, self.census[i])
            reader = Reader(encoding)
            numbers = np.asarray(reader(rows, name), dtype=np.float64)
            check_read(numbers, name, pilot)
            readers.append(reader)
            kind = False if encoding is None else encoding.parts
            variables.append(Variable(numbers, kind, encoding))
            check_pilot_varies(variables[-1], name)
        return FittedFiles(self, (readers[0], readers[1]), (variables[0], variables[1]))

    def _changed(self) -> InputError:
        return InputError(
            f"`{self.sources[0].path}` and `{self.sources[1].path}` must not change while they are "
            "read, got other rows than before."
        )


@dataclass(frozen=True, eq=False)
class FittedFiles:
    """Two files of which it is known how their rows become numbers."""

    files: ObservedFiles
    readers: tuple[Reader, Reader]
    pilot: tuple[Variable, Variable]

    def sums(self, task: TensorTask) -> ShiftSums:
        """The sketch of all observations, in as many passes as memory asks for."""
        deal = task.deal
        widths = [v.rows.shape[1] for v in self.pilot]
        size = max(1, AT_ONCE // sum(widths) // deal.c) * deal.c
        total = ShiftSums.empty(task.map, deal.cells, task.q)
        starts = range(0, deal.n_dealt, size)
        with progress_bar(self.files.progress, len(starts) * deal.n) as step:
            for start in starts:
                count = min(size, deal.n_dealt - start)
                both = [np.empty((count, width)) for width in widths]
                for batch in self.files.batches():
                    self._collect(both, start, task, *batch)
                    if step is not None:
                        step(len(batch[1]))
                total += self._summed(both, start, task)
        return total

    def _collect(
        self, both: list[NDArray[Any]], start: int, task: TensorTask, first: int, *batches: Any
    ) -> None:
        """Put the observations of a batch that are wanted in their places."""
        count = len(batches[0])
        if first + count > task.deal.n:
            raise self.files._changed()
        places = task.deal.places(first, count) - start
        here = (places >= 0) & (places < len(both[0]))
        if not here.any():
            return
        for i, (into, batch) in enumerate(zip(both, batches, strict=True)):
            name, some = self.files.sources[i].path, _filter(batch, here)
            numbers = self.readers[i](some, name, first)
            check_read(numbers, name, first + np.flatnonzero(here))
            into[places[here]] = numbers

    def _summed(self, both: list[NDArray[Any]], start: int, task: TensorTask) -> ShiftSums:
        first, q = start // task.q, task.q
        units = range(first, first + len(both[0]) // q)

        def rows(some: range) -> tuple[NDArray[Any], NDArray[Any]]:
            part = slice((some.start - first) * q, (some.stop - first) * q)
            return both[0][part], both[1][part]

        return sketch_units(task.map, rows, units, task.deal, q, task.workers)


def _slice(rows: Any, start: int, stop: int) -> Any:
    return rows[start:stop] if isinstance(rows, np.ndarray) else rows.slice(start, stop - start)


def _filter(rows: Any, kept: NDArray[np.bool_]) -> Any:
    if kept.all():
        return rows
    return rows[kept] if isinstance(rows, np.ndarray) else rows.filter(kept)


def _joined_parts(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return extra("pyarrow", "tables").concat_tables(parts)
