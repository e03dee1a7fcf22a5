"""The commands `power` and `calibrate`: what they print and draw, and what they refuse."""

from __future__ import annotations

import json
import re

import matplotlib as mpl
import numpy as np
import pytest

import nosplit

mpl.use("agg")

QUICK = ("--kernels", "paper2", "--trials", "200")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Samples that differ in spread, as arrays and with names."""
    monkeypatch.chdir(tmp_path)
    for name, sample in zip("ab", nosplit.datasets.DiffVar(2.0).sample(80, rng=3), strict=True):
        np.save(f"{name}.npy", sample)
        np.savetxt(f"{name}.csv", np.c_[sample, sample**2], "%g", ",", header="u,v", comments="")
    return tmp_path


def test_power_prints_a_table_and_a_size(run, files):
    code, out, err = run("power", "a.npy", "b.npy", "--n", "30,60, 120", *QUICK)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "pilot: a.npy and b.npy, 80 rows of each"
    assert [line.split()[0] for line in lines[2:5]] == ["30", "60", "120"]
    assert all(line.endswith("adaptive, complete pairs, exact") for line in lines[2:5])
    power = [float(line.split()[1]) for line in lines[2:5]]
    assert power == sorted(power)
    assert re.fullmatch(
        r"n = \d+ rows of each sample for power 0.8 \(95 % interval \d+ to [\d,]+\)", lines[5]
    )


def test_power_json_is_the_prediction(run, files):
    options = ("--pairs", "5", "--method", "wald", "--calibration", "asymptotic", "--target", "0.7")
    code, out, err = run("power", "a.npy", "b.npy", "--n", "500", *QUICK, *options, "--json")
    assert (code, err) == (0, "")
    printed = json.loads(out, parse_constant=pytest.fail)
    pilot = nosplit.pilot(np.load("a.npy"), np.load("b.npy"), kernels="paper2")
    same = {"pairs": 5, "method": "wald", "calibration": "asymptotic", "trials": 200}
    assert printed["predictions"][0] == nosplit.power.predict_power(pilot, n=500, **same).to_dict()
    assert printed["sample_size"] == nosplit.sample_size(pilot, power=0.7, **same).to_dict()
    assert (printed["pilot_rows"], printed["target"], printed["reason"]) == (80, 0.7, None)


def test_power_that_is_not_reached_says_so(run, files):
    arguments = ("power", "a.npy", "b.npy", "--n", "50", "--pairs", "linear", *QUICK)
    code, out, _ = run(*arguments, "--limit", "60", "--target", "0.99")
    assert code == 0
    assert "`power` = 0.99 is not reached with up to `limit` = 60 rows of each sample" in out
    assert json.loads(run(*arguments, "--limit", "60", "--json")[1])["sample_size"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--n", "500;1000"), "`--n` must be whole numbers separated by commas"),
        (("--n", "-5"), "`sizes` must be an int ≥ 2, got -5"),
        (("--n", ""), "`--n` must be whole numbers"),
        (("--method", "naive"), "`--method` naive is not a test"),
        (("--method", "ots"), "Did you mean 'ost'?"),
        (("--target", "1.5"), "`--target` must be strictly between 0 and 1"),
        (("--target", "0.01"), "`--target` must be above `--alpha`"),
        (("--kernels", "5"), "`--kernels` must be one of"),
    ],
)
def test_power_iv(run, files, options, message):
    code, out, err = run("power", "a.npy", "b.npy", "--pairs", "linear", *QUICK, *options)
    assert (code, out) == (2, "")
    assert message in err


def test_pilot_files_iv(run, files):
    np.save("few.npy", np.arange(5.0))
    code, _, err = run("power", "a.npy", "few.npy")
    assert code == 2
    assert "at least 20 rows of `a.npy` and of `few.npy`, got 80 and 5" in err
    assert "`none.npy`" in run("power", "a.npy", "none.npy")[2]


def test_calibrate_prints_a_histogram(run, files):
    code, out, err = run("calibrate", "a.npy", "b.npy", "--pairs", "linear", *QUICK)
    assert (code, err) == (0, "")
    assert out.startswith("a.npy and b.npy, merged\nType-I error 0.0")
    assert "from 200 null samples on 4 splits of the merged data" in out
    shares = [float(line.split()[1]) for line in out.splitlines() if "█" in line]
    assert len(shares) == 10
    assert sum(shares) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alpha", "0"), "`--alpha` must be strictly between 0 and 1"),
        (("--pairs", "complete"), "`--pairs complete` has no normal limit"),
        (("--method", "bst"), "Did you mean 'best'?"),
    ],
)
def test_calibrate_iv(run, files, options, message):
    code, _, err = run("calibrate", "a.npy", "b.npy", *QUICK, *options)
    assert code == 2
    assert message in err
