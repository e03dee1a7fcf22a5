"""Studies on normal vectors: Theorem 1, without any data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from nosplit._old.experiments.running.work import Cell, Chunk, Count
from nosplit._old.experiments.statistics import ALPHA
from nosplit.methods import Nonnegative

__all__ = ["LEVELS", "Geometry", "Theorem", "random_covariance"]

Array = NDArray[np.float64]

# Levels at which the law of the statistic is compared with the chi law.
LEVELS = (0.9, 0.7, 0.5, 0.3, 0.1, 0.05)
# Seed of the random Σ of figure 4; like the paper's, its 𝒰 is {1, 2} in about 4 % of draws.
COVARIANCE_SEED = 8
BATCH = 4000
_PATTERNS = {"u1": (1, 0), "u2": (0, 1), "u12": (1, 1)}


@cache
def random_covariance(d: int = 4) -> Array:
    """A random d × d covariance matrix, AA' with standard normal entries of A."""
    A = np.random.default_rng(COVARIANCE_SEED).standard_normal((d, d))
    return np.asarray(A @ A.T)


def _given(pattern: Sequence[int], cov: Array, trials: int, rng: Generator) -> tuple[Array, Array]:
    """Statistics and log p-values of draws from N(0, Σ) with this active set."""
    root, wanted = np.linalg.cholesky(cov), np.array(pattern, dtype=bool)
    statistic, log_pvalue = np.empty(0), np.empty(0)
    while len(statistic) < trials:
        out = Nonnegative()(rng.standard_normal((BATCH, len(cov))) @ root.T, cov)
        kept = (out.active == wanted).all(axis=1)
        statistic = np.concatenate([statistic, out.statistic[kept]])
        log_pvalue = np.concatenate([log_pvalue, out.log_pvalue[kept]])
    return statistic[:trials], log_pvalue[:trials]


@dataclass(frozen=True)
class Theorem:
    """The statistic max β'τ / √(β'Σβ) over β ≥ 0, given that 𝒰 = {1, 2}: Theorem 1 says χ₂.

    A trial is a draw with that active set; the others are thrown away.
    """

    number: int
    trials: int = 5000
    chunk: int = 500

    @property
    def cells(self) -> Sequence[Cell]:
        """One vector of statistics."""
        return [Cell("normal_u12", 1)]

    def run(self, cell: Cell, trials: int, rng: Generator) -> Chunk:
        """Do some trials of a cell."""
        cov = random_covariance()
        found, logs = _given((1, 1, 0, 0), cov, trials, rng)
        counts = [
            Count(cell.dataset, len(cov), cell.n, name, trials, _rejected(logs, level))
            for name, level in theorem_methods().items()
        ]
        return Chunk(tuple(counts), tuple(float(v) for v in found))


def theorem_methods() -> Mapping[str, float]:
    """Names in the table and their levels; the test's own level has the plain name."""
    return {
        "nonnegative" if level == ALPHA else f"nonnegative@{level:g}": level for level in LEVELS
    }


@dataclass(frozen=True)
class Geometry:
    """Two statistics with Σ = I: how often the test rejects given each active set."""

    number: int
    trials: int = 5000
    chunk: int = 500

    @property
    def cells(self) -> Sequence[Cell]:
        """One vector of statistics, by its active set."""
        return [Cell(f"normal_{name}", 1) for name in _PATTERNS]

    def run(self, cell: Cell, trials: int, rng: Generator) -> Chunk:
        """Do some trials of a cell."""
        pattern = _PATTERNS[cell.dataset.removeprefix("normal_")]
        _, logs = _given(pattern, np.eye(2), trials, rng)
        rejected = _rejected(logs, ALPHA)
        return Chunk((Count(cell.dataset, 2, cell.n, "nonnegative", trials, rejected),))


def _rejected(log_pvalue: Array, level: float) -> int:
    return int(np.count_nonzero(log_pvalue <= math.log(level)))
