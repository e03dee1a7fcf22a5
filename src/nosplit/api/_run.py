"""Tests in memory as one list of steps: plan, find, select, describe."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from nosplit.api._request import Request
from nosplit.errors import Caveat
from nosplit.families.paired import PairEstimate
from nosplit.inference.calibrations import ASYMPTOTIC, EXACT, SERIES
from nosplit.inference.caveats import issued
from nosplit.inference.change import Distance
from nosplit.inference.columns import ColumnTable, PairTable
from nosplit.inference.plan import Plan
from nosplit.inference.questions import Exchanged, Question
from nosplit.inference.result import How, TestResult
from nosplit.inference.selection import Found, selected, selection_of
from nosplit.methods import OST, Adaptive
from nosplit.methods.laws import Flips, law_of

__all__ = ["Described", "Task", "how_found", "remarks", "run"]


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
        names=request.names,
        encoding=task.encoding,
        default=request.kernels is None,
        automatic=request.automatic,
    )


def remarks(task: Task, caveats: Sequence[Caveat]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warnings and notes of the result; warnings are issued, too."""
    every = [*caveats, *task.check()]
    return issued(every) if every else (), tuple(task.notes())
