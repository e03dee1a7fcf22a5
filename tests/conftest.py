"""How tests are shared out to processes, where pytest-xdist does so; the command line, run."""

from __future__ import annotations

import sys
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from nosplit._old.cli import main

# Their tests share a cluster, a built site or a study, which takes longer to make than they take.
TOGETHER = {
    "tests/old/describe/test_explain.py": "explanations",
    "tests/old/engines/clusters/test_dask.py": "Dask",
    "tests/old/engines/clusters/test_spark.py": "Spark",
    "tests/old/engines/test_all_engines.py": "Spark",
    "tests/old/experiments/test_experiments.py": "studies",
    "tests/test_site.py": "site",
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests one by one, except for files whose tests stay together."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return TOGETHER.get(file, nodeid)

    return Together(config, log)


@pytest.fixture(autouse=True)
def own_numbers(request):
    """Start the generator of a module anew: numbers do not depend on the tests that ran before."""
    rng = getattr(getattr(request.node, "module", None), "RNG", None)
    if rng is not None:
        seed = crc32(request.node.name.encode())
        rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state


@pytest.fixture
def scikit_learn():
    """Scikit-learn, for tests that need it; skipped without."""
    return pytest.importorskip("sklearn")


@pytest.fixture(autouse=True)
def as_without_scikit_learn(request, monkeypatch):
    """Hide it elsewhere: examples print the same with and without, and tests stay fast."""
    if "scikit_learn" not in request.fixturenames:
        monkeypatch.setitem(sys.modules, "sklearn", None)


@pytest.fixture
def run(capsys):
    """Run the command line in this process: exit code, standard output, standard error."""

    def call(*args):
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return stop.value.code or 0, out, err

    return call
