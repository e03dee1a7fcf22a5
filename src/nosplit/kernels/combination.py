"""Weighted sums of kernels with weights of any sign."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np

from nosplit.errors import InputError
from nosplit.kernels._base import Evaluated, Kernel, Layout, Rows, Values, finite, set_fields
from nosplit.kernels.algebra import all_values, as_kernels

__all__ = ["Combination"]


@dataclass(frozen=True)
class Combination(Evaluated):
    """Σ weights_u k_u with weights of any sign, as OST learns them; maybe not positive definite.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian, Linear
    >>> learned = Combination((Gaussian(1.0), Linear()), (1.0, -0.5))
    >>> learned
    Combination(kernels=(Gaussian(bandwidth=1.0), Linear()), weights=(1.0, -0.5))
    >>> learned.aligned([[2.0]], [[2.0]])
    array([-1.])
    """

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        kernels, weights = as_kernels(self.kernels), self.weights
        if not isinstance(weights, list | tuple | np.ndarray):
            raise InputError(f"`weights` must be a tuple of numbers, got {weights!r}.")
        if len(weights) != len(kernels):
            raise InputError(
                "`weights` must be as many as `kernels`, "
                f"got {len(weights)} weights and {len(kernels)} kernels."
            )
        numbers = tuple(map(finite, weights))
        if any(map(math.isnan, numbers)):
            raise InputError(f"`weights` must be finite numbers, got {weights!r}.")
        set_fields(self, kernels=kernels, weights=numbers)

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        values = all_values(self.kernels, layout, a, b)
        return reduce(np.add, map(np.multiply, self.weights, values))
