"""The recipes of the page on pipelines: YAML parses, commands exist, Python compiles."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer

from nosplit._old.cli.commands import app

yaml = pytest.importorskip("yaml")
PAGE = (Path(__file__).parent.parent / "docs" / "guide" / "pipelines.md").read_text("utf-8")


def _fences(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_yaml_parses():
    hook, workflow = map(yaml.safe_load, _fences("yaml"))
    assert hook["repos"][0]["hooks"][0]["id"] == "drift"
    assert workflow["jobs"]["compare"]["steps"][-1]["with"]["path"] == "drift.html"


def test_commands_have_the_options_they_are_given():
    known = typer.main.get_command(app).commands["test"]
    options = {name for parameter in known.params for name in parameter.opts}
    commands = [line for line in PAGE.splitlines() if "nosplit test " in line and "`" not in line]
    assert len(commands) >= 3
    for line in commands:
        words = shlex.split(line.partition("nosplit test ")[2])
        assert {word for word in words if word.startswith("--")} <= options, line


def test_python_that_is_not_run_compiles():
    for source in _fences("python"):
        if ">>>" not in source:
            ast.parse(source)
