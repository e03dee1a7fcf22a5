"""Values of some pairs of units, kept one by one: what a description of the data looks at.

A test folds its pairs into `Moments`. A description wants more of fewer pairs: the error of their
mean where the samples differ. Pairs that share a unit are then correlated, so the error is that of
dyadic data: the products of the deviations of all pairs of pairs that share a unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.core.order import Natural
from nosplit.core.pairings import Band, Window
from nosplit.families.paired import Paired
from nosplit.kernels.bank import Bank

__all__ = ["Means", "RowPairs", "nominal_ns", "row_pairs"]

# Pairs evaluated at a time.
JOB = 32768


@dataclass(frozen=True, eq=False)
class RowPairs:
    """The pairs (i, i + r mod N), r = 1…R, of N units of one row of either sample.

    With R = (N - 1) / 2 they are all pairs there are.
    """

    n_units: int
    R: int

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.n_units * self.R

    @cached_property
    def bands(self) -> list[Band]:
        """The pairs, cut into jobs."""
        return [b for b in Window(self.R).jobs(self.n_units, JOB) if isinstance(b, Band)]

    @cached_property
    def index(self) -> tuple[Index, Index]:
        """The two units of each pair, in the order of `values`."""
        left = [np.tile(np.arange(b.units.start, b.units.stop), self.R) for b in self.bands]
        lags = [np.repeat(np.arange(1, self.R + 1), len(b.units)) for b in self.bands]
        a = np.concatenate(left)
        return a, (a + np.concatenate(lags)) % self.n_units

    def values(self, x: NDArray[Any], y: NDArray[Any], bank: Bank, weights: Array) -> Array:
        """Values h of all pairs, (k, m), of k combinations of the kernels, (k, d)."""
        units = Paired(x, y, Natural(), Natural(), bank, range(self.n_units))
        parts = [weights @ units.values(band) for band in self.bands]
        return np.concatenate(parts, axis=1)


def nominal_ns(bank: Bank, width: int) -> float:
    """Nanoseconds of one core for a pair, rounded from measurements on a 2.8 GHz server core."""
    others = len(bank.others)
    return 40.0 + 2.0 * width + 5.0 * len(bank) + others * (400.0 + 20.0 * width)


def row_pairs(n_units: int, pairs: int) -> RowPairs:
    """About so many pairs of at most `n_units` units, which take part in two or more each."""
    n_units = max(3, min(n_units, pairs // 2))
    return RowPairs(n_units, max(1, min((n_units - 1) // 2, pairs // n_units)))


@dataclass(frozen=True, eq=False)
class Means:
    """Means of k values of pairs, with what their errors take.

    Attributes
    ----------
    mean : array, shape (k,)
        The means.
    cov : array, shape (k, k)
        Covariance of the values of one pair.
    shared : array, shape (k, k)
        What pairs that share a unit add to the covariance of the mean.
    n_pairs : int
        Number of pairs.
    """

    mean: Array
    cov: Array
    shared: Array
    n_pairs: int

    @classmethod
    def of_kernels(cls, x: NDArray[Any], y: NDArray[Any], bank: Bank, pairs: RowPairs) -> Means:
        """Means of the values of all kernels, of which none is kept."""
        units = Paired(x, y, Natural(), Natural(), bank, range(pairs.n_units))
        d, m = len(bank), pairs.n_pairs
        total, second, sums = np.zeros(d), np.zeros((d, d)), np.zeros((d, pairs.n_units))
        for band in pairs.bands:
            values = units.values(band)
            total += values.sum(axis=1)
            second += values @ values.T
            _add_by_unit(values, band, sums)
        mean = total / m
        sums -= 2 * pairs.R * mean[:, None]  # every unit takes part in so many pairs
        return cls.put_together(mean, second - m * np.outer(mean, mean), sums, m)

    @classmethod
    def of(cls, values: Array, pairs: RowPairs) -> Means:
        """Means of values (k, m) of pairs."""
        m = values.shape[1]
        mean = values.mean(axis=1)
        rest = values - mean[:, None]
        scatter = rest @ rest.T
        a, b = pairs.index
        sums = np.stack([_by_unit(row, a, b, pairs.n_units) for row in rest])
        return cls.put_together(mean, scatter, sums, m)

    @classmethod
    def put_together(cls, mean: Array, scatter: Array, sums: Array, m: int) -> Means:
        """Means of m pairs, from the scatter of their values and sums by unit less the mean."""
        # Every pair is in the sums of two units, with itself: what is left are pairs of pairs.
        return cls(mean, scatter / m, (sums @ sums.T - 2.0 * scatter) / m**2, m)

    def signal(self, weights: Array) -> float:
        """Mean of a combination."""
        return float(weights @ self.mean)

    def noise(self, weights: Array) -> float:
        """Standard deviation of the values of a combination over pairs."""
        return math.sqrt(max(float(weights @ self.cov @ weights), 0.0))

    def error(self, weights: Array) -> float:
        """Standard error of the mean of a combination.

        What pairs add that share a unit is a variance, so an estimate below 0 counts as 0.
        """
        shared = float(weights @ self.shared @ weights)
        return math.sqrt(self.noise(weights) ** 2 / self.n_pairs + max(shared, 0.0))


def _by_unit(values: Array, a: Index, b: Index, n_units: int) -> Array:
    """Sum of the values of the pairs that each unit takes part in."""
    return np.asarray(np.bincount(a, values, n_units) + np.bincount(b, values, n_units))


def _add_by_unit(values: Array, band: Band, sums: Array) -> None:
    """Add the values of a band, lag by lag, to the sums (d, N) of the units of their pairs."""
    by_lag = values.reshape(len(values), band.R, len(band.units))
    sums[:, band.units.start : band.units.stop] += by_lag.sum(axis=1)
    units = np.arange(band.units.start, band.units.stop)
    for r in range(band.R):
        sums[:, (units + r + 1) % sums.shape[1]] += by_lag[:, r]
