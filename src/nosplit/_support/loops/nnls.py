"""Non-negative least squares on a small Gram matrix, for whole batches.

The one optimisation of the library: every learned combination of the paper is the solution of

    minimise  x^T C x / 2 - x^T t   over  x >= 0

for a positive semidefinite C (Appendix B of the paper solves the same problem as a quadratic
program). An active-set method (Lawson and Hanson 1974) ends after finitely many steps with an
exactly sparse solution, so the active set needs no threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._support.loops.jit import compiled, compiled_inner

__all__ = ["solve_batch"]

_EPS = float(np.finfo(np.float64).eps)
_TIE = 1e-9


@compiled_inner
def _factor(C: Any, index: Any, size: int, L: Any, dependent: float) -> bool:
    """Cholesky factor of C[index, index]; False if its last column depends on the others."""
    for i in range(size):
        for j in range(i + 1):
            total = C[index[i], index[j]]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i != j:
                L[i, j] = total / L[j, j]
            else:
                if total <= dependent * C[index[i], index[i]]:
                    return False
                L[i, i] = np.sqrt(total)
    return True


@compiled_inner
def _substitute(L: Any, size: int, right: Any, out: Any) -> None:
    """Solve L L^T out = right."""
    for i in range(size):
        total = right[i]
        for k in range(i):
            total -= L[i, k] * out[k]
        out[i] = total / L[i, i]
    for i in range(size - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, size):
            total -= L[k, i] * out[k]
        out[i] = total / L[i, i]


@compiled_inner
def _solve_passive(
    C: Any, t: Any, index: Any, size: int, L: Any, right: Any, step: Any, out: Any
) -> None:
    """Unconstrained solution on the passive set, with one step of iterative refinement."""
    for i in range(size):
        right[i] = t[index[i]]
    _substitute(L, size, right, out)
    for i in range(size):
        total = t[index[i]]
        for k in range(size):
            total -= C[index[i], index[k]] * out[k]
        right[i] = total
    _substitute(L, size, right, step)
    for i in range(size):
        out[i] += step[i]


@compiled_inner
def _entering(C: Any, t: Any, x: Any, blocked: Any) -> int:
    """The coordinate whose increase helps most, or -1 at the optimum (relative tolerance).

    Of copies, which differ by rounding alone, the first.
    """
    d = t.shape[0]
    best, chosen = 0.0, -1
    for u in range(d):
        if blocked[u] or C[u, u] <= 0.0:
            continue
        gradient, scale = t[u], abs(t[u])
        for j in range(d):
            term = C[u, j] * x[j]
            gradient -= term
            scale += abs(term)
        gain = gradient / np.sqrt(C[u, u])
        if gradient > 8.0 * d * _EPS * scale and gain > best * (1.0 + _TIE):
            best, chosen = gain, u
    return chosen


@compiled_inner
def _move_towards(x: Any, trial: Any, index: Any, size: int) -> int:
    """Move x towards the trial solution until an entry is 0; that entry's place, -1 if none."""
    ratio, leaving = 1.0, -1
    for i in range(size):
        if trial[i] <= 0.0:
            bound = x[index[i]] / (x[index[i]] - trial[i])
            if leaving < 0 or bound < ratio:
                ratio, leaving = bound, i
    for i in range(size):
        x[index[i]] += ratio * (trial[i] - x[index[i]])
    if leaving < 0:
        for i in range(size):
            x[index[i]] = trial[i]
    else:
        x[index[leaving]] = 0.0
        for i in range(leaving, size - 1):
            index[i] = index[i + 1]
    return leaving


@compiled_inner
def _solve_one(C: Any, t: Any, dependent: float, room: Any, x: Any) -> None:
    d = t.shape[0]
    L, right, change, trial, index, blocked = room
    blocked[:] = False
    size, u, settled = 0, -1, True
    x[:] = 0.0
    for _ in range(20 * d + 20):
        if settled:  # x is optimal on its passive set: look for one more coordinate
            u = _entering(C, t, x, blocked)
            if u < 0:
                return
            index[size] = u
            size += 1
        # A part of an independent set is independent: only a newcomer can fail.
        solvable = _factor(C, index, size, L, dependent if settled else 0.0)
        if solvable:
            _solve_passive(C, t, index, size, L, right, change, trial)
        if settled:
            blocked[u] = True
            # Dependent, or rounding: the gradient promised an increase.
            if not solvable or trial[size - 1] <= 0.0:
                size -= 1
                continue
        settled = _move_towards(x, trial, index, size) < 0
        if settled:
            blocked[:] = False
            for i in range(size):
                blocked[index[i]] = True
        else:
            size -= 1
            settled = size == 0


@compiled
def _solve_many(C: Any, t: Any, dependent: float) -> Any:
    x = np.empty_like(t)
    d = t.shape[1]
    numbers = np.empty((3, d))
    room = (
        np.empty((d, d)),
        numbers[0],
        numbers[1],
        numbers[2],
        np.empty(d, np.int64),
        np.empty(d, np.bool_),
    )
    shared = C.shape[0] == 1
    for b in range(t.shape[0]):
        _solve_one(C[0 if shared else b], t[b], dependent, room, x[b])
    return x


def solve_batch(C: Any, t: Any, dependent: float = 1e-14) -> Any:
    """Minimise x'Cx/2 - x't over x >= 0 for each of a batch.

    Parameters
    ----------
    C : array, shape (1, d, d) or (B, d, d)
        Gram matrices; one shared by the batch, or one each.
    t : array, shape (B, d)
        Linear terms.
    dependent : float
        A column whose squared distance to the span of the columns in use is below this share of
        its squared length counts as dependent on them, and stays at zero.

    Returns
    -------
    array, shape (B, d)
        Solutions; the entries that are not in use are exactly 0.
    """
    return _solve_many(np.ascontiguousarray(C), np.ascontiguousarray(t), dependent)
