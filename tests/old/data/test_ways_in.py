"""Files as people have them: encodings, separators, lines of JSON, Feather."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from nosplit import Csv, InputError, two_sample_test
from nosplit._old.data.files.opening import open_source

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {"Größe": RNG.normal(170, 9, 60).round(2), "Ort": RNG.choice(["Zürich", "Genève"], 60)}
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _same(rows, table=TABLE):
    assert rows.column_names == list(table.columns)
    pd.testing.assert_frame_equal(rows.to_pandas(), table, check_dtype=False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_encodings_and_separators_are_found(encoding, separator):
    decimal = "." if separator == "," else ","
    TABLE.to_csv("a.csv", sep=separator, decimal=decimal, encoding=encoding, index=False)
    source = open_source("a.csv")
    _same(source.whole())
    assert source.n_rows == len(TABLE)
    _same(next(source.batches(1000)))
    with gzip.open("a.csv.gz", "wb") as file, open("a.csv", "rb") as plain:  # noqa: PTH123
        file.write(plain.read())
    _same(open_source("a.csv.gz").whole())


def test_encodings_and_separators_may_be_said():
    TABLE.to_csv("a.dat", sep="/", decimal=",", encoding="mac-roman", index=False)
    named = Csv("a.dat", separator="/", decimal=",", encoding="mac-roman")
    _same(open_source(named).whole())
    assert str(named) == "a.dat"
    assert two_sample_test(named, named).pvalue > 0.05
    TABLE.to_csv("b.csv", index=False)
    with pytest.raises(InputError, match=r"`a.dat` must end in .*\.jsonl, \.feather"):
        open_source("a.dat")


@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_json(packed):
    name = "a.jsonl.gz" if packed else "a.ndjson"
    TABLE.to_json(name, orient="records", lines=True, force_ascii=False)
    source = open_source(name)
    _same(source.whole())
    assert (source.n_rows, source.width, source.names) == (60, 2, ("Größe", "Ort"))
    _same(next(source.batches(1000)))
    assert [len(batch) for batch in source.batches(25, ["Ort"])] == [25, 25, 10]


def test_lines_of_json_that_are_none(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        open_source("empty.jsonl")
    (tmp_path / "broken.jsonl").write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(InputError, match=r"is not a readable \.jsonl file"):
        open_source("broken.jsonl")
    (tmp_path / "nested.jsonl").write_text('{"a": [1, 2]}\n' * 5)
    with pytest.raises(InputError, match="must hold numbers, dates, booleans or text"):
        two_sample_test("nested.jsonl", "nested.jsonl")
    (tmp_path / "later.jsonl").write_text(json.dumps({"a": 1}) + '\n{"b": 2.5}\n{"a": 0.5}\n')
    assert open_source("later.jsonl").whole().column_names == ["a", "b"]


def test_feather():
    TABLE[TABLE["Größe"] > 165].to_feather("a.feather")  # with an index, which is left out
    source = open_source("a.feather")
    some = TABLE[TABLE["Größe"] > 165].reset_index(drop=True)
    _same(source.whole(), some)
    assert (source.n_rows, source.names) == (len(some), ("Größe", "Ort"))
    assert sum(len(batch) for batch in source.batches(7, ["Ort"])) == len(some)
    with pytest.raises(InputError, match=r"is not a readable \.feather file"):
        open_source(_text("b.feather", "no table"))


def _text(name, text):
    with open(name, "w") as file:  # noqa: PTH123
        file.write(text)
    return name


def test_the_same_verdict_from_every_kind_of_file(monkeypatch):
    other = TABLE.assign(Größe=TABLE["Größe"] + 4.0).sample(frac=1.0, random_state=0)
    for name, table in (("a", TABLE), ("b", other)):
        table.to_csv(f"{name}.csv", sep=";", decimal=",", encoding="latin-1", index=False)
        table.to_json(f"{name}.jsonl", orient="records", lines=True)
        table.reset_index(drop=True).to_feather(f"{name}.feather")
        table.to_parquet(f"{name}.parquet", index=False)
    found = {
        two_sample_test(f"a.{kind}", f"b.{kind}").pvalue
        for kind in ("csv", "jsonl", "feather", "parquet")
    }
    assert len(found) == 1
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 10)
    large = {
        two_sample_test(f"a.{kind}", f"b.{kind}", pairs="sketch").pvalue
        for kind in ("csv", "jsonl", "feather", "parquet")
    }
    assert len(large) == 1


def test_csv_iv():
    with pytest.raises(InputError, match="`separator` must be one character"):
        Csv("a", separator="ab")
    with pytest.raises(InputError, match="`decimal` must be"):
        Csv("a", decimal=";")
    with pytest.raises(InputError, match="must differ"):
        Csv("a", separator=",", decimal=",")
    with pytest.raises(InputError, match="`encoding` must be one that Python knows"):
        Csv("a", encoding="latin1-x")
    with pytest.raises(InputError, match="`encoding` must be one that Python knows"):
        Csv("a", encoding="base64")


def test_numbers_with_spaces_between():
    np.savetxt("a.csv", RNG.normal(size=(40, 3)))
    assert open_source("a.csv").whole().shape == (40, 3)
    _text("b.csv", "New York\nSan Francisco\nNew York\n")
    assert open_source("b.csv").width == 1
