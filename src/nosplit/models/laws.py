"""Densities that know their score ∇ log q, and can draw from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from nosplit._checks import check_sample, numeric
from nosplit._lazy import special
from nosplit._types import Array
from nosplit.errors import InputError

__all__ = [
    "GaussianMixture",
    "Laplace",
    "Model",
    "MultivariateNormal",
    "Normal",
    "SamplingModel",
    "StudentT",
    "model_rows",
    "model_vector",
]

Generator = np.random.Generator


@runtime_checkable
class Model(Protocol):
    """A density that knows its score."""

    def score(self, x: Array, /) -> Any:
        """∇ log q, an (n, p) array, at the rows of x, (n, p)."""
        ...


@runtime_checkable
class SamplingModel(Model, Protocol):
    """A fully specified density, that can also be drawn from."""

    def sample(self, n: int, rng: Generator, /) -> Any:
        """Draw n independent rows, (n, p)."""
        ...


@dataclass(frozen=True, eq=False)
class MultivariateNormal:
    """The normal law N(mean, cov).

    Parameters
    ----------
    mean : array_like, shape (p,)
        The mean; a number for p = 1.
    cov : array_like, shape (p, p)
        The covariance matrix; a vector of variances, or one number for all of them.

    Examples
    --------
    >>> MultivariateNormal([0.0, 0.0], [1.0, 4.0]).score([[1.0, 2.0]])
    array([[-1. , -0.5]])
    """

    mean: Array
    cov: Array

    def __init__(self, mean: ArrayLike = 0.0, cov: ArrayLike = 1.0) -> None:
        mean = model_vector(mean, "mean")
        _set(self, mean=mean, cov=_spread(cov, len(mean), "cov"))

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x."""
        return _precise(self.mean - model_rows(x, self.mean), self.cov)

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        sq, log_det = _mahalanobis(model_rows(x, self.mean) - self.mean, self.cov)
        return np.asarray(-0.5 * (sq + log_det + len(self.mean) * np.log(2.0 * np.pi)))

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        noise = rng.standard_normal((n, len(self.mean)))
        return np.asarray(self.mean + noise @ np.linalg.cholesky(self.cov).T)


class Normal(MultivariateNormal):
    """Independent normal columns.

    Parameters
    ----------
    mean, sd : array_like, shape (p,)
        Means and standard deviations; numbers for p = 1.

    Examples
    --------
    >>> Normal(1.0, 2.0).score([[3.0]])
    array([[-0.5]])
    """

    def __init__(self, mean: ArrayLike = 0.0, sd: ArrayLike = 1.0) -> None:
        spread = model_vector(sd, "sd")
        if np.any(spread <= 0):
            raise InputError(f"`sd` must be positive, got {sd!r}.")
        super().__init__(mean, spread * spread)


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """A mixture of k normal laws.

    Parameters
    ----------
    means : array_like, shape (k, p), or (k,) for p = 1
        The centres.
    covs : array_like, shape (k, p, p), or a number
        Their covariance matrices; a number for that variance in every direction of all of them.
    weights : array_like, shape (k,), optional
        Positive, with sum 1; equal by default.

    Examples
    --------
    >>> GaussianMixture([-3.0, 3.0]).score([[0.0], [3.0]]).round(6)
    array([[ 0.],
           [-0.]])
    """

    means: Array
    covs: Array
    weights: Array

    def __init__(
        self, means: ArrayLike, covs: ArrayLike = 1.0, weights: ArrayLike | None = None
    ) -> None:
        centres = check_sample(means, "means", smallest=1).astype(np.float64)
        k, p = centres.shape
        given = numeric(covs, "covs").astype(np.float64)
        if given.ndim not in (0, 3) or (given.ndim == 3 and len(given) != k):
            raise InputError(
                f"`covs` must be a number or have shape ({k}, {p}, {p}), got shape {given.shape}."
            )
        each = np.broadcast_to(given, (k,)) if given.ndim == 0 else given
        _set(
            self,
            means=centres,
            covs=np.stack([_spread(c, p, "covs") for c in each]),
            weights=_simplex(weights, k),
        )

    def _components(self, x: Array) -> Array:
        """Log of weight times density of every component, (k, n)."""
        each = zip(self.means, self.covs, strict=True)
        logs = np.stack([MultivariateNormal(m, c).logpdf(x) for m, c in each])
        return np.asarray(logs + np.log(self.weights)[:, None])

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x."""
        x = model_rows(x, self.means[0])
        share = special.softmax(self._components(x), axis=0)
        each = zip(share, self.means, self.covs, strict=True)
        return np.asarray(sum(-s[:, None] * _precise(x - m, c) for s, m, c in each))

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        return np.asarray(special.logsumexp(self._components(model_rows(x, self.means[0])), axis=0))

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        which = rng.choice(len(self.weights), size=n, p=self.weights)
        roots = np.linalg.cholesky(self.covs)
        noise = rng.standard_normal((n, self.means.shape[1]))
        return np.asarray(self.means[which] + np.einsum("nij,nj->ni", roots[which], noise))


@dataclass(frozen=True, eq=False)
class StudentT:
    """The multivariate t law.

    Parameters
    ----------
    dof : float
        Degrees of freedom > 0.
    loc : array_like, shape (p,)
        The centre; a number for p = 1.
    shape : array_like, shape (p, p)
        The shape matrix (the covariance is dof / (dof - 2) times it); a vector for a diagonal
        one, or one number for all of it.

    Examples
    --------
    >>> StudentT(3.0).score([[1.0]])
    array([[-1.]])
    """

    dof: float
    loc: Array
    shape: Array

    def __init__(self, dof: float, loc: ArrayLike = 0.0, shape: ArrayLike = 1.0) -> None:
        loc = model_vector(loc, "loc")
        if not np.isfinite(dof) or not dof > 0:
            raise InputError(f"`dof` must be a positive finite number, got {dof!r}.")
        _set(self, dof=float(dof), loc=loc, shape=_spread(shape, len(loc), "shape"))

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x."""
        centred = model_rows(x, self.loc) - self.loc
        sq, _ = _mahalanobis(centred, self.shape)
        factor = (self.dof + len(self.loc)) / (self.dof + sq)
        return -factor[:, None] * _precise(centred, self.shape)

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        sq, log_det = _mahalanobis(model_rows(x, self.loc) - self.loc, self.shape)
        nu, p = self.dof, len(self.loc)
        constant = special.gammaln((nu + p) / 2) - special.gammaln(nu / 2)
        constant -= 0.5 * (p * np.log(nu * np.pi) + log_det)
        return np.asarray(constant - 0.5 * (nu + p) * np.log1p(sq / nu))

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        noise = rng.standard_normal((n, len(self.loc))) @ np.linalg.cholesky(self.shape).T
        return np.asarray(self.loc + noise / np.sqrt(rng.chisquare(self.dof, (n, 1)) / self.dof))


