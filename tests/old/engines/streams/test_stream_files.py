"""Accumulators in files: what comes back, what is refused, and what survives a failed write."""

from __future__ import annotations

import base64
import errno
import json
import os
import pickle
import stat
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nosplit import (
    GoodnessOfFitAccumulator,
    IndependenceAccumulator,
    InputError,
    Sketch,
    TwoSampleAccumulator,
    models,
)
from nosplit._old.engines.streams.saved.as_json import kernel_from_plain, kernel_to_plain
from nosplit._old.engines.streams.saved.document import LARGEST
from nosplit._old.engines.streams.saved.loading import load_accumulator
from nosplit.data.fit_encoding import fit_encoding
from nosplit.kernels import IMQ, Combination, Delta, Gaussian, Laplace, Linear, Matern, Polynomial

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(800, 2)), RNG.normal(size=(800, 2))
NORMAL = models.MultivariateNormal([0.0, 0.0])
KERNELS = (Gaussian(1.0), Laplace(2.0), Linear())


def two_sample(n=303, **options):
    acc = TwoSampleAccumulator(**{"kernels": KERNELS, "pairs": "adjacent", **options})
    acc.update(X[:n], Y[: n - 2])
    return acc


def sketch(n=703, **options):
    return two_sample(n, **{"pairs": Sketch(cells=16, frequencies=2), **options})


def goodness(n=303):
    acc = GoodnessOfFitAccumulator(NORMAL, pairs="adjacent")
    acc.update(X[:n])
    return acc


def independence(n=303):
    acc = IndependenceAccumulator(unit_size=4, pairs="adjacent")
    acc.update(X[:n, 0], np.where(Y[:n, 0] > 0, "a", "b"))
    return acc


# What comes back --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        two_sample,
        lambda n: two_sample(n, kernels=None),
        lambda n: two_sample(n, kernels="paper6", limit=500),
        goodness,
        independence,
    ],
)
@pytest.mark.parametrize("n", [1, 3, 303, 800])
def test_what_is_loaded_goes_on_as_what_was_saved(make, n, tmp_path):
    acc = make(n) if n > 2 else type(make(10)).like(make(10))
    acc.save(tmp_path / "state")
    again = type(acc).load(tmp_path / "state")
    assert type(load_accumulator(tmp_path / "state")) is type(acc)
    if isinstance(again, GoodnessOfFitAccumulator):
        with pytest.raises(InputError, match="score=") as error:
            again.update(X)
        assert "not saved" in str(error.value)
        again = type(acc).load(tmp_path / "state", score=NORMAL)
    assert again.counts() == acc.counts()
    assert again.kernels == acc.kernels
    for one in (acc, again):
        one.update(X) if isinstance(acc, GoodnessOfFitAccumulator) else one.update(*rows_for(acc))
    assert again.counts() == acc.counts()
    assert np.array_equal(again.moments.mean, acc.moments.mean)
    assert np.array_equal(again.moments.scatter, acc.moments.scatter)
    again += type(acc).load(tmp_path / "state")


def rows_for(acc):
    if isinstance(acc, IndependenceAccumulator):
        return X[:, 0], np.where(Y[:, 0] > 0, "a", "b")
    return X, Y


@pytest.mark.parametrize(
    "options",
    [{}, {"kernels": None, "ratio": (2, 3)}, {"kernels": "paper6"}, {"kernels": [Polynomial(2)]}],
)
@pytest.mark.parametrize("n", [2, 3, 303, 703])
def test_sketches_that_are_loaded_go_on_as_what_was_saved(options, n, tmp_path):
    acc = sketch(n, **options)
    acc.save(tmp_path / "state")
    again = load_accumulator(tmp_path / "state")
    assert again.counts() == acc.counts()
    assert again.kernels == acc.kernels
    for one in (acc, again):
        one.update(X, Y)
    assert again.counts() == acc.counts()
    assert again.result(n_resamples=99).to_dict() == acc.result(n_resamples=99).to_dict()
    again += acc
    again += TwoSampleAccumulator.load(tmp_path / "state")


