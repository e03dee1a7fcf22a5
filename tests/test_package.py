"""What is shipped, and what importing it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import nosplit
from nosplit._lazy import extra

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        yield archive


def test_wheel_ships_data_types_and_licences(wheel):
    names = set(wheel.namelist())
    info = f"nosplit-{nosplit.__version__}.dist-info"
    assert {
        "nosplit/py.typed",
        "nosplit/datasets/mnist_7x7.npz",
        "nosplit/datasets/LICENSE-MNIST",
        "nosplit/_old/describe/report/style.css",
        "nosplit/_old/describe/report/template.html",
        f"{info}/licenses/LICENSE",
        f"{info}/licenses/src/nosplit/datasets/LICENSE-MNIST",
    } <= names
    metadata = wheel.read(f"{info}/METADATA").decode()
    assert "License-Expression: MIT AND CC-BY-SA-3.0" in metadata


def test_mnist_licence_keeps_the_attribution(wheel):
    notice = wheel.read("nosplit/datasets/LICENSE-MNIST").decode()
    for words in ("Yann LeCun", "Corinna Cortes", "Attribution-ShareAlike 3.0"):
        assert words in notice


def test_import_is_light():
    heavy = [
        "numba",
        "scipy.special",
        "scipy.stats",
        "matplotlib",
        "typer",
        "rich",
        "narwhals",
        "pandas",
        "polars",
    ]
    heavy += ["pyarrow", "dask", "pyspark", "jinja2", "torch"]
    program = f"import sys, nosplit; print(*(m for m in {heavy} if m in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout.split() == []


def test_names_lie_where_the_package_looks_for_them():
    """What is imported for checkers of types, and what is imported when a name is used."""
    tree = ast.parse(Path(nosplit.__file__).read_text(encoding="utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and isinstance(n.test, ast.Name))
    seen = {a.name: f.module for f in block.body if isinstance(f, ast.ImportFrom) for a in f.names}
    homes = {name: f"nosplit.{home}" for name, home in nosplit._HOME_OF.items()}
    doors = dict.fromkeys(nosplit._MODULES, "nosplit")
    assert seen == homes | doors
    assert set(seen) | {"__version__"} == set(nosplit.__all__) | {"__version__"}
    assert set(nosplit.__all__) <= set(dir(nosplit))
    with pytest.raises(AttributeError, match="no attribute 'two_samples'"):
        _ = nosplit.two_samples


def test_missing_extra_names_its_pip_line_iv(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    with pytest.raises(nosplit.InputError, match=r"`pyarrow`.*pip install 'nosplit\[tables\]'"):
        extra("pyarrow", "tables")
    assert extra("json", "tables") is sys.modules["json"]


def test_docstrings_begin_with_a_verb_or_the_subject():
    """Sentences that begin with a question word must be read twice."""
    asking = {"What", "How", "Which", "Where", "When", "Why", "Who", "Whose", "Of", "Those", "As"}
    found = []
    for file in Path(nosplit.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                words = (ast.get_docstring(node) or "").split()
                if words and words[0] in asking:
                    found.append(f"{file}: {' '.join(words[:8])}")
    assert found == []
