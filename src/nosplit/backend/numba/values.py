"""The inner loops on base quantities: kernel values, and their mean and scatter.

A block of pairs is processed in two steps that stay in the cache: base quantities of C
combinations of rows for M pairs, (C, M), then all kernels of those, summed over the combinations
with weights: values (d, M).
"""

from __future__ import annotations

from typing import Any

import numpy as np

# numba's cache does not notice changes in another file: after one there, touch this one.
from nosplit.backend.numba.bases import L1, SQ, touch, two_sample_bases
from nosplit.backend.numba.jit import compiled, compiled_fast, compiled_inner, from_bits, to_bits

__all__ = [
    "GAUSSIAN",
    "IMQ",
    "MATERN32",
    "add_block",
    "evaluate",
    "evaluate_others",
    "exp",
    "room_for",
    "scatter",
    "square",
    "two_sample_moments",
    "two_sample_room",
]

# Operations of `evaluate` and `evaluate_others`; the profile of each is written beside it there.
GAUSSIAN, LAPLACE, IMQ, MATERN12, MATERN32, MATERN52, POLYNOMIAL, SQUARED = range(8)

_LOG2E = 1.4426950408889634
_LN2_HI, _LN2_LO = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52
# 1 + r + C2 r^2 + … is exp(r) to 2e-17 for |r| <= log(2) / 2.
_C2, _C3, _C4 = 0.5000000000000001, 0.16666666666666669, 0.041666666666624164
_C5, _C6, _C7 = 0.008333333333330065, 0.0013888888917196719, 0.00019841269863040545
_C8, _C9 = 2.4801521322368692e-05, 2.7557268480310024e-06
_C10, _C11 = 2.7620075879983367e-07, 2.5100375832561234e-08
# Pairs and combinations worked on at once: what a core's first cache holds.
BLOCK, GROUP = 384, 4


def room_for() -> Any:
    """Scratch space for `evaluate`: the values of one kernel and of the one before it."""
    return np.empty((2, GROUP * BLOCK))


def two_sample_room() -> tuple[Any, ...]:
    """Scratch space for `two_sample_moments`."""
    signs = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    return signs, *np.empty((3, 4, BLOCK)), np.empty(BLOCK), room_for()


@compiled_inner
def exp(x: Any, scale: float, out: Any) -> None:
    """exp(-scale * x) for x >= 0: range reduction, a polynomial, then the exponent's bits.

    Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits, so nothing here stops
    the compiler from working on whole vectors. The polynomial interpolates at Chebyshev's points.
    """
    for i in range(x.size):
        y = -scale * x[i]
        y = y if y > -708.0 else -708.0
        t = y * _LOG2E + _ROUND
        n = t - _ROUND
        r = (y - n * _LN2_HI) - n * _LN2_LO
        q = _C11
        q = q * r + _C10
        q = q * r + _C9
        q = q * r + _C8
        q = q * r + _C7
        q = q * r + _C6
        q = q * r + _C5
        q = q * r + _C4
        q = q * r + _C3
        q = q * r + _C2
        q = q * r + 1.0
        q = q * r + 1.0
        out[i] = from_bits(to_bits(q) + (to_bits(t) << 52))


@compiled_inner
def square(value: Any, times: int, out: Any) -> None:
    """Value to the power 2^times."""
    for i in range(value.size):
        out[i] = value[i] * value[i]
    for _ in range(times - 1):
        for i in range(value.size):
            out[i] *= out[i]


@compiled_inner
def _combine_four(value: Any, size: int, weights: Any, target: Any) -> None:
    """Target += Σ_c weights[c] value[c], for the four combinations of two pairs of rows.

    x-x', y-y', x-y', y-x', in an order that leaves exactly 0 where x = y or x' = y'.
    """
    a, b = value[:size], value[size : 2 * size]
    c, d = value[2 * size : 3 * size], value[3 * size : 4 * size]
    w0, w1, w2, w3 = weights[0, 0], weights[1, 0], weights[2, 0], weights[3, 0]
    for i in range(size):
        target[i] += (w0 * a[i] + w2 * c[i]) + (w1 * b[i] + w3 * d[i])


@compiled_inner
def _combine(value: Any, weights: Any, target: Any) -> None:
    """Target += weights · value, for one combination; one weight for all pairs, or one for each."""
    if weights.size == 1:
        weight = weights[0]
        for i in range(target.size):
            target[i] += weight * value[i]
    else:
        for i in range(target.size):
            target[i] += weights[i] * value[i]


