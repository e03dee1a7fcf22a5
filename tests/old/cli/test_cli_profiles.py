"""The command profile, and profiles in test: the same as in Python, and their errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nosplit
from nosplit import Exact

OPTIONS = ("--rows", "200", "--least", "5", "--frequencies", "4", "--kernels", "paper2")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("ref", 1500), ("more", 900), ("new", 300), ("few", 100)):
        rows = rng.normal(size=(n, 2))
        np.save(f"{name}.npy", rows)
        np.savetxt(f"{name}.csv", rows, delimiter=",", header="u,v", comments="")
    np.savetxt("wide.csv", rng.normal(size=(300, 3)), delimiter=",", header="u,v,w", comments="")


def failed(answer, *texts):
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    for text in texts:
        assert text in err


def test_profile_and_test_against_python(run, files):
    code, out, err = run("profile", "ref.npy", "-o", "ref.profile", *OPTIONS)
    assert (code, err) == (0, "")
    assert "A profile of 1,500 rows" in out
    assert "No row." in out
    code, out, err = run("test", "ref.profile", "new.npy", "--calibration", "exact", "--json")
    assert (code, err) == (0, "")
    made = nosplit.profile(np.load("ref.npy"), rows=200, least=5, frequencies=4, kernels="paper2")
    expected = nosplit.two_sample_test(made, np.load("new.npy"), calibration=Exact())
    told = json.loads(out)
    assert told["pvalue"] == expected.pvalue
    assert told["how"]["reference"] == made.summary
    code, out, _ = run("test", "new.npy", "ref.profile", "--calibration", "exact")
    assert code == 0
    assert "compared with a profile of 1,500 rows" in " ".join(out.split())
    code, out, _ = run("test", "ref.profile", "new.npy", "--explain", "--report", "r.html")
    assert code == 0
    assert "most like x alone: none is kept" in out
    assert "Rows that stand out in new.npy" in Path("r.html").read_text(encoding="utf-8")
    failed(run("test", "ref.profile", "ref.profile", "--explain"), "profiles keep none")


def test_parts_add_up(run, files):
    run("profile", "ref.npy", "-o", "ref.profile", *OPTIONS)
    code, out, err = run("profile", "more.npy", "-o", "more", "--like", "ref.profile", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["n_rows"] == 900
    both = nosplit.load("ref.profile") + nosplit.load("more")
    assert (both.n_rows, len(both.parts)) == (2400, 2)


def test_errors_speak_the_command_line_iv(run, files):
    pytest.importorskip("pyarrow")
    run("profile", "ref.csv", "-o", "ref.profile", *OPTIONS)
    failed(run("test", "ref.profile", "wide.csv"), "`wide.csv`", "'w' besides", "--exclude w")
    failed(
        run("test", "ref.profile", "few.csv"),
        "at least 200 rows",
        "nosplit profile REF --rows 100 --least 2",
    )
    failed(run("test", "ref.profile", "new.csv", "--kernels", "paper1"), "--kernels")
    failed(run("test", "ref.profile", "new.npy"), "`new.npy` must be a table")
    failed(run("test", "absent.profile", "new.csv"), "`absent.profile` cannot be read")
    failed(run("profile", "few.csv", "-o", "x.profile"), "`few.csv` must have", "--rows")
    failed(run("profile", "ref.csv", "-o", "ref.profile"), "--force")
    failed(run("profile", "ref.csv", "-o", "absent/x"), "--out")
    failed(run("profile", "ref.csv", "-o", "x", "--like", "new.npy"), "`new.npy` is not a profile")
    failed(
        run("profile", "ref.csv", "-o", "x", "--like", "ref.profile", "--rows", "300"), "leave out"
    )
