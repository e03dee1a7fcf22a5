"""What `--json` prints is what docs/api/json.md lists: no key more, no key less, of those types."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "api" / "json.md"
TYPES = {
    "string": str,
    "strings": str,
    "number": (int, float),
    "numbers": (int, float),
    "integer": int,
    "integers": int,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "objects": dict,
}
SMALL = "--kernels paper2 --calibration exact"


NESTED = {
    "how": "Procedure",
    "selection": "Kernels",
    "columns": "Rows of columns",
    "pairs": "Rows of pairs",
    "overall": "Results",
}


def listed(section):
    """Keys and types of a section of the page."""
    text = PAGE.read_text(encoding="utf-8").split(f"# {section}\n")[1].split("\n#")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.MULTILINE))


def check(printed, section, **added):
    """Compare an object with a section of the page, and the objects in it with theirs."""
    page = listed(section) | added
    assert printed.keys() == page.keys(), section
    for key, value in printed.items():
        kinds = page[key].split(" or ")
        assert any(fits(value, kind) for kind in kinds), f"{section}: {key} = {value!r}"
        for inner in value if isinstance(value, list) else [value]:
            if key in NESTED and isinstance(inner, dict):
                check(inner, NESTED[key])


def fits(value, kind):
    if kind.startswith("list of "):
        return isinstance(value, list) and all(
            fits(v, kind.removeprefix("list of ")) for v in value
        )
    if kind.startswith("lists of "):
        return fits(value, f"list of {kind.removeprefix('lists of ')}")
    return isinstance(value, TYPES[kind]) and not (kind != "boolean" and isinstance(value, bool))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("ref", "cur"):
        np.savetxt(
            f"{name}.csv", rng.normal(size=(80, 2)), delimiter=",", header="a,b", comments=""
        )
        np.save(f"{name}.npy", rng.normal(size=(80, 2)))
        np.save(f"many-{name}.npy", rng.normal(size=(600, 2)))
    a = rng.normal(size=80)
    np.savetxt("turned.csv", np.c_[a, a], delimiter=",", header="a,b", comments="")


COMMANDS = [
    ("Results", f"test ref.csv cur.csv {SMALL}"),
    ("Results", "test many-ref.npy many-cur.npy --kernels paper2 --pairs linear --method ost"),
    ("Results", "test ref.csv turned.csv"),
    ("Results", "gof ref.npy --pairs 3"),
    ("Results", "independence ref.npy cur.npy"),
    ("Results", f"test ref.csv cur.csv {SMALL} --paired"),
    ("Results", f"test ref.csv cur.csv {SMALL} --explain"),
    ("Several samples", "ksample ref.npy cur.npy many-ref.npy --kernels paper2"),
    ("Columns", "columns ref.csv cur.csv"),
    ("Columns", "columns many-ref.npy many-cur.npy --adjust bh"),
    ("Plans", "plan --n 500 --p 2"),
    ("Plans", "plan --n 50000000"),
    ("Profiles", "profile many-ref.npy --out ref.profile --frequencies 4"),
    ("Results", "test ref.profile many-cur.npy --calibration exact"),
    ("Monitors", "monitor many-ref.npy ref.npy --state watch.json"),
    ("Power", "power many-ref.npy many-cur.npy --kernels paper1 --method best --pairs linear"),
    ("Calibration", "calibrate ref.npy cur.npy --kernels paper1 --trials 40 --pairs linear"),
]


def test_keys_are_those_of_the_page(files, run):
    if not PAGE.exists():
        pytest.skip("the documentation is not here")
    for section, command in COMMANDS:
        code, out, err = run(*command.split(), "--json")
        assert code == 0, err
        printed = json.loads(out, parse_constant=pytest.fail)
        assert out.count("\n") == 1
        assert printed["schema"] == 1
        check(printed, section, **(listed("Added by the command") if section == "Results" else {}))


def test_how_large_is_said_where_it_is_asked_for(files, run):
    command = f"test ref.csv cur.csv {SMALL} --json".split()
    assert json.loads(run(*command)[1])["effect"] is None
    effect = json.loads(run(*command, "--explain")[1])["effect"]
    assert 0.0 <= effect["separation_low"] <= effect["separation"] <= 1.0
    assert isinstance(effect["words"], str)