@compiled_inner
def _fourth_powers(value: Any, size: int, out: Any, weights: Any, target: Any) -> None:
    """`square` twice and `_combine` in one pass, for four combinations."""
    a, b = value[:size], value[size : 2 * size]
    c, d = value[2 * size : 3 * size], value[3 * size : 4 * size]
    out_a, out_b = out[:size], out[size : 2 * size]
    out_c, out_d = out[2 * size : 3 * size], out[3 * size : 4 * size]
    w0, w1, w2, w3 = weights[0, 0], weights[1, 0], weights[2, 0], weights[3, 0]
    for i in range(size):
        s, t, u, v = a[i] * a[i], b[i] * b[i], c[i] * c[i], d[i] * d[i]
        s, t, u, v = s * s, t * t, u * u, v * v
        out_a[i], out_b[i], out_c[i], out_d[i] = s, t, u, v
        target[i] += (w0 * s + w2 * u) + (w1 * t + w3 * v)


@compiled_fast
def scatter(h: Any, M: int, mean: Any, out: Any) -> None:
    """Mean and centred scatter of the first M columns of h."""
    d = h.shape[0]
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
def add_block(part_mean: Any, part: Any, size: int, done: int, mean: Any, total: Any) -> None:
    """Add mean and scatter of `size` values to those of the `done` values before them."""
    d, share = mean.size, size / (done + size)
    for u in range(d):
        for v in range(d):
            between = (part_mean[u] - mean[u]) * (part_mean[v] - mean[v])
            total[u, v] += part[u, v] + between * done * share
    for u in range(d):
        mean[u] += (part_mean[u] - mean[u]) * share


# Slices keep the last axis only: `a[i, m:n]` is known to be contiguous, `a[:, m:n]` is not, and
# its loops would not vectorise. Hence the places that the functions below take.


@compiled
def evaluate(
    program: Any,
    sq: Any,
    l1: Any,
    weights: Any,
    room: Any,
    h: Any,
    h_at: int,
    pairs: int,
) -> None:
    """Exponential kernels summed over combinations: h[rows[u], m] = Σ_c weights[c, m] k_u(c, m).

    For the first `pairs` columns of the base quantities, into h from column `h_at` on. Operation
    SQUARED takes the kernel before to the power 2^p1: one exponential serves a whole grid of
    bandwidths. `weights` is (C, M), or (C, 1) where they do not depend on the pair. Kernels that
    are no exponentials are passed over: `evaluate_others` is compiled only where there are some.
    """
    kinds, _, p1, _, rows = program
    C, constant = weights.shape[0], weights.shape[1] == 1
    four = constant and C == 4
    for at in range(0, pairs, BLOCK):
        size = min(BLOCK, pairs - at)
        for first in range(0, C, GROUP):
            group = min(GROUP, C - first)
            for u in range(kinds.size):
                if LAPLACE < kinds[u] < SQUARED:
                    continue
                value, before = room[u % 2], room[1 - u % 2]
                target = h[rows[u], h_at + at : h_at + at + size]
                if first == 0:
                    for i in range(size):
                        target[i] = 0.0
                if kinds[u] == SQUARED:
                    if four and p1[u] == 2.0:
                        _fourth_powers(before, size, value, weights, target)
                        continue
                    square(before[: group * size], int(p1[u]), value)
                else:
                    source = sq if kinds[u] == GAUSSIAN else l1
                    for c in range(group):
                        exp(source[first + c, at : at + size], p1[u], value[c * size :])
                if four:
                    _combine_four(value, size, weights, target)
                    continue
                for c in range(group):
                    weight = weights[first + c] if constant else weights[first + c, at:]
                    _combine(value[c * size :], weight, target)


@compiled_inner
def _kernel_profile(kind: int, p1: float, p2: float, q: Any, out: Any) -> None:
    """One kernel's values from its base quantities; p1 is a scale, p2 an exponent or offset."""
    if kind == IMQ:
        if p2 == -0.5:
            for i in range(q.size):
                out[i] = 1.0 / np.sqrt(1.0 + p1 * q[i])
        else:
            for i in range(q.size):
                out[i] = (1.0 + p1 * q[i]) ** p2
    elif kind == POLYNOMIAL:
        for i in range(q.size):
            base = q[i] + p2
            value, left = 1.0, int(p1)
            while left:
                if left & 1:
                    value *= base
                base *= base
                left >>= 1
            out[i] = value
    else:
        for i in range(q.size):
            out[i] = np.sqrt(q[i])
        exp(out, p1, out)
        if kind == MATERN32:
            for i in range(q.size):
                out[i] *= 1.0 + p1 * np.sqrt(q[i])
        elif kind == MATERN52:
            for i in range(q.size):
                z = p1 * np.sqrt(q[i])
                out[i] *= 1.0 + z + z * z / 3.0


