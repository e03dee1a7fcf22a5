"""Studies, and how their work is cut into chunks of trials.

A chunk has a seed of its own, made of the study, the cell and the chunk's number. Results
therefore depend neither on the number of workers nor on the order in which chunks are done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

__all__ = ["Cell", "Chunk", "Count", "Study", "Task", "tasks_of"]


@dataclass(frozen=True)
class Cell:
    """A dataset and a number of rows in each sample."""

    dataset: str
    n: int


@dataclass(frozen=True)
class Count:
    """Rejections of one method in some trials."""

    dataset: str
    d: int
    n: int
    method: str
    trials: int
    rejections: int


@dataclass(frozen=True)
class Chunk:
    """Results of a chunk of trials: counts, and values where a figure shows them."""

    counts: tuple[Count, ...]
    values: tuple[float, ...] = ()


class Study(Protocol):
    """Draws data and counts rejections."""

    @property
    def number(self) -> int:
        """Number that enters the seeds; never used again for another study."""
        ...

    @property
    def cells(self) -> Sequence[Cell]:
        """Datasets and sample sizes."""
        ...

    @property
    def trials(self) -> int:
        """Trials of each cell, unless the caller says otherwise."""
        ...

    @property
    def chunk(self) -> int:
        """Trials of a chunk."""
        ...

    def run(self, cell: Cell, trials: int, rng: Generator) -> Chunk:
        """Do some trials of a cell."""
        ...


@dataclass(frozen=True)
class Task:
    """A chunk of trials to be done."""

    study: str
    cell: int
    chunk: int
    trials: int

    @property
    def key(self) -> str:
        """Name of the chunk among all that the study could have."""
        return f"{self.cell}/{self.chunk}/{self.trials}"

    def run(self, study: Study, seed: int) -> Chunk:
        """Do it."""
        entropy = (seed, study.number, self.cell, self.chunk)
        rng = np.random.default_rng(np.random.SeedSequence(entropy))
        return study.run(study.cells[self.cell], self.trials, rng)


def tasks_of(name: str, study: Study, trials: int) -> Iterator[Task]:
    """All chunks of a study with this many trials in each cell.

    Cells take turns: small and large samples alternate, and the time left can be foretold.
    """
    for chunk, start in enumerate(range(0, trials, study.chunk)):
        for cell in range(len(study.cells)):
            yield Task(name, cell, chunk, min(study.chunk, trials - start))
