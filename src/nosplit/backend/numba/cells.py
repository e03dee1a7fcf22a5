"""The inner loops on units of several rows: base quantities and HSIC values.

Blocks of kernel values of M pairs of units are (d, M, s, s), d kernels and s rows to a unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.bases import DOT, L1, SQ
from nosplit.backend.numba.jit import compiled_fast

__all__ = ["cell_bases", "centre", "values"]


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
