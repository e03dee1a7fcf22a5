"""Text files as programs of all countries write them."""

from __future__ import annotations

import gzip
import os
import pickle

import numpy as np
import pytest

from nosplit import two_sample_test
from nosplit._old.data.files import whole
from nosplit._old.data.files.npy import open_npy
from nosplit._old.data.files.opening import open_source
from nosplit._old.engines.streams.saved.loading import load_accumulator
from nosplit.errors import FileError, InputError

ROWS = [["name", "size", "when"], ["a b", "1.5", "3"], ["c,d", "-2.25", "4"], ["e;f", "10", "5"]]


def written(separator, decimal="."):
    cells = [
        [c if i == 0 or j == 0 else c.replace(".", decimal) for j, c in enumerate(r)]
        for i, r in enumerate(ROWS)
    ]
    quoted = [
        [f'"{c}"' if j == 0 and i else c for j, c in enumerate(r)] for i, r in enumerate(cells)
    ]
    return "".join(separator.join(row) + "\r\n" for row in quoted)


@pytest.mark.parametrize(
    ("separator", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", "."), ("|", ",")]
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_separators_and_decimals(tmp_path, separator, decimal, ending):
    file = tmp_path / f"table.{ending}"
    data = written(separator, decimal).encode()
    file.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    source = open_source(file)
    table = source.whole()
    assert source.names == ("name", "size", "when")
    assert source.n_lines == 3
    assert table.column("size").to_pylist() == [1.5, -2.25, 10.0]
    assert table.column("name").to_pylist() == ["a b", "c,d", "e;f"]
    assert table.column("when").to_pylist() == [3, 4, 5]


def test_packed_text_in_one_pass(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for name in "ab":
        lines = "".join(
            f"{u:.6f};{v:.6f}\n".replace(".", ",") for u, v in rng.normal(size=(500, 2))
        )
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(f"u;v\n{lines}".encode()))
    monkeypatch.setattr(whole, "SMALL", 0)
    res = two_sample_test(tmp_path / "a.csv.gz", tmp_path / "b.csv.gz", kernels="paper2")
    assert res.how.encoding.names == ("u", "v")
    assert res.how.n_used == 1000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
@pytest.mark.parametrize("ending", ["csv", "npy", "npz", "parquet", "csv.gz"])
def test_pipes_are_not_waited_for_iv(tmp_path, ending):
    os.mkfifo(tmp_path / f"fifo.{ending}")
    with pytest.raises(InputError, match="must be a file, got a device or a pipe"):
        open_source(tmp_path / f"fifo.{ending}")
    with pytest.raises(InputError, match=r"got a device or a pipe|match \.parquet"):
        open_source(tmp_path / "*")


def test_arrays_that_are_cut_short_iv(tmp_path):
    file = tmp_path / "x.npy"
    x = np.arange(40_000.0).reshape(-1, 2)
    np.save(file, x)
    source = open_npy(str(file), file)
    batches = source.batches(1000)
    np.testing.assert_array_equal(next(batches), x[:1000])
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(next(source.batches(1000, None, rng))[0], x[0])
    with file.open("r+b") as stream:
        stream.truncate(20_000)
    with pytest.raises(InputError, match="was cut short while it was read"):
        list(batches)
    np.save(file, np.asfortranarray(x))
    np.testing.assert_array_equal(open_npy(str(file), file).whole(), x)


def test_archives_of_other_things_iv(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.raises(InputError, match="must hold an array, got something else"):
        open_source(tmp_path / "x.npz")


def test_errors_of_files_are_errors_of_the_system_iv(tmp_path):
    (tmp_path / "damaged.npy").write_bytes(b"no array")
    for name, message in (("none.csv", "No such file"), ("damaged.npy", "is not a readable")):
        with pytest.raises(OSError, match=message) as caught:
            two_sample_test(tmp_path / name, tmp_path / name)
        assert isinstance(caught.value, FileError)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again)) == (FileError, str(caught.value))
    with pytest.raises(OSError, match="must be a file, got a folder"):
        load_accumulator(tmp_path)
