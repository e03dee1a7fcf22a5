"""The interface of methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import check_finite, check_joint, numeric
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.methods.polyhedral import select_one
from nosplit.methods.tails import log_chi_sf, log_truncated_sf
from nosplit.methods.whitening import Whitened, Whitening, apply

__all__ = [
    "Batch",
    "Method",
    "Selection",
    "above_chance",
    "canonical",
    "in_deviations",
    "log_null_sf",
    "nothing_seen",
    "prepare",
    "settled",
]

# Of the largest standardised statistic: what is less counts as 0.
ROUNDING = 1e-12
# Share of the largest eigenvalue up to which whitening may take coordinates for copies.
NEAR = 1e-10
# Standard deviations from which a statistic is above 0, and not by rounding.
LEAST = 1e-6


@dataclass(frozen=True)
class Selection:
    """The choice of a method from a vector (τ, Σ), or from each of a batch.

    Every field has the batch's shape in front (none for a single vector).

    Attributes
    ----------
    statistic, log_pvalue : array
        The value of the selected statistic and the logarithm of its p-value.
    weights : array, shape (..., d)
        The selected combination β*.
    active : array of bool, shape (..., d)
        The active set 𝒰 on which the null law is conditioned.
    dof : array of int
        Degrees of freedom l of the null law.
    truncation : array
        𝒱⁻ where the null law is a truncated normal (-inf: not truncated), nan where it is a
        chi law with `dof` degrees of freedom.
    mixture : array, shape (..., d + 1), optional
        Weights of the chi-bar law, where the null is that.
    """

    statistic: Array
    log_pvalue: Array
    weights: Array
    active: NDArray[np.bool_]
    dof: NDArray[np.int_]
    truncation: Array
    mixture: Array | None = None

    @property
    def kept(self) -> tuple[int, ...]:
        """The active set of a single selection, as indices."""
        return tuple(np.flatnonzero(self.active).tolist())

    @property
    def lower_end(self) -> float | None:
        """𝒱⁻ of a single selection; None if its null law is no truncated normal."""
        truncated = not np.isnan(self.truncation) and self.mixture is None
        return float(self.truncation) if truncated else None

    def reshape(self, shape: tuple[int, ...]) -> Selection:
        """The same outcomes with another batch shape."""
        d = self.weights.shape[-1]
        return Selection(
            self.statistic.reshape(shape),
            self.log_pvalue.reshape(shape),
            self.weights.reshape(*shape, d),
            self.active.reshape(*shape, d),
            self.dof.reshape(shape),
            self.truncation.reshape(shape),
            None if self.mixture is None else self.mixture.reshape(*shape, d + 1),
        )


def nothing_seen(selection: Selection) -> Selection:
    """The same, with a statistic of 0 that never rejects: where no base statistic is positive.

    A combination with negative weights may then be large. It is no evidence of a difference, as
    every mean is at least 0: a sample against itself gives just that.
    """
    zero = np.zeros_like(selection.statistic)
    return replace(selection, statistic=zero, log_pvalue=zero, truncation=zero)


def in_deviations(tau: Array, cov: Array) -> Array:
    """Statistics in standard deviations, (..., d); 0 where there is no variance."""
    variance = np.diagonal(cov, axis1=-2, axis2=-1)
    live = variance > 0
    return np.where(live, tau / np.sqrt(np.where(live, variance, 1.0)), 0.0)


def above_chance(t: Array) -> NDArray[np.bool_]:
    """Whether any of the statistics, in standard deviations, is above what chance gives.

    Where no kernel sees a difference, a combination that does is no evidence of one: a sample
    against itself has such combinations, since its values are all below chance.
    """
    return np.asarray(np.any(t > LEAST, axis=-1))


@runtime_checkable
class Method(Protocol):
    """A rule that picks a combination of base statistics and knows its null law."""

    @property
    def name(self) -> str:
        """Short name, as in `method="ost"`."""
        ...

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply the rule to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        ...


@dataclass(frozen=True)
class Batch:
    """Checked input: `tau` (B, d), the factored covariance, and the caller's batch shape."""

    tau: Array
    white: Whitened
    shape: tuple[int, ...]

    @property
    def t(self) -> Array:
        """Standardised statistics D^(-1) τ."""
        return self.tau / self.white.scale


