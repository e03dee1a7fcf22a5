"""The command `columns`, and exit codes that depend on how large a difference is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def run(run, tmp_path, monkeypatch):
    """Run the command line in a folder with two tables, of which column v differs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("a", 0.0), ("b", 0.4)):
        rows = rng.normal(size=(600, 3))
        rows[:, 1] += shift
        pd.DataFrame(rows, columns=["u", "v", "w"]).to_csv(f"{name}.csv", index=False)
    return run


def test_the_table_is_printed(run):
    code, out, err = run("columns", "a.csv", "b.csv")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "a.csv and b.csv"
    assert lines[1].startswith("1 of 3 columns differs (level 0.05 for all together)")
    assert lines[3].split()[0] == "v"
    assert "mean" in lines[3]
    printed = json.loads(run("columns", "a.csv", "b.csv", "--adjust", "holm", "--json")[1])
    assert printed["differing"] == ["v"]
    assert [row["column"] for row in printed["columns"]] == ["u", "v", "w"]


@pytest.mark.parametrize("command", ["columns", "test"])
def test_exit_codes_by_size(run, command):
    def code(*options):
        return run(command, "a.csv", "b.csv", "--exit-code", *options)[0]

    assert code() == 1
    assert code("--min-effect", "0.52") == 1
    assert code("--min-effect", "0.9") == 0
    assert run(command, "a.csv", "a.csv", "--exit-code", "--min-effect", "0.5")[0] == 0
    code, _, err = run(command, "a.csv", "b.csv", "--min-effect", "0.6")
    assert code == 2
    assert "`--min-effect` is about the exit code" in err
    code, _, err = run(command, "a.csv", "b.csv", "--exit-code", "--min-effect", "0.2")
    assert code == 2
    assert "from 0.5" in err


def test_input_iv(run):
    code, _, err = run("columns", "a.csv", "b.csv", "--adjust", "hulm")
    assert code == 2
    assert "`--adjust` must be one of" in err
    code, _, err = run("columns", "a.csv", "b.csv", "--columns", "z")
    assert code == 2
    assert "'z'" in err
