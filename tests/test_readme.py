"""The README's examples run, and print what they say."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

import nosplit
from nosplit.cli import main
from nosplit.methods import METHODS
from nosplit.pairing import PAIRINGS

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")
FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ nosplit (.*)\n((?:[^$].*\n)*)", re.MULTILINE)


def test_examples(tmp_path, monkeypatch, capsys):
    """Python examples in one session, and commands in the folder it leaves behind."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    commands = 0
    for kind, fence in FENCE.findall(TEXT):
        if kind == "python":
            _run_python(fence, names)
            continue
        for command, expected in COMMAND.findall(fence):
            with pytest.raises(SystemExit) as stop:
                main(shlex.split(command))
            assert not stop.value.code
            assert capsys.readouterr().out == expected
            commands += 1
    assert names
    assert commands


def _run_python(source, names):
    runner = doctest.DocTestRunner()
    example = doctest.DocTestParser().get_doctest(source, names, "README", str(README), 0)
    assert example.examples, f"no prompts in {source}"
    runner.run(example, clear_globs=False)
    names.update(example.globs)
    assert runner.summarize(verbose=False).failed == 0


def test_names_in_the_tables_exist():
    for name in METHODS:
        assert f'`"{name}"`' in TEXT
    for name in PAIRINGS:
        assert f'`"{name}"`' in TEXT
    for attribute in re.findall(r"`res\.(\w+)", TEXT):
        assert attribute in nosplit.TestResult.__dataclass_fields__ or hasattr(
            nosplit.TestResult, attribute
        )


def test_links_and_targets_exist():
    root = README.parent
    for target in re.findall(r"\]\((?!http|#)([^)]+)\)", TEXT):
        assert (root / target).exists()
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