def checked(tau: ArrayLike, cov: ArrayLike) -> tuple[Array, Array]:
    """τ and Σ as arrays of shapes that fit, with finite entries and plausible variances.

    A coordinate without variance must be zero; it then has no influence.
    """
    tau = numeric(tau, "tau").astype(np.float64, copy=False)
    cov = numeric(cov, "cov").astype(np.float64, copy=False)
    d = tau.shape[-1] if tau.ndim else 0
    if d == 0 or cov.shape[-2:] != (d, d) or (cov.ndim > 2 and cov.shape[:-2] != tau.shape[:-1]):
        raise InputError(
            "`cov` must be (d, d), or (..., d, d) with the batch shape of `tau` (..., d); "
            f"got shapes {tau.shape} and {cov.shape}."
        )
    check_finite(tau, "tau")
    check_finite(cov, "cov")
    check_joint(tau.reshape(-1, d), cov.reshape(-1, d, d))
    return tau, cov


def prepare(tau: ArrayLike, cov: ArrayLike, whitening: Whitening) -> Batch:
    """Check (τ, Σ), flatten the batch, make copies one and factor Σ."""
    tau, cov = checked(tau, cov)
    d, shape = tau.shape[-1], tau.shape[:-1]
    # What tells copies apart has an eigenvalue that counts as zero: the largest is d at most.
    near = d * min(whitening.rcond, NEAR)
    tau, cov = copies_as_one(tau.reshape(-1, d), cov.reshape(-1, d, d), near)
    return Batch(tau, whitening(cov), shape)


def copies_as_one(tau: Array, cov: Array, near: float) -> tuple[Array, Array]:
    """τ, (B, d), and Σ, (1 or B, d, d), with the mean of copies in the place of each of them.

    Copies have a correlation of 1 but for `near`, and are not used together. Were one of them
    picked, its own noise would decide whether others are active, and the order of coordinates
    which noise that is.
    """
    variance = np.diagonal(cov, axis1=1, axis2=2)
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    correlation = cov / scale[:, :, None] / scale[:, None, :]
    alike = (correlation >= 1.0 - near) | np.eye(correlation.shape[1], dtype=bool)
    if np.count_nonzero(alike) == alike.shape[0] * alike.shape[1]:
        return tau, cov
    # Copies of copies are copies.
    for _ in range(alike.shape[1].bit_length()):
        alike = alike @ alike
    mean = alike / np.count_nonzero(alike, axis=2, keepdims=True)
    correlation = mean @ correlation @ mean.transpose(0, 2, 1)
    return apply(mean, tau / scale) * scale, correlation * scale[:, :, None] * scale[:, None, :]


def log_null_sf(statistic: Array, dof: NDArray[np.int_], truncation: Array) -> Array:
    """Log tail of Theorem 1's null law: a chi law where `truncation` is nan, else the normal.

    No degrees of freedom are a statistic that is always 0; it never rejects.
    """
    out, chi = np.zeros(statistic.shape), np.isnan(truncation)
    out[chi] = log_chi_sf(statistic[chi], np.maximum(dof[chi], 1))
    out[~chi] = log_truncated_sf(statistic[~chi], truncation[~chi])
    return np.where(dof == 0, 0.0, out)


def settled(solution: Array, scale: Array) -> Array:
    """A non-negative solution without what is 0 but for rounding: less than 1e-12 of `scale`.

    In discrete data a statistic can be just 0. On which side of 0 rounding puts it must not decide
    the active set: the same data in other units, or relabelled, would have other evidence.
    """
    top = np.max(np.abs(scale), axis=-1, keepdims=True)
    return np.where(solution <= ROUNDING * top, 0.0, solution)


@dataclass(frozen=True)
class Canonical:
    """Theorem 1's quantities for max α'ρ / √(α'Gα) over α ≥ 0."""

    alpha: Array
    statistic: Array
    dof: NDArray[np.int_]
    truncation: Array


def canonical(G: Array, rho: Array, dependent: float) -> Canonical:
    """Maximise α'ρ / √(α'Gα) over α ≥ 0 (Remark 1's canonical form, Theorem 1).

    Where no entry or one entry of the solution is positive, the maximum is over single
    coordinates, and its law a truncated normal; else it is a chi law.
    """
    from nosplit.backend.numba.nnls import solve_batch

    alpha = solve_batch(G, rho, dependent)
    alpha = settled(alpha, alpha)
    dof = np.count_nonzero(alpha, axis=1)
    quadratic = np.einsum("bi,bi->b", alpha, (alpha[:, None, :] @ G)[:, 0])
    statistic = np.sqrt(np.maximum(quadratic, 0.0))
    truncation = np.full(len(rho), np.nan)
    few = np.flatnonzero(dof <= 1)
    if len(few):
        one = select_one(G if G.shape[0] == 1 else G[few], rho[few])
        alpha[few] = 0.0
        alpha[few, one.winner] = 1.0
        statistic[few], truncation[few], dof[few] = one.statistic, one.truncation, 1
    return Canonical(alpha, statistic, dof, truncation)