def test_raw_rows_are_written_only_as_long_as_they_are_needed(tmp_path):
    """Fewer than 500 pairs wait for the map; then only rows without a partner are kept."""
    for n, waiting in ((303, [303, 301]), (703, [2, 0])):
        sketch(n).save(tmp_path / "state")
        body = json.loads((tmp_path / "state").read_text())
        assert [rows["shape"][0] for rows in body["state"]["waiting"]] == waiting
    early = sketch(303)
    early.fix_kernels()
    early.save(tmp_path / "state")
    body = json.loads((tmp_path / "state").read_text())
    assert [rows["shape"][0] for rows in body["state"]["waiting"]] == [2, 0]


@pytest.mark.parametrize("version", [5, 7, "6", True, None])
def test_other_versions_are_refused_iv(tmp_path, version):
    path = tmp_path / "state"
    sketch(703).save(path)
    body = json.loads(path.read_text())
    body["version"] = version
    path.write_text(json.dumps(body))
    refused(path, f"version 6, got {version}.*again from the data")


def test_tables_come_back(tmp_path):
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame({"a": X[:, 0], "city \x1b[31m": RNG.choice(["Rome", "Oslo"], 800)})
    for start in (
        TwoSampleAccumulator(encoding=fit_encoding(x), pairs="adjacent"),
        TwoSampleAccumulator(encoding=fit_encoding(x)),
        TwoSampleAccumulator(pairs=Sketch(16, 2)),
    ):
        start.update(x[:300], x[:300])
        start.save(tmp_path / "state")
        again = TwoSampleAccumulator.load(tmp_path / "state")
        assert again.encoding == start.encoding
        for acc in (start, again):
            acc.update(x[::-1], x)
        assert again.counts() == start.counts()
        assert again.encoding == start.encoding
        again.save(tmp_path / "state")
        assert TwoSampleAccumulator.load(tmp_path / "state").counts() == start.counts()


def test_every_kernel_of_the_library_comes_back_properties():
    from nosplit.kernels import Agreement, Mixed, OnColumns

    kernels = [
        Gaussian(0.1 + 0.2),
        Laplace(1e-100),
        IMQ(2.0, exponent=-0.3),
        Matern(1.0, nu=2.5),
        Linear(),
        Polynomial(3, offset=1.0),
        Delta(),
        Gaussian(1.0) + 2.0 * Linear() * Laplace(3.0),
        Combination((Gaussian(1.0), Linear()), (0.5, -0.25)),
        OnColumns(Gaussian(1.0), (0, 2), label="'a'") * OnColumns(Agreement(), (1,)),
        Mixed(OnColumns(Gaussian(1.0), (0,)), OnColumns(Delta(), (1,))),
    ]
    for kernel in kernels:
        assert kernel_from_plain(json.loads(json.dumps(kernel_to_plain(kernel)))) == kernel


def test_kernels_of_ones_own_are_not_saved(tmp_path):
    class Own(Gaussian):
        pass

    def function(a, b):
        return (a * b).sum(axis=-1)

    for pairs in ("adjacent", Sketch(16, 2)):
        for kernels in ([function], [Own(1.0)], Gaussian(1.0) + Own(2.0)):
            acc = TwoSampleAccumulator(kernels, pairs=pairs)
            acc.update(X, Y)
            with pytest.raises(InputError, match="of your own cannot be saved"):
                acc.save(tmp_path / "state")
        early = TwoSampleAccumulator(lambda l2, l1: [Gaussian(l2)], pairs=pairs)
        with pytest.raises(InputError, match="as a function cannot be saved"):
            early.save(tmp_path / "state")
        early.update(X, Y)
        early.save(tmp_path / "state")
        assert TwoSampleAccumulator.load(tmp_path / "state").kernels == early.kernels


# What is refused --------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    two_sample().save(tmp_path / "state")
    return tmp_path / "state"


