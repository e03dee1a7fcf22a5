"""The inner loops of HSIC units: centring, values, and values under shifts.

Blocks of kernel values of M pairs of units are (M, d, s, s), d kernels and s rows to a unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._jit import compiled_fast

__all__ = ["average", "centre", "under_shifts", "values"]


@compiled_fast
def centre(block: Any, left: Any, right: Any) -> None:
    """J B J / √((a - 1)(b - 1)) in place, for units of left[m] = a and right[m] = b rows.

    What belongs to padding becomes 0.
    """
    M, d, s, _ = block.shape
    column = np.empty(s)
    for m in range(M):
        a, b = left[m], right[m]
        scale = 1.0 / np.sqrt((a - 1.0) * (b - 1.0))
        for u in range(d):
            B = block[m, u]
            column[:] = 0.0
            for i in range(a):
                total = 0.0
                for j in range(b):
                    total += B[i, j]
                total /= b
                for j in range(b):
                    B[i, j] -= total
                    column[j] += B[i, j]
            for i in range(s):
                for j in range(s):
                    inside = i < a and j < b
                    B[i, j] = (B[i, j] - column[j] / a) * scale if inside else 0.0


@compiled_fast
def values(K: Any, L: Any, x: Any, y: Any, h: Any) -> None:
    """h[k, m] = ⟨K[m, x[k]], L[m, y[k]]⟩, from blocks (M, d, s²)."""
    M, _, S = K.shape
    for m in range(M):
        for k in range(x.size):
            total = 0.0
            for c in range(S):
                total += K[m, x[k], c] * L[m, y[k], c]
            h[k, m] = total


@compiled_fast
def average(K: Any, L: Any, left: Any, right: Any, x: Any, y: Any, out: Any) -> None:
    """Average of hh' over all permutations, summed over pairs, into out, (d, d).

    ⟨K_u, K_v⟩⟨L_u, L_v⟩ / ((a - 1)(b - 1)) for centred blocks, (M, d, s²).
    """
    M, dx, S = K.shape
    dy = L.shape[1]
    gram_x, gram_y = np.empty((dx, dx)), np.empty((dy, dy))
    out[:] = 0.0
    for m in range(M):
        for u in range(dx):
            for v in range(u + 1):
                total = 0.0
                for c in range(S):
                    total += K[m, u, c] * K[m, v, c]
                gram_x[u, v] = gram_x[v, u] = total
        for u in range(dy):
            for v in range(u + 1):
                total = 0.0
                for c in range(S):
                    total += L[m, u, c] * L[m, v, c]
                gram_y[u, v] = gram_y[v, u] = total
        scale = 1.0 / ((left[m] - 1.0) * (right[m] - 1.0))
        for k in range(x.size):
            for l in range(x.size):
                out[k, l] += scale * gram_x[x[k], x[l]] * gram_y[y[k], y[l]]


@compiled_fast
def under_shifts(K: Any, L: Any, x: Any, y: Any, left: Any, right: Any, out: Any) -> None:
    """out[m, p, q, k] = ⟨K[m, x[k]], L[m, y[k]] shifted by p rows and q columns⟩, round again.

    Centred blocks, (M, d, s, s); pair m has left[m] and right[m] rows, and as many shifts.
    """
    M, _, s, _ = K.shape
    dy = L.shape[1]
    moved = np.empty((dy, s, s))
    out[:] = 0.0
    moved[:] = 0.0
    for m in range(M):
        a, b = left[m], right[m]
        for p in range(a):
            for q in range(b):
                for v in range(dy):
                    for i in range(a):
                        source = L[m, v, (i + p) % a]
                        target = moved[v, i]
                        for j in range(b - q):
                            target[j] = source[j + q]
                        for j in range(b - q, b):
                            target[j] = source[j + q - b]
                for k in range(x.size):
                    block, other = K[m, x[k]], moved[y[k]]
                    total = 0.0
                    for i in range(a):
                        for j in range(s):
                            total += block[i, j] * other[i, j]
                    out[m, p, q, k] = total
