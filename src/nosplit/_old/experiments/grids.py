"""Studies on the paper's data: samples drawn, base statistics computed, methods compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from nosplit._old.experiments.running.work import Cell, Chunk
from nosplit._old.experiments.statistics import (
    METHODS,
    SPLITS,
    Statistics,
    count_rejections,
    pair_values,
    stack,
)
from nosplit.datasets import DATASETS
from nosplit.kernels import median_bandwidth, paper_kernels, polynomial_kernels

__all__ = ["COMBINED", "SETS", "SIZES", "Grid", "Polynomials"]

Array = NDArray[np.float64]

# Rows in each sample: the paper's figures 2, 8, 9 and 10.
SIZES: Mapping[str, Sequence[int]] = {
    "diff_var": (500, 1900, 3300, 4700, 6100),
    "mnist": (400, 800, 1400, 2200, 3200),
    "blobs": (1000, 2500, 4000, 6000, 9000),
}
# The paper's three sets of kernels, as places in the largest of them.
SETS: Mapping[int, Sequence[int]] = {1: (2,), 2: (2, 5), 6: range(6)}
# Methods that combine kernels by Σβ ≥ 0, and those they are compared with.
COMBINED = ("ost", "ost_default", "wald", *(f"split{f:g}" for f in SPLITS), "naive")
# Rows of each sample that the median heuristic looks at; the authors take 500.
MEDIAN_ROWS = 100


@dataclass(frozen=True)
class Grid:
    """Three datasets, five sizes and three sets of kernels; P ≠ Q, or P = Q."""

    number: int
    null: bool
    methods: Sequence[str] = tuple(METHODS)
    trials: int = 5000
    chunk: int = 100

    @property
    def cells(self) -> Sequence[Cell]:
        """Datasets and sample sizes."""
        return [Cell(dataset, n) for dataset, sizes in SIZES.items() for n in sizes]

    def run(self, cell: Cell, trials: int, rng: Generator) -> Chunk:
        """Do some trials of a cell."""
        data = DATASETS[cell.dataset]
        samples = (data.sample(cell.n, rng, null=self.null) for _ in range(trials))
        statistics = stack(_six_kernels(x, y) for x, y in samples)
        return Chunk(count_rejections(statistics, SETS, self.methods, cell))


def _six_kernels(x: Array, y: Array) -> Statistics:
    bandwidth = median_bandwidth(np.concatenate([x[:MEDIAN_ROWS], y[:MEDIAN_ROWS]]))
    return Statistics.of_values(pair_values(x, y, paper_kernels(6, bandwidth)))


@dataclass(frozen=True)
class Polynomials:
    """The first d = 1…5 polynomial kernels on two symmetric laws with the same variance.

    The paper gives neither the laws nor n. With uniform and Laplace laws, 16,000 rows in each
    sample make d = 4 informative: the one-sided test then rejects about as often as not.
    """

    number: int
    trials: int = 5000
    chunk: int = 50
    n: int = 16_000
    degrees: int = 5

    @property
    def cells(self) -> Sequence[Cell]:
        """Datasets and sample sizes."""
        return [Cell("symmetric", self.n)]

    def run(self, cell: Cell, trials: int, rng: Generator) -> Chunk:
        """Do some trials of a cell."""
        data, kernels = DATASETS[cell.dataset], polynomial_kernels(self.degrees)
        samples = (data.sample(cell.n, rng) for _ in range(trials))
        statistics = stack(Statistics.of_values(pair_values(x, y, kernels)) for x, y in samples)
        sets = {d: range(d) for d in range(1, self.degrees + 1)}
        return Chunk(count_rejections(statistics, sets, COMBINED, cell))
