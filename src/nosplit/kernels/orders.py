"""Orders of rows and of columns that neither units nor the places of columns have a part in.

And ranks, which are orders of single columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index

__all__ = [
    "SortedColumns",
    "column_order",
    "rank_shares",
    "row_keys",
    "sorted_columns",
    "sorted_rows",
]


def sorted_rows(rows: Array) -> tuple[Array, Index]:
    """Rows in an order of their own, and the place of each of the given rows in it.

    Equal rows have the same place. What is made of the sorted rows is therefore the same, to the
    last bit, whichever sample a row is from. Columns in another order, or in other units, leave
    the order as it is, but for rows whose ranks are the same in columns of the same ties.
    """
    keys = row_keys(rows)
    order = np.argsort(keys, kind="stable")
    if np.any(keys[order[1:]] == keys[order[:-1]]):
        order = np.lexsort((*rows.T[::-1], keys))
    ordered = rows[order]
    new = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
    return ordered, place


def row_keys(rows: Array) -> NDArray[np.int64]:
    """A number for each row, mixed from its ranks in all columns; columns are told by their ties.

    Any order would do. That of one column, say, would make landmarks depend on which is the first.
    """
    keys = np.zeros(len(rows), dtype=np.uint64)
    for column in np.ascontiguousarray(rows.T):
        own = _mixed_bits(_dense_ranks(column))
        keys += _mixed_bits(own + _mixed_bits(own.sum(keepdims=True)))
    return keys.view(np.int64)


def column_order(rows: Array) -> Index:
    """Columns in an order of their own: that of numbers mixed from the ranks of their values.

    Columns in other places, or in other units, have the same order. Those with the same ranks in
    all rows go by their largest and smallest values, and by their places only where these agree.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(8, 3))
    >>> column_order(rows), column_order(5.0 * rows[:, [2, 0, 1]] + 1.0)
    (array([0, 1, 2]), array([1, 2, 0]))
    """
    salt = _mixed_bits(np.arange(1, len(rows) + 1, dtype=np.uint64))
    columns = np.ascontiguousarray(rows.T)
    keys = [_mixed_bits(_dense_ranks(column) + salt).sum() for column in columns]
    return np.lexsort((columns.min(axis=1), columns.max(axis=1), np.array(keys, dtype=np.uint64)))


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
    """Sort every column of some rows, (n, p); equal values have their mean rank."""
    n, p = rows.shape
    order = np.argsort(rows, axis=0)
    ordered = np.take_along_axis(rows, order, axis=0)
    new, ends = ordered[1:] != ordered[:-1], np.ones((1, p), bool)
    place = np.arange(n)[:, None]
    first = np.maximum.accumulate(np.where(np.concatenate([ends, new]), place, 0), axis=0)
    last = np.where(np.concatenate([new, ends]), place, n - 1)
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    return SortedColumns(order, first + last + 1, np.count_nonzero(new, axis=0) + 1)


def rank_shares(rows: NDArray[Any]) -> Array:
    """Ranks of all columns as shares of the number of rows, (n, p).

    Examples
    --------
    >>> rank_shares(np.array([[3.0], [1.0], [3.0], [7.0]])).ravel().tolist()
    [0.5, 0.125, 0.5, 0.875]
    """
    columns = sorted_columns(rows)
    return columns.back(columns.twice / (2.0 * len(rows)))


def _dense_ranks(column: Array) -> NDArray[np.uint64]:
    """Ranks from 0; equal values have the same, and there are no gaps."""
    order = np.argsort(column)
    values = column[order]
    found = np.zeros(len(column), dtype=np.uint64)
    np.cumsum(values[1:] != values[:-1], out=found[1:])
    ranks = np.empty(len(column), dtype=np.uint64)
    ranks[order] = found
    return ranks


def _mixed_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Well-mixed bits (the last steps of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
