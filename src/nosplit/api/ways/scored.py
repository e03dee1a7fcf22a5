"""A sample in memory against a model: rows and scores, in units or cells, tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nosplit._support.checks import (
    check_budget,
    check_int,
    check_sample,
    check_varies,
)
from nosplit._support.types import Array
from nosplit.data.likeness import likeness_of, rows_apart
from nosplit.data.samples import Sample, one_sample, standardised
from nosplit.data.serial import correlated_rows
from nosplit.data.tables.encoding import Encoding
from nosplit.designs.asked import Asked
from nosplit.designs.order import allowing
from nosplit.engines.families.goodness_of_fit import ScoredArrays, sketched_fit
from nosplit.errors import Caveat, InputError, UnsafeAsymptoticsWarning
from nosplit.families.chain import (
    ChainBlocks,
    Runs,
    chain_blocks,
    chain_units,
    default_chain_kernels,
    few_batches,
    few_blocks,
    looks_like_a_chain,
    smallest_safe_batches,
)
from nosplit.families.fitting import SteinKernels, fit_stein_bank, stein_kernels
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.families.replicates import SteinSamples
from nosplit.inference.calibrating.simulation import simulate
from nosplit.inference.calibrations import SIMULATE, WILD
from nosplit.inference.caveats import (
    dependent_rows,
    few_effective_rows,
    stein_caveats,
    thinned_rows,
)
from nosplit.inference.limits import settle
from nosplit.inference.outcome import Outcome, Tested, of_unnamed
from nosplit.inference.planning.goodness_of_fit import SteinSizes, most_rows, plan_chain, plan_rows
from nosplit.inference.planning.plan import Plan
from nosplit.inference.questions import GOODNESS
from nosplit.inference.result import TestResult
from nosplit.inference.run import run
from nosplit.kernels import IMQ
from nosplit.kernels.derived.stein import few_stein_kernels
from nosplit.models import Model, SamplingModel
from nosplit.models.ends import on_the_line
from nosplit.models.scores import Score, scores_of
from nosplit.pairs.dealing import Natural, shuffled
from nosplit.pairs.pairing import Sketch

__all__ = ["ScoredSample"]

# Rows from which the level of the wild bootstrap is called safe: for one kernel or two; for more of
# them, with so many columns, one more for each further column, and at the most
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
        Rows that are used, in the units of the model, and its scores there.
    asked : Asked
        What is asked for.
    """

    data: Sample
    model: Score
    x: Array
    scores: Array
    asked: Asked

    @classmethod
    def read(cls, x: Any, score: Score, asked: Asked, thin: int, dependent: bool) -> ScoredSample:
        """Read a sample, and find the scores at every `thin`-th row."""
        data = one_sample(x, asked.options)
        return cls(data, score, *_checked_rows(data, score, thin, dependent), asked)

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

    def test_chain(
        self, rng: np.random.Generator, workers: int | None, progress: bool
    ) -> TestResult:
        """Test the output of a Markov chain: blocks of rows are units."""
        asked, sizes = self.asked, self.sizes
        plan, kind = plan_chain(sizes, asked.pairs, asked.calibration, asked.method)
        most = most_rows(sizes, check_budget(asked.budget))
        units = _chain(self.units(None), asked.kernels, kind, most)
        outcome = run(units, asked.method, plan, rng, workers, progress)
        return self._told(self._tested(replace(outcome, calibration=kind), units))

    def test_independent(
        self, rng: np.random.Generator, workers: int | None, progress: bool
    ) -> TestResult:
        """Test rows that are independent, or those that are far enough apart if they are not."""
        lag = correlated_rows(self.x)
        likeness = likeness_of(self.x, along=False)
        step = rows_apart(lag, likeness, n=len(self.x))
        if np.all(self.x[::step] == self.x[0]):  # what is left says nothing
            step = 1
        x, scores = self.x[::step], self.scores[::step]
        tested = replace(self, x=x, scores=scores)._taken_independent(rng, workers, progress)
        if step > 1:
            caveat = thinned_rows("Rows", lag, step, " Use dependent=True for all of a chain.")
            outcome = tested.outcome.noting([caveat])
        elif lag:
            outcome = tested.outcome.noting([dependent_rows(lag)])
        else:
            outcome = allowing(tested.outcome, likeness)
        return self._told(replace(tested, outcome=outcome))

    def _taken_independent(
        self, rng: np.random.Generator, workers: int | None, progress: bool
    ) -> Tested:
        """Test by a sketch, by samples of the model, or by signs."""
        asked, model, sizes = self.asked, self.model, self.sizes
        units = self.units(rng if asked.shuffle else None)
        sampling = isinstance(model, SamplingModel)
        plan, kind = plan_rows(
            sizes, asked.pairs, asked.calibration, asked.method, asked.budget, sampling
        )
        doubts = [] if kind == SIMULATE else _doubts(units, kind)
        if doubts and plan.otherwise is not None:
            plan, kind, doubts = plan.otherwise, SIMULATE, []
        elif kind == WILD and asked.kernels is None and len(units.x) < _safe_rows(units):
            # Learning from few rows which of several kernels to trust is what costs the level.
            units = replace(units, bank=fit_stein_bank(few_stein_kernels, units.x))
            doubts = _doubts(units, kind)
        if isinstance(plan.pairing, Sketch):
            return self._by_sketch(plan, rng, workers)
        if kind == SIMULATE and isinstance(model, SamplingModel):
            rows = units.index(range(units.n_units))
            data = SteinSamples(units.x[rows][None], units.scores[rows][None], asked.kernels)
            again = _samples_of_model(model, len(self.x), rng, self.standardises, asked.kernels)
            method = settle(asked.method, plan.calibration)
            outcome = simulate(data, again, method, plan, workers, progress)
        else:
            outcome = run(units, asked.method, plan, rng, workers, progress)
            outcome = replace(outcome, calibration=kind)
        return self._tested(outcome.noting(doubts), units)

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
        )

    def _tested(self, outcome: Outcome, units: SteinUnits | Runs | ChainBlocks) -> Tested:
        used = round(units.rows_per_unit * units.n_units)
        outcome, encoding = _with_caveats(outcome, units), self.encoding
        default = self.asked.kernels is None
        outcome = of_unnamed(outcome) if default else outcome
        kernels, n_units = units.bank.kernels, units.n_units
        return Tested(outcome, kernels, n_units, used, encoding, default)

    def _told(self, tested: Tested) -> TestResult:
        names = None if self.data.encoding is None else self.data.encoding.names
        return tested.result(GOODNESS, len(self.x) + self.data.left_out, names)


