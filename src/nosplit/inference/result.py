"""The result of a test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from nosplit._support.checks import check_alpha
from nosplit._support.pvalues import said_p
from nosplit._support.types import Array
from nosplit.errors import InputError
from nosplit.inference.calibrating.evidence import ColumnEvidence, PairEvidence
from nosplit.inference.change import Distance, finite_or_none
from nosplit.inference.columns.results import ColumnTest, ColumnTests, tests_of
from nosplit.inference.columns.sequential import enough_draws
from nosplit.inference.effect import Separation
from nosplit.inference.printed import answer_of, kernel_label, summary_of
from nosplit.inference.questions import (
    DIFFER,
    NO_EVIDENCE,
    TOO_LITTLE_DATA,
    Question,
    Verdict,
)
from nosplit.methods.normal.laws import Law

__all__ = ["Exchanged", "KernelLine", "TestResult"]


class KernelLine(NamedTuple):
    """One kernel's part in a result.

    `weight` is its entry of β* on the scale of standard deviations, the largest being 1 in size:
    β_u alone depends on the units of its statistic. `alone` is its own statistic τ_u / σ_u.
    """

    label: str
    weight: float
    alone: float
    active: bool


# Separation of a column that defines the samples.
APART = 0.99


@dataclass(frozen=True)
class Exchanged:
    """A description of the design: the permutations under the null hypothesis.

    Attributes
    ----------
    kind : {"pairs", "strata", "groups", "series", "samples"}
        Rows of pairs, rows or groups inside strata, whole groups, blocks of consecutive rows, or
        rows of several samples.
    words : str
        What it is, in words.
    unit : {"rows", "pairs", "groups", "blocks"}
        What must be independent of one another for p-values to be exact.
    """

    kind: str
    words: str
    unit: str = "rows"

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, eq=False, repr=False)
class TestResult:
    """The outcome of a test. It holds no data, and unpacks as `statistic, pvalue = result`.

    Attributes
    ----------
    statistic : float
        Value of the selected statistic; under exact calibration, the evidence that was ranked. It
        is -inf where `split` learned nothing to test with.
    pvalue, log_pvalue : float
        The p-value and its logarithm, which is exact where the p-value underflows.
    weights : array, shape (d,)
        The learned combination β* of the base statistics.
    active : tuple of int
        Active set 𝒰: the kernels on which the learned combination rests.
    dof : int
        Degrees of freedom l of the closed-form null law.
    truncation : float or None
        𝒱⁻, the lower end of a truncated normal null law; None where the law is another.
    tau, cov : array
        The base statistics τ, (d,), and the covariance matrix Σ̂ that was used, (d, d).
    kernels : tuple
        The base kernels, in the order of `weights`.
    method, pairs, calibration : str
        What was done.
    n_units, n_pairs, n_used, n_left_out : int
        Units, pairs of units, and rows that were used and that were not, both samples together.
    warnings : tuple of str
        What to know before relying on the result.
    columns : tuple of str or None
        Names of the columns that were compared; None for arrays as they came.
    encoding : Encoding or None
        How tables became rows of numbers; a pair of them for two variables.
    by_column : tuple of ColumnEvidence
        What each column shows by itself: its p-value, and that adjusted for all columns.
    by_pair : tuple of PairEvidence
        Pairs of columns, by their positions, that differ or nearly so: p-values adjusted for all
        pairs up to .1.
    distance : Distance or None
        Distances of rows from the middle: all columns of numbers wider together, or far from their
        middles together. Its p-value, direction and ratio of medians; None if not looked at.
    reference : str or None
        What the sample was compared with, where that was a profile.
    default : bool
        Whether no kernels were named, so that more than `kernels` may have been looked at.
    automatic : bool
        Whether all that says how to compare was left to the library.
    stream : bool
        Whether an accumulator sketched the rows as they came.
    design : Exchanged or None
        What is permuted under the null hypothesis, if rows are paired, in time order, or have
        strata or groups.
    smallest_pvalue : float
        The smallest p-value that a permutation test of samples of these sizes can have, however
        many permutations are drawn; 0 if there is no such limit.
    seed : int or None
        The seed, which `rng=None` draws: ``rng=res.seed`` repeats the test. None if `rng` was a
        Generator.
    """

    # pytest would otherwise take the class for a test.
    __test__ = False

    statistic: float
    log_pvalue: float
    weights: Array
    active: tuple[int, ...]
    dof: int
    truncation: float | None
    tau: Array
    cov: Array
    kernels: tuple[Any, ...]
    method: str
    pairs: str
    calibration: str
    n_units: int
    n_pairs: int
    n_used: int
    n_left_out: int
    null: Law
    question: Question
    n_resamples: int | None = None
    warnings: tuple[str, ...] = field(default=())
    columns: tuple[str, ...] | None = None
    encoding: Any = None
    by_column: tuple[ColumnEvidence, ...] = ()
    by_pair: tuple[PairEvidence, ...] = ()
    distance: Distance | None = None
    reference: str | None = None
    default: bool = False
    automatic: bool = False
    stream: bool = False
    design: Exchanged | None = None
    smallest_pvalue: float = 0.0
    seed: int | None = None

    @property
    def pvalue(self) -> float:
        """The p-value; never 0 (the smallest positive number stands for less: see `log_pvalue`)."""
        p = math.exp(self.log_pvalue)
        if self.n_resamples is not None:  # a share of draws, without the rounding of its logarithm
            return round(p * (self.n_resamples + 1)) / (self.n_resamples + 1)
        return max(p, float(np.nextafter(0.0, 1.0)))

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether the null hypothesis is rejected at level alpha: pvalue ≤ alpha."""
        return self.pvalue <= check_alpha(alpha)

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return "differ", "no evidence" or "too little data".

        "too little data" means that no permutation of samples of these sizes could have given a
        p-value of alpha or less, whatever the data.
        """
        if self.reject(alpha):
            return DIFFER
        return NO_EVIDENCE if self.smallest_pvalue <= alpha else TOO_LITTLE_DATA

    def threshold(self, alpha: float = 0.05) -> float:
        """The value from which the statistic rejects at level alpha."""
        return self.null.isf(check_alpha(alpha))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was done to columns unasked, and on those that had better be left out."""
        some = self.encoding if isinstance(self.encoding, tuple) else (self.encoding,)
        found = [note for encoding in some if encoding is not None for note in encoding.notes]
        for name, column in zip(self.column_names, self.by_column, strict=False):
            if column.size >= APART:
                found.append(
                    f"{name!r} separates the samples completely. If it defines them, leave it out "
                    f"with exclude=[{name!r}]."
                )
        return tuple(dict.fromkeys(found))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an infinite truncation is None."""
        finite = self.truncation is not None and math.isfinite(self.truncation)
        return {
            "question": str(self.question),
            "statistic": finite_or_none(self.statistic),
            "pvalue": self.pvalue,
            "log_pvalue": self.log_pvalue,
            "method": self.method,
            "pairs": self.pairs,
            "calibration": self.calibration,
            "n_resamples": self.n_resamples,
            "n_units": self.n_units,
            "n_pairs": self.n_pairs,
            "n_used": self.n_used,
            "n_left_out": self.n_left_out,
            "kernels": [str(k) for k in self.kernels],
            "weights": self.weights.tolist(),
            "active": list(self.active),
            "dof": self.dof,
            "truncation": self.truncation if finite else None,
            "tau": self.tau.tolist(),
            "cov": self.cov.tolist(),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "columns": None if self.columns is None else list(self.columns),
            "by_column": [row.to_dict() for row in self._column_rows()],
            "by_pair": [
                {
                    "columns": list(names),
                    "pvalue": pair.pvalue,
                    "adjusted": pair.adjusted,
                    "words": "" if pair.change is None else pair.change.words,
                }
                for names, pair in self._named_pairs()
            ],
            "distance": None if self.distance is None else asdict(self.distance),
            "reference": self.reference,
            "smallest_pvalue": self.smallest_pvalue,
            "seed": self.seed,
            "verdict": self.verdict(),
            "design": None if self.design is None else asdict(self.design),
        }

    def __repr__(self) -> str:
        return (
            f"TestResult(statistic={self.statistic:.6g}, {said_p(self.log_pvalue, 'pvalue', '')}, "
            f"method={self.method!r}, pairs={self.pairs!r}, calibration={self.calibration!r})"
        )

    def __str__(self) -> str:
        return self.answer()

    def __bool__(self) -> NoReturn:
        # Any object is true: `if two_sample_test(x, y):` would always be.
        raise InputError(
            "A result is neither true nor false. Ask `res.reject(alpha)`, or compare `res.pvalue`."
        )

    def _repr_html_(self) -> str:
        """The answer for notebooks: the verdict in bold, and a table of what changed."""
        verdict, *rest = self.answer(columns=False).splitlines()
        table = self.column_tests()._repr_html_() if self.differing() else ""
        text = escape("\n".join(rest))
        return f"<div><strong>{escape(verdict)}</strong>\n{table}<pre>{text}</pre></div>"

    def answer(self, alpha: float = 0.05, *, columns: bool = True) -> str:
        """The verdict at level alpha in words, what changed, and a line on how it was tested.

        `summary` has all of it, the learned weights, too; `columns=False` leaves out what changed.
        """
        return answer_of(self, alpha, columns)

    def summary(self, alpha: float = 0.05) -> str:
        """The verdict at level alpha in words, how it was reached, and the learned weights."""
        return summary_of(self, alpha)

    def plot(self, *, kind: str = "overview", **options: Any) -> Any:
        """Draw it, as a matplotlib figure: `nosplit.plot(res, kind=kind, **options)`."""
        from nosplit.describe.plots import plot  # lazily, as below

        return plot(self, kind=kind, **options)

    def report(self, x: Any = None, y: Any = None, *, path: Any, **options: Any) -> Path:
        """Write a report as one HTML file: `nosplit.report(res, x, y, path=path, **options)`."""
        from nosplit.describe.report import (
            report,  # lazily: a result is read more often than reported
        )

        return report(self, x, y, path=path, **options)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns in `by_column`: their positions for arrays."""
        if self.columns is None or not self.by_column:
            return tuple(str(j) for j in range(len(self.by_column)))
        return self.columns

    def column_tests(self, alpha: float = 0.05) -> ColumnTests:
        """Test every column by itself, of the same draws: a row each, printed as a table.

        `nosplit.column_tests(x, y)` takes as many draws as Holm's correction needs, and can look at
        pairs of columns, too.
        """
        if not self.by_column:
            raise InputError(
                "This test looked at no single columns. Use nosplit.column_tests(x, y), or a test "
                "of two samples with default kernels and exact calibration."
            )
        resamples, needed = (
            self.n_resamples or 0,
            enough_draws(len(self.by_column), check_alpha(alpha)),
        )
        few = (
            f"Holm's correction of {len(self.by_column):,} columns needs {needed:,} draws, which "
            "nosplit.column_tests(x, y) takes."
        )
        return ColumnTests(
            self._column_rows(),
            alpha,
            resamples,
            resamples,
            self.calibration,
            self.n_used,
            self.n_left_out,
            self.warnings,
            (*self.notes, few) if resamples < needed else self.notes,
            self.reference,
            self.smallest_pvalue,
            self.seed,
        )

    def _column_rows(self) -> tuple[ColumnTest, ...]:
        if not self.by_column:
            return ()
        pvalues, adjusted = np.array([(c.pvalue, c.adjusted) for c in self.by_column]).T
        return tests_of(
            [(name,) for name in self.column_names],
            np.array([c.statistic for c in self.by_column]),
            pvalues,
            adjusted,
            np.full(len(pvalues), self.n_resamples or 0),
            [c.change for c in self.by_column],
            [c.separation for c in self.by_column],
        )

    def differing(self, alpha: float = 0.05) -> tuple[str, ...]:
        """Names of the columns that differ by themselves, the largest separation first.

        At level alpha for all of them together: as long as the columns that do not differ agree
        jointly, the probability that any of them is named is at most alpha. Empty unless the test
        as a whole rejects; `nosplit.column_tests` tests columns by themselves.
        """
        if not self.reject(alpha):
            return ()
        both = zip(self.column_names, self.by_column, strict=True)
        held = [(name, c) for name, c in both if c.adjusted <= check_alpha(alpha)]
        ranked = sorted(held, key=lambda item: (-item[1].size, item[1].adjusted))
        return tuple(name for name, _ in ranked)

    def separation(self, alpha: float = 0.05) -> tuple[str, Separation] | None:
        """The largest separation of the columns that differ, and its column; None if none does.

        Its interval is adjusted for all columns.
        """
        held, known = self.differing(alpha), [c.separation for c in self.by_column]
        largest = known[self.column_names.index(held[0])] if held else None
        if largest is None:
            return None
        return held[0], largest.of(sum(own is not None for own in known))

    def together(self, alpha: float = 0.05) -> tuple[tuple[str, str], ...]:
        """Pairs of columns that differ together, where neither does by itself.

        How they go together has changed. At level alpha for all pairs, as in `differing`.
        """
        if not self.reject(alpha):
            return ()
        alone = set(self.differing(alpha))
        return tuple(
            names
            for names, pair in self._named_pairs()
            if pair.adjusted <= alpha and not alone & set(names)
        )

    def _named_pairs(self) -> list[tuple[tuple[str, str], PairEvidence]]:
        """Pairs of columns with their names."""
        names = self.column_names
        return [((names[p.columns[0]], names[p.columns[1]]), p) for p in self.by_pair]

    def by_kernel(self) -> list[KernelLine]:
        """Each kernel's part in the result, in the order of `kernels`."""
        sd = np.sqrt(np.diagonal(self.cov))
        weight = self.weights * sd
        largest = np.max(np.abs(weight))
        weight = weight / largest if largest > 0 else weight
        alone = np.divide(self.tau, sd, out=np.zeros_like(sd), where=sd > 0)
        return [
            KernelLine(kernel_label(k), float(weight[i]), float(alone[i]), i in self.active)
            for i, k in enumerate(self.kernels)
        ]
