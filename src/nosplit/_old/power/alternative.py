"""The alternative that a test is up against: mean, covariance and shared parts of pair values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nosplit._checks import check_covariance, check_joint, check_vector
from nosplit._old.power.gaps import PlannedGap
from nosplit._old.power.hoeffding import Effects, roots
from nosplit._types import Array
from nosplit.core.pairings import Adjacent, Blocks, Complete, LinearPairs, Pairing, Window
from nosplit.errors import InputError
from nosplit.methods.whitening import Whitening, optimal_weights

__all__ = ["Alternative", "overlap", "root", "within"]

Bounds: TypeAlias = "tuple[Alternative, Alternative] | None"


@dataclass(frozen=True, eq=False, repr=False)
class Alternative:
    """A difference to plan for: the first two moments of the values h of pairs of units.

    From a pilot sample, `nosplit.pilot(x, y)` makes one.

    Parameters
    ----------
    mu : array_like, shape (d,)
        μ = E h, the squared MMD of each kernel; no entry is below 0.
    cov : array_like, shape (d, d)
        Σ = Cov[h].
    zeta : array_like, shape (d, d), optional
        ζ₁ = Cov[h(a, b), h(a, c)], what pairs that share a unit have in common. Linear pairs share
        none and do not need it.
    kernels, columns, n_rows : tuple, int, int
        The pilot's kernels, columns, and rows of each sample.
    bounds : tuple of two, optional
        The same with the shortest and the longest μ that the pilot allows: the 95 % interval.
    effects : Effects, optional
        What the pilot's units contribute, for complete pairs.
    gap : PlannedGap, optional
        All that a test of the pilot's default kernels looks at: flattened spectra, single columns
        and pairs of them, too.

    Examples
    --------
    >>> small = Alternative([0.02], [[0.1]])
    >>> small
    Alternative(d=1)
    >>> small.scaled(2.0).mu
    array([0.04])
    """

    mu: Any
    cov: Any
    zeta: Any = None
    kernels: tuple[Any, ...] = ()
    columns: int = 1
    n_rows: int | None = None
    bounds: Bounds = None
    effects: Effects | None = None
    gap: PlannedGap | None = None

    def __post_init__(self) -> None:
        mu = check_vector(self.mu, "mu")
        if np.any(mu < 0):
            raise InputError(
                f"`mu` must be ≥ 0: its entries are squared distances, got {mu.min():g}."
            )
        cov = check_covariance(self.cov, len(mu))
        check_joint(mu[None], cov[None], ("mu", "cov"))
        Whitening()(cov)  # to know that it is semidefinite
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "cov", cov)
        if self.zeta is not None:
            object.__setattr__(self, "zeta", _checked_zeta(self.zeta, cov))

    @property
    def d(self) -> int:
        """Number of kernels."""
        return len(self.mu)

    def __repr__(self) -> str:
        rows = f", pilot of {self.n_rows:,} rows each" if self.n_rows else ""
        return f"Alternative(d={self.d}{rows})"

    def scaled(self, factor: float) -> Alternative:
        """A difference of the same kind, `factor` times as large in squared MMD.

        With E Ψ multiplied by √factor, μ and ζ₁ are multiplied by the factor, and Σ = 2 ζ₁ + Cov[s]
        changes by the difference in ζ₁.
        """
        if not (isinstance(factor, int | float) and 0.0 <= factor < np.inf):
            raise InputError(f"`factor` must be a number ≥ 0, got {factor!r}.")
        bounds = _both_bounds(self.bounds, lambda side: side.scaled(factor))
        gap = None if self.gap is None else self.gap.scaled(factor)
        if self.zeta is None:
            return replace(self, mu=factor * self.mu, bounds=bounds, gap=gap)
        cov = self.cov + 2.0 * (factor - 1.0) * self.zeta
        cov = (cov + cov.T) / 2.0
        mu, zeta = factor * self.mu, factor * self.zeta
        return replace(self, mu=mu, cov=cov, zeta=zeta, bounds=bounds, gap=gap)

    def combined(self, weights: ArrayLike | None = None) -> Alternative:
        """The one statistic β'h of a fixed combination β of the kernels.

        By default β^∞ (equation 3), the best there is: its power is what no method that has to
        learn the combination can exceed.
        """
        if weights is None:
            beta = np.asarray(optimal_weights(self.mu, self.cov))
        else:
            beta = check_vector(weights, "weights", size=self.d)
        zeta = None if self.zeta is None else [[beta @ self.zeta @ beta]]
        bounds = _both_bounds(self.bounds, lambda side: side.combined(beta))
        return Alternative(
            [beta @ self.mu],
            [[beta @ self.cov @ beta]],
            zeta,
            columns=self.columns,
            n_rows=self.n_rows,
            bounds=bounds,
            effects=self.effects and _combined_effects(self.effects, beta),
        )

    def spread(self, pairing: Pairing, n_units: int) -> Array:
        """Covariance of τ = √m · mean(h) over the pairs of `n_units` units.

        m⁻¹ times the covariances of all pairs of pairs: Σ for a pair with itself, ζ₁ for pairs
        that share one unit, 0 for the rest. Exact for every number of units.
        """
        shared = overlap(pairing, n_units)
        if shared == 0.0:
            return np.asarray(self.cov)
        if self.zeta is None:
            raise InputError(
                f"`pairs` = {pairing!r} share units, which needs `zeta` = Cov[h(a, b), h(a, c)] of "
                "the alternative. Use `nosplit.pilot`, or give it (zeros leave it out)."
            )
        return np.asarray(self.cov + shared * self.zeta)

    def normal(self, pairing: Pairing, n_units: int, z: Array) -> Array:
        """Statistics τ from standard normal z, (trials, d): the limit law under the alternative."""
        spread = self.spread(pairing, n_units)
        mean = np.sqrt(pairing.n_pairs(n_units)) * self.mu
        return np.asarray(mean + z @ root(spread))

    @cached_property
    def resampled(self) -> Effects:
        """The pilot's effects with the covariances of this alternative."""
        if self.effects is None or self.zeta is None:
            raise InputError(
                '`pairs="complete"` has no normal limit: its power needs a pilot sample. '
                "Use `nosplit.pilot(x, y)`, or a window."
            )
        return self.effects.fitted(self.zeta, self.cov - 2.0 * self.zeta)


