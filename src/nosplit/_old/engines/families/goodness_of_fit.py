"""Tests of fit by sketches: cells → pilot rows → kernels and map → sums by cell → draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from nosplit._checks import new_key
from nosplit._old.inference.outcome import Tested
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.statistics import test_draws
from nosplit._old.sketch.dealing import Deal, deal_of
from nosplit._old.sketch.families.goodness_of_fit_sums import (
    cell_skewness,
    sketch_scored_rows,
    stein_statistics,
)
from nosplit._types import Array, Index
from nosplit.core.stein_map import SteinMap, SteinSums, fit_stein_map
from nosplit.data.encoding import Encoding
from nosplit.data.samples import standardised
from nosplit.data.scored import ScoredRows as Scored
from nosplit.data.scored import undeclared_support
from nosplit.data.series import check_rows, checked_rows
from nosplit.errors import Caveat, UnsafeAsymptoticsWarning
from nosplit.families.stein import MAX_ROWS, effective_rows
from nosplit.inference.calibrations import WILD
from nosplit.inference.caveats import few_effective_rows
from nosplit.kernels.stein import BoundedLinear, Constant, SteinKernels, fit_stein_bank
from nosplit.methods import Method
from nosplit.models.laws import Model

__all__ = [
    "ADVICE",
    "ScoredArrays",
    "ScoredRows",
    "SteinTask",
    "sketched_fit",
    "too_skewed",
]

# Share of skewness from which random signs are not trusted: see `cell_skewness`.
TOO_SKEWED = 0.1
# What to do if neighbouring rows are alike.
ADVICE = "If rows are in time order, use series=True. If they are only sorted, ignore this."


@dataclass(frozen=True, eq=False)
class SteinTask:
    """The work on rows and scores wherever they are: they are added to their cells.

    Attributes
    ----------
    map : SteinMap
        How they become the numbers that cells sum.
    deal : Deal
        Which row is in which cell.
    center, spread : array, shape (p,)
        The scale on which kernels see the rows.
    """

    map: SteinMap
    deal: Deal
    center: Array
    spread: Array

    def empty(self) -> SteinSums:
        """The sketch of no rows."""
        return SteinSums.empty(self.map, self.deal.cells)

    def add(self, sums: SteinSums, x: Array, scores: Array, first: int) -> None:
        """Add rows, of which the first has the number `first`."""
        cells = self.deal.cell_of(first, len(x))
        sums.add(self.map, *self.on_scale(x, scores), cells)

    def on_scale(self, x: Array, scores: Array) -> tuple[Array, Array]:
        """Rows and scores as kernels see them."""
        if not self.center.any() and (self.spread == 1.0).all():
            return x, scores
        return (x - self.center) / self.spread, scores * self.spread


class ScoredRows(Protocol):
    """Rows that lie somewhere, and the scores of a model there."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    def some(self, rows: Index) -> tuple[Array, Array]:
        """Rows of given numbers, ascending, and their scores."""
        ...

    def sums(self, task: SteinTask, workers: int | None) -> SteinSums:
        """The sketch of all of them."""
        ...


@dataclass(frozen=True, eq=False)
class ScoredArrays:
    """Rows and scores in memory."""

    x: Array
    scores: Array

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.x)

    def some(self, rows: Index) -> tuple[Array, Array]:
        """Rows of given numbers, and their scores."""
        return self.x[rows], self.scores[rows]

    def sums(self, task: SteinTask, workers: int | None) -> SteinSums:
        """The sketch of all of them."""
        rows = task.on_scale(self.x, self.scores)
        return sketch_scored_rows(task.map, *rows, task.deal, workers)


def sketched_fit(
    rows: ScoredRows,
    kernels: SteinKernels,
    how: Plan,
    method: Method | None,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
    *,
    scaled: bool = False,
    encoding: Encoding | None = None,
    score: Any = None,
) -> Tested:
    """Test whether rows of these scores come from their model, by sums of Stein features.

    Parameters
    ----------
    rows : ScoredRows
        The rows, on the line, and their scores.
    kernels, method, shuffle, workers
        As in `goodness_of_fit_test`.
    how : Plan
        A sketch, and its draws.
    rng : Generator
        Source of the dealing, the frequencies and the draws, in this order.
    scaled : bool
        Whether kernels see columns divided by their spread.
    encoding : Encoding, optional
        How a table became rows, without a scale.
    score : Score
        The model or its score, for `undeclared_support`.
    """
    pairing = how.sketch
    deal = deal_of(rows.n, pairing.cells, rng, fewest=1, shuffle=shuffle)
    look = _look_at(rows, deal)
    p = look.pilot[0].shape[1]
    center, spread = standardised(look.pilot[0]) if scaled else (np.zeros(p), np.ones(p))
    pilot, all_over = (own.on_scale(center, spread) for own in (look.pilot, look.all_over))
    bank = fit_stein_bank(kernels, pilot[0])
    chosen = bank.kernels if kernels is not None else (*bank.kernels, Constant(), BoundedLinear())
    frequencies = pairing.frequencies or 64
    sketch = fit_stein_map(*pilot, chosen, frequencies=frequencies, key=new_key(rng))
    sums = rows.sums(SteinTask(sketch, deal, center, spread), workers)
    drawn = stein_statistics(
        sketch, sums, deal.n_dealt, flips=how.n_resamples, key=new_key(rng), workers=workers
    )
    outcome = test_draws(drawn, method, how.pairs)
    found = check_rows(look.neighbours, advice=ADVICE)
    effective = effective_rows(all_over, bank) * rows.n / len(all_over.x)
    few = few_effective_rows(effective, rows.n)
    found += few or too_skewed(cell_skewness(sketch, sums))
    if callable(score) and not isinstance(score, Model):
        found += undeclared_support(look.all_over.x)
    outcome = replace(outcome, calibration=WILD).noting(found)
    if scaled and encoding is not None:
        encoding = encoding.scaled(center, spread)
    return Tested(outcome, chosen, drawn.n_units, deal.n_dealt, encoding, kernels is None)


@dataclass(frozen=True, eq=False)
class _ScoredPilot:
    """Rows and scores that are used by themselves, read at once.

    `pilot` rows are in no cell, others are from `all_over` the sample; `neighbours` are consecutive
    rows, without scores.
    """

    pilot: Scored
    all_over: Scored
    neighbours: Array


def _look_at(rows: ScoredRows, deal: Deal) -> _ScoredPilot:
    count = min(rows.n, MAX_ROWS)
    places = np.arange(count) * rows.n // count
    wanted = [
        deal.pilot_rows(),
        np.sort(deal.rows_at(places)),
        np.array(checked_rows(rows.n)),
    ]
    known = np.unique(np.concatenate(wanted))
    x, scores = rows.some(known)
    pilot, all_over, neighbours = (np.searchsorted(known, some) for some in wanted)
    first, rest = (Scored(x[some], scores[some]) for some in (pilot, all_over))
    return _ScoredPilot(first, rest, x[neighbours])


def too_skewed(share: float) -> list[Caveat]:
    """Caveats on few rows that dominate the sums."""
    if share < TOO_SKEWED:
        return []
    text = (
        "The scores of a few rows are so large that they rule the statistics, and random signs "
        "reject too often then: give a model that can sample and use calibration='simulate', or "
        "transform the data and the model."
    )
    return [(UnsafeAsymptoticsWarning, text)]
