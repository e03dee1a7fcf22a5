"""Runs the examples of a page: Python, with prompts or to be pasted, and commands."""

from __future__ import annotations

import ast
import doctest
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from nosplit._old.cli import main

FENCE = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ nosplit (.*)\n((?:[^$\n].*\n|\n)*)", re.MULTILINE)
# Before a fence, for what needs more than a test has: a cluster, hours, another machine.
NOT_RUN = re.compile(r"<!-- not run: [^\n]+ -->\n+```\w+\n.*?^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS


def run_page(page: Path, capsys: Any) -> tuple[int, int]:
    """Run a page from top to bottom, in one session; numbers of statements and of commands.

    Commands run in the folder that the Python examples leave behind. Lines of the console that
    begin with anything but `$ nosplit` or `nosplit`, such as `make test`, are not run. Python
    without prompts prints the text fence that follows; of commands without prompts, the exit code
    is checked.
    """
    text = NOT_RUN.sub("", page.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    statements = commands = 0
    fences = FENCE.findall(text)
    for (kind, fence), (follows, printed) in zip(fences, [*fences, ("", "")][1:], strict=True):
        if kind == "python" and ">>> " not in fence:
            statements += _run_script(fence, names, printed if follows == "text" else "", capsys)
        elif kind == "python":
            statements += _run_python(fence, names, page)
        elif kind == "console":
            commands += _run_console(fence, capsys)
    return statements, commands


def _run_script(source: str, names: dict[str, Any], expected: str, capsys: Any) -> int:
    capsys.readouterr()
    exec(compile(source, "<example>", "exec"), names)
    printed = capsys.readouterr().out
    assert doctest.OutputChecker().check_output(expected, printed, FLAGS), f"prints\n{printed}"
    return len(ast.parse(source).body)


def _run_python(source: str, names: dict[str, Any], page: Path) -> int:
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    example = doctest.DocTestParser().get_doctest(source, names, page.name, str(page), 0)
    assert example.examples, f"no prompts in {source}"
    runner.run(example, clear_globs=False)
    names.update(example.globs)
    assert runner.summarize(verbose=False).failed == 0
    return len(example.examples)


def _run_console(source: str, capsys: Any) -> int:
    if "$ " not in source:
        source = re.sub(r"^(nosplit .*)$", r"$ \1\n...", source, flags=re.MULTILINE)
    found = COMMAND.findall(source)
    assert len(found) == source.count("$ nosplit"), f"not understood: {source}"
    for command, expected in found:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(command, comments=True))
        assert not stop.value.code
        printed = capsys.readouterr().out
        same = doctest.OutputChecker().check_output(expected, printed, FLAGS)
        assert same, f"nosplit {command} prints\n{printed}"
    return len(found)
