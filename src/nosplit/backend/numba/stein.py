"""The inner loops of Stein kernels.

For a radial kernel f(D), D = ‖x - x'‖², and scores s = s(x), s' = s(x'), the Stein kernel is

    u = G f - 2 (C + p) f' - 4 D f'',   G = ⟨s, s'⟩,   C = ⟨s - s', x - x'⟩,

so that three base quantities of two rows serve all kernels and bandwidths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_fast
from nosplit.backend.numba.values import GAUSSIAN, IMQ, MATERN32, exp, square

__all__ = ["aligned_bases", "evaluate_stein", "sample_means", "tile_bases"]

# Pairs worked on at once: what a core's first cache holds.
_BLOCK = 256
# Pairs of a sample whose values are kept at once; columns of a register.
_PAIRS, _MANY = 1024, 8


@compiled_fast
def aligned_bases(x: Any, s: Any, a: Any, b: Any, sq: Any, dot: Any, cross: Any) -> None:
    """D, G and C of the rows a[i] and b[i], (M,) each."""
    p = x.shape[1]
    for i in range(a.size):
        xa, xb, sa, sb = x[a[i]], x[b[i]], s[a[i]], s[b[i]]
        D, G, C = 0.0, 0.0, 0.0
        for k in range(p):
            difference = xa[k] - xb[k]
            D += difference * difference
            G += sa[k] * sb[k]
            C += (sa[k] - sb[k]) * difference
        sq[i], dot[i], cross[i] = D, G, C


@compiled_fast
def tile_bases(xa: Any, sa: Any, xb: Any, sb: Any, sq: Any, dot: Any, cross: Any) -> None:
    """D, G and C of all rows of xa, (A, p), with all columns of xb, (p, B), into (A, B) each."""
    for i in range(xa.shape[0]):
        D, G, C = sq[i], dot[i], cross[i]
        D[:], G[:], C[:] = 0.0, 0.0, 0.0
        for k in range(xa.shape[1]):
            x, s = xa[i, k], sa[i, k]
            for j in range(xb.shape[1]):
                difference = x - xb[k, j]
                D[j] += difference * difference
                G[j] += s * sb[k, j]
                C[j] += (s - sb[k, j]) * difference


@compiled
def _stein(
    kind: int, scale: float, e: float, p: int, f: Any, D: Any, G: Any, C: Any, u: Any
) -> None:
    """Stein kernels from base quantities; f holds the radial kernel, or exp(-z) for Matérn."""
    if kind == GAUSSIAN:
        for i in range(f.size):
            u[i] = f[i] * (G[i] + 2.0 * scale * (C[i] + p) - 4.0 * scale * scale * D[i])
    elif kind == IMQ:
        first, second = -2.0 * e * scale, -4.0 * e * (e - 1.0) * scale * scale
        for i in range(f.size):
            v = 1.0 / (1.0 + scale * D[i])
            u[i] = f[i] * (G[i] + v * (first * (C[i] + p) + second * v * D[i]))
    elif kind == MATERN32:
        square = scale * scale
        for i in range(f.size):
            z = scale * np.sqrt(D[i])
            u[i] = f[i] * (G[i] * (1.0 + z) + square * (C[i] + p - z))
    else:
        third = scale * scale / 3.0
        for i in range(f.size):
            z = scale * np.sqrt(D[i])
            inner = (C[i] + p) * (1.0 + z) - z * z
            u[i] = f[i] * (G[i] * (1.0 + z + z * z / 3.0) + third * inner)


@compiled
def _radial(kind: int, scale: float, e: float, D: Any, f: Any) -> None:
    """The radial kernel, or exp(-scale √D) for Matérn."""
    if kind == GAUSSIAN:
        exp(D, scale, f)
    elif kind == IMQ:
        if e == -0.5:
            for i in range(D.size):
                f[i] = 1.0 / np.sqrt(1.0 + scale * D[i])
        else:
            for i in range(D.size):
                f[i] = (1.0 + scale * D[i]) ** e
    else:
        exp(np.sqrt(D), scale, f)


@compiled
def evaluate_stein(
    kinds: Any,
    scales: Any,
    exponents: Any,
    squarings: Any,
    rows: Any,
    p: int,
    sq: Any,
    dot: Any,
    cross: Any,
    h: Any,
) -> None:
    """Values h[rows[u], m] of all Stein kernels.

    Where squarings[u] is not 0, the Gaussian is the one before to the power 2^squarings[u]: one
    exponential serves a whole grid of bandwidths.
    """
    d, M = kinds.size, sq.size
    slots = np.empty((2, _BLOCK))
    for start in range(0, M, _BLOCK):
        stop = min(start + _BLOCK, M)
        D, G, C = sq[start:stop], dot[start:stop], cross[start:stop]
        for u in range(d):
            f = slots[u % 2, : stop - start]
            if squarings[u]:
                square(slots[1 - u % 2, : stop - start], squarings[u], f)
            else:
                _radial(kinds[u], scales[u], exponents[u], D, f)
            _stein(kinds[u], scales[u], exponents[u], p, f, D, G, C, h[rows[u], start:stop])


# -- many samples ------------------------------------------------------------------------------


@compiled_fast
def _few_columns(
    x: Any, s: Any, i: int, j: int, count: int, sq: Any, dot: Any, cross: Any, at: int
) -> None:
    """D, G and C of row i with rows j to j + count, from place `at` on; x and s are (p, n)."""
    for m in range(at, at + count):
        sq[m], dot[m], cross[m] = 0.0, 0.0, 0.0
    for k in range(x.shape[0]):
        left, right, score, scores = x[k, i], x[k], s[k, i], s[k]
        for m in range(count):
            difference = left - right[j + m]
            sq[at + m] += difference * difference
            dot[at + m] += score * scores[j + m]
            cross[at + m] += (score - scores[j + m]) * difference


@compiled_fast
def _many_columns(
    x: Any, s: Any, i: int, j: int, count: int, sq: Any, dot: Any, cross: Any, at: int
) -> None:
    """Compute the same of rows x and s, (n, p): sums over columns stay in registers."""
    left, score = x[i], s[i]
    for m in range(count):
        right, scores = x[j + m], s[j + m]
        D, G, C = 0.0, 0.0, 0.0
        for k in range(left.size):
            difference = left[k] - right[k]
            D += difference * difference
            G += score[k] * scores[k]
            C += (score[k] - scores[k]) * difference
        sq[at + m], dot[at + m], cross[at + m] = D, G, C


@compiled_fast
def _add_values(h: Any, count: int, total: Any) -> None:
    """Add the first values of each row to its total."""
    for u in range(h.shape[0]):
        own = 0.0
        for m in range(count):
            own += h[u, m]
        total[u] += own


@compiled
def sample_means(program: Any, x: Any, s: Any, means: Any) -> None:
    """Mean of the values of all pairs, for every sample of x, (R, n, p)."""
    kinds, scales, exponents, squarings, rows = program
    R, n, p = x.shape
    pairs = n * (n - 1) // 2
    size = min(_PAIRS, pairs)
    sq, dot, cross = np.empty(size), np.empty(size), np.empty(size)
    h = np.empty((kinds.size, size))
    for r in range(R):
        columns, scores = np.ascontiguousarray(x[r].T), np.ascontiguousarray(s[r].T)
        means[r] = 0.0
        at = 0
        for i in range(n - 1):
            j = i + 1
            while j < n:
                count = min(n - j, size - at)
                if p < _MANY:
                    _few_columns(columns, scores, i, j, count, sq, dot, cross, at)
                else:
                    _many_columns(x[r], s[r], i, j, count, sq, dot, cross, at)
                at += count
                j += count
                if at == size or (i == n - 2 and j == n):
                    own = sq[:at], dot[:at], cross[:at]
                    evaluate_stein(kinds, scales, exponents, squarings, rows, p, *own, h)
                    _add_values(h, at, means[r])
                    at = 0
        means[r] /= pairs
