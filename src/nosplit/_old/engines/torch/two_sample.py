"""The two-sample test of tensors: the same walk as in memory, the computation on their device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from nosplit._checks import constant_and_equal
from nosplit._lazy import elsewhere, is_tensor
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.memory import sides_of
from nosplit._old.engines.sides import SampleSide, Sides
from nosplit._old.engines.sketching.steps import sketch_test
from nosplit._old.engines.torch.devices import (
    as_array,
    as_rows,
    checked_part,
    device_of,
    precision,
    running,
)
from nosplit._old.engines.torch.pairs.pooled import TensorPooled
from nosplit._old.engines.torch.pairs.rows import look_at_tensors
from nosplit._old.engines.torch.pairs.spectral import sorted_tensor
from nosplit._old.engines.torch.pairs.units import TensorDraws, TensorPairs
from nosplit._old.engines.torch.sketches.sides import TensorSide, check_finite_tensor, moved
from nosplit._old.families.pooled import label_draws, relabellings, relabels
from nosplit._old.inference.outcome import Outcome, Tested
from nosplit._old.inference.planning.costs import sizes_of
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.run import run, sees_all
from nosplit._old.inference.statistics import test_draws
from nosplit._old.pairs.statistics import DrawnStatistics, Seen
from nosplit.core.order import Natural, shuffled
from nosplit.core.pairings import Sketch, units_in_pairs
from nosplit.data.encoding import Encoding, Mask, columns_in
from nosplit.data.frames import is_table
from nosplit.data.samples import Samples, check_as_many, two_samples
from nosplit.data.series import check_rows
from nosplit.errors import Caveat, InputError
from nosplit.families.paired import MEDIAN_ROWS, Paired, fit_bank
from nosplit.inference.effect import separations_of_both
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.kernels import Kernel
from nosplit.kernels.bank import Bank
from nosplit.kernels.eigenbases import SCALE_ROWS, spread_out
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe

__all__ = ["Placed", "tensor_test"]


@dataclass(frozen=True, eq=False)
class Placed:
    """Two samples that are compared on a device.

    Attributes
    ----------
    device : device
        Where.
    data : Samples or None
        Samples in memory, as they are read there; None for tensors, which are as they came.
    given : pair of tensors, or None
        Tensors as they came.
    """

    device: torch.device
    data: Samples | None
    given: tuple[torch.Tensor, torch.Tensor] | None

    @classmethod
    def of(cls, x: Any, y: Any, asked: Asked, device: Any) -> Self:
        """Two samples of whatever kind."""
        place = device_of(x, y, device)
        plain = asked.options.idle and not (is_table(x) or is_table(y))
        if plain and any(is_tensor(v) or elsewhere(v) for v in (x, y)):
            rows = as_rows(x, "x", place), as_rows(y, "y", place)
            if asked.paired:
                check_as_many(*map(len, rows))
            return cls(place, None, _alike_tensors(*rows))
        return cls(place, two_samples(x, y, asked.options, paired=asked.paired).checked(), None)

    @cached_property
    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """All rows of both, on the device."""
        if self.given is not None:
            return self.given
        assert self.data is not None
        rows = as_rows(self.data.x, "x", self.device), as_rows(self.data.y, "y", self.device)
        return rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows of x, rows of y and columns."""
        if self.data is not None:
            return self.data.shape
        x, y = self.rows
        return len(x), len(y), x.shape[1]

    @property
    def kept(self) -> tuple[Mask, Mask]:
        """Masks of the rows of both that are not left out."""
        if self.data is not None:
            return self.data.kept
        x, y = (np.ones(len(rows), np.bool_) for rows in self.rows)
        return x, y

    @property
    def encoding(self) -> Encoding | None:
        """The encoding by which tables became numbers."""
        return None if self.data is None else self.data.encoding

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None for tensors as they came."""
        return None if self.data is None else self.data.columns

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        return 0 if self.data is None else self.data.left_out

    def recipe(self, kernels: Kernels) -> Recipe:
        """Kernels for the rows, as `kernels=` asks for them."""
        return as_recipe(kernels) if self.data is None else self.data.recipe(kernels)

    def sides(self) -> tuple[SampleSide, SampleSide]:
        """Both, to be sketched."""
        if self.data is None:
            return TensorSide("x", self.rows[0]), TensorSide("y", self.rows[1])
        return sides_of(self.data)


def _alike_tensors(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors of the same width and type."""
    if x.shape[1] != y.shape[1]:
        raise InputError(
            f"`x` and `y` must have the same number of columns, got {x.shape[1]} and {y.shape[1]}."
        )
    kind = torch.promote_types(x.dtype, y.dtype)
    x, y = x.to(kind), y.to(kind)
    if bool((y[:4096] == x[0]).all()) and bool((x == x[0]).all()) and bool((y == x[0]).all()):
        raise constant_and_equal(float(x[0].abs().max()))
    return x, y


def tensor_test(
    x: Any,
    y: Any,
    asked: Asked,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
    device: Any,
) -> TestResult | None:
    """Compare two samples on a device; None for pairs that are computed in memory only."""
    placed = Placed.of(x, y, asked, device)
    recipe = placed.recipe(asked.kernels)
    plan = asked.plan(sizes_of(*placed.shape, recipe))
    with running(placed.device):
        if isinstance(plan.pairing, Sketch):
            options = asked.options if placed.data is None else placed.data.settled(asked.options)
            sides = moved(Sides(*placed.sides(), workers, progress), placed.device)
            return sketch_test(sides, replace(asked, options=options), rng=rng, workers=workers)
        looks = sees_all(recipe.default, asked.method, plan)
        if placed.shape[0] != placed.shape[1] and not looks:
            return None
        return _by_pairs(placed, recipe, plan, asked, rng, progress, looks)


