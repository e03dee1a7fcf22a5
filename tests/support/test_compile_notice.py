"""The first run says that it compiles, on a terminal; the second starts warm, and silent."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nosplit.backend.numba.jit import COMPILING, CompileNotice


def _event(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


@pytest.mark.parametrize("watched", [True, False])
def test_said_once_and_to_somebody(monkeypatch, watched):
    stream = io.StringIO()
    stream.isatty = lambda: watched
    monkeypatch.setattr(sys, "stderr", stream)
    notice = CompileNotice()
    notice.on_start(_event("numba.np.arrayobj"))
    assert stream.getvalue() == ""
    for _ in range(2):
        notice.on_start(_event("nosplit.backend.numba.nnls"))
        notice.on_end(_event("nosplit.backend.numba.nnls"))
    assert stream.getvalue() == COMPILING * watched


def test_second_process_compiles_nothing(tmp_path):
    """What the first process compiled is loaded by the second."""
    program = (
        "import numpy as np; from nosplit.backend.numba.nnls import _solve, solve_batch; "
        "solve_batch(np.eye(2)[None], np.ones((1, 2))); "
        "print(sum(_solve.stats.cache_hits.values()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "cache").mkdir(mode=0o700)
    hits = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, check=True, capture_output=True
        ).stdout
        for _ in range(2)
    ]
    assert [int(hit) for hit in hits] == [0, 1]
