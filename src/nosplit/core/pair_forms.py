"""Statistics of two variables whose rows are matched, under permutations of the rows of one.

A form turns numbers of rows of x and of y into statistics under all draws of `Permutations`.
Numbers are rounded to steps, so that their sums are exact and draws that tie, tie exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.core.exchange import Permutations

__all__ = ["FeaturePair", "GramPair", "WavePairs", "levels", "rectangles"]

# Whole numbers up to here are exact in each type, sums of them too.
EXACT = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**53}
# Numbers of y that are put in the order of some draws at once.
AT_ONCE = 1 << 22


def _in_steps(values: NDArray[Any], most: float) -> tuple[NDArray[Any], float]:
    """Round numbers to whole steps, of which there are no more than this; and the step."""
    largest = float(np.abs(values).max(initial=0.0))
    step = largest / np.floor(most) if largest > 0 else 1.0
    return np.rint(values / step).astype(values.dtype), step


def _products(
    A: NDArray[Any], B: NDArray[Any], orders: Index
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """A'PB for some orders of the rows of B at a time, (DA, DB, draws): sums of whole numbers."""
    from nosplit.backend.numba.families import in_orders

    n, D = B.shape
    at_once, columns = max(AT_ONCE // (n * D), 1), np.ascontiguousarray(B.T)
    for first in range(0, len(orders), at_once):
        some = orders[first : first + at_once]
        moved = np.empty((n, D, len(some)), B.dtype)
        in_orders(columns, some, moved)
        yield (
            slice(first, first + len(some)),
            (A.T @ moved.reshape(n, -1)).reshape(-1, D, len(some)),
        )


@dataclass(frozen=True, eq=False)
class GramPair:
    """Products of kernels of x and of y: Σ K_ij L_π(i)π(j).

    Parameters
    ----------
    K, L : array, shape (d, n, n)
        Values of the kernels on x and on y, centred.
    u, v : array of int, shape (s,)
        The two kernels of each product.
    """

    K: Array
    L: Array
    u: Index
    v: Index

    def under(self, exchange: Permutations) -> Array:
        """Compute the statistics under every draw, (F, s)."""
        from nosplit.backend.numba.families import permuted_sums

        most = np.sqrt(EXACT[np.dtype(np.float64)]) / exchange.n_rows
        (K, k_steps), (L, l_steps) = (
            map(np.array, zip(*(_in_steps(own, most) for own in side), strict=True))
            for side in (self.K, self.L)
        )
        twice = 2.0 - np.eye(exchange.n_rows)  # pairs of different rows count twice
        lower = np.tril_indices(exchange.n_rows)
        K = np.array([own[lower] for own in K * twice])
        sums = np.empty((exchange.n_draws, len(self.u)))
        permuted_sums(K, L, self.u, self.v, exchange.orders, sums)
        return np.asarray(sums * (k_steps[self.u] * l_steps[self.v]))


@dataclass(frozen=True, eq=False)
class FeaturePair:
    """Weighted sums of squares of A'PB, for numbers A of x and B of y.

    Parameters
    ----------
    A, B : array, shape (n, DA) and (n, DB)
        The numbers, about the mean of their block.
    gains : pair of array, shape (DA, s) and (DB, s)
        A square counts the product of its two weights.
    """

    A: NDArray[Any]
    B: NDArray[Any]
    gains: tuple[Array, Array]

    def under(self, exchange: Permutations) -> Array:
        """Compute the statistics under every draw, (F, s)."""
        most = np.sqrt(EXACT[self.A.dtype] / exchange.n_rows)
        (A, a), (B, b) = (_in_steps(side, most) for side in (self.A, self.B))
        left, right = self.gains
        found = np.empty((exchange.n_draws, left.shape[1]))
        for some, sums in _products(A, B, exchange.orders):
            squares = np.square(sums.astype(np.float64)).reshape(len(sums), -1)
            weighted = (left.T @ squares).reshape(left.shape[1], len(right), -1)
            found[some] = np.einsum("sdf,ds->fs", weighted, right)
        return found * (a * b) ** 2


@dataclass(frozen=True, eq=False)
class WavePairs:
    """Sums of squares of products of waves of two columns, over dyadic rectangles of frequencies.

    A rectangle has the frequencies k ≤ 2^i of x and l ≤ 2^j of y, i + j ≤ `most`.

    Parameters
    ----------
    A, B : array, shape (n, p · 2^top) and (n, r · 2^top)
        Waves of each column of x and of y, frequency by frequency.
    top, most : int
        The largest i, and the largest i + j.
    """

    A: NDArray[np.float32]
    B: NDArray[np.float32]
    top: int
    most: int

    @property
    def owner(self) -> Index:
        """The pair of columns of each statistic."""
        pairs = (self.A.shape[1] // 2**self.top) * (self.B.shape[1] // 2**self.top)
        return np.repeat(np.arange(pairs), len(rectangles(self.top, self.most)))

    def under(self, exchange: Permutations) -> Array:
        """Compute the statistics under every draw, (F, pairs · rectangles)."""
        bound = np.sqrt(EXACT[np.dtype(np.float32)] / exchange.n_rows)
        (A, a), (B, b) = (_in_steps(side, bound) for side in (self.A, self.B))
        p, r = (side.shape[1] // 2**self.top for side in (A, B))
        cells = np.zeros((self.top + 1, self.top + 1, p, r, exchange.n_draws), np.float32)
        half = min(self.top, self.most // 2)
        self._fill(A, B, exchange.orders, 0, half, cells)
        # Few numbers of x, in the inverse order, meet the higher frequencies of y.
        high = min(self.top, self.most - half - 1)
        inverse = np.argsort(exchange.orders, axis=1)
        self._fill(B, A, inverse, half + 1, high, cells.transpose(1, 0, 3, 2, 4))
        sums = cells.astype(np.float64)
        for i in range(self.top):  # sums over all levels up to this one
            sums[i + 1] += sums[i]
        for j in range(self.top):
            sums[:, j + 1] += sums[:, j]
        each = np.stack([sums[i, j] for i, j in rectangles(self.top, self.most)], axis=2)
        return (a * b) ** 2 * each.reshape(-1, exchange.n_draws).T

    def _fill(
        self, A: Array, B: Array, orders: Index, low: int, high: int, cells: NDArray[np.float32]
    ) -> None:
        """Add squares of levels of A from `low` on, with levels of B up to `high` in orders."""
        p, r = cells.shape[2:4]
        for j, level in enumerate(levels(high)):
            own = levels(min(self.top, self.most - j))[low:]
            if not own:
                continue
            left = np.ascontiguousarray(A[:, p * own[0].start : p * own[-1].stop])
            right = np.ascontiguousarray(B[:, r * level.start : r * level.stop])
            starts = [k.start - own[0].start for k in own]
            for some, sums in _products(left, right, orders):
                squares = np.square(sums, out=sums).reshape(-1, p, len(level), r, sums.shape[2])
                inside = np.add.reduceat(squares.sum(axis=2), starts, axis=0)
                cells[low : low + len(own), j, ..., some] = inside


def rectangles(top: int, most: int) -> list[tuple[int, int]]:
    """The levels i and j of all rectangles, i + j ≤ `most`."""
    every = range(top + 1)
    return [(i, j) for i in every for j in every if i + j <= most]


def levels(top: int) -> list[range]:
    """Places of the frequencies of each level: 1, 2, 3 and 4, 5 to 8.

    Examples
    --------
    >>> levels(3)
    [range(0, 1), range(1, 2), range(2, 4), range(4, 8)]
    """
    return [range(2**i // 2, 2**i) for i in range(top + 1)]
