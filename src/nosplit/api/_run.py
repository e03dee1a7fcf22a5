"""Tests in memory as one list of steps: plan, find, select, describe."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nosplit.api._request import Request
from nosplit.data.labels import RowLabels
from nosplit.data.series import about_strata, check_rows
from nosplit.errors import Caveat
from nosplit.families.design import Design
from nosplit.families.paired import PairEstimate
from nosplit.families.two_sample import PooledRows, compare_samples
from nosplit.inference.calibrations import ASYMPTOTIC, EXACT, SERIES
from nosplit.inference.caveats import issued
from nosplit.inference.change import Distance
from nosplit.inference.changes import SomeColumns, describe_distance, describe_pairs
from nosplit.inference.columns import ColumnTable, PairTable
from nosplit.inference.effect import DealtRows, DealtSamples, deal_rows
from nosplit.inference.evidence import ColumnEvidence
from nosplit.inference.plan import MAX_POOLED, Plan, plan_samples
from nosplit.inference.questions import Exchanged, Question
from nosplit.inference.result import How, TestResult
from nosplit.inference.selection import Found, selected, selection_of
from nosplit.kernels.recipes import Recipe
from nosplit.methods import OST, Adaptive
from nosplit.methods.laws import Flips, law_of

__all__ = ["Described", "SampleTask", "Task", "how_found", "remarks", "run"]


class Described(NamedTuple):
    """Columns, pairs of columns and distances from the middle, as a finding shows them."""

    columns: ColumnTable = ColumnTable()
    pairs: PairTable = PairTable()
    distance: Distance | None = None


class Task(ABC):
    """The data of a test, read into memory, and what its family does with them."""

    question: ClassVar[Question]
    request: Request

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows that were given, of all samples."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Rows of each sample that are used."""

    @property
    def n_columns(self) -> tuple[int, ...]:
        """Columns of each variable, or of the sample; empty if `columns` has them all."""
        return ()

    @property
    @abstractmethod
    def encoding(self) -> Any:
        """The encoding of tables, or a pair of them; None for arrays as they came."""

    @property
    def exchanged(self) -> Exchanged | None:
        """The permutations under the null hypothesis, if a caller declared a design."""
        return None

    @abstractmethod
    def plan(self) -> Plan:
        """Plan the test by sizes alone."""

    @abstractmethod
    def find(self, plan: Plan) -> Found:
        """Compute the statistics under all draws, and rank the evidence of the data."""

    @abstractmethod
    def estimate(self) -> PairEstimate:
        """Estimate over pairs of units, with the closed form of the paper."""

    def describe(self, found: Found) -> Described:
        """Describe what a finding says of columns and pairs."""
        return Described()

    @abstractmethod
    def check(self) -> list[Caveat]:
        """Check the rows: a check warns and never changes the test."""

    def notes(self) -> list[str]:
        """List what was done to the data without being asked for."""
        both = self.encoding if isinstance(self.encoding, tuple) else (self.encoding,)
        return list(dict.fromkeys(note for own in both if own is not None for note in own.notes))


