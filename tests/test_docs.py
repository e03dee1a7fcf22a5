"""The examples of the documentation run, and print what they say."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
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
    assert page.startswith("# How it works\n\n**The rule of the house")
    told = re.search(r"^`errors` →.*?\n\n", page, re.MULTILINE | re.DOTALL)[0]
    groups = [re.findall(r"`(\w+)`", part) for part in told.split("→")]
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {name: -i for i, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    assert {name for group in groups for name in group} == set(height)
    for lower, higher in pairwise(groups):
        assert max(height[name] for name in lower) < min(height[name] for name in higher)


def test_modules_of_the_walks_exist():
    """The page on how it works names modules as `room/module`, with or without `.py`."""
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


def small_arrays(rows):
    nosplit.two_sample_test(*rows[:, :100], calibration=nosplit.Exact(19), workers=1)


def large_arrays(rows):
    nosplit.two_sample_test(*rows, budget=0.1, calibration=nosplit.Exact(19), workers=1)


def a_stream(rows):
    stream = nosplit.TwoSampleAccumulator(pairs=nosplit.Sketch(100, 2))
    stream.update(*rows)
    stream.result(n_resamples=19)


@pytest.mark.parametrize(
    ("walk", "steps"),
    [
        (small_arrays, ["- **Small arrays**", "*Ranking*"]),
        (large_arrays, ["- **Large arrays**", "*Sketch*", "*Ranking*"]),
        (a_stream, ["- **A stream**", "*Ranking*"]),
    ],
)
def test_walks_are_as_told(walk, steps):
    """The modules of a walk are touched, and the first of each step in the order of the page."""
    page = (DOCS / "guide" / "how_it_works.md").read_text(encoding="utf-8")
    told = [re.search(rf"^{re.escape(s)}.*?(?=^-|\n\n)", page, re.M | re.S)[0] for s in steps]
    groups = [re.findall(r"`([a-z_]+/[a-z_/]+)`", g) for text in told for g in text.split("→")]
    # A class without a line that runs; and only tables are encoded.
    idle = {"inference/result", "data/tables/fit_encoding"}
    seen = touched(walk, np.random.default_rng(0).normal(size=(2, 2000, 2)))
    assert {name for group in groups for name in group} - idle <= set(seen)
    order = [seen.index(group[0]) for group in groups if group and group[0] not in idle]
    assert order == sorted(order)


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
