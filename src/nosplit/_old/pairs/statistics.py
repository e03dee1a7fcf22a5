"""Statistics under every draw: what exact calibration ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nosplit._lazy import special
from nosplit._types import Array, Index

__all__ = [
    "CUMULATIVE",
    "FINE",
    "PLACE",
    "SMOOTH",
    "SPREAD",
    "ColumnDraws",
    "DrawnStatistics",
    "Seen",
    "own_tails",
]

# What statistics show of a column: shares of rows below thresholds, or in bins; where a column of
# numbers lies, and how wide it is; and its shape, where it is the only one.
CUMULATIVE, FINE, PLACE, SPREAD = "cumulative", "fine", "place", "spread"
SMOOTH = "smooth"
# Share of the draws that tell how much a column has in its tail.
TAIL = 0.1


def own_tails(scores: Array, null: Array) -> Array:
    """Scores as -log of the probability of as much, by the tail that each column has.

    The best of several statistics has more in its tail than a normal score. How many times as
    much, draws of the null law tell: all of them, that of the data included, so that no swap
    changes it.
    """
    tails = special.log_ndtr(-null)
    count = max(1, round(TAIL * len(null)))
    from_here = np.partition(tails, count - 1, axis=0)[count - 1]
    share = np.count_nonzero(tails <= from_here, axis=0) / len(null)
    return np.asarray(from_here - np.log(share) - special.log_ndtr(-scores))


@dataclass(frozen=True, eq=False)
class ColumnDraws:
    """Statistics of single columns under every draw, the observed one first.

    Attributes
    ----------
    values : array, shape (F, k)
        Statistics about their means, in standard deviations.
    shapes : array, shape (k,)
        Shapes of the gamma laws that they nearly have under the draws, so that columns of
        different kinds can be compared by their tails.
    columns : array of int, shape (k,)
        Which column each of them looks at.
    shows : array of str, shape (k,)
        What each of them shows of its column, where that is told apart.
    both : sequence of pair of int
        The two columns that each stands for, where they are pairs.
    """

    values: Array
    shapes: Array
    columns: np.ndarray
    shows: np.ndarray
    both: Sequence[tuple[int, int]] = ()

    def showing(self, *what: str) -> Array:
        """The statistics that show something of columns, (F, columns that have it)."""
        return self.values[:, np.isin(self.shows, what)]

    @classmethod
    def joined(cls, parts: Sequence[ColumnDraws]) -> ColumnDraws:
        """Statistics of some columns beside those of others."""
        return cls(
            np.concatenate([part.values for part in parts], axis=1),
            np.concatenate([part.shapes for part in parts]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.shows for part in parts]),
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.columns.max(initial=-1)) + 1

    @property
    def starts(self) -> Index:
        """Positions at which the statistics of each column begin."""
        return np.asarray(np.searchsorted(self.columns, np.arange(self.n_columns)))

    @cached_property
    def scores(self) -> Array:
        """Normal scores of each column under each draw, (F, columns): of its best statistic.

        Columns have different laws: a flag's is nearly that of one squared normal, that of many
        bins nearly normal. What is compared is therefore their tails, by the cube root of a gamma
        law (Wilson and Hilferty), which is nearly normal.
        """
        root, spread = np.sqrt(self.shapes), 1.0 / (9.0 * self.shapes)
        scores = self.values / root
        scores += 1.0
        np.cbrt(np.maximum(scores, 0.0, out=scores), out=scores)
        scores -= 1.0 - spread
        scores /= np.sqrt(spread)
        return np.asarray(np.maximum.reduceat(scores, self.starts, axis=1))

    @cached_property
    def tails(self) -> Array:
        """Scores by the tail that each column has under the draws."""
        return own_tails(self.scores, self.scores)


class Seen(NamedTuple):
    """Statistics of rows besides the kernels: the last fields of `DrawnStatistics`."""

    flat_tau: Array
    flat_cov: Array
    columns: ColumnDraws | None
    pairs: ColumnDraws | None
    distances: Array | None


@dataclass(frozen=True, eq=False)
class DrawnStatistics:
    """Statistics of kernels under every draw, the observed one first, and what goes with them.

    Attributes
    ----------
    tau : array, shape (F, d)
        Statistics of the kernels.
    cov : array, shape (d, d)
        Their covariance matrix, which no draw changes.
    n_units, n_pairs : int
        Units, and pairs of them.
    flat_tau, flat_cov : array, shape (F, s) and (s, s)
        The same of kernels with flattened spectra; s = 0 if there are none.
    columns, pairs : ColumnDraws or None
        What single columns show, and pairs of columns.
    distances : array, shape (F,), or None
        What distances of rows from the middle show, about its mean.
    """

    tau: Array
    cov: Array
    n_units: int
    n_pairs: int
    flat_tau: Array = field(default_factory=lambda: np.zeros((0, 0)))
    flat_cov: Array = field(default_factory=lambda: np.zeros((0, 0)))
    columns: ColumnDraws | None = None
    pairs: ColumnDraws | None = None
    distances: Array | None = None

    def of_kernels(self) -> DrawnStatistics:
        """The statistics of the plain kernels alone."""
        return DrawnStatistics(self.tau, self.cov, self.n_units, self.n_pairs)
