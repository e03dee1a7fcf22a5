"""Tests of independence by sketches: cells → pilot → kernels and map → sums by cell → draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nosplit._checks import new_key
from nosplit._old.inference.outcome import Tested
from nosplit._old.inference.planning.costs import HsicSizes
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.statistics import test_draws
from nosplit._old.sketch.dealing import Deal, deal_of
from nosplit._old.sketch.families.independence_sums import (
    ShiftSums,
    shift_statistics,
    sketch_observations,
)
from nosplit._types import Index
from nosplit.core.tensor_map import TensorMap, fit_tensor_map
from nosplit.data.variables import Variable
from nosplit.errors import InputError
from nosplit.families.paired import MEDIAN_ROWS
from nosplit.kernels import Parts
from nosplit.kernels.recipes import check_own_kernel
from nosplit.kernels.tensor import TensorBank, TensorKernels, tensor_kernels, tensors_for
from nosplit.methods import Method

__all__ = [
    "Fitted",
    "InMemory",
    "Observed",
    "TensorTask",
    "check_unit_size",
    "map_of",
    "observation_sizes",
    "sketched_independence",
]


LARGEST_UNIT = 64


def check_unit_size(unit_size: Any) -> int:
    """Observations to a unit."""
    whole = isinstance(unit_size, (int, np.integer)) and not isinstance(unit_size, bool)
    if not whole or not 2 <= unit_size <= LARGEST_UNIT:
        raise InputError(f"`unit_size` must be an int from 2 to {LARGEST_UNIT}, got {unit_size!r}.")
    return int(unit_size)


@dataclass(frozen=True, eq=False)
class TensorTask:
    """The work on observations: units of q of them are added to their cells."""

    map: TensorMap
    deal: Deal
    q: int
    workers: int | None


class Fitted(Protocol):
    """Observations of which it is known how they become numbers."""

    @property
    def pilot(self) -> tuple[Variable, Variable]:
        """Both variables in the pilot rows."""
        ...

    def sums(self, task: TensorTask) -> ShiftSums:
        """The sketch of all of them."""
        ...


class Observed(Protocol):
    """Observations that lie somewhere."""

    @property
    def n(self) -> int:
        """Number of observations."""
        ...

    def fitted(self, pilot: Index) -> Fitted:
        """Find out how they become numbers, from rows of given numbers, ascending."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """Observations in memory; `encoded` makes numbers of tables, by their pilot rows."""

    x: Variable
    y: Variable
    encoded: Callable[[Index], tuple[Variable, Variable]] | None = None

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.x.rows)

    def fitted(self, pilot: Index) -> Fitted:
        """Both variables as numbers."""
        both = (self.x, self.y) if self.encoded is None else self.encoded(pilot)
        return _InMemoryFitted(*both, pilot)


@dataclass(frozen=True, eq=False)
class _InMemoryFitted:
    x: Variable
    y: Variable
    rows: Index

    @property
    def pilot(self) -> tuple[Variable, Variable]:
        return self.x.some(self.rows), self.y.some(self.rows)

    def sums(self, task: TensorTask) -> ShiftSums:
        both = self.x.rows, self.y.rows
        return sketch_observations(task.map, *both, task.deal, task.q, task.workers)


def sketched_independence(
    observed: Observed,
    kernels: TensorKernels,
    sizes: HsicSizes,
    how: Plan,
    method: Method | None,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
) -> Tested:
    """Test whether two variables are independent, by sums of products under all shifts."""
    pairing, q = how.sketch, round(sizes.q)
    deal = deal_of(observed.n, sizes.cells(pairing), rng, fewest=q, unit=q, shuffle=shuffle)
    fitted = observed.fitted(deal.pilot_rows())
    x, y = fitted.pilot
    frequencies = pairing.frequencies or 64
    sketch = map_of(x, y, kernels, frequencies=frequencies, key=new_key(rng))
    sums = fitted.sums(TensorTask(sketch, deal, q, workers))
    drawn = shift_statistics(sketch, sums, flips=how.n_resamples, key=new_key(rng), workers=workers)
    outcome = test_draws(drawn, method, how.pairs)
    encodings = x.encoding, y.encoding
    known = None if encodings == (None, None) else encodings
    default = kernels is None
    return Tested(outcome, sketch.kernels, drawn.n_units, deal.n_dealt, known, default)


def map_of(
    x: Variable, y: Variable, kernels: TensorKernels, *, frequencies: int, key: int
) -> TensorMap:
    """The map of a sketch from pilot rows of both variables."""
    step = -(-len(x.rows) // MEDIAN_ROWS)
    some = [v.rows[::step] for v in (x, y)]
    tensors = tensors_for(kernels, some[0], some[1], (x.discrete, y.discrete))
    for tensor in tensors if kernels is not None else ():
        for variable, kernel, rows in zip((x, y), (tensor.x, tensor.y), some, strict=True):
            variable.check(kernel)
            check_own_kernel(kernel, rows[:2], rows[:4])
    return fit_tensor_map(x.rows, y.rows, tensors, frequencies=frequencies, key=key)


def observation_sizes(
    n: int,
    columns: int,
    discrete: tuple[bool | Parts, bool | Parts],
    kernels: TensorKernels,
    unit_size: int,
) -> HsicSizes:
    """Sizes that the cost depends on, for n observations of both variables."""
    unit_size = check_unit_size(unit_size)
    bank = TensorBank(tensor_kernels(kernels, 1.0, 1.0, discrete=discrete))
    # At most n // 2: a unit of one observation has no covariance.
    N = max(2, min(round(n / unit_size), n // 2))
    factors = sum(len(f) for f in bank.factors)
    return HsicSizes(N, N, columns, len(bank), 2, n / N, factors)
