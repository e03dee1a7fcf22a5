"""The command line: what it prints where, how it exits, and that no file can make it trip."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nosplit
from nosplit import InputError
from nosplit._old.data.files.opening import open_source

SMALL = ("--kernels", "paper2", "--calibration", "exact")  # quick, and quiet about asymptotics


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 2)), rng.normal(size=(60, 2)), rng.normal(2.0, 1.0, size=(50, 2))


@pytest.fixture
def files(tmp_path, samples, monkeypatch):
    """ref and same do not differ; far does. Paths are relative, as people type them."""
    monkeypatch.chdir(tmp_path)
    for name, values in zip(("ref", "same", "far"), samples, strict=True):
        np.save(f"{name}.npy", values)
        np.savetxt(f"{name}.csv", values, delimiter=",")
    np.savez("all.npz", **dict(zip(("ref", "same", "far"), samples, strict=True)))
    np.savez("one.npz", samples[0])
    return tmp_path


# What is printed --------------------------------------------------------------------------------


def test_verdict_in_words(run, files):
    code, out, err = run("test", "ref.npy", "far.npy", *SMALL)
    assert (code, err) == (0, "")
    assert out.startswith("ref.npy and far.npy\nThe samples differ (p = 0.0010, level 0.05)\n")
    assert "60 v 50 rows; exact, 999 permutations" in out
    assert "Linear()" not in out
    code, out, err = run("test", "ref.npy", "same.npy", *SMALL, "--alpha", "0.01")
    assert (code, err) == (0, "")
    assert "No evidence of a difference" in out
    assert "level 0.01" in out


def test_exit_code_is_that_of_git_diff(run, files):
    assert run("test", "ref.npy", "far.npy", *SMALL, "--exit-code")[0] == 1
    assert run("test", "ref.npy", "same.npy", *SMALL, "--exit-code")[0] == 0
    assert run("test", "ref.npy", "far.npy", *SMALL, "--exit-code", "--alpha", "0.0005")[0] == 0


def test_json_is_the_result(run, files, samples):
    code, out, err = run("test", "ref.npy", "far.npy", *SMALL, "--json", "--alpha", "0.1")
    assert (code, err) == (0, "")
    printed = json.loads(out, parse_constant=pytest.fail)  # no NaN, no Infinity
    expected = nosplit.two_sample_test(
        samples[0], samples[2], kernels="paper2", calibration="exact"
    ).to_dict()
    assert printed == json.loads(json.dumps(expected)) | {
        "differing": [],
        "separation": None,
        "separation_low": None,
        "separation_high": None,
        "share_larger": None,
        "effect": None,
        "reject": True,
        "alpha": 0.1,
        "schema": 1,
    }


def test_infinite_truncation_is_null_in_json(run, files):
    # "auto" says that nothing is seen where the statistic is negative, as it is here.
    options = "--kernels paper1 --pairs linear --calibration asymptotic --method ost --json"
    code, out, err = run("test", "ref.npy", "same.npy", *options.split())
    printed = json.loads(out, parse_constant=pytest.fail)
    assert (code, err, printed["selection"]["truncation"]) == (0, "", None)
    assert [w.split(":")[0] for w in printed["warnings"]] == ["UnsafeAsymptoticsWarning"]


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_options_reach_the_test(run, files, samples):
    options = "--method ost --pairs blocks:8 --calibration asymptotic --kernels paper6 --seed 3"
    more = ["--no-shuffle", "--workers", "1", "--budget", "2.5", "--json"]
    _, out, _ = run("test", "ref.npy", "same.npy", *options.split(), *more)
    expected = nosplit.two_sample_test(
        samples[0],
        samples[1],
        method="ost",
        pairs=nosplit.Blocks(8),
        calibration="asymptotic",
        kernels="paper6",
        rng=3,
        shuffle=False,
    )
    printed = json.loads(out)
    assert (printed["how"]["method"], printed["how"]["pairs"]) == ("ost", "blocks of 8")
    assert printed["pvalue"] == expected.pvalue
    _, out, _ = run("test", "ref.npy", "same.npy", "--pairs", "3", "--json")
    assert json.loads(out)["how"]["pairs"] == "window 3"


def test_columns_are_matched_by_name(run, files, samples):
    np.savetxt("a.csv", samples[0], delimiter=",", header="a, b", comments="")
    np.savetxt("b.csv", samples[2][:, ::-1], delimiter=",", header='"b","a"', comments="")
    np.savetxt("c.csv", samples[2], delimiter=",", header="a,c", comments="")
    with_names = json.loads(run("test", "a.csv", "b.csv", "--no-scale", *SMALL, "--json")[1])
    without = json.loads(run("test", "ref.csv", "far.csv", *SMALL, "--json")[1])
    np.testing.assert_allclose(with_names["selection"]["tau"], without["selection"]["tau"])
    scaled = json.loads(run("test", "a.csv", "b.csv", *SMALL, "--json")[1])
    assert (
        scaled["selection"]["tau"] != with_names["selection"]["tau"]
    )  # columns with names have units of their own
    assert run("test", "a.csv", "far.npy", *SMALL)[0] == 0  # only one has names: by position
    code, _, err = run("test", "a.csv", "c.csv")
    assert code == 2
    assert err == (
        "error: `c.csv` must have the columns of `a.csv`, but lacks 'b' and has 'c' besides. Say "
        "which to compare with --columns, or leave some out with --exclude.\n"
    )


def test_demo_compares_flights_and_writes_a_report(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("demo")
    assert code == 0
    assert str(nosplit.two_sample_test(*nosplit.datasets.flights())) in out
    page = tmp_path / "nosplit-flights.html"
    assert str(page) in out
    assert "dep_delay" in page.read_text(encoding="utf-8")
    assert "\x1b" not in out + err  # not a terminal: no colours, no progress bar


def test_plan_says_what_and_why(run):
    code, out, err = run("plan", "--n", 500, "--p", 10, "--budget", 1)
    assert (code, err) == (0, "")
    assert out.startswith(str(nosplit.plan(n=500, p=10)))
    assert "On this machine" in out
    _, out, _ = run("plan", "--n", 10**6, "--pairs", "linear", "--json")
    printed = json.loads(out, parse_constant=pytest.fail)
    assert printed["n_pairs"] == 500_000
    assert printed["estimated_seconds"] > 0
    assert {"calibration", "n_resamples", "nominal_seconds", "reason"} <= printed.keys()


@pytest.mark.parametrize(
    ("args", "options", "calibration"),
    [
        ((), {}, "exact"),
        (("--samples", 3), {"test": "k_sample", "samples": 3}, "exact"),
        (("--test", "goodness_of_fit"), {"test": "goodness_of_fit"}, "wild"),
        (
            ("--test", "goodness_of_fit", "--sampling"),
            {"test": "goodness_of_fit", "sampling": True},
            "simulate",
        ),
        (("--test", "independence"), {"test": "independence"}, "exact"),
    ],
)
def test_plan_knows_every_test(run, args, options, calibration):
    code, out, err = run("plan", "--n", 100, "--p", 2, *args)
    assert (code, err) == (0, "")
    assert out.startswith(str(nosplit.plan(n=100, p=2, **options)))
    assert json.loads(run("plan", "--n", 100, *args, "--json")[1])["calibration"] == calibration


def test_plan_says_what_does_not_go_together(run):
    code, _, err = run("plan", "--n", 100, "--test", "fit")
    assert code == 2
    assert "goodness_of_fit" in err
    code, _, err = run("plan", "--n", 100, "--sampling")
    assert code == 2
    assert "`sampling` is about a model" in err


def test_version_and_help(run):
    assert run("--version") == (0, f"nosplit {nosplit.__version__}\n", "")
    for command in ("test", "demo", "plan"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert "--help" in out


def test_as_a_module_piped(files):
    """In a process of its own: only JSON on standard output, nothing on standard error."""
    command = [sys.executable, "-m", "nosplit", "test", "ref.npy", "far.npy", *SMALL]
    done = subprocess.run([*command, "--json", "--exit-code"], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == b""
    assert json.loads(done.stdout)["reject"] is True
    command[4] = "missing.npy"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: `missing.npy` cannot be read: No such file or directory.\n"


# Bad options and files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--alpha 2", "`--alpha` must be strictly between 0 and 1, got 2.0"),
        ("--alpha five", "--alpha"),
        ("--method osst", "Did you mean 'ost'?"),
        ("--pairs lineal", "Did you mean 'linear'?"),
        ("--pairs blocks", "as in blocks:64, got 'blocks'"),
        ("--pairs blocks:1", "≥ 2, got 1"),
        ("--pairs -3", "≥ 1, got -3"),
        ("--pairs 1000", "a window is at most 29 here"),
        ("--calibration exakt", "Did you mean 'exact'?"),
        ("--kernels papr6", "Did you mean 'paper6'?"),
        ("--budget -1", "`--budget` must be a positive number"),
        ("--seed -1", "--seed"),
        ("--workers 0", "--workers"),
        ("--metod ost", "--method"),
        ("--pairs complete --calibration asymptotic", "needs pairs with a normal limit"),
    ],
)
def test_bad_options_exit_2(run, files, options, words):
    code, out, err = run("test", "ref.npy", "same.npy", *options.split())
    assert (code, out) == (2, "")
    assert words in err


def test_bad_commands_exit_2(run, files):
    for args in (["tset"], ["test"], ["test", "ref.npy"], ["plan"], ["plan", "--n", "1"], []):
        assert run(*args)[0] == 2
    assert "`n` must be an int ≥ 2, got 1" in run("plan", "--n", "1")[2]


BAD_CSV = {
    "not a number": ("a,b\n1,2\n\n3,x\n", "got 'x' in line 4, column 2."),
    "empty cell": ("1,2\n3,\n", "must be finite, got nan at index (1, 1)"),
    "short line": ("1,2\n3\n", "must have 2 cells in every line, got 1 in line 2."),
    "names and numbers": ("1,b\n2,3\n", "got 'b' in line 1, column 2."),
    "underscore": ("1,2\n1_0,2\n", "got '1_0' in line 2, column 1."),
    "nothing": ("", "is empty."),
    "blank lines": ("\n\n  \n", "is empty."),
    "names only": ("a,b\n", "has column names, but no rows."),
    "one row": ("a,b\n1,2\n", "must have at least 2 rows, got 1."),
    "no name": ("a,,b\n1,2,3\n2,3,4\n", "none for column 2. Is it an index?"),
    "same names": ("a,b,a\n1,2,3\n4,5,6\n", "got 'a' twice."),
    "more columns than names": ("a,b\n1,2,3\n4,5,6\n", "got 2 names and 3 columns."),
    "missing": ("1,2\n2,nan\n3,4\n", "must be finite, got nan at index (1, 1)"),
    "escape codes": ("\x1b[31mred,b\n1,\x1b[2J\n2,3\n", r"got '\x1b[2J' in line 2, column 2."),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_csv_iv(run, files, name):
    text, message = BAD_CSV[name]
    (files / "bad.csv").write_text(text)
    code, out, err = run("test", "ref.csv", "bad.csv")
    assert (code, out) == (2, "")
    assert err.startswith("error: `bad.csv` ")
    assert message in err
    assert "\x1b" not in err


def test_bad_arrays_iv(run, files):
    def error(path):
        code, out, err = run("test", path, "ref.npy")
        assert (code, out) == (2, "")
        assert err.startswith("error: `")
        return err

    np.save("pickled.npy", np.array([1, "a", None], dtype=object), allow_pickle=True)
    np.savez("pickled.npz", np.array([1, "a", None], dtype=object))
    for path in ("pickled.npy", "pickled.npz"):
        assert "pickled Python objects, which are never loaded" in error(path)
    np.save("text.npy", np.array(["a", "b"]))
    np.save("cube.npy", np.ones((3, 3, 3)))
    assert "`text.npy` must hold real numbers" in error("text.npy")
    assert "got 3 dimensions" in error("cube.npy")
    assert "must hold one array, got 3: 'ref', 'same', 'far'" in error("all.npz")
    assert "has no array 'x'; it has 'ref'" in error("all.npz:x")
    (files / "folder.csv").mkdir()
    assert "is a folder without .parquet files" in error("folder.csv")


def test_different_widths_name_the_files(run, files):
    (files / "wide.csv").write_text("1,2,3\n4,5,6\n")
    code, _, err = run("test", "ref.csv", "wide.csv")
    assert code == 2
    assert "`ref.csv` and `wide.csv` must have the same number of columns, got 2 and 3." in err


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".npy", ".npz"]))
def test_garbage_in_files_is_an_input_error(tmp_path_factory, garbage, suffix):
    file = tmp_path_factory.getbasetemp() / f"garbage{suffix}"
    file.write_bytes(garbage)
    try:
        source = open_source(file)
        rows = source.whole()
    except InputError:
        return
    assert len(rows) >= 2
    assert source.names is None or len(source.names) == rows.shape[1]


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.text(alphabet='0123456789.,-e"\n\r ab;\t', max_size=60))
def test_almost_csv_is_an_input_error_or_numbers(tmp_path_factory, text):
    file = tmp_path_factory.getbasetemp() / "almost.csv"
    file.write_bytes(text.encode())
    try:
        source = open_source(file)
        rows = source.whole()
    except InputError:
        return
    assert source.names is None or len(source.names) == rows.shape[1]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_progress_on_a_terminal_only(files):
    """Standard error is a terminal: a bar there, and nothing but the result on standard output."""
    ours, theirs = os.openpty()
    np.save("many.npy", np.random.default_rng(0).normal(size=(2, 60_000, 2)).reshape(-1, 2))
    command = [sys.executable, "-m", "nosplit", "test", "many.npy", "many.npy", "--json"]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=env, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "pairs" in shown
    assert json.loads(done.stdout)["reject"] is False
