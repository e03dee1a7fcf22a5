"""Files of profiles: what is saved is what comes back, and what is damaged is refused."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import Exact
from nosplit._old.sketch.saved.bundles import HEADER
from nosplit.errors import FileError
from nosplit.kernels import Gaussian, Laplace, Linear

RNG = np.random.default_rng(3)


def table(n):
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "size": RNG.exponential(size=n),
            "count": RNG.poisson(2, size=n),
            "kind": RNG.choice(["a", "b", "c"], n, p=[0.9, 0.09, 0.01]),
            "gap": np.where(RNG.random(n) < 0.05, np.nan, RNG.normal(size=n)),
        }
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    made = nosplit.profile(
        table(1500), exclude="id", nan_policy="indicate", frequencies=8, rows=100, least=5
    )
    path = tmp_path_factory.mktemp("profiles") / "reference.profile"
    made.save(path)
    return made, path


def pvalue(profile, new):
    return nosplit.two_sample_test(profile, new, calibration=Exact(99)).pvalue


def test_round_trip(saved):
    made, path = saved
    read = nosplit.load(path)
    new = table(400)
    assert read.recipe == made.recipe
    assert read.encoding == made.encoding
    assert np.array_equal(read.cells.features, made.cells.features)
    assert np.array_equal(read.cells.bins, made.cells.bins)
    assert read.to_dict() == made.to_dict()
    assert pvalue(read, new) == pvalue(made, new) == pvalue(path, new) == pvalue(new, str(path))


def test_round_trip_of_an_array(tmp_path):
    rows = RNG.normal(size=(1000, 2)).astype(np.float32)
    kernels = [Gaussian(1.0), 2.0 * Laplace(0.5) + Gaussian(3.0), Linear()]
    made = nosplit.profile(rows, kernels=kernels, frequencies=4)
    made.save(tmp_path / "a.bin")
    read = nosplit.load(tmp_path / "a.bin")
    new = RNG.normal(size=(500, 2)).astype(np.float32)
    assert pvalue(read, new) == pvalue(made, new)
    # The file is known by what is in it, whatever its name.
    assert pvalue(tmp_path / "a.bin", new) == pvalue(made, new)


def test_read_profile_can_be_added_to(saved):
    made, path = saved
    read = nosplit.load(path)
    more = nosplit.profile(table(600), like=read)
    both = read + more
    assert both.recipe == made.recipe
    assert both.n_rows == made.n_rows + 600
    assert len(both.parts) == 2


def test_frequencies_are_those_in_the_file(saved):
    """Another version of NumPy may draw others from the same key."""
    made, path = saved
    read = nosplit.load(path)
    assert read.map.drawn.keys() == made.map.drawn.keys()
    for u, drawn in read.map.drawn.items():
        assert np.array_equal(drawn.turns, made.map.drawn[u].turns)
    assert "drawn" in read.map.__dict__


def test_header_says_what_it_reveals(saved):
    _, path = saved
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read(HEADER))
    assert "sums over 5 rows or more" in header["reveals"]
    assert "No row" in header["reveals"]
    assert header["cell_rows"] == 5
    assert header["version"] == 5


# Damaged files ----------------------------------------------------------------------------------


def changed(path, target, header=None, arrays=None, **more):
    """A copy of a file with another header, or other arrays."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(members[HEADER])
    for name, (kind, *shape) in list(told["arrays"].items()):
        if arrays and name in arrays:
            array = np.frombuffer(members[name], kind).reshape(shape).copy()
            array = arrays[name](array)
            members[name] = array.tobytes()
            told["arrays"][name] = [array.dtype.str, *array.shape]
    if header:
        header(told)
    members[HEADER] = json.dumps(told).encode()
    members.update(more)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def put(*where, value):
    def change(header):
        for key in where[:-1]:
            header = header[key]
        header[where[-1]] = value

    return change


def nested(depth):
    kernel = {"type": "Gaussian", "bandwidth": 1.0}
    for _ in range(depth):
        kernel = {"type": "Scaled", "factor": 1.0, "kernel": kernel}
    return kernel


HEADERS = {
    "format": put("format", value="other"),
    "older version": put("version", value=4),
    "newer version": put("version", value=6),
    "version of text": put("version", value="5"),
    "no map": put("map", value=None),
    "no kernels": put("map", "kernels", value=[]),
    "an unknown kernel": put("map", "kernels", 0, value={"type": "Popen", "args": "ls"}),
    "a kernel that needs rows": put(
        "map", "kernels", 0, value={"type": "Polynomial", "degree": 2, "offset": 1.0}
    ),
    "a number for a kernel": put("map", "kernels", 0, value=3),
    "kernels in kernels": put("map", "kernels", 0, value=nested(200)),
    "a wrong bandwidth": put("map", "kernels", 0, value={"type": "Gaussian", "bandwidth": -1}),
    "frequencies": put("map", "frequencies", value=0),
    "key": put("map", "key", value=-1),
    "key of text": put("map", "key", value="1"),
    "order": put("map", "order", value=[0, 1, 2, 3, 3]),
    "order of text": put("map", "order", value="as they come"),
    "order of some": put("map", "order", value=[0, 1]),
    "waves": put("map", "waves", value=[[0, 10**9]]),
    "waves of text": put("map", "waves", value="all"),
    "bins": put("map", "bins", 0, value=[10**9, False]),
    "bins of other columns": put("map", "bins", value=[]),
    "bins of text": put("map", "bins", 0, value="many"),
    "cell_rows": put("cell_rows", value=6),
    "large cells": put("cell_rows", value=1 << 40),
    "no cells": put("counts", value=[]),
    "many cells": put("counts", value=[10**9]),
    "cells below zero": put("counts", value=[-1]),
    "many tiers": put("counts", value=[1] * 1000),
    "n_rows": put("n_rows", value=3),
    "n_rows of text": put("n_rows", value="many"),
    "n_pilot": put("n_pilot", value=-4),
    "made": put("made", value="\x1b[31m"),
    "parts": put("parts", value=[1]),
    "ignored": put("ignored", value="id"),
    "dtype": put("dtype", value="float64"),
    "no encoding": put("encoding", value=None),
    "encoding of text": put("encoding", value="as before"),
    "encoding of other columns": put("encoding", "columns", value=[]),
    "a scale of zero": put("encoding", "columns", 0, "scale", value=0.0),
    "arrays": put("arrays", value={}),
    "a type of objects": put("arrays", "edges", value=["|O", 3]),
    "a shape that is too large": put("arrays", "edges", value=["<f8", 1 << 39]),
    "a shape below zero": put("arrays", "edges", value=["<f8", -3]),
    "a shape of text": put("arrays", "edges", value=["<f8", "3"]),
}


