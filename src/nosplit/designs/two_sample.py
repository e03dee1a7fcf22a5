"""Two samples in strata or groups: labels → design → draws → result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite
from nosplit._support.types import Array, Index
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.data.tables.encoding import Encoding, Mask
from nosplit.designs.asked import Asked, check_exchange, leaving_out
from nosplit.designs.design import Design, design_of
from nosplit.designs.labels import named_in
from nosplit.designs.pairs import RowsInUnits
from nosplit.designs.testing import UnitRows, test_design
from nosplit.errors import Caveat, DependentRowsWarning
from nosplit.inference.calibrations import APPROXIMATE
from nosplit.inference.planning.costs import design_sizes
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import Exchanged, TestResult
from nosplit.kernels.defaults.recipes import Kernels, Recipe

__all__ = [
    "DesignedSamples",
    "about_strata",
    "designed_test",
    "samples_in_memory",
    "swapped_in",
]


def swapped_in(pairs: int) -> Exchanged:
    """Words on what is exchanged where rows are paired."""
    return Exchanged("pairs", f"x and y are swapped inside {pairs:,} pairs")


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

    def lag_inside(self, strata: Index) -> int:
        """Lag up to which rows about the mean of their stratum depend on one another."""
        ...


@dataclass(frozen=True, eq=False)
class _InMemory(Samples):
    """Two samples in memory."""

    workers: int | None = None

    def in_units(self, design: Design) -> UnitRows:
        rows = check_samples(*self.rows)
        for sample, name in zip(rows, "xy", strict=True):
            check_finite(sample, name)
        dealt = design.dealt
        return RowsInUnits(np.concatenate(rows)[dealt], design.unit[dealt], self.workers)

    def lag_inside(self, strata: Index) -> int:
        rows = check_samples(*self.rows)
        parts = zip(rows, np.split(strata, [len(rows[0])]), strict=True)
        return max(correlated_rows(about_strata(own, codes)) for own, codes in parts)


def samples_in_memory(x: Any, y: Any, workers: int | None, options: Options) -> DesignedSamples:
    """Two samples as rows of numbers in memory."""
    data = two_samples(x, y, options).checked()
    return _InMemory(data.given, data.read, data.encoding, data.left_out, workers)


def designed_test(
    x: Any,
    y: Any,
    asked: Asked,
    rng: np.random.Generator,
    read: Callable[[Options], DesignedSamples],
) -> TestResult:
    """Test two samples whose units change places inside blocks.

    Parameters
    ----------
    x, y : array or table
        The samples, of which tables may have columns of labels.
    asked : Asked
        What is asked for, with strata, groups or both.
    rng : Generator
        Source of the draws.
    read : callable
        Makes rows of numbers of the samples.
    """
    check_exchange("strata= or groups=", asked.method, asked.pairs, asked.calibration)
    labels = asked.labels
    for name in labels.names:
        keyword = "strata" if name == labels.strata else "groups"
        named_in(name, (("x", x), ("y", y)), keyword)
    data = read(leaving_out(asked.options, labels.names))
    n, m, p = data.shape
    strata, groups = labels.of_rows(data.kept, (x, y))
    design = design_of(n, m, strata, groups)
    recipe = data.recipe(asked.kernels)
    plan = asked.plan(design_sizes(n, m, p, recipe, design.n_units))
    rows = data.in_units(design)
    tested = test_design(rows, design, recipe, data.encoding, plan, asked.method, rng)
    if asked.shuffle and groups is None:
        assert strata is not None
        doubts = _serial(data.lag_inside(strata.codes))
        calibration = APPROXIMATE if doubts else tested.outcome.calibration
        outcome = replace(tested.outcome.noting(doubts), calibration=calibration)
        tested = replace(tested, outcome=outcome)
    return tested.result(TWO_SAMPLE, n + m + data.left_out, data.columns, design.said)


def _serial(lag: int) -> list[Caveat]:
    """Warn of rows that depend on those before them, besides what their stratum says."""
    text = (
        f"Rows depend on those before them (up to {lag} or more rows apart), besides what their "
        "stratum says, and the p-value is that of independent rows: too small. Give groups= of "
        "rows that belong together, or thin the rows."
    )
    return [(DependentRowsWarning, text)] if lag else []


def about_strata(rows: NDArray[Any], codes: NDArray[Any]) -> Array:
    """Rows about the mean of their stratum."""
    _, own = np.unique(codes, return_inverse=True)
    order = np.argsort(own, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(own[order])) + 1])
    sums = np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)
    return np.asarray(rows - (sums / np.bincount(own)[:, None])[own])
