"""The benchmarks are not run here, but what they import must be there, and be public."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "benchmarks").rglob("*.py"))
DOORS = {
    "nosplit",
    "nosplit.datasets",
    "nosplit.errors",
    "nosplit.kernels",
    "nosplit.methods",
    "nosplit.models",
    "nosplit.power",
    "nosplit.testing",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_only_public_names_are_imported(script):
    for module, name in imported((ROOT / script).read_text(encoding="utf-8")):
        assert module in DOORS, f"{script}: {module} is not a door of the library"
        found = importlib.import_module(module)
        exported = name is None or name in found.__all__ or f"{module}.{name}" in DOORS
        assert exported, f"{script}: {module} does not export {name}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_attributes_of_the_library_are_public(script):
    """`nosplit._old.api.plan` needs no import of its own, and is no public name all the same."""
    for node in ast.walk(ast.parse((ROOT / script).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id == "nosplit" and f"nosplit.{node.attr}" not in DOORS:
            exported = node.attr in importlib.import_module("nosplit").__all__
            assert exported, f"{script}: nosplit does not export {node.attr}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_load(script):
    """All that is at the top of a script runs, unless it needs a package that is not here."""
    try:
        importlib.import_module(script.removesuffix(".py").replace("/", "."))
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("nosplit", "benchmarks"):
            raise
        pytest.skip(f"{error.name} is not installed")


@pytest.mark.parametrize("script", SCRIPTS)
def test_keywords_are_those_of_the_library(script):
    """A call of `nosplit.f(..., name=...)` would fail only when it is run, and that is seldom."""
    source = (ROOT / script).read_text(encoding="utf-8")
    names = {name: module for module, name in imported(source) if name is not None}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(name) if name in names:
                called = getattr(importlib.import_module(names[name]), name)
            case ast.Attribute(ast.Name("nosplit"), name):
                called = getattr(importlib.import_module("nosplit"), name)
            case _:
                continue
        if callable(called):
            known = inspect.signature(called).parameters
            given = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            if not any(p.kind is p.VAR_KEYWORD for p in known.values()):
                assert given <= set(known), f"{script}:{node.lineno}: {name} has no {given}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_imports_from_one_another_resolve(script):
    for module, name in imported((ROOT / script).read_text(encoding="utf-8"), "benchmarks"):
        path = ROOT.joinpath(*module.split("."))
        if path.is_dir():
            path = path / name
            name = None
        source = path.with_suffix(".py").read_text(encoding="utf-8")
        assert name is None or name in defined(source), f"{script}: {module} has no {name}"


def imported(source, package="nosplit"):
    """Modules and names that a script imports from a package, wherever it does so."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from ((name, None) for name in names if name.split(".")[0] == package)


def defined(source):
    """Names at the top of a module."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def test_there_are_scripts():
    assert len(SCRIPTS) > 15
