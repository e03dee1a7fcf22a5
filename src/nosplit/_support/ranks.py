"""Ranks of all columns at once; those of values that are alike are their mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index

__all__ = ["SortedColumns", "shares", "sorted_columns"]


class SortedColumns(NamedTuple):
    """Columns in ascending order.

    Attributes
    ----------
    order : array of int, shape (n, p)
        The rows in the order of each column.
    twice : array of int, shape (n, p)
        Twice the ranks of the sorted values, between 1 and 2n - 1.
    different : array of int, shape (p,)
        How many different values each column has.
    """

    order: Index
    twice: Index
    different: Index

    def back(self, values: Array) -> Array:
        """Numbers of sorted values, in the order of the rows."""
        found = np.empty_like(values)
        np.put_along_axis(found, self.order, values, axis=0)
        return found


def sorted_columns(rows: NDArray[Any]) -> SortedColumns:
    """Sort every column of some rows, (n, p)."""
    n, p = rows.shape
    order = np.argsort(rows, axis=0)
    ordered = np.take_along_axis(rows, order, axis=0)
    new, ends = ordered[1:] != ordered[:-1], np.ones((1, p), bool)
    place = np.arange(n)[:, None]
    first = np.maximum.accumulate(np.where(np.concatenate([ends, new]), place, 0), axis=0)
    last = np.where(np.concatenate([new, ends]), place, n - 1)
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    return SortedColumns(order, first + last + 1, np.count_nonzero(new, axis=0) + 1)


def shares(rows: NDArray[Any]) -> Array:
    """Ranks of all columns as shares of the number of rows, (n, p).

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([[3.0], [1.0], [3.0], [7.0]])).ravel().tolist()
    [0.5, 0.125, 0.5, 0.875]
    """
    columns = sorted_columns(rows)
    return columns.back(columns.twice / (2.0 * len(rows)))
