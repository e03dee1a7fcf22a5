"""Strata and groups of tensors: the units of a design, on their device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nosplit._old.designs.asked import Asked
from nosplit._old.designs.draws import BlockDraws
from nosplit._old.designs.two_sample import designed_test
from nosplit._old.engines.torch.devices import (
    as_array,
    checked_part,
    device_of,
    precision,
    running,
    tensor_on,
)
from nosplit._old.engines.torch.pairs.blocks import TensorBlocks, block_statistics, tensor_gram
from nosplit._old.engines.torch.pairs.looks import Looks
from nosplit._old.engines.torch.pairs.rows import look_under_draws
from nosplit._old.engines.torch.pairs.spectral import sorted_tensor
from nosplit._old.engines.torch.sketches.draws import see_on
from nosplit._old.engines.torch.sketches.maps import DeviceMap
from nosplit._old.engines.torch.sketches.sides import check_finite_tensor
from nosplit._old.engines.torch.sketches.sums import ByCell, DeviceSums
from nosplit._old.engines.torch.two_sample import Placed
from nosplit._old.pairs.statistics import Seen
from nosplit._old.sketch.cells import Means, View
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._old.sketch.swaps import CellDraws
from nosplit._types import Array, Index
from nosplit.data.options import Options
from nosplit.data.series import about_strata, block_length, check_rows, checked_rows
from nosplit.errors import Caveat
from nosplit.families.design import Design
from nosplit.inference.result import TestResult
from nosplit.kernels.bank import Bank
from nosplit.kernels.eigenbases import spread_out

__all__ = ["TensorsInUnits", "designed_tensors"]


def designed_tensors(
    x: Any, y: Any, asked: Asked, rng: np.random.Generator, device: Any
) -> TestResult:
    """Compare two samples on a device, whose units change places inside blocks."""

    def read(options: Options) -> _Designed:
        return _Designed.of(x, y, replace(asked, options=options), device)

    with running(device_of(x, y, device)):
        found = designed_test(x, y, asked, rng, read)
    assert found is not None
    return found


class _Designed(Placed):
    """Two samples on a device, whose units change places inside blocks."""

    def in_units(self, design: Design) -> TensorsInUnits:
        dealt = tensor_on(design.dealt, self.device)
        return TensorsInUnits(torch.cat(self._finite())[dealt], design.unit[design.dealt])

    def check(self, strata: Index | None) -> list[Caveat]:
        both = self._finite()
        rows = [checked_part(own) for own in both]
        if strata is None:
            return check_rows(*rows)
        parts = zip(rows, np.split(strata, [len(both[0])]), strict=True)
        return check_rows(
            *(about_strata(own, codes[checked_rows(len(codes))]) for own, codes in parts)
        )

    def block_length(self) -> int | None:
        return block_length(*(as_array(rows) for rows in self._finite()))

    def _finite(self) -> tuple[torch.Tensor, torch.Tensor]:
        for rows, name in zip(self.rows, "xy", strict=True):
            check_finite_tensor(rows, name)
        return self.rows


@dataclass(frozen=True, eq=False)
class TensorsInUnits:
    """Rows on a device, and the unit of each; as `RowsInUnits` in memory."""

    rows: torch.Tensor
    unit: Index

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def see(self, draws: CellDraws, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
        """Look at views on cells under all draws."""
        return see_on(self.rows.device, draws, views, means)

    def some(self, rows: Index) -> Array:
        """Rows of given numbers, in memory."""
        return as_array(self.rows[tensor_on(rows, self.rows.device)]).astype(np.float64)

    def spread(self, most: int) -> Array:
        """Pick so many rows all over, in an order that says nothing of labels, in memory."""
        ordered, _ = sorted_tensor(self.rows)
        some = ordered[tensor_on(spread_out(len(ordered), most), ordered.device)]
        return as_array(some).astype(np.float64)

    def statistics(
        self, bank: Bank, draws: BlockDraws, weights: NDArray[Any]
    ) -> tuple[Array, Array]:
        """Statistics of kernels on all pairs of units under draws, (F, d), and their covariance."""
        rows = self.rows.to(precision(self.rows))
        K = tensor_gram(rows, bank, self.unit)
        return block_statistics(K, self._blocks(draws), self._labels(weights))

    def look(
        self,
        draws: BlockDraws,
        weights: NDArray[Any],
        categorical: Sequence[int],
        owners: Sequence[int] | None,
    ) -> Seen:
        """Statistics of columns and flattened spectra under draws."""
        looks = Looks(self._blocks(draws), self._labels(weights))
        return look_under_draws(looks, self.rows, categorical=categorical, owners=owners)

    def sums(
        self, sketch: SketchMap, cell: Index, cells: int, some: Index | None = None
    ) -> CellSums:
        """Sums of rows by cell; `cells` stands for no cell, and `some` for some rows only."""
        device = self.rows.device
        by_cell = ByCell.of(tensor_on(cell, device), cells)
        if some is not None:
            by_cell = ByCell(tensor_on(some, device)[by_cell.order], by_cell.starts)
        sums = DeviceSums.empty(DeviceMap(sketch, device), cells)
        sums.add(self.rows, by_cell)
        return sums.in_memory()

    def _blocks(self, draws: BlockDraws) -> TensorBlocks:
        return TensorBlocks(draws, self.unit, self.rows.device)

    def _labels(self, weights: NDArray[Any]) -> torch.Tensor:
        return tensor_on(weights.astype(np.int8), self.rows.device)
