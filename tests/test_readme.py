"""The README's examples run, and print what they say."""

from __future__ import annotations

import re
from pathlib import Path

import _examples
import nosplit
from nosplit.methods import METHODS
from nosplit.pairs.pairing import PAIRINGS

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_examples(tmp_path, monkeypatch, capsys):
    """Python examples in one session, and commands in the folder it leaves behind."""
    monkeypatch.chdir(tmp_path)
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
    for target in re.findall(r"`make (\w+)`", TEXT):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
