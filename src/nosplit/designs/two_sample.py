"""Two samples in strata or groups: labels → design → draws → result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite
from nosplit._support.types import Array, Index
from nosplit.data.likeness import UNSEEN, Likeness, can_be_suspected, likeness_of
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.data.tables.encoding import Encoding, Mask
from nosplit.designs.asked import Asked, check_exchange, leaving_out
from nosplit.designs.design import Design, design_of
from nosplit.designs.labels import RowLabels, named_in
from nosplit.designs.order import allowing
from nosplit.designs.pairs import RowsInUnits
from nosplit.designs.testing import UnitRows, test_design
from nosplit.errors import Caveat, DependentRowsWarning
from nosplit.inference.calibrations import APPROXIMATE, BLOCKS
from nosplit.inference.planning.costs import design_sizes
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import Exchanged, TestResult
from nosplit.kernels.defaults.recipes import Kernels, Recipe
from nosplit.sketch.dealing import BLOCK_LAGS

__all__ = [
    "DesignedSamples",
    "about_strata",
    "designed_test",
    "samples_in_memory",
    "swapped_in",
]


def swapped_in(pairs: int) -> Exchanged:
    """Words on what is exchanged where rows are paired."""
    return Exchanged("pairs", f"x and y are swapped inside {pairs:,} pairs", "pairs")


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

    def order_inside(self, strata: Index) -> tuple[int, Likeness]:
        """Lag up to which rows about the mean of their stratum depend on one another.

        And how much they are like those next to them.
        """
        ...


@dataclass(frozen=True, eq=False)
class _InMemory(Samples):
    """Two samples in memory."""

    workers: int | None = None

    def in_units(self, design: Design) -> UnitRows:
        dealt = design.dealt
        rows = np.concatenate(self._finite())
        return RowsInUnits(rows[dealt], design.unit[dealt], self.workers)

    def order_inside(self, strata: Index) -> tuple[int, Likeness]:
        rows = self._finite()
        parts = list(zip(rows, np.split(strata, [len(rows[0])]), strict=True))
        about = [about_strata(own, codes) for own, codes in parts]
        means = sum(len(np.unique(own)) for rows, own in parts if can_be_suspected(*rows.shape))
        return max(map(correlated_rows, about)), likeness_of(*about, means=means)

    def _finite(self) -> tuple[Array, Array]:
        x, y = check_samples(*self.rows)
        check_finite(x, "x")
        check_finite(y, "y")
        return x, y


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
    design, order, likeness = design_of(n, m, strata, groups), _OrderedRows(), UNSEEN
    if asked.shuffle and groups is None:
        assert strata is not None
        lag, likeness = data.order_inside(strata.codes)
        order = _OrderedRows.of(lag, likeness, strata, n) if lag else order
        design = design if order.runs is None else design_of(n, m, strata, order.runs)
    recipe = data.recipe(asked.kernels)
    plan = asked.plan(design_sizes(n, m, p, recipe, design.n_units))
    rows = data.in_units(design)
    tested = test_design(rows, design, recipe, data.encoding, plan, asked.method, rng)
    outcome = tested.outcome
    if order.runs is None:
        outcome = allowing(outcome, likeness)
        # Where p allows for a series, it is not said to be too small.
        outcome = outcome if outcome.doubt is not None else outcome.noting(order.caveats)
    else:
        outcome = outcome.noting(order.caveats)
    if order.calibration is not None:
        outcome = replace(outcome, calibration=order.calibration)
    tested = replace(tested, outcome=outcome)
    return tested.result(TWO_SAMPLE, n + m + data.left_out, data.columns, design.said)


@dataclass(frozen=True, eq=False)
class _OrderedRows:
    """Rows as their order shows them, besides their strata.

    Attributes
    ----------
    runs : RowLabels or None
        Blocks of rows that follow one another, which change places as a whole.
    calibration : str or None
        What p-values rest on, if not on independent rows.
    caveats : list
        What to know before relying on them.
    """

    runs: RowLabels | None = None
    calibration: str | None = None
    caveats: list[Caveat] = field(default_factory=list)

    @classmethod
    def of(cls, lag: int, likeness: Likeness, strata: RowLabels, n: int) -> _OrderedRows:
        """Blocks where n rows of x, and those of y, depend on those before them."""
        cell = 2 * strata.codes + (np.arange(len(strata.codes)) >= n)
        counts = np.bincount(cell[strata.codes >= 0])
        wanted = max(BLOCK_LAGS * lag, likeness.block_in((n, len(cell) - n)))
        block = max(1, min(wanted, int(counts[counts > 0].min())))
        caveats = [_serial(lag, block)]
        if block == 1:
            return cls(None, APPROXIMATE, caveats)
        return cls(_runs_in_cells(cell, strata, block), BLOCKS, caveats)


def _runs_in_cells(cell: Index, strata: RowLabels, block: int) -> RowLabels:
    """Blocks of rows of a sample that follow one another in a stratum: no fewer than so many."""
    order = np.argsort(cell, kind="stable")
    first = np.flatnonzero(np.diff(cell[order], prepend=cell[order[0]] - 1))
    counts = np.diff(np.append(first, len(cell)))
    place = np.arange(len(cell)) - np.repeat(first, counts)
    number = np.minimum(place // block, np.repeat(np.maximum(counts // block - 1, 0), counts))
    runs, codes = np.unique(np.stack([cell[order], number]), axis=1, return_inverse=True)
    groups = np.empty(len(cell), np.int64)
    groups[order] = codes.ravel()
    names = [strata.names[own // 2] for own in runs[0].tolist()]
    return RowLabels(np.where(strata.codes >= 0, groups, -1), names, ("block", "blocks of rows"))


def _serial(lag: int, block: int) -> Caveat:
    """Warn of rows that depend on those before them, besides what their stratum says."""
    done = (
        f"blocks of {block} rows of a stratum changed places as a whole: the p-value is "
        "approximate, and too small if rows of different strata depend on one another"
    )
    if block == 1:
        done = "the p-value is that of independent rows: too small if they are a series"
    text = (
        f"Rows depend on those before them (up to {lag} or more rows apart), besides what their "
        f"stratum says, so {done}. Give groups= of rows that belong together, or thin the rows."
    )
    return DependentRowsWarning, text


def about_strata(rows: NDArray[Any], codes: NDArray[Any]) -> Array:
    """Rows about the mean of their stratum."""
    _, own = np.unique(codes, return_inverse=True)
    order = np.argsort(own, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(own[order])) + 1])
    sums = np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)
    return np.asarray(rows - (sums / np.bincount(own)[:, None])[own])
