"""The separation of a column is the same number in results, tables, reports and commands."""

from __future__ import annotations

import importlib.util
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import nosplit
from nosplit._old.cli import app


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    rng = np.random.default_rng(13)
    x, y = (pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"]) for _ in range(2))
    y["b"] *= 3.0
    folder = tmp_path_factory.mktemp("tables")
    paths = [str(folder / name) for name in ("x.csv", "y.csv")]
    for table, path in zip((x, y), paths, strict=True):
        table.to_csv(path, index=False)
    return x, y, paths


@pytest.mark.parametrize("sklearn", [True, False])
def test_same_number_everywhere(tables, tmp_path, monkeypatch, sklearn):
    x, y, paths = tables
    if sklearn:  # which tests hide
        monkeypatch.delitem(sys.modules, "sklearn")
        pytest.importorskip("sklearn")
    else:
        monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    res = nosplit.two_sample_test(x, y)
    name, largest = res.separation()
    assert name == "b"
    assert largest.value == pytest.approx(0.742, abs=4.0 * largest.error)
    own = res.columns.rows[1].separation.words
    assert f"largest separation {largest.words}: b" in " ".join(str(res).split())
    assert own in str(res)
    told = nosplit.explain(res, x, y)
    assert told.effect.separation == largest.value
    assert told.effect.separation_low == largest.low
    assert f"{largest.words} by b" in str(told)
    page = (res.report(x, y, path=tmp_path / "r.html")).read_text(encoding="utf-8")
    assert own in page
    assert largest.words in page
    assert nosplit.column_tests(x, y)["b"].separation == res.columns["b"].separation
    run = CliRunner()
    plain = json.loads(run.invoke(app, ["test", *paths, "--json"]).stdout)
    assert plain["separation"] == pytest.approx(largest.value)
    assert plain["separation_low"] == pytest.approx(largest.low)
    assert plain["separation_high"] == pytest.approx(largest.high)
    assert plain["columns"][1]["separation"] == pytest.approx(largest.value)
    for least, code in ((largest.value - 0.005, 1), (largest.value + 0.005, 0)):
        some = ["--exit-code", "--min-effect", f"{least:.4f}"]
        found = run.invoke(app, ["test", *paths, *some])
        assert found.exit_code == code
        assert run.invoke(app, ["columns", *paths, *some]).exit_code == code
    assert re.search(rf"largest separation is {largest.value:.0%}", found.stderr)


def test_a_difference_of_pairs_counts_for_min_effect(tmp_path):
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(2, 600, 2))
    y[:, 1] = y[:, 0] * 0.9 + 0.4 * y[:, 1]
    paths = []
    for name, rows in (("x", x), ("y", y)):
        paths.append(str(tmp_path / f"{name}.csv"))
        pd.DataFrame(rows, columns=["a", "b"]).to_csv(paths[-1], index=False)
    res = nosplit.two_sample_test(x, y)
    assert res.reject()
    assert not res.columns.differing()
    assert res.separation() is None
    command = ["test", *paths, "--exit-code", "--min-effect", "0.8"]
    assert CliRunner().invoke(app, command).exit_code == 1
