"""The result of a classifier test, fold by fold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from nosplit._checks import check_alpha
from nosplit._lazy import special
from nosplit.inference.effect import Separation
from nosplit.inference.print import Printed, classifier_text, headline_of
from nosplit.inference.questions import DIFFER, NO_EVIDENCE, TWO_SAMPLE, Question, Verdict
from nosplit.inference.result import How

__all__ = ["ClassifierFold", "ClassifierResult"]


@dataclass(frozen=True)
class ClassifierFold:
    """One fold that was tested.

    Attributes
    ----------
    n_learned, n_tested : int
        Rows of both samples that the estimator was fitted on, and rows of the fold.
    auc : float
        Share of pairs of a row of x and one of y in which the row of x has the higher score.
    pvalue : float
        The p-value, randomised and exact given the folds before.
    weight : float
        Its weight, fixed beforehand; the squares add up to one.
    """

    n_learned: int
    n_tested: int
    auc: float
    pvalue: float
    weight: float


@dataclass(frozen=True, repr=False)
class ClassifierResult(Printed):
    """The result of `classifier_test`. It unpacks as ``statistic, pvalue = result``.

    Attributes
    ----------
    statistic : float
        Σ w Φ⁻¹(1 - p) over the folds, standard normal under the null hypothesis.
    log_pvalue : float
        Natural logarithm of the p-value.
    auc : Separation
        Area under the ROC curve, averaged over the folds, with a confidence interval: the share of
        pairs of a row of x and one of y in which the row of x has the higher score.
    folds : tuple of ClassifierFold
        The folds that were tested, in their order.
    estimator : str
        Class of the estimator.
    columns : tuple of str
        The columns that it was fitted on.
    how : How
        The procedure: rows, design, permutations in each fold, seed.
    warnings, notes : tuple of str
        What to know before relying on the result, and hints.
    """

    statistic: float
    log_pvalue: float
    auc: Separation
    folds: tuple[ClassifierFold, ...]
    estimator: str
    columns: tuple[str, ...]
    how: How
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    question: ClassVar[Question] = TWO_SAMPLE

    @property
    def pvalue(self) -> float:
        """The p-value; never 0."""
        return max(math.exp(self.log_pvalue), float(np.nextafter(0.0, 1.0)))

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether the null hypothesis is rejected at level alpha: pvalue ≤ alpha."""
        return self.pvalue <= check_alpha(alpha)

    def threshold(self, alpha: float = 0.05) -> float:
        """The value from which the statistic rejects at level alpha."""
        return -float(special.ndtri(check_alpha(alpha)))

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return "differ" or "no evidence": a randomised p-value can reach every level."""
        return DIFFER if self.reject(alpha) else NO_EVIDENCE

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return headline_of(self, 0.05)

    def __str__(self) -> str:
        return classifier_text(self, 0.05)

    def summary(self, alpha: float = 0.05) -> str:
        """The printed result at another level."""
        return classifier_text(self, check_alpha(alpha))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = ("statistic", "pvalue", "log_pvalue", "estimator")
        auc = zip(("auc", "auc_low", "auc_high"), self.auc.shown, strict=True)
        return {
            "verdict": self.verdict(),
            **{name: getattr(self, name) for name in plain},
            **dict(auc),
            "folds": self.to_records(),
            "columns": list(self.columns),
            "how": self.how.to_dict(),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """One record for each fold, for `to_frame`."""
        return [asdict(fold) for fold in self.folds]
