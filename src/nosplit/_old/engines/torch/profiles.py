"""Profiles of tensors, and tensors that are compared with a profile: cells summed on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nosplit._old.data.references import CHUNK, Later, check_precision, fingerprint_of
from nosplit._old.engines.torch.devices import (
    as_array,
    as_rows,
    device_of,
    precision,
    running,
    tensor_on,
)
from nosplit._old.engines.torch.sketches.dealing import rows_by_cell
from nosplit._old.engines.torch.sketches.draws import see_on
from nosplit._old.engines.torch.sketches.maps import DeviceMap
from nosplit._old.engines.torch.sketches.sides import check_finite_tensor
from nosplit._old.engines.torch.sketches.sums import ByCell, DeviceSums
from nosplit._old.sketch.cells import Means, View
from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.saved.tiers import Tiers
from nosplit._old.sketch.sums import CellSums
from nosplit._old.sketch.swaps import CellDraws
from nosplit._types import Array, Index
from nosplit.errors import NonFiniteError

__all__ = ["TensorReference", "later_tensor"]


@dataclass(frozen=True, eq=False)
class TensorReference:
    """A tensor that a profile is made of, or that is compared with one, as it came."""

    tensor: torch.Tensor
    label: str
    left_out: int = 0
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Any, label: str, device: Any = None) -> TensorReference:
        """A tensor where it lies, or any array on a device."""
        return cls(as_rows(value, label, device_of(value, value, device)), label)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.tensor)

    @property
    def dtype(self) -> str:
        """Precision of the rows, as it is in memory."""
        return str(precision(self.tensor)).removeprefix("torch.")

    def fingerprint(self) -> bytes:
        """The hash that the same rows have in memory, where they are copied to batch by batch."""
        return fingerprint_of(([rows] for _, rows in self.batches()), self.n)

    def encoding(self, pilot: Index) -> None:
        """Rows are numbers as they came."""

    def rows(self, encoding: None) -> TensorReference:
        """All rows."""
        return self

    def some(self, rows: Index) -> NDArray[Any]:
        """Rows of given numbers, in memory."""
        return as_array(self.tensor[tensor_on(rows, self.tensor.device)])

    def batches(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """All rows in memory, in order, with the number of the first of each batch."""
        for start in range(0, self.n, CHUNK):
            yield start, as_array(self.tensor[start : start + CHUNK])

    def cell_sums(self, sketch: SketchMap, deal: Deal, tiers: Tiers) -> CellSums:
        """Sums of all cells: each takes its rows from wherever they are."""
        device = self.tensor.device
        sizes = np.repeat(tiers.sizes, tiers.counts)
        starts = tensor_on(np.concatenate([[0], np.cumsum(sizes)]), device)
        with running(device):
            sums = DeviceSums.empty(DeviceMap(sketch, device), tiers.n_cells)
            order = rows_by_cell(deal, device)[: tiers.n_rows]
            try:
                sums.add(self.tensor, ByCell(order, starts))
            except NonFiniteError:
                check_finite_tensor(self.tensor, self.label)
                raise
            return sums.in_memory()

    def see(self, draws: CellDraws, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
        """Look at views on cells under all draws."""
        return see_on(self.tensor.device, draws, views, means)


def later_tensor(value: Any, label: str, dtype: str | None, omit: bool, device: Any) -> Later:
    """A sample on a device that is compared with a reference, or added to it."""
    found = TensorReference.of(value, label, device)
    check_precision(found.dtype, dtype, label)
    rows = found.tensor
    kept = rows[~rows.isnan().any(dim=1)] if omit else rows
    found = TensorReference(kept, label)
    return Later(found, len(rows) - len(kept), rows.shape[1], found.fingerprint)
