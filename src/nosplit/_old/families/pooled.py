"""All rows of two samples of different sizes, each with a label.

Under the null hypothesis all ways to call n of the n + m rows x are equally likely. With
labels 0 and 1 less their mean as weights, a statistic is Σ w_a w_b k(a, b) over all pairs of
different rows, less its mean over all draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.kernels.bank import Bank

__all__ = ["Pooled", "label_draws", "labelled_statistics", "relabellings", "relabels"]

# Rows of a tile of the kernel matrix.
TILE = 512
# Rows of either sample up to which all labels are permuted: swaps of pairs are too few to reject.
FEW_SWAPS = 10


def relabels(n: int, m: int) -> bool:
    """Whether labels of n and m rows are permuted: of different sizes, and of few rows."""
    return n != m or n <= FEW_SWAPS


def label_draws(n: int, m: int, flips: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw which of n + m rows are called x, (F, n + m): 1 or 0; the first draw is as they are.

    All ways there are, if they are no more than asked for. If sizes are equal, the sample of row 0
    is called x in all of them, so that mirrored ways tie.
    """
    from nosplit.backend.numba.dealing import chosen

    if comb(n + m, n) <= flips + 1:
        every = np.array(list(combinations(range(n + m), n)))
        weights = np.zeros((len(every), n + m), np.float32)
        np.put_along_axis(weights, every, 1.0, axis=1)
        return _named(weights, n == m)
    weights = np.zeros((flips + 1, n + m), np.float32)
    chosen(rng.random((flips, n)), weights[1:])
    weights[0, :n] = 1.0
    return _named(weights, n == m)


def _named(weights: NDArray[np.float32], even: bool) -> NDArray[np.float32]:
    if even:
        mirrored = weights[:, 0] == 0.0
        weights[mirrored] = 1.0 - weights[mirrored]
    return weights


def relabellings(n: int, m: int) -> float:
    """Labellings of n and m rows that may differ in their statistics: of mirrored ones, one."""
    log = math.lgamma(n + m + 1) - math.lgamma(n + 1) - math.lgamma(m + 1)
    return (0.5 if n == m else 1.0) * round(math.exp(log)) if log < 30.0 else math.inf


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows of both samples, in an order that says nothing of their labels.

    Parameters
    ----------
    rows : array, shape (N, p)
        The rows.
    bank : Bank
        The kernels.
    """

    rows: NDArray[Any]
    bank: Bank

    def kernel_values(self, a: range, b: range) -> Array:
        """Kernel values of all rows of a with all rows of b, (d, A, B)."""
        left, right = self.rows[a.start : a.stop], self.rows[b.start : b.stop]
        bank, shape = self.bank, (len(a), len(b))
        K = np.empty((len(bank), *shape))
        if bank.operations:
            bases = bank.empty_bases(1, shape[0] * shape[1])
            bank.tile_bases(left, right, [q.reshape(shape) if q.size else q for q in bases])
            bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
        if bank.linear:
            origin = self._origin
            K[bank.linear] = (left - origin) @ (right - origin).T
        for u, (k,) in bank.called("tile", ((left, right),)):
            K[u] = k
        return K

    @cached_property
    def _origin(self) -> Array:
        return np.asarray(self.rows.mean(axis=0, dtype=np.float64))


def labelled_statistics(
    values: Array, weighted: Array, rows: Array, products: Array, share: float
) -> tuple[Array, Array]:
    """Statistics less their means over all draws, and their covariance, from sums over all pairs.

    Parameters
    ----------
    values : array, shape (F, d)
        Sums over pairs of different rows that are both called x, under every draw; each twice.
    weighted : array, shape (F, d)
        Sums of `rows` over those called x.
    rows : array, shape (N, d)
        Sums over all pairs of each row.
    products : array, shape (d, d)
        Sums of products of values of two kernels, each pair twice.
    share : float
        Of rows called x.
    """
    N, whole = len(rows), rows.sum(axis=0)
    m, spread = N * (N - 1) // 2, share * (1.0 - share)
    found = values - 2.0 * share * weighted + share**2 * whole
    found = found + spread / (N - 1) * whole  # less the mean over all draws
    products = products - 2.0 / N * (rows.T @ rows)
    products = products + np.outer(whole, whole) / N**2
    return found / (2.0 * np.sqrt(m) * spread), (products + products.T) / (4.0 * m)
