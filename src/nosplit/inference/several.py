"""The result of a test of several samples: the overall test, and comparisons of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from nosplit._checks import check_alpha
from nosplit._text import number_of
from nosplit.inference.columns import ColumnTable
from nosplit.inference.print import Printed, answer_of, called_sample, headline_of, said_p
from nosplit.inference.questions import Verdict
from nosplit.inference.result import TestResult

__all__ = ["KSampleResult", "SampleComparison"]

# Pairs of samples that are printed.
MAX_PAIRS = 10


@dataclass(frozen=True, eq=False)
class SampleComparison:
    """Two of several samples, compared.

    Attributes
    ----------
    first, second : str
        Names of the samples; the control, if there is one, is the first.
    pvalue : float
        Its own p-value, by permutations of these two samples only.
    adjusted : float
        The p-value adjusted for all comparisons.
    result : TestResult or None
        The test of the two samples. None if they have no stratum, or group, in common, so that
        they cannot be compared; their p-value is then 1.
    """

    first: str
    second: str
    pvalue: float
    adjusted: float
    result: TestResult | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        numbers = {"pvalue": self.pvalue, "adjusted": self.adjusted}
        columns = [] if self.result is None else list(self.result.columns.differing(0.05))
        return {"first": self.first, "second": self.second, **numbers, "columns": columns}

    def __str__(self) -> str:
        names = f"{called_sample(self.first)} v {called_sample(self.second)}"
        return f"{names}  {said_p(math.log(self.adjusted))}"


@dataclass(frozen=True, eq=False, repr=False)
class KSampleResult(Printed):
    """The result of a test of several samples; unpacks as ``statistic, pvalue = result``.

    Attributes
    ----------
    overall : TestResult
        The test of all samples together.
    comparisons : tuple of SampleComparison
        Every pair of samples, or every sample with the control.
    adjustment : str
        How p-values are adjusted for all comparisons: "closed testing" or "Holm".
    control : str or None
        The sample that all others are compared with.
    """

    overall: TestResult
    comparisons: tuple[SampleComparison, ...]
    adjustment: Literal["closed testing", "Holm"]
    control: str | None = None

    @property
    def pvalue(self) -> float:
        """The p-value of the overall test."""
        return self.overall.pvalue

    @property
    def statistic(self) -> float:
        """The statistic of the overall test."""
        return self.overall.statistic

    @property
    def columns(self) -> ColumnTable:
        """The columns of the overall test; separation is of one sample against the others."""
        return self.overall.columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the samples."""
        return self.overall.how.names

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether it is rejected at level alpha that all samples come from one distribution."""
        return self.overall.reject(alpha)

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return "differ", "no evidence" or "too little data", as `TestResult.verdict` does."""
        return self.overall.verdict(alpha)

    def differing(self, alpha: float = 0.05) -> tuple[tuple[str, str], ...]:
        """Names of the pairs of samples that differ, at level alpha for all comparisons."""
        return tuple((own.first, own.second) for own in self._held(check_alpha(alpha)))

    def _held(self, alpha: float) -> list[SampleComparison]:
        """The comparisons that differ, those with the most evidence first."""
        held = [own for own in self.comparisons if self.reject(alpha) and own.adjusted <= alpha]
        return sorted(held, key=lambda own: (own.adjusted, own.pvalue))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __bool__(self) -> NoReturn:
        self.overall.__bool__()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        sizes = zip(self.names, self.overall.how.sizes, strict=True)
        return {
            "pvalue": self.pvalue,
            "verdict": self.verdict(),
            "samples": [{"name": name, "rows": n} for name, n in sizes],
            "control": self.control,
            "adjustment": self.adjustment,
            "comparisons": [own.to_dict() for own in self.comparisons],
            "overall": self.overall.to_dict(),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """One record for each comparison, for `to_frame`."""
        return [own.to_dict() for own in self.comparisons]

    def __repr__(self) -> str:
        return headline_of(self.overall, 0.05)

    def __str__(self) -> str:
        return self.summary()

    def summary(self, alpha: float = 0.05) -> str:
        """The printed result at another level."""
        held, count = self._held(check_alpha(alpha)), len(self.comparisons)
        shown, more = held[:MAX_PAIRS], len(held) - MAX_PAIRS
        pairs = [*map(str, shown), *[f"and {more:,} more: res.comparisons"] * (more > 0)]
        of = f"{len(held):,} of {number_of(count, 'pair', 'pairs')} differ{'s' * (len(held) == 1)}"
        said = f"{of} (adjusted for all {count:,})" if count > 1 else ""
        return answer_of(self.overall, alpha, compared=(pairs, said))
