"""Strata and groups of tensors: the units of a design, on their device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

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
from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._old.sketch.cells import Means, View
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._old.sketch.swaps import CellDraws
from nosplit._types import Array, Index
from nosplit.data.encoding import Encoding
from nosplit.data.options import Options
from nosplit.data.series import about_strata, check_rows, checked_rows
from nosplit.errors import Caveat, InputError
from nosplit.families.design import Design
from nosplit.inference.result import TestResult
from nosplit.kernels import Kernel
from nosplit.kernels.bank import Bank
from nosplit.kernels.eigenbases import SCALE_ROWS, spread_out
from nosplit.kernels.recipes import Recipe, check_own_kernel
from nosplit.methods import Adaptive, Method

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

    def complete(
        self, recipe: Recipe, encoding: Encoding | None, draws: BlockDraws, method: Method | None
    ) -> tuple[DrawnStatistics, tuple[Kernel, ...]]:
        """Exact kernels on all pairs of units, and what columns and flattened spectra show."""
        device, N = self.rows.device, draws.n_units
        kernels = _pooled_kernels(recipe, self._spread(SCALE_ROWS))
        drawn = np.concatenate([draws.weights(*chunk) for chunk in draws.chunks()])
        weights = tensor_on(drawn.astype(np.int8), device)
        blocks = TensorBlocks(draws, self.unit, device)
        K = tensor_gram(self.rows.to(precision(self.rows)), Bank(kernels), self.unit)
        tau, cov = block_statistics(K, blocks, weights)
        cov, m = (cov + cov.T) / 2.0, N * (N - 1) // 2
        if not recipe.default or not isinstance(method or Adaptive(), Adaptive):
            return DrawnStatistics(tau, cov, N, m), kernels
        seen = look_under_draws(
            Looks(blocks, weights),
            self.rows,
            categorical=() if encoding is None else encoding.categorical,
            owners=None if encoding is None else encoding.owners,
        )
        return DrawnStatistics(tau, cov, N, m, *seen), kernels

    def _spread(self, most: int) -> Array:
        """Pick so many rows all over, in an order that says nothing of labels, in memory."""
        ordered, _ = sorted_tensor(self.rows)
        some = ordered[tensor_on(spread_out(len(ordered), most), ordered.device)]
        return as_array(some).astype(np.float64)

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


def _pooled_kernels(recipe: Recipe, some: Array) -> tuple[Kernel, ...]:
    """Kernels with bandwidths from some of the pooled rows."""
    try:
        kernels = recipe.of_rare(some).fit(some)
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", "the samples")) from None
    for kernel in kernels:
        check_own_kernel(kernel, some[:2], some[:4])
    return kernels
