"""The inner loops of label permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._jit import compiled_fast

__all__ = ["look_up", "under_labels"]

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


@compiled_fast
def under_labels(K: Any, left: Any, right: Any, out: Any) -> None:
    """Values of M pairs under all labellings, (M, s, s, d), from their kernel values, (d, M, s, s).

    Pair m has left[m] and right[m] rows; where a labelling names a row beyond, the value is 0.
    """
    d, M, s, _ = K.shape
    block, column = np.empty((s, s)), np.empty(s)
    for m in range(M):
        p, q = left[m], right[m]
        scale = (p / (p - 1.0)) * (q / (q - 1.0))
        out[m] = 0.0
        for u in range(d):
            column[:] = 0.0
            for i in range(p):
                total = 0.0
                for j in range(q):
                    block[i, j] = K[u, m, i, j]
                    total += block[i, j]
                for j in range(q):
                    block[i, j] -= total / q
                    column[j] += block[i, j]
            for i in range(p):
                for j in range(q):
                    out[m, i, j, u] = scale * (block[i, j] - column[j] / p)
