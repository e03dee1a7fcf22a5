"""The README's examples run, and print what they say."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import _examples
import nosplit
from nosplit.core.pairings import PAIRINGS
from nosplit.methods import METHODS

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_examples(tmp_path, monkeypatch, capsys):
    """Python examples in one session, and commands; they need none of the optional packages."""
    monkeypatch.chdir(tmp_path)
    for file, name in zip(nosplit.datasets.flights(), ("january", "july"), strict=True):
        shutil.copy(file, f"{name}.csv")
    for optional in ("pandas", "polars", "pyarrow", "sklearn"):
        monkeypatch.setitem(sys.modules, optional, None)
    statements, commands = _examples.run_page(README, capsys)
    assert statements
    assert commands


def test_names_in_the_tables_exist():
    choosing = (README.parent / "docs/guide/choosing.md").read_text(encoding="utf-8")
    for name in (*METHODS, *PAIRINGS):
        assert f'`"{name}"`' in choosing
    for attribute in re.findall(r"`res\.(\w+)", TEXT):
        assert attribute in nosplit.TestResult.__dataclass_fields__ or hasattr(
            nosplit.TestResult, attribute
        )


def test_links_and_targets_exist():
    root = README.parent
    for target in re.findall(r"\]\((?!http|#)([^)]+)\)", TEXT):
        assert (root / target).exists()
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", TEXT, re.MULTILINE)
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
