"""Goodness-of-fit tests of files that are too large to be read whole: a pass, and a pass before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nosplit._old.data.files import whole
from nosplit._old.data.files.source import Source
from nosplit._old.engines.families.goodness_of_fit import SteinTask, sketched_fit
from nosplit._old.engines.files.side import FileSide
from nosplit._old.engines.reading import Reader, check_read
from nosplit._old.engines.sides import summed
from nosplit._old.engines.sketching.task import Census
from nosplit._old.inference.planning.goodness_of_fit import SteinSizes, plan_sketch
from nosplit._text import progress_bar
from nosplit._types import Array, Index
from nosplit.api._request import Request
from nosplit.core.order import shuffled
from nosplit.core.stein_map import SteinSums
from nosplit.data.frames import as_frame, is_table
from nosplit.data.matching import picked
from nosplit.data.options import ROBUST, Options
from nosplit.data.samples import one_sample
from nosplit.errors import InputError
from nosplit.inference.questions import GOODNESS
from nosplit.inference.result import TestResult
from nosplit.kernels.stein import stein_kernels
from nosplit.models import Model, SamplingModel
from nosplit.models.ends import on_the_line
from nosplit.models.scores import Score, scores_of

__all__ = ["fit_of_file"]


def fit_of_file(
    source: Source,
    score: Score,
    request: Request,
    *,
    progress: bool = False,
) -> TestResult | None:
    """Test a large file by a sketch; None if it is to be read whole.

    That is so if it has few values, if scores are given row by row, and if what is asked for is no
    sketch: linear pairs, samples from the model. The result is that of the same rows in memory,
    but for models of which few rows carry the statistic: random signs are kept, and that is said.
    """
    if source.n_values <= whole.SMALL or not (callable(score) or isinstance(score, Model)):
        return None
    rows = _ScoredFile.of(source, score, request.options, progress)
    p, d = rows.width, len(stein_kernels(request.kernels, 1.0))
    sizes = SteinSizes(rows.n, rows.n, p, d, 2)
    sampling = isinstance(score, SamplingModel)
    how = plan_sketch(
        sizes, request.pairs, request.calibration, request.method, request.budget, sampling
    )
    if how is None:
        return None
    if request.shuffle:
        shuffled(
            rows.n, request.rng
        )  # in memory, all rows are put in order first: the same draws follow
    done = sketched_fit(
        rows,
        request.kernels,
        how,
        request.method,
        request.rng,
        request.shuffle,
        request.workers,
        scaled=request.options.scale == ROBUST,
        encoding=rows.reader.encoding,
        score=score,
    )
    names = None if done.encoding is None else done.encoding.names
    return done.result(GOODNESS, rows.n + rows.census.left_out, names)


@dataclass(frozen=True, eq=False)
class _ScoredFile:
    """The rows of a file, and the scores of a model there."""

    side: FileSide
    reader: Reader
    score: Any
    progress: bool

    @classmethod
    def of(cls, source: Source, score: Any, options: Options, progress: bool) -> _ScoredFile:
        """See what its columns are."""
        head = next(iter(source.batches(1024)))
        if options.idle and not is_table(head):
            return cls(FileSide(source, options), Reader(None), score, progress)
        frame = as_frame(head, "x")
        names = tuple(frame.names[i] for i in picked(frame, options.columns, options.exclude))
        own = replace(options, columns=names, exclude=None)
        encoding = one_sample(head, own).encoding
        return cls(FileSide(source, own), Reader(encoding), score, progress)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.census.n

    @property
    def width(self) -> int:
        """Number of columns."""
        encoding = self.reader.encoding
        return self.side.source.width if encoding is None else len(encoding.names)

    @cached_property
    def census(self) -> Census:
        """Its rows, counted."""
        return self.side.census()

    def some(self, rows: Index) -> tuple[Array, Array]:
        """Rows of given numbers, ascending, and their scores."""
        found = self._scored(self.side.pilot(rows), rows)
        if np.all(found[0] == found[0][0]):
            raise InputError(f"`{self.side.name}` is constant in all of {len(rows):,} rows.")
        return found

    def _scored(self, rows: Any, numbers: Index) -> tuple[Array, Array]:
        found = np.asarray(self.reader(rows, self.side.name, int(numbers[0])), dtype=np.float64)
        check_read(found, self.side.name, numbers)
        found = np.ascontiguousarray(found)
        return on_the_line(self.score, found, scores_of(self.score, found))

    def sums(self, task: SteinTask, workers: int | None) -> SteinSums:
        """The sketch of all rows, in one pass."""
        with progress_bar(self.progress, task.deal.n) as step:

            def add(sums: SteinSums, first: int, rows: Any) -> None:
                numbers = np.arange(first, first + len(rows))
                task.add(sums, *self._scored(rows, numbers), first)
                if step is not None:
                    step(len(rows))

            return summed(task.empty, add, self.side.counted(task.deal.n), workers)
