"""Without pyarrow, tables and text files are read by NumPy and the standard library."""

from __future__ import annotations

import datetime as dt
import decimal
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nosplit
from nosplit._old.data.files import csv
from nosplit._old.data.files.opening import open_source
from nosplit.data.frames import as_frame

N = 6
DAYS = [dt.date(2024, 1, day + 1) for day in range(N)]
HOURS = [dt.datetime(2024, 1, 1, hour, 30) for hour in range(N)]
COLUMNS = {
    "whole": list(range(N)),
    "numbers": [1.5, None, 2.0, 3.0, -4.0, 5.0],
    "text": ["a", None, "b", "ü", "b", "a"],
    "truth": [True, None, False] * 2,
    "days": [*DAYS[:-1], None],
    "hours": [*HOURS[:-1], None],
    "clocks": [dt.time(hour, 5, 1, 7) for hour in range(N)],
    "lengths": [dt.timedelta(hours=hour) for hour in range(N)],
    "decimals": [decimal.Decimal(i) / 8 for i in range(N)],
    "nothing": [None] * N,
}


def pandas_frame():
    frame = pd.DataFrame({name: pd.Series(values) for name, values in COLUMNS.items()})
    return frame.assign(
        nullable=pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        flags=pd.array([True, None] * 3, dtype="boolean"),
        words=pd.Categorical(COLUMNS["text"]),
        levels=pd.Categorical([1, None, 2, 1, 3, 1]),
        zoned=pd.date_range("2024-01-01", periods=N, tz="Europe/Rome"),
        objects=pd.Series([1, 2.5, 3, 4, 5, 6], dtype=object),
    )


def polars_frame():
    hours = pl.col("hours")
    return pl.DataFrame(COLUMNS).with_columns(
        pl.col("text").cast(pl.Categorical).alias("words"),
        pl.col("text").cast(pl.Enum(["a", "b", "ü"])).alias("levels"),
        hours.dt.replace_time_zone("Europe/Rome").alias("zoned"),
    )


TEXTS = {
    "all kinds": "n,s,b,d,t,k,m\n1,x,true,2024-01-01,2024-01-01 10:00:00,10:30,\n"
    ',"y,1",False,,2024-01-02T11:30,12:00:01,NA\n3.5,NA,,2024-02-01,,23:59,\n',
    "no names": "1,5;2\n-3,25;\n5;6\n",
    "text without names": "1,x\n2,y\n",
    "an index": ",v,w\n0,1,a\n1,2,b\n2,3,a\n",
    "an index, read and saved again": "Unnamed: 0;v\n0;1,5\n1;2,5\n",
    "lines in cells": 'a,b\n"x\ny",1\n\n"z",2\n',
}


@pytest.fixture
def without_arrow(monkeypatch):
    return lambda: monkeypatch.setitem(sys.modules, "pyarrow", None)


def read(table):
    frame = as_frame(table, "x")
    return frame, [frame.read(i) for i in range(len(frame.names))]


def assert_same_columns(found, expected):
    assert found[0].names == expected[0].names
    assert found[0].index == expected[0].index
    for name, a, b in zip(found[0].names, found[1], expected[1], strict=True):
        assert a.kind == b.kind, name
        np.testing.assert_array_equal(a.values, b.values, name)


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_frames_against_arrow(make, without_arrow):
    expected = read(make())
    without_arrow()
    assert_same_columns(read(make()), expected)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_csv_against_arrow(text, without_arrow, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(text)
    expected, rows = read(open_source(file).whole()), open_source(file).n_rows
    without_arrow()
    source = open_source(file)
    assert_same_columns(read(source.whole()), expected)
    assert source.n_rows == rows == source.whole().__len__()


def test_csv_with_a_time_zone(without_arrow, tmp_path):
    (tmp_path / "table.csv").write_text("t\n2024-01-01T10:00:00+02:00\n2024-01-01T08:00:00Z\n")
    without_arrow()
    _, (column,) = read(open_source(tmp_path / "table.csv").whole())
    assert column.values[0] == column.values[1]


def test_result_against_arrow(without_arrow):
    files = nosplit.datasets.flights()
    expected = nosplit.two_sample_test(*files, kernels="paper2", pairs="linear")
    without_arrow()
    found = nosplit.two_sample_test(*files, kernels="paper2", pairs="linear")
    assert str(found) == str(expected)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", 1], "values of one type, got int, str"),
        ([b"a", b"b"], "must hold numbers, dates, booleans or text, got bytes"),
        ([[1], [2]], "must hold numbers, dates, booleans or text, got list"),
    ],
)
def test_values_of_other_types_iv(values, message, without_arrow):
    without_arrow()
    with pytest.raises(nosplit.InputError, match=message):
        read(pd.DataFrame({"v": pd.Series(values, dtype=object)}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2,3\n3,4,5\n", "got 2 names and 3 columns"),
        ("a;b\n1;2\n3\n", "must have 2 cells in every line, got 1 in line 3"),
        ("a,b\n1,2\n1,x\n", "either numbers or text in a column, got 'x' in line 3, column 2"),
    ],
)
def test_faulty_csv_iv(text, message, without_arrow, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    without_arrow()
    with pytest.raises(nosplit.InputError, match=message):
        open_source(tmp_path / "table.csv").whole()


def test_large_csv_names_the_extra_iv(without_arrow, tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("a\n1\n2\n" * 100)
    monkeypatch.setattr(csv, "MAX_PLAIN_MEGABYTES", 1e-4)
    without_arrow()
    with pytest.raises(nosplit.InputError, match=r"MB.*pip install 'nosplit\[tables\]'"):
        open_source(tmp_path / "table.csv").whole()
