"""Warnings that point at the user's line, and a way to keep them back.

`warnings.catch_warnings` changes the filters of the whole process: two threads that use it at once
can leave warnings switched off for good. Whether a test is quiet is a matter of the thread alone.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["unwarned", "warn"]

_QUIET: ContextVar[bool] = ContextVar("nosplit_quiet", default=False)


def warn(text: str, category: type[Warning]) -> None:
    """Warn, as if the first line outside of the package had."""
    if not _QUIET.get():
        warnings.warn(text, category, stacklevel=_outside())


def _outside() -> int:
    """Number of frames between `warn` and the first one that is not of the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


@contextmanager
def unwarned() -> Iterator[None]:
    """Tests inside do not warn, in this thread; their results list what they would have said."""
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)
