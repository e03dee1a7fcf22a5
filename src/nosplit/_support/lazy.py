"""Lazy imports: slow parts of SciPy, and the optional extras."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from nosplit.errors import InputError

__all__ = ["extra", "has_arrow", "special"]


class _Special(ModuleType):
    """`scipy.special`, which takes longer to import than all of this package."""

    def __getattr__(self, name: str) -> Any:
        from scipy import special as module

        return getattr(module, name)


special = _Special("special")


def extra(module: str, name: str) -> Any:
    """A module of the optional extra `name`; where it is missing, the error says how to get it.

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
        raise InputError(
            f"`{module}` is needed for this, and cannot be imported ({error}). "
            f"Install it with: pip install 'nosplit[{name}]'"
        ) from error


def has_arrow() -> bool:
    """Whether pyarrow can be imported."""
    return find_spec("pyarrow") is not None
