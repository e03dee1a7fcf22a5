"""Columns that are hard to show: nullable ones, very large integers, names with escapes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from nosplit import explain, two_sample_test
from nosplit._old.describe.report.samples import as_samples

QUICK = {"kernels": "paper2", "calibration": "exact"}


def test_nullable_columns_are_explained_and_reported(tmp_path):
    def frame(seed):
        values = np.random.default_rng(seed).integers(0, 9, size=60)
        column = pd.array(values, dtype="Int64")
        column[::4] = pd.NA
        return pd.DataFrame({"v": column, "w": pd.array(values / 2, dtype="Float64")})

    x, y = frame(0), frame(1)
    res = two_sample_test(x, y, nan_policy="indicate", **QUICK)
    told = explain(res, x, y)
    assert np.isnan(told.x.values[0]).sum() == 15
    res.report(x, y, path=tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_very_large_integers_are_shown():
    table = pa.table({"v": pa.array([2**63 + 1, 2**53 + 1, 5], type=pa.uint64())})
    sample, _ = as_samples(table, table, None)
    np.testing.assert_allclose(sample.get(0), [2.0**63, 2.0**53, 5.0])


def test_names_with_escapes_are_shown_and_not_obeyed():
    name = "\x1b[31mred\x07"
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame({name: rng.normal(size=40), "b": 1.0}) for _ in range(2))
    told = explain(two_sample_test(x, y, **QUICK), x, y)
    for text in (str(told), repr(told)):
        assert "\x1b" not in text
        assert "\x07" not in text
