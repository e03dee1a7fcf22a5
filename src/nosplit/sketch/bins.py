"""Bins of single columns: what one column shows, whatever its units, tails and ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._support.types import Array

__all__ = ["ColumnBins", "fit_bins"]


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
