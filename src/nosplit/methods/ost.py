"""OST, the one-sided test: the best combination with Σβ ≥ 0 (Section 3.2, Theorem 1).

Geometry, on the standardised scale: the whitened statistics w are standard normal under the null,
and the candidates are the directions of the cone K = {w : B'w ≥ 0}. The statistic is the length
of the projection of w on K. By Moreau's theorem that projection is what a non-negative least
squares fit of -w by the columns of B leaves over, so no matrix is inverted to find it, and a
singular Σ needs no other algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._types import Array
from nosplit.methods._base import Batch, Selection, canonical, log_null_sf, prepare, settled
from nosplit.methods.polyhedral import select_one
from nosplit.methods.whitening import Whitened, Whitening, apply, gram

__all__ = ["OST", "Projection", "combination", "project"]

LARGEST = 1e300  # weights, short of what overflows


@dataclass(frozen=True)
class OST:
    """One-sided test of the paper: learn β* with Σβ ≥ 0 on all the data, corrected in closed form.

    Parameters
    ----------
    whitening : Whitening
        How Σ is inverted. `Whitening(standardise=False, rcond=1e-6)` is the authors' rule for
        singular matrices (Appendix E).

    Examples
    --------
    >>> import numpy as np
    >>> out = OST()([3.0, 2.5], [[1.0, 0.5], [0.5, 1.0]])
    >>> print(f"{out.statistic:.3f}, p = {np.exp(out.log_pvalue):.5f}, l = {out.dof}")
    3.215, p = 0.00570, l = 2
    """

    whitening: Whitening = field(default_factory=Whitening)

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "ost"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply the test to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        batch = prepare(tau, cov, self.whitening)
        found = project(batch) if self.whitening.standardise else _relaxed(batch)
        return Selection(
            found.statistic,
            log_null_sf(found.statistic, found.dof, found.truncation),
            combination(batch.white, found.direction),
            found.active,
            found.dof,
            found.truncation,
        ).reshape(batch.shape)


def combination(white: Whitened, direction: Array) -> Array:
    """β* along a whitened direction, scaled to ‖Σβ*‖ = 1 for any magnitude of Σ; 0 for none.

    It is shorter where it would overflow, as it does for a tiny Σ that is nearly singular.
    """
    beta = white.weights(direction)
    image = white.colour(direction) * white.scale
    top = np.max(np.abs(image), axis=1, keepdims=True)
    safe = np.where(top > 0, top, 1.0)
    length = np.linalg.norm(image / safe, axis=1, keepdims=True)
    room = np.maximum(safe, np.max(np.abs(beta), axis=1, keepdims=True) / LARGEST)
    return np.asarray(beta / room / np.where(length > 0, length, 1.0))


@dataclass(frozen=True)
class Projection:
    """The selected direction of the cone, whitened, and the null law given its active set."""

    direction: Array
    statistic: Array
    active: NDArray[np.bool_]
    dof: NDArray[np.int_]
    truncation: Array


def project(batch: Batch) -> Projection:
    """Project w on the cone {w : B'w ≥ 0}; on its extreme rays if the projection is that small.

    With l = dim of the face that holds the projection: l ≥ 2 gives a chi law with l degrees of
    freedom; l = 1, or a projection that is 0, a truncated normal (Theorem 1).
    """
    from nosplit.backend.numba.nnls import solve_batch

    white = batch.white
    w = white.whiten(batch.tau)
    multiplier = settled(solve_batch(white.gram, -white.colour(w), white.dependent), batch.t)
    direction = w + apply(white.root, multiplier)
    dof = white.rank - np.count_nonzero(multiplier, axis=1)
    active = _outside_span(white, multiplier)
    statistic = np.linalg.norm(direction, axis=1)
    truncation = np.full(len(w), np.nan)
    found = Projection(direction, statistic, active, dof, truncation)
    few = dof <= 1
    full = np.broadcast_to(white.rank == w.shape[1], few.shape)
    _simplicial_rays(white, w, np.flatnonzero(few & full), found)
    for rows, k in _by_matrix(np.flatnonzero(few & ~full), white.rank):
        _extreme_rays(white, k, w, rows, found)
    return found


def _by_matrix(
    rows: NDArray[np.int_], rank: NDArray[np.int_]
) -> list[tuple[NDArray[np.int_], int]]:
    """Group rows of the batch by the covariance matrix they use."""
    if len(rank) == 1:
        return [(rows, 0)] if len(rows) else []
    return [(np.array([row]), int(row)) for row in rows]


def _outside_span(white: Whitened, multiplier: Array) -> NDArray[np.bool_]:
    """𝒰, the coordinates that are not zero on the face {α_S = 0}: exact, by linear algebra.

    Full rank: all that have no multiplier. Else a coordinate may vanish on the face without one,
    because its column of B lies in the span of those that have (k₃ = k₁ + k₂).
    """
    active = np.asarray(multiplier == 0.0)
    if np.all(white.rank == active.shape[1]):
        return active
    for pattern in np.unique(active, axis=0):
        rows = np.flatnonzero((active == pattern).all(axis=1))
        for some, k in _by_matrix(rows, white.rank):
            B = white.root[k]
            rest = B
            if not pattern.all():
                basis, _ = np.linalg.qr(B[:, ~pattern])
                rest = B - basis @ (basis.T @ B)
            distance = np.einsum("ij,ij->j", rest, rest)
            active[some] = pattern & (distance > white.dependent * np.diagonal(white.gram[k]))
    return active


def essential(white: Whitened, k: int) -> NDArray[np.int_]:
    """Constraints of the cone {B'w ≥ 0} that the others do not imply.

    A column of B that is a non-negative combination of the others (a copy, or k₁ + k₂) is
    implied by them; of two copies the first is kept.
    """
    from nosplit.backend.numba.nnls import solve_batch

    C = white.gram[k]
    kept = np.flatnonzero(np.diagonal(C) > 0)
    if len(kept) == white.rank[k]:
        return kept
    for u in kept[::-1]:
        others = kept[kept != u]
        if not len(others):
            break
        x = solve_batch(C[None][:, others][:, :, others], C[None, u, others], white.dependent)[0]
        rest = white.root[k][:, u] - white.root[k][:, others] @ x
        if rest @ rest <= white.dependent * C[u, u]:
            kept = others
    return kept


def _simplicial_rays(white: Whitened, w: Array, rows: NDArray[np.int_], found: Projection) -> None:
    """Selection among the extreme rays for Σ of full rank: ray u is the u-th column of A."""
    if not len(rows):
        return
    A = white.inverse_root if len(white.rank) == 1 else white.inverse_root[rows]
    one = select_one(gram(A), apply(A.transpose(0, 2, 1), w[rows]))
    found.statistic[rows], found.truncation[rows], found.dof[rows] = (
        one.statistic,
        one.truncation,
        1,
    )
    found.direction[rows] = A[np.arange(len(rows)) if len(A) > 1 else 0, :, one.winner]
    found.active[rows] = np.arange(w.shape[1]) == one.winner[:, None]


def _extreme_rays(
    white: Whitened, k: int, w: Array, rows: NDArray[np.int_], found: Projection
) -> None:
    """Selection among the extreme rays for singular Σ, by its essential constraints.

    As many of them as dimensions: again one ray each. More (a truncated Σ can have them): the
    truncation is 0, which the first part of the proof of Theorem 1 gives for any cone, and a
    projection that is 0 never rejects.
    """
    kept = essential(white, k)
    if len(kept) > white.rank[k]:
        zero = rows[found.dof[rows] == 0]
        found.truncation[rows] = 0.0
        found.statistic[zero], found.direction[zero], found.active[zero] = 0.0, 0.0, False
        return
    rays = np.linalg.pinv(white.root[k][:, kept]).T
    one = select_one(gram(rays[None]), w[rows] @ rays)
    found.statistic[rows], found.truncation[rows], found.dof[rows] = (
        one.statistic,
        one.truncation,
        1,
    )
    found.direction[rows] = rays[:, one.winner].T
    # On a ray one essential constraint has α_u = 1, the others 0; implied ones may be positive.
    found.active[rows] = (rays.T @ white.root[k] > 1e-6)[one.winner]


def _relaxed(batch: Batch) -> Projection:
    """Appendix E to the letter: all α ≥ 0, with Σ⁺ for Σ⁻¹ and l = rank of Σ⁺ on 𝒰."""
    white = batch.white
    w = white.whiten(batch.tau)
    rho = apply(white.inverse_root.transpose(0, 2, 1), w)
    best = canonical(white.inverse_gram(), rho, white.dependent)
    direction = apply(white.inverse_root, best.alpha)
    return Projection(direction, best.statistic, best.alpha > 0, best.dof, best.truncation)
