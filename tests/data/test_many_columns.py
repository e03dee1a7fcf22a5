"""Files of very many columns are read in a time that grows with them, or refused."""

from __future__ import annotations

import pytest

from nosplit._checks import repeated
from nosplit._old.data.files.opening import open_source
from nosplit.errors import InputError


def test_many_columns_iv(tmp_path):
    file = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(100_001)]
    file.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    with pytest.raises(InputError, match="must have at most 100,000 columns, got 100,001"):
        open_source(file)


def test_names_that_are_there_twice():
    many = [f"c{i}" for i in range(20_000)]  # seconds, if every name were compared with every other
    assert repeated([*many, "c7", "c3", "c7"]) == ["c3", "c7"]
    assert repeated(many) == []
