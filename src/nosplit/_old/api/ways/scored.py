"""A sample in memory against a model: rows and scores, in units or cells, tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nosplit._checks import (
    check_budget,
    check_sample,
    check_varies,
)
from nosplit._old.data.samples import Sample, one_sample, standardised
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.families.goodness_of_fit import (
    ADVICE,
    ScoredArrays,
    sketched_fit,
    undeclared_support,
)
from nosplit._old.families.fitting import SteinKernels, fit_stein_bank, stein_kernels
from nosplit._old.families.goodness_of_fit import SteinBlocks, SteinUnits
from nosplit._old.families.replicates import SteinSamples
from nosplit._old.inference.calibrating.simulation import simulate
from nosplit._old.inference.caveats import few_effective_rows, stein_caveats
from nosplit._old.inference.outcome import Outcome, Tested, of_unnamed
from nosplit._old.inference.planning.goodness_of_fit import (
    SteinSizes,
    most_rows,
    plan_rows,
    plan_series,
)
from nosplit._old.inference.planning.limits import settle
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.run import run
from nosplit._types import Array
from nosplit.core.order import Natural, shuffled
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Encoding
from nosplit.data.series import block_length, check_rows
from nosplit.errors import Caveat, InputError, UnsafeAsymptoticsWarning
from nosplit.inference.calibrations import SERIES, SIMULATE, WILD
from nosplit.inference.questions import GOODNESS, Exchanged
from nosplit.inference.result import TestResult
from nosplit.kernels.stein import few_stein_kernels
from nosplit.models import Model, SamplingModel
from nosplit.models.ends import Ends, on_the_line
from nosplit.models.scores import OnSupport, Score, scores_of

__all__ = ["ScoredSample"]

# Rows, or blocks of rows, from which the level of the wild bootstrap is called safe: for one kernel
# or two; for more of them, with so many columns, one more for each further column, and at the most
# (docs/measured/goodness_of_fit.md).
SMALLEST_WILD, FEW_COLUMNS, SEVERAL_KERNELS, MOST_WILD = 20, 10, 50, 100
# Rows drawn from a model at once.
AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class ScoredSample:
    """A sample in memory, and the scores of a model at its rows.

    Attributes
    ----------
    data : Sample
        The sample as it was read.
    model : Score
        The model, or its scores.
    x, scores : array, shape (n, p)
        Rows in the units of the model, and its scores there.
    asked : Asked
        What is asked for.
    """

    data: Sample
    model: Score
    x: Array
    scores: Array
    asked: Asked

    @classmethod
    def read(cls, x: Any, score: Score, asked: Asked, support: Any = None) -> ScoredSample:
        """Read a sample, and compute the scores at its rows."""
        data, series = one_sample(x, asked.options), asked.labels.series is not False
        return cls(data, *_checked_rows(data, score, support, series), asked)

    @property
    def sizes(self) -> SteinSizes:
        """Sizes on which the cost depends."""
        n, p = self.x.shape
        return SteinSizes(n, n, p, len(stein_kernels(self.asked.kernels, 1.0)), 2)

    @property
    def standardises(self) -> bool:
        """Whether columns are divided by their spreads: those of tables."""
        return self.data.scaled and self.data.encoding is not None

    @cached_property
    def on_the_line(self) -> tuple[Array, Array]:
        """Rows and scores in coordinates of the whole line."""
        return on_the_line(self.model, self.x, self.scores)

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of a table: what became of its columns in the rows that are compared."""
        if self.data.encoding is None or not self.data.scaled:
            return self.data.encoding
        return self.data.encoding.scaled(*standardised(self.on_the_line[0]))

    def units(self, rng: np.random.Generator | None) -> SteinUnits:
        """Units of one row, in random order if there is a generator, with their kernels."""
        x, scores = self.on_the_line
        x, scores = _standardise(x, scores) if self.standardises else (x, scores)
        order = Natural() if rng is None else shuffled(len(x), rng)
        bank = fit_stein_bank(self.asked.kernels, x)
        return SteinUnits(x, scores, order, bank, range(len(x)))

    def test_series(
        self, rng: np.random.Generator, workers: int | None, progress: bool
    ) -> TestResult:
        """Test rows in time order: blocks of consecutive rows have random signs."""
        asked, n = self.asked, len(self.x)
        plan = plan_series(self.sizes, asked.pairs, asked.calibration, asked.method)
        self._check_pairs_fit()
        blocks = self._blocks()
        outcome = run(blocks, asked.method, plan, rng, workers, progress)
        outcome = replace(outcome, calibration=SERIES).noting(self._undeclared)
        if not blocks.together:
            outcome = outcome.noting(_doubts_of_blocks(blocks))
        tested = self._tested(outcome, blocks.rows, blocks.n_units, blocks.n_units * blocks.length)
        return self._told(tested, Exchanged("series", _said(blocks, n), "blocks", blocks.length))

    @property
    def _undeclared(self) -> list[Caveat]:
        return undeclared_support(self.model, self.x)

    def _check_pairs_fit(self) -> None:
        """Check that the budget allows all pairs of rows."""
        n, budget = len(self.x), check_budget(self.asked.budget)
        most = most_rows(self.sizes, budget)
        if n > most:
            step = -(-n // max(most, 1))
            raise InputError(
                f"`series` needs all pairs of rows, and budget={budget:g} allows {most:,} rows, "
                f"got {n:,}. Keep one row in {step:,} with x[::{step}], or raise the budget."
            )

    def _blocks(self) -> SteinBlocks:
        """Blocks that are longer than the dependence, or halves of the rows if none is."""
        series, n, rows = self.asked.labels.series, len(self.x), self.units(None)
        length = block_length(self.x) if series is True else int(series)
        if length is None:
            return SteinBlocks(rows, n // 2, together=True)
        if n // length < 2:
            raise InputError(
                f"`series` must be at most half the number of rows, got blocks of {length:,} rows "
                f"for {n:,} rows."
            )
        if self.asked.kernels is None and n // length < _safe_number(rows):
            rows = _with_few_kernels(rows)
        return SteinBlocks(rows, length)

    def test_independent(
        self, rng: np.random.Generator, workers: int | None, progress: bool
    ) -> TestResult:
        """Test independent rows by a sketch, by samples of the model, or by signs."""
        asked, model, sizes = self.asked, self.model, self.sizes
        units = self.units(rng if asked.shuffle else None)
        sampling = isinstance(model, SamplingModel)
        plan, kind = plan_rows(
            sizes, asked.pairs, asked.calibration, asked.method, asked.budget, sampling
        )
        doubts = [] if kind == SIMULATE else _doubts(units, kind)
        if doubts and plan.otherwise is not None:
            plan, kind, doubts = plan.otherwise, SIMULATE, []
        elif kind == WILD and asked.kernels is None and len(units.x) < _safe_number(units):
            units = _with_few_kernels(units)
            doubts = _doubts(units, kind)
        if isinstance(plan.pairing, Sketch):
            return self._told(self._by_sketch(plan, rng, workers))
        if kind == SIMULATE and isinstance(model, SamplingModel):
            rows = units.index(range(units.n_units))
            data = SteinSamples(units.x[rows][None], units.scores[rows][None], asked.kernels)
            again = _samples_of_model(model, len(self.x), rng, self.standardises, asked.kernels)
            method = settle(asked.method, plan.calibration)
            outcome = simulate(data, again, method, plan, workers, progress)
        else:
            outcome = run(units, asked.method, plan, rng, workers, progress)
            outcome = replace(outcome, calibration=kind)
        caveats = [*doubts, *check_rows(self.x, advice=ADVICE), *self._undeclared]
        outcome = outcome.noting(caveats)
        outcome = outcome.noting(stein_caveats(outcome, units.x.shape[1]))
        return self._told(self._tested(outcome, units, units.n_units, units.n_units))

    def _by_sketch(self, plan: Plan, rng: np.random.Generator, workers: int | None) -> Tested:
        return sketched_fit(
            ScoredArrays(*self.on_the_line),
            self.asked.kernels,
            plan,
            self.asked.method,
            rng,
            self.asked.shuffle,
            workers,
            scaled=self.data.scaled,
            encoding=self.data.encoding,
            score=self.model,
        )

    def _tested(self, outcome: Outcome, rows: SteinUnits, n_units: int, n_used: int) -> Tested:
        default = self.asked.kernels is None
        outcome = of_unnamed(outcome) if default else outcome
        return Tested(outcome, rows.bank.kernels, n_units, n_used, self.encoding, default)

    def _told(self, tested: Tested, design: Exchanged | None = None) -> TestResult:
        names = None if self.data.encoding is None else self.data.encoding.names
        return tested.result(GOODNESS, len(self.x) + self.data.left_out, names, design)


def _checked_rows(
    data: Sample, score: Score, support: Any, series: bool
) -> tuple[Score, Array, Array]:
    """The model, rows in its units, and its scores there."""
    rows = np.ascontiguousarray(check_sample(data.x, "x"), dtype=np.float64)
    if data.left_out and series:
        raise InputError(
            f"`nan_policy` must not be 'omit' with series=: the {data.left_out:,} rows with "
            "missing values leave gaps in the series. Fill them, or test a part without gaps."
        )
    if data.left_out and not callable(score) and not isinstance(score, Model):
        score = np.asarray(score)[data.kept]
    if support is not None:
        score = OnSupport(score, Ends.of_support(support, rows))
    scores = scores_of(score, rows)
    if len(rows) < 4:
        raise InputError(f"`x` must have at least 4 rows, got {len(rows)}.")
    check_varies(rows, "x")
    return score, rows, scores


def _standardise(x: Array, scores: Array) -> tuple[Array, Array]:
    """Rows divided by their spread: ∇ log q of the law of (x - c) / s is s ∇ log q(x)."""
    center, spread = standardised(x)
    return (x - center) / spread, scores * spread


def _samples_of_model(
    model: SamplingModel,
    n: int,
    rng: np.random.Generator,
    standardises: bool,
    kernels: SteinKernels,
) -> Iterator[SteinSamples]:
    """Draw samples of n rows from the model, treated as the data was, without end.

    Many samples are drawn at once: a call of a law of scipy.stats costs more than its rows.
    """
    count = max(1, AT_ONCE // n)
    while True:
        x = np.ascontiguousarray(model.sample(count * n, rng), dtype=np.float64)
        x = x.reshape(count * n, -1)
        if not np.isfinite(x).all():
            raise InputError("`score` is a model that draws numbers beyond all bounds. Rescale it.")
        rows, scores = (
            np.ascontiguousarray(part).reshape(count, n, -1)
            for part in on_the_line(model, x, scores_of(model, x))
        )
        if standardises:
            each = [_standardise(*sample) for sample in zip(rows, scores, strict=True)]
            rows, scores = (np.stack(part) for part in zip(*each, strict=True))
        yield SteinSamples(rows, scores, kernels)


def _safe_number(units: SteinUnits) -> int:
    """Rows or blocks from which random signs keep the level, with these columns and kernels."""
    if len(units.bank) <= len(few_stein_kernels(1.0)):
        return SMALLEST_WILD
    p = int(units.x.shape[1])
    more = min(p, FEW_COLUMNS) * (SEVERAL_KERNELS - SMALLEST_WILD) // FEW_COLUMNS
    return min(SMALLEST_WILD + more + max(0, p - FEW_COLUMNS), MOST_WILD)


def _with_few_kernels(units: SteinUnits) -> SteinUnits:
    """Use two kernels: learning from few units which of several to trust costs the level."""
    return replace(units, bank=fit_stein_bank(few_stein_kernels, units.x))


def _doubts(units: SteinUnits, kind: str) -> list[Caveat]:
    """Say why random signs and the closed form are not to be trusted with these rows."""
    n, safe = len(units.x), _safe_number(units)
    found = few_effective_rows(units.effective_rows(), n)
    if kind == WILD and n < safe:
        text = (
            f"{n} rows are few for the wild bootstrap (at least {safe} are safe): give a model "
            "that can sample and use calibration='simulate'."
        )
        found.append((UnsafeAsymptoticsWarning, text))
    return found


def _doubts_of_blocks(blocks: SteinBlocks) -> list[Caveat]:
    """Warn if random signs of these blocks may not keep the level."""
    rows, safe = blocks.rows, _safe_number(blocks.rows)
    found = few_effective_rows(rows.effective_rows(), rows.n_units, "Transform data and model.")
    if blocks.n_units < safe:
        text = (
            f"{blocks.n_units} blocks of rows are few for random signs (at least {safe} are safe), "
            "so p may be too small. Use a longer series."
        )
        found.append((UnsafeAsymptoticsWarning, text))
    return found


def _said(blocks: SteinBlocks, n: int) -> str:
    """Say which rows share a random sign."""
    if blocks.together:
        return "no block of rows is longer than the dependence between rows"
    said = f"blocks of {blocks.length:,} rows have random signs ({blocks.n_units:,} blocks)"
    left = n - blocks.n_units * blocks.length
    return f"{said}; {left:,} rows beyond the last whole block left out" if left else said