class SampleTask(Task):
    """Samples in memory whose labels are permuted, and labels of their rows."""

    strata: RowLabels | None
    groups: RowLabels | None

    @property
    @abstractmethod
    def pooled(self) -> PooledRows:
        """The rows of all samples, one sample after the other."""

    @property
    @abstractmethod
    def design(self) -> Design:
        """The atoms that are permuted, and inside which blocks."""

    @property
    @abstractmethod
    def recipe(self) -> Recipe:
        """The kernels."""

    @property
    @abstractmethod
    def some(self) -> SomeColumns:
        """The columns as they came."""

    @abstractmethod
    def columns(self, evidence: ColumnEvidence, joint: float | None) -> ColumnTable:
        """Make the table of columns; those that differ, or nearly so, are described."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        known = None if self.encoding is None else self.encoding.names
        return known or tuple(map(str, range(self.pooled.rows.shape[1])))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each sample that are in atoms."""
        return tuple(np.bincount(self.pooled.label[self.design.dealt]).tolist())

    @property
    def exchanged(self) -> Exchanged | None:
        """The permutations under the null hypothesis, if a caller declared a design."""
        return self.design.said if self.request.designed else None

    @cached_property
    def dealt(self) -> DealtRows | DealtSamples:
        """The rows in atoms, dealt to folds for separations."""
        design = self.design
        (rows,) = np.nonzero(design.dealt)
        unit, label = design.unit[rows], self.pooled.label[rows]
        block = None if design.said is None else np.searchsorted(design.starts, unit, side="right")
        groups = unit if design.means else None
        if len(self.sizes) == 2:
            return deal_rows(label == 1, groups, block)
        return DealtSamples.of(label, self.request.names, groups, block)

    def plan(self) -> Plan:
        """Plan the permutations by sizes alone."""
        request, p = self.request, self.pooled.rows.shape[1]
        return plan_samples(
            self.sizes, self.design.n_atoms, p, self.recipe, request.calibration, request.budget
        )

    def find(self, plan: Plan) -> Found:
        """Compare the samples by permuting the atoms of the design."""
        request = self.request
        return compare_samples(
            self.pooled, self.design, self.recipe, plan.effort, request.rng, request.method
        )

    def describe(self, found: Found) -> Described:
        """Describe columns, pairs and distances from the middle."""
        finding = found.finding
        if finding.columns is None:
            return Described()
        joint, rows = finding.pvalue, self.pooled.rows[self.design.dealt]
        columns = self.columns(finding.columns, joint)
        pairs = describe_pairs(
            self.names, found.pairs, finding.pairs, joint, self.some, self.dealt, rows,
            self.encoding,
        )  # fmt: skip
        return Described(columns, pairs, describe_distance(finding.distance, columns, self.some))

    def check(self) -> list[Caveat]:
        """Warn if neighbouring rows are alike; a check never changes the test."""
        if self.request.series is not False or self.groups is not None:
            return []
        ends = np.flatnonzero(np.diff(self.pooled.label)) + 1
        samples = np.split(self.pooled.rows, ends)
        if self.strata is None:
            return check_rows(*samples)
        return check_rows(*map(about_strata, samples, np.split(self.strata.codes, ends)))

    def notes(self) -> list[str]:
        """List what was done to the data without being asked for."""
        left_out = 0 if self.request.designed else len(self.pooled.rows) - self.design.n_used
        if self.request.by_pairs or not left_out:
            return super().notes()
        text = (
            f"{left_out:,} rows of the larger sample{'s' * (len(self.sizes) > 2)} were left out at "
            f"random: beyond {MAX_POOLED:,} rows they add next to nothing."
        )
        return [*super().notes(), text]


def run(task: Task) -> TestResult:
    """Run a test in memory."""
    request = task.request
    if request.by_pairs:
        return _closed_form(task, task.estimate())
    found = task.find(task.plan())
    named = request.kernels is not None
    selection, caveats = selection_of(found, request.method or Adaptive(), named)
    described = task.describe(found)
    warnings, notes = remarks(task, [*found.caveats, *caveats])
    return TestResult(
        statistic=float(found.finding.evidence[0]),
        log_pvalue=math.log(found.finding.pvalue),
        null=Flips(found.finding.evidence),
        question=task.question,
        columns=described.columns,
        pairs=described.pairs,
        distance=described.distance,
        selection=selection,
        how=how_found(task, found),
        warnings=warnings,
        notes=notes,
    )


def _closed_form(task: Task, found: PairEstimate) -> TestResult:
    """Describe an estimate over pairs of units."""
    picked = found.selection
    warnings, notes = remarks(task, found.caveats)
    return TestResult(
        statistic=float(picked.statistic),
        log_pvalue=float(picked.log_pvalue),
        null=law_of(picked),
        question=task.question,
        columns=ColumnTable(),
        pairs=PairTable(),
        distance=None,
        selection=selected(found.kernels, found.tau, found.cov, picked),
        how=_how(
            task,
            method=(task.request.method or OST()).name,
            pairs=found.pairs,
            calibration=ASYMPTOTIC,
            n_resamples=None,
            smallest_pvalue=0.0,
            n_units=found.n_units,
            n_pairs=found.n_pairs,
            sizes=found.sizes,
        ),
        warnings=warnings,
        notes=notes,
    )


def how_found(task: Task, found: Found) -> How:
    """Describe the procedure of a test by draws."""
    units, declared = found.n_units, task.request.series is not False
    return _how(
        task,
        method=(task.request.method or Adaptive()).name,
        pairs="complete",
        calibration=SERIES if declared and found.calibration == EXACT else found.calibration,
        n_resamples=found.finding.n_draws - 1,
        smallest_pvalue=1.0 / max(found.n_permutations, 1.0),
        n_units=units,
        n_pairs=units * (units - 1) // 2,
        sizes=task.sizes,
    )


def _how(task: Task, *, sizes: tuple[int, ...], **how: Any) -> How:
    request, n_used = task.request, sum(sizes)
    return How(
        **how,
        seed=request.seed,
        n_used=n_used,
        n_left_out=task.n_rows - n_used,
        sizes=sizes,
        design=task.exchanged,
        n_columns=task.n_columns,
        names=request.names,
        encoding=task.encoding,
        default=request.kernels is None,
        automatic=request.automatic,
    )


def remarks(task: Task, caveats: Sequence[Caveat]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warnings and notes of the result; warnings are issued, too."""
    every = [*caveats, *task.check()]
    return issued(every) if every else (), tuple(task.notes())
