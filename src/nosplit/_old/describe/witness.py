"""The witness function: where one sample is denser than the other, seen through a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.kernels.bank import Bank

__all__ = ["mean_values", "own_values", "row_witness", "witness_at"]

# Kernel values held at a time, of all kernels together.
MOST_VALUES = 1 << 21


def mean_values(bank: Bank, points: NDArray[Any], rows: NDArray[Any]) -> Array:
    """Mean of k_u(point, row) over rows, (d, points), a block of points at a time."""
    if not len(points):
        return np.empty((len(bank), 0))
    step = max(1, MOST_VALUES // (len(bank) * len(rows)))
    blocks = [points[i : i + step] for i in range(0, len(points), step)]
    return np.concatenate([_tile(bank, block, rows).mean(axis=2) for block in blocks], axis=1)


def _tile(bank: Bank, a: NDArray[Any], b: NDArray[Any]) -> Array:
    """Values of all kernels, (d, A, B)."""
    shape = (len(a), len(b))
    out = np.empty((len(bank), *shape))
    if bank.operations:
        bases = bank.empty_bases(1, shape[0] * shape[1])
        tile = [q[0].reshape(shape) if q.size else q for q in bases]
        bank.tile_bases(a, b, tile, bank.centre(a, b))
        bank.evaluate(bases, np.ones((1, 1)), out.reshape(len(bank), -1))
    if bank.linear:
        out[bank.linear] = a.astype(np.float64, copy=False) @ b.astype(np.float64, copy=False).T
    for i in bank.others:
        out[i] = bank.kernels[i].tile(a, b)
    return out


def own_values(bank: Bank, rows: NDArray[Any]) -> Array:
    """Values k_u(row, row), (d, rows)."""
    return np.stack([kernel.aligned(rows, rows) for kernel in bank.kernels])


def witness_at(
    points: NDArray[Any], x: NDArray[Any], y: NDArray[Any], bank: Bank, weights: Array
) -> Array:
    """Mean over x of k(x, point) minus mean over y, for points that are rows of neither."""
    return np.asarray(weights @ (mean_values(bank, points, x) - mean_values(bank, points, y)))


def row_witness(
    x: NDArray[Any], y: NDArray[Any], bank: Bank, weights: Array
) -> tuple[Array, Array]:
    """The witness function at the rows of x and of y, each left out of its own sample's mean.

    A row is more like itself than like any other: with its own value in the mean, rows far from
    all others would look typical of their sample.
    """
    at_x = weights @ (_without_own(bank, x) - mean_values(bank, x, y))
    at_y = weights @ (mean_values(bank, y, x) - _without_own(bank, y))
    return np.asarray(at_x), np.asarray(at_y)


def _without_own(bank: Bank, rows: NDArray[Any]) -> Array:
    n = len(rows)
    return np.asarray((n * mean_values(bank, rows, rows) - own_values(bank, rows)) / (n - 1))
