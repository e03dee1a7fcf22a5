"""Projections, cosines and sines, and their sums by cell, in one pass over the rows.

The polynomials are those of `loops/sketch`. Products of float32 are three of the matrix units, of
what is left after rounding too (as accurate as float32: tested), or one where the caller lets
PyTorch use TF32: `torch.set_float32_matmul_precision("high")`.

Few columns: a program takes some rows of one cell, and fetches the next ones while it computes.
Many columns: a program takes some rows in the order of cells, and multiplies half floats, which
have the digits of TF32 and half of its size; turns are lifted by powers of two, so that none is
too small. Values too far out for halves are seen, and all is then done anew with TF32.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from nosplit.engines.torch.sketches.maps import DeviceMap
from nosplit.sketch.maps import STEP

__all__ = ["TileShape", "add_fused_waves"]


class TileShape(NamedTuple):
    """Rows, frequencies and columns of a program's tiles, warps that share them, and stages."""

    rows: int
    frequencies: int
    columns: int
    warps: int
    stages: int = 2


NARROW, WIDE = TileShape(64, 32, 16, 4), TileShape(64, 64, 32, 4, 3)
# Blocks of frequencies of a program.
BLOCKS = 3
# Rows of a tile's place that are summed in 32 bits: each adds at most 2²⁰.
TURNS = 1024


@triton.jit
def _scaled(v, center, scale, k, p, inside, DOUBLE: tl.constexpr):
    """Values moved and scaled as float32; centers and scales of single ones are in two parts."""
    c = tl.load(center + k, mask=inside, other=0.0)[None, :]
    s = tl.load(scale + k, mask=inside, other=0.0)[None, :]
    if DOUBLE:
        scaled = (v - c) * s
    else:
        c_rest = tl.load(center + p + k, mask=inside, other=0.0)[None, :]
        s_rest = tl.load(scale + p + k, mask=inside, other=0.0)[None, :]
        moved = (v.to(tl.float32) - c) - c_rest
        scaled = moved * s + moved * s_rest
    return scaled.to(tl.float32)


@triton.jit
def _near(scaled):
    """Values too far out are this far."""
    return tl.minimum(tl.maximum(scaled, -1048576.0), 1048576.0)


@triton.jit
def _standardised(v, center, scale, k, p, inside, DOUBLE: tl.constexpr):
    """Values moved and scaled, none of them too far out."""
    return _near(_scaled(v, center, scale, k, p, inside, DOUBLE))


@triton.jit
def _sine(u):
    """The sine of 2πu for u in [-1/4, 1/4] to 2e-7, in steps of 2⁻²⁰: no digit changes by that."""
    u2 = u * u
    inner = -80268264.0 + u2 * 41457240.0
    return u * (6588397.0 + u2 * (-43349868.0 + u2 * (85565840.0 + u2 * inner)))


@triton.jit
def _whole_waves(t):
    """Cosine and sine of so many turns, in whole steps."""
    t -= tl.floor(t + 0.5)
    u = 0.25 - tl.abs(t)
    # |sin 2πt| = sin 2π(1/4 - ||t| - 1/4|), with the sign of t.
    sign = t.to(tl.int32, bitcast=True) & -2147483648
    w = ((0.25 - tl.abs(u)).to(tl.int32, bitcast=True) ^ sign).to(tl.float32, bitcast=True)
    return _sine(u).to(tl.int32), _sine(w).to(tl.int32)


@triton.jit
def _rounded(a):
    """Round to the nearest number of the matrix units: ten binary digits."""
    return ((a.to(tl.int32, bitcast=True) + 4096) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def _product(a, high, rest, into, PRECISION: tl.constexpr):
    """The product of a and a matrix in two parts; of the first alone for "tf32"."""
    if PRECISION == "tf32":
        return tl.dot(_rounded(a), high, into, input_precision="tf32")
    a_high = _rounded(a)
    a_rest = _rounded(a - a_high)
    into = tl.dot(a_high, rest, into, input_precision="tf32")
    into = tl.dot(a_rest, high, into, input_precision="tf32")
    return tl.dot(a_high, high, into, input_precision="tf32")


@triton.jit
def _some_turns(turns, f, k, p, F, inside):
    """Turns of some columns and frequencies, (columns, frequencies), in two parts."""
    mask = inside[:, None] & (f < F)[None, :]
    at = turns + f[None, :] * p + k[:, None]
    return tl.load(at, mask=mask, other=0.0), tl.load(at + F * p, mask=mask, other=0.0)


@triton.jit
def _add(features, cell, D, F, f, cosines, sines, idle):
    """Add sums over rows to a cell; rows that were none had no turns, and a cosine of one."""
    one, _ = _whole_waves(tl.zeros((1,), tl.float32))
    idle = (idle * tl.sum(one, axis=0)).to(tl.int64)
    into = features + cell.to(tl.int64) * D + f
    tl.atomic_add(into, tl.sum(cosines.to(tl.int64), axis=0) - idle, mask=f < F)
    tl.atomic_add(into + F, tl.sum(sines.to(tl.int64), axis=0), mask=f < F)


@triton.jit
def _span(starts, splits):
    """The cell of a program, and its first and last row in the order of cells."""
    cell = tl.program_id(1) // splits
    begin, end = tl.load(starts + cell), tl.load(starts + cell + 1)
    size = (end - begin + splits - 1) // splits
    first = begin + (tl.program_id(1) % splits) * size
    return cell, first, tl.minimum(first + size, end)


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
    return _add_wide(sketch, rows, order, starts, features, shape)


def _fast() -> bool:
    """Whether PyTorch may use TF32."""
    return bool(torch.get_float32_matmul_precision() != "highest")


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
        PRECISION="tf32" if _fast() else "tf32x3",
        ROWS=shape.rows,
        FREQUENCIES=shape.frequencies,
        COLUMNS=shape.columns,
        num_warps=shape.warps,
        num_stages=1 if rows.dtype == torch.float64 else shape.stages,
    )
    return flag[0] == 0


def _add_wide(
    sketch: DeviceMap,
    rows: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    features: torch.Tensor,
    shape: TileShape,
) -> torch.Tensor:
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

    sums, fine = found("half" if _fast() else "halves", halves)
    if not bool(fine):
        sums, fine = found("tf32" if _fast() else "tf32x3", sketch.turned)
    features[:, : 2 * F] += sums
    return fine


assert STEP == 1 << 20  # the coefficients of `_sine` know it
