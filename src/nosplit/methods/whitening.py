"""Whitening: covariance matrices factored, so that statistics become uncorrelated.

Everything here takes d numbers and a d x d matrix. Arrays may carry a leading batch axis: `tau`
is (B, d) and `cov` (1, d, d), shared by the batch, or (B, d, d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import check_covariance, check_joint, check_vector
from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["Whitened", "Whitening", "optimal_weights"]


@dataclass(frozen=True)
class Whitening:
    """The rule by which a covariance matrix is inverted.

    Parameters
    ----------
    standardise : bool
        Work on the correlation matrix (default). `False` truncates the covariance matrix itself,
        the rule of Appendix E of the paper; the outcome then depends on the units of the data.
    rcond : float
        Eigenvalues below `rcond` times the largest count as zero.

    Examples
    --------
    >>> Whitening()(np.diag([4.0, 1.0])).rank
    array([2])
    """

    standardise: bool = True
    rcond: float = 1e-10

    def __post_init__(self) -> None:
        if not 0.0 <= self.rcond < 1.0:
            raise InputError(f"`rcond` must be in [0, 1), got {self.rcond!r}.")

    def __call__(self, cov: Array) -> Whitened:
        """Factor one covariance matrix, (d, d), or a batch, (K, d, d)."""
        cov = cov if cov.ndim == 3 else cov[None]
        diagonal = np.diagonal(cov, axis1=1, axis2=2)
        live = diagonal > 0
        scale = np.where(live, np.sqrt(np.where(live, diagonal, 1.0)), 1.0)
        if not self.standardise:
            # One common factor keeps eigenvalues of any magnitude in range; it cancels.
            scale = np.broadcast_to(scale.max(axis=1, keepdims=True), scale.shape)
        C = cov / scale[:, :, None] / scale[:, None, :]
        values, vectors = np.linalg.eigh(C)
        if np.any(values[:, 0] < -1e-6 * values[:, -1]):
            raise InputError(
                "`cov` must be positive semidefinite; its smallest eigenvalue is "
                f"{(values[:, 0] / values[:, -1]).min():.2g} times its largest."
            )
        keep = values > self.rcond * values[:, -1:]
        rank = np.count_nonzero(keep, axis=1)
        root = np.sqrt(np.where(keep, values, 0.0))
        inverse = np.where(keep, 1.0 / np.where(keep, root, 1.0), 0.0)
        rows = (
            vectors.transpose(0, 2, 1) * _visible(vectors, np.where(keep, values, 0.0))[:, None, :]
        )
        return Whitened(
            scale=scale,
            matrix=C,
            root=root[:, :, None] * rows,
            inverse_root=inverse[:, :, None] * rows,
            rank=rank,
            # Full rank: the matrix as it came, not as its factors multiply out.
            gram=np.where((rank == C.shape[1])[:, None, None], C, gram(root[:, :, None] * rows)),
            # Below every pivot of a matrix of full rank, above what near-copies leave.
            dependent=max(0.05 * self.rcond, 32.0 * float(np.finfo(float).eps)),
        )


def _visible(vectors: Array, values: Array) -> NDArray[np.bool_]:
    """Coordinates on which the kept eigenvectors are more than rounding noise, (K, d).

    A coordinate without variance must not come back to life as noise over noise. The noise of
    an eigenvector is inverse to its eigenvalue.
    """
    share = np.max(np.abs(vectors) * values[:, None, :], axis=2)
    return np.asarray(share > 64.0 * float(np.finfo(float).eps) * values[:, -1:])


def gram(root: Array) -> Array:
    """B'B for each B of a batch."""
    return np.asarray(root.transpose(0, 2, 1) @ root)


@dataclass(frozen=True)
class Whitened:
    """A factored covariance matrix (or K of them): C = B'B on the scale D, A = B'^+ .

    `root` is B and `inverse_root` A; both are (K, d, d), with rows of zeros for the eigenvalues
    that count as zero, so that a batch of different ranks is still one array. `gram` is B'B, and
    `matrix` what came, with all eigenvalues.
    """

    scale: Array
    matrix: Array
    root: Array
    inverse_root: Array
    rank: NDArray[np.int_]
    gram: Array
    dependent: float

    def whiten(self, tau: Array) -> Array:
        """Standardised and whitened statistics: w = Λ^(-1/2) V' D^(-1) τ, (B, d)."""
        return apply(self.inverse_root, tau / self.scale)

    def colour(self, w: Array) -> Array:
        """The statistics D^(-1) τ that whiten to w (their projection on the range of C)."""
        return apply(self.root.transpose(0, 2, 1), w)

    def weights(self, w: Array) -> Array:
        """The combination β = D^(-1) V Λ^(-1/2) w, for which β'τ is the inner product with w."""
        return apply(self.inverse_root.transpose(0, 2, 1), w) / self.scale

    def inverse_gram(self) -> Array:
        """C^+ on the scale D, (K, d, d)."""
        return gram(self.inverse_root)

    def one(self, k: int) -> Whitened:
        """The k-th of the K matrices, as a batch of one."""
        return Whitened(
            scale=self.scale[k : k + 1],
            matrix=self.matrix[k : k + 1],
            root=self.root[k : k + 1],
            inverse_root=self.inverse_root[k : k + 1],
            rank=self.rank[k : k + 1],
            gram=self.gram[k : k + 1],
            dependent=self.dependent,
        )


def apply(matrix: Array, vectors: Array) -> Array:
    """M v for each v of a batch: one matrix for all of it, or one each."""
    if matrix.shape[0] == 1:
        return np.asarray(vectors @ matrix[0].T)
    return np.asarray(np.einsum("kij,kj->ki", matrix, vectors))


def unit(vectors: Array) -> Array:
    """Rows scaled to Euclidean length one without overflow; rows of zeros stay."""
    top = np.max(np.abs(vectors), axis=-1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(top > 0, top, 1.0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1.0))


def optimal_weights(mu: ArrayLike, cov: ArrayLike, *, whitening: Whitening | None = None) -> Any:
    """Combination of base statistics with the largest signal-to-noise ratio, β^∞ (equation 3).

    Parameters
    ----------
    mu : array_like, shape (d,)
        Means of the base statistics.
    cov : array_like, shape (d, d)
        Their covariance matrix Σ.
    whitening : Whitening, optional
        How Σ is inverted.

    Returns
    -------
    array, shape (d,)
        Σ⁻¹μ scaled to length one.

    Examples
    --------
    >>> optimal_weights([3.0, 4.0], [[1.0, 0.0], [0.0, 1.0]])
    array([0.6, 0.8])
    """
    mu = check_vector(mu, "mu")
    cov = check_covariance(cov, len(mu))
    if not np.any(mu):
        raise InputError("`mu` must have an entry other than 0: no combination is best.")
    check_joint(mu[None], cov[None], ("mu", "cov"))
    white = (whitening or Whitening())(cov)
    return unit(white.weights(white.whiten(mu[None])))[0]
