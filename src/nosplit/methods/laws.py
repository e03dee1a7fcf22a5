"""Null laws: what a statistic is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from nosplit._lazy import special
from nosplit._types import Array
from nosplit.methods import Selection
from nosplit.methods.chibar import log_chibar_sf
from nosplit.methods.tails import log_chi_sf, log_truncated_sf

__all__ = ["Chi", "ChiBarLaw", "Flips", "Law", "TruncatedNormal", "counted_from", "law_of"]

# Difference up to which two values of the evidence count as tied, relative where they are large:
# sums over rows in another order agree to about 1e-7. Ties count against a rejection.
TIE = 1e-6


class Law(Protocol):
    """A null law."""

    def log_sf(self, x: float) -> float:
        """Logarithm of the probability of a value of at least x."""
        ...

    def isf(self, alpha: float) -> float:
        """The smallest value that rejects at level alpha."""
        ...


@dataclass(frozen=True)
class Chi:
    """The chi law with `dof` degrees of freedom."""

    dof: int

    def log_sf(self, x: float) -> float:
        """Logarithm of the probability of a value of at least x."""
        return float(log_chi_sf(x, self.dof))

    def isf(self, alpha: float) -> float:
        """The smallest value that rejects at level alpha."""
        return float(np.sqrt(2.0 * special.gammainccinv(self.dof / 2.0, alpha)))

    def pdf(self, x: ArrayLike) -> Array:
        """Density at x."""
        x, k = np.asarray(x, dtype=np.float64), self.dof
        log = special.xlogy(k - 1, np.maximum(x, 0.0)) - 0.5 * x * x
        constant = (1.0 - 0.5 * k) * np.log(2.0) - special.gammaln(0.5 * k)
        return np.where(x < 0, 0.0, np.exp(log + constant))


@dataclass(frozen=True)
class TruncatedNormal:
    """The standard normal law, truncated below (`-inf`: not at all)."""

    lower: float = -np.inf

    def log_sf(self, x: float) -> float:
        """Logarithm of the probability of a value of at least x."""
        return float(log_truncated_sf(x, self.lower))

    def isf(self, alpha: float) -> float:
        """The smallest value that rejects at level alpha."""
        return float(-special.ndtri_exp(np.log(alpha) + special.log_ndtr(-self.lower)))

    def pdf(self, x: ArrayLike) -> Array:
        """Density at x."""
        x = np.asarray(x, dtype=np.float64)
        log = -0.5 * (x * x + np.log(2.0 * np.pi)) - special.log_ndtr(-self.lower)
        return np.where(x < self.lower, 0.0, np.exp(log))


@dataclass(frozen=True, eq=False)
class ChiBarLaw:
    """A mixture of chi laws with 0, 1, …, d degrees of freedom."""

    mixture: Array

    def log_sf(self, x: float) -> float:
        """Logarithm of the probability of a value of at least x."""
        return float(log_chibar_sf(x, self.mixture))

    def isf(self, alpha: float) -> float:
        """The smallest value that rejects at level alpha."""
        if alpha >= 1.0 - self.mixture[0]:
            return float(np.nextafter(0.0, 1.0))  # any positive value
        from scipy.optimize import brentq

        top = Chi(len(self.mixture) - 1).isf(alpha)
        return float(brentq(lambda x: self.log_sf(x) - np.log(alpha), 1e-12, top, xtol=1e-14))

    def pdf(self, x: ArrayLike) -> Array:
        """Density at x > 0; the rest of the mass is at 0."""
        parts = [w * Chi(k).pdf(x) for k, w in enumerate(self.mixture) if k]
        return np.asarray(np.sum(parts, axis=0))


def counted_from(x: ArrayLike) -> Array:
    """The smallest evidence that counts as at least x: ties by rounding count against us.

    All kinds of evidence are on the scale of standard deviations or of log p, so that values
    near zero, where relative differences mean nothing, are compared on that scale.
    """
    x = np.asarray(x, dtype=np.float64)
    size = np.where(np.isfinite(x), np.abs(x), 1.0)
    return np.asarray(x - TIE * np.maximum(size, 1.0))


@dataclass(frozen=True, eq=False)
class Flips:
    """The evidence under all draws of a randomisation test, the observed one first."""

    values: Array

    def sf(self, x: float) -> float:
        """Share of draws with at least this evidence, ties counted."""
        return np.count_nonzero(self.values >= counted_from(x)) / len(self.values)

    def log_sf(self, x: float) -> float:
        """Logarithm of the share of draws with at least this evidence, ties counted."""
        return float(np.log(self.sf(x)))

    def isf(self, alpha: float) -> float:
        """The smallest value of the draws that rejects at level alpha; inf if none does."""
        values = np.sort(self.values)
        below = np.searchsorted(values, counted_from(values), side="left")
        rejects = (len(values) - below) / len(values) <= alpha
        return float(values[rejects][0]) if rejects.any() else float(np.inf)


def law_of(selection: Selection) -> Law:
    """The null law of a single selection."""
    if selection.mixture is not None:
        return ChiBarLaw(selection.mixture)
    if np.isnan(selection.truncation):
        return Chi(int(selection.dof))
    return TruncatedNormal(float(selection.truncation))
