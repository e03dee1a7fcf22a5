"""The inner loop of blocks: base quantities of all rows of one unit with all rows of another."""

from __future__ import annotations

from typing import Any

from nosplit._jit import compiled_fast
from nosplit._loops import DOT, L1, SQ

__all__ = ["cell_bases"]


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
