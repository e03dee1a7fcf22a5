"""Products of x with every cyclic shift of y on a device, summed by cell; as in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from nosplit._old.sketch.families.independence_sums import ShiftSums
from nosplit.core.feature_map import STEP
from nosplit.core.tensor_map import FAR, TensorMap, VariableWaves

__all__ = ["DeviceShifts", "only_waves"]

# Numbers of observations that are made at once.
AT_ONCE = {"cpu": 1 << 19, "cuda": 1 << 26}


def only_waves(sketch: TensorMap) -> bool:
    """Whether all numbers are waves and coordinates of numbers: no categories, no landmarks."""
    return all(
        not len(side.phases[0]) and all(factor.kernel is None for factor in side.factors)
        for side in sketch.sides
    )


@dataclass(frozen=True, eq=False)
class DeviceWaves:
    """The numbers of one variable, on a device."""

    waves: VariableWaves
    device: torch.device

    def _on(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    @cached_property
    def _moves(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self._on(self.waves.variable.center), self._on(self.waves.variable.spread)

    @cached_property
    def _turns(self) -> torch.Tensor:
        return self._on(self.waves.turns)

    @cached_property
    def _projections(self) -> list[tuple[slice, torch.Tensor]]:
        """Places of coordinates among the numbers, and the directions that they are along."""
        found, start = [], 0
        for factor in self.waves.factors:
            where = slice(start, start + len(factor))
            start = where.stop
            if factor.real:
                found.append((where, self._on(factor.projections)))
        return found

    def numbers(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Real and imaginary parts of the numbers of rows, (n, W)."""
        center, spread = self._moves
        scaled = ((rows.double() - center) / spread).clamp_(-FAR, FAR).float()
        turns = scaled @ self._turns
        turns -= turns.round()
        angle = (2.0 * torch.pi) * turns
        real, imaginary = angle.cos(), angle.sin()
        for where, along in self._projections:
            values = (scaled.double() @ along).clamp_(-FAR, FAR)
            real[:, where], imaginary[:, where] = values.float(), 0.0
        return real, imaginary


@dataclass(frozen=True, eq=False)
class DeviceShifts:
    """The sketch of observations, on a device."""

    sides: tuple[DeviceWaves, DeviceWaves]
    sums: torch.Tensor

    @classmethod
    def empty(cls, sketch: TensorMap, cells: int, q: int, device: torch.device) -> DeviceShifts:
        """The sketch of no observations."""
        x, y = (DeviceWaves(side, device) for side in sketch.sides)
        shape = cells, q, 2 * sketch.n_pairs
        return cls((x, y), torch.zeros(shape, dtype=torch.int64, device=device))

    @property
    def at_once(self) -> int:
        """Units to add at once."""
        _, q, numbers = self.sums.shape
        return int(max(64, AT_ONCE[self.sums.device.type] // (q * numbers)))

    def add(self, x: torch.Tensor, y: torch.Tensor, cells: torch.Tensor) -> None:
        """Add the observations of units, q after q, to the cells of the units."""
        q = self.sums.shape[1]
        shape = len(cells), q, -1
        a, b, c, d = (
            part.reshape(shape)
            for side, rows in zip(self.sides, (x, y), strict=True)
            for part in side.numbers(rows)
        )
        a, b = a - a.mean(dim=1, keepdim=True), b - b.mean(dim=1, keepdim=True)
        for shift in range(q):
            e, f = c.roll(-shift, dims=1), d.roll(-shift, dims=1)
            products = (a * e - b * f).sum(dim=1), (a * f + b * e).sum(dim=1)
            steps = (torch.cat(products, dim=1).double() * STEP).round_().to(torch.int64)
            self.sums[:, shift].index_add_(0, cells, steps)

    def in_memory(self) -> ShiftSums:
        """The same as arrays."""
        return ShiftSums(self.sums.cpu().numpy())
