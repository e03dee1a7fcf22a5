"""What a test gives back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._validation import check_alpha
from nosplit.laws import Law

__all__ = ["TestResult"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TestResult:
    """The outcome of a test. It holds no data, and unpacks as `statistic, pvalue = result`.

    Attributes
    ----------
    statistic : float
        Value of the selected statistic; under exact calibration, the evidence that was ranked.
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
    question: str
    flips: int | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def pvalue(self) -> float:
        """The p-value; never 0 (the smallest positive number stands for less: see `log_pvalue`)."""
        return max(math.exp(self.log_pvalue), float(np.nextafter(0.0, 1.0)))

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether the null hypothesis is rejected at level alpha: pvalue ≤ alpha."""
        return self.log_pvalue <= math.log(check_alpha(alpha))

    def threshold(self, alpha: float = 0.05) -> float:
        """The value from which the statistic rejects at level alpha."""
        return self.null.isf(check_alpha(alpha))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an infinite truncation is None."""
        finite = self.truncation is not None and math.isfinite(self.truncation)
        return {
            "question": self.question,
            "statistic": _number(self.statistic),
            "pvalue": self.pvalue,
            "log_pvalue": self.log_pvalue,
            "method": self.method,
            "pairs": self.pairs,
            "calibration": self.calibration,
            "flips": self.flips,
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
        }

    def __repr__(self) -> str:
        return (
            f"TestResult(statistic={self.statistic:.6g}, pvalue={format_p(self.log_pvalue)}, "
            f"method={self.method!r}, pairs={self.pairs!r}, calibration={self.calibration!r})"
        )

    def __str__(self) -> str:
        how = f"{self.calibration}, {self.flips} draws" if self.flips else self.calibration
        lines = [
            self.question,
            f"  p-value      {format_p(self.log_pvalue)}",
            f"  statistic    {self.statistic:.4g}  (5 % threshold {self.threshold(0.05):.4g})",
            f"  method       {self.method}, {how} calibration",
            f"  pairs        {self.pairs}: {self.n_pairs:,} pairs of {self.n_units:,} units",
            f"  rows         {self.n_used:,} used, {self.n_left_out:,} left out",
            "  weights      (share of the learned statistic; * in the active set)",
        ]
        for share, label, mark in self.shares():
            lines.append(f"    {100 * share:6.1f} %  {label}{' *' if mark else ''}")
        lines += [f"  warning      {text}" for text in self.warnings]
        return "\n".join(lines)

    def shares(self) -> list[tuple[float, str, bool]]:
        """For each kernel its share β_u τ_u / β'τ of the learned statistic, label, whether active."""
        parts = self.weights * self.tau
        total = float(parts.sum())
        share = parts / total if total > 0 else np.zeros_like(parts)
        return [
            (float(s), str(k), i in self.active)
            for i, (s, k) in enumerate(zip(share, self.kernels, strict=True))
        ]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def format_p(log_pvalue: float) -> str:
    """A p-value in words a person can read, whatever its size."""
    if log_pvalue > math.log(1e-4):
        return f"{math.exp(log_pvalue):.4f}"
    exponent = math.floor(log_pvalue / math.log(10.0))
    mantissa = math.exp(log_pvalue - exponent * math.log(10.0))
    if f"{mantissa:.1f}" == "10.0":
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa:.1f}e{exponent:+03d}"
