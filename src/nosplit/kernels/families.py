"""The built-in kernels, each a scalar profile of one base quantity of two rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nosplit.errors import InputError
from nosplit.kernels._base import Base, Values, check_bandwidth, finite, positive_int, set_fields
from nosplit.kernels.algebra import ProfileKernel

__all__ = ["IMQ", "Delta", "Gaussian", "Laplace", "Linear", "Matern", "Polynomial"]

# Of a polynomial: more would overflow for nearly all data.
MOST_DEGREES = 64


@dataclass(frozen=True)
class Gaussian(ProfileKernel):
    """exp(−‖a − b‖² / (2 bandwidth²)).

    Examples
    --------
    >>> Gaussian(0.5)
    Gaussian(bandwidth=0.5)
    >>> float(Gaussian(1.0).aligned([[0.0]], [[1.0]])[0])
    0.6065306597126334
    """

    bandwidth: float
    base: ClassVar[Base] = "sq"

    def __post_init__(self) -> None:
        set_fields(self, bandwidth=check_bandwidth(self.bandwidth))

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.exp(q * (-0.5 / self.bandwidth**2))


@dataclass(frozen=True)
class Laplace(ProfileKernel):
    """exp(−Σ|a_j − b_j| / bandwidth).

    Examples
    --------
    >>> float(Laplace(2.0).aligned([[0.0, 1.0]], [[1.0, 0.0]])[0])
    0.36787944117144233
    """

    bandwidth: float
    base: ClassVar[Base] = "l1"

    def __post_init__(self) -> None:
        set_fields(self, bandwidth=check_bandwidth(self.bandwidth))

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.exp(q * (-1.0 / self.bandwidth))


@dataclass(frozen=True)
class IMQ(ProfileKernel):
    """Inverse multiquadric: (1 + ‖a − b‖² / bandwidth²)^exponent, exponent < 0.

    Examples
    --------
    >>> IMQ(1.0).aligned([[0.0]], [[3.0**0.5]])
    array([0.5])
    """

    bandwidth: float
    exponent: float = -0.5
    base: ClassVar[Base] = "sq"

    def __post_init__(self) -> None:
        set_fields(self, bandwidth=check_bandwidth(self.bandwidth))
        exponent = finite(self.exponent)
        if not exponent < 0:
            raise InputError(f"`exponent` must be a negative finite number, got {self.exponent!r}.")
        set_fields(self, exponent=exponent)

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        inside = 1.0 + q / self.bandwidth**2
        # The square root is many times faster than a general power.
        return 1.0 / np.sqrt(inside) if self.exponent == -0.5 else inside**self.exponent


@dataclass(frozen=True)
class Matern(ProfileKernel):
    """Matérn kernel of smoothness nu = ½, 3/2 or 5/2.

    With r = ‖a − b‖ / bandwidth and s = √(2 nu) r: exp(−s), (1 + s) exp(−s) and
    (1 + s + s²/3) exp(−s).

    Examples
    --------
    >>> Matern(2.0)
    Matern(bandwidth=2.0, nu=1.5)
    >>> float(Matern(1.0, nu=0.5).aligned([[0.0]], [[1.0]])[0])
    0.36787944117144233
    """

    bandwidth: float
    nu: float = 1.5
    base: ClassVar[Base] = "sq"

    def __post_init__(self) -> None:
        set_fields(self, bandwidth=check_bandwidth(self.bandwidth))
        nu = finite(self.nu)
        if nu not in (0.5, 1.5, 2.5):
            raise InputError(f"`nu` must be 0.5, 1.5 or 2.5, got {self.nu!r}.")
        set_fields(self, nu=nu)

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        s = np.sqrt(q) * (math.sqrt(2.0 * self.nu) / self.bandwidth)
        if self.nu == 0.5:
            return np.exp(-s)
        if self.nu == 1.5:
            return (1.0 + s) * np.exp(-s)
        return (1.0 + s + s * s / 3.0) * np.exp(-s)


@dataclass(frozen=True)
class Linear(ProfileKernel):
    """⟨a, b⟩: sees differences in means, and nothing else.

    Examples
    --------
    >>> Linear().aligned([[1.0, 2.0]], [[3.0, 4.0]])
    array([11.])
    """

    base: ClassVar[Base] = "dot"

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.positive(q)  # a copy, as every other profile gives


@dataclass(frozen=True)
class Polynomial(ProfileKernel):
    """(⟨a, b⟩ + offset)^degree, up to the 64th; homogeneous when offset is 0.

    Examples
    --------
    >>> Polynomial(2, offset=1.0).aligned([[1.0, 2.0]], [[3.0, 4.0]])
    array([144.])
    """

    degree: int
    offset: float = 0.0
    base: ClassVar[Base] = "dot"

    def __post_init__(self) -> None:
        offset = finite(self.offset)
        if not offset >= 0:
            raise InputError(
                f"`offset` must be a finite number ≥ 0, got {self.offset!r}. "
                "With a negative one the kernel is not positive definite."
            )
        degree = positive_int("degree", self.degree)
        if degree > MOST_DEGREES:
            raise InputError(f"`degree` must be at most {MOST_DEGREES}, got {degree}.")
        set_fields(self, degree=degree, offset=offset)

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return (q + self.offset) ** self.degree


@dataclass(frozen=True)
class Delta(ProfileKernel):
    """1 where two rows are equal in every column, 0 elsewhere: for categories.

    Examples
    --------
    >>> Delta().tile([[0.0], [1.0]], [[1.0], [2.0]])
    array([[0., 0.],
           [1., 0.]])
    """

    base: ClassVar[Base] = "l1"

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.asarray(q == 0.0, dtype=np.float64)
