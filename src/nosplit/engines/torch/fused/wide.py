"""Waves of many columns, and their sums by cell, in one pass over the rows.

A program takes some rows in the order of cells, and multiplies half floats, which have the digits
of TF32 and half of its size; turns are lifted by powers of two, so that none is too small. Values
too far out for halves are seen, and all is then done anew with TF32.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from nosplit.engines.torch.fused.arithmetic import (
    BLOCKS,
    TileShape,
    _near,
    _product,
    _scaled,
    _some_turns,
    _whole_waves,
    may_use_tf32,
)
from nosplit.engines.torch.sketches.maps import DeviceMap

__all__ = ["add_wide_waves"]


@triton.jit
def _half_product(a, high, rest, into, ONE: tl.constexpr):
    """The product of a and a matrix in two parts of half floats; of the first alone for `ONE`."""
    a_high = a.to(tl.float16)
    if not ONE:
        a_rest = (a - a_high.to(tl.float32)).to(tl.float16)
        into = tl.dot(a_high, rest, into)
        into = tl.dot(a_rest, high, into)
    return tl.dot(a_high, high, into)


@triton.jit
def _add_by_cell(features, starts, cell, begin, end, D, F, f, turns, ROWS: tl.constexpr):
    """Add waves of the rows from `begin` to `end`, in the order of cells; `cell` is the first's."""
    cosines, sines = _whole_waves(turns)
    r = begin + tl.arange(0, ROWS)
    while begin < end:
        last = tl.minimum(tl.load(starts + cell + 1), end)
        own = ((r >= begin) & (r < last))[:, None]
        into = features + cell * D + f
        cosine = tl.sum(tl.where(own, cosines, 0), axis=0)
        sine = tl.sum(tl.where(own, sines, 0), axis=0)
        tl.atomic_add(into, cosine.to(tl.int64), mask=f < F)
        tl.atomic_add(into + F, sine.to(tl.int64), mask=f < F)
        begin = last
        cell += 1


@triton.jit
def _wide(
    x,
    stride,
    order,
    starts,
    cells,
    center,
    scale,
    turns,
    lift,
    features,
    flag,
    n,
    p,
    F,
    D,
    DOUBLE: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    FREQUENCIES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Rows of many columns, a tile of them after the other."""
    HALF: tl.constexpr = PRECISION == "half" or PRECISION == "halves"
    begin = tl.program_id(1).to(tl.int64) * ROWS
    r = begin + tl.arange(0, ROWS)
    f = tl.program_id(0) * 3 * FREQUENCIES + tl.arange(0, FREQUENCIES)
    live = r < n
    row = tl.load(order + r, mask=live, other=0)
    t0 = tl.zeros((ROWS, FREQUENCIES), tl.float32)
    t1 = tl.zeros((ROWS, FREQUENCIES), tl.float32)
    t2 = tl.zeros((ROWS, FREQUENCIES), tl.float32)
    # The largest value, or how often a value was no number.
    strange = tl.zeros((ROWS, COLUMNS), tl.float32)
    for column in range(0, p, COLUMNS):
        k = column + tl.arange(0, COLUMNS)
        inside = k < p
        here = live[:, None] & inside[None, :]
        v = tl.load(x + row[:, None] * stride + k[None, :], mask=here, other=0.0)
        scaled = _scaled(v, center, scale, k, p, inside, DOUBLE)
        scaled = tl.where(live[:, None], scaled, 0.0)
        high0, rest0 = _some_turns(turns, f, k, p, F, inside)
        high1, rest1 = _some_turns(turns, f + FREQUENCIES, k, p, F, inside)
        high2, rest2 = _some_turns(turns, f + 2 * FREQUENCIES, k, p, F, inside)
        if HALF:
            strange = tl.maximum(strange, tl.abs(scaled), tl.PropagateNan.ALL)
            t0 = _half_product(scaled, high0, rest0, t0, PRECISION == "half")
            t1 = _half_product(scaled, high1, rest1, t1, PRECISION == "half")
            t2 = _half_product(scaled, high2, rest2, t2, PRECISION == "half")
        else:
            strange += (v - v).to(tl.float32)
            near = _near(scaled)
            t0 = _product(near, high0, rest0, t0, PRECISION)
            t1 = _product(near, high1, rest1, t1, PRECISION)
            t2 = _product(near, high2, rest2, t2, PRECISION)
    if HALF:
        # Not "<=": what is no number is not.
        bad = (strange < 60000.0) == 0
        t0 *= tl.load(lift + f, mask=f < F, other=0.0)[None, :]
        t1 *= tl.load(lift + f + FREQUENCIES, mask=f + FREQUENCIES < F, other=0.0)[None, :]
        t2 *= tl.load(lift + f + 2 * FREQUENCIES, mask=f + 2 * FREQUENCIES < F, other=0.0)[None, :]
    else:
        bad = strange != 0.0
    tl.atomic_max(flag, tl.max(tl.max(bad.to(tl.int32), axis=1), axis=0))
    cell = tl.load(cells + tl.program_id(1))
    end = tl.minimum(begin + ROWS, n)
    _add_by_cell(features, starts, cell, begin, end, D, F, f, t0, ROWS)
    _add_by_cell(features, starts, cell, begin, end, D, F, f + FREQUENCIES, t1, ROWS)
    _add_by_cell(features, starts, cell, begin, end, D, F, f + 2 * FREQUENCIES, t2, ROWS)


def add_wide_waves(
    sketch: DeviceMap,
    rows: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    features: torch.Tensor,
    shape: TileShape,
) -> torch.Tensor:
    """Add the waves of rows of many columns; as `add_fused_waves`."""
    F, n = sketch.map.n_waves, len(order)
    tiles = triton.cdiv(n, shape.rows)
    first = torch.arange(tiles, device=rows.device) * shape.rows
    cells = torch.searchsorted(starts, first, right=True) - 1
    halves, lift = sketch.halves

    def found(precision: str, turns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Sums of waves by cell, and whether no value was strange."""
        sums = torch.zeros((len(starts) - 1, 2 * F), dtype=torch.int64, device=rows.device)
        flag = torch.zeros(1, dtype=torch.int32, device=rows.device)
        _wide[triton.cdiv(F, BLOCKS * shape.frequencies), tiles](
            rows,
            rows.stride(0),
            order,
            starts,
            cells,
            *sketch.moves(rows.dtype),
            turns,
            lift,
            sums,
            flag,
            n,
            sketch.map.p,
            F,
            2 * F,
            DOUBLE=rows.dtype == torch.float64,
            PRECISION=precision,
            ROWS=shape.rows,
            FREQUENCIES=shape.frequencies,
            COLUMNS=shape.columns,
            num_warps=shape.warps,
            num_stages=1 if rows.dtype == torch.float64 else shape.stages,
        )
        return sums, flag[0] == 0

    sums, fine = found("half" if may_use_tf32() else "halves", halves)
    if not bool(fine):
        sums, fine = found("tf32" if may_use_tf32() else "tf32x3", sketch.turned)
    features[:, : 2 * F] += sums
    return fine