def overlap(pairing: Pairing, n_units: int) -> float:
    """Ordered pairs of pairs that share one unit, divided by the number of pairs m.

    A unit in k pairs gives k (k - 1) of them.

    Examples
    --------
    >>> overlap(LinearPairs(), 100), overlap(Window(5), 100), overlap(Complete(), 100)
    (0.0, 18.0, 196.0)
    """
    match pairing:
        case LinearPairs() | Adjacent():
            return 0.0
        case Window(R):
            return 2.0 * (2.0 * R - 1.0)
        case Complete():
            return 2.0 * (n_units - 2.0)
        case Blocks(size):
            whole, rest = divmod(n_units, size)
            shared = [k * (k - 1.0) * (k - 2.0) for k in (size, rest)]
            return (whole * shared[0] + shared[1]) / max(pairing.n_pairs(n_units), 1)
    raise InputError(
        "`pairs` must be linear, adjacent, a window, blocks or complete to predict power, got "
        f"{pairing!r}."
    )


def within(zeta: Array, cov: Array) -> Array:
    """The estimate of ζ₁ that 0 ≤ ζ₁ ≤ Σ/2 allows, in the metric of Σ.

    An estimate without bias may have negative eigenvalues. Setting them to zero alone would make
    it too large on average, so the others are scaled to keep its trace (or all are zero).
    """
    white = Whitening()(cov)
    A, B = white.inverse_root[0] / white.scale[0], white.root[0] * white.scale[0]
    values, vectors = np.linalg.eigh(A @ zeta @ A.T)
    kept = np.clip(values, 0.0, None)
    if kept.sum() > 0:
        kept *= max(values.sum(), 0.0) / kept.sum()
    inside = (vectors * np.minimum(kept, 0.5)) @ vectors.T
    out = B.T @ inside @ B
    return np.asarray((out + out.T) / 2.0)


def root(cov: Array) -> Array:
    """A matrix R with R'R = `cov`, for `cov` of any rank and magnitude.

    Symmetric on the scale of standard deviations, so that no choice of eigenvectors shows: the
    same seed gives the same prediction on every machine.
    """
    variance = np.diagonal(cov)
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    return np.asarray(roots(cov / scale[:, None] / scale)[0] * scale)


def _checked_zeta(value: ArrayLike, cov: Array) -> Array:
    """A semidefinite matrix no larger than Σ/2, within rounding."""
    zeta = check_covariance(value, len(cov), "zeta")
    white = Whitening(rcond=1e-8)(cov)
    A = white.inverse_root[0] / white.scale[0]
    values = np.linalg.eigvalsh(A @ zeta @ A.T)
    if values[0] < -1e-4 or values[-1] > 0.5 + 1e-4:
        raise InputError(
            "`zeta` must be positive semidefinite and at most `cov` / 2; its eigenvalues relative "
            f"to `cov` go from {values[0]:.3g} to {values[-1]:.3g}."
        )
    return zeta


def _both_bounds(bounds: Bounds, change: Callable[[Alternative], Alternative]) -> Bounds:
    return None if bounds is None else (change(bounds[0]), change(bounds[1]))


def _combined_effects(effects: Effects, beta: Array) -> Effects:
    double = np.tensordot(beta, effects.double, axes=1)[None]
    return Effects((effects.single @ beta)[:, None], double)
