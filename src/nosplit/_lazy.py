"""`scipy.special`, imported when it is first used: it takes longer than all of this package."""

from __future__ import annotations

from types import ModuleType
from typing import Any

__all__ = ["special"]


class _Special(ModuleType):
    def __getattr__(self, name: str) -> Any:
        from scipy import special as module

        return getattr(module, name)


special = _Special("special")
