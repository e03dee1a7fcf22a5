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

from nosplit.backend.numba.jit import compiled

__all__ = ["solve_batch"]

_EPS = float(np.finfo(np.float64).eps)
_TIE = 1e-9


# One function, and loops instead of slices: as six functions it took twice as long to compile, and
# twice as long for a few kernels.


@compiled
def _solve(
    C: Any,
    t: Any,
    dependent: float,
    L: Any,
    trial: Any,
    step: Any,
    index: Any,
    blocked: Any,
    x: Any,
) -> None:
    """Solutions x of all problems of a batch; the arrays between are scratch space.

    `index[:size]` is the passive set, whose entries of x may differ from 0, and `blocked` marks it,
    and what cannot enter it.
    """
    d = t.shape[1]
    for b in range(t.shape[0]):
        G, g, z = C[b if C.shape[0] > 1 else 0], t[b], x[b]
        for u in range(d):
            z[u], blocked[u] = 0.0, 0
        size, newcomer, settled = 0, -1, True
        for _ in range(20 * d + 20):
            # Optimal on the passive set: the coordinate whose increase helps most enters, by a
            # relative tolerance; of copies, which differ by rounding alone, the first.
            if settled:
                best, newcomer = 0.0, -1
                for u in range(d):
                    if blocked[u] or G[u, u] <= 0.0:
                        continue
                    gradient, scale = g[u], abs(g[u])
                    for j in range(d):
                        term = G[u, j] * z[j]
                        gradient -= term
                        scale += abs(term)
                    gain = gradient / np.sqrt(G[u, u])
                    if gradient > 8.0 * d * _EPS * scale and gain > best * (1.0 + _TIE):
                        best, newcomer = gain, u
                if newcomer < 0:
                    break
                index[size] = newcomer
                size += 1
            # Cholesky factor of the passive set. A part of an independent set is independent: only
            # a newcomer can fail.
            least, solvable = dependent if settled else 0.0, True
            for i in range(size):
                trial[i] = 0.0
                for j in range(i + 1):
                    total = G[index[i], index[j]]
                    for k in range(j):
                        total -= L[i, k] * L[j, k]
                    if j < i:
                        L[i, j] = total / L[j, j]
                    elif total <= least * G[index[i], index[i]]:
                        solvable = False
                    else:
                        L[i, i] = np.sqrt(total)
            # The unconstrained solution, and one step of iterative refinement.
            for turn in range(2 if solvable else 0):
                for i in range(size):
                    total = g[index[i]]
                    if turn:
                        for k in range(size):
                            total -= G[index[i], index[k]] * trial[k]
                    for k in range(i):
                        total -= L[i, k] * step[k]
                    step[i] = total / L[i, i]
                for i in range(size - 1, -1, -1):
                    total = step[i]
                    for k in range(i + 1, size):
                        total -= L[k, i] * step[k]
                    step[i] = total / L[i, i]
                for i in range(size):
                    trial[i] += step[i]
            if settled:
                blocked[newcomer] = 1
                # Dependent, or rounding: the gradient promised an increase.
                if not solvable or trial[size - 1] <= 0.0:
                    size -= 1
                    continue
            # Towards it until an entry is 0, which leaves.
            ratio, leaving = 1.0, -1
            for i in range(size):
                own = z[index[i]]
                if trial[i] <= 0.0 and (leaving < 0 or own / (own - trial[i]) < ratio):
                    ratio, leaving = own / (own - trial[i]), i
            settled = leaving < 0
            for i in range(size):
                own = z[index[i]]
                z[index[i]] = trial[i] if settled else own + ratio * (trial[i] - own)
            if settled:
                for u in range(d):
                    blocked[u] = 0
                for i in range(size):
                    blocked[index[i]] = 1
            else:
                z[index[leaving]] = 0.0
                size -= 1
                for i in range(leaving, size):
                    index[i] = index[i + 1]
                settled = size == 0


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
    C, t = np.ascontiguousarray(C), np.ascontiguousarray(t)
    d = t.shape[1]
    x, numbers, places = np.empty_like(t), np.empty((2, d)), np.empty((2, d), np.int64)
    _solve(C, t, dependent, np.empty((d, d)), *numbers, *places, x)
    return x