@compiled
def evaluate_others(
    program: Any,
    sq: Any,
    dot: Any,
    weights: Any,
    room: Any,
    h: Any,
    h_at: int,
    pairs: int,
) -> None:
    """Sum kernels that are no exponentials of their base quantities, as `evaluate` does."""
    kinds, base_of, p1, p2, rows = program
    C, constant, value = weights.shape[0], weights.shape[1] == 1, room[0]
    for at in range(0, pairs, BLOCK):
        size = min(BLOCK, pairs - at)
        for u in range(kinds.size):
            if kinds[u] <= LAPLACE or kinds[u] == SQUARED:
                continue
            source = sq if base_of[u] == SQ else dot
            target = h[rows[u], h_at + at : h_at + at + size]
            for i in range(size):
                target[i] = 0.0
            for first in range(0, C, GROUP):
                group = min(GROUP, C - first)
                for c in range(group):
                    q = source[first + c, at : at + size]
                    _kernel_profile(kinds[u], p1[u], p2[u], q, value[c * size : (c + 1) * size])
                if constant and C == 4:
                    _combine_four(value, size, weights, target)
                    continue
                for c in range(group):
                    weight = weights[first + c] if constant else weights[first + c, at:]
                    _combine(value[c * size :], weight, target)


@compiled_fast
def is_finite(want: Any, sq: Any, l1: Any, size: int) -> bool:
    """Whether all distances are: a bounded kernel would hide an infinite one."""
    total = 0.0
    for c in range(sq.shape[0]):
        for i in range(size):
            total += sq[c, i] if want[SQ] else (l1[c, i] if want[L1] else 0.0)
    return total < np.inf


@compiled_inner
def _rows_of_pairs(index: Any, listed: bool, at: int, size: int, rows: Any) -> None:
    """Rows ia, ib, ja, jb of the pairs from `at` on, from lists, (4, M), or first rows and steps.

    Rows as they come need no list, whose making and reading would cost as much as the kernels.
    """
    for c in range(4):
        row = rows[c]
        if listed:
            for i in range(size):
                row[i] = index[c, at + i]
        else:
            start, step = index[c, 0], index[c, 1]
            for i in range(size):
                row[i] = start + (at + i) * step


@compiled
def two_sample_moments(
    x: Any,
    y: Any,
    index: Any,
    listed: bool,
    scattered: bool,
    want: Any,
    linear: Any,
    program: Any,
    room: Any,
    mean: Any,
    total: Any,
    M: int,
) -> None:
    """Mean and centred scatter of the values of M quadruples (x[ia], x[ib], y[ja], y[jb]).

    A block at a time: nothing leaves the cache. `scattered` says that the rows do not lie in order,
    and `room` is what `two_sample_room` makes; for `listed` and `index` see `_rows_of_pairs`.
    """
    signs, sq, l1, dot, cross, slots = room
    d, rows = mean.size, np.empty((4, BLOCK), np.int64)
    h, part_mean, part = np.empty((d, BLOCK)), np.empty(d), np.empty((d, d))
    mean[:] = 0.0
    total[:, :] = 0.0
    for m in range(0, M, BLOCK):
        size = min(BLOCK, M - m)
        _rows_of_pairs(index, listed, m, size, rows)
        ia, ib, ja, jb = rows[0, :size], rows[1, :size], rows[2, :size], rows[3, :size]
        if scattered:
            cross[0] = touch(x, ia) + touch(x, ib) + touch(y, ja) + touch(y, jb)
        two_sample_bases(x, ia, ib, y, ja, jb, want, linear.size > 0, sq, l1, dot, cross)
        evaluate(program, sq, l1, signs, slots, h, 0, size)
        evaluate_others(program, sq, dot, signs, slots, h, 0, size)
        if not is_finite(want, sq, l1, size):
            h[:, 0] = np.nan
        for u in linear:  # one by one: an assignment of slices compiles the words of its error, too
            for i in range(size):
                h[u, i] = cross[i]
        scatter(h, size, part_mean, part)
        add_block(part_mean, part, size, m, mean, total)
