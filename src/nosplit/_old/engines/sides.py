"""Two samples of which each lies in memory or in files, whatever the other does."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeVar

from nosplit._old.engines.sketching.task import Census, SketchTask
from nosplit._old.sketch.cells import See
from nosplit._old.sketch.sums import CellSums, total_of
from nosplit._text import progress_bar
from nosplit._types import Index
from nosplit.backend.threads import n_workers, one_blas_thread

__all__ = ["Batches", "SampleSide", "Sides", "sketch_batches", "summed"]

# Threads beyond which one that decodes cannot feed the others.
MOST_THREADS = 8

# Rows, with the number of the first of them.
Batches = Generator[tuple[int, Any], None, None]
Step = Callable[[int], None]
Sums = TypeVar("Sums")


class SampleSide(Protocol):
    """One of two samples."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    def census(self) -> Census:
        """Count it."""
        ...

    def numbered(self) -> Batches:
        """Its rows in order, in batches, with the number of the first of each."""
        ...

    def pilot(self, rows: Index) -> Any:
        """Rows of given numbers, ascending."""
        ...

    def sums(self, task: SketchTask, side: int, workers: int | None, step: Step | None) -> CellSums:
        """Its sketch."""
        ...


@dataclass(frozen=True, eq=False)
class Sides:
    """Two samples, one after the other."""

    x: SampleSide
    y: SampleSide
    workers: int | None = None
    progress: bool = False
    see: See | None = None

    @property
    def names(self) -> tuple[str, str]:
        """Their names in messages."""
        return self.x.name, self.y.name

    def census(self) -> tuple[Census, Census]:
        """Count them."""
        return self.x.census(), self.y.census()

    def pilot(self, x: Index, y: Index) -> tuple[Any, Any]:
        """Rows of given numbers of both, looked for at the same time."""
        both = (self.x, x), (self.y, y)
        if n_workers(self.workers) == 1:
            return self.x.pilot(x), self.y.pilot(y)
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda one: one[0].pilot(one[1]), both)
            return next(found), next(found)

    def sums(self, task: SketchTask) -> tuple[CellSums, CellSums]:
        """The sketches of both."""
        total = task.layout.x.n + task.layout.y.n
        with progress_bar(self.progress, total) as step:
            return (
                self.x.sums(task, 0, self.workers, step),
                self.y.sums(task, 1, self.workers, step),
            )


def sketch_batches(
    task: SketchTask, side: int, batches: Batches, workers: int | None, step: Step | None = None
) -> CellSums:
    """The sketch of a sample that is read in batches, in order."""

    def add(sums: CellSums, first: int, rows: Any) -> None:
        task.add(sums, side, rows, first)
        if step is not None:
            step(len(rows))

    return summed(lambda: task.empty(side), add, batches, workers)


def summed(
    empty: Callable[[], Sums],
    add: Callable[[Sums, int, Any], None],
    batches: Batches,
    workers: int | None,
) -> Sums:
    """Sums of rows that are read in batches, in order.

    One thread at a time reads the next batch, while the others add those before.

    Parameters
    ----------
    empty : callable
        Makes the sums of no rows; they add in place.
    add : callable
        Adds rows to sums: those, the number of the first row, the rows.
    batches : generator
        The rows, with the number of the first of each batch.
    workers : int, optional
        Threads; all cores by default, up to some.
    """
    reading = Lock()

    def take() -> tuple[int, Any] | None:
        with reading:
            return next(batches, None)

    def work(_: int) -> Sums:
        sums = empty()
        try:
            while (batch := take()) is not None:
                add(sums, *batch)
        except BaseException:
            with reading:  # the other threads have nothing more to do
                batches.close()
            raise
        return sums

    threads = min(n_workers(workers), MOST_THREADS)
    with one_blas_thread():
        return total_of(work, threads)
