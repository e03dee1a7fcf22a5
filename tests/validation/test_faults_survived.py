"""Faults on purpose: killed writers, full disks, several writers, threads, fork and spawn."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import nosplit
from nosplit import TwoSampleAccumulator, two_sample_test
from nosplit._old.api.profile import load_profile
from nosplit._old.engines.streams.saved.loading import load_accumulator
from nosplit._old.experiments.running import runner
from nosplit._old.experiments.running.pool import WorkersDiedError
from nosplit.errors import FileError, InputError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits of POSIX")
SOURCE = str(Path(nosplit.__file__).parents[1])
KERNELS = [nosplit.kernels.Gaussian(1.0)]


def normal(*size, seed=0):
    return np.random.default_rng(seed).normal(size=size)


def stream(n=40):
    found = TwoSampleAccumulator(KERNELS, pairs="adjacent")
    found.update(normal(n, 2), normal(n, 2, seed=1))
    return found


def reference():
    return nosplit.profile(normal(400, 2), rows=60, frequencies=4, least=1)


KINDS = {"state.json": (stream, load_accumulator), "reference.nsp": (reference, load_profile)}
# A process that writes the same file again and again.
WRITER = """
import sys, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import nosplit
load = nosplit.load if sys.argv[1].endswith("json") else nosplit.load
kept = load(sys.argv[1])
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    kept.save(sys.argv[1])
"""


def writer(path, times):
    started = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(times)],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert started.stdout.readline() == b"ready\n"
    return started


@pytest.mark.parametrize(
    ("name", "blow"), [("state.json", signal.SIGKILL), ("reference.nsp", signal.SIGINT)]
)
def test_a_writer_that_is_killed(tmp_path, name, blow):
    """The old file or the new one is there, whole."""
    make, load = KINDS[name]
    path = tmp_path / name
    made = make()
    made.save(path)
    before = path.read_bytes()
    started = writer(path, 10**6)
    time.sleep(0.03)
    started.send_signal(blow)
    started.communicate(timeout=60)
    assert path.read_bytes() == before
    assert load(path).kernels == made.kernels


def test_several_writers_at_once(tmp_path):
    path, made = tmp_path / "state.json", stream()
    made.save(path)
    other = writer(path, 40)
    for _ in range(20):
        made.save(path)
        load_accumulator(path)
    assert other.communicate(timeout=60)[1] == b""
    assert other.returncode == 0
    load_accumulator(path)
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


@contextlib.contextmanager
def no_room(size):
    """Files may not become larger than this, as on a full disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", KINDS)
def test_a_full_disk(tmp_path, name):
    make, load = KINDS[name]
    path, made = tmp_path / name, make()
    made.save(path)
    before = path.read_bytes()
    with no_room(100), pytest.raises(FileError):
        made.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [name]
    load(path)


def test_a_report_on_a_full_disk(tmp_path):
    x, y = normal(2, 30, 2)
    found = two_sample_test(x, y, kernels=KERNELS, calibration=nosplit.Exact(19))
    path = tmp_path / "report.html"
    found.report(path=path)
    before = path.read_bytes()
    with no_room(100), pytest.raises(InputError, match="cannot be written"):
        found.report(path=path)
    assert path.read_bytes() == before


def test_a_report_that_is_interrupted(tmp_path, monkeypatch):
    """A part of the page stayed in the folder."""
    x, y = normal(2, 30, 2)
    found = two_sample_test(x, y, kernels=KERNELS, calibration=nosplit.Exact(19))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        found.report(path=tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


# Commands that are interrupted ------------------------------------------------------------------

COMMANDS = {
    "test a.csv b.csv --report r.html": "two_sample_test",
    "gof a.csv --model normal:0,1": "goodness_of_fit_test",
    "independence a.csv b.csv": "independence_test",
    "power a.csv b.csv --n 100": "pilot",
    "calibrate a.csv b.csv": "power.calibration_check",
    "profile a.csv --out r.html": "profile",
    "plan --n 100": "plan",
    "demo": "two_sample_test",
    "ksample a.csv b.csv": "k_sample_test",
    "columns a.csv b.csv": "column_tests",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_in_every_command(command, tmp_path, monkeypatch, capsys):
    """130, a word, and nothing half-written."""
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        np.savetxt(f"{name}.csv", normal(30, 1), delimiter=",")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"nosplit.{COMMANDS[command]}", interrupted)
    with pytest.raises(SystemExit) as ended:
        nosplit._old.cli.main(command.split())
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Stopped.\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.csv"]


@pytest.mark.parametrize("when", ["before", "while"])
def test_ctrl_c_while_experiments_run(when, tmp_path, monkeypatch, capsys):
    """What is done is kept, whole, and that is said."""
    monkeypatch.chdir(tmp_path)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    if when == "before":
        monkeypatch.setattr(runner, "run_studies", interrupted)
    else:
        monkeypatch.setattr(os, "replace", interrupted)
        monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(SystemExit) as ended:
        nosplit._old.cli.main(["reproduce", "geometry", "--trials", "2", "--workers", "1"])
    assert ended.value.code == 130
    assert "Stopped. What is done is kept in reproduction" in capsys.readouterr().err
    names = [p.name for p in tmp_path.rglob("*") if p.is_file()]
    assert not [name for name in names if "tmp" in name or name.endswith((".csv", ".html"))]


def test_a_home_that_cannot_be_written_to(tmp_path):
    """Nothing is kept at home but compiled loops, and they are not needed."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    code = "import nosplit, numpy as np; r = np.random.default_rng(0)\n"
    code += "print(nosplit.two_sample_test(*r.normal(size=(2, 20, 1)), kernels='paper1').pvalue)"
    keys = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": SOURCE}
    env = {k: v for k, v in os.environ.items() if k != "MPLCONFIGDIR"} | keys
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert 0 < float(done.stdout) <= 1
    assert list(home.iterdir()) == []


# Threads and processes --------------------------------------------------------------------------


def small_test(seed):
    x, y = normal(2, 40, 2, seed=seed)
    return two_sample_test(x, y, calibration=nosplit.Exact(39), rng=seed).pvalue


def test_eight_threads_at_once():
    seeds = range(16)
    alone = [small_test(seed) for seed in seeds]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(small_test, seeds)) == alone


@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes(how):
    alone = [small_test(seed) for seed in range(2)]
    with multiprocessing.get_context(how).Pool(1) as pool:
        assert pool.map_async(small_test, range(2)).get(timeout=120) == alone


def test_workers_that_die_are_an_error_and_no_verdict(tmp_path, monkeypatch, capsys):
    """The program ends with 2: 1 is for samples that differ."""
    monkeypatch.chdir(tmp_path)

    def died(*_, **__):
        raise WorkersDiedError("Workers died 3 times.")

    monkeypatch.setattr(runner, "run_studies", died)
    with pytest.raises(SystemExit) as ended:
        nosplit._old.cli.main(["reproduce", "geometry"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: Workers died 3 times. What is done is kept")
