"""Projections, cosines and sines, and their sums by cell, in one pass over the rows.

Few columns: a program takes some rows of one cell, and fetches the next ones while it computes.
Many columns are in `wide`.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from nosplit.engines.torch.fused.arithmetic import (
    BLOCKS,
    TileShape,
    _product,
    _some_turns,
    _span,
    _standardised,
    _whole_waves,
    may_use_tf32,
)
from nosplit.engines.torch.fused.wide import add_wide_waves
from nosplit.engines.torch.sketches.maps import DeviceMap

__all__ = ["add_fused_waves"]

NARROW, WIDE = TileShape(64, 32, 16, 4), TileShape(64, 64, 32, 4, 3)
# Rows of a tile's place that are summed in 32 bits: each adds at most 2²⁰.
TURNS = 1024


@triton.jit
def _add(features, cell, D, F, f, cosines, sines, idle):
    """Add sums over rows to a cell; rows that were none had no turns, and a cosine of one."""
    one, _ = _whole_waves(tl.zeros((1,), tl.float32))
    idle = (idle * tl.sum(one, axis=0)).to(tl.int64)
    into = features + cell.to(tl.int64) * D + f
    tl.atomic_add(into, tl.sum(cosines.to(tl.int64), axis=0) - idle, mask=f < F)
    tl.atomic_add(into + F, tl.sum(sines.to(tl.int64), axis=0), mask=f < F)


@triton.jit
def _narrow(
    x,
    stride,
    order,
    starts,
    center,
    scale,
    turns,
    features,
    flag,
    p,
    F,
    D,
    splits,
    DOUBLE: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    FREQUENCIES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Rows whose columns are one tile."""
    cell, first, last = _span(starts, splits)
    f = tl.program_id(0) * 3 * FREQUENCIES + tl.arange(0, FREQUENCIES)
    k = tl.arange(0, COLUMNS)
    inside = k < p
    high0, rest0 = _some_turns(turns, f, k, p, F, inside)
    high1, rest1 = _some_turns(turns, f + FREQUENCIES, k, p, F, inside)
    high2, rest2 = _some_turns(turns, f + 2 * FREQUENCIES, k, p, F, inside)
    c0 = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    c1 = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    c2 = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    s0 = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    s1 = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    s2 = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    none = tl.zeros((ROWS, FREQUENCIES), tl.float32)
    strange = tl.zeros((ROWS, COLUMNS), tl.float32)
    r = first + tl.arange(0, ROWS)
    row = tl.load(order + r, mask=r < last, other=0)
    here = (r < last)[:, None] & inside[None, :]
    v = tl.load(x + row[:, None] * stride + k[None, :], mask=here, other=0.0)
    row = tl.load(order + r + ROWS, mask=r + ROWS < last, other=0)
    for _ in range(first, last, ROWS):
        here = (r + ROWS < last)[:, None] & inside[None, :]
        following = tl.load(x + row[:, None] * stride + k[None, :], mask=here, other=0.0)
        row = tl.load(order + r + 2 * ROWS, mask=r + 2 * ROWS < last, other=0)
        strange += (v - v).to(tl.float32)  # not a number if v is none, or infinite
        scaled = _standardised(v, center, scale, k, p, inside, DOUBLE)
        scaled = tl.where((r < last)[:, None], scaled, 0.0)
        cosine, sine = _whole_waves(_product(scaled, high0, rest0, none, PRECISION))
        c0 += cosine
        s0 += sine
        cosine, sine = _whole_waves(_product(scaled, high1, rest1, none, PRECISION))
        c1 += cosine
        s1 += sine
        cosine, sine = _whole_waves(_product(scaled, high2, rest2, none, PRECISION))
        c2 += cosine
        s2 += sine
        v = following
        r += ROWS
    count = tl.maximum(last - first, 0)
    idle = (count + ROWS - 1) // ROWS * ROWS - count
    _add(features, cell, D, F, f, c0, s0, idle)
    _add(features, cell, D, F, f + FREQUENCIES, c1, s1, idle)
    _add(features, cell, D, F, f + 2 * FREQUENCIES, c2, s2, idle)
    bad = tl.sum(tl.sum(strange, axis=1), axis=0) != 0.0
    tl.atomic_max(flag, bad.to(tl.int32))


def add_fused_waves(
    sketch: DeviceMap,
    rows: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    features: torch.Tensor,
    shape: TileShape | None = None,
) -> torch.Tensor:
    """Add the waves of rows to the sums of their cells; whether all values are finite.

    Parameters
    ----------
    sketch : DeviceMap
        The map.
    rows : tensor, shape (n, p)
        The rows.
    order, starts : tensor of int64
        Numbers of rows in the order of their cells, and where each cell begins.
    features : tensor of int64, shape (C, D)
        The sums.
    shape : TileShape, optional
        Of a program's tiles.
    """
    F, p = sketch.map.n_waves, sketch.map.p
    if not (F and len(order)):
        return torch.isfinite(rows).all()
    rows = rows if rows.stride(1) == 1 else rows.contiguous()
    shape = shape or (NARROW if p <= NARROW.columns else WIDE)
    if p <= shape.columns:
        return _add_narrow(sketch, rows, order, starts, features, shape)
    return add_wide_waves(sketch, rows, order, starts, features, shape)


def _add_narrow(
    sketch: DeviceMap,
    rows: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    features: torch.Tensor,
    shape: TileShape,
) -> torch.Tensor:
    F, cells = sketch.map.n_waves, len(starts) - 1
    flag = torch.zeros(1, dtype=torch.int32, device=rows.device)
    most = triton.cdiv(int(starts.diff().max()), shape.rows)
    splits = max(triton.cdiv(most, TURNS), min(most, triton.cdiv(4096, cells)))
    _narrow[triton.cdiv(F, BLOCKS * shape.frequencies), cells * splits](
        rows,
        rows.stride(0),
        order,
        starts,
        *sketch.moves(rows.dtype),
        sketch.turned,
        features,
        flag,
        sketch.map.p,
        F,
        features.stride(0),
        splits,
        DOUBLE=rows.dtype == torch.float64,
        PRECISION="tf32" if may_use_tf32() else "tf32x3",
        ROWS=shape.rows,
        FREQUENCIES=shape.frequencies,
        COLUMNS=shape.columns,
        num_warps=shape.warps,
        num_stages=1 if rows.dtype == torch.float64 else shape.stages,
    )
    return flag[0] == 0
