"""Stein features of rows on a device, summed by cell: the integers of memory, up to rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from nosplit.core.feature_map import STEP
from nosplit.core.stein_map import FAR, SteinMap, SteinSums
from nosplit.kernels.stein import BoundedLinear

__all__ = ["DeviceStein"]

# Numbers of rows that are made at once.
AT_ONCE = {"cpu": 1 << 20, "cuda": 1 << 26}


@dataclass(frozen=True, eq=False)
class DeviceStein:
    """The sketch of rows and scores, on a device."""

    map: SteinMap
    numbers: torch.Tensor

    @classmethod
    def empty(cls, sketch: SteinMap, cells: int, device: torch.device) -> DeviceStein:
        """The sketch of no rows."""
        shape = cells, sketch.n_numbers
        return cls(sketch, torch.zeros(shape, dtype=torch.int64, device=device))

    @property
    def at_once(self) -> int:
        """Rows to add at once."""
        return max(1024, AT_ONCE[self.numbers.device.type] // self.map.n_numbers)

    def _on(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.numbers.device)

    @cached_property
    def _moves(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self._on(self.map.center), self._on(self.map.spread)

    @cached_property
    def _waves(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self._on(self.map.turns), self._on(self.map.directions), self._on(self.map.slopes)

    @cached_property
    def _pairs(self) -> tuple[torch.Tensor, torch.Tensor]:
        k, j = self.map.pairs
        return self._on(k), self._on(j)

    @cached_property
    def _gains(self) -> torch.Tensor:
        return self._on(STEP / self.map.scales)

    def add(self, rows: torch.Tensor, scores: torch.Tensor, cells: torch.Tensor) -> None:
        """Add rows to their cells; rows of cells beyond the last are passed over."""
        kept = torch.nonzero(cells < len(self.numbers))[:, 0]
        values = self.values(rows[kept].double(), scores[kept].double())
        room = STEP * FAR
        steps = (values * self._gains).clamp_(-room, room).round_().to(torch.int64)
        self.numbers.index_add_(0, cells[kept], steps)

    def values(self, rows: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The numbers of each row, (n, D), as `SteinMap.values` has them."""
        center, spread = self._moves
        turned, directions, slopes = self._waves
        z = (rows - center) / spread
        turns = z.clamp(-FAR, FAR).float() @ turned
        angle = (2.0 * torch.pi) * (turns - turns.round())
        cosine, sine, along = angle.cos().double(), angle.sin().double(), scores @ directions
        waves = along * cosine - slopes * sine, along * sine + slopes * cosine
        return torch.cat([*waves, self._low_orders(z, scores * spread)], dim=1)

    def _low_orders(self, z: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        """Stein features of 1, of bounded coordinates and of their squares."""
        root = torch.rsqrt(1.0 + (z / BoundedLinear().bound) ** 2)
        r, slope = z * root, root**3
        k, j = self._pairs
        low = s, slope + r * s, 2.0 * r * slope + r * r * s, r[:, k] * s[:, j]
        return torch.cat(low, dim=1)

    def in_memory(self) -> SteinSums:
        """The same as arrays."""
        return SteinSums(self.numbers.cpu().numpy())
