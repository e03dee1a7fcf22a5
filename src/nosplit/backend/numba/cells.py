"""The inner loops on units of several rows: base quantities, HSIC values, label permutations.

Blocks of kernel values of M pairs of units are (d, M, s, s), d kernels and s rows to a unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.bases import DOT, L1, SQ
from nosplit.backend.numba.jit import compiled_fast

__all__ = ["average", "cell_bases", "centre", "look_up", "under_shifts", "values"]


@compiled_fast
def cell_bases(a: Any, b: Any, want: Any, sq: Any, l1: Any, dot: Any) -> None:
    """Base quantities of the rows of a[m] and b[m], (M, s, p) both, into (M s s,) each."""
    zero = a[0, 0, 0] - a[0, 0, 0]
    M, s, p = a.shape
    place = 0
    for m in range(M):
        for i in range(s):
            for j in range(s):
                if want[SQ]:
                    total = zero
                    for k in range(p):
                        total += (a[m, i, k] - b[m, j, k]) * (a[m, i, k] - b[m, j, k])
                    sq[place] = total
                if want[L1]:
                    total = zero
                    for k in range(p):
                        total += abs(a[m, i, k] - b[m, j, k])
                    l1[place] = total
                if want[DOT]:
                    total = zero
                    for k in range(p):
                        total += a[m, i, k] * b[m, j, k]
                    dot[place] = total
                place += 1


@compiled_fast
def centre(block: Any, left: Any, right: Any) -> None:
    """J B J / √((a - 1)(b - 1)) in place, for units of left[m] = a and right[m] = b rows.

    What belongs to padding becomes 0.
    """
    d, M, s, _ = block.shape
    column = np.empty(s)
    for m in range(M):
        a, b = left[m], right[m]
        scale = 1.0 / np.sqrt((a - 1.0) * (b - 1.0))
        for u in range(d):
            B = block[u, m]
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
    """h[k, m] = ⟨K[x[k], m], L[y[k], m]⟩, from blocks (d, M, s²)."""
    _, M, S = K.shape
    for m in range(M):
        for k in range(x.size):
            total = 0.0
            for c in range(S):
                total += K[x[k], m, c] * L[y[k], m, c]
            h[k, m] = total


@compiled_fast
def average(K: Any, L: Any, left: Any, right: Any, x: Any, y: Any, out: Any) -> None:
    """Average of hh' over all permutations, summed over pairs, into out, (d, d).

    ⟨K_u, K_v⟩⟨L_u, L_v⟩ / ((a - 1)(b - 1)) for centred blocks, (d, M, s²).
    """
    dx, M, S = K.shape
    dy = L.shape[0]
    gram_x, gram_y = np.empty((dx, dx)), np.empty((dy, dy))
    out[:] = 0.0
    for m in range(M):
        for u in range(dx):
            for v in range(u + 1):
                total = 0.0
                for c in range(S):
                    total += K[u, m, c] * K[v, m, c]
                gram_x[u, v] = gram_x[v, u] = total
        for u in range(dy):
            for v in range(u + 1):
                total = 0.0
                for c in range(S):
                    total += L[u, m, c] * L[v, m, c]
                gram_y[u, v] = gram_y[v, u] = total
        scale = 1.0 / ((left[m] - 1.0) * (right[m] - 1.0))
        for k in range(x.size):
            for l in range(x.size):
                out[k, l] += scale * gram_x[x[k], x[l]] * gram_y[y[k], y[l]]


@compiled_fast
def under_shifts(K: Any, L: Any, x: Any, y: Any, left: Any, right: Any, out: Any) -> None:
    """out[m, p, q, k] = ⟨K[x[k], m], L[y[k], m] shifted by p rows and q columns⟩, round again.

    Centred blocks, (d, M, s²) and (d, M, s, s); pair m has left[m] and right[m] rows, and as many
    shifts.
    """
    dy, M, s, _ = L.shape
    # Columns shifted, and the rows twice over: a shift of rows is then a place to begin.
    twice = np.zeros((dy, 2 * s * s))
    out[:] = 0.0
    for m in range(M):
        a, b = left[m], right[m]
        twice[:] = 0.0
        for q in range(b):
            for v in range(dy):
                for i in range(a):
                    for j in range(b):
                        value = L[v, m, i, j + q - b if j + q >= b else j + q]
                        twice[v, i * s + j] = value
                        twice[v, (i + a) * s + j] = value
            for k in range(x.size):
                block = K[x[k], m, : a * s]
                for p in range(a):
                    shifted = twice[y[k], p * s : (p + a) * s]
                    total = 0.0
                    for c in range(a * s):
                        total += block[c] * shifted[c]
                    out[m, p, q, k] = total


# Numbers of the table worked on at once: what a core's second cache holds.
_BLOCK = 32_768


@compiled_fast
def look_up(table: Any, a: Any, b: Any, left: Any, right: Any, out: Any) -> None:
    """out[f] += Σ_m table[m, left[f, a[m]], right[f, b[m]]], with table (M, s, s, d)."""
    M, s, _, d = table.shape
    step = max(1, _BLOCK // (s * s * d))
    total = np.empty(d)
    for start in range(0, M, step):
        stop = min(start + step, M)
        for f in range(out.shape[0]):
            total[:] = 0.0
            for m in range(start, stop):
                row = table[m, left[f, a[m]], right[f, b[m]]]
                for u in range(d):
                    total[u] += row[u]
            for u in range(d):
                out[f, u] += total[u]
