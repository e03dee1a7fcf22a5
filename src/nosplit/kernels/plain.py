"""Kernels as plain values for JSON, and back, checked."""

from __future__ import annotations

import base64
import binascii
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nosplit import kernels as known
from nosplit._checks import check_finite, check_int
from nosplit.errors import InputError
from nosplit.kernels.eigenbases import LANDMARKS, Eigenbasis
from nosplit.kernels.tensor import Tensor

__all__ = ["kernel_from_plain", "kernel_to_plain", "rows_from_plain", "rows_to_plain"]

# Kernels that their names and parameters say all about.
KERNELS: dict[str, type] = {
    kind.__name__: kind
    for kind in (*(getattr(known, name) for name in known.__all__), Tensor)
    if isinstance(kind, type)
    and is_dataclass(kind)
    and (hasattr(kind, "aligned") or kind is Tensor)
    and kind is not known.FunctionKernel
}
# What their parameters must be, where they do not check it themselves.
PARTS = {
    "Kernel": known.Kernel,
    "OnColumns": known.OnColumns,
    "Eigenbasis | None": Eigenbasis,
}
# What makes features of rows, where a kernel was fitted.
ARRAYS = ("landmarks", "turn", "centre", "eigenvalues", "scales")


def kernel_to_plain(value: Any) -> Any:
    """A kernel by its name and parameters.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian, Linear
    >>> kernel_to_plain(2.0 * Gaussian(1.5))
    {'type': 'Scaled', 'factor': 2.0, 'kernel': {'type': 'Gaussian', 'bandwidth': 1.5}}
    >>> kernel_from_plain(_)
    2.0 * Gaussian(bandwidth=1.5)
    """
    name = type(value).__name__
    if KERNELS.get(name) is type(value):
        value = cast(Any, value)  # a dataclass
        inside = {f.name: kernel_to_plain(getattr(value, f.name)) for f in fields(value)}
        return {"type": name, **inside}
    if isinstance(value, tuple):
        return [kernel_to_plain(part) for part in value]
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, Eigenbasis):
        arrays = {name: rows_to_plain(np.atleast_2d(getattr(value, name))) for name in ARRAYS}
        return {"type": "Eigenbasis", "kernel": kernel_to_plain(value.kernel), **arrays}
    raise InputError(
        f"`kernels` of your own cannot be saved, got {value!r}. Save only works with kernels of "
        "nosplit; the others are known to the program that made them alone."
    )


def kernel_from_plain(data: Any) -> Any:
    """The inverse of `kernel_to_plain`."""
    if isinstance(data, list):
        return tuple(kernel_from_plain(part) for part in data)
    if not isinstance(data, dict):
        return data
    if data.get("type") == "Eigenbasis":
        return _basis_from_plain(data)
    inside = {key: kernel_from_plain(value) for key, value in data.items()}
    name = inside.pop("type", None)
    if not isinstance(name, str) or name not in KERNELS:
        raise InputError(f"`type` must be one of {', '.join(KERNELS)}, got {str(name)[:40]!r}.")
    try:
        kernel = KERNELS[name](**inside)
    except (TypeError, AttributeError) as error:
        raise InputError(f"`{name}` must have its own parameters: {error}.") from error
    for field in fields(kernel):
        if not isinstance(getattr(kernel, field.name), PARTS.get(str(field.type), object)):
            raise InputError(f"`{field.name}` of `{name}` must be a kernel.")
    return kernel


def _basis_from_plain(data: dict[str, Any]) -> Eigenbasis:
    """Eigenvectors of a fitted kernel, of shapes that go together."""
    kernel = kernel_from_plain(data.get("kernel"))
    if not isinstance(kernel, known.Kernel):
        raise InputError("`kernel` of eigenvectors must be a kernel.")
    parts = [rows_from_plain(data.get(name)).astype(np.float64) for name in ARRAYS]
    landmarks, turn, (centre, *_), (eigenvalues, *_), (scales, *_) = parts
    (L, p), R = landmarks.shape, turn.shape[1]
    fits = turn.shape == (L, R) and len(centre) == len(eigenvalues) == R and len(scales) == p
    if not fits or not 1 <= L <= LANDMARKS or R < 1:
        raise InputError("`landmarks` and `turn` must be those of the same features.")
    if np.any(eigenvalues <= 0) or np.any(np.diff(eigenvalues) > 0) or np.any(scales <= 0):
        raise InputError("`eigenvalues` and `scales` must be positive, the largest first.")
    return Eigenbasis(kernel, landmarks, turn, centre, eigenvalues, scales)


# -- rows ----------------------------------------------------------------------------------------


def rows_to_plain(rows: NDArray[Any]) -> dict[str, Any]:
    """An (n, p) array of floats, to the last bit."""
    little = np.ascontiguousarray(rows).astype(rows.dtype.newbyteorder("<"))
    return {
        "dtype": rows.dtype.name,
        "shape": list(rows.shape),
        "data": base64.b64encode(little.tobytes()).decode(),
    }


def rows_from_plain(data: Any) -> NDArray[Any]:
    """The inverse of `rows_to_plain`, checked."""
    try:
        dtype = {"float64": "<f8", "float32": "<f4"}[data["dtype"]]
        n, p = (check_int(size, "shape", least=0) for size in data["shape"])
        flat = np.frombuffer(base64.b64decode(data["data"], validate=True), dtype)
        rows = flat.reshape(n, p).astype(data["dtype"])
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise InputError(f"`rows` are damaged: {error!r}.") from error
    check_finite(rows, "rows")
    return rows
