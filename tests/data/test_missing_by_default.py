"""What is missing in tables is compared by default, wherever they lie; in arrays it is an error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import InputError, independence_test, two_sample_test

NOTE = 'missing values are compared as a value of their own (nan_policy="indicate")'


def _table(seed, n=120, gaps=0.1, shift=0.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(shift, 1, n), "b": rng.choice(["u", "v"], n)})
    frame["c"] = rng.normal(size=n)
    frame.loc[rng.random(n) < gaps, "a"] = np.nan
    return frame


def test_tables_are_as_with_indicate():
    x, y = _table(0), _table(1, gaps=0.4)
    default, asked = two_sample_test(x, y), two_sample_test(x, y, nan_policy="indicate")
    assert default.to_dict() == asked.to_dict()
    assert default.notes == (NOTE,)
    assert NOTE in " ".join(str(default).split())
    assert default.columns.differing() == ("a",)


def test_tables_without_gaps_are_as_with_raise():
    x, y = _table(0, gaps=0.0), _table(1, gaps=0.0)
    default, asked = two_sample_test(x, y), two_sample_test(x, y, nan_policy="raise")
    assert default.to_dict() == asked.to_dict()
    assert default.how.encoding.nan_policy == "raise"
    assert not default.notes


def test_generators_go_on_as_if_nothing_had_been_tried():
    x, y = _table(0), _table(1)
    default = two_sample_test(x, y, rng=np.random.default_rng(5))
    asked = two_sample_test(x, y, rng=np.random.default_rng(5), nan_policy="indicate")
    assert default.pvalue == asked.pvalue


def test_files_small_and_large(tmp_path, monkeypatch):
    x, y = _table(0, 3000), _table(1, 3000, gaps=0.2)
    for name, table in (("x", x), ("y", y)):
        table.to_parquet(tmp_path / f"{name}.parquet")
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    files = tmp_path / "x.parquet", tmp_path / "y.parquet"
    whole = two_sample_test(*files)
    assert whole.notes[-1] == NOTE
    assert two_sample_test(tmp_path / "x.csv", tmp_path / "y.csv").pvalue == whole.pvalue
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 100)
    large = two_sample_test(*files)
    assert large.notes == two_sample_test(*files, nan_policy="indicate").notes == whole.notes
    assert large.pvalue == two_sample_test(*files, nan_policy="indicate").pvalue
    assert large.how.encoding.columns[0].indicated


def test_variables_profiles_and_checks():
    x = _table(2, 500)
    res = independence_test(x[["a"]], x[["b"]])
    assert res.notes[0] == NOTE
    made = nosplit.profile(_table(3, 3000), rows=500, frequencies=8)
    assert made.encoding.nan_policy == "indicate"
    assert two_sample_test(made, _table(4, 500)).pvalue > 0.001
    complete = nosplit.profile(_table(3, 3000, gaps=0.0), rows=500, frequencies=8)
    with pytest.raises(InputError, match="Values are missing"):
        two_sample_test(complete, _table(4, 500))
    nosplit.testing.assert_same_distribution(x, x.copy())


def test_arrays_raise():
    x = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0], [6.0, 7.0]])
    with pytest.raises(InputError):
        two_sample_test(x, x)
    with pytest.raises(InputError, match="Values are missing"):
        two_sample_test(x, x, columns=[0])
    with pytest.raises(InputError, match="`nan_policy` must be one of 'auto', 'raise'"):
        two_sample_test(x, x, nan_policy="drop")


def test_what_has_nothing_to_compare_is_named():
    x, y = _table(0), _table(1)
    x["year"] = y["year"] = 2013
    assert "nothing to compare in 'year'" in str(two_sample_test(x, y).how.encoding)


def test_ids_are_named():
    x, y = _table(0, gaps=0.0), _table(1, gaps=0.0)
    x["id"], y["id"] = np.arange(120), np.arange(1000, 1120)[::-1]
    x["count"], y["count"] = np.arange(120) // 2, np.arange(120)
    res = two_sample_test(x, y)
    assert "'id' looks like an identifier: exclude=['id'] leaves it out" in res.notes
    assert "id separates the samples completely" in str(res)
    assert not two_sample_test(x, y, exclude=["id", "count"]).notes