def _by_pairs(
    placed: Placed,
    recipe: Recipe,
    plan: Plan,
    asked: Asked,
    rng: np.random.Generator,
    progress: bool,
    looks: bool,
) -> TestResult:
    """Evaluate kernels on pairs of rows, as `api/ways/pairs` does in memory."""
    for rows, name in zip(placed.rows, "xy", strict=True):
        check_finite_tensor(rows, name)
    x, y = (rows.to(precision(rows)) for rows in placed.rows)
    n, m = len(x), len(y)
    if looks and not asked.paired and relabels(n, m):
        outcome, kernels = _pooled_outcome(x, y, placed.encoding, recipe, plan, rng)
        n_units = n_used = n + m
    else:
        shuffling = rng if asked.shuffle else None
        units = _dealt_units(x, y, recipe, shuffling, paired=asked.paired)
        look = _look_for(units, placed.encoding) if looks else None
        outcome = run(units, asked.method, plan, rng, 1, progress, look)
        kernels, n_units = units.bank.kernels, units.n_units
        n_used = round(units.rows_per_unit * units_in_pairs(plan.pairing, n_units))
    outcome = outcome.noting(_check(x, y, paired=asked.paired))
    if outcome.columns:
        columns, a, b = columns_in(placed.encoding, x.shape[1]), *map(as_array, placed.rows)
        outcome = outcome.separated(separations_of_both(a, b, *columns, paired=asked.paired))
    tested = Tested(outcome, kernels, n_units, n_used, placed.encoding, recipe.default)
    return tested.result(TWO_SAMPLE, n + m + placed.left_out, placed.columns)


def _check(x: torch.Tensor, y: torch.Tensor, *, paired: bool) -> list[Caveat]:
    """Warn if neighbouring rows are alike, or the differences of neighbouring pairs."""
    some = [checked_part(rows) for rows in (x, y)]
    return check_rows(some[0] - some[1]) if paired else check_rows(*some)


# -- as many rows of either sample -------------------------------------------------------------


def _dealt_units(
    x: torch.Tensor,
    y: torch.Tensor,
    recipe: Recipe,
    rng: np.random.Generator | None,
    *,
    paired: bool,
) -> TensorPairs:
    """Units dealt in the order that samples in memory are, with their kernels.

    Rows that are `paired` are units: both samples are dealt in the same order.
    """
    if rng is not None:
        orders = [shuffled(len(rows), rng).rows(range(len(rows))) for rows in (x, y)]
        orders = orders[:1] * 2 if paired else orders
        x, y = (
            rows[torch.from_numpy(order).to(rows.device)]
            for rows, order in zip((x, y), orders, strict=True)
        )
    return TensorPairs(x, y, fitted_bank(recipe, x, y))


def fitted_bank(recipe: Recipe, x: torch.Tensor, y: torch.Tensor) -> Bank:
    """Kernels with bandwidths from the units that are looked at in memory, and no others."""
    chosen = _chosen_units(len(x), 2.0)
    places = torch.from_numpy(chosen).to(x.device)
    some = [as_array(rows[places]) for rows in (x, y)]
    if all(bool(np.all(rows == some[0][0])) for rows in some):
        some = [as_array(rows) for rows in (x, y)]  # rare values: they are looked for
    units = Paired(some[0], some[1], Natural(), Natural(), Bank(()), range(len(some[0])))
    return fit_bank(recipe, units)


def _look_for(units: TensorPairs, encoding: Encoding | None) -> Callable[[TensorDraws], Seen]:
    """A function that looks at columns and flattened spectra under given draws."""

    def look(draws: TensorDraws) -> Seen:
        return _seen(units.x, units.y, draws.columns(range(units.n_units)), encoding)

    return look


def _seen(
    x: torch.Tensor, y: torch.Tensor, weights: torch.Tensor, encoding: Encoding | None
) -> Seen:
    return look_at_tensors(
        x,
        y,
        weights,
        categorical=() if encoding is None else encoding.categorical,
        owners=None if encoding is None else encoding.owners,
    )


# -- samples of different sizes ----------------------------------------------------------------


def _pooled_outcome(
    x: torch.Tensor,
    y: torch.Tensor,
    encoding: Encoding | None,
    recipe: Recipe,
    how: Plan,
    rng: np.random.Generator,
) -> tuple[Outcome, tuple[Kernel, ...]]:
    """Test samples by permuting the labels of rows; and the kernels."""
    rows, place = sorted_tensor(torch.cat([x, y]))
    some = torch.from_numpy(spread_out(len(rows), SCALE_ROWS)).to(rows.device)
    try:
        kernels = recipe.fit(as_array(rows[some]).astype(np.float64))
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", "`x` and `y`")) from None
    drawn = label_draws(len(x), len(y), how.n_resamples, rng).astype(np.int8)
    weights = torch.from_numpy(drawn).to(rows.device)
    pooled = TensorPooled(rows, Bank(kernels))
    tau, cov = pooled.under(weights[:, place.argsort(stable=True)])
    seen = _seen(x, y, weights, encoding)
    statistics = DrawnStatistics(tau, cov, len(rows), pooled.n_pairs, *seen)
    outcome = test_draws(statistics, None, how.pairs)
    return replace(outcome, relabellings=relabellings(len(x), len(y))), kernels


def _chosen_units(n_units: int, rows_per_unit: float) -> NDArray[np.int64]:
    """Units that the median heuristic looks at, spread over all of them."""
    count = max(2, min(n_units, int(MEDIAN_ROWS / rows_per_unit)))
    return np.asarray((np.arange(count) * n_units) // count)
