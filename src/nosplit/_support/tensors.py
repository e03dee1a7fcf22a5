"""Tensors of PyTorch and arrays on a device, told from others without importing anything."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.errors import InputError

__all__ = ["elsewhere", "is_tensor", "tensor_as_array"]

# Where arrays lie, as DLPack numbers it: in memory, or in memory that a device can read, too.
IN_MEMORY = (1, 3)


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor of PyTorch."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(value, tensor)


def elsewhere(value: Any) -> bool:
    """Whether an array of any library lies where the processor cannot read it."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return False
    return int(value.__dlpack_device__()[0]) not in IN_MEMORY


def tensor_as_array(tensor: Any, name: str) -> NDArray[Any]:
    """The numbers of a tensor in memory, copied from its device if they are elsewhere."""
    import torch

    if tensor.layout != torch.strided:
        raise InputError(f"`{name}` must be dense, got a sparse tensor. Use `{name}.to_dense()`.")
    if tensor.is_complex():
        raise InputError(f"`{name}` must hold real numbers, got {tensor.dtype}.")
    values = tensor.detach()
    # NumPy has no bfloat16; both of 16 bits are exact in float32.
    half = values.dtype in (torch.bfloat16, torch.float16)
    return np.asarray((values.float() if half else values).cpu().numpy())
