"""The inner loops: distances of rows, kernel values from distances, scatter of values.

Every built-in kernel depends on two rows through one base quantity (squared distance, L1 distance
or inner product). A block of pairs is worked off in two steps that stay in the cache: base
quantities of C combinations of rows for M pairs, (C, M), then all kernels of those, summed over
the combinations with weights: values (d, M).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._jit import compiled, compiled_fast

__all__ = [
    "aligned_bases",
    "evaluate",
    "gather",
    "mend_sq",
    "scatter",
    "tile_l1",
    "tile_sq",
    "two_sample_bases",
]

# Operations of `evaluate`; the profile of each is written beside it there.
GAUSSIAN, LAPLACE, IMQ, MATERN12, MATERN32, MATERN52, POLYNOMIAL, SQUARED = range(8)
SQ, L1, DOT = range(3)

_LOG2E = 1.4426950408889634
_LN2_HI, _LN2_LO = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52
# Pairs and combinations worked on at once: what a core's first cache holds.
_BLOCK, _GROUP = 256, 4


@compiled_fast
def aligned_bases(a: Any, b: Any, want: Any, sq: Any, l1: Any, dot: Any) -> None:
    """Base quantities of the rows a[i] and b[i] into sq[i], l1[i], dot[i], as `want` says."""
    n, p = a.shape
    zero = a[0, 0] - a[0, 0]
    if want[SQ]:
        for i in range(n):
            total = zero
            for k in range(p):
                difference = a[i, k] - b[i, k]
                total += difference * difference
            sq[i] = total
    if want[L1]:
        for i in range(n):
            total = zero
            for k in range(p):
                total += abs(a[i, k] - b[i, k])
            l1[i] = total
    if want[DOT]:
        for i in range(n):
            total = zero
            for k in range(p):
                total += a[i, k] * b[i, k]
            dot[i] = total


@compiled_fast
def two_sample_bases(xa: Any, xb: Any, ya: Any, yb: Any, sq: Any, cross: Any) -> None:
    """All that Gaussian and linear kernels need of aligned quadruples, in one pass over the rows.

    Squared distances x-x', y-y', x-y', y-x' into sq, (4, M), and (x - y)'(x' - y') into cross.
    """
    n, p = xa.shape
    zero = xa[0, 0] - xa[0, 0]
    for i in range(n):
        s0, s1, s2, s3, c = zero, zero, zero, zero, zero
        for k in range(p):
            x, u, y, v = xa[i, k], xb[i, k], ya[i, k], yb[i, k]
            s0 += (x - u) * (x - u)
            s1 += (y - v) * (y - v)
            s2 += (x - v) * (x - v)
            s3 += (y - u) * (y - u)
            c += (x - y) * (u - v)
        sq[0, i], sq[1, i], sq[2, i], sq[3, i], cross[i] = s0, s1, s2, s3, c


@compiled_fast
def tile_sq(a: Any, bt: Any, out: Any) -> None:
    """Squared distances of the rows of a, (A, p), and the columns of bt, (p, B)."""
    for i in range(a.shape[0]):
        row = out[i]
        row[:] = 0.0
        for k in range(a.shape[1]):
            value = a[i, k]
            for j in range(bt.shape[1]):
                difference = value - bt[k, j]
                row[j] += difference * difference


@compiled_fast
def mend_sq(a: Any, b: Any, left: Any, right: Any, out: Any) -> None:
    """Turn inner products in `out` into squared distances; by differences where digits cancel."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = left[i] + right[j] - 2.0 * out[i, j]
        for j in range(b.shape[0]):
            if out[i, j] < 0.05 * (left[i] + right[j]):
                total = 0.0
                for k in range(a.shape[1]):
                    difference = a[i, k] - b[j, k]
                    total += difference * difference
                out[i, j] = total


@compiled_fast
def tile_l1(a: Any, bt: Any, out: Any) -> None:
    """L1 distances of the rows of a, (A, p), and the columns of bt, (p, B)."""
    for i in range(a.shape[0]):
        row = out[i]
        row[:] = 0.0
        for k in range(a.shape[1]):
            value = a[i, k]
            for j in range(bt.shape[1]):
                row[j] += abs(value - bt[k, j])


@compiled
def _exp(x: Any, scale: float, out: Any, bits: Any) -> None:
    """exp(-scale * x) for x >= 0: range reduction, Taylor's polynomial, then the exponent's bits.

    Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits, so nothing here stops
    the compiler from working on whole vectors.
    """
    rounded = bits.view(np.float64)
    for i in range(x.size):
        y = -scale * x[i]
        y = y if y > -708.0 else -708.0
        t = y * _LOG2E + _ROUND
        n = t - _ROUND
        r = (y - n * _LN2_HI) - n * _LN2_LO
        q = 1.0 / 479001600.0
        q = q * r + 1.0 / 39916800.0
        q = q * r + 1.0 / 3628800.0
        q = q * r + 1.0 / 362880.0
        q = q * r + 1.0 / 40320.0
        q = q * r + 1.0 / 5040.0
        q = q * r + 1.0 / 720.0
        q = q * r + 1.0 / 120.0
        q = q * r + 1.0 / 24.0
        q = q * r + 1.0 / 6.0
        q = q * r + 0.5
        q = q * r + 1.0
        q = q * r + 1.0
        out[i] = q
        rounded[i] = t
    for i in range(x.size):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(x.size):
        out[i] *= rounded[i]


