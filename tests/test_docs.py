"""The examples of the documentation run, and print what they say."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import _examples
import nosplit

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(
    page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if "_build" not in page.parts
)
WITH_EXAMPLES = [p for p in PAGES if _examples.FENCE.search((DOCS / p).read_text("utf-8"))]


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples(page, tmp_path, monkeypatch, capsys):
    if page == "guide/gpu.md":
        pytest.importorskip("torch", reason="the torch extra is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    _examples.run_page(DOCS / page, capsys)


def test_pages_that_must_have_examples():
    """A fence that is spelt otherwise would not be run, and nobody would notice."""
    must = {"quick_start", "choosing", "data", "streams", "explain", "report", "other_questions"}
    must |= {"drift", "compare_tables", "generators", "posteriors", "samplers", "idea"}
    assert {"index.md"} | {f"guide/{page}.md" for page in must} <= set(WITH_EXAMPLES)
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        fences = re.findall(r"^```(\S*)", text, re.MULTILINE)
        assert not {"py", "pycon", "bash", "sh", "shell"} & set(fences), page


def test_layers_are_those_of_the_import_contract():
    """The page on how it works lists layers from the lowest to the highest."""
    page = (DOCS / "guide" / "how_it_works.md").read_text(encoding="utf-8")
    told = re.search(r"^`errors` →.*?\n\n", page, re.MULTILINE | re.DOTALL)[0]
    groups = [re.findall(r"`(\w+)`", part) for part in told.split("→")]
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {name: -i for i, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    assert {name for group in groups for name in group} == set(height)
    for lower, higher in pairwise(groups):
        assert max(height[name] for name in lower) < min(height[name] for name in higher)


def test_modules_of_the_walk_exist():
    """The page on how it works names modules as `room/module.py`."""
    page = (DOCS / "guide" / "how_it_works.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]*)+(?:\.py)?)`", page)) - {"src/nosplit"}
    assert len(named) > 30
    root = DOCS.parent / "src" / "nosplit"
    missing = [
        name
        for name in sorted(named)
        if not (root / name).exists() and not (root / name).with_suffix(".py").exists()
    ]
    assert not missing


def test_the_walk_is_as_told():
    """A call on two tables touches all modules that its steps name."""
    page = (DOCS / "guide" / "how_it_works.md").read_text(encoding="utf-8")
    walk = page.split("## The steps of a call")[1].split("`column_tests`")[0]
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame(rng.normal(mean, size=(60, 3)), columns=list("abc")) for mean in (0, 1))
    seen = touched(lambda: str(nosplit.two_sample_test(x, y)))
    named = set(re.findall(r"`([a-z_]+/[a-z_]+)\.py`", walk))
    assert len(named) > 20
    assert named <= set(seen)


def touched(call, *args):
    """Modules of the package in the order in which their functions are first called."""
    root, seen = Path(nosplit.__file__).parent, {}

    def note(frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(root)):
            seen.setdefault(file)

    call(*args)  # what is imported on the way is not called
    sys.setprofile(note)
    try:
        call(*args)
    finally:
        sys.setprofile(None)
    return [Path(file).relative_to(root).with_suffix("").as_posix() for file in seen]
