"""Stein kernels: base kernels together with the score of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.errors import InputError
from nosplit.kernels import IMQ, Kernel, as_kernel, gaussian_grid, median_bandwidth
from nosplit.kernels.bank import GAUSSIAN, IMQ_, MATERN32, MATERN52, SQUARED, Bank
from nosplit.kernels.eigenbases import SCALE_ROWS, spread_out
from nosplit.kernels.recipes import called

__all__ = [
    "DIFFERENTIABLE",
    "FACTORS",
    "BoundedLinear",
    "Constant",
    "SteinBank",
    "SteinKernels",
    "default_stein_kernels",
    "few_stein_kernels",
    "fit_stein_bank",
    "stein_kernels",
]

SteinKernels = Kernel | Sequence[Kernel] | Callable[[float], Sequence[Kernel]] | None

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

    def aligned(self, x: Array, scores: Array, a: Index, b: Index) -> Array:
        """Values (d, M) of the rows a with the rows b."""
        from nosplit.backend.numba.stein import aligned_bases

        bases = np.empty((3, len(a)))
        aligned_bases(x, scores, np.ascontiguousarray(a), np.ascontiguousarray(b), *bases)
        return self.evaluate(bases, x.shape[1])

    def tile(self, left: tuple[Array, Array], right: tuple[Array, Array]) -> Array:
        """Values (d, A, B) of all rows and scores of the left with all of the right."""
        from nosplit.backend.numba.stein import tile_bases

        bases = np.empty((3, len(left[0]), len(right[0])))
        tile_bases(*left, *(np.ascontiguousarray(part.T) for part in right), *bases)
        values = self.evaluate(bases.reshape(3, -1), left[0].shape[1])
        return values.reshape(len(self), *bases.shape[1:])


# -- kernels of a caller ---------------------------------------------------------------------------


def stein_kernels(kernels: SteinKernels, bandwidth: float) -> tuple[Kernel, ...]:
    """The kernels of a Stein test for data of this scale."""
    if kernels is None:
        return default_stein_kernels(bandwidth)
    if isinstance(kernels, Kernel) and not isinstance(kernels, type):
        return (kernels,)
    if callable(kernels):
        kernels = called(kernels, bandwidth)
    if not isinstance(kernels, (list, tuple)) or not kernels:
        raise InputError(
            f"`kernels` must be a kernel, some kernels or a callable giving them, got {kernels!r}."
        )
    return tuple(as_kernel(k) for k in kernels)


def are_given(kernels: SteinKernels) -> bool:
    """Whether these are kernels, and not a rule for making them."""
    return kernels is not None and (isinstance(kernels, Kernel) or not callable(kernels))


def fit_stein_bank(kernels: SteinKernels, x: Array) -> SteinBank:
    """The kernels, with bandwidths from some of the rows if they are not given."""
    if are_given(kernels):
        return SteinBank(stein_kernels(kernels, 1.0))
    some = x[spread_out(len(x), SCALE_ROWS)]
    return SteinBank(stein_kernels(kernels, median_bandwidth(some)))
