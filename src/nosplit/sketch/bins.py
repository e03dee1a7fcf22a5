"""Bins of single columns: what one column shows, whatever its units, tails and ties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index

__all__ = [
    "ColumnBins",
    "bin_scores",
    "dependent_pairs",
    "edge_table",
    "fit_bins",
    "fit_pooled",
    "joined_bins",
    "number_of_bins",
]


# The compiled search knows the first number.
MOST_BINS = 128
# Fewest pilot rows of a bin, and of a category that has one of its own.
PILOT_OF_BIN, PILOT_OF_CATEGORY = 8, 3
# Where bins are made of all rows: rows of a category, bins of a column, and of all of them.
ROWS_A_CATEGORY, FEWEST_BINS, BINS_OF_ALL = 10, 16, 8192


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


def fit_bins(
    column: Array,
    *,
    categories: bool,
    most: int,
    count: int | None = None,
    fewest: int = PILOT_OF_CATEGORY,
) -> ColumnBins:
    """Bins of about equally many pooled rows; values that many rows share have bins of their own.

    Parameters
    ----------
    column : array, shape (n,)
        Pooled values.
    categories : bool
        Whether values are compared for equality only.
    most : int
        Bins at the most.
    count : int, optional
        Bins of numbers without ties; as many as there are eight rows for by default.
    fewest : int
        Rows of a category that has a bin of its own.
    """
    values, counts = np.unique(column, return_counts=True)
    if categories:
        often = np.argsort(-counts, kind="stable")[: most - 1]
        often = often[counts[often] >= fewest]
        return ColumnBins(np.sort(values[often]), True)
    count = max(2, min(most, count or len(column) // PILOT_OF_BIN))
    middle = np.quantile(column, np.arange(1, count) / count, method="inverted_cdf")
    return joined_bins(middle, values[counts >= max(2, len(column) // count)], most)


def number_of_bins(rows: int, p: int) -> int:
    """Bins of a column of so many pooled rows: a dozen rows a bin up to 32, then 40 up to 128."""
    count = max(4, min(rows // 12, 32), min(rows // 40, MOST_BINS))
    return min(count, max(FEWEST_BINS, BINS_OF_ALL // p))


def fit_pooled(
    pooled: Array, categorical: Collection[int], most: int = MOST_BINS
) -> list[ColumnBins]:
    """Bins of all columns of all rows that are tested: no swap changes them."""
    count = min(most, number_of_bins(*pooled.shape))
    return [
        fit_bins(
            column,
            categories=j in categorical,
            most=most if j in categorical else min(most, 2 * count + 2),
            count=count,
            fewest=ROWS_A_CATEGORY,
        )
        for j, column in enumerate(pooled.T)
    ]


def joined_bins(middle: Array, shared: Array, most: int) -> ColumnBins:
    """Bins of numbers, from quantiles and from values that many rows share."""
    edges = np.unique(np.concatenate([middle, shared, np.nextafter(shared, -np.inf)]))
    return ColumnBins(edges[: most - 1] if len(edges) >= most else edges, False)


def edge_table(bins: Sequence[ColumnBins]) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Edges of bins filled up with infinity, where bins begin, and numbers of categories."""
    filled = np.full((len(bins), MOST_BINS - 1), np.inf)
    for row, own in zip(filled, bins, strict=True):
        row[: len(own.edges)] = own.edges
    starts = np.concatenate([[0], np.cumsum([len(b) for b in bins])[:-1]])
    counted = [len(b.edges) if b.categories else -1 for b in bins]
    return filled, starts.astype(np.int64), np.array(counted, dtype=np.int64)


def bin_scores(bins: Sequence[ColumnBins], key: int) -> NDArray[np.float32]:
    """Two scores of every bin of every column, (p, bins, 2): orthogonal, of variance one.

    Numbers have the first two cosines of their rank. Categories have signs at random, the same for
    columns of as many bins, so that they do not change with the order of columns.
    """
    scores = np.zeros((len(bins), MOST_BINS, 2), np.float32)
    for j, own in enumerate(bins):
        rank = (np.arange(len(own)) + 0.5) / len(own)
        waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(rank, (1.0, 2.0)))
        rng = np.random.Generator(
            np.random.Philox(key=np.array([key, 2**32 + len(own)], np.uint64))
        )
        signs = rng.choice((-1.0, 1.0), (len(own), 2))
        scores[j, : len(own)] = signs if own.categories else waves
    return scores


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
