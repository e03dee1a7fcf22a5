"""Kernels whose bandwidths come from the data: those of each family, from some of its rows.

Bandwidths are symmetric functions of the rows of whole units, so that no flip changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.families.independence import HsicUnits
from nosplit.errors import InputError
from nosplit.families.paired import MEDIAN_ROWS
from nosplit.kernels import Parts, as_kernel, median_bandwidth
from nosplit.kernels.recipes import called
from nosplit.kernels.spectral import fitted_kernel
from nosplit.kernels.tensor import Tensor, default_tensors

__all__ = [
    "TensorKernels",
    "chosen_units",
    "fit_tensors",
    "tensor_kernels",
    "tensors_for",
]

TensorKernels = Sequence[Any] | Callable[[float, float], Sequence[Any]] | None


def chosen_units(n_units: int, rows_per_unit: float) -> NDArray[np.int64]:
    """Units that the median heuristic looks at, spread over all of them."""
    count = max(2, min(n_units, int(MEDIAN_ROWS / rows_per_unit)))
    return np.asarray((np.arange(count) * n_units) // count)


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


def fit_tensors(
    kernels: TensorKernels, units: HsicUnits, discrete: tuple[bool | Parts, bool | Parts]
) -> tuple[Tensor, ...]:
    """Kernels with bandwidths from the rows of whole units, which no permutation changes."""
    rows = [units.rows(int(u)) for u in chosen_units(units.n_units, units.rows_per_unit)]
    x, y = (np.concatenate(side) for side in zip(*rows, strict=True))
    return tensors_for(kernels, x, y, discrete)


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
