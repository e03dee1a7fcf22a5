"""Squared and L1 distances of all rows with all others, by differences."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["distances"]

LEFT, RIGHT = 64, 64


@triton.jit
def _distances(
    a,
    b,
    out,
    A,
    B,
    p,
    SQUARED: tl.constexpr,
    LEFT: tl.constexpr,
    RIGHT: tl.constexpr,
):
    i = tl.program_id(1) * LEFT + tl.arange(0, LEFT)
    j = tl.program_id(0) * RIGHT + tl.arange(0, RIGHT)
    total = tl.zeros((LEFT, RIGHT), out.dtype.element_ty)
    for k in range(p):
        left = tl.load(a + k * A + i, mask=i < A, other=0.0)
        right = tl.load(b + k * B + j, mask=j < B, other=0.0)
        apart = left[:, None] - right[None, :]
        total += apart * apart if SQUARED else tl.abs(apart)
    where = i.to(tl.int64)[:, None] * B + j[None, :]
    tl.store(out + where, total, mask=(i < A)[:, None] & (j < B)[None, :])


def distances(a: torch.Tensor, b: torch.Tensor, *, squared: bool) -> torch.Tensor:
    """Distances of the rows of a, (A, p), and of b, (B, p), of one type of float."""
    out = torch.empty((len(a), len(b)), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(len(b), RIGHT), triton.cdiv(len(a), LEFT))
    _distances[grid](
        a.T.contiguous(),
        b.T.contiguous(),
        out,
        len(a),
        len(b),
        a.shape[1],
        SQUARED=squared,
        LEFT=LEFT,
        RIGHT=RIGHT,
        num_warps=4,
    )
    return out
