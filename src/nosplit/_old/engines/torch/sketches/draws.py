"""Statistics of cells under every draw, on a device: products of weights and whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nosplit._old.designs.draws import BlockDraws
from nosplit._old.engines.torch.devices import running, tensor_on
from nosplit._old.engines.torch.products import exact_product, unpacked_signs
from nosplit._old.sketch.cells import Means, View, see_all
from nosplit._old.sketch.swaps import CellDraws, Slots, Swaps
from nosplit._old.sketch.units import EXACT
from nosplit._types import Array

__all__ = ["see_on"]

# Chunks of draws that are looked at together.
CHUNKS = 32


def see_on(
    device: torch.device, draws: CellDraws, views: Sequence[View], means: Sequence[Means]
) -> list[Array]:
    """Look at all views under all draws, (F, statistics) each; as `see_all` in memory."""
    if not isinstance(draws, Swaps | BlockDraws):
        return see_all(draws, views, means, None)
    with running(device):
        units = {
            id(view.units): torch.from_numpy(view.units.values).to(device).to(torch.int32)
            for view in views
        }
        looks = [_Look(view, mean, device) for view, mean in zip(views, means, strict=True)]
        shares = _shares(draws, device)
        centres = {key: shares @ values.double() for key, values in units.items()}
        parts = []
        for weights in _weights(draws, device):
            sums = {}
            for key, values in units.items():
                found = exact_product(weights, values, EXACT // draws.n_units + 1)
                sums[key] = found - centres[key]
            parts.append([look(sums[id(v.units)]) for v, look in zip(views, looks, strict=True)])
        return [
            np.concatenate([p.cpu().numpy() for p in every]) for every in zip(*parts, strict=True)
        ]


class _Look:
    """A view on sums, with its lenses on a device."""

    def __init__(self, view: View, means: Means, device: torch.device) -> None:
        def on(array: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device)

        self.lenses = [
            (
                lens.where if isinstance(lens.where, slice) else on(lens.where),
                on(lens.axes),
                on(lens.gains),
            )
            for lens in view.lenses
        ]
        self.means = on(np.concatenate(means)) if len(means) else None

    def __call__(self, sums: torch.Tensor) -> torch.Tensor:
        if self.means is None:
            return sums[:, :0]
        parts = []
        for where, axes, gains in self.lenses:
            own = sums[:, where]
            along = own * axes if axes.ndim == 1 else own @ axes
            parts.append(along.square_() @ gains)
        return torch.cat(parts, dim=1) - self.means


def _shares(draws: Swaps | BlockDraws, device: torch.device) -> torch.Tensor:
    """Mean weight of each unit over all draws."""
    if isinstance(draws, BlockDraws):
        return tensor_on(draws.shares, device)
    share = 0.0 if draws.paired else draws.n_x / draws.n_units
    return torch.full((draws.n_units,), share, dtype=torch.float64, device=device)


def _weights(draws: Swaps | BlockDraws, device: torch.device) -> Iterator[torch.Tensor]:
    """Weights of units under all draws, many at a time: those of `draws.weights`."""
    chunks = list(draws.chunks())
    for start in range(0, len(chunks), CHUNKS):
        some = chunks[start : start + CHUNKS]
        if isinstance(draws, Slots | BlockDraws) or not draws.paired:
            found = np.concatenate([draws.weights(*chunk).astype(np.int8) for chunk in some])
            yield torch.from_numpy(found).to(device)
            continue
        packed = torch.from_numpy(np.concatenate([draws.bits(*chunk) for chunk in some]))
        signs = unpacked_signs(packed.to(device), draws.n_units)
        if start == 0:
            signs[0] = 1
        yield signs
