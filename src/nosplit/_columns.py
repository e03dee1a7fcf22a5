"""The inner loops on columns: base quantities and moments of adjacent pairs.

Files hold columns, so a block of a file is (p, n). Going through it column by column, the loops
run over pairs and vectorise whatever p is; rows of 10 numbers would not fill the registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# numba's cache does not notice changes in another file: after one there, touch this one.
from nosplit._evaluate import BLOCK, _is_finite, add_block, evaluate, scatter
from nosplit._jit import compiled, compiled_fast, number_at
from nosplit._loops import DOT, L1, SQ

__all__ = ["adjacent_moments", "copy", "deal", "mix"]


@compiled_fast
def _distances(
    x: Any, y: Any, also_x: Any, also_y: Any, sq: Any, l1: Any, cross: Any, also_l1: bool
) -> None:
    """Add two columns' part of x-x', y-y', x-y' and y-x' to sq and l1, and to the cross product.

    Two at a time: reading and writing the sums costs as much as a column's arithmetic.
    """
    s0, s1, s2, s3 = sq[0], sq[1], sq[2], sq[3]
    a0, a1, a2, a3 = l1[0], l1[1], l1[2], l1[3]
    for i in range(x.size // 2):
        t, u, v, w = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        p, q, r, s = also_x[2 * i], also_x[2 * i + 1], also_y[2 * i], also_y[2 * i + 1]
        s0[i] += (t - u) * (t - u) + (p - q) * (p - q)
        s1[i] += (v - w) * (v - w) + (r - s) * (r - s)
        s2[i] += (t - w) * (t - w) + (p - s) * (p - s)
        s3[i] += (v - u) * (v - u) + (r - q) * (r - q)
        cross[i] += (t - v) * (u - w) + (p - r) * (q - s)
        if also_l1:  # the same for the whole loop, which the compiler splits in two
            a0[i] += abs(t - u) + abs(p - q)
            a1[i] += abs(v - w) + abs(r - s)
            a2[i] += abs(t - w) + abs(p - s)
            a3[i] += abs(v - u) + abs(r - q)


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
    first: int,
    last: int,
    want: Any,
    linear: Any,
    program: Any,
    room: Any,
    mean: Any,
    total: Any,
) -> None:
    """Mean and centred scatter of the pairs (2i, 2i + 1), first ≤ i < last, of (p, n) columns.

    `room` is what `two_sample_room` makes.
    """
    signs, sq, l1, dot, cross, slots = room
    d = mean.size
    h, part_mean, part = np.empty((d, BLOCK)), np.empty(d), np.empty((d, d))
    same = np.zeros(2 * BLOCK)
    mean[:] = 0.0
    total[:, :] = 0.0
    for m in range(first, last, BLOCK):
        size, done = min(BLOCK, last - m), m - first
        sq[:, :size], l1[:, :size], dot[:, :size], cross[:size] = 0.0, 0.0, 0.0, 0.0
        rows = slice(2 * m, 2 * (m + size))
        for k in range(0, x.shape[0], 2):
            if want[SQ] or want[L1] or linear.size > 0:
                alone = k + 1 == x.shape[0]  # then beside a column in which nothing differs
                also_x, also_y = (same, same) if alone else (x[k + 1], y[k + 1])
                there = slice(0, 2 * size) if alone else rows
                columns = x[k, rows], y[k, rows], also_x[there], also_y[there]
                _distances(*columns, sq, l1, cross, want[L1])
        if want[DOT]:
            for k in range(x.shape[0]):
                _products(x[k, rows], y[k, rows], dot)
        evaluate(program, sq, l1, dot, signs, slots, h, 0, size)
        if not _is_finite(want, sq, l1, size):
            h[:, 0] = np.nan
        for u in linear:
            h[u, :size] = cross[:size]
        scatter(h, size, part_mean, part)
        add_block(part_mean, part, size, done, mean, total)


@compiled
def copy(column: Any, center: float, factor: float, out: Any) -> None:
    """Values of a column, centred and scaled."""
    for i in range(out.size):
        out[i] = (column[i] - center) * factor


@compiled
def mix(pattern: Any, first: int, second: int, out: Any) -> None:
    """A permutation that is used twice, shifted (see `_blocks.Mixer`)."""
    n = pattern.size
    for i in range(n):
        # No branch: half of them would be taken, at random.
        there = i + first
        place = np.int64(pattern[there - n * (there >= n)]) + second
        out[i] = pattern[place - n * (place >= n)]


@compiled
def deal(addresses: Any, lengths: Any, hand: int, hands: int, places: Any, out: Any) -> None:
    """Deal a hand: the next few numbers of several pieces of memory, to their places in it.

    Pieces are read in runs, and the places lie close together: both stay in the cache.
    """
    i = 0
    for s in range(addresses.size):
        first, last = lengths[s] * hand // hands, lengths[s] * (hand + 1) // hands
        address = addresses[s] + 8 * first
        for t in range(last - first):
            out[places[i + t]] = number_at(address + 8 * t)
        i += last - first