@pytest.fixture
def sketched(tmp_path):
    sketch().save(tmp_path / "state")
    return tmp_path / "state"


def refused(path, message):
    with pytest.raises(InputError, match=message) as error:
        TwoSampleAccumulator.load(path)
    assert str(path) in str(error.value)
    with pytest.raises(InputError):
        load_accumulator(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 not json", "not an accumulator file"),
        (b"\x80\x04\xff\xfe", "not an accumulator file"),
        (pickle.dumps({"format": "nosplit accumulator"}), "not an accumulator file"),
        (b"[1, 2, 3]", "holds other JSON"),
        (b'{"format": "other"}', "holds other JSON"),
        (b'"nosplit accumulator"', "holds other JSON"),
        (b"[" * 100_000, "not an accumulator file"),
        (b'{"format": "nosplit accumulator", "version": 7}', "another version"),
        (b'{"format": "nosplit accumulator", "version": "2"}', "version"),
        (b'{"format": "nosplit accumulator", "version": true}', "version"),
        (b'{"format": "nosplit accumulator", "version": 6}', "got the family 'None'"),
    ],
)
def test_foreign_files_iv(data, message, tmp_path):
    path = tmp_path / "state"
    path.write_bytes(data)
    refused(path, message)


def test_files_that_cannot_be_read_iv(tmp_path, saved):
    refused(tmp_path / "nothing", "No such file")
    refused(tmp_path, "must be a file, got a folder")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "a device or a pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LARGEST + 1)  # a hole: nothing is written
    refused(tmp_path / "large", "at most 256 MB")
    with pytest.raises(InputError, match="must hold a GoodnessOfFitAccumulator"):
        GoodnessOfFitAccumulator.load(saved)


