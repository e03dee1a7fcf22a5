"""Columns of pooled rows: their ranks, normal scores and bins, independent of labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._types import Array, Index

__all__ = ["RankedColumns", "normal_scores", "number_of_bins", "rank_columns"]

# Bins of a column of numbers: a dozen rows each up to 32, then forty up to 128.
ROWS_A_BIN, MAX_FEW_BINS, ROWS_A_FINE_BIN, MAX_BINS = 12, 32, 40, 128
# Rows of a category that has a bin of its own; others share one.
ROWS_A_CATEGORY = 10
# Different values that a column of numbers has at least, whose middle differs from its ends.
MIN_DIFFERENT = 3


class RankedColumns(NamedTuple):
    """Columns of pooled rows by their ranks, and in bins.

    Attributes
    ----------
    twice : array of int, shape (n, p)
        Twice the mid-rank of each row in each column, from 1 to 2n - 1.
    code : array of int, shape (n, p)
        Bin of each row in each column.
    counts : array of int, shape (p, B)
        Rows in each bin; columns with fewer than B bins have empty ones.
    scored : array of int, shape (q,)
        Columns of numbers of three different values or more.
    keys : array of int, shape (n,)
        A number for each row, mixed from its ranks. Equal rows have the same, and few others do.
    """

    twice: NDArray[np.int32]
    code: NDArray[np.int16]
    counts: Index
    scored: Index
    keys: NDArray[np.uint64]

    def some(self, order: Index) -> RankedColumns:
        """The same of some rows, in this order."""
        twice, code = (
            np.ascontiguousarray(self.twice[order]),
            np.ascontiguousarray(self.code[order]),
        )
        return self._replace(twice=twice, code=code, keys=self.keys[order])

    @property
    def shares(self) -> Array:
        """Ranks in the columns of numbers as shares of the rows, (n, q)."""
        return self.twice[:, self.scored] / (2.0 * len(self.twice))

    @property
    def scores(self) -> Array:
        """Normal scores in the columns of numbers, (n, q)."""
        return normal_scores(len(self.twice))[self.twice[:, self.scored]]


def normal_scores(n: int) -> Array:
    """Normal scores of n rows by twice their mid-ranks (van der Waerden)."""
    return np.asarray(special.ndtri(np.clip(np.arange(2 * n) / (2.0 * n), 0.25 / n, 1.0)))


def number_of_bins(rows: int) -> int:
    """Number of bins of a column of numbers, from the number of pooled rows."""
    few = min(rows // ROWS_A_BIN, MAX_FEW_BINS)
    return max(4, few, min(rows // ROWS_A_FINE_BIN, MAX_BINS))


def rank_columns(rows: Array, categories: NDArray[np.bool_], count: int) -> RankedColumns:
    """Rank columns, and bin them: numbers by their ranks, categories by frequent values.

    Bins of numbers have about equally many rows. A value that as many rows share has its own.

    Parameters
    ----------
    rows : array, shape (n, p)
        Pooled rows.
    categories : array of bool, shape (p,)
        Columns whose values are compared for equality only.
    count : int
        Bins of a column of numbers without ties.
    """
    from nosplit.backend.numba.columns import rank_and_bin

    n, p = rows.shape
    columns = np.ascontiguousarray(rows.T)
    twice, code = np.empty((p, n), np.int32), np.empty((p, n), np.int16)
    different, keys = np.zeros(p, np.int64), np.zeros(n, np.uint64)
    rank_and_bin(columns, np.argsort(columns, axis=1), count, twice, code, different, keys)
    for j in np.flatnonzero(categories):
        code[j] = _frequent(columns[j])
    width = int(code.max(initial=0)) + 1
    flat = (code + width * np.arange(p)[:, None]).ravel()
    counts = np.bincount(flat, minlength=p * width).reshape(p, width)
    scored = np.flatnonzero((different >= MIN_DIFFERENT) & ~categories)
    return RankedColumns(twice.T, code.T, counts, scored, keys)


def _frequent(column: Array) -> NDArray[np.int16]:
    """Codes of categories, the most frequent first; rare ones share the last code."""
    values, place, rows = np.unique(column, return_inverse=True, return_counts=True)
    often = np.argsort(-rows, kind="stable")[: MAX_BINS - 1]
    often = often[rows[often] >= ROWS_A_CATEGORY]
    rank = np.full(len(values), len(often))
    rank[often] = np.arange(len(often))
    return rank[place.ravel()].astype(np.int16)
