"""Checks of a kernel's parameters."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from nosplit._errors import InputError

__all__ = ["check_bandwidth", "finite", "positive_int", "set_fields"]


def set_fields(kernel: object, /, **fields: object) -> None:
    """Store checked fields of a frozen dataclass, as plain Python numbers that print plainly."""
    for name, value in fields.items():
        object.__setattr__(kernel, name, value)


def finite(value: object) -> float:
    """A finite real number as a float; NaN, which fails every comparison, for all else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def check_bandwidth(value: object) -> float:
    """A positive number whose square is one too."""
    bandwidth = finite(value)
    if not bandwidth > 0:
        raise InputError(f"`bandwidth` must be a positive finite number, got {value!r}.")
    if not 1e-150 <= bandwidth <= 1e150:
        raise InputError(
            "`bandwidth` must be between 1e-150 and 1e150, as its square is needed, "
            f"got {value!r}. Rescale the data first."
        )
    return bandwidth


def positive_int(name: str, value: object) -> int:
    """An integer ≥ 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"`{name}` must be an integer ≥ 1, got {value!r}.")
    return int(value)
