"""Results of witness tests, fold by fold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nosplit._checks import check_alpha
from nosplit._lazy import special
from nosplit._text import indented
from nosplit.inference.print import said_p
from nosplit.inference.questions import DIFFER, NO_EVIDENCE, TWO_SAMPLE, Verdict

__all__ = ["ClassifierResult", "WitnessFold"]


@dataclass(frozen=True)
class WitnessFold:
    """One fold that was tested.

    Attributes
    ----------
    n_learned, n_tested : int
        Rows that the estimator was learned on, and rows of the fold, both samples together.
    auc : float
        How often a row of x has a higher score than one of y, ties by half: .5 is chance.
    pvalue : float
        Exact given the folds before, and randomised.
    weight : float
        Its weight, fixed beforehand; the squares add up to one.
    """

    n_learned: int
    n_tested: int
    auc: float
    pvalue: float
    weight: float


@dataclass(frozen=True, repr=False)
class ClassifierResult:
    """The outcome of `classifier_test`.

    Attributes
    ----------
    statistic : float
        Σ w Φ⁻¹(1 - p) over the folds, standard normal under H₀.
    log_pvalue : float
        Natural logarithm of the p-value, which is exact over permutations of labels inside folds if
        rows are independent, and those of x and of y may change places under H₀.
    folds : tuple of WitnessFold
        The folds that were tested, in their order.
    estimator : str
        What was learned.
    n_used : int
        Rows of both samples.
    warnings : tuple of str
        What to know before relying on it.
    seed : int or None
        The seed; None if `rng` was a Generator.
    """

    statistic: float
    log_pvalue: float
    folds: tuple[WitnessFold, ...]
    estimator: str
    n_used: int
    warnings: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def pvalue(self) -> float:
        """The p-value; never 0."""
        return max(math.exp(self.log_pvalue), float(np.nextafter(0.0, 1.0)))

    @property
    def auc(self) -> float:
        """The mean over folds of how often a row of x has a higher score than one of y."""
        return float(np.mean([fold.auc for fold in self.folds]))

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether the null hypothesis is rejected at level alpha: pvalue ≤ alpha."""
        return self.pvalue <= check_alpha(alpha)

    def threshold(self, alpha: float = 0.05) -> float:
        """The value from which the statistic rejects at level alpha."""
        return -float(special.ndtri(check_alpha(alpha)))

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return "differ" or "no evidence"; the p-value is randomised, and may be as small as 0."""
        return DIFFER if self.reject(alpha) else NO_EVIDENCE

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __str__(self) -> str:
        verdict = TWO_SAMPLE.rejected if self.reject() else TWO_SAMPLE.kept
        last = self.folds[-1]
        lines = [("tested", "exact for independent rows")]
        lines += [("warning", text) for text in self.warnings]
        return "\n".join(
            [
                f"{verdict} ({said_p(self.log_pvalue)}, level 0.05).",
                f"  estimator  {self.estimator}, learned on up to {last.n_learned:,} rows",
                f"  rows       {self.n_used:,}, in {len(self.folds) + 1} folds",
                f"  told apart {self.auc:.1%} of rows of x and y, where chance is 50%",
                *(indented(f"  {head:10} ", text) for head, text in lines),
            ]
        )

    def __repr__(self) -> str:
        p = said_p(self.log_pvalue, "pvalue", "")
        return f"ClassifierResult(statistic={self.statistic:.6g}, {p}, auc={self.auc:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        own = {"pvalue": self.pvalue, "verdict": self.verdict(), "auc": self.auc}
        return asdict(self) | own
