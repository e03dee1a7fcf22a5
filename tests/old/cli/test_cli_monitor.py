"""The command `monitor`: one line a file, resumed, safe."""

import json
from functools import partial

import numpy as np
import pytest

import nosplit


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("ref.npy", rng.normal(size=(3000, 2)))
    for day in range(4):
        np.save(f"day{day}.npy", rng.normal(size=(200, 2)) + (1.0 if day >= 2 else 0.0))
    return tmp_path


@pytest.fixture
def run(run, files):
    """Run the command in the folder of the files."""
    return partial(run, "monitor")


def test_one_line_a_file_and_resumed(files, run):
    code, out, _ = run("ref.npy", "day0.npy", "day1.npy", "--state", "watch.json")
    assert code == 0
    assert [line.split(":")[0] for line in out.splitlines()] == ["day0.npy", "day1.npy"]
    assert "No change found so far" in out
    days = [f"day{d}.npy" for d in range(4)]
    code, out, _ = run("ref.npy", *days, "--state", "watch.json", "--exit-code")
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()] == ["day2.npy", "day3.npy"]
    assert "A change was found at pair" in out
    at_once = nosplit.Monitor("ref.npy")
    for day in days:
        at_once.update(np.load(day))
    again = nosplit.Monitor.load("watch.json", "ref.npy")
    assert again.log_evidence == at_once.log_evidence
    code, out, _ = run("ref.npy", *days, "--state", "watch.json")
    assert (code, out) == (0, "")


def test_killed_between_files_nothing_is_lost_or_counted_twice(files, run, monkeypatch):
    """As if the program died while it took in the second file."""
    run("ref.npy", "day0.npy", "--state", "watch.json")
    before = (files / "watch.json").read_bytes()
    real = nosplit.Monitor.update

    def dies(self, x=None, y=None):
        real(self, x, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(nosplit.Monitor, "update", dies)
    code, _, _ = run("ref.npy", "day1.npy", "--state", "watch.json")
    assert code == 130
    assert (files / "watch.json").read_bytes() == before
    monkeypatch.setattr(nosplit.Monitor, "update", real)
    code, out, _ = run("ref.npy", "day0.npy", "day1.npy", "--state", "watch.json")
    assert (code, len(out.splitlines())) == (0, 1)


def test_json_plot_and_report(files, run):
    code, out, _ = run(
        "ref.npy", "day3.npy", "--state", "w.json", "--json", "--plot", "p.png",
        "--report", "r.html", "--rate", "5000",
    )  # fmt: skip
    assert code == 0
    told = json.loads(out)
    assert (told["file"], told["every"]) == ("day3.npy", 5000)
    assert told["alarm"] is not None
    assert (files / "p.png").read_bytes().startswith(b"\x89PNG")
    page = (files / "r.html").read_text()
    assert "<svg" in page
    assert "A change was found at pair" in page
    assert "http://" not in page.split("<svg")[0]


def test_a_used_up_reference_is_renewed(files, run):
    np.save("small.npy", np.load("ref.npy")[:300])
    np.save("more.npy", np.load("ref.npy")[300:1000])
    days = ["day0.npy", "day1.npy"]
    code, _, err = run("small.npy", *days, "--state", "w.json")
    assert code == 2
    assert "used up" in err
    code, _, err = run("more.npy", *days, "--state", "w.json")
    assert code == 2
    assert "rows differ" in err
    code, out, _ = run("more.npy", *days, "--state", "w.json", "--renew")
    assert (code, len(out.splitlines())) == (0, 1)


def test_bad_input_iv(files, run):
    run("ref.npy", "day0.npy", "--state", "w.json")
    for args, message in [
        (["ref.npy", "day1.npy", "--state", "w.json", "--alpha", "0.01"], "--alpha"),
        (["ref.npy", "none.npy", "--state", "w.json"], "must be a file"),
        (["none.npy", "day1.npy", "--state", "v.json"], "none.npy"),
    ]:
        code, _, err = run(*args)
        assert code == 2
        assert message in err
    np.save("day0.npy", np.zeros((3, 2)))
    code, _, err = run("ref.npy", "day0.npy", "--state", "w.json")
    assert code == 2
    assert "was seen before" in err
