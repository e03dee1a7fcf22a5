"""Changes of a column of which only counts of its bins are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nosplit._support.changes import Change, change_of_categories, change_of_numbers
from nosplit._support.types import Array
from nosplit.sketch.bins import ColumnBins

__all__ = ["change_of_bins", "change_of_codes"]


def change_of_bins(
    bins: ColumnBins,
    counts: Array,
    missing: Sequence[float],
    value: Callable[[Array], Array],
    fill: float,
    say: Callable[[float], str],
) -> Change:
    """Describe what changed in a column of numbers.

    Parameters
    ----------
    bins : ColumnBins
        Its bins.
    counts : array, shape (2, k)
        Rows of x and of y in each of them.
    missing : pair of float
        Shares of rows that have no value; they are counted as `fill`.
    value : callable
        From numbers as they were binned to the units of the column.
    fill : float
        What a missing number was counted as.
    say : callable
        How values are written.
    """
    sizes = counts.sum(axis=1)
    counts = counts.copy()
    counts[:, np.searchsorted(bins.edges, fill)] -= sizes * np.asarray(missing)
    present = np.maximum(counts, 0.0)
    below = np.cumsum(present, axis=1) / np.maximum(present.sum(axis=1, keepdims=True), 1.0)
    apart = float(np.abs(below[0] - below[1]).max())
    quartiles = np.zeros((2, 3))
    if len(bins.edges):
        quartiles = np.stack([_quartiles(bins.edges, share[:-1]) for share in below])
    return change_of_numbers(apart, value(quartiles), sizes, missing, say)


def _quartiles(edges: Array, below: Array) -> Array:
    """Quartiles, between edges by straight lines; values that many rows share have no width."""
    return np.asarray(np.interp([0.25, 0.5, 0.75], np.maximum.accumulate(below), edges))


def change_of_codes(
    bins: ColumnBins, counts: Array, missing_code: float, name: Callable[[float], str]
) -> Change:
    """Describe what changed in a column of categories; one of them stands for missing values."""
    sizes = counts.sum(axis=1)
    shares = counts / np.maximum(sizes[:, None], 1.0)
    codes = np.append(bins.edges, np.nan)
    gone = codes == missing_code
    missing = shares[:, gone].sum(axis=1)
    left = codes[~gone]
    return change_of_categories(shares[:, ~gone], sizes, missing, lambda k: name(float(left[k])))
