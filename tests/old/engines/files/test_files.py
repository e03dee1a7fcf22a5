"""Files: what is read is what is in them, whole or in batches, and nothing else ever comes out."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nosplit
from nosplit import Exact, InputError
from nosplit._old.data.files import csv, whole
from nosplit._old.data.files.opening import open_source
from nosplit._old.engines.files import side
from nosplit.kernels import Gaussian, Laplace, Linear

FEW = {"calibration": Exact(n_resamples=99), "pairs": "sketch"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def streamed(monkeypatch):
    """Every file is too large to be read whole, and batches are small."""
    monkeypatch.setattr(whole, "SMALL", 0)
    monkeypatch.setattr(side, "BATCH", 3000)


def table(values, names="abcdefgh"):
    return pa.table(dict(zip(names, values.T, strict=False)))


def write(path, values, group=100, **options):
    pq.write_table(
        values if isinstance(values, pa.Table) else table(values),
        path,
        row_group_size=group,
        **options,
    )
    return path


def normal(n, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def test_formats_hold_the_same_rows(tmp_path):
    values = normal(50)
    np.save("a.npy", values)
    np.savez("a.npz", first=values, second=values[:5])
    np.savetxt("a.csv", values, delimiter=",")
    for path in ("a.npy", "a.npz:first", "a.csv"):
        np.testing.assert_array_equal(open_source(path).whole(), values)
    write("a.parquet", values, group=7)
    np.savetxt("named.csv", values, delimiter=",", header="a,b,c", comments="")
    folder = Path("folder")
    folder.mkdir()
    write(folder / "2.parquet", values[20:])
    write(folder / "1.parquet", values[:20])
    write(folder / "_notes.parquet", values[:1])
    for path in ("a.parquet", "named.csv", "folder", "folder/[0-9].parquet", Path("a.parquet")):
        source = open_source(path)
        assert source.names == ("a", "b", "c")
        assert source.whole().equals(table(values)), path


def test_text_and_missing_values_in_csv():
    Path("x.csv").write_text("age,city,member\n31,Rome,true\n,Oslo,false\n57,NA,true\n")
    rows = open_source("x.csv").whole()
    assert rows.to_pydict() == {
        "age": [31, None, 57],
        "city": ["Rome", "Oslo", None],
        "member": [True, False, True],
    }
    with pytest.raises(InputError, match="missing"):
        nosplit.two_sample_test("x.csv", "x.csv", nan_policy="raise")


def sources():
    values = np.arange(3000.0).reshape(-1, 2)
    np.save("a.npy", values)
    np.save("ints.npy", values.astype(np.int32))
    np.save("turned.npy", np.asfortranarray(values))
    np.savetxt("a.csv", values, delimiter=",", header="a,b", comments="")
    write("a.parquet", values, group=70)
    write("one.parquet", values, group=5000)
    for i, part in enumerate(np.array_split(values, 7)):
        Path("folder").mkdir(exist_ok=True)
        write(f"folder/{i}.parquet", part, group=50 + 10 * i)
    names = ("a.npy", "ints.npy", "turned.npy", "a.csv", "a.parquet", "one.parquet", "folder")
    return values, [open_source(name) for name in names]


def as_rows(batch):
    if isinstance(batch, np.ndarray):
        return batch
    return np.stack([column.to_numpy() for column in batch.columns], axis=1)


def test_batches_hold_all_rows_once():
    values, found = sources()
    for source in found:
        in_order = np.concatenate([as_rows(b) for b in source.batches(128)])
        np.testing.assert_array_equal(in_order, values)
        for seed in (0, 1):
            batches = list(source.batches(128, None, np.random.default_rng(seed)))
            rows = np.concatenate([as_rows(b) for b in batches])
            np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], values)


def test_mixed_batches_are_like_the_file():
    """Of sorted rows, every batch has some from every tenth of the file."""
    _, found = sources()
    for source in found:
        if source.path in ("a.csv", "one.parquet"):
            continue
        for batch in list(source.batches(300, None, np.random.default_rng(0)))[:-1]:
            tenths = np.bincount((as_rows(batch)[:, 0] // 300).astype(int), minlength=10)
            assert tenths.min() >= 0.5 * len(batch) / 10, source.path


def test_only_the_wanted_columns_are_read():
    write("a.parquet", normal(100))
    for rng in (None, np.random.default_rng(0)):
        batch = next(open_source("a.parquet").batches(50, ["c", "a"], rng))
        assert batch.column_names == ["c", "a"]


# -- bad input -------------------------------------------------------------------------------------


def error(*paths, **options):
    with pytest.raises(InputError) as caught:
        nosplit.two_sample_test(*(paths if len(paths) == 2 else paths * 2), **options)
    return str(caught.value)


def test_damaged_files_iv():
    """Cut anywhere, or with any byte changed: an error that names the file, or its rows."""
    values = normal(30)
    np.save("a.npy", values)
    np.savez("a.npz", values)
    write("a.parquet", values, group=10)
    rng = np.random.default_rng(0)
    for suffix in ("npy", "npz", "parquet"):
        whole = Path(f"a.{suffix}").read_bytes()
        bad = Path(f"bad.{suffix}")
        for length in (0, 1, 10, len(whole) // 2, len(whole) - 1):
            bad.write_bytes(whole[:length])
            assert f"`bad.{suffix}` is not a readable .{suffix} file: " in error(str(bad))
        for place in (
            *range(4),
            *range(len(whole) - 40, len(whole)),
            *rng.integers(len(whole), size=60),
        ):
            changed = bytearray(whole)
            changed[place] ^= int(rng.integers(1, 256))
            bad.write_bytes(changed)
            with contextlib.suppress(InputError):
                assert len(open_source(bad).whole()) >= 1


def test_damage_in_the_middle_iv(streamed):
    """What is damaged after the first batch is found in the pass, and the threads end."""
    write("x.parquet", normal(3000), group=100, compression="snappy", use_dictionary=False)
    write("y.parquet", normal(3000, seed=1), group=100)
    whole = bytearray(Path("x.parquet").read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 20_000] = b"\xff" * 20_000  # pages have no checksums: hit a header
    Path("x.parquet").write_bytes(whole)
    before = threading.active_count()
    for workers in (1, 2):
        assert "`x.parquet` is not a readable" in error("x.parquet", "y.parquet", workers=workers)
    assert threading.active_count() == before


def test_files_that_may_not_be_read_iv(monkeypatch):
    write("a.parquet", normal(10))
    np.save("a.npy", normal(10))
    np.savetxt("a.csv", normal(10), delimiter=",")

    def denied(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(pq, "read_metadata", denied)
    for path in ("a.parquet", "a.npy", "a.csv"):
        assert error(path) == f"`{path}` cannot be read: Permission denied."


def test_no_files_iv():
    Path("folder").mkdir()
    Path("folder/notes.txt").write_text("hello")
    assert (
        error("nowhere.parquet") == "`nowhere.parquet` cannot be read: No such file or directory."
    )
    endings = ".npy, .npz, .csv, .tsv, .csv.gz, .jsonl, .feather, .parquet"
    assert error("nowhere") == f"`nowhere` must end in {endings}, got no ending."
    assert error("folder") == "`folder` is a folder without .parquet files."
    assert error("*.parquet") == "`*.parquet` matches no file."
    assert "must match .parquet files only, got 'notes.txt'" in error("folder/*")
    assert "rename it" in error("a.pq")
    assert "rename it" in error("a.parque")
    assert "text with commas, semicolons or tabs" in error("a.txt")
    Path("folder/day=1").mkdir()
    write("folder/day=1/a.parquet", normal(10))
    assert "values in the names of its folders ('day=1')" in error("folder")
    assert nosplit.two_sample_test(*["folder/**/*.parquet"] * 2, kernels="paper1").how.n_used == 20


def test_empty_files_iv():
    write("a.parquet", table(np.empty((0, 2))))
    assert error("a.parquet") == "`a.parquet` has columns, but no rows."
    write("a.parquet", table(np.ones((1, 2))))
    assert "must have at least 2 rows" in error("a.parquet")
    write("b.parquet", pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2, names=["a", "a"]))
    assert error("b.parquet") == "`b.parquet` must have different column names, got 'a' twice."
    write("a.parquet", pa.table({}))
    assert error("a.parquet") == "`a.parquet` must have at least one column, got none."
    np.save("a.npy", np.empty((0, 3)))
    assert error("a.npy") == "`a.npy` must have at least 2 rows, got 0."
    for path in ("a.csv", "a.parquet", "a.npy", "a.npz"):
        Path(path).write_bytes(b"")
        assert f"`{path}` is " in error(path)


def test_different_schemas_iv():
    Path("folder").mkdir()
    write("folder/1.parquet", normal(20))
    write("folder/2.parquet", table(normal(20), "abx"))
    text = "`folder/2.parquet` must have the columns of `folder/1.parquet`, but lacks 'c' and has"
    assert text in error("folder")
    write("folder/2.parquet", table(normal(20).astype(np.float32)))
    assert "column 'a' holds float instead of double" in error("folder")
    write("x.parquet", normal(20))
    write("y.parquet", table(normal(20), "abx"))
    assert "'x'" in error("x.parquet", "y.parquet")
    write("y.parquet", pa.table({name: ["one", "two"] for name in "abc"}))
    assert "'a'" in error("x.parquet", "y.parquet")
    np.save("y.npy", normal(20, 2))
    assert "same number of columns, got 3 and 2" in error("x.parquet", "y.npy")
    write("y.parquet", pa.table({"a": ["one", "two"]}))
    assert "must hold numbers here, got text in column 'a'" in error("y.npy", "y.parquet")


def test_mixed_types_in_a_column_iv(streamed):
    rows = "".join(f"{i},{'late' if i == 90_000 else i}\n" for i in range(100_000))
    Path("x.csv").write_text("a,b\n" + rows)
    assert "got 'late' in line 90002, column 2." in error("x.csv")
    Path("x.csv").write_text("a,b\n1,2\n3,x\n4,5\n")
    text = "`x.csv` must hold either numbers or text in a column, got 'x' in line 3, column 2."
    assert error("x.csv") == text


def test_columns_without_values_iv(streamed):
    rows = pa.table({"a": normal(1200, 1)[:, 0], "b": pa.array([None] * 1200, pa.float64())})
    write("x.parquet", rows)
    assert "'b'" in error("x.parquet", nan_policy="raise")
    write("y.parquet", rows.slice(0, 1150))
    found = nosplit.two_sample_test("x.parquet", "y.parquet", exclude=["b"], **FEW)
    assert found.columns.names == ("a",)


@pytest.mark.parametrize("place", [5, 1700, 2999])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kernels", [None, [Gaussian(1.0)], [Linear()], "products"])
def test_infinite_values_in_one_pass_iv(streamed, place, value, kernels):
    """A bounded kernel would hide an infinite distance: it must not."""
    values = normal(3000, 2, seed=1)
    values[place, 1] = value
    write("x.parquet", normal(3000, 2))
    write("y.parquet", values)
    np.save("x.npy", normal(3000, 2))
    np.save("y.npy", values)
    if kernels == "products":
        kernels = [Gaussian(1.0) * Laplace(1.0)]
    text = error("x.parquet", "y.parquet", kernels=kernels, nan_policy="raise")
    assert "'b'" in text
    assert "y" in text
    assert "finite" in error("x.npy", "y.npy", kernels=kernels)


def test_rows_of_text_are_counted(monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 7)
    for text, rows in (
        ("a,b\n1,2\n3,4\n", 2),
        ("a,b\n1,2\n3,4", 2),
        ("\n\na,b\r\n\r\n1,2\r\n\n\n3,4\r\n\r\n", 2),
        ("1,2\n3,4\n\n5,6\n\n", 3),
    ):
        Path("x.csv").write_bytes(text.encode())
        assert open_source("x.csv").n_lines == rows
