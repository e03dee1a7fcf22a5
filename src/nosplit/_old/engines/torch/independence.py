"""The independence test of tensors: products are summed where the observations lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from nosplit._lazy import is_tensor
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.families.independence import (
    TensorTask,
    observation_sizes,
    sketched_independence,
)
from nosplit._old.engines.torch.devices import as_array, as_rows, checked_part, device_of, running
from nosplit._old.engines.torch.sketches.dealing import rows_by_cell
from nosplit._old.engines.torch.sketches.shifts import DeviceShifts, only_waves
from nosplit._old.engines.torch.sketches.sides import check_finite_tensor
from nosplit._old.sketch.families.independence_sums import ShiftSums, sketch_observations
from nosplit._types import Index
from nosplit.core.pairings import Sketch
from nosplit.data.series import check_jointly
from nosplit.data.variables import Variable
from nosplit.errors import InputError
from nosplit.inference.questions import INDEPENDENCE
from nosplit.inference.result import TestResult

__all__ = ["independence_of_tensors"]


def independence_of_tensors(
    x: Any,
    y: Any,
    asked: Asked,
    unit_size: int,
    *,
    rng: np.random.Generator,
    workers: int | None = None,
    device: Any = None,
) -> TestResult | None:
    """Test observations on a device by a sketch; None where they are compared in memory.

    That is so for few observations, and for tables and others that may hold categories.
    """
    if not asked.options.idle or not all(_holds_numbers(v) for v in (x, y)):
        return None
    place = device_of(x, y, device)
    both = as_rows(x, "x", place), as_rows(y, "y", place)
    n = len(both[0])
    if n != len(both[1]):
        raise InputError(
            f"`x` and `y` must have as many rows, observed together, got {n} and {len(both[1])}."
        )
    for rows, name in zip(both, "xy", strict=True):
        check_finite_tensor(rows, name)
        if bool((rows == rows[0]).all()):
            raise InputError(f"`{name}` is constant: all rows are the same.")
    columns = both[0].shape[1] + both[1].shape[1]
    sizes = observation_sizes(n, columns, (False, False), asked.kernels, unit_size)
    how = asked.plan(sizes)
    if not isinstance(how.pairing, Sketch):
        return None
    with running(place):
        observed = _ObservedTensors(*both)
        done = sketched_independence(
            observed, asked.kernels, sizes, how, asked.method, rng, asked.shuffle, workers
        )
    caveats = check_jointly(checked_part(both[0]), checked_part(both[1]))
    done = replace(done, outcome=done.outcome.noting(caveats))
    return done.result(INDEPENDENCE, n).done(n_columns=tuple(v.shape[1] for v in both))


def _holds_numbers(value: Any) -> bool:
    if is_tensor(value):
        return bool(value.dtype != torch.bool)
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu"


@dataclass(frozen=True, eq=False)
class _ObservedTensors:
    """Observations on a device."""

    x: torch.Tensor
    y: torch.Tensor

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.x)

    def fitted(self, pilot: Index) -> _FittedTensors:
        """The observations, which are numbers as they came."""
        return _FittedTensors(self.x, self.y, pilot)


@dataclass(frozen=True, eq=False)
class _FittedTensors:
    """Observations on a device, and the numbers of the pilot rows."""

    x: torch.Tensor
    y: torch.Tensor
    rows: Index

    @property
    def pilot(self) -> tuple[Variable, Variable]:
        """Both variables in the pilot rows, in memory."""
        some = torch.from_numpy(self.rows).to(self.x.device)
        return Variable(as_array(self.x[some]), False), Variable(as_array(self.y[some]), False)

    def sums(self, task: TensorTask) -> ShiftSums:
        """The sketch of all of them; of kernels that are looked at in memory, made there."""
        deal, q, device = task.deal, task.q, self.x.device
        if not only_waves(task.map):
            both = as_array(self.x), as_array(self.y)
            return sketch_observations(task.map, *both, deal, q, task.workers)
        order = rows_by_cell(deal, device)
        sums = DeviceShifts.empty(task.map, deal.cells, q, device)
        for first in range(0, len(order), sums.at_once * q):
            some = order[first : first + sums.at_once * q]
            cells = torch.arange(first, first + len(some), q, device=device) // deal.c
            sums.add(self.x[some], self.y[some], cells)
        return sums.in_memory()