@compiled
def _profile(kind: int, p1: float, p2: float, q: Any, out: Any, bits: Any) -> None:
    """One kernel's values from its base quantities; p1 is a scale, p2 an exponent or offset."""
    if kind in (GAUSSIAN, LAPLACE):
        _exp(q, p1, out, bits)
    elif kind == IMQ:
        if p2 == -0.5:
            for i in range(q.size):
                out[i] = 1.0 / np.sqrt(1.0 + p1 * q[i])
        else:
            for i in range(q.size):
                out[i] = (1.0 + p1 * q[i]) ** p2
    elif kind == POLYNOMIAL:
        for i in range(q.size):
            base = q[i] + p2
            value = base
            for _ in range(int(p1) - 1):
                value *= base
            out[i] = value
    else:
        s = np.sqrt(q)
        _exp(s, p1, out, bits)
        if kind == MATERN32:
            for i in range(q.size):
                out[i] *= 1.0 + p1 * s[i]
        elif kind == MATERN52:
            for i in range(q.size):
                z = p1 * s[i]
                out[i] *= 1.0 + z + z * z / 3.0


@compiled
def _square(value: Any, times: int, out: Any) -> None:
    """Value to the power 2^times."""
    if times == 2:
        for i in range(value.size):
            square = value[i] * value[i]
            out[i] = square * square
        return
    for i in range(value.size):
        out[i] = value[i] * value[i]
    for _ in range(times - 1):
        for i in range(value.size):
            out[i] *= out[i]


@compiled
def _combine(value: Any, size: int, weights: Any, first: int, start: int, target: Any) -> None:
    """Target += Σ_c weights[c] value[c], for the combinations of a group."""
    constant = weights.shape[1] == 1
    for c in range(value.size // size):
        part = value[c * size : (c + 1) * size]
        if constant:
            weight = weights[first + c, 0]
            for i in range(size):
                target[i] += weight * part[i]
        else:
            weight_of = weights[first + c, start : start + size]
            for i in range(size):
                target[i] += weight_of[i] * part[i]


@compiled
def evaluate(
    kinds: Any,
    bases: Any,
    p1: Any,
    p2: Any,
    prior: Any,
    rows: Any,
    sq: Any,
    l1: Any,
    dot: Any,
    weights: Any,
    h: Any,
) -> None:
    """Kernel values summed over combinations: h[rows[u], m] = Σ_c weights[c, m] k_u(c, m).

    Operation SQUARED takes an earlier kernel to the power 2^p1: one exponential serves a whole
    grid of bandwidths. `weights` is (C, M), or (C, 1) where they do not depend on the pair.
    """
    C, M, d = weights.shape[0], h.shape[1], kinds.size
    slots = np.empty((d, _GROUP * _BLOCK))
    bits = np.empty(_BLOCK, np.int64)
    for start in range(0, M, _BLOCK):
        size = min(_BLOCK, M - start)
        for u in range(d):
            h[rows[u], start : start + size] = 0.0
        for first in range(0, C, _GROUP):
            group = min(_GROUP, C - first)
            for u in range(d):
                value = slots[u, : group * size]
                if kinds[u] == SQUARED:
                    _square(slots[prior[u], : group * size], int(p1[u]), value)
                else:
                    source = sq if bases[u] == SQ else (l1 if bases[u] == L1 else dot)
                    for c in range(group):
                        q = source[first + c, start : start + size]
                        part = value[c * size : (c + 1) * size]
                        _profile(kinds[u], p1[u], p2[u], q, part, bits[:size])
                target = h[rows[u], start : start + size]
                _combine(value, size, weights, first, start, target)


@compiled_fast
def scatter(h: Any, mean: Any, out: Any) -> None:
    """Mean and centred scatter of the columns of h, (d, M)."""
    d, M = h.shape
    for u in range(d):
        total = 0.0
        for i in range(M):
            total += h[u, i]
        mean[u] = total / M
    for u in range(d):
        for v in range(u + 1):
            total = 0.0
            for i in range(M):
                total += (h[u, i] - mean[u]) * (h[v, i] - mean[v])
            out[u, v] = total
            out[v, u] = total


@compiled
def gather(source: Any, rows: Any, out: Any) -> None:
    """out[i] = source[rows[i]]."""
    for i in range(rows.size):
        for k in range(source.shape[1]):
            out[i, k] = source[rows[i], k]
