"""The inner loops on rows: their base quantities, products with matrices, and their order.

Every built-in kernel depends on two rows through one base quantity: squared distance, L1 distance
or inner product.
"""

from __future__ import annotations

from typing import Any

from nosplit.backend.numba.jit import compiled, compiled_fast

__all__ = [
    "DOT",
    "L1",
    "SQ",
    "mend_sq",
    "product",
    "riffle",
    "tile_l1",
    "tile_sq",
    "touch",
    "two_sample_bases",
]

SQ, L1, DOT = range(3)

# Riffled rows: 2^4 in a run, 2^13 in a buffer, as in `core/order`. Constants are five times
# faster here.
_RUN_BITS, _BUFFER_BITS = 4, 13


@compiled_fast
def touch(x: Any, index: Any) -> float:
    """Read one number of every cache line of the given rows; their sum, so that it is not idle.

    Nothing waits for these reads, so many are under way at once: rows in random order are then
    in the cache when the loops with longer bodies come to them.
    """
    total = 0.0
    for i in range(index.size):
        for k in range(0, x.shape[1], 8):
            total += x[index[i], k]
    return total


@compiled_fast
def two_sample_bases(
    x: Any,
    ia: Any,
    ib: Any,
    y: Any,
    ja: Any,
    jb: Any,
    want: Any,
    linear: bool,
    sq: Any,
    l1: Any,
    dot: Any,
    cross: Any,
) -> None:
    """Base quantities of aligned quadruples, reading each row once for each quantity.

    For x = x[ia], x' = x[ib], y = y[ja], y' = y[jb]: x-x', y-y', x-y' and y-x' into sq, l1 and
    dot, (4, M) each, as `want` says, and (x - y)'(x' - y') into cross if `linear`.
    """
    zero = x[0, 0] - x[0, 0]
    p = x.shape[1]
    for i in range(ia.size):
        a, b, c, d = ia[i], ib[i], ja[i], jb[i]
        if want[SQ]:
            s0, s1, s2, s3, s4 = zero, zero, zero, zero, zero
            for k in range(p):
                t, u, v, w = x[a, k], x[b, k], y[c, k], y[d, k]
                s0 += (t - u) * (t - u)
                s1 += (v - w) * (v - w)
                s2 += (t - w) * (t - w)
                s3 += (v - u) * (v - u)
                s4 += (t - v) * (u - w)
            sq[0, i], sq[1, i], sq[2, i], sq[3, i], cross[i] = s0, s1, s2, s3, s4
        elif linear:
            total = zero
            for k in range(p):
                total += (x[a, k] - y[c, k]) * (x[b, k] - y[d, k])
            cross[i] = total
        if want[L1]:
            s0, s1, s2, s3 = zero, zero, zero, zero
            for k in range(p):
                t, u, v, w = x[a, k], x[b, k], y[c, k], y[d, k]
                s0 += abs(t - u)
                s1 += abs(v - w)
                s2 += abs(t - w)
                s3 += abs(v - u)
            l1[0, i], l1[1, i], l1[2, i], l1[3, i] = s0, s1, s2, s3
        if want[DOT]:
            s0, s1, s2, s3 = zero, zero, zero, zero
            for k in range(p):
                t, u, v, w = x[a, k], x[b, k], y[c, k], y[d, k]
                s0 += t * u
                s1 += v * w
                s2 += t * w
                s3 += v * u
            dot[0, i], dot[1, i], dot[2, i], dot[3, i] = s0, s1, s2, s3


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
def tile_l1(a: Any, bt: Any, out: Any) -> None:
    """L1 distances of the rows of a, (A, p), and the columns of bt, (p, B)."""
    for i in range(a.shape[0]):
        row = out[i]
        row[:] = 0.0
        for k in range(a.shape[1]):
            value = a[i, k]
            for j in range(bt.shape[1]):
                row[j] += abs(value - bt[k, j])


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


@compiled
def riffle(
    starts: Any, pattern: Any, shifts: Any, rest: Any, position: int, step: int, out: Any
) -> None:
    """Rows at positions `position`, `position + step`, … of a riffled order (`core/order`)."""
    last = (1 << _BUFFER_BITS) - 1
    dealt = len(shifts) << _BUFFER_BITS
    for i in range(out.size):
        if position < dealt:
            buffer = position >> _BUFFER_BITS
            first = pattern[(position + shifts[buffer, 0]) & last]
            place = pattern[(first + shifts[buffer, 1]) & last]
            run = (buffer << _RUN_BITS) + (place & ((1 << _RUN_BITS) - 1))
            out[i] = starts[place >> _RUN_BITS] + run
        else:
            out[i] = rest[position - dealt]
        position += step


@compiled
def product(a: Any, b: Any, out: Any) -> None:
    """Write a @ b, (n, p) and (p, m) of one type, into `out`.

    Libraries of linear algebra add up the terms of an entry in an order that depends on where it
    stands, and on the processor: rows of one batch would differ in their last bit from the same
    rows in another. Here an entry has its terms in their order, two rows and four terms at a time.
    """
    n, p = a.shape
    m = b.shape[1]
    even, fours = n - n % 2, p - p % 4
    for i in range(0, even, 2):
        u, v = out[i], out[i + 1]
        for j in range(m):
            u[j] = 0.0
            v[j] = 0.0
        for k in range(0, fours, 4):
            u0, u1, u2, u3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
            v0, v1, v2, v3 = a[i + 1, k], a[i + 1, k + 1], a[i + 1, k + 2], a[i + 1, k + 3]
            b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
            for j in range(m):
                c0, c1, c2, c3 = b0[j], b1[j], b2[j], b3[j]
                u[j] = (((u[j] + u0 * c0) + u1 * c1) + u2 * c2) + u3 * c3
                v[j] = (((v[j] + v0 * c0) + v1 * c1) + v2 * c2) + v3 * c3
        for k in range(fours, p):
            u0, v0, b0 = a[i, k], a[i + 1, k], b[k]
            for j in range(m):
                u[j] += u0 * b0[j]
                v[j] += v0 * b0[j]
    for i in range(even, n):
        u = out[i]
        for j in range(m):
            u[j] = 0.0
        for k in range(p):
            u0, b0 = a[i, k], b[k]
            for j in range(m):
                u[j] += u0 * b0[j]
