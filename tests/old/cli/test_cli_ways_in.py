"""Options of commands on what is read: columns, rows, and what text looks like."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from nosplit import goodness_of_fit_test, independence_test, models
from nosplit._old.data.files.opening import open_source
from nosplit._old.data.files.source import ColumnsOf
from nosplit._old.data.files.whole import by_position


@pytest.fixture
def flights(tmp_path, monkeypatch):
    """A table with numbers that go together, gaps and text."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"distance": rng.normal(size=160)})
    table["air_time"] = table["distance"] + 0.5 * rng.normal(size=160)
    table["delay"] = rng.normal(size=160)
    table["carrier"] = rng.choice(["UA", "DL"], 160)
    table.to_csv("flights.csv", index=False)
    table.to_csv("semi.csv", index=False, sep=";", decimal=",", encoding="utf-16")
    return table


def test_independence_of_columns_of_one_file(run, flights):
    code, out, _ = run(
        "independence", "flights.csv", "--x", "distance", "--y", "air_time", "--json"
    )
    assert code == 0
    alone = independence_test(flights[["distance"]], flights[["air_time"]])
    assert json.loads(out)["pvalue"] == alone.pvalue < 0.01
    code, out, _ = run("independence", "flights.csv", "--x", "distance,air_time", "--y", "carrier")
    assert out.startswith("flights.csv: distance, air_time and carrier\nNo evidence")
    code, out, _ = run("independence", "flights.csv", "semi.csv", "--x", "delay", "--y", "air_time")
    assert out.startswith("delay of flights.csv and air_time of semi.csv\n")


@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_columns_of_one_large_file_are_read_in_passes(run, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(1000, 3)), columns=["a", "b", "c"])
    table["b"] = table["a"] ** 2 + table["b"]
    names = ("0", "1") if kind == "npy" else ("a", "b")
    if kind == "npy":
        np.save("all.npy", table.to_numpy())
        both = table.to_numpy()[:, :1], table.to_numpy()[:, 1:2]
    else:
        getattr(table, f"to_{kind}")(f"all.{kind}", index=False)
        both = table[["a"]], table[["b"]]
    asked = ("independence", f"all.{kind}", "--x", names[0], "--y", names[1], "--json")
    alone = independence_test(*both, pairs="sketch")
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 1000)
    monkeypatch.setattr("nosplit._old.data.files.source.LARGE", 1000)
    code, out, err = run(*asked, "--pairs", "sketch")
    assert code == 0, err
    assert json.loads(out)["pvalue"] == alone.pvalue
    assert json.loads(out)["how"]["n_used"] == alone.how.n_used
    some = open_source(ColumnsOf(f"all.{kind}", names[::-1])).whole()
    assert_allclose(by_position(some, "all")[:, 1], table["a"])


def test_independence_iv(run, flights):
    code, _, err = run("independence", "flights.csv")
    assert code == 2
    assert "`--x` and `--y` must name columns if both variables are in one file" in err
    _, _, err = run("independence", "flights.csv", "--x", "distanse", "--y", "delay")
    assert "`--x` must name columns of `flights.csv`" in err
    assert "Did you mean 'distance'?" in err


def test_gof_of_columns(run, flights):
    code, out, _ = run("gof", "flights.csv", "--columns", "delay", "--json")
    assert code == 0
    alone = goodness_of_fit_test(flights[["delay"]], models.MultivariateNormal())
    assert json.loads(out)["pvalue"] == alone.pvalue
    code, out, _ = run("gof", "flights.csv", "--exclude", "carrier,delay", "--model", "t:30")
    assert code == 0
    _, _, err = run("gof", "flights.csv")
    assert "column 'carrier' of `flights.csv` must hold numbers" in err
    assert "--exclude carrier" in err


def test_gof_with_gaps(run, flights):
    flights.loc[:9, "delay"] = None
    flights.to_csv("gaps.csv", index=False)
    _, _, err = run("gof", "gaps.csv", "--columns", "delay")
    assert "--nan-policy omit" in err
    _, out, _ = run("gof", "gaps.csv", "--columns", "delay", "--nan-policy", "omit", "--json")
    assert json.loads(out)["how"]["n_left_out"] == 10


def test_samples_of_rows(run, flights):
    args = ("flights.csv", "flights.csv", "--json", "--columns", "delay")
    used = [json.loads(run("test", *args, "--sample", "50")[1])["how"]["n_used"] for _ in range(2)]
    assert used == [100, 100]
    code, out, _ = run("gof", "flights.csv", "--columns", "distance", "--sample", "60", "--json")
    assert json.loads(out)["how"]["n_used"] == 60
    args = ("independence", "flights.csv", "--x", "distance", "--y", "air_time", "--sample", "80")
    assert json.loads(run(*args, "--json")[1])["how"]["n_used"] == 80
    code, _, err = run("gof", "flights.csv", "--columns", "delay", "--sample", "60", "--series")
    assert code == 2
    assert "--sample" in err


def test_what_text_looks_like_may_be_said(run, flights):
    said = ("--sep", ";", "--decimal", ",", "--encoding", "utf-16")
    code, out, _ = run("test", "semi.csv", "flights.csv", "--json")
    assert code == 0
    found = json.loads(out)["pvalue"]
    flights.to_csv("semi2.csv", index=False, sep=";", decimal=",", encoding="utf-16")
    code, out, _ = run("test", "semi.csv", "semi2.csv", *said, "--json")
    assert json.loads(out)["pvalue"] == found
    code, _, err = run("test", "semi.csv", "semi2.csv", "--sep", ";;")
    assert code == 2
    assert "`--sep` must be one character" in err
    code, _, err = run("test", "flights.csv", "flights.csv", "--encoding", "nonsense")
    assert "`--encoding` must be one that Python knows" in err


def test_models_with_ends(run, flights):
    np.savetxt(
        "waits.csv", np.random.default_rng(1).exponential(2.0, size=(60, 2))
    )  # with spaces between
    np.savetxt("shares.csv", np.random.default_rng(1).random(120))
    assert run("gof", "waits.csv", "--model", "exponential:2", "--exit-code")[0] == 0
    assert run("gof", "waits.csv", "--model", "exponential", "--exit-code")[0] == 1
    assert run("gof", "shares.csv", "--model", "uniform", "--exit-code")[0] == 0
    assert run("gof", "shares.csv", "--model", "beta:2,2", "--exit-code")[0] == 1


def test_notes_name_options(run, flights):
    flights.assign(carrier="WN").to_csv("later.csv", index=False)
    for command in ("test", "columns"):
        _, out, _ = run(command, "flights.csv", "later.csv", "--columns", "carrier,delay")
        assert command == "columns" or "--exclude carrier." in out
        assert "exclude=" not in out
