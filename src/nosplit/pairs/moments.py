"""Moments: all that a test sees of its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nosplit._support.checks import check_finite, check_matrix
from nosplit._support.types import Array
from nosplit.errors import InputError

__all__ = ["Moments"]


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, mean and centred scatter of the values of pairs, for d kernels.

    Two `Moments` add; the empty one is the identity. Values are centred before they are
    multiplied and parts are merged by their means, so that nothing is lost for 10⁹ pairs.

    Parameters
    ----------
    n : int
        Number of pairs.
    mean : array, shape (d,)
        Mean of their values.
    scatter : array, shape (d, d)
        Sum of the outer products of their deviations from the mean.

    Examples
    --------
    >>> half = Moments.from_values([[1.0], [2.0]])
    >>> whole = half + Moments.from_values([[3.0], [4.0]])
    >>> whole.n, whole.mean, whole.cov
    (4, array([2.5]), array([[1.25]]))
    """

    n: int
    mean: Array
    scatter: Array

    @classmethod
    def empty(cls, d: int) -> Moments:
        """No pairs, d kernels: the identity of addition."""
        return cls(0, np.zeros(d), np.zeros((d, d)))

    @classmethod
    def from_values(cls, values: ArrayLike) -> Moments:
        """Moments of an (n, d) matrix of values."""
        h = check_matrix(values, "values")
        mean = h.mean(axis=0)
        centred = h - mean
        # The mean's own rounding error, put right: exact for values far from zero.
        correction = centred.mean(axis=0)
        return cls(len(h), mean + correction, _symmetric(centred.T @ (centred - correction)))

    @classmethod
    def from_columns(cls, columns: Array) -> Moments:
        """Moments of values that lie as (d, n), by the compiled loop."""
        from nosplit._support.loops.values import scatter

        d, n = columns.shape
        if n == 0:
            return cls.empty(d)
        mean, total = np.empty(d), np.empty((d, d))
        scatter(columns, n, mean, total)
        return cls(n, mean, total)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if len(self.mean) != len(other.mean):
            raise InputError(
                f"`Moments` must be of the same kernels, got {len(self.mean)} and "
                f"{len(other.mean)} of them."
            )
        n = self.n + other.n
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        step = other.mean - self.mean
        mean = self.mean + step * (other.n / n)
        between = np.outer(step, step) * (self.n * (other.n / n))
        return Moments(n, mean, self.scatter + other.scatter + between)

    @property
    def tau(self) -> Array:
        """The base statistics τ = √n · mean."""
        return np.asarray(np.sqrt(self.n) * self.mean)

    @property
    def cov(self) -> Array:
        """Centred estimate of Σ with divisor n (Appendix D of the paper)."""
        return np.asarray(self.scatter / max(self.n, 1))

    @property
    def second_moment(self) -> Array:
        """Uncentred estimate of Σ, the one that sign flips leave alone."""
        return np.asarray(self.cov + np.outer(self.mean, self.mean))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON."""
        return {"n": self.n, "mean": self.mean.tolist(), "scatter": self.scatter.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Moments:
        """The inverse of `to_dict`."""
        try:
            n = int(data["n"])
            mean, scatter = (np.array(data[k], dtype=np.float64) for k in ("mean", "scatter"))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"`data` must have n, mean and scatter: {error!r}.") from error
        if n < 0 or mean.ndim != 1 or scatter.shape != (len(mean), len(mean)):
            raise InputError(
                f"`data` must have n ≥ 0, mean (d,) and scatter (d, d), got n = {n}, "
                f"{mean.shape} and {scatter.shape}."
            )
        check_finite(mean, "mean")
        check_finite(scatter, "scatter")
        return cls(n, mean, scatter)


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2.0)
