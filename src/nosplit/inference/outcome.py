"""Outcomes of tests, and the results made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._support.types import Array
from nosplit._support.warn import warn
from nosplit.errors import Caveat, NearCopyWarning, PowerlessWarning
from nosplit.inference.calibrating.evidence import ColumnEvidence, PairEvidence
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.questions import Question
from nosplit.inference.result import Exchanged, TestResult
from nosplit.methods import Method, Selection
from nosplit.methods.normal.doubt import Doubt
from nosplit.methods.normal.laws import Flips, law_of

__all__ = ["Outcome", "Tested", "of_unnamed", "to_result"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a test on its way to a `TestResult`."""

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
    doubt: Doubt | None = None
    caveats: tuple[Caveat, ...] = ()

    @property
    def log_pvalue(self) -> float:
        """The logarithm of the p-value."""
        if self.flips is None:
            log_p = float(self.selection.log_pvalue)
            return log_p if self.doubt is None else float(self.doubt.log_pvalues(log_p))
        p = self.flips.sf(self.flips.values[0])
        return math.log(p if self.doubt is None else self.doubt.pvalues(p, self.draws))

    @property
    def draws(self) -> int | None:
        """Draws that p-values are shares of, the observed one included."""
        return None if self.flips is None else len(self.flips.values)

    def doubting(self, doubt: Doubt) -> Outcome:
        """The same, with p-values that allow for what rows may be: those of columns, too."""

        def allowed(p: float) -> float:
            return float(doubt.pvalues(p, self.draws))

        return replace(
            self,
            doubt=doubt,
            columns=tuple(
                replace(own, pvalue=allowed(own.pvalue), adjusted=allowed(own.adjusted))
                for own in self.columns
            ),
            together=tuple(
                own._replace(pvalue=allowed(own.pvalue), adjusted=allowed(own.adjusted))
                for own in self.together
            ),
            apart=None if self.apart is None else allowed(self.apart),
        )

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
    outcome = outcome.noting(_powerless(outcome))
    outcome = of_unnamed(outcome) if default else outcome
    for category, text in outcome.caveats:
        warn(text, category)
    picked = outcome.selection
    law = outcome.flips or law_of(picked)
    statistic = float(outcome.flips.values[0]) if outcome.flips else float(picked.statistic)
    truncated = not np.isnan(picked.truncation) and picked.mixture is None
    return TestResult(
        statistic=statistic,
        log_pvalue=outcome.log_pvalue,
        weights=picked.weights,
        active=tuple(int(i) for i in np.flatnonzero(picked.active)),
        dof=int(picked.dof),
        truncation=float(picked.truncation) if truncated else None,
        tau=outcome.tau,
        cov=outcome.cov,
        kernels=tuple(kernels),
        method=outcome.method.name,
        pairs=outcome.pairs,
        calibration=outcome.calibration,
        n_units=n_units,
        n_pairs=outcome.n_pairs,
        n_used=n_used,
        n_left_out=n_left_out,
        null=law,
        question=question,
        flips=None if outcome.draws is None else outcome.draws - 1,
        warnings=tuple(f"{c.__name__}: {text}" for c, text in outcome.caveats),
        columns=columns,
        encoding=encoding,
        by_column=outcome.columns,
        by_pair=outcome.together,
        by_distance=outcome.apart,
        default=default,
        stream=stream,
        design=design,
        doubt=outcome.doubt,
    )


def of_unnamed(outcome: Outcome) -> Outcome:
    """The outcome of kernels that nobody named, so that nobody can drop one of two copies."""
    kept = tuple(c for c in outcome.caveats if c[0] is not NearCopyWarning)
    return replace(outcome, caveats=kept)


def _powerless(outcome: Outcome) -> list[Caveat]:
    """Draws that are so few that no data would be rejected at .05."""
    if outcome.flips is None or len(outcome.flips.values) >= 20:
        return []
    least = 1.0 / len(outcome.flips.values)
    text = (
        f"There are {len(outcome.flips.values)} ways to relabel so little data, so p is at least "
        f"{least:.2g}: whatever the data, it is not rejected at .05. Use more rows."
    )
    return [(PowerlessWarning, text)]


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