def test_no_permission_iv(tmp_path, saved, monkeypatch):
    def deny(*args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("pathlib.Path.open", deny)
    refused(saved, "cannot be read: Permission denied")
    monkeypatch.undo()
    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        two_sample().save(saved)


def test_truncated_anywhere_iv(saved):
    data = saved.read_bytes()
    for size in (*range(1, len(data) - 1, 997), len(data) - 1):
        saved.write_bytes(data[:size])
        refused(saved, "damaged")


# Correlations that no three variables have.
INDEFINITE = [[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("state", "moments", "n"), -1, "`n` must be an int ≥ 0"),
        (("state", "moments", "n"), 2.5, "`n` must be an int ≥ 0"),
        (("state", "moments", "n"), 10**30, "`n` must be an int"),
        (("state", "moments", "n"), 10**6, "fit 1000000 pairs"),
        (("state", "moments", "mean", 0), float("nan"), "not an accumulator file"),
        (("state", "moments", "mean", 0), "x", "`mean` must hold real numbers"),
        (("state", "moments", "mean"), [0.0], "mean"),
        (("state", "moments", "scatter", 0, 1), 1e3, "positive semidefinite|symmetric"),
        (("state", "moments", "scatter", 0, 0), -1.0, "diagonal ≥ 0"),
        (("state", "moments", "scatter"), [[1, 0, 0]] * 3, "symmetric|variance of 0"),
        (("state", "moments", "scatter"), INDEFINITE, "positive semidefinite"),
        (("state", "moments"), None, "n, mean and scatter"),
        (("state", "n_units"), -3, "`n_units` must be an int ≥ 0"),
        (("state", "n_dropped"), None, "`n_dropped` must be an int ≥ 0"),
        (("state", "waiting", 0, "data"), "AAAA", "rows"),
        (("state", "waiting", 0, "data"), "not base 64", "rows"),
        (("state", "waiting", 0, "dtype"), "object", "rows"),
        (("state", "waiting", 0, "shape"), [-1, 2], "shape"),
        (("state", "waiting", 0, "shape"), [1, 2, 3], "rows"),
        (("state", "waiting"), [], "sides"),
        (("state",), 3, "must hold a state"),
        (("kernels",), [], "list of kernels"),
        (("kernels",), None, "`mean` must have 0 entries"),
        (("kernels",), "no such set", "one of 'default'"),
        (("kernels", 0), {"type": "os.system"}, "`type` must be one of"),
        (("kernels", 0), {"type": "Gaussian"}, "its own parameters"),
        (("kernels", 0), {"type": "Gaussian", "bandwidth": -1.0}, "bandwidth"),
        (("kernels", 0), {"type": "Gaussian", "bandwidth": 1.0, "more": 1}, "its own parameters"),
        (("kernels", 0), 3, "list of kernels"),
        (("kernels", 0), {"type": "Mixed", "numbers": 1, "categories": 2}, "kernel"),
        (("kernels", 0), {"type": "Tensor", "x": 1, "y": 2}, "must be a kernel"),
        (("settings",), [], "damaged"),
        (("settings", "ratio"), [1, 99], "ratio"),
        (("settings", "pairs"), "complete", "pairs"),
        (("settings", "limit"), 0, "limit"),
        (("settings", "limit"), 2, "at most 2 rows"),
        (("settings", "surprise"), 1, "damaged"),
        (("settings", "encoding"), {"columns": 3}, "Encoding"),
    ],
)
def test_damaged_values_iv(saved, place, value, message):
    body = json.loads(saved.read_text())
    if place == ("settings", "limit") and value == 2:
        body["state"]["waiting"][0] = {
            "dtype": "float64",
            "shape": [3, 2],
            "data": base64.b64encode(np.zeros((3, 2)).tobytes()).decode(),
        }
    inside = body
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    saved.write_text(json.dumps(body))
    refused(saved, message)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("state", "map"), 3, "must hold a map"),
        (("state", "map"), None, "both be there"),
        (("state", "map", "kernels"), None, "list of kernels"),
        (("state", "map", "kernels", 0), {"type": "os.system"}, "`type` must be one of"),
        (("state", "map", "center"), [], "center"),
        (("state", "map", "center"), [0.0], "spread"),
        (("state", "map", "spread", 0), 0.0, "positive"),
        (("state", "map", "frequencies"), 10**9, "frequencies"),
        (("state", "map", "key"), 1, "key of the settings"),
        (("state", "map", "pairs"), [[1, 0]], "different columns"),
        (("state", "map", "pairs"), [3], "pairs of columns"),
        (("state", "map", "pairs"), [[0, 1]] * 500, "at most 190"),
        (("state", "map", "pairs"), [], "shape"),
        (("state", "map", "order"), [1, 1], "each of"),
        (("state", "map", "order"), "10", "list of columns"),
        (("state", "map", "bins"), [], "2 columns"),
        (("state", "map", "bins", 0, "edges"), [2.0, 1.0], "rise"),
        (("state", "map", "bins", 0, "edges"), list(range(500)), "fewer than 128"),
        (("state", "map", "bins", 0, "edges"), [1.0], "shape"),
        (("state", "map", "bins", 0, "categories"), True, "as the columns are"),
        (("state", "map", "landmarks", "shape"), [0, 3], "landmarks"),
        (("state", "blocks"), 3, "sums of blocks"),
        (("state", "blocks", "length"), 3, "power of two"),
        (("state", "blocks", "length"), 1, "power of two"),
        (("state", "blocks", "counts", "data"), "eJw=", "damaged|shape"),
        (("state", "blocks", "x"), [], "features and bins"),
        (("state", "blocks", "x", 0, "dtype"), "float64", "damaged"),
        (("state", "blocks", "x", 0, "shape"), [10**9, 9], "shape"),
        (("state", "blocks", "x", 0, "data"), "not base 64", "damaged"),
        (("state", "blocks", "x", 1, "data"), "", "damaged"),
        (("state", "scaled"), False, "scaled"),
        (("state", "waiting"), None, "waiting"),
        (("state", "waiting"), [1, 2, 3], "two sides"),
        (("state", "n_dropped"), -1, "n_dropped"),
        (("settings", "pairs", "cells"), 1, "cells"),
        (("settings", "pairs", "frequencies"), 10**9, "frequencies"),
        (("settings", "keys"), ["a", 1], "keys"),
        (("settings", "limit"), 1, "at most 1 rows"),
        (("settings", "ratio"), [1, 2], "blocks"),
        (("settings", "surprise"), 1, "damaged"),
        (("settings", "encoding"), {"columns": 3}, "Encoding"),
    ],
)
def test_damaged_sketches_iv(sketched, place, value, message):
    body = json.loads(sketched.read_text())
    inside = body
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    sketched.write_text(json.dumps(body))
    refused(sketched, message)


