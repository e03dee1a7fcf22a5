"""Products of a kernel on x and a kernel on y."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Index
from nosplit.errors import InputError
from nosplit.kernels import (
    Delta,
    Kernel,
    Linear,
    Parts,
    as_kernel,
    gaussian_grid,
    median_bandwidth,
)
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import called
from nosplit.kernels.spectral import fitted_kernel

__all__ = [
    "FACTORS",
    "Tensor",
    "TensorBank",
    "TensorKernels",
    "default_tensors",
    "tensor_kernels",
    "tensors_for",
]

TensorKernels = Sequence[Any] | Callable[[float, float], Sequence[Any]] | None

# Bandwidths as multiples of the median distance (benchmarks/choices/independence_kernels.py).
FACTORS = (0.25, 1.0, 4.0)


@dataclass(frozen=True, repr=False)
class Tensor:
    """The product k(x, x') l(y, y') of a kernel on x and a kernel on y.

    Examples
    --------
    >>> from nosplit.kernels import Delta, Gaussian
    >>> Tensor(Gaussian(1.0), Delta())
    Gaussian(bandwidth=1.0) ⊗ Delta()
    """

    x: Kernel
    y: Kernel

    def __repr__(self) -> str:
        return f"{self.x!r} ⊗ {self.y!r}"


def default_tensors(
    x_bandwidth: float,
    y_bandwidth: float,
    *,
    x_discrete: bool | Parts = False,
    y_discrete: bool | Parts = False,
) -> tuple[Tensor, ...]:
    """Gaussian kernels of three bandwidths on either side, all products, and a linear one.

    Where a variable is discrete, the kernel on it is `Delta` throughout; where some of its columns
    are, those of its `Parts`.

    Examples
    --------
    >>> len(default_tensors(1.0, 1.0)), len(default_tensors(1.0, 1.0, y_discrete=True))
    (10, 4)
    """
    x, flat_x = _side(x_bandwidth, x_discrete)
    y, flat_y = _side(y_bandwidth, y_discrete)
    products, flat = [Tensor(k, l) for k in x for l in y], Tensor(flat_x, flat_y)
    return tuple(products if flat in products else [*products, flat])


def _side(bandwidth: float, discrete: bool | Parts) -> tuple[tuple[Kernel, ...], Kernel]:
    """Kernels on one variable, and one for its mean."""
    if isinstance(discrete, Parts):
        return discrete.kernels(bandwidth, FACTORS), discrete.flat
    return ((Delta(),), Delta()) if discrete else (gaussian_grid(bandwidth, FACTORS), Linear())


@dataclass(frozen=True)
class TensorBank:
    """The product kernels of a test; every factor is evaluated once.

    Parameters
    ----------
    kernels : tuple of Tensor
        The base kernels, in the order of the test's coordinates.
    """

    kernels: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.kernels)

    @cached_property
    def factors(self) -> tuple[Bank, Bank]:
        """The different kernels on x and on y."""
        return _distinct([t.x for t in self.kernels]), _distinct([t.y for t in self.kernels])

    @cached_property
    def places(self) -> tuple[Index, Index]:
        """Positions of the factors on x and on y that each product is made of."""
        x, y = (bank.kernels for bank in self.factors)
        return (
            np.array([x.index(t.x) for t in self.kernels]),
            np.array([y.index(t.y) for t in self.kernels]),
        )


def _distinct(kernels: list[Kernel]) -> Bank:
    found: list[Kernel] = []
    for kernel in kernels:
        if kernel not in found:
            found.append(kernel)
    return Bank(tuple(found))


# -- kernels of a caller ---------------------------------------------------------------------------


def tensor_kernels(
    kernels: TensorKernels, x: float, y: float, *, discrete: tuple[bool | Parts, bool | Parts]
) -> tuple[Tensor, ...]:
    """The product kernels for variables of these scales, of which some may name categories."""
    if kernels is None:
        return default_tensors(x, y, x_discrete=discrete[0], y_discrete=discrete[1])
    given = called(kernels, x, y) if callable(kernels) else kernels
    if not isinstance(given, (list, tuple)) or not given:
        raise InputError(
            "`kernels` must be pairs (k, l) of a kernel on x and a kernel on y, at least one, or "
            f"a callable that gives them, got {given!r}."
        )
    return tuple(_as_product(pair) for pair in given)


def _as_product(pair: Any) -> Tensor:
    if isinstance(pair, Tensor):
        return pair
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise InputError(
            f"`kernels` must hold pairs (k, l) of a kernel on x and a kernel on y, got {pair!r}. "
            "`list(itertools.product(on_x, on_y))` makes all pairs."
        )
    return Tensor(as_kernel(pair[0]), as_kernel(pair[1]))


def tensors_for(
    kernels: TensorKernels,
    x: NDArray[Any],
    y: NDArray[Any],
    discrete: tuple[bool | Parts, bool | Parts],
) -> tuple[Tensor, ...]:
    """Kernels with bandwidths from these rows of x and y, if they are not given."""
    scales = (1.0, 1.0)
    if kernels is None or callable(kernels):
        scales = _bandwidth(discrete[0], x), _bandwidth(discrete[1], y)
    found = tensor_kernels(kernels, *scales, discrete=discrete)
    return tuple(Tensor(fitted_kernel(t.x, x), fitted_kernel(t.y, y)) for t in found)


def _bandwidth(categories: bool | Parts, rows: NDArray[Any]) -> float:
    """Median distance; 1 for categories, and where the rows that were looked at are all alike."""
    if isinstance(categories, Parts):
        rows, categories = rows[:, categories.numeric], not categories.numeric
    if categories:
        return 1.0
    return 1.0 if np.all(rows == rows[0]) else median_bandwidth(rows)
