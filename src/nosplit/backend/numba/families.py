"""Numbers of rows → sums of integers by cell, for tests of fit and of independence."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_fast

__all__ = ["add_rounded", "add_shifted", "add_stein_waves", "in_orders", "permuted_sums"]


@compiled_fast
def _dot(a: Any, b: Any, count: int) -> Any:
    """Sum of the products of the first numbers, so many."""
    total = 0.0
    for j in range(count):
        total += a[j] * b[j]
    return total


# Pairs of rows whose values are put in the order of a permutation together: what is in the cache.
BLOCK = 2048


@compiled
def permuted_sums(K: Any, L: Any, u: Any, v: Any, draws: Any, out: Any) -> None:
    """Sums of K[u, (i, j)] · L[v, π(i), π(j)] over i ≥ j, for every permutation and pair (u, v).

    K has the pairs i ≥ j row by row, (kernels, n (n + 1) / 2), and L is (kernels, n, n).
    """
    n, d = L.shape[1], len(u)
    rows = np.empty((len(L), BLOCK + n))
    out[:] = 0.0
    first, start = 0, 0
    while first < n:
        last, size = first, 0
        while last < n and size < BLOCK:
            last += 1
            size += last
        for f in range(len(draws)):
            place, at = draws[f], 0
            for i in range(first, last):
                for q in range(len(L)):
                    permuted, row = rows[q, at:], L[q, place[i]]
                    for j in range(i + 1):
                        permuted[j] = row[place[j]]
                at += i + 1
            for k in range(d):
                out[f, k] += _dot(K[u[k], start:], rows[v[k]], size)
        first = last
        start += size


@compiled
def in_orders(columns: Any, orders: Any, out: Any) -> None:
    """Columns, (D, n), in the order of every draw: out[i, d, f] = columns[d, orders[f, i]]."""
    turned = orders.T.copy()
    for i in range(len(turned)):
        place = turned[i]
        for d in range(len(columns)):
            column, into = columns[d], out[i, d]
            for f in range(len(place)):
                into[f] = column[place[f]]


@compiled
def add_rounded(values: Any, gains: Any, cells: Any, room: float, start: int, sums: Any) -> None:
    """Add values · gains, rounded and at most `room` in size, to the numbers from `start` on."""
    for i in range(len(values)):
        into = sums[cells[i]]
        for k in range(values.shape[1]):
            value = min(max(values[i, k] * gains[k], -room), room)
            into[start + k] += np.int64(np.rint(value))


@compiled
def add_stein_waves(
    cosine: Any, sine: Any, along: Any, slopes: Any, gains: Any, cells: Any, room: float, sums: Any
) -> None:
    """Add the Stein features of waves, (n, W), to those of the cells of the rows.

    `along` has the scores in the directions of the waves, and `slopes` the waves' derivatives.
    """
    W = len(slopes)
    for i in range(len(cells)):
        into = sums[cells[i]]
        for w in range(W):
            s, c, v = along[i, w], np.float64(cosine[i, w]), np.float64(sine[i, w])
            a = min(max((s * c - slopes[w] * v) * gains[w], -room), room)
            b = min(max((s * v + slopes[w] * c) * gains[W + w], -room), room)
            into[w] += np.int64(np.rint(a))
            into[W + w] += np.int64(np.rint(b))


@compiled
def add_shifted(
    x: Any, x_turned: Any, y: Any, y_turned: Any, q: int, step: Any, cells: Any, sums: Any
) -> None:
    """Add products of x, centred in units of q rows, with all cyclic shifts of y, to their cells.

    Numbers are complex: `x` and `y` are the real parts, (T · q, W), the others the imaginary ones.
    The sums of a cell are (q, 2W): real parts and imaginary parts for each shift.
    """
    W = x.shape[1]
    centred, turned = np.empty((q, W), np.float32), np.empty((q, W), np.float32)
    real, imaginary = np.empty(W, np.float32), np.empty(W, np.float32)
    for t in range(len(cells)):
        first = t * q
        _centre(x[first : first + q], centred)
        _centre(x_turned[first : first + q], turned)
        for shift in range(q):
            real[:] = 0.0
            imaginary[:] = 0.0
            for i in range(q):
                j = first + (i + shift) % q
                a, b, c, d = centred[i], turned[i], y[j], y_turned[j]
                for w in range(W):
                    real[w] += a[w] * c[w] - b[w] * d[w]
                    imaginary[w] += a[w] * d[w] + b[w] * c[w]
            into = sums[cells[t], shift]
            for w in range(W):
                into[w] += np.int64(np.rint(np.float64(real[w]) * step))
                into[W + w] += np.int64(np.rint(np.float64(imaginary[w]) * step))


@compiled
def _centre(rows: Any, out: Any) -> None:
    """Rows about their mean."""
    q, W = rows.shape
    mean = np.zeros(W, np.float32)
    for i in range(q):
        for w in range(W):
            mean[w] += rows[i, w]
    for w in range(W):
        mean[w] /= q
    for i in range(q):
        for w in range(W):
            out[i, w] = rows[i, w] - mean[w]
