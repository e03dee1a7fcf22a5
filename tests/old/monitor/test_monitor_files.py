"""Monitors in files: to go on as if nothing had been, and nothing that is damaged is believed."""

import copy
import json

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit.errors import FileError


class Means:
    """Which mean is nearer."""

    def fit(self, rows, labels):
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)
        return self

    def predict(self, rows):
        return rows @ self.w


class Running(Means):
    def partial_fit(self, rows, labels):
        return self.fit(rows, labels)


def rows(rng, n):
    return pd.DataFrame({"v": rng.normal(size=n), "k": rng.choice(list("abc"), n)})


@pytest.mark.parametrize("stop", [0, 10, 60, 141, 600])
@pytest.mark.parametrize("kind", ["streams", "reference", "rate", "estimators"])
def test_a_saved_monitor_goes_on_as_if_nothing_had_been(tmp_path, stop, kind):
    rng = np.random.default_rng(0)
    x, y = rows(rng, 700), rows(rng, 700)
    reference = rows(rng, 1200) if kind == "reference" else None
    options = {"rate": {"guarantee": "rate", "every": 50}, "estimators": {"estimators": [Means()]}}
    monitor = nosplit.Monitor(reference, block=2, **options.get(kind, {}))

    def feed(monitor, part):
        monitor.update(*((y[part],) if reference is not None else (x[part], y[part])))

    feed(monitor, slice(0, stop))
    path = tmp_path / "watch.json"
    monitor.save(path)
    again = nosplit.Monitor.load(path, reference, options.get(kind, {}).get("estimators", ()))
    assert again.log_evidence == monitor.log_evidence
    for one in (monitor, again):
        feed(one, slice(stop, 700))
    assert again.log_evidence == monitor.log_evidence
    assert str(again) == str(monitor)
    assert again.to_dict() == monitor.to_dict()
    again.save(tmp_path / "again.json")
    monitor.save(path)
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_a_saved_independence_monitor_goes_on(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 1)), rows(rng, 500)
    monitor = nosplit.IndependenceMonitor()
    path = tmp_path / "watch.json"
    monitor.save(path)
    nosplit.IndependenceMonitor.load(path).update(x, y)
    monitor.update(x[:301], y[:301])
    monitor.save(path)
    again = nosplit.IndependenceMonitor.load(path)
    for one in (monitor, again):
        one.update(x[301:], y[301:])
    assert again.log_evidence == monitor.log_evidence
    with pytest.raises(FileError, match="holds an IndependenceMonitor, and no Monitor"):
        nosplit.Monitor.load(path)


def test_what_is_given_beside_a_file_must_fit_iv(tmp_path):
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(300, 2))
    path = tmp_path / "watch.json"
    nosplit.Monitor(reference).save(path)
    with pytest.raises(nosplit.InputError, match="must be given as it was: the monitor had one"):
        nosplit.Monitor.load(path)
    with pytest.raises(nosplit.InputError, match="its rows differ"):
        nosplit.Monitor.load(path, reference + 1.0)
    with pytest.raises(nosplit.InputError, match="`estimators` must be those"):
        nosplit.Monitor.load(path, reference, [Means()])
    running = nosplit.Monitor(reference, estimators=[Running()])
    with pytest.raises(nosplit.InputError, match="partial_fit"):
        running.save(path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor()
    monitor.update(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)))
    path = tmp_path_factory.mktemp("saved") / "watch.json"
    monitor.save(path)
    return json.loads(path.read_text())


DAMAGE = [
    (("kind",), "other"),
    (("rows", "encoding", "columns"), []),
    (("settings", "alpha"), 3.0),
    (("settings", "keys"), [1]),
    (("watch", "n"), 10),
    (("watch", "kept"), []),
    (("watch", "bettor"), None),
    (("watch", "bettor", "past", "n"), 3),
    (("watch", "bettor", "past", "known"), None),
    (("watch", "bettor", "scale", "shape"), [3]),
    (("watch", "bettor", "scale", "dtype"), "<i8"),
    (("watch", "bettor", "scale", "dtype"), "O"),
    (("watch", "bettor", "wealth", "accounts", "data"), "%%%"),
    (("watch", "bettor", "wealth", "accounts", "data"), "AAAA"),
    (("watch", "bettor", "wealth", "accounts", "shape"), [10**9, 10**9]),
    (("watch", "bettor", "map", "bins"), []),
]


@pytest.mark.parametrize(("where", "value"), DAMAGE)
def test_damaged_files_are_refused_iv(saved, tmp_path, where, value):
    body = copy.deepcopy(saved)
    inner = body
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path = tmp_path / "watch.json"
    path.write_text(json.dumps(body))
    with pytest.raises(FileError, match="damaged"):
        nosplit.Monitor.load(path)


def test_other_files_are_refused_iv(tmp_path):
    path = tmp_path / "watch.json"
    for text, message in [("{}", "not a monitor file"), ("x", "not a monitor file"), ("", "empty")]:
        path.write_text(text)
        with pytest.raises(FileError, match=message):
            nosplit.Monitor.load(path)
    nosplit.TwoSampleAccumulator().save(path)
    with pytest.raises(FileError, match="not a monitor file"):
        nosplit.Monitor.load(path)


@pytest.mark.parametrize("version", [2, 4, "3", None])
def test_other_versions_are_refused_iv(saved, tmp_path, version):
    path = tmp_path / "watch.json"
    path.write_text(json.dumps(saved | {"version": version}))
    with pytest.raises(FileError, match=f"version 3, got {version}"):
        nosplit.Monitor.load(path)
