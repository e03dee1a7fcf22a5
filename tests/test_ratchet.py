"""Numbers that never rise while the new house replaces the old one; ratchet.json has them.

`python tests/test_ratchet.py --write` lowers the numbers to what is measured, and raises none.
Ceilings are set for each issue and are not written.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import nosplit

TESTS = Path(__file__).parent
FILE = TESTS / "ratchet.json"
HOUSE = Path(nosplit.__file__).parent
OLD = HOUSE / "_old"


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def lines(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def new_lines() -> int:
    return lines(set(sources(HOUSE)) - set(sources(OLD)))


@cache
def classes(folder: Path) -> tuple[ast.ClassDef, ...]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources(folder))
    return tuple(n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef))


def protocols() -> int:
    bases = ({ast.unparse(b).split("[")[0] for b in node.bases} for node in classes(HOUSE))
    return sum(bool(names & {"Protocol", "typing.Protocol"}) for names in bases)


def frequent_names() -> int:
    """Count the file names that appear more than twice."""
    counts = Counter(path.name for path in sources(HOUSE) if path.name != "__init__.py")
    return sum(count > 2 for count in counts.values())


def keywords() -> int:
    parameters = inspect.signature(nosplit.two_sample_test).parameters.values()
    return sum(p.kind is p.KEYWORD_ONLY for p in parameters)


@cache
def second_call() -> tuple[frozenset[str], int]:
    """Modules of the library that a second small test enters, and its deepest stack of them."""
    x, y = np.random.default_rng(0).normal(size=(2, 200, 3))
    nosplit.two_sample_test(x, y)
    entered, depth, deepest = set(), 0, 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(str(HOUSE)):
            return
        entered.add(file)
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        nosplit.two_sample_test(x, y)
    finally:
        sys.setprofile(before)
    return frozenset(entered), deepest


# What is counted in each of the groups of ratchet.json, and what to do if there is more of it.
CEILINGS: dict[str, tuple[Callable[[], int], str]] = {
    "lines of the new house": (new_lines, "Delete before you add: every line must earn its place."),
    "lines of both houses": (
        lambda: lines(sources(HOUSE)),
        "Delete what no public name reaches any more from _old.",
    ),
    "lines of tests": (lambda: lines(sources(TESTS)), "Delete tests together with what they test."),
}
COUNTED: dict[str, tuple[Callable[[], int], str]] = {
    "lines of _old": (lambda: lines(sources(OLD)), "Write it in the new house."),
    "files of _old": (lambda: len(sources(OLD)), "Write it in the new house."),
    "classes of _old": (lambda: len(classes(OLD)), "Write it in the new house."),
    "Protocols": (protocols, "Take one that there is, or none: see whether users implement it."),
    "file names that appear more than twice": (frequent_names, "Name the file after its idea."),
    "names of the library": (
        lambda: sum(not name.startswith("_") for name in dir(nosplit)),
        "Export it from a submodule.",
    ),
    "fields of TestResult": (
        lambda: len(dataclasses.fields(nosplit.TestResult)),
        "Put it into a section: columns, selection, how.",
    ),
    "keywords of two_sample_test": (keywords, "Let an option that there is take the new value."),
}
ENTERED: dict[str, tuple[Callable[[], int], str]] = {
    "modules of a small call": (
        lambda: len(second_call()[0]),
        "Merge modules that are always used together.",
    ),
    "modules of a small call in _old": (
        lambda: sum(file.startswith(str(OLD)) for file in second_call()[0]),
        "Answer the call in the new house.",
    ),
    "frames of a small call": (lambda: second_call()[1], "Call the next step from the list."),
}
GROUPS = {"ceilings": CEILINGS, "counted": COUNTED, "entered": ENTERED}


def numbers() -> dict[str, dict[str, int]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group in GROUPS for name in GROUPS[group]]
)
def test_number_does_not_rise(group, name):
    count, advice = GROUPS[group][name]
    found, limit = count(), numbers()[group][name]
    assert found <= limit, f"{found:,} {name}, at most {limit:,} are allowed. {advice}"
    if group == "counted":  # those of a call depend on the version of Python
        said = f"{found:,} {name}, no longer {limit:,}: run `python tests/test_ratchet.py --write`"
        assert found == limit, said


def test_file_has_every_number():
    assert {group: list(found) for group, found in numbers().items()} == {
        group: list(names) for group, names in GROUPS.items()
    }


def write() -> None:
    """Lower the numbers that have become smaller."""
    found = numbers()
    for group in ("counted", "entered"):
        for name, limit in found[group].items():
            found[group][name] = min(limit, GROUPS[group][name][0]())
    FILE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    write()
