"""Tensors from whatever a caller has, and errors of devices in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nosplit._checks import check_sample
from nosplit._lazy import elsewhere, is_tensor
from nosplit.data.series import checked_rows
from nosplit.errors import DeviceError, InputError

__all__ = [
    "as_array",
    "as_rows",
    "check_device",
    "checked_part",
    "device_of",
    "precision",
    "running",
    "tensor_on",
]

# Types of numbers that rows keep; others become one of these.
FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def check_device(device: Any) -> torch.device:
    """A device that is there."""
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, TypeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"`device` must be one that PyTorch has, got {device!r}: {reason}."
        ) from None
    return found


def device_of(x: Any, y: Any, device: Any) -> torch.device:
    """The device on which to compare two samples: as asked for, or where they lie."""
    if device is not None:
        return check_device(device)
    places = [_tensor(v).device for v in (x, y) if is_tensor(v) or elsewhere(v)]
    if len(set(places)) > 1:
        raise InputError(
            f"`x` and `y` must lie on one device, got {places[0]} and {places[1]}. Give "
            "device=..., to which both are moved."
        )
    return places[0]


def as_rows(value: Any, name: str, device: torch.device) -> torch.Tensor:
    """A sample (n, p) on a device, of the type of float that it came in; others as float64."""
    if not (is_tensor(value) or elsewhere(value)):
        return torch.from_numpy(np.ascontiguousarray(check_sample(value, name))).to(device)
    rows = _tensor(value)
    if rows.layout != torch.strided:
        raise InputError(f"`{name}` must be dense, got a sparse tensor. Use `{name}.to_dense()`.")
    if rows.is_complex():
        raise InputError(f"`{name}` must hold real numbers, got {rows.dtype}.")
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(
            f"`{name}` must be a vector or an (n, p) array, got shape {tuple(rows.shape)}."
            + " Flatten each observation to one row first." * (rows.ndim > 2)
        )
    if len(rows) < 2:
        raise InputError(f"`{name}` must have at least 2 rows, got {len(rows)}.")
    return rows.to(device, rows.dtype if rows.dtype in FLOATS else torch.float64)


def _tensor(value: Any) -> torch.Tensor:
    """A tensor, or an array of another library on its device, which is not copied."""
    return value.detach() if is_tensor(value) else torch.from_dlpack(value)


def as_array(rows: torch.Tensor) -> NDArray[Any]:
    """Rows in memory; NumPy has no bfloat16."""
    return np.asarray((rows if rows.dtype == torch.float64 else rows.float()).cpu().numpy())


def checked_part(rows: torch.Tensor) -> NDArray[Any]:
    """Copy the neighbouring rows that the check for serial dependence reads to memory."""
    some = checked_rows(len(rows))
    return as_array(rows[some.start : some.stop])


def tensor_on(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """An array on a device."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def precision(rows: torch.Tensor) -> torch.dtype:
    """The type that is computed in: double for double, single for all that is shorter."""
    return torch.float64 if rows.dtype == torch.float64 else torch.float32


@contextmanager
def running(device: torch.device) -> Iterator[None]:
    """Say what to do where a device has no room left."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        reason = str(error).partition(". GPU")[0].rstrip(".")
        raise DeviceError(
            f'`device` {device} has no room left: {reason}. Use pairs="sketch", which needs '
            "little besides the rows; or leave the rows in memory or in files and give "
            "device=..., which moves them a batch at a time; or free what else lies there."
        ) from error
