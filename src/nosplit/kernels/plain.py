"""Kernels as plain values for JSON, and back, checked."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, cast

from nosplit import kernels as known
from nosplit.errors import InputError
from nosplit.kernels.derived.tensor import Tensor

__all__ = ["kernel_from_plain", "kernel_to_plain"]

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
PARTS = {"Kernel": known.Kernel, "OnColumns": known.OnColumns}


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
