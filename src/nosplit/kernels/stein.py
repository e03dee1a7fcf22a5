"""Stein kernels: base kernels together with the score of a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.kernels import IMQ, Kernel, gaussian_grid
from nosplit.kernels.bank import GAUSSIAN, IMQ_, MATERN32, MATERN52, SQUARED, Bank

__all__ = [
    "DIFFERENTIABLE",
    "FACTORS",
    "BoundedLinear",
    "Constant",
    "SteinBank",
    "default_stein_kernels",
    "few_stein_kernels",
]

DIFFERENTIABLE = (GAUSSIAN, IMQ_, MATERN32, MATERN52)

FACTORS = (0.5, 1.0, 2.0)


def default_stein_kernels(bandwidth: float) -> tuple[Kernel, ...]:
    """An IMQ kernel and three Gaussian ones around a bandwidth.

    The IMQ kernel sees what does not converge; the Gaussian ones add power. More kernels add
    little and cost the wild bootstrap its level at small n (docs/measured/goodness_of_fit.md).

    Examples
    --------
    >>> default_stein_kernels(1.0)[:2]
    (IMQ(bandwidth=1.0, exponent=-0.5), Gaussian(bandwidth=0.5))
    """
    return (IMQ(bandwidth), *gaussian_grid(bandwidth, FACTORS))


def few_stein_kernels(bandwidth: float) -> tuple[Kernel, ...]:
    """The first two of them, for few rows.

    They differ most: one alone hardly sees spreads and correlations.
    """
    return default_stein_kernels(bandwidth)[:2]


@dataclass(frozen=True)
class Constant:
    """The kernel k = 1, whose Stein kernel ⟨s, s'⟩ looks at the mean of the score: for sketches."""


@dataclass(frozen=True)
class BoundedLinear:
    """The kernel ⟨r(x), r(x')⟩ of bounded coordinates: for sketches of Stein features.

    Its Stein kernel looks at spreads and correlations. Coordinates are in spreads; r(z) is nearly
    z for small z and never larger than `bound`, so that heavy tails do not rule the statistic.
    """

    bound: float = 5.0

    def bounded(self, z: Array) -> tuple[Array, Array]:
        """r(z) = z / √(1 + z²/bound²), and its derivative."""
        root = 1.0 / np.sqrt(1.0 + (z / self.bound) ** 2)
        return z * root, root**3


@dataclass(frozen=True)
class SteinBank:
    """The Stein kernels of a test.

    Parameters
    ----------
    kernels : sequence of Kernel
        The radial kernels they are made of.

    Examples
    --------
    >>> len(SteinBank((IMQ(1.0), IMQ(2.0))))
    2
    """

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        known = {o.kernel for o in Bank(self.kernels).operations if o.kind in DIFFERENTIABLE}
        for i, kernel in enumerate(self.kernels):
            if i not in known:
                raise InputError(
                    "`kernels` of a Stein test must be Gaussian, IMQ or Matern with nu = 1.5 or "
                    f"2.5, which are radial and twice differentiable, got {kernel!r}."
                )

    def __len__(self) -> int:
        return len(self.kernels)

    @cached_property
    def program(self) -> tuple[NDArray[Any], ...]:
        """Arguments of `loops/stein`: kinds, scales, exponents, squarings, rows."""
        bank = Bank(self.kernels)
        kinds, _, times, exponents, rows = bank.program
        squarings = np.where(kinds == SQUARED, times, 0.0).astype(np.int64)
        true_kinds = np.array([o.kind for o in bank.operations], dtype=np.int64)
        scales = np.array([o.p1 for o in bank.operations])
        return true_kinds, scales, exponents, squarings, rows

    def evaluate(self, bases: Array, p: int) -> Array:
        """Values (d, M) from D, G and C, (3, M)."""
        from nosplit.backend.numba.stein import evaluate_stein

        h = np.empty((len(self), bases.shape[1]))
        evaluate_stein(*self.program, p, *bases, h)
        return h
