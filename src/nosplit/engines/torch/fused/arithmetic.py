"""The arithmetic that the fused kernels share: scales, waves and products.

The polynomials are those of `loops/sketch`. Products of float32 are three of the matrix units, of
what is left after rounding too (as accurate as float32: tested), or one where the caller lets
PyTorch use TF32: `torch.set_float32_matmul_precision("high")`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from nosplit.sketch.maps import STEP

__all__ = ["BLOCKS", "TileShape", "may_use_tf32"]

# Blocks of frequencies of a program.
BLOCKS = 3


class TileShape(NamedTuple):
    """Rows, frequencies and columns of a program's tiles, warps that share them, and stages."""

    rows: int
    frequencies: int
    columns: int
    warps: int
    stages: int = 2


def may_use_tf32() -> bool:
    """Whether PyTorch may use TF32."""
    return bool(torch.get_float32_matmul_precision() != "highest")


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
def _span(starts, splits):
    """The cell of a program, and its first and last row in the order of cells."""
    cell = tl.program_id(1) // splits
    begin, end = tl.load(starts + cell), tl.load(starts + cell + 1)
    size = (end - begin + splits - 1) // splits
    first = begin + (tl.program_id(1) % splits) * size
    return cell, first, tl.minimum(first + size, end)


assert STEP == 1 << 20  # the coefficients of `_sine` know it
