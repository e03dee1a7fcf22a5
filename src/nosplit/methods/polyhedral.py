"""Selection of the best of several statistics, and the truncation it causes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import FARTHEST, check_covariance, check_matrix, check_vector
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.methods.tails import log_truncated_sf
from nosplit.methods.whitening import Whitening

__all__ = ["COPY", "PolyhedralTruncation", "Selected", "polyhedral_truncation", "select_one"]

# Correlation above which two candidates count as one (1 - c_ju in the truncation's denominator).
COPY = 1e-12


class Selected(NamedTuple):
    """The winner among jointly normal candidates, and the truncation its victory implies."""

    winner: NDArray[np.int_]
    statistic: Array
    truncation: Array


def select_one(G: Array, rho: Array) -> Selected:
    """Corollary 1: the largest of s_j = ρ_j / √G_jj and where its null law is cut off.

    Given that u wins and given what is independent of s_u, the null law of s_u is the standard
    normal truncated below at 𝒱⁻ = s_u - min_j (s_u - s_j) / (1 - c_ju).

    Parameters
    ----------
    G : array, shape (1, d, d) or (B, d, d)
        Covariance matrices.
    rho : array, shape (B, d)
        Jointly normal values.
    """
    sd = np.sqrt(np.diagonal(G, axis1=1, axis2=2))
    live = sd > 0
    safe = np.where(live, sd, 1.0)
    s = np.where(live, rho / safe, -np.inf)
    rows = np.arange(len(rho))
    which = rows if G.shape[0] > 1 else 0

    def distance(u: NDArray[np.int_]) -> Array:
        return np.asarray(1.0 - G[which, u] / safe / safe[which, u, None])

    # Of copies the first wins, so that rounding, which knows the statistic's size, does not choose.
    winner = np.argmax((distance(np.argmax(s, axis=1)) <= COPY) & live, axis=1)
    top = s[rows, winner]
    away = distance(winner)
    rivals = (away > COPY) & live
    lead = np.where(rivals, np.maximum(top[:, None] - s, 0.0), np.inf)
    gap = lead / np.where(rivals, away, 1.0)
    return Selected(winner, top, top - gap.min(axis=1))


class PolyhedralTruncation(NamedTuple):
    """A linear statistic of a normal vector and the interval that a selection leaves it."""

    statistic: float
    sd: float
    lower: float
    upper: float

    @property
    def log_pvalue(self) -> float:
        """Log of the selective p-value of mean zero against a positive mean."""
        value, lower, upper = (v / self.sd for v in (self.statistic, self.lower, self.upper))
        return float(log_truncated_sf(value, lower, upper))

    @property
    def pvalue(self) -> float:
        """Selective p-value of mean zero against a positive mean."""
        return float(np.exp(self.log_pvalue))


def polyhedral_truncation(
    tau: ArrayLike, cov: ArrayLike, A: ArrayLike, b: ArrayLike, eta: ArrayLike
) -> PolyhedralTruncation:
    """Law of η'τ given that A τ ≤ b: a normal truncated to [𝒱⁻, 𝒱⁺] (Theorem 2).

    The polyhedral lemma of Lee et al. (2016) for τ ~ N(μ, Σ): given the selection event and the
    part of τ that is independent of η'τ, the statistic η'τ is normal with mean η'μ and variance
    η'Ση, truncated to an interval.

    Parameters
    ----------
    tau : array_like, shape (d,)
        The observed vector; it must satisfy A τ ≤ b.
    cov : array_like, shape (d, d)
        Its covariance matrix Σ.
    A : array_like, shape (s, d)
        The selection event's matrix.
    b : array_like, shape (s,)
        The selection event's right-hand side.
    eta : array_like, shape (d,)
        The direction that is tested.

    Returns
    -------
    PolyhedralTruncation
        `statistic`, `sd`, `lower` and `upper`, on the scale of η'τ; `pvalue`, `log_pvalue`.

    Examples
    --------
    The larger of two independent values was picked for the test:

    >>> cut = polyhedral_truncation([2.0, 1.5], np.eye(2), [[-1.0, 1.0]], [0.0], [1.0, 0.0])
    >>> cut.lower, cut.upper
    (1.5, inf)
    >>> round(cut.pvalue, 4)
    0.3405
    """
    tau = check_vector(tau, "tau")
    cov = check_covariance(cov, len(tau))
    A = check_matrix(A, "A", columns=len(tau))
    b = check_vector(b, "b", size=len(A))
    eta = check_vector(eta, "eta", size=len(tau))
    Whitening()(cov)  # to know that it is semidefinite
    with np.errstate(over="ignore", invalid="ignore"):
        cut = _truncate(tau, cov, A, b, eta)
        measurable = np.isfinite(cut.sd) and abs(cut.statistic) <= FARTHEST * cut.sd
    if not measurable or np.isnan([cut.lower, cut.upper]).any():
        raise InputError("`tau`, `cov`, `A`, `b` and `eta` have products that overflow.")
    return cut


def _truncate(tau: Array, cov: Array, A: Array, b: Array, eta: Array) -> PolyhedralTruncation:
    variance = float(eta @ cov @ eta)
    sd = float(np.sqrt(np.maximum(variance, 0.0)))
    if sd <= 1e-7 * float(np.abs(eta) @ np.sqrt(np.diagonal(cov))):  # less is rounding
        raise InputError(f"`eta` must have positive variance under `cov`, got {variance:g}.")
    c = cov @ eta / variance
    value = float(eta @ tau)
    slope = A @ c
    room = b - A @ (tau - c * value)
    slack = 1e-9 * (np.abs(A) @ np.abs(tau) + np.abs(b))
    if np.any(A @ tau > b + slack):
        raise InputError("`tau` must satisfy the selection event A τ ≤ b; it does not.")
    noise = 1e-12 * (np.abs(A) @ np.abs(c))
    falling, rising = slope < -noise, slope > noise
    lower = float(np.max(room[falling] / slope[falling], initial=-np.inf))
    upper = float(np.min(room[rising] / slope[rising], initial=np.inf))
    # The statistic lies between them; rounding must not say otherwise.
    return PolyhedralTruncation(value, sd, min(lower, value), max(upper, value))
