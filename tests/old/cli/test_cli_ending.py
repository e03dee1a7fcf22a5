"""How the program ends: 0, 1 only where a test rejects, 2 for all errors, and those of signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nosplit
from nosplit.errors import InputError

QUICK = ("--kernels", "paper1", "--calibration", "exact")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOSPLIT_TRACEBACK", raising=False)
    rng = np.random.default_rng(0)
    for name in "ab":
        np.savetxt(f"{name}.csv", rng.normal(size=(30, 2)), delimiter=",")
    return tmp_path


def program(*args, **options):
    """Run the program on its own; what it is asked to do comes from this package's folder."""
    source = str(Path(nosplit.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "nosplit", *args], env=env, timeout=120, check=False, **options
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (MemoryError(), "there is not enough memory"),
        (OSError(28, "No space left on device"), "No space left on device."),
        (InputError("Use nan_policy='omit'."), "Use --nan-policy omit."),
    ],
)
def test_errors_of_all_kinds_end_with_2(run, files, monkeypatch, error, said):
    def fails(*args, **options):
        raise error

    monkeypatch.setattr(nosplit, "two_sample_test", fails)
    code, out, err = run("test", "a.csv", "b.csv", "--exit-code")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert err.count("\n") == 1


def test_tracebacks_can_be_had(files, monkeypatch):
    def fails(*args, **options):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(nosplit, "two_sample_test", fails)
    monkeypatch.setenv("NOSPLIT_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        nosplit._old.cli.main(["test", "a.csv", "b.csv"])


def test_terminals_that_lack_characters(files):
    Path("few.csv").write_text("1\n2\n3\n")
    done = program(
        "test",
        "few.csv",
        "few.csv",
        capture_output=True,
        env={"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert b"Too little data to tell (p >= 0.10 whatever" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written(files):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = program("plan", "--n", "10", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"error: No space left on device.\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_output_that_nobody_reads(files):
    read, write = os.pipe()
    os.close(read)
    done = program("plan", "--n", "10", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_while_it_runs(files):
    source = str(Path(nosplit.__file__).parents[1])
    code = (
        "import nosplit, time, sys; from nosplit._old.cli import main\n"
        "def wait(*a, **o):\n    print('ready', flush=True); time.sleep(60)\n"
        "nosplit.two_sample_test = wait\nmain(['test', 'a.csv', 'b.csv', '--exit-code'])"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert started.stdout.readline() == b"ready\n"
    time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (130, b"Stopped.\n")


def test_numbers_that_are_too_long_iv(run, files):
    code, _, err = run("test", "a.csv", "b.csv", "--pairs", "9" * 5000)
    assert code == 2
    assert err.startswith("error: `--pairs` must be")


def test_columns_with_commas_between(run, files):
    for name in "ab":
        text = Path(f"{name}.csv").read_text()
        Path(f"{name}.csv").write_text("u,v\n" + text)
    code, out, _ = run("test", "a.csv", "b.csv", *QUICK, "--columns", "u,v", "--exclude", "v")
    assert code == 0
    assert "1 column;" in out
    code, _, err = run("test", "a.csv", "b.csv", "--exclude", "w")
    assert code == 2
    assert "`--exclude` must name columns of `a.csv` or `b.csv`, which have 'u', 'v'," in err


def test_errors_name_options(run, files):
    for name in "ab":
        Path(f"{name}.csv").write_text("u,v\n1,2\n,3\n4,5\n")
    _, _, err = run("test", "a.csv", "b.csv", "--nan-policy", "raise")
    assert "Use --nan-policy omit to leave out those rows, or --nan-policy indicate" in err
    np.save("x.npy", np.random.default_rng(0).normal(size=(2, 40, 1)))
    np.save("a.npy", np.arange(40.0)[:, None])
    code, out, _ = run("test", "a.npy", "a.npy", "--pairs", "linear", "--calibration", "asymptotic")
    assert code == 0
    assert "use\n           --series; if they come in groups, --groups." in out
