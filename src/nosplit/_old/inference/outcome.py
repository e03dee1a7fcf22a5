"""Outcomes of tests, and the results made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._old.inference.calibrating.evidence import ColumnEvidence, PairEvidence
from nosplit._types import Array
from nosplit._warn import warn
from nosplit.errors import Caveat, DependentRowsWarning, NearCopyWarning
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.change import Distance
from nosplit.inference.columns import ColumnTable, PairTable, PairTest, column_rows
from nosplit.inference.effect import Separation
from nosplit.inference.questions import Exchanged, Question
from nosplit.inference.result import How, KernelSelection, TestResult
from nosplit.methods import Method, Selection
from nosplit.methods.laws import Flips, law_of

__all__ = ["Outcome", "Tested", "of_unnamed", "to_result"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a test on its way to a `TestResult`.

    `relabellings` counts the permutations that a test of these sizes has, those that cannot differ
    in their evidence as one; infinite if p-values come from elsewhere.
    """

    method: Method
    selection: Selection
    tau: Array
    cov: Array
    n_pairs: int
    calibration: str = ASYMPTOTIC
    flips: Flips | None = None
    pairs: str = ""
    columns: tuple[ColumnEvidence, ...] = ()
    together: tuple[PairEvidence, ...] = ()
    apart: float | None = None
    relabellings: float = math.inf
    caveats: tuple[Caveat, ...] = ()

    @property
    def log_pvalue(self) -> float:
        """The logarithm of the p-value."""
        if self.flips is None:
            return float(self.selection.log_pvalue)
        return math.log(self.flips.sf(self.flips.values[0]))

    @property
    def draws(self) -> int | None:
        """Draws that p-values are shares of, the observed one included."""
        return None if self.flips is None else len(self.flips.values)

    def separated(self, found: Iterable[Separation | None]) -> Outcome:
        """The same with the separation of each column."""
        both = zip(self.columns, found, strict=True)
        return replace(self, columns=tuple(replace(c, separation=own) for c, own in both))

    def noting(self, caveats: Iterable[Caveat]) -> Outcome:
        """The same with more to say."""
        return replace(self, caveats=(*self.caveats, *caveats))


def to_result(
    outcome: Outcome,
    *,
    question: Question,
    kernels: Sequence[Any],
    n_units: int,
    n_used: int,
    n_left_out: int,
    columns: tuple[str, ...] | None = None,
    encoding: Any = None,
    default: bool = False,
    stream: bool = False,
    design: Exchanged | None = None,
) -> TestResult:
    """Issue the warnings and put the result together."""
    outcome = of_unnamed(outcome) if default else outcome
    for category, text in outcome.caveats:
        # A check of the rows must not fail the test suite of anybody: it is told by the result.
        if category is not DependentRowsWarning:
            warn(text, category)
    picked = outcome.selection
    law = outcome.flips or law_of(picked)
    statistic = float(outcome.flips.values[0]) if outcome.flips else float(picked.statistic)
    truncated = not np.isnan(picked.truncation) and picked.mixture is None
    names = columns or tuple(str(j) for j in range(len(outcome.columns)))
    log_pvalue = outcome.log_pvalue
    joint = math.exp(log_pvalue)
    return TestResult(
        statistic=statistic,
        log_pvalue=log_pvalue,
        null=law,
        question=question,
        columns=_column_table(outcome, names, joint),
        pairs=_pair_table(outcome, names, joint),
        distance=None if outcome.apart is None else Distance(outcome.apart),
        selection=KernelSelection(
            kernels=tuple(kernels),
            tau=outcome.tau,
            cov=outcome.cov,
            weights=picked.weights,
            active=tuple(int(i) for i in np.flatnonzero(picked.active)),
            dof=int(picked.dof),
            truncation=float(picked.truncation) if truncated else None,
        ),
        how=How(
            method=outcome.method.name,
            pairs=outcome.pairs,
            calibration=outcome.calibration,
            n_resamples=None if outcome.draws is None else outcome.draws - 1,
            smallest_pvalue=1.0 / outcome.relabellings,
            seed=None,
            n_units=n_units,
            n_pairs=outcome.n_pairs,
            n_used=n_used,
            n_left_out=n_left_out,
            design=design,
            encoding=encoding,
            default=default,
            stream=stream,
        ),
        warnings=tuple(f"{c.__name__}: {text}" for c, text in outcome.caveats),
        notes=notes_of(encoding),
    )


def notes_of(encoding: Any) -> tuple[str, ...]:
    """Notes of an encoding, or of those of two variables, each once."""
    some = encoding if isinstance(encoding, tuple) else (encoding,)
    found = [note for own in some if own is not None for note in own.notes]
    return tuple(dict.fromkeys(found))


def _column_table(outcome: Outcome, names: Sequence[str], joint: float) -> ColumnTable:
    own = outcome.columns
    if not own:
        return ColumnTable()
    pvalues, adjusted = np.array([(c.pvalue, c.adjusted) for c in own]).T
    statistics, changes = [c.statistic for c in own], [c.change for c in own]
    separations = [c.separation for c in own]
    return ColumnTable(
        column_rows(names, statistics, pvalues, adjusted, changes, separations), joint
    )


def _pair_table(outcome: Outcome, names: Sequence[str], joint: float) -> PairTable:
    found = [
        PairTest((names[p.columns[0]], names[p.columns[1]]), p.pvalue, p.adjusted, p.change)
        for p in outcome.together
    ]
    return PairTable(tuple(found), joint)


def of_unnamed(outcome: Outcome) -> Outcome:
    """The outcome of kernels that nobody named, so that nobody can drop one of two copies."""
    kept = tuple(c for c in outcome.caveats if c[0] is not NearCopyWarning)
    return replace(outcome, caveats=kept)


@dataclass(frozen=True, eq=False)
class Tested:
    """An outcome, and what a result has to say of the data besides.

    Attributes
    ----------
    outcome : Outcome
        The evidence.
    kernels : tuple
        The base kernels.
    n_units, n_used : int
        Units, and rows in them.
    encoding : Encoding, or pair of them, or None
        How tables became numbers.
    default : bool
        Whether no kernels were named.
    """

    outcome: Outcome
    kernels: tuple[Any, ...]
    n_units: int
    n_used: int
    encoding: Any = None
    default: bool = False

    def result(
        self,
        question: Question,
        n_rows: int,
        columns: tuple[str, ...] | None = None,
        design: Exchanged | None = None,
    ) -> TestResult:
        """Issue the warnings, at the line that called the test, and put the result together."""
        return to_result(
            self.outcome,
            question=question,
            kernels=self.kernels,
            n_units=self.n_units,
            n_used=self.n_used,
            n_left_out=n_rows - self.n_used,
            columns=columns,
            encoding=self.encoding,
            default=self.default,
            design=design,
        )
