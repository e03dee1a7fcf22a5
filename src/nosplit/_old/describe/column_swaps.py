"""Values of pairs of wide rows in which a column comes from elsewhere.

Distances and inner products are sums over columns. So those of rows with another column are the
sums there are, less what the column adds to them, plus what the other one adds: the work for a
column does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.pair_means import RowPairs
from nosplit._types import Array
from nosplit.kernels import aligned_base
from nosplit.kernels.bank import Bank

__all__ = ["Sums", "can_update"]

Both = tuple[NDArray[Any], NDArray[Any]]

# Signs of k(x, x'), k(y, y'), k(x, y') and k(y, x') in the value of a pair.
SIGNS = np.array([[1.0], [1.0], [-1.0], [-1.0]])
# Columns from which updating is faster than starting over.
WIDE = 128
BLOCK = 512


def can_update(bank: Bank, width: int) -> bool:
    """Whether all kernels are functions of sums over columns, and rows are wide enough."""
    return width >= WIDE and not bank.others


@dataclass(frozen=True, eq=False)
class Sums:
    """Squared distances, absolute ones and inner products of pairs, (4, m) each that is needed."""

    bank: Bank
    sq: Array
    l1: Array
    dot: Array

    @classmethod
    def of(cls, rows: Both, pairs: RowPairs, bank: Bank, columns: Sequence[int] | None) -> Sums:
        """Sums over some columns of the rows of all pairs, or over all of them."""
        sq, l1 = bank.want[:2]
        dot = bool(bank.want[2] or bank.linear)
        names = [name if wanted else "" for name, wanted in (("sq", sq), ("l1", l1), ("dot", dot))]
        if columns is None:
            parts = [_over_all(name, rows, pairs) for name in names]
        else:
            u, v = _sides([sample[:, list(columns)] for sample in rows], pairs, slice(None))
            parts = [_over(name, u, v) for name in names]
        return cls(bank, *parts)

    def values(self, weights: Array) -> Array:
        """Values of a combination of the kernels, (m,)."""
        m = max(q.shape[1] for q in (self.sq, self.l1, self.dot))
        h = np.empty((len(self.bank), m))
        self.bank.evaluate((self.sq, self.l1, self.dot), SIGNS, h)
        if self.bank.linear:
            h[self.bank.linear] = (SIGNS * self.dot).sum(axis=0)
        return np.asarray(weights @ h)

    def exchanged(self, less: Sums, more: Sums) -> Sums:
        """These sums, less some and plus others; a distance is never below 0."""
        sq, l1 = (
            np.maximum(a - b + c, 0.0)
            for a, b, c in ((self.sq, less.sq, more.sq), (self.l1, less.l1, more.l1))
        )
        return Sums(self.bank, sq, l1, self.dot - less.dot + more.dot)


def _sides(rows: Sequence[NDArray[Any]], pairs: RowPairs, some: slice) -> tuple[Array, Array]:
    """Rows on the left and on the right of the four kernels of some pairs, (4, M, columns)."""
    x, y = rows
    a, b = (index[some] for index in pairs.index)
    return np.stack([x[a], y[a], x[a], y[a]]), np.stack([x[b], y[b], y[b], x[b]])


def _over(name: str, u: Array, v: Array) -> Array:
    """One of the sums over the last axis; empty where it is not needed."""
    if not name:
        return np.empty((4, 0))
    if name == "dot":
        return np.asarray((u * v).sum(axis=2))
    gap = u - v
    return np.asarray((gap * gap if name == "sq" else np.abs(gap)).sum(axis=2))


def _over_all(name: str, rows: Both, pairs: RowPairs) -> Array:
    """One of the sums over all columns, a block of pairs at a time."""
    if not name:
        return np.empty((4, 0))
    parts = []
    for start in range(0, pairs.n_pairs, BLOCK):
        u, v = _sides(rows, pairs, slice(start, start + BLOCK))
        parts.append(np.stack([aligned_base(name, *side) for side in zip(u, v, strict=True)]))  # type: ignore[arg-type]
    return np.concatenate(parts, axis=1)
