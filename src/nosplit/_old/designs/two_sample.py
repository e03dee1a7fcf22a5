"""Two samples in strata, groups or blocks: labels → design → draws → result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from nosplit._checks import check_finite
from nosplit._old.designs.asked import Asked, check_exchange, leaving_out
from nosplit._old.designs.pairs import RowsInUnits
from nosplit._old.designs.testing import UnitRows, test_design
from nosplit._old.inference.planning.costs import design_sizes
from nosplit._types import Array, Index
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Encoding, Mask, columns_in
from nosplit.data.labels import named_in
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.series import about_strata, block_length, check_rows
from nosplit.errors import Caveat
from nosplit.families.design import Design, design_of, series_design
from nosplit.inference.calibrations import SERIES
from nosplit.inference.effect import DealtRows, deal_rows, separations_of_rows
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Kernels, Recipe

__all__ = [
    "DesignedSamples",
    "designed_test",
    "samples_in_memory",
]


class DesignedSamples(Protocol):
    """Two samples whose units change places inside blocks, wherever their rows lie."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows of x, rows of y and columns."""
        ...

    @property
    def kept(self) -> tuple[Mask, Mask]:
        """Masks of the rows of both that are not left out."""
        ...

    @property
    def encoding(self) -> Encoding | None:
        """The encoding by which tables became numbers."""
        ...

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None for arrays as they came."""
        ...

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        ...

    def recipe(self, kernels: Kernels) -> Recipe:
        """Kernels for the rows, as `kernels=` asks for them."""
        ...

    def in_units(self, design: Design) -> UnitRows:
        """Rows of x, then of y, that are in units; all are finite."""
        ...

    def check(self, strata: Index | None) -> list[Caveat]:
        """Warn if neighbouring rows, about the mean of their stratum, are alike."""
        ...


@dataclass(frozen=True, eq=False)
class _InMemory(Samples):
    """Two samples in memory."""

    workers: int | None = None

    def in_units(self, design: Design) -> UnitRows:
        dealt = design.dealt
        rows = np.concatenate(self.finite())
        return RowsInUnits(rows[dealt], design.unit[dealt], self.workers)

    def check(self, strata: Index | None) -> list[Caveat]:
        rows = self.finite()
        if strata is None:
            return check_rows(*rows)
        parts = zip(rows, np.split(strata, [len(rows[0])]), strict=True)
        return check_rows(*(about_strata(own, codes) for own, codes in parts))

    def block_length(self) -> int | None:
        return block_length(*self.finite())

    def finite(self) -> tuple[Array, Array]:
        """Rows of both, checked."""
        x, y = check_samples(*self.rows)
        check_finite(x, "x")
        check_finite(y, "y")
        return x, y


def samples_in_memory(x: Any, y: Any, workers: int | None, options: Options) -> DesignedSamples:
    """Two samples as rows of numbers in memory."""
    data = two_samples(x, y, options).checked()
    return _InMemory(data.given, data.read, data.encoding, data.left_out, workers)


def _dealt_in_units(design: Design, n: int) -> DealtRows:
    """Deal the rows in units, of which the first n are of x, to folds inside blocks."""
    (rows,) = np.nonzero(design.dealt)
    unit = design.unit[rows]
    block = np.searchsorted(design.starts, unit, side="right")
    return deal_rows(rows >= n, unit if design.means else None, block)


def designed_test(
    x: Any,
    y: Any,
    asked: Asked,
    rng: np.random.Generator,
    read: Callable[[Options], DesignedSamples],
) -> TestResult | None:
    """Test two samples whose units change places inside blocks.

    None if rows lie in memory and are so few that all of them are permuted.

    Parameters
    ----------
    x, y : array or table
        The samples, of which tables may have columns of labels.
    asked : Asked
        What is asked for, with strata, groups, both, or series.
    rng : Generator
        Source of the draws.
    read : callable
        Makes rows of numbers of the samples.
    """
    check_exchange("strata=, groups= or series=", asked.method, asked.pairs, asked.calibration)
    labels = asked.labels
    for name in labels.names:
        keyword = "strata" if name == labels.strata else "groups"
        named_in(name, (("x", x), ("y", y)), keyword)
    data = read(leaving_out(asked.options, labels.names))
    n, m, p = data.shape
    caveats: list[Caveat] = []
    if labels.series is not False:
        assert isinstance(data, _InMemory)  # elsewhere it is refused
        length = data.block_length() if labels.series is True else labels.series
        design = series_design((n, m), length)
    else:
        strata, groups = labels.of_rows(data.kept, (x, y))
        design = design_of((n, m), strata, groups, rng)
        if groups is None:
            caveats = data.check(None if strata is None else strata.codes)
    recipe = data.recipe(asked.kernels)
    plan = asked.plan(design_sizes(n, m, p, recipe, design.n_units))
    rows = data.in_units(design)
    if isinstance(data, _InMemory) and not isinstance(plan.pairing, Sketch):
        return None
    tested = test_design(rows, design, recipe, data.encoding, plan, asked.method, rng)
    outcome = tested.outcome.noting(caveats)
    if outcome.columns:
        known, columns = rows.some(np.arange(rows.n)), columns_in(data.encoding, p)
        outcome = outcome.separated(
            separations_of_rows(known, _dealt_in_units(design, n), *columns)
        )
    if labels.series is not False:
        outcome = replace(outcome, calibration=SERIES)
    tested = replace(tested, outcome=outcome)
    return tested.result(TWO_SAMPLE, n + m + data.left_out, data.columns, design.said)
