"""Projections, cosines and sines, and their sums by cell, in one pass over the rows.

The polynomials are those of `loops/sketch`. A program takes some rows of one cell and some of the
frequencies. Products are sums of three on the matrix units, as accurate as float32 (tested), or of
one where the caller lets PyTorch use TF32: `torch.set_float32_matmul_precision("high")`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from nosplit.engines.torch.sketches.maps import DeviceMap
from nosplit.sketch.maps import STEP

__all__ = ["Shape", "add_fused_waves"]


class Shape(NamedTuple):
    """Rows, frequencies and columns of a program's tiles, and warps that share them."""

    rows: int
    frequencies: int
    columns: int
    warps: int


NARROW, WIDE = Shape(64, 64, 16, 4), Shape(128, 64, 32, 8)
# Rows of a tile's place that are summed in 32 bits: each adds at most 2²⁰.
TURNS = 1024


@triton.jit
def _standardised(v, center, scale, k, p, inside, DOUBLE: tl.constexpr):
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
    return tl.minimum(tl.maximum(scaled, -1048576.0), 1048576.0).to(tl.float32)


@triton.jit
def _sine(u):
    """The sine of 2πu for u in [-1/4, 1/4], to 2e-7."""
    u2 = u * u
    inner = -76.549781 + u2 * 39.536706
    return u * (6.28318516 + u2 * (-41.3416550 + u2 * (81.6019468 + u2 * inner)))


@triton.jit
def _waves(
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
    step,
    DOUBLE: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    FREQUENCIES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    cell = tl.program_id(1) // splits
    begin, end = tl.load(starts + cell), tl.load(starts + cell + 1)
    size = (end - begin + splits - 1) // splits
    first = begin + (tl.program_id(1) % splits) * size
    last = tl.minimum(first + size, end)
    f = tl.program_id(0) * FREQUENCIES + tl.arange(0, FREQUENCIES)
    known = f < F
    cosines = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    sines = tl.zeros((ROWS, FREQUENCIES), tl.int32)
    strange = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)
        live = r < last
        row = tl.load(order + r, mask=live, other=0)
        t = tl.zeros((ROWS, FREQUENCIES), tl.float32)
        for column in range(0, p, COLUMNS):
            k = column + tl.arange(0, COLUMNS)
            inside = k < p
            here = live[:, None] & inside[None, :]
            v = tl.load(x + row[:, None] * stride + k[None, :], mask=here, other=0.0)
            strange += (v - v).to(tl.float32)  # not a number if v is none, or infinite
            scaled = _standardised(v, center, scale, k, p, inside, DOUBLE)
            w = tl.load(
                turns + f[None, :] * p + k[:, None],
                mask=inside[:, None] & known[None, :],
                other=0.0,
            )
            t = tl.dot(scaled, w, t, input_precision=PRECISION)
        t -= tl.floor(t + 0.5)
        u = 0.25 - tl.abs(t)
        sine = _sine(0.25 - tl.abs(u)) * step
        sine = tl.where(t < 0.0, -sine, sine)
        cosines += tl.where(live[:, None], (_sine(u) * step).to(tl.int32), 0)
        sines += tl.where(live[:, None], sine.to(tl.int32), 0)
    into = features + cell.to(tl.int64) * D + f
    tl.atomic_add(into, tl.sum(cosines.to(tl.int64), axis=0), mask=known)
    tl.atomic_add(into + F, tl.sum(sines.to(tl.int64), axis=0), mask=known)
    bad = tl.sum(tl.sum(strange, axis=1), axis=0) != 0.0
    tl.atomic_max(flag, bad.to(tl.int32))


def add_fused_waves(
    sketch: DeviceMap,
    rows: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    features: torch.Tensor,
    shape: Shape | None = None,
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
    shape : Shape, optional
        Of a program's tiles.
    """
    F, p, cells = sketch.map.n_waves, sketch.map.p, len(starts) - 1
    flag = torch.zeros(1, dtype=torch.int32, device=rows.device)
    if not (F and len(order)):
        return torch.isfinite(rows).all()
    shape = shape or (NARROW if p <= 16 else WIDE)
    splits = triton.cdiv(len(order), cells * shape.rows * TURNS)
    splits = max(splits, min(8, triton.cdiv(2048, cells)))
    rows = rows if rows.stride(1) == 1 else rows.contiguous()
    fast = torch.get_float32_matmul_precision() != "highest"
    grid = (triton.cdiv(F, shape.frequencies), cells * splits)
    _waves[grid](
        rows,
        rows.stride(0),
        order,
        starts,
        *sketch.moves(rows.dtype),
        sketch.turned,
        features,
        flag,
        p,
        F,
        features.stride(0),
        splits,
        float(STEP),
        DOUBLE=rows.dtype == torch.float64,
        PRECISION="tf32" if fast else "tf32x3",
        ROWS=shape.rows,
        FREQUENCIES=shape.frequencies,
        COLUMNS=shape.columns,
        num_warps=shape.warps,
    )
    return flag[0] == 0
