"""What may be asked for: methods by name, and what "auto" stands for."""

from __future__ import annotations

from nosplit._support.checks import resolve
from nosplit.errors import (
    InputError,
)
from nosplit.inference.calibrations import Exact
from nosplit.methods import (
    METHODS,
    OST,
    Adaptive,
    Method,
)

__all__ = ["as_method", "settle"]


def as_method(method: Method | str) -> Method | None:
    """The method that a name is short for; None for "auto"."""
    if isinstance(method, str) and method == "auto":
        return None
    found = resolve(method, {"auto": OST(), **METHODS}, "method")
    if isinstance(found, type) or not isinstance(found, Method):
        raise InputError(f"`method` must be a name or a method such as OST(), got {found!r}.")
    return found


def settle(method: Method | None, calibration: Exact | str) -> Method:
    """What "auto" is: adaptive where calibration is exact, and OST elsewhere."""
    if method is None:
        return Adaptive() if isinstance(calibration, Exact) else OST()
    return method