def _checked_rows(data: Sample, score: Score, thin: int, dependent: bool) -> tuple[Array, Array]:
    """Rows in the units of the model, and its scores there."""
    rows = np.ascontiguousarray(check_sample(data.x, "x"), dtype=np.float64)
    if data.left_out and dependent:
        raise InputError(
            f"`nan_policy` must not be 'omit' with dependent=True: the {data.left_out} rows with "
            "missing values leave gaps in the chain."
        )
    if data.left_out and not callable(score) and not isinstance(score, Model):
        score = np.asarray(score)[data.kept]
    thin = check_int(thin, "thin", least=1)
    scores = scores_of(score, rows)
    if thin > 1:
        rows, scores = rows[::thin].copy(), scores[::thin].copy()
    if len(rows) < 4:
        raise InputError(f"`x` must have at least 4 rows (after thinning), got {len(rows)}.")
    check_varies(rows, "x")
    return rows, scores


def _standardise(x: Array, scores: Array) -> tuple[Array, Array]:
    """Rows divided by their spread: ∇ log q of the law of (x - c) / s is s ∇ log q(x)."""
    center, spread = standardised(x)
    return (x - center) / spread, scores * spread


def _chain(
    rows: SteinUnits, kernels: SteinKernels, kind: str, most_rows: int
) -> Runs | ChainBlocks:
    """Blocks of rows; for the closed form runs of them, with three kernels by default, or one."""
    if kind == WILD:
        return chain_blocks(rows, most_rows)
    if kernels is not None:
        return chain_units(rows)
    three = chain_units(replace(rows, bank=fit_stein_bank(default_chain_kernels, rows.x)))
    if three.n_units // 2 >= smallest_safe_batches(3):
        return three
    one = fit_stein_bank(lambda bandwidth: (IMQ(bandwidth),), rows.x)
    return chain_units(replace(rows, bank=one))


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


def _safe_rows(units: SteinUnits) -> int:
    """Rows from which random signs keep the level, with these columns and kernels."""
    if len(units.bank) <= len(few_stein_kernels(1.0)):
        return SMALLEST_WILD
    p = int(units.x.shape[1])
    more = min(p, FEW_COLUMNS) * (SEVERAL_KERNELS - SMALLEST_WILD) // FEW_COLUMNS
    return min(SMALLEST_WILD + more + max(0, p - FEW_COLUMNS), MOST_WILD)


def _doubts(units: SteinUnits, kind: str) -> list[Caveat]:
    """Say why random signs and the closed form are not to be trusted with these rows."""
    n, safe = len(units.x), _safe_rows(units)
    found = few_effective_rows(units.effective_rows(), n)
    if kind == WILD and n < safe:
        text = (
            f"{n} rows are few for the wild bootstrap (at least {safe} are safe): give a model "
            "that can sample and use calibration='simulate'."
        )
        found.append((UnsafeAsymptoticsWarning, text))
    return found


def _with_caveats(outcome: Outcome, units: SteinUnits | Runs | ChainBlocks) -> Outcome:
    """Add the caveats of goodness-of-fit tests."""
    if isinstance(units, ChainBlocks):
        return outcome.noting(few_blocks(units.n_units))
    if isinstance(units, Runs):
        unsafe = UnsafeAsymptoticsWarning
        kept = tuple(c for c in outcome.caveats if c[0] is not unsafe)
        few = few_batches(units.n_units // 2, len(units.bank))
        return replace(outcome, caveats=kept).noting(few)
    found = looks_like_a_chain(units) + stein_caveats(outcome, units.x.shape[1])
    return outcome.noting(found)
