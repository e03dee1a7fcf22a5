"""Results of tests of several samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from nosplit._checks import check_alpha
from nosplit._text import indented, listed, printable
from nosplit.errors import InputError
from nosplit.inference.print import format_p, headline_of, said_p
from nosplit.inference.procedure import how_tested
from nosplit.inference.questions import Verdict
from nosplit.inference.result import TestResult

__all__ = ["KSampleResult", "SampleComparison"]

# Comparisons that a summary lists, those with the smallest p-values first.
MOST_LINES = 20


@dataclass(frozen=True, eq=False)
class SampleComparison:
    """Two of several samples compared.

    Attributes
    ----------
    first, second : str
        What they are called; the control, if there is one, is the first.
    pvalue : float
        Its own p-value, by draws that exchange these two samples only.
    adjusted : float
        The p-value that holds for all comparisons together.
    result : TestResult
        The test of the two: its columns, kernels and draws.
    """

    first: str
    second: str
    pvalue: float
    adjusted: float
    result: TestResult

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        own = {"first": self.first, "second": self.second, "pvalue": self.pvalue}
        return own | {
            "adjusted": self.adjusted,
            "columns": list(self.result.columns.differing(0.05)),
        }


@dataclass(frozen=True, eq=False, repr=False)
class KSampleResult:
    """The outcome of a test of several samples; unpacks as `statistic, pvalue = result`.

    Attributes
    ----------
    overall : TestResult
        Whether all samples come from one distribution.
    names : tuple of str
        What the samples are called.
    sizes : tuple of int
        Rows of each.
    comparisons : tuple of SampleComparison
        Every pair of samples, or every sample with the control.
    adjustment : str
        How p-values were adjusted for all comparisons: "closed testing" or "Holm".
    control : str or None
        The sample that all others are compared with.
    """

    overall: TestResult
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    comparisons: tuple[SampleComparison, ...]
    adjustment: str
    control: str | None = None

    @property
    def pvalue(self) -> float:
        """The p-value of the overall test."""
        return self.overall.pvalue

    @property
    def statistic(self) -> float:
        """The statistic of the overall test."""
        return self.overall.statistic

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether it is rejected at level alpha that all samples come from one distribution."""
        return self.overall.reject(alpha)

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return "differ", "no evidence" or "too little data", as `TestResult.verdict` does."""
        return self.overall.verdict(alpha)

    def differing(self, alpha: float = 0.05) -> tuple[tuple[str, str], ...]:
        """Names of the samples that differ, two by two, at level alpha for all comparisons."""
        level = check_alpha(alpha)
        if not self.reject(level):
            return ()
        return tuple((c.first, c.second) for c in self.ranked() if c.adjusted <= level)

    def ranked(self) -> list[SampleComparison]:
        """The comparisons, those with the most evidence first."""
        return sorted(self.comparisons, key=lambda c: (c.adjusted, c.pvalue))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __bool__(self) -> NoReturn:
        raise InputError(
            "A result is neither true nor false. Ask `res.reject(alpha)`, or compare `res.pvalue`."
        )

    def __repr__(self) -> str:
        return (
            f"KSampleResult({len(self.names)} samples, "
            f"{said_p(self.overall.log_pvalue, 'pvalue', '')}, "
            f"{len(self.comparisons)} comparisons by {self.adjustment})"
        )

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "pvalue": self.pvalue,
            "verdict": self.verdict(),
            "samples": [
                {"name": name, "rows": n} for name, n in zip(self.names, self.sizes, strict=True)
            ],
            "control": self.control,
            "adjustment": self.adjustment,
            "comparisons": [c.to_dict() for c in self.comparisons],
            "overall": self.overall.to_dict(),
        }

    def summary(self, alpha: float = 0.05) -> str:
        """The verdict at level alpha in words, and which samples differ."""
        question = self.overall.question
        sizes = [f"{printable(n)} ({k:,})" for n, k in zip(self.names, self.sizes, strict=True)]
        shown = ", ".join(sizes[:12]) + (f" and {len(sizes) - 12} more" * (len(sizes) > 12))
        lines = [
            headline_of(self.overall, alpha),
            f"  question   {question}",
            indented("  samples    ", f"{len(sizes)}: {shown}"),
        ]
        if columns := self.overall.columns.differing(alpha):
            lines.append(indented("  columns    ", f"that differ: {listed(columns)}"))
        done = how_tested(self.overall.how, len(self.overall.columns), alpha, False)
        lines.append(indented("  tested     ", done))
        lines += [indented("  warning    ", text) for text in self.overall.warnings]
        if not self.comparisons:
            return "\n".join(lines)
        found, total = len(self.differing(alpha)), len(self.comparisons)
        with_whom = "" if self.control is None else f" with {printable(self.control)!r}"
        lines.append(
            f"  compared   {found} of {total} comparisons{with_whom} differ, adjusted for all by "
            f"{self.adjustment}"
        )
        lines += self._table(alpha)
        return "\n".join(lines)

    def _table(self, alpha: float) -> list[str]:

        ranked = self.ranked()
        labels = [f"{printable(c.first)} and {printable(c.second)}" for c in ranked[:MOST_LINES]]
        width = max(map(len, labels))
        lines = [f"             {'':{width}}  p        adjusted"]
        for label, c in zip(labels, ranked, strict=False):
            star = " *" if c.adjusted <= alpha else ""
            own, held = (format_p(math.log(p)) for p in (c.pvalue, c.adjusted))
            lines.append(f"             {label:{width}}  {own:8} {held}{star}")
        if len(ranked) > MOST_LINES:
            lines.append(f"             and {len(ranked) - MOST_LINES} with larger p-values")
        return lines
