"""A column that pandas noted as an index numbers rows: it is no part of what is compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from nosplit import Exact, two_sample_test
from nosplit._old.data.files import whole
from nosplit._old.data.files.opening import open_source
from nosplit.errors import InputError

FAST = {"calibration": Exact(99)}
NOTE = "The index of a pandas frame was left out: '__index_level_0__'."


@pytest.fixture
def halves(tmp_path):
    """Two parts of one table, whose rows keep their numbers, in memory and in files."""
    frame = pd.DataFrame({"v": np.random.default_rng(0).normal(size=200)})
    late = np.argsort(np.arange(200) % 97) >= 100  # in steps: a range would need no column
    parts = frame[~late], frame[late]
    files = [tmp_path / f"{name}.parquet" for name in "ab"]
    for part, file in zip(parts, files, strict=True):
        part.to_parquet(file)
    return parts, files


def test_index_of_a_file_is_not_compared(halves):
    parts, files = halves
    res = two_sample_test(*files, **FAST)
    expected = two_sample_test(*parts, **FAST)
    assert res.columns.names == ("v",)
    assert res.pvalue == expected.pvalue
    assert res.notes == (NOTE,)
    assert expected.notes == ()


def test_index_of_a_file_is_mentioned(tmp_path):
    frame = pd.DataFrame({"v": np.arange(20.0)}, index=np.arange(20) ** 2)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.reset_index(drop=True).to_parquet(tmp_path / "b.parquet", index=False)
    res = two_sample_test(tmp_path / "a.parquet", tmp_path / "b.parquet", **FAST)
    assert res.notes == (NOTE,)
    assert NOTE in res.summary()
    assert res.to_dict()["notes"] == [NOTE]


@pytest.mark.parametrize("small", [0, whole.SMALL])
def test_index_of_a_csv_file(halves, tmp_path, monkeypatch, small):
    """pandas writes an index by default; it is recognised if it counts 0, 1, 2, …"""
    (x, y), _ = halves
    frames = [part.reset_index(drop=True) for part in (x, y)]
    for i, frame in enumerate(frames):
        frame.to_csv(tmp_path / f"{i}.csv")
        pd.read_csv(tmp_path / f"{i}.csv").to_csv(tmp_path / f"{i} again.csv", index=False)
        frame.to_csv(tmp_path / f"{i} without.csv", index=False)
    monkeypatch.setattr(whole, "SMALL", small)
    found, again, expected = (
        two_sample_test(*(tmp_path / f"{i}{kind}.csv" for i in range(2)), **FAST)
        for kind in ("", " again", " without")
    )
    assert found.columns.names == again.columns.names == ("v",)
    assert found.pvalue == again.pvalue == expected.pvalue
    assert (
        found.notes == again.notes == ("The index of a pandas frame was left out: 'Unnamed: 0'.",)
    )


@pytest.mark.parametrize("small", [0, whole.SMALL])
def test_any_column_of_a_csv_file_without_a_name_is_left_out(halves, tmp_path, monkeypatch, small):
    """The index of a part of a table does not count 0, 1, 2, …, and may hold text."""
    parts, _ = halves
    files = [tmp_path / f"{i}.csv" for i in range(2)]
    parts[0].to_csv(files[0])
    parts[1].set_index(pd.Index([f"row {i}" for i in range(len(parts[1]))])).to_csv(files[1])
    monkeypatch.setattr(whole, "SMALL", small)
    res = two_sample_test(*files, **FAST)
    assert res.columns.names == ("v",)
    assert res.notes == ("The index of a pandas frame was left out: 'Unnamed: 0'.",)


def test_other_first_columns_of_a_csv_file_stay(tmp_path):
    (tmp_path / "a.csv").write_text("Unnamed: 0,v\n0,1\n2,3\n3,5\n")
    assert open_source(tmp_path / "a.csv").names == ("Unnamed: 0", "v")


def test_index_with_a_name_and_of_several_levels(tmp_path):
    frame = pd.DataFrame({"day": range(9), "hour": range(9), "v": np.arange(9.0)})
    frame.set_index(["day", "hour"]).to_parquet(tmp_path / "a.parquet")
    assert open_source(tmp_path / "a.parquet").names == ("v",)
    frame.set_index(["day", "hour", "v"]).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="must have a column besides its index of pandas"):
        open_source(tmp_path / "b.parquet")


def test_index_in_one_file_of_a_folder_and_in_one_pass(halves, tmp_path, monkeypatch):
    frame = pd.DataFrame({"v": np.random.default_rng(1).normal(size=600)})
    folder = tmp_path / "folder"
    folder.mkdir()
    frame.sample(300, random_state=0).to_parquet(folder / "a.parquet")
    frame[300:].to_parquet(folder / "b.parquet", index=False)
    monkeypatch.setattr(whole, "SMALL", 0)
    res = two_sample_test(folder, folder / "a.parquet", **FAST)
    assert res.columns.names == ("v",)
    assert res.notes == (NOTE,)


def test_index_in_tables_of_arrow_and_polars(halves):
    _, files = halves
    arrow = [pq.read_table(file) for file in files]
    polars = [pl.read_parquet(file) for file in files]
    for pair in (arrow, polars):
        res = two_sample_test(*pair, **FAST)
        assert res.columns.names == ("v",)
        assert len(res.notes) == 1
    index = arrow[0].column_names[1]
    assert two_sample_test(*arrow, exclude=index, **FAST).columns.names == ("v",)


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")  # the same rows, in a cycle
def test_names_are_the_same_in_csv_and_parquet(tmp_path):
    frame = pd.DataFrame({" Price (€) ": np.arange(30.0), "n": np.arange(30.0) % 7})
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False)
    res = two_sample_test(tmp_path / "a.parquet", tmp_path / "b.csv", **FAST)
    assert res.columns.names == ("Price (€)", "n")
    res = two_sample_test(frame, pd.read_csv(tmp_path / "b.csv"), columns="Price (€)", **FAST)
    assert res.columns.names == ("Price (€)",)
