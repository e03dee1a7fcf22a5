"""Arrays as plain values for JSON, and back, checked."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_int
from nosplit.errors import InputError

__all__ = ["all_finite", "packed", "unpacked"]

TYPES = ("<f8", "<f4", "<i8", "<u4")
# Bytes that an array may unfold to.
LARGEST = 1 << 30


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array, to the last bit."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little.tobytes(), 1)).decode()
    return {"dtype": little.dtype.str, "shape": list(array.shape), "data": data}


def unpacked(data: Any, shape: tuple[int | None, ...], dtype: type = np.float64) -> NDArray[Any]:
    """The inverse of `packed`: of this shape, where it is known, and finite."""
    kind = np.dtype(data["dtype"])
    sides = [check_int(side, "shape", least=0) for side in data["shape"]]
    if kind.str not in TYPES or kind != np.dtype(dtype).newbyteorder("<"):
        raise InputError("an array is of another type.")
    if len(sides) != len(shape) or any(
        s not in (None, t) for s, t in zip(shape, sides, strict=True)
    ):
        raise InputError(f"an array must be of shape {shape}, got {tuple(sides)}.")
    size = math.prod(sides) * kind.itemsize
    if size > LARGEST:
        raise InputError("an array is too large.")
    try:
        plain = zlib.decompressobj().decompress(
            base64.b64decode(data["data"], validate=True), size + 1
        )
        array: NDArray[Any] = np.frombuffer(plain, kind).reshape(sides).astype(dtype)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise InputError(f"an array cannot be read: {error}.") from error
    return array


def all_finite(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, of finite numbers."""
    if not np.isfinite(array).all():
        raise InputError("numbers must be finite.")
    return array
