"""Where no folder can be written, functions are compiled without a cache."""

from __future__ import annotations

from pathlib import Path

import numba.core.caching
import pytest

from nosplit.backend.numba import jit


def double(x):
    return 2.0 * x


def test_no_folder_for_a_cache(monkeypatch):
    monkeypatch.setattr(numba.core.caching.CompileResultCacheImpl, "_locator_classes", [])
    made = jit.compiled(double)
    assert made(3.0) == 6.0
    assert made.stats.cache_path is None


@pytest.mark.parametrize("error", [PermissionError, OSError])
def test_a_folder_that_cannot_be_looked_at(monkeypatch, error):
    def fails(self, **_):
        raise error("no")

    monkeypatch.setattr(Path, "exists", fails)
    assert jit.compiled(double)(3.0) == 6.0
