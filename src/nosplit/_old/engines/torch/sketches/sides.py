"""Samples whose sketches are made on a device: those that lie there, and those that are moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nosplit._old.engines.sides import Batches, SampleSide, Sides
from nosplit._old.engines.sketching.task import ROWS, Census, SketchTask
from nosplit._old.engines.torch.devices import as_array, running
from nosplit._old.engines.torch.sketches.dealing import cells_of, rows_by_cell
from nosplit._old.engines.torch.sketches.draws import see_on
from nosplit._old.engines.torch.sketches.maps import DeviceMap
from nosplit._old.engines.torch.sketches.sums import ByCell, DeviceSums
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.errors import InputError, NonFiniteError

__all__ = ["MovedSide", "TensorSide", "check_finite_tensor", "moved"]

Step = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class TensorSide:
    """A tensor that is tested as it came, where it lies."""

    name: str
    rows: torch.Tensor

    def census(self) -> Census:
        """Count it."""
        return Census(len(self.rows))

    def numbered(self) -> Batches:
        """Its rows, in batches."""
        for first in range(0, len(self.rows), ROWS):
            yield first, as_array(self.rows[first : first + ROWS])

    def pilot(self, rows: Index) -> NDArray[Any]:
        """Some rows, in memory."""
        return as_array(self.rows[torch.from_numpy(rows).to(self.rows.device)])

    def sums(self, task: SketchTask, side: int, workers: int | None, step: Step | None) -> CellSums:
        """Its sketch: every cell takes its rows from wherever they are."""
        deal, device = task.deal(side), self.rows.device
        with running(device):
            starts = torch.arange(deal.cells + 1, device=device) * deal.c
            sums = DeviceSums.empty(DeviceMap(task.map, device), deal.cells)
            try:
                sums.add(self.rows, ByCell(rows_by_cell(deal, device), starts))
            except NonFiniteError:
                check_finite_tensor(self.rows, self.name)
                raise
            found = sums.in_memory()
        if step is not None:
            step(len(self.rows))
        return found


@dataclass(frozen=True, eq=False)
class MovedSide:
    """A sample that lies elsewhere, moved to a device in batches while it is read."""

    side: SampleSide
    device: torch.device

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.side.name

    def census(self) -> Census:
        """Count it."""
        return self.side.census()

    def numbered(self) -> Batches:
        """Its rows, in batches."""
        return self.side.numbered()

    def pilot(self, rows: Index) -> Any:
        """Some rows, in memory."""
        return self.side.pilot(rows)

    def sums(self, task: SketchTask, side: int, workers: int | None, step: Step | None) -> CellSums:
        """Its sketch."""
        deal, end = task.deal(side), 0
        with running(self.device):
            sums = DeviceSums.empty(DeviceMap(task.map, self.device), deal.cells)
            for first, batch in self.numbered():
                numbers = task.reader(batch, self.name, first)
                rows = torch.from_numpy(np.ascontiguousarray(numbers)).to(self.device)
                cells = cells_of(deal, first, len(rows), self.device)
                try:
                    sums.add(rows, ByCell.of(cells, deal.cells))
                except NonFiniteError:
                    task.reader.blame(batch, self.name, first)
                    raise
                end = first + len(rows)
                if step is not None:
                    step(len(batch))
        if end != deal.n:
            raise InputError(
                f"`{self.name}` must not change while it is read, got other rows than before."
            )
        return sums.in_memory()


def moved(sides: Sides, device: torch.device) -> Sides:
    """Two samples, of which those that are not there are moved to a device in batches."""
    both = (s if isinstance(s, TensorSide) else MovedSide(s, device) for s in (sides.x, sides.y))
    x, y = both
    return replace(sides, x=x, y=y, see=partial(see_on, device))


def check_finite_tensor(rows: torch.Tensor, name: str) -> None:
    """Check that all values are finite; the error names the first that is not."""
    for start in range(0, len(rows), 1 << 20):
        bad = torch.nonzero(~torch.isfinite(rows[start : start + (1 << 20)]))
        if len(bad):
            row, column = bad[0].tolist()
            value = float(rows[start + row, column])
            raise InputError(
                f"`{name}` must be finite, got {value} at index {(start + row, column)}. "
                "Remove or fill in those rows first."
            )