@dataclass(frozen=True, eq=False)
class Laplace:
    """Independent columns with density ``exp(-|x - loc| / scale) / (2 scale)``.

    Not to be confused with the kernel `nosplit.kernels.Laplace`.

    Parameters
    ----------
    loc, scale : array_like, shape (p,)
        Centres and scales; numbers for p = 1, and one scale may serve all columns.

    Examples
    --------
    >>> Laplace([0.0, 0.0], 2.0).score([[1.0, -1.0]])
    array([[-0.5,  0.5]])
    """

    loc: Array
    scale: Array

    def __init__(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> None:
        loc, given = model_vector(loc, "loc"), model_vector(scale, "scale")
        if len(given) not in (1, len(loc)) or np.any(given <= 0):
            raise InputError(
                f"`scale` must be 1 or {len(loc)} positive numbers, got {given.tolist()}."
            )
        _set(self, loc=loc, scale=np.broadcast_to(given, loc.shape).copy())

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x (0 at a centre)."""
        return np.asarray(-np.sign(model_rows(x, self.loc) - self.loc) / self.scale)

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        size = np.abs(model_rows(x, self.loc) - self.loc) / self.scale
        return np.asarray(-np.sum(size + np.log(2.0 * self.scale), axis=1))

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        return rng.laplace(self.loc, self.scale, (n, len(self.loc)))


# -- checks and linear algebra -----------------------------------------------------------------


def _set(model: object, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(model, name, value)


def model_vector(value: ArrayLike, name: str) -> Array:
    """A finite vector of parameters, from one or from a number."""
    vector = np.atleast_1d(numeric(value, name).astype(np.float64))
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise InputError(f"`{name}` must be a finite number or vector, got {value!r}.")
    return vector


def _spread(value: ArrayLike, p: int, name: str) -> Array:
    """A positive definite matrix from one, from its diagonal or from a number."""
    given = numeric(value, name).astype(np.float64)
    if given.ndim < 2:
        given = np.diag(np.broadcast_to(given, (p,))) if given.size in (1, p) else given
    if given.shape != (p, p):
        raise InputError(
            f"`{name}` must be a number, a vector of {p} or a {p} × {p} matrix, "
            f"got shape {np.shape(value)}."
        )
    try:
        symmetric = np.allclose(given, given.T, rtol=1e-10, atol=0.0)
        np.linalg.cholesky(given)
    except np.linalg.LinAlgError:
        symmetric = False
    if not symmetric:
        raise InputError(f"`{name}` must be symmetric and positive definite, got {value!r}.")
    return given


def _simplex(weights: ArrayLike | None, k: int) -> Array:
    if weights is None:
        return np.full(k, 1.0 / k)
    given = model_vector(weights, "weights")
    if len(given) != k or np.any(given <= 0) or abs(given.sum() - 1.0) > 1e-9:
        raise InputError(
            f"`weights` must be {k} positive numbers with sum 1, got {given.tolist()}."
        )
    return np.asarray(given / given.sum())


def model_rows(x: ArrayLike, like: Array) -> Array:
    """Rows of as many columns as a model has."""
    rows = check_sample(x, "x", smallest=1).astype(np.float64, copy=False)
    if rows.shape[1] != len(like):
        raise InputError(
            f"`x` must have {len(like)} columns, as the model has, got {rows.shape[1]}."
        )
    return rows


def _precise(centred: Array, cov: Array) -> Array:
    """Rows times the inverse of a covariance matrix."""
    inverse = np.linalg.inv(np.linalg.cholesky(cov))
    return np.asarray(centred @ (inverse.T @ inverse))


def _mahalanobis(centred: Array, cov: Array) -> tuple[Array, float]:
    """Squared lengths of the whitened rows, and the log determinant."""
    root = np.linalg.cholesky(cov)
    white = np.linalg.solve(root, centred.T)
    return np.einsum("ij,ij->j", white, white), 2.0 * float(np.log(np.diagonal(root)).sum())
