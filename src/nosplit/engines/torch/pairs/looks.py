"""Squared lengths of sums along lenses under known draws, on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

# Draws looked at together, and numbers along lenses that are kept at once.
DRAWS, SEEN = 1 << 13, 1 << 26


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
        found = []
        for lens in map(self._on, lenses):
            along = self._about_mean(_along(units.values, lens))
            found.append(self._share * (along * along).sum(dim=0) @ lens.gains)
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
        """Statistics of columns in standard deviations, and gamma laws like theirs.

        Lenses weigh all squares alike; those of one shape are looked through together.
        """
        values = np.zeros((len(self.weights), len(lenses)))
        first, second = np.zeros(len(lenses)), np.zeros(len(lenses))
        sums = exact_product(self.weights, units.values, units.largest)
        if not self.swaps.paired:
            sums -= units.values.sum(dim=0).double() * (self.swaps.n_x / self.swaps.n_units)
        for some in self._alike(lenses):
            view = _Several([lenses[i] for i in some], sums.device)
            along = view.along(units.values)
            along = along if self.swaps.paired else along - along.mean(dim=1, keepdim=True)
            moment, own = along.transpose(1, 2) @ along, (along * along).sum(dim=2)
            size = torch.diagonal(moment, dim1=1, dim2=2).sum(dim=1)
            spare = (moment * moment).sum(dim=(1, 2)) - (own * own).sum(dim=1)
            seen = (view.along(sums) ** 2).sum(dim=2) - (self._share * size)[:, None]
            values[:, some] = seen.T.cpu().numpy()
            first[some] = self.swaps.spread * size.cpu().numpy()
            second[some] = 2.0 * self.swaps.spread**2 * spare.cpu().numpy()
        live = second > CONSTANT * first * first
        second = np.where(live, second, 1.0)
        values = np.where(live, values / np.sqrt(second), 0.0)
        shapes = np.where(live, first * first / second, 1.0)
        return ColumnDraws(values, shapes, np.array(which, dtype=np.int64))

    def _alike(self, lenses: Sequence[Lens]) -> Iterator[list[int]]:
        """Numbers of lenses of one shape, so few at a time that what they show stays small."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for i, lens in enumerate(lenses):
            shapes.setdefault(lens.axes.shape, []).append(i)
        for shape, every in shapes.items():
            width = max(shape) * max(self.swaps.n_units, len(self.weights))
            step = max(1, SEEN // width)
            yield from (every[i : i + step] for i in range(0, len(every), step))

    @property
    def _share(self) -> float:
        """Mean over all draws of a squared sum, over the sum of squares about what is common."""
        swaps = self.swaps
        return 1.0 if swaps.paired else swaps.n_units / (swaps.n_units - 1) * swaps.spread

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


class _Several:
    """Lenses of one shape on runs of numbers, as tensors."""

    def __init__(self, lenses: Sequence[Lens], device: torch.device) -> None:
        first = np.array([_start(lens) for lens in lenses])
        places = first[:, None] + np.arange(len(lenses[0].axes))
        self.places = torch.from_numpy(places).to(device)
        self.axes = torch.from_numpy(np.stack([lens.axes for lens in lenses])).to(device)

    def along(self, numbers: torch.Tensor) -> torch.Tensor:
        """Numbers along the axes of each lens, (lenses, rows, axes)."""
        own = numbers[:, self.places.ravel()].reshape(len(numbers), *self.places.shape)
        own = own.permute(1, 0, 2).double()
        return own * self.axes[:, None, :] if self.axes.ndim == 2 else own @ self.axes


def _start(lens: Lens) -> int:
    return int(lens.where.start if isinstance(lens.where, slice) else lens.where[0])
