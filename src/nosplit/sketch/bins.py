"""Bins of single columns: what one column shows, whatever its units, tails and ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._support.types import Array, Index

__all__ = ["ColumnBins", "dependent_pairs", "fit_bins"]


# Fewest pilot rows of a bin, and of a category that has one of its own.
ROWS_A_BIN, ROWS_A_CATEGORY = 8, 3


@dataclass(frozen=True, eq=False)
class ColumnBins:
    """The bins of one column.

    Attributes
    ----------
    edges : array, shape (k,)
        Numbers: bin j holds values above edge j - 1, up to edge j. Categories: the codes that
        have a bin each; all others share the last.
    categories : bool
        Whether values are compared for equality only.
    """

    edges: Array
    categories: bool

    def __len__(self) -> int:
        return len(self.edges) + 1


def fit_bins(column: Array, *, categories: bool, most: int) -> ColumnBins:
    """Bins of about equally many pooled rows; values that many rows share have bins of their own.

    Parameters
    ----------
    column : array, shape (n,)
        Pooled values of pilot rows.
    categories : bool
        Whether values are compared for equality only.
    most : int
        Bins at the most.
    """
    values, counts = np.unique(column, return_counts=True)
    if categories:
        often = np.argsort(-counts, kind="stable")[: most - 1]
        often = often[counts[often] >= ROWS_A_CATEGORY]
        return ColumnBins(np.sort(values[often]), True)
    count = max(2, min(most, len(column) // ROWS_A_BIN))
    middle = np.quantile(column, np.arange(1, count) / count, method="inverted_cdf")
    shared = values[counts >= max(2, len(column) // count)]
    edges = np.unique(np.concatenate([middle, shared, np.nextafter(shared, -np.inf)]))
    return ColumnBins(edges[: most - 1] if len(edges) >= most else edges, False)


def dependent_pairs(rows: Array, most: int) -> Index:
    """Pairs of columns: all of them, or those with the largest rank correlations.

    Where there are too many to look at all, a dependence that there is may change.
    """
    p = rows.shape[1]
    pairs = np.column_stack(np.triu_indices(p, 1))
    if len(pairs) <= most:
        return pairs
    ranks = np.argsort(np.argsort(rows, axis=0, kind="stable"), axis=0) / len(rows) - 0.5
    strength = np.abs(ranks.T @ ranks)[pairs[:, 0], pairs[:, 1]]
    return pairs[np.sort(np.argsort(-strength, kind="stable")[:most])]
