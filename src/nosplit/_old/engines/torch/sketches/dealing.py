"""The keyed permutation of rows on a device: the same rows in the same cells as everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from nosplit._old.sketch.dealing import TABLE, Deal

__all__ = ["cells_of", "rows_by_cell"]

Step = Callable[[torch.Tensor, Deal], torch.Tensor]


def cells_of(deal: Deal, first: int, count: int, device: torch.device) -> torch.Tensor:
    """Cells of the rows first…first + count - 1; from `deal.cells` on for pilot rows."""
    if deal.key is None:
        places = torch.arange(first, first + count, device=device)
    elif deal.n <= TABLE:
        places = torch.from_numpy(np.ascontiguousarray(deal.places(first, count))).to(device)
    else:
        places = _walked(torch.arange(first, first + count, device=device), deal, _after)
    return places // deal.c


def rows_by_cell(deal: Deal, device: torch.device) -> torch.Tensor:
    """Rows of the first cell, then those of the second, and so on."""
    places = torch.arange(deal.n_dealt, device=device)
    if deal.key is None:
        return places
    if deal.n <= TABLE:
        return torch.from_numpy(deal.rows_at(np.arange(deal.n_dealt))).to(device)
    return _walked(places, deal, _inverse)


def _walked(values: torch.Tensor, deal: Deal, step: Step) -> torch.Tensor:
    """Apply the bijection, and again wherever it leads beyond the last row."""
    found = step(values, deal)
    while len(beyond := torch.nonzero(found >= deal.n)[:, 0]):
        found[beyond] = step(found[beyond], deal)
    return found


def _after(values: torch.Tensor, deal: Deal) -> torch.Tensor:
    """One bijection of all numbers of so many bits; products wrap round as without a sign."""
    mask, half = (1 << deal.bits) - 1, (deal.bits + 1) // 2
    for added, factor in deal.constants.view(np.int64).tolist():
        values = (values + added) & mask
        values = (values * factor) & mask
        values = values ^ (values >> half)
    return values


def _inverse(values: torch.Tensor, deal: Deal) -> torch.Tensor:
    """The inverse of `_after`."""
    mask, half = (1 << deal.bits) - 1, (deal.bits + 1) // 2
    for added, factor in _inverse_rounds(deal):
        values = values ^ (values >> half)
        values = (values * factor) & mask
        values = (values - added) & mask
    return values


def _inverse_rounds(deal: Deal) -> list[tuple[int, int]]:
    """Subtractions and multipliers of the rounds of the inverse, as signed numbers."""
    factors = np.array([pow(int(f), -1, 1 << 64) for f in deal.constants[:, 1]], np.uint64)
    rounds = np.stack([deal.constants[:, 0], factors], axis=1).view(np.int64)
    return [(int(a), int(f)) for a, f in rounds[::-1]]