@pytest.mark.parametrize("name", HEADERS)
def test_changed_headers_iv(saved, tmp_path, name):
    target = tmp_path / "changed.profile"
    changed(saved[1], target, HEADERS[name])
    with pytest.raises(FileError, match=r"changed\.profile"):
        nosplit.load(target)


def at(index, value):
    def change(array):
        array.flat[index] = value
        return array

    return change


ARRAYS = {
    "edges that are not finite": {"edges": at(0, np.nan)},
    "edges out of order": {"edges": lambda a: a[::-1].copy()},
    "too few edges": {"edges": lambda a: a[:-1]},
    "edges of whole numbers": {"edges": lambda a: a.view("<i8")},
    "a spread of zero": {"spread": at(0, 0.0)},
    "a center that is infinite": {"center": at(0, np.inf)},
    "other columns": {"center": lambda a: a[:-1]},
    "turns that are not finite": {"turns": at(0, np.inf)},
    "turns of other frequencies": {"turns": lambda a: a[:, :-1]},
    "weights below zero": {"weights": at(0, -1.0)},
    "phases of fractions": {"phases": lambda a: a.astype(float)},
    "sums that are too large": {"wave_sums": at(5, 2**30)},
    "coordinates that are too large": {"coordinate_sums": lambda a: at(0, 2**60)(a.astype("<i8"))},
    "pairs of other columns": {"pairs": at(0, 99)},
    "pairs of fractions": {"pairs": lambda a: a.astype(float)},
    "large scores": {"scores": at(0, 5.0)},
    "scores that are not finite": {"scores": at(0, np.nan)},
    "scores of other bins": {"scores": lambda a: a[:, :-1]},
    "pair sums that are too large": {"pair_sums": at(0, 2**30)},
    "sums of fractions": {"wave_sums": lambda a: a.astype(float)},
    "fewer cells": {"wave_sums": lambda a: a[:-1]},
    "other numbers": {"wave_sums": lambda a: a[:, :-1]},
    "counts that do not add up": {"bin_counts": at(0, 9)},
    "counts below zero": {"bin_counts": lambda a: at(0, -1)(a.astype("<i2"))},
}


@pytest.mark.parametrize("name", ARRAYS)
def test_changed_arrays_iv(saved, tmp_path, name):
    target = tmp_path / "changed.profile"
    changed(saved[1], target, arrays=ARRAYS[name])
    with pytest.raises(FileError, match=r"changed\.profile"):
        nosplit.load(target)


def test_a_copy_is_no_damage(saved, tmp_path):
    changed(saved[1], tmp_path / "same.profile")
    assert nosplit.load(tmp_path / "same.profile").recipe == saved[0].recipe


def test_other_files_iv(saved, tmp_path):
    data = saved[1].read_bytes()
    cases = {
        "empty": b"",
        "text": b"a,b\n1,2\n",
        "cut": data[: len(data) // 2],
        "head": data[:100],
        "flipped": data[:2000] + bytes([data[2000] ^ 255]) + data[2001:],
    }
    for name, content in cases.items():
        file = tmp_path / f"{name}.profile"
        file.write_bytes(content)
        with pytest.raises(FileError, match=name):
            nosplit.load(file)
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    for path in (tmp_path / "arrays.npz", tmp_path, tmp_path / "absent.profile"):
        with pytest.raises(FileError):
            nosplit.load(path)


def test_random_damage_iv(saved, tmp_path):
    """Wherever a byte is changed, the file is refused, or read to the same numbers."""
    data, rng = saved[1].read_bytes(), np.random.default_rng(0)
    file = tmp_path / "damaged.profile"
    for place in rng.integers(0, len(data), 200):
        broken = bytearray(data)
        broken[place] ^= int(rng.integers(1, 256))
        file.write_bytes(broken)
        try:
            read = nosplit.load(file)
        except FileError:
            continue
        assert np.array_equal(read.cells.features, saved[0].cells.features)


def test_more_or_fewer_parts_iv(saved, tmp_path):
    target = tmp_path / "more.profile"
    changed(saved[1], target, extra=b"1")
    with pytest.raises(FileError, match="other parts"):
        nosplit.load(target)


def test_a_file_that_unpacks_to_too_much_iv(saved, tmp_path):
    target = tmp_path / "large.profile"
    zeros = {"wave_sums": lambda _: np.zeros((100_000, 1000), "<i2")}
    changed(saved[1], target, arrays=zeros)
    with pytest.raises(FileError, match=r"too large|damaged"):
        nosplit.load(target)
