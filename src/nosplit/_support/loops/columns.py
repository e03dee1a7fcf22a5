"""The inner loops on columns: base quantities and moments of adjacent pairs.

Files hold columns, so a block of a file is columns of n numbers, wherever they lie in memory: they
are given by their addresses. Going through it column by column, the loops run over pairs and
vectorise whatever p is; rows of 10 numbers would not fill the registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from nosplit._support.loops.bases import DOT, L1, SQ
from nosplit._support.loops.jit import compiled, compiled_fast, numbers_from

# numba's cache does not notice changes in another file: after one there, touch this one.
from nosplit._support.loops.values import BLOCK, add_block, evaluate, is_finite, scatter

__all__ = ["adjacent_moments", "bounded_sums", "collect", "copy", "deal", "mix"]


@compiled_fast
def _distances(
    x: Any,
    y: Any,
    also_x: Any,
    also_y: Any,
    f: float,
    g: float,
    sq: Any,
    l1: Any,
    cross: Any,
    also_l1: bool,
) -> None:
    """Add two columns' part of x-x', y-y', x-y' and y-x' to sq and l1, and to the cross product.

    Two at a time: reading and writing the sums costs as much as a column's arithmetic. f and g
    scale them: fused into the sums, which costs nothing, where scaled copies would cost a pass.
    """
    s0, s1, s2, s3 = sq[0], sq[1], sq[2], sq[3]
    a0, a1, a2, a3 = l1[0], l1[1], l1[2], l1[3]
    ff, gg = f * f, g * g
    for i in range(x.size // 2):
        t, u, v, w = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        p, q, r, s = also_x[2 * i], also_x[2 * i + 1], also_y[2 * i], also_y[2 * i + 1]
        s0[i] += ff * ((t - u) * (t - u)) + gg * ((p - q) * (p - q))
        s1[i] += ff * ((v - w) * (v - w)) + gg * ((r - s) * (r - s))
        s2[i] += ff * ((t - w) * (t - w)) + gg * ((p - s) * (p - s))
        s3[i] += ff * ((v - u) * (v - u)) + gg * ((r - q) * (r - q))
        cross[i] += ff * ((t - v) * (u - w)) + gg * ((p - r) * (q - s))
        if also_l1:  # the same for the whole loop, which the compiler splits in two
            a0[i] += f * abs(t - u) + g * abs(p - q)
            a1[i] += f * abs(v - w) + g * abs(r - s)
            a2[i] += f * abs(t - w) + g * abs(p - s)
            a3[i] += f * abs(v - u) + g * abs(r - q)


@compiled_fast
def _products(x: Any, y: Any, dot: Any) -> None:
    """Add one column's part of the inner products xx', yy', xy' and yx'."""
    d0, d1, d2, d3 = dot[0], dot[1], dot[2], dot[3]
    for i in range(x.size // 2):
        t, u, v, w = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        d0[i] += t * u
        d1[i] += v * w
        d2[i] += t * w
        d3[i] += v * u


@compiled
def adjacent_moments(
    x: Any,
    y: Any,
    factors: Any,
    first: int,
    last: int,
    want: Any,
    linear: Any,
    program: Any,
    room: Any,
    mean: Any,
    total: Any,
) -> None:
    """Mean and centred scatter of the pairs (2i, 2i + 1), first ≤ i < last.

    `x` and `y` are the addresses of p columns, `factors` what distances along them are multiplied
    by (inner products are of the numbers as they are); `room` is what `two_sample_room` makes.
    """
    signs, sq, l1, dot, cross, slots = room
    d, p = mean.size, x.size
    h, part_mean, part = np.empty((d, BLOCK)), np.empty(d), np.empty((d, d))
    same = np.zeros(2 * BLOCK)
    mean[:] = 0.0
    total[:, :] = 0.0
    for m in range(first, last, BLOCK):
        size, done = min(BLOCK, last - m), m - first
        sq[:, :size], l1[:, :size], dot[:, :size], cross[:size] = 0.0, 0.0, 0.0, 0.0
        for k in range(0, p, 2):
            if want[SQ] or want[L1] or linear.size > 0:
                one = _part(x[k], m, size), _part(y[k], m, size)
                if k + 1 < p:
                    other = _part(x[k + 1], m, size), _part(y[k + 1], m, size)
                    g = factors[k + 1]
                else:  # beside a column in which nothing differs
                    other, g = (same[: 2 * size], same[: 2 * size]), 1.0
                _distances(*one, *other, factors[k], g, sq, l1, cross, want[L1])
        if want[DOT]:
            for k in range(p):
                _products(_part(x[k], m, size), _part(y[k], m, size), dot)
        evaluate(program, sq, l1, dot, signs, slots, h, 0, size)
        if not is_finite(want, sq, l1, size):
            h[:, 0] = np.nan
        for u in linear:
            h[u, :size] = cross[:size]
        scatter(h, size, part_mean, part)
        add_block(part_mean, part, size, done, mean, total)


@compiled
def _part(address: int, pair: int, size: int) -> Any:
    """The numbers of so many pairs of a column, from a pair on."""
    return carray(numbers_from(address + 16 * pair), 2 * size)


@compiled
def copy(addresses: Any, centers: Any, factors: Any, out: Any) -> None:
    """Numbers of p columns, centred and scaled: (p, n)."""
    for k in range(addresses.size):
        column, c, f = carray(numbers_from(addresses[k]), out.shape[1]), centers[k], factors[k]
        for i in range(out.shape[1]):
            out[k, i] = (column[i] - c) * f


@compiled
def mix(pattern: Any, first: int, second: int, out: Any) -> None:
    """A permutation of 2^k that is used twice, shifted (see `mixing.Mixer`)."""
    last = pattern.size - 1
    for i in range(pattern.size):
        out[i] = pattern[(pattern[(i + first) & last] + second) & last]


@compiled_fast
def bounded_sums(addresses: Any, size: int, centers: Any, factors: Any, sums: Any) -> None:
    """Sums of z, |z| and z² of each column, where z is scaled and bounded (`drift.Features`)."""
    for k in range(addresses.size):
        column, c, f = carray(numbers_from(addresses[k]), size), centers[k], factors[k]
        plain = absolute = squared = 0.0
        for i in range(size):
            z = min(max((column[i] - c) * f, -4.0), 4.0)
            plain += z
            absolute += abs(z)
            squared += z * z
        sums[0, k], sums[1, k], sums[2, k] = plain, absolute, squared


@compiled
def _gather(addresses: Any, counts: Any, out: Any) -> None:
    """Numbers of several pieces of memory, one after the other."""
    done = 0
    for s in range(counts.size):
        piece = carray(numbers_from(addresses[s]), counts[s])
        for i in range(counts[s]):
            out[done + i] = piece[i]
        done += counts[s]


@compiled
def collect(addresses: Any, counts: Any, out: Any) -> None:
    """Numbers of several pieces of memory, (p, pieces), one after the other: rows of `out`."""
    for k in range(addresses.shape[0]):
        _gather(addresses[k], counts, out[k])


@compiled
def deal(addresses: Any, counts: Any, places: Any, hand: Any, out: Any) -> None:
    """As `collect`, in another order.

    They go through a hand, in the cache: reading the pieces or writing the rows in any other order
    than their own would wait for memory.
    """
    for k in range(addresses.shape[0]):
        row = out[k]
        _gather(addresses[k], counts, hand)
        for i in range(places.size):
            row[i] = hand[places[i]]
