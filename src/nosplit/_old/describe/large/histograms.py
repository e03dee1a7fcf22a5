"""Histograms of columns in place of rows: what a profile tells of single columns.

A profile counts the rows of its cells in bins of every column, and holds no row. A column's own
share of the difference is Σ_b (p_b - q_b) g(b): how often x and y are in each of its bins, and what
the witness function is on average at rows of the other sample with a value of that bin put in. It
is what `attribution` calls alone; what would be lost without the column needs rows of both samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.attribution import ColumnEffect
from nosplit._old.describe.large.cells import CellWitness
from nosplit._old.describe.large.shares import relative_to
from nosplit._old.sketch.bins import ColumnBins
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Array, Index

__all__ = ["BinnedFold", "columns_of_bins", "counts_of"]

# Rows at which the witness function is looked at for a bin in which there are none.
FEW = 64


def counts_of(cells: CellSums, part: Index, parts: int) -> Array:
    """Rows in all bins, (parts, Q), of the cells of each part."""
    return np.stack([cells.bins[part == k].sum(axis=0, dtype=np.float64) for k in range(parts)])


class BinnedFold(NamedTuple):
    """A witness function, and rows that it was not learned on: of one sample, and in bins of both.

    `counts` has the rows of x and of y in all bins, (2, Q).
    """

    function: CellWitness
    rows: NDArray[Any]
    counts: Array


def columns_of_bins(
    folds: Sequence[BinnedFold],
    columns: Mapping[str, Sequence[int]],
    total: float,
    error: float,
    rng: np.random.Generator,
) -> tuple[ColumnEffect, ...]:
    """Share of the learned statistic that each column shows alone.

    Parameters
    ----------
    folds : sequence of BinnedFold
        Two of them.
    columns : mapping
        Columns of the rows that belong to a named one.
    total, error : float
        The learned statistic over all rows, and its standard error.
    rng : Generator
        Source of the shuffling.
    """
    if len(columns) == 1:  # it carries all there is
        return tuple(ColumnEffect(name, 1.0, 0.0, total, None, total) for name in columns)
    seen = [_Seen.of(fold, rng) for fold in folds]
    return tuple(_share(name, seen, group, total, error) for name, group in columns.items())


def _share(
    name: str, folds: Sequence[_Seen], group: Sequence[int], total: float, error: float
) -> ColumnEffect:
    alone, variance, slope = np.mean([fold.alone(group) for fold in folds], axis=0)
    share = relative_to(total, error, alone, variance / len(folds), slope)
    return ColumnEffect(name, *share, float(alone), None, float(alone))


class _Seen(NamedTuple):
    """Rows of a fold, the bins that they are in, the witness function there, and another order."""

    fold: BinnedFold
    places: NDArray[np.uint8]
    values: Array
    order: Index

    @classmethod
    def of(cls, fold: BinnedFold, rng: np.random.Generator) -> _Seen:
        from nosplit.backend.numba.sketch import bin_places

        rows, (edges, _, *bins) = fold.rows, fold.function.map.edges
        places = np.empty((len(edges), len(rows)), np.uint8)
        bin_places(np.asarray(rows, np.float64), edges, *bins, places)
        return cls(fold, places.T, fold.function(rows), rng.permutation(len(rows)))

    def alone(self, group: Sequence[int]) -> tuple[float, float, float]:
        """The difference as columns show it by themselves, its variance, and its slope."""
        found = variance = 0.0
        own = np.zeros(len(self.values))
        for j in group:
            gap, noise, levels = self._column(j)
            found, variance = found + gap, variance + noise
            own += levels[self.places[:, j]]
        rest, along = self.values - self.values.mean(), own - own.mean()
        spread = float(rest @ rest)
        slope = float(along @ rest) / spread if spread > 0 else 0.0
        both = spread * float(along @ along)
        left = 1.0 - float(along @ rest) ** 2 / both if both > 0 else 1.0
        return found, variance * left, slope

    def _column(self, j: int) -> tuple[float, float, Array]:
        """Difference of means of the function over the bins of a column, its variance, the bins."""
        sketch = self.fold.function.map
        first = int(sketch.edges.starts[j])
        counts = self.fold.counts[:, first : first + len(sketch.bins[j])]
        levels, noise = self._levels(j, counts.sum(axis=0) > 0)
        sizes = counts.sum(axis=1, keepdims=True)
        p, q = shares = counts / sizes
        means = shares @ levels
        variance = ((shares @ levels**2 - means**2) / sizes[:, 0]).sum()
        return float((p - q) @ levels), float(variance + ((p - q) ** 2) @ noise), levels

    def _levels(self, j: int, wanted: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Means of the function in each bin of a column, and their variances."""
        rows, bins = self.fold.rows.copy(), self.fold.function.map.bins[j]
        rows[:, j], place = rows[self.order, j], self.places[self.order, j]
        values = self.fold.function(rows)
        n = np.bincount(place, minlength=len(bins)).astype(np.float64)
        levels = np.bincount(place, values, len(bins)) / np.maximum(n, 1.0)
        for b in np.flatnonzero(wanted & (n == 0)):
            few = rows[:FEW].copy()
            few[:, j] = value_in_bin(bins, int(b))
            levels[b], n[b] = self.fold.function(few).mean(), len(few)
        within = values - levels[place]
        return levels, np.mean(within**2) / np.maximum(n, 1.0)


def value_in_bin(bins: ColumnBins, b: int) -> float:
    """A value that a bin holds: its category, or the middle of its edges."""
    edges = bins.edges
    if b == len(edges):
        return float(np.nextafter(edges[-1], np.inf)) if len(edges) else 0.0
    if b == 0 or bins.categories:
        return float(edges[b])
    middle = edges[b - 1] + (edges[b] - edges[b - 1]) / 2.0
    return float(middle if middle > edges[b - 1] else edges[b])
