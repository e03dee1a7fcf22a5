"""The row at a place: the inverse of the keyed permutation, walked where it is needed."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from nosplit.sketch.dealing import Deal

__all__ = ["rows_at"]

BLOCK = 1024


@triton.jit
def _before(value, rounds, half, mask, ROUNDS: tl.constexpr):
    for r in tl.static_range(ROUNDS):
        value = value ^ (value >> half)
        value = (value * tl.load(rounds + 2 * r + 1)) & mask
        value = (value - tl.load(rounds + 2 * r)) & mask
    return value


@triton.jit
def _rows_at(
    rounds,
    out,
    count,
    n,
    half,
    mask,
    ROUNDS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = place < count
    value = _before(tl.where(live, place, 0), rounds, half, mask, ROUNDS)
    beyond = value >= n
    while tl.max(beyond.to(tl.int32), axis=0) > 0:  # cycle walking, backwards
        value = tl.where(beyond, _before(value, rounds, half, mask, ROUNDS), value)
        beyond = value >= n
    tl.store(out + place, value, mask=live)


def rows_at(deal: Deal, rounds: list[tuple[int, int]], device: torch.device) -> torch.Tensor:
    """Rows of the places 0…n_dealt - 1; `rounds` as `inverse_rounds` gives them."""
    table = torch.from_numpy(np.array(rounds, dtype=np.int64)).to(device)
    out = torch.empty(deal.n_dealt, dtype=torch.int64, device=device)
    grid = (triton.cdiv(deal.n_dealt, BLOCK),)
    half, mask = (deal.bits + 1) // 2, (1 << deal.bits) - 1
    _rows_at[grid](table, out, deal.n_dealt, deal.n, half, mask, ROUNDS=len(rounds), BLOCK=BLOCK)
    return out
