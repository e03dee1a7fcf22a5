"""Bins of columns, sums of columns and products of scores, by cell, each in one pass.

A program takes some columns, or one pair of them, of some rows of a cell.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from nosplit.engines.torch.fused.arithmetic import _span, _standardised
from nosplit.engines.torch.sketches.maps import DeviceMap
from nosplit.sketch.maps import STEP

__all__ = ["add_fused_columns", "add_fused_pairs"]

# Rows that a program of columns takes at a time, columns that lie side by side, and warps.
ROWS, COLUMNS, WARPS = 128, 8, 4
# Rows that a program of pairs takes at a time, and how often at most: products are below 2²².
PAIRED, TURNS = 256, 256


@triton.jit
def _columns(
    x,
    stride,
    order,
    starts,
    center,
    scale,
    edges,
    offsets,
    linear,
    places,
    bins,
    features,
    n,
    p,
    Q,
    D,
    width,
    splits,
    unit,
    DOUBLE: tl.constexpr,
    KEEP: tl.constexpr,
    SUMS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    LEVELS: tl.constexpr,
):
    which = tl.arange(0, COLUMNS)
    j = tl.program_id(0) * COLUMNS + which
    cell, first, last = _span(starts, splits)
    counts = tl.zeros((COLUMNS, 1 << LEVELS), tl.int32)
    total = tl.zeros((COLUMNS,), tl.int64)
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)
        live = r < last
        here = live[:, None] & (j < p)[None, :]
        row = tl.load(order + r, mask=live, other=0)
        v = tl.load(x + row[:, None] * stride + j[None, :], mask=here, other=0.0)
        if not DOUBLE:
            v = v.to(tl.float32)
        place = tl.zeros((ROWS, COLUMNS), tl.int32)
        for level in tl.static_range(LEVELS):
            at = place + ((1 << (LEVELS - 1 - level)) - 1)
            known = here & (at < width)
            edge = tl.load(edges + j[None, :] * width + at, mask=known, other=float("inf"))
            place += tl.where(edge < v, 1 << (LEVELS - 1 - level), 0)
        for one in tl.static_range(COLUMNS):
            own = tl.sum(tl.where(which[None, :] == one, place, 0), axis=1)
            found = tl.histogram(own, 1 << LEVELS, mask=live)
            counts += tl.where(which[:, None] == one, found[None, :], 0)
        if KEEP:
            tl.store(places + j[None, :].to(tl.int64) * n + r[:, None], place.to(tl.uint8), here)
        if SUMS:
            scaled = _standardised(v, center, scale, j, p, j < p, DOUBLE)
            # To the nearest whole number, by adding what leaves no bits behind the point.
            whole = scaled.to(tl.float64) * unit + 6755399441055744.0
            whole = (whole - 6755399441055744.0).to(tl.int64)
            total += tl.sum(tl.where(here, whole, 0), axis=0)
    e = tl.arange(0, 1 << LEVELS)
    offset = tl.load(offsets + j, mask=j < p, other=0)[:, None] + e[None, :]
    after = tl.load(offsets + j + 1, mask=j < p, other=0)[:, None]
    tl.atomic_add(bins + cell.to(tl.int64) * Q + offset, counts, mask=offset < after)
    if SUMS:
        place_of_sum = tl.load(linear + j, mask=j < p, other=-1)
        into = features + cell.to(tl.int64) * D + place_of_sum
        tl.atomic_add(into, total, mask=place_of_sum >= 0)


@triton.jit
def _pairs(
    places,
    starts,
    left,
    right,
    scores,
    features,
    n,
    p,
    D,
    first_pair,
    width,
    splits,
    ROWS: tl.constexpr,
):
    pair = tl.program_id(0)
    cell, first, last = _span(starts, splits)
    a, b = tl.load(left + pair), tl.load(right + pair)
    s00 = tl.zeros((ROWS,), tl.int32)
    s01 = tl.zeros((ROWS,), tl.int32)
    s10 = tl.zeros((ROWS,), tl.int32)
    s11 = tl.zeros((ROWS,), tl.int32)
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)
        live = r < last
        at_a = (a * width + tl.load(places + a % p * n + r, mask=live, other=0)) * 2
        at_b = (b * width + tl.load(places + b % p * n + r, mask=live, other=0)) * 2
        a0 = tl.load(scores + at_a, mask=live, other=0)
        a1 = tl.load(scores + at_a + 1, mask=live, other=0)
        b0 = tl.load(scores + at_b, mask=live, other=0)
        b1 = tl.load(scores + at_b + 1, mask=live, other=0)
        s00 += a0 * b0
        s01 += a0 * b1
        s10 += a1 * b0
        s11 += a1 * b1
    into = features + cell.to(tl.int64) * D + first_pair + 4 * pair
    tl.atomic_add(into, tl.sum(s00.to(tl.int64), axis=0))
    tl.atomic_add(into + 1, tl.sum(s01.to(tl.int64), axis=0))
    tl.atomic_add(into + 2, tl.sum(s10.to(tl.int64), axis=0))
    tl.atomic_add(into + 3, tl.sum(s11.to(tl.int64), axis=0))


def add_fused_columns(
    sketch: DeviceMap,
    rows: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    bins: torch.Tensor,
    features: torch.Tensor,
) -> torch.Tensor:
    """Count the bins of rows and sum columns; the number of the bin of each value, (p, n).

    The numbers are kept where there are pairs of columns.
    """
    p, cells, n = sketch.map.p, len(starts) - 1, len(order)
    size = (p, n) if len(sketch.map.pairs) else (0, n)
    places = torch.empty(size, dtype=torch.uint8, device=rows.device)
    if not n:
        return places
    rows = rows if rows.stride(1) == 1 else rows.contiguous()
    edges = sketch.edges_of(rows.dtype)
    most = triton.cdiv(int(starts.diff().max()), ROWS)
    groups = triton.cdiv(p, COLUMNS)
    splits = min(most, triton.cdiv(8192, cells * groups))
    _columns[(groups, cells * splits)](
        rows,
        rows.stride(0),
        order,
        starts,
        *sketch.moves(rows.dtype),
        edges,
        sketch.offsets,
        sketch.linear,
        places,
        bins,
        features,
        n,
        p,
        bins.stride(0),
        features.stride(0),
        edges.shape[1],
        splits,
        float(STEP),
        DOUBLE=rows.dtype == torch.float64,
        KEEP=bool(len(sketch.map.pairs)),
        SUMS=bool(len(sketch.map.coordinates)),
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        LEVELS=max(5, edges.shape[1].bit_length()),
        num_warps=WARPS,
    )
    return places


def add_fused_pairs(
    sketch: DeviceMap, places: torch.Tensor, starts: torch.Tensor, features: torch.Tensor
) -> None:
    """Add products of the scores of pairs of columns to the sums of the rows' cells."""
    left, right = sketch.multiplied
    cells, n = len(starts) - 1, places.shape[1]
    if not (len(left) and n):
        return
    most = triton.cdiv(int(starts.diff().max()), PAIRED)
    splits = max(triton.cdiv(most, TURNS), min(most, triton.cdiv(8192, cells)))
    _pairs[(len(left), cells * splits)](
        places,
        starts,
        left,
        right,
        sketch.scores,
        features,
        n,
        sketch.map.p,
        features.stride(0),
        sketch.map.first_product,
        sketch.scores.shape[1],
        splits,
        ROWS=PAIRED,
        num_warps=4,
    )
