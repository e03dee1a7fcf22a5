"""Sums of features by cell, made on a device.

Rows are taken in the order of their cells. The sums are integers as everywhere, so that neither
batches nor the order in which a device adds them change a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nosplit._old.engines.torch.sketches.maps import DeviceMap
from nosplit._old.sketch.sums import TOO_FAR, CellSums
from nosplit.errors import NonFiniteError

__all__ = ["ByCell", "DeviceSums"]

# Numbers of rows that are made at once: of frequencies, of products and of bins.
AT_ONCE = {"cpu": 1 << 21, "cuda": 1 << 26}


@dataclass(frozen=True, eq=False)
class ByCell:
    """Numbers of rows in the order of their cells, and where each cell begins, (C + 1,)."""

    order: torch.Tensor
    starts: torch.Tensor

    @classmethod
    def of(cls, cells: torch.Tensor, count: int) -> ByCell:
        """Order rows by their cells; rows of cells beyond the last are passed over."""
        found, order = cells.sort(stable=True)
        starts = torch.searchsorted(found, torch.arange(count + 1, device=cells.device))
        return cls(order[: int(starts[-1])], starts)


@dataclass(frozen=True, eq=False)
class DeviceSums:
    """The sketch of a sample, on a device."""

    map: DeviceMap
    features: torch.Tensor
    bins: torch.Tensor

    @classmethod
    def empty(cls, sketch: DeviceMap, cells: int) -> DeviceSums:
        """The sketch of no rows."""
        own, place = sketch.map, sketch.device
        features = torch.zeros((cells, own.n_features), dtype=torch.int64, device=place)
        bins = torch.zeros((cells, own.n_bins), dtype=torch.int32, device=place)
        return cls(sketch, features, bins)

    def in_memory(self) -> CellSums:
        """The same as arrays."""
        return CellSums(self.features.cpu().numpy(), self.bins.cpu().numpy())

    def add(self, rows: torch.Tensor, by_cell: ByCell) -> None:
        """Add rows to their cells, some after others."""
        count = max(1024, AT_ONCE["cuda" if rows.is_cuda else "cpu"] // self.map.map.n_features)
        cells = torch.repeat_interleave(by_cell.starts.diff(), output_size=len(by_cell.order))
        for start in range(0, len(by_cell.order), count):
            some = rows[by_cell.order[start : start + count]]
            if not bool(torch.isfinite(some).all()):
                raise NonFiniteError(TOO_FAR)
            self._add(some, cells[start : start + count])
            if self.map.map.others:
                self._add_landmarks(some, cells[start : start + count])

    def _add(self, rows: torch.Tensor, cells: torch.Tensor) -> None:
        """Add waves, coordinates, bins and products of scores."""
        sketch, own = self.map, self.map.map
        F, k = own.n_waves, len(own.coordinates)
        scaled = sketch.standardised(rows)
        if F:
            self.features[:, : 2 * F].index_add_(0, cells, sketch.waves(rows, scaled).long())
        if k:
            into = self.features[:, 2 * F : 2 * F + k]
            into.index_add_(0, cells, sketch.coordinates(scaled))
        places = sketch.places(rows)
        at = (cells[:, None] * own.n_bins + sketch.starts + places).ravel()
        self.bins.view(-1).index_add_(0, at, torch.ones_like(at, dtype=torch.int32))
        into = self.features[:, sketch.map.first_product :]
        into.index_add_(0, cells, sketch.pairs(places).long())

    def _add_landmarks(self, rows: torch.Tensor, cells: torch.Tensor) -> None:
        """Add the values of kernels that are no mixture of waves."""
        values = self.map.landmarks(rows)
        first = self.map.map.first_product
        self.features[:, first - values.shape[1] : first].index_add_(0, cells, values)