def test_sums_that_no_rows_have_iv(sketched):
    """Numbers in place, but not those of waves or of counts; and sums that unfold to too much."""
    good = json.loads(sketched.read_text())
    for part, change, message in (
        (0, lambda v: v + (1 << 50), "sums of features"),
        (0, lambda v: v + (1 << 27), "sums of waves"),
        (1, lambda v: v + 1, "each row of a cell once"),
        (1, lambda v: -v, "each row of a cell once"),
        (1, lambda v: np.concatenate([v, v]), "damaged"),
    ):
        body = json.loads(json.dumps(good))
        packed = body["state"]["blocks"]["y"][part]
        raw = zlib.decompress(base64.b64decode(packed["data"]))
        values = np.frombuffer(raw, packed["dtype"]).astype(np.int64).reshape(packed["shape"])
        data = zlib.compress(change(values).astype("<i8").tobytes())
        packed.update(dtype="int64", data=base64.b64encode(data).decode())
        sketched.write_text(json.dumps(body))
        refused(sketched, message)


def test_rows_that_are_not_finite_iv(saved):
    body = json.loads(saved.read_text())
    rows = np.full((2, 2), np.nan)
    body["state"]["waiting"][0] = {
        "dtype": "float64",
        "shape": [2, 2],
        "data": base64.b64encode(rows.tobytes()).decode(),
    }
    saved.write_text(json.dumps(body))
    refused(saved, "must be finite")


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data(), st.booleans())
def test_any_damage_is_said_or_harmless_properties(tmp_path, data, sums):
    """Whatever replaces whatever: an error that names the file, or an accumulator that works."""
    saved = tmp_path / ("sketch" if sums else "pairs")
    if not saved.exists():
        (sketch() if sums else two_sample()).save(saved)
    body = json.loads(saved.read_text())
    inside, key = body, None
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        key = data.draw(st.sampled_from(keys))
        deeper = inside[key]
        if not isinstance(deeper, dict | list) or not deeper or data.draw(st.booleans()):
            break
        inside = deeper
    inside[key] = data.draw(plain)
    other = saved.with_name("damaged")
    other.write_text(json.dumps(body))
    try:
        acc = load_accumulator(other)
    except InputError as error:
        said = str(error)
    else:
        said = f"{other} works: {acc.counts()}"
    assert str(other) in said


# What survives ----------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_device_is_not_replaced():
    with pytest.raises(InputError, match="must be a file"):
        two_sample().save("/dev/full")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_interrupted(saved, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    before = saved.read_bytes()
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        two_sample(800).save(saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == ["state"]


def test_links_stay_links(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    two_sample().save(target)
    link.symlink_to(target)
    two_sample(800).save(link)
    assert link.is_symlink()
    assert TwoSampleAccumulator.load(target).counts()["n_units"] == 798


def test_targets_iv(tmp_path):
    with pytest.raises(InputError, match="must be a file"):
        two_sample().save(tmp_path)
    with pytest.raises(InputError, match="No such file or directory"):
        two_sample().save(tmp_path / "no" / "state")
    assert list(tmp_path.iterdir()) == []


def test_too_many_waiting_rows_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("nosplit._old.engines.streams.saved.document.LARGEST", 10_000)
    acc = TwoSampleAccumulator(KERNELS)
    acc.update(X, None)
    with pytest.raises(InputError, match="smaller `limit`"):
        acc.save(tmp_path / "state")
    assert list(tmp_path.iterdir()) == []
