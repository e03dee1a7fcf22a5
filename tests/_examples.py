"""Runs the examples of a page: Python with prompts, and commands of the console."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from nosplit.cli import main

FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ nosplit (.*)\n((?:[^$\n].*\n|\n)*)", re.MULTILINE)
# Before a fence, for what needs more than a test has: a cluster, hours, another machine.
NOT_RUN = re.compile(r"<!-- not run: [^\n]+ -->\n+```\w+\n.*?^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS


def run_page(page: Path, capsys: Any) -> tuple[int, int]:
    """Run a page from top to bottom, in one session; numbers of statements and of commands.

    Commands run in the folder that the Python examples leave behind. Lines of the console that
    begin with anything but `$ nosplit`, such as `make test`, are not run.
    """
    text = NOT_RUN.sub("", page.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    statements = commands = 0
    for kind, fence in FENCE.findall(text):
        if kind == "python":
            statements += _run_python(fence, names, page)
        else:
            commands += _run_console(fence, capsys)
    return statements, commands


def _run_python(source: str, names: dict[str, Any], page: Path) -> int:
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    example = doctest.DocTestParser().get_doctest(source, names, page.name, str(page), 0)
    assert example.examples, f"no prompts in {source}"
    runner.run(example, clear_globs=False)
    names.update(example.globs)
    assert runner.summarize(verbose=False).failed == 0
    return len(example.examples)


def _run_console(source: str, capsys: Any) -> int:
    found = COMMAND.findall(source)
    assert len(found) == source.count("$ nosplit"), f"not understood: {source}"
    for command, expected in found:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(command))
        assert not stop.value.code
        printed = capsys.readouterr().out
        same = doctest.OutputChecker().check_output(expected, printed, FLAGS)
        assert same, f"nosplit {command} prints\n{printed}"
    return len(found)
