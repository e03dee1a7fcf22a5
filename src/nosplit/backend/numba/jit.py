"""Compilation with numba, cached on disk only where nobody else can write.

numba's cache files are pickles: loading one from a folder that others can write would run their
code. `compiled` therefore caches only in a folder that belongs to the user alone, and compiles
in memory otherwise.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import event
from numba.extending import intrinsic

__all__ = [
    "COMPILING",
    "CompileNotice",
    "compiled",
    "compiled_fast",
    "compiled_inner",
    "from_bits",
    "to_bits",
]

# Sums may be reordered and fused; infinities and nans keep their meaning.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile `function` in nopython mode, without the GIL, cached where that is safe."""
    return _compile(function, {"contract"})


def compiled_fast(function: Callable[..., Any]) -> Any:
    """Compile as `compiled` does; sums may be reordered, so that reductions vectorise."""
    return _compile(function, _FAST)


def compiled_inner(function: Callable[..., Any]) -> Any:
    """Compile, in less time than `compiled`, functions that only compiled ones call."""
    return _compile(function, {"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compile(function: Callable[..., Any], fastmath: set[str], **more: bool) -> Any:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **more}
    try:
        cached = numba.njit(cache=True, **options)(function)
        if is_private(Path(str(cached.stats.cache_path))):
            return cached
    except (RuntimeError, OSError):  # no folder for a cache can be written, or even looked at
        pass
    return numba.njit(**options)(function)


def is_private(folder: Path) -> bool:
    """Whether nobody but the user and root can write into `folder` (or where it will be made)."""
    while not folder.exists():
        folder = folder.parent
    status = folder.stat()
    if not hasattr(os, "getuid"):  # Windows: profiles are private by default
        return True
    others = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid != os.getgid() else 0)
    return not status.st_mode & others and status.st_uid in (0, os.getuid())


def _reinterpret(source: Any, target: Any) -> Any:
    """The same 64 bits as another type, inside compiled code."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(target))

    return target(source), generate


def _to_bits(_: Any, value: Any) -> Any:
    return _reinterpret(types.float64, types.int64)


def _from_bits(_: Any, value: Any) -> Any:
    return _reinterpret(types.int64, types.float64)


# The bits of a float64 as an int64, and back.
to_bits: Any = intrinsic(_to_bits)
from_bits: Any = intrinsic(_from_bits)


# -- a line on the terminal -------------------------------------------------------------------

# Said when loops are compiled, which takes seconds the first time.
COMPILING = "nosplit: compiling its loops, once; later runs start warm.\n"


class CompileNotice(event.Listener):
    """Say once that a loop of ours is compiled, if somebody is watching."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled, and was not found in the cache."""
        module = event.data["dispatcher"].py_func.__module__
        if self._said or not module.startswith("nosplit."):
            return
        self._said = True
        stream = sys.stderr
        if stream is not None and stream.isatty():
            stream.write(COMPILING)
            stream.flush()

    def on_end(self, event: Any) -> None:
        """Stay silent."""


event.register("numba:compile", CompileNotice())  # type: ignore[no-untyped-call]
