"""Doubt: p-values of rows that may be a series.

The sum of a series varies V times as much as that of independent rows, and a statistic that exceeds
a value with probability p if rows are independent does so with p^(1/V) if they are a series: of
normal and chi laws that is the tail but for factors that change slowly. Where nobody knows what
rows are, the tail is the mean over what they may be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nosplit._support.types import Array

__all__ = ["Doubt"]

# What p-values of draws may be rounded down by.
ROUNDED = 0.001


@dataclass(frozen=True)
class Doubt:
    """All that rows may be: independent, or series whose sums vary more.

    Attributes
    ----------
    variances : tuple of float
        How many times as much sums vary as those of independent rows: at least once.
    shares : tuple of float
        How likely each of them is; their sum is 1.
    before : float
        How likely a series was before rows were looked at.
    times : float
        What tails of series are multiplied by: those of several samples have more degrees of
        freedom, and are wider than p^(1/V).

    Examples
    --------
    >>> doubt = Doubt((1.0, 3.0), (0.9, 0.1))
    >>> doubt.series, round(float(doubt.pvalues(0.001)), 4)
    (0.1, 0.0109)
    """

    variances: tuple[float, ...]
    shares: tuple[float, ...]
    before: float = 0.0
    times: float = 1.0

    @property
    def series(self) -> float:
        """The probability that rows are a series."""
        both = zip(self.variances, self.shares, strict=True)
        return min(1.0, sum(share for variance, share in both if variance > 1.0))

    @property
    def likely(self) -> bool:
        """Whether a series is likelier than it was before rows were looked at."""
        return self.series >= self.before

    def __str__(self) -> str:
        return f"a series with a probability of {min(self.series, 0.99):.0%}"

    def log_pvalues(self, log_p: ArrayLike) -> Array:
        """Logarithms of p-values, from those of independent rows. They are never smaller."""
        log_p = np.asarray(log_p, np.float64)
        variances = np.array(self.variances)
        tails = log_p[..., None] / variances + np.where(variances > 1.0, np.log(self.times), 0.0)
        tails = np.minimum(tails, 0.0)
        with np.errstate(divide="ignore"):  # shares of 0
            found = np.logaddexp.reduce(tails + np.log(self.shares), axis=-1)
        # But for rounding it is in between.
        return np.asarray(np.clip(found, log_p, 0.0))

    def pvalues(self, p: ArrayLike, draws: int | None = None) -> Array:
        """P-values, from those of independent rows; of so many draws shares of them.

        They are rounded up, but for half of a share and no more than .001: were p-values a little
        more than a share, none would be small enough for a level of one in so many draws.
        """
        p = np.asarray(p, np.float64)
        found = np.maximum(np.exp(self.log_pvalues(np.log(p))), p)
        if draws is not None:
            spare = min(0.5, ROUNDED * draws)
            found = np.clip(np.ceil(found * draws - spare) / draws, p, 1.0)
        return np.asarray(found)

    def level(self, alpha: float, draws: int | None = None) -> float:
        """The largest p-value of independent rows that rejects at level alpha; 0 if none does."""
        if draws is not None:
            shares = np.arange(1, draws + 1) / draws
            return float(np.max(shares[self.pvalues(shares, draws) <= alpha], initial=0.0))
        from scipy.optimize import brentq

        def above(log_p: float) -> float:
            return float(self.log_pvalues(log_p)) - float(np.log(alpha))

        least = max(self.variances) * np.log(alpha / self.times) - 1e-9
        most = float(np.log(alpha))
        return alpha if above(most) <= 0.0 else float(np.exp(brentq(above, least, most)))
