"""Packages that are imported late: slow parts of SciPy, the optional extras, PyTorch."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.errors import InputError

__all__ = ["elsewhere", "extra", "has_arrow", "is_tensor", "special", "tensor_as_array"]


class _Special(ModuleType):
    """`scipy.special`, which takes longer to import than all of this package."""

    def __getattr__(self, name: str) -> Any:
        from scipy import special as module

        return getattr(module, name)


special = _Special("special")


def extra(module: str, name: str = "") -> Any:
    """Import an optional module, of the extra `name` if there is one.

    If it is missing, the error says how to get it.

    Examples
    --------
    >>> extra("json", "tables").dumps([1])
    '[1]'
    >>> extra("json.nothing", "tables")
    Traceback (most recent call last):
    nosplit.errors.InputError: `json.nothing` is needed for this, ... pip install 'nosplit[tables]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = f"'nosplit[{name}]'" if name else module
        raise InputError(
            f"`{module}` is needed for this, and cannot be imported ({error}). "
            f"Install it with: pip install {package}"
        ) from error


def has_arrow() -> bool:
    """Whether pyarrow can be imported."""
    return find_spec("pyarrow") is not None


# -- tensors ---------------------------------------------------------------------------------------

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
