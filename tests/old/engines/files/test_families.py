"""Tests of fit and of independence of files that are not read whole: the same as in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nosplit
from _same import assert_same
from nosplit import InputError, models
from nosplit._old.data.files import whole
from nosplit._old.engines.files import independence, side
from nosplit.inference.calibrations import Wild

SMALL = nosplit.Sketch(cells=100, frequencies=8)
FIT = {"pairs": SMALL, "calibration": Wild(99)}
BOTH = {"pairs": SMALL, "calibration": nosplit.Exact(n_resamples=99)}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Every file is too large to be read whole, and batches are small."""
    monkeypatch.setattr(whole, "SMALL", 0)
    monkeypatch.setattr(side, "BATCH", 3000)


@pytest.fixture
def never_whole(monkeypatch):
    """No file is read whole."""

    def refuse(self):
        raise AssertionError("read whole")

    monkeypatch.setattr("nosplit._old.data.files.parquet.Parquet.whole", refuse)
    monkeypatch.setattr("nosplit._old.data.files.npy.ArrayFile.whole", refuse)


def normal(n, p=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def table(values, names="abcdefgh"):
    return pa.table(dict(zip(names, values.T, strict=False)))


def write(path, rows, group=777):
    pq.write_table(rows, path, row_group_size=group)


def test_fit_of_tables_against_memory(never_whole):
    rows = table(1e3 * normal(2000, 3, seed=1), ["one", "two", "three"])
    gaps = rows.set_column(
        0, "one", pa.array(rows["one"].to_numpy(), mask=np.arange(2000) % 9 == 4)
    )
    write("x.parquet", gaps)
    model = models.MultivariateNormal([0.0, 0.0], 1e6 * np.eye(2))
    options = {"columns": ["two", "one"], "nan_policy": "omit", "scale": "robust", **FIT}
    memory = nosplit.goodness_of_fit_test(gaps, model, **options)
    found = nosplit.goodness_of_fit_test("x.parquet", model, **options)
    assert_same(found, memory)
    assert found.columns.names == ("two", "one")
    with pytest.raises(InputError, match="missing"):
        nosplit.goodness_of_fit_test("x.parquet", lambda x: -x, **FIT)
    with pytest.raises(InputError, match="Did you mean 'three'"):
        nosplit.goodness_of_fit_test("x.parquet", lambda x: -x, columns=["thre"], **FIT)


def test_what_is_no_sketch_of_a_file_is_read_whole():
    x = normal(2400, 1)
    np.save("x.npy", x)
    model = models.MultivariateNormal([0.0])
    closed = {
        "pairs": "linear",
        "calibration": "asymptotic",
        "kernels": nosplit.kernels.Gaussian(1.0),
    }
    expected = nosplit.goodness_of_fit_test(x, model, **closed)
    assert nosplit.goodness_of_fit_test("x.npy", model, **closed).pvalue == expected.pvalue
    expected = nosplit.goodness_of_fit_test(x, -x, **FIT)
    assert_same(nosplit.goodness_of_fit_test("x.npy", -x, **FIT), expected)


def test_rows_that_are_not_finite_are_named(never_whole):
    x = normal(3000)
    x[1234, 1] = np.nan
    np.save("x.npy", x)
    with pytest.raises(InputError, match=r"x\.npy.* row 1234, column 1"):
        nosplit.goodness_of_fit_test("x.npy", lambda x: -x, **FIT)


def dependent(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, x[:, :1] ** 2 + 3.0 * rng.normal(size=(n, 1))


def test_independence_of_files_against_memory(never_whole, monkeypatch):
    x, y = dependent(3001)
    np.save("x.npy", x)
    np.save("y.npy", y)
    memory = nosplit.independence_test(x, y, **BOTH)
    for at_once, batch, workers in ((1 << 25, 3000, 1), (2000, 2000, 2)):  # one pass, or five
        monkeypatch.setattr(independence, "AT_ONCE", at_once)
        monkeypatch.setattr(side, "BATCH", batch)
        found = nosplit.independence_test("x.npy", "y.npy", workers=workers, **BOTH)
        assert_same(found, memory)
        np.testing.assert_array_equal(found.selection.tau, memory.selection.tau)


def tables(n, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(["Oslo", "Rome", "Bern"], n)
    x = pa.table({"city": city, "wind": 10.0 * rng.normal(size=n)})
    warm = (city == "Rome") + rng.normal(size=n)
    return x, pa.table({"warm": pa.array(warm, mask=rng.random(n) < 0.1)})


@pytest.mark.parametrize("policy", ["auto", "omit"])
def test_independence_of_tables_against_memory(policy, never_whole):
    x, y = tables(2500)
    write("x.parquet", x, 600)
    write("y.parquet", y, 1000)
    memory = nosplit.independence_test(x, y, nan_policy=policy, **BOTH)
    found = nosplit.independence_test("x.parquet", "y.parquet", nan_policy=policy, **BOTH)
    assert_same(found, memory)
    assert sum((e.names for e in found.how.encoding), ()) == ("city", "wind", "warm")
    assert found.how.n_left_out == memory.how.n_left_out


def test_rows_that_depend_on_others_are_warned_of_in_files(never_whole):
    rng = np.random.default_rng(0)
    x, y = (np.convolve(rng.normal(size=9003), np.ones(4))[3:-3] for _ in range(2))
    np.save("x.npy", x[:, None])
    np.save("y.npy", y[:, None])
    memory = nosplit.independence_test(x, y, **BOTH)
    files = nosplit.independence_test("x.npy", "y.npy", **BOTH)
    assert_same(files, memory)
    assert memory.how.calibration == "exact"
    assert any("Neighbouring rows are alike" in text for text in memory.warnings)
    assert files.warnings == memory.warnings


def test_files_of_other_lengths_iv():
    np.save("x.npy", normal(100))
    np.save("y.npy", normal(101))
    with pytest.raises(InputError, match="as many rows, observed together, got 100 and 101"):
        nosplit.independence_test("x.npy", "y.npy")


def same_profile(one, two):
    np.testing.assert_array_equal(one.cells.features, two.cells.features)
    np.testing.assert_array_equal(one.cells.bins, two.cells.bins)
    facts = ("parts", "n_rows", "n_pilot", "n_left_out", "ignored", "dtype")
    assert [getattr(one, f) for f in facts] == [getattr(two, f) for f in facts]
    assert one.encoding == two.encoding


def test_profiles_of_files_against_memory(never_whole):
    x, y = normal(2500), 1.1 * normal(900, seed=1)
    np.save("x.npy", x)
    np.save("y.npy", y)
    cells = {"frequencies": 4, "rows": 500, "least": 2}
    memory, found = (nosplit.profile(value, **cells) for value in (x, "x.npy"))
    same_profile(found, memory)
    same_profile(nosplit.profile("y.npy", like=found), nosplit.profile(y, like=memory))
    few = {"calibration": nosplit.Exact(n_resamples=99)}
    expected = nosplit.two_sample_test(memory, y, **few)
    assert_same(nosplit.two_sample_test(found, "y.npy", **few), expected)
    np.save("y.npy", y.astype(np.float32))
    with pytest.raises(InputError, match="must hold float64, as the reference did"):
        nosplit.two_sample_test(found, "y.npy")
    x[1234, 1] = np.nan
    np.save("x.npy", x)
    with pytest.raises(InputError, match=r"x\.npy.* row 1234, column 1"):
        nosplit.profile("x.npy", **cells)


@pytest.mark.parametrize("policy", ["auto", "omit"])
def test_profiles_of_tables_in_files_against_memory(policy, never_whole):
    x, y = (
        pa.table({**dict(zip(a.column_names, a.columns, strict=True)), "warm": b["warm"]})
        for a, b in (tables(2500), tables(900, seed=1))
    )
    write("x.parquet", x)
    write("y.parquet", y.drop_columns("wind"))
    cells = {"frequencies": 4, "rows": 500, "least": 2, "exclude": "wind", "nan_policy": policy}
    memory, found = (nosplit.profile(value, **cells) for value in (x, "x.parquet"))
    same_profile(found, memory)
    few = {"calibration": nosplit.Exact(n_resamples=99)}
    expected = nosplit.two_sample_test(memory, y, **few)
    assert_same(nosplit.two_sample_test(found, "y.parquet", **few), expected)
    write("y.parquet", y.append_column("new", y["warm"]))
    with pytest.raises(InputError, match="has 'new' besides"):
        nosplit.two_sample_test(found, "y.parquet")


def test_whatever_looks_at_some_rows_says_so(monkeypatch):
    monkeypatch.setattr(whole, "PILOT", 2000)
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=(5000, 1)), axis=0)
    y = x + rng.normal(size=(5000, 1))
    np.save("x.npy", x)
    np.save("y.npy", y)
    check = nosplit.power.calibration_check(
        "x.npy", "y.npy", kernels="paper1", pairs="linear", trials=50
    )
    assert "4,000 of 10,000 rows, drawn at random, were looked at" in str(check)
    assert (check.to_dict()["rows_seen"], check.to_dict()["rows"]) == (4000, 10_000)
    assert repr(nosplit.pilot("x.npy", "y.npy", kernels="paper1")).endswith("2,000 rows each)")
    res = nosplit.two_sample_test(
        "x.npy", "y.npy", pairs=SMALL, calibration=nosplit.Exact(n_resamples=99)
    )
    told = nosplit.explain(res, "x.npy", "y.npy")
    assert (told.n_seen, told.n_rows) == (9600, 10_000)
    # From all over a sorted file, and not from its beginning.
    assert np.median(told.x.rows) == pytest.approx(0.0, abs=0.15)
    model = models.MultivariateNormal([0.0])
    fit = nosplit.goodness_of_fit_test("x.npy", model, **FIT)
    both = nosplit.independence_test("x.npy", "y.npy", **BOTH)
    for res, args in ((fit, ("x.npy", model)), (both, ("x.npy", "y.npy"))):
        page = res.report(*args, path="page.html").read_text(encoding="utf-8")
        assert "2,000 of 5,000 rows, drawn at random" in page
