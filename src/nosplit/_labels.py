"""The inner loop of label permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._jit import compiled_fast

__all__ = ["look_up"]

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
