"""Results of predictions of power."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.power.rates import CLOSED, NORMAL, RESAMPLED, SUMMED
from nosplit._types import Array

__all__ = ["HOW", "PowerCurve", "PowerPrediction", "SampleSize"]

HOW = {
    CLOSED: "by its closed form",
    NORMAL: "by simulation of the normal limit",
    RESAMPLED: "by flips on resampled units of the pilot",
    SUMMED: "all that it looks at, by sums over cells of the pilot",
}


@dataclass(frozen=True)
class PowerPrediction:
    """Predicted power of one test at one size.

    Attributes
    ----------
    power : float
        Chance that the test rejects.
    low, high : float
        95 % interval, for the error of the pilot and of the simulation together.
    n : int
        Rows of each sample.
    alpha : float
        Level of the test.
    method, pairs, calibration : str
        The test.
    how : str
        "closed form", "normal" (simulation of the limit law), "resampled" (units of the pilot) or
        "cells" (sums over its rows).
    warnings : tuple of str
        What to know before relying on it.
    """

    power: float
    low: float
    high: float
    n: int
    alpha: float
    method: str
    pairs: str
    calibration: str
    how: str
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = (
            f"Predicted power {self.power:.2f} (95 % interval {self.low:.2f} to {self.high:.2f}) "
            f"at n = {self.n:,} rows of each sample, level {self.alpha:g}."
        )
        test = f"  {self.method} method, {self.pairs} pairs, {self.calibration} calibration; "
        return "\n".join(
            [head, test + HOW[self.how], *(f"  warning: {text}" for text in self.warnings)]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return {**asdict(self), "warnings": list(self.warnings)}


@dataclass(frozen=True)
class SampleSize:
    """The smallest size at which a test is predicted to have a wanted power.

    Attributes
    ----------
    n : int
        Rows of each sample.
    low, high : int, and int or None
        95 % interval for the error of the pilot; `high` is None if it exceeds the limit.
    target : float
        The wanted power.
    prediction : PowerPrediction
        The power at `n`.
    """

    n: int
    low: int
    high: int | None
    target: float
    prediction: PowerPrediction

    def __str__(self) -> str:
        high = "more than the limit" if self.high is None else f"{self.high:,}"
        return (
            f"n = {self.n:,} rows of each sample (95 % interval {self.low:,} to {high}) for power "
            f"{self.target:g}.\n{self.prediction}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return {**asdict(self), "prediction": self.prediction.to_dict()}


@dataclass(frozen=True)
class PowerCurve:
    """Predicted power at several sizes."""

    predictions: tuple[PowerPrediction, ...]

    @property
    def sizes(self) -> NDArray[np.int_]:
        """Rows of each sample."""
        return np.array([p.n for p in self.predictions])

    @property
    def power(self) -> Array:
        """Predicted power at each size."""
        return np.array([p.power for p in self.predictions])

    @property
    def low(self) -> Array:
        """Lower end of the 95 % interval at each size."""
        return np.array([p.low for p in self.predictions])

    @property
    def high(self) -> Array:
        """Upper end of the 95 % interval at each size."""
        return np.array([p.high for p in self.predictions])

    def __str__(self) -> str:
        lines = ["       n  power  95 % interval"]
        lines += [
            f"{p.n:8,}  {p.power:5.2f}  {p.low:.2f} to {p.high:.2f}" for p in self.predictions
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return {"predictions": [p.to_dict() for p in self.predictions]}
