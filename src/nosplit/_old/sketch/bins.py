"""Bins of single columns: what one column shows, whatever its units, tails and ties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index

__all__ = [
    "ColumnBins",
    "EdgeTable",
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
# Equal steps by which bins are looked up.
STEPS = 2048
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
    ordered = np.sort(column)
    values, counts = np.unique(ordered, return_counts=True)
    if categories:
        often = np.argsort(-counts, kind="stable")[: most - 1]
        often = often[counts[often] >= fewest]
        return ColumnBins(np.sort(values[often]), True)
    count = max(2, min(most, count or len(column) // PILOT_OF_BIN))
    # The values that so many rows do not exceed, without the second thoughts of `np.quantile`.
    middle = ordered[np.ceil(len(column) * (np.arange(1, count) / count)).astype(np.int64) - 1]
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


class EdgeTable(NamedTuple):
    """The bins of all columns, as compiled loops look them up.

    Attributes
    ----------
    edges : array, shape (p, 128)
        Edges of bins, filled up with infinity.
    starts : array of int, shape (p,)
        Where the bins of each column begin.
    counted : array of int, shape (p,)
        Numbers of categories; -1 for numbers.
    lookups : array of uint8, shape (p, 2048)
        How many edges are below each of equal steps between the first edge and the last.
    grids : array, shape (p, 2)
        The first edge, and steps in a unit; 0 where more than two edges share a step.
    """

    edges: Array
    starts: NDArray[np.int64]
    counted: NDArray[np.int64]
    lookups: NDArray[np.uint8]
    grids: Array


def edge_table(bins: Sequence[ColumnBins]) -> EdgeTable:
    """The bins of all columns, as compiled loops look them up."""
    filled = np.full((len(bins), MOST_BINS), np.inf)
    lookups, grids = np.zeros((len(bins), STEPS), np.uint8), np.zeros((len(bins), 2))
    for j, own in enumerate(bins):
        filled[j, : len(own.edges)] = own.edges
        found = _in_steps(own.edges)
        if found is not None:
            lookups[j], grids[j] = found
    starts = np.concatenate([[0], np.cumsum([len(b) for b in bins])[:-1]])
    counted = [len(b.edges) if b.categories else -1 for b in bins]
    return EdgeTable(
        filled, starts.astype(np.int64), np.array(counted, dtype=np.int64), lookups, grids
    )


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # found in the steps of a unit
def _in_steps(edges: Array) -> tuple[NDArray[np.uint8], tuple[float, float]] | None:
    """Edges below each of equal steps, with the first edge and steps in a unit.

    None if there are no two edges, or more than two share a step: steps are found by the same
    arithmetic as for values, so that a value in a higher step is above an edge, whatever the
    rounding.
    """
    if len(edges) < 2:
        return None
    first, unit = float(edges[0]), float(STEPS / (edges[-1] - edges[0]))
    if not 0.0 < unit < np.inf:
        return None
    steps = np.minimum((edges - first) * unit, STEPS - 1).astype(np.int64)
    counts = np.bincount(steps, minlength=STEPS)
    if counts.max() > 2:
        return None
    return (np.cumsum(counts) - counts).astype(np.uint8), (first, unit)


def bin_scores(bins: Sequence[ColumnBins], key: int, twos: int = 1) -> NDArray[np.float32]:
    """Two scores of every bin of every column, (p, bins, 2): orthogonal, of variance one.

    Numbers have the first two cosines of their rank. Categories have signs at random, the same for
    columns of as many bins, so that they do not change with the order of columns. Of several `twos`
    all columns have the first, then numbers the next cosines, (twos p, bins, 2); those that bins do
    not tell apart are 0.
    """
    p = len(bins)
    scores = np.zeros((twos * p, MOST_BINS, 2), np.float32)
    for j, own in enumerate(bins):
        rank = (np.arange(len(own)) + 0.5) / len(own)
        waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(rank, (1.0, 2.0)))
        rng = np.random.Generator(
            np.random.Philox(key=np.array([key, 2**32 + len(own)], np.uint64))
        )
        signs = rng.choice((-1.0, 1.0), (len(own), 2))
        scores[j, : len(own)] = signs if own.categories else waves
        for two in range(1, 1 if own.categories else twos):
            number = 2 * two + np.array([1, 2])
            finer = np.sqrt(2.0) * np.cos(np.pi * np.outer(rank, number))
            scores[two * p + j, : len(own)] = finer * (number < len(own))
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
