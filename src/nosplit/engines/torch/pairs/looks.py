"""What is seen under draws that are known, on a device: squared lengths of sums along lenses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nosplit._support.types import Array
from nosplit.engines.torch.products import exact_product
from nosplit.pairs.statistics import ColumnDraws
from nosplit.sketch.lenses import CONSTANT
from nosplit.sketch.swaps import Swaps
from nosplit.sketch.units import EXACT, Lens

__all__ = ["Looks", "TensorUnits"]

# Draws looked at together.
DRAWS = 1 << 13


@dataclass(frozen=True, eq=False)
class TensorUnits:
    """Units in whole numbers of at most `largest`, and the value of a step of each column."""

    values: torch.Tensor
    steps: Array
    largest: int


@dataclass(frozen=True, eq=False)
class Looks:
    """Weights of units under all draws, (F, N), on a device."""

    swaps: Swaps
    weights: torch.Tensor

    def units(self, values: torch.Tensor) -> TensorUnits:
        """Differences of rows, or all rows, in the whole steps that are used in memory."""
        n = self.swaps.n_x
        own = values[:n] - values[n:] if self.swaps.paired else values
        steps = own.abs().amax(dim=0) * (self.swaps.n_units / EXACT)
        steps = torch.where(steps == 0.0, torch.ones_like(steps), steps)
        whole = torch.round(own / steps).to(torch.int32)
        return TensorUnits(whole, steps.cpu().numpy(), EXACT // self.swaps.n_units + 1)

    def see(self, units: TensorUnits, lenses: Sequence[Lens], means: torch.Tensor) -> Array:
        """Squared lengths of sums less their means, under all draws, (F, statistics)."""
        lenses = [self._on(lens) for lens in lenses]
        centre = units.values.sum(dim=0).double() * (self.swaps.n_x / self.swaps.n_units)
        parts = []
        for start in range(0, len(self.weights), DRAWS):
            some = self.weights[start : start + DRAWS]
            sums = exact_product(some, units.values, units.largest)
            if not self.swaps.paired:
                sums -= centre
            seen = [(_along(sums, lens) ** 2) @ lens.gains for lens in lenses]
            parts.append((torch.cat(seen, dim=1) - means).cpu().numpy())
        return np.concatenate(parts)

    def means(self, units: TensorUnits, lenses: Sequence[Lens]) -> torch.Tensor:
        """Means over all draws of what lenses show."""
        swaps = self.swaps
        share = 1.0 if swaps.paired else swaps.n_units / (swaps.n_units - 1) * swaps.spread
        found = []
        for lens in map(self._on, lenses):
            along = self._about_mean(_along(units.values, lens))
            found.append(share * (along * along).sum(dim=0) @ lens.gains)
        return torch.cat(found)

    def covariance(self, units: TensorUnits, lenses: Sequence[Lens], m: int) -> Array:
        """Second moments of pair values, over pairs of different units: m⁻¹ Σ_{a<b} h_u h_v."""
        lenses = [self._on(lens) for lens in lenses]
        along = [self._about_mean(_along(units.values, lens)) for lens in lenses]
        both = list(zip(along, lenses, strict=True))
        own = torch.cat([(a * a) @ lens.gains for a, lens in both], dim=1)
        rows = [
            torch.cat([u.gains.T @ (a.T @ b) ** 2 @ v.gains for b, v in both], dim=1)
            for a, u in both
        ]
        cov = (torch.cat(rows) - own.T @ own) / (2.0 * m)
        return np.asarray(((cov + cov.T) / 2.0).cpu().numpy())

    def columns(
        self, units: TensorUnits, lenses: Sequence[Lens], which: Sequence[int]
    ) -> ColumnDraws:
        """Statistics of columns in standard deviations, and gamma laws like theirs."""
        laws, means, spread = [], [], self.swaps.spread
        for lens in map(self._on, lenses):
            along = self._about_mean(_along(units.values, lens))
            moment, own = along.T @ along, (along * along).sum(dim=1)
            first = spread * moment.trace()
            second = 2.0 * spread**2 * ((moment * moment).sum() - (own * own).sum())
            laws.append(torch.stack([first, second]))
            means.append(torch.diagonal(moment) @ lens.gains)
        swaps = self.swaps
        share = 1.0 if swaps.paired else swaps.n_units / (swaps.n_units - 1) * spread
        values = self.see(units, lenses, share * torch.cat(means))
        first, second = torch.stack(laws).cpu().numpy().T
        live = second > CONSTANT * first * first
        second = np.where(live, second, 1.0)
        values = np.where(live, values / np.sqrt(second), 0.0)
        shapes = np.where(live, first * first / second, 1.0)
        return ColumnDraws(values, shapes, np.array(which, dtype=np.int64))

    def _about_mean(self, along: torch.Tensor) -> torch.Tensor:
        return along if self.swaps.paired else along - along.mean(dim=0)

    def _on(self, lens: Lens) -> Any:
        device = self.weights.device
        axes, gains = (torch.from_numpy(part).to(device) for part in (lens.axes, lens.gains))
        return Lens(lens.where, axes, gains)


def _along(numbers: torch.Tensor, lens: Any) -> torch.Tensor:
    """Numbers along the axes of a lens of tensors."""
    own = numbers[:, lens.where].double()
    return own * lens.axes if lens.axes.ndim == 1 else own @ lens.axes
