"""Laws on a half line and between two ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nosplit._lazy import special
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.models.ends import Ends
from nosplit.models.laws import model_rows, model_vector

__all__ = ["Beta", "Exponential", "Gamma", "Uniform"]

Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class Gamma:
    """Independent columns with density proportional to ``x**(shape - 1) * exp(-x / scale)``.

    Parameters
    ----------
    shape, scale : array_like, shape (p,)
        Positive; numbers for p = 1.

    Examples
    --------
    >>> Gamma(3.0, 2.0).score([[4.0]])
    array([[0.]])
    """

    shape: Array
    scale: Array

    def __init__(self, shape: ArrayLike, scale: ArrayLike = 1.0) -> None:
        both = _positive(shape=shape, scale=scale)
        object.__setattr__(self, "shape", both[0])
        object.__setattr__(self, "scale", both[1])

    @property
    def ends(self) -> Ends:
        """Ends of the density."""
        return Ends(0.0 * self.scale, self.scale + np.inf, self.shape * self.scale)

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x."""
        x = self.ends.checked(model_rows(x, self.shape))
        return np.asarray((self.shape - 1.0) / np.maximum(x, _TINY) - 1.0 / self.scale)

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        x = self.ends.checked(model_rows(x, self.shape))
        logs = special.xlogy(self.shape - 1.0, x) - x / self.scale
        logs = logs - special.gammaln(self.shape) - self.shape * np.log(self.scale)
        return np.asarray(logs.sum(axis=1))

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        return rng.gamma(self.shape, self.scale, (n, len(self.shape)))


class Exponential(Gamma):
    """Independent columns with density ``exp(-x / scale) / scale``.

    Parameters
    ----------
    scale : array_like, shape (p,)
        The means; a number for p = 1.

    Examples
    --------
    >>> Exponential(2.0).score([[4.0]])
    array([[-0.5]])
    """

    def __init__(self, scale: ArrayLike = 1.0) -> None:
        super().__init__(1.0, scale)


@dataclass(frozen=True, eq=False)
class Beta:
    """Independent columns with density proportional to ``x**(a - 1) * (1 - x)**(b - 1)``.

    Parameters
    ----------
    a, b : array_like, shape (p,)
        Positive; numbers for p = 1.

    Examples
    --------
    >>> Beta(2.0, 2.0).score([[0.5]])
    array([[0.]])
    """

    a: Array
    b: Array

    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        both = _positive(a=a, b=b)
        object.__setattr__(self, "a", both[0])
        object.__setattr__(self, "b", both[1])

    @property
    def ends(self) -> Ends:
        """Ends of the density."""
        return Ends(0.0 * self.a, 0.0 * self.a + 1.0, 0.0 * self.a + 1.0)

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x."""
        x = self.ends.checked(model_rows(x, self.a))
        left, right = np.maximum(x, _TINY), np.maximum(1.0 - x, _TINY)
        return np.asarray((self.a - 1.0) / left - (self.b - 1.0) / right)

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        x = self.ends.checked(model_rows(x, self.a))
        logs = special.xlogy(self.a - 1.0, x) + special.xlog1py(self.b - 1.0, -x)
        return np.asarray((logs - special.betaln(self.a, self.b)).sum(axis=1))

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        return rng.beta(self.a, self.b, (n, len(self.a)))


@dataclass(frozen=True, eq=False)
class Uniform:
    """Independent columns, uniform between two ends.

    Parameters
    ----------
    low, high : array_like, shape (p,)
        The ends; numbers for p = 1.

    Examples
    --------
    >>> Uniform(0.0, 2.0).logpdf([[1.0]]).round(6)
    array([-0.693147])
    """

    low: Array
    high: Array

    def __init__(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        ends = np.broadcast_arrays(model_vector(low, "low"), model_vector(high, "high"))
        if np.any(ends[0] >= ends[1]):
            raise InputError(f"`low` must be below `high`, got {low!r} and {high!r}.")
        object.__setattr__(self, "low", ends[0].copy())
        object.__setattr__(self, "high", ends[1].copy())

    @property
    def ends(self) -> Ends:
        """Ends of the density."""
        return Ends(self.low, self.high, self.high - self.low)

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x: zero."""
        return 0.0 * self.ends.checked(model_rows(x, self.low))

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        x = self.ends.checked(model_rows(x, self.low))
        return np.full(len(x), -np.log(self.high - self.low).sum())

    def sample(self, n: int, rng: Generator, /) -> Array:
        """Draw n independent rows."""
        return rng.uniform(self.low, self.high, (n, len(self.low)))


# Rows at an end are taken to be so far from it, where the score would be infinite.
_TINY = 1e-300


def _positive(**values: ArrayLike) -> list[Array]:
    """Vectors of one length, of positive numbers."""
    vectors = [model_vector(value, name) for name, value in values.items()]
    for (name, given), vector in zip(values.items(), vectors, strict=True):
        if np.any(vector <= 0):
            raise InputError(f"`{name}` must be positive, got {given!r}.")
    try:
        return [v.copy() for v in np.broadcast_arrays(*vectors)]
    except ValueError as error:
        names = " and ".join(f"`{name}`" for name in values)
        raise InputError(f"{names} must be numbers or vectors of one length.") from error
