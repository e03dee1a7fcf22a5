"""The inner loops of Stein kernels.

For a radial kernel f(D), D = ‖x - x'‖², and scores s = s(x), s' = s(x'), the Stein kernel is

    u = G f - 2 (C + p) f' - 4 D f'',   G = ⟨s, s'⟩,   C = ⟨s - s', x - x'⟩,

so that three base quantities of two rows serve all kernels and bandwidths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_fast, compiled_inner
from nosplit.backend.numba.values import GAUSSIAN, IMQ, MATERN32, exp, scatter, square

__all__ = ["aligned_bases", "evaluate_stein", "sample_moments", "tile_bases"]

# Pairs worked on at once: what a core's first cache holds.
_BLOCK = 256


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


# -- many small samples ------------------------------------------------------------------------


@compiled_fast
def _triangle_bases(x: Any, s: Any, sq: Any, dot: Any, cross: Any) -> None:
    """D, G and C of all pairs of different rows, each once, (M,) each."""
    n, p = x.shape
    at = 0
    for i in range(n):
        xa, sa = x[i], s[i]
        for j in range(i + 1, n):
            D, G, C = 0.0, 0.0, 0.0
            for k in range(p):
                difference = xa[k] - x[j, k]
                D += difference * difference
                G += sa[k] * s[j, k]
                C += (sa[k] - s[j, k]) * difference
            sq[at], dot[at], cross[at] = D, G, C
            at += 1


@compiled_inner
def _median_root(squares: Any) -> Any:
    """Median of the roots; of those that are not 0 if that is 0, and 0 if there are none."""
    for values in (squares, squares[squares > 0.0]):
        half = values.size // 2
        if half == values.size:
            return 0.0
        ordered = np.partition(values, half)
        upper = ordered[half]
        lower = upper if values.size % 2 else np.max(ordered[:half])
        median = 0.5 * np.sqrt(lower) + 0.5 * np.sqrt(upper)
        if median > 0.0:
            return median
    return 0.0


@compiled
def sample_moments(
    program: Any, in_medians: bool, x: Any, s: Any, medians: Any, means: Any, scatters: Any
) -> None:
    """Mean and scatter of the values of all pairs, for every sample of x, (R, n, p).

    Where scales are those of kernels `in_medians`, Gaussian or IMQ, they are for rows divided by
    the median distance of their sample.
    """
    kinds, scales, exponents, squarings, rows = program
    R, n, p = x.shape
    pairs = n * (n - 1) // 2
    bases, h = np.empty((3, pairs)), np.empty((kinds.size, pairs))
    for r in range(R):
        _triangle_bases(x[r], s[r], bases[0], bases[1], bases[2])
        own = scales
        if in_medians:
            medians[r] = _median_root(bases[0])
            own = scales / (medians[r] * medians[r])
        evaluate_stein(kinds, own, exponents, squarings, rows, p, bases[0], bases[1], bases[2], h)
        scatter(h, pairs, means[r], scatters[r])
