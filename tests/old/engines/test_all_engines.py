"""One test body for all engines: the same problems in memory, files, a stream, Dask and Spark."""

from __future__ import annotations

import os
import shutil

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import nosplit
from _same import assert_same
from nosplit import Exact, TwoSampleAccumulator
from nosplit._old.data.files import whole
from nosplit._old.engines.files import side

JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully:FutureWarning")

CHOICES = {"calibration": Exact(n_resamples=199), "rng": 5}


def table(rng, n, spread=1.0, oslo=0.3):
    """Two numbers and text; the second number rises with the first."""
    first = rng.normal(0.0, spread, n)
    cities = rng.choice(["Oslo", "Rome", "Bonn"], n, p=[oslo, 0.7 - oslo, 0.3])
    return pd.DataFrame({"a": first, "b": first + rng.normal(size=n), "city": cities})


def alike(rng):
    return table(rng, 1600), table(rng, 1600)


def wider(rng):
    return table(rng, 1600), table(rng, 1700, spread=1.5)  # nearly, but not, as many


def other_sizes(rng):
    return table(rng, 1200), table(rng, 2400, oslo=0.5)


def sorted_alike(rng):
    return (t.sort_values("a").reset_index(drop=True) for t in alike(rng))


PROBLEMS = {alike: (), wider: ("a", "b"), other_sizes: ("city",), sorted_alike: ()}


@pytest.mark.parametrize(("n", "values", "more"), [(1500, 40, 0.01), (20_000, 400, 0.001)])
def test_bins_of_few_rows_are_those_of_all_of_them(n, values, more):
    """A value in a hundredth of the rows or less, too rare for the pilot, has its own bin."""
    rng = np.random.default_rng(4)
    common, rare = ["a"] * (24 * values), [f"r{i}" for i in range(values)]
    x, y = (
        pd.DataFrame({"number": rng.normal(size=n), "text": rng.choice(common + rare, n)})
        for _ in range(2)
    )
    y.loc[rng.random(n) < more, "text"] = "r0"
    res = nosplit.two_sample_test(x, y, pairs="sketch", **CHOICES)
    assert [test.adjusted <= 0.05 for test in res.columns.rows] == [False, True]


@pytest.fixture
def large_files(monkeypatch):
    """Every file is too large to be read whole, and batches are small."""
    monkeypatch.setattr(whole, "SMALL", 0)
    monkeypatch.setattr(side, "BATCH", 3000)


@pytest.fixture
def engines(tmp_path, large_files, spark):
    """Every way to a result from two tables; `rows` are in the order in which Spark has them."""

    def paths(x, y):
        for name, rows in (("x", x), ("y", y)):
            rows.to_parquet(tmp_path / f"{name}.parquet", index=False, row_group_size=500)
        return tmp_path / "x.parquet", tmp_path / "y.parquet"

    def in_memory(x, y):
        return nosplit.two_sample_test(x, y, pairs="sketch", **CHOICES)

    def in_files(x, y):
        return nosplit.two_sample_test(*paths(x, y), pairs="sketch", **CHOICES)

    def on_dask(x, y):
        with dask.config.set(scheduler="synchronous"):
            frames = dd.from_pandas(x, npartitions=3), dd.from_pandas(y, npartitions=2)
            return nosplit.two_sample_test(*frames, **CHOICES)

    def on_spark(x, y):
        frames = (spark.read.parquet(str(path)) for path in paths(x, y))
        return nosplit.two_sample_test(*frames, **CHOICES)

    def in_a_stream(x, y):
        stream = TwoSampleAccumulator(ratio=(1, len(y) // len(x)))
        for i in range(0, max(len(x), len(y)), 700):
            stream.update(x[i : i + 700], y[i : i + 700])
        return stream.result(n_resamples=199)

    return in_memory, in_files, on_dask, on_spark, in_a_stream


@pytest.mark.skipif(not JAVA, reason="no Java was found, which Spark needs")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_engines_agree(engines, problem):
    """The same cells give the same result, to the last bit; a stream deals rows in its own way."""
    x, y = problem(np.random.default_rng(1))
    in_memory, *same, in_a_stream = engines
    expected = in_memory(x, y)
    assert expected.columns.differing() == PROBLEMS[problem]
    assert expected.reject(0.05) == bool(PROBLEMS[problem])
    for engine in same:
        assert_same(engine(x, y), expected)
    if problem is sorted_alike:
        return  # rows of a stream that are sorted depend on one another
    found = in_a_stream(x, y)
    assert found.columns.names == expected.columns.names
    assert [type(k) for k in found.selection.kernels] == [
        type(k) for k in expected.selection.kernels
    ]
    assert found.columns.differing(0.01) == expected.columns.differing(0.01) == PROBLEMS[problem]
    assert found.reject(0.05) == expected.reject(0.05)


SKETCH = nosplit.Sketch(cells=100, frequencies=8)
NORMAL = nosplit.models.MultivariateNormal([0.0, 0.0])


def fit_of(rows, **options):
    return nosplit.goodness_of_fit_test(rows[0], NORMAL, pairs=SKETCH, **options)


def independence_of(rows, **options):
    return nosplit.independence_test(*rows, pairs=SKETCH, **options)


def fit_stream(pairs):
    return nosplit.GoodnessOfFitAccumulator(NORMAL, pairs=pairs)


def independence_stream(pairs):
    return nosplit.IndependenceAccumulator(pairs=pairs)


FAMILIES = {
    "fit": (fit_of, fit_stream, nosplit.Wild(199)),
    "independence": (independence_of, independence_stream, Exact(n_resamples=199)),
}


@pytest.mark.parametrize("difference", [0.0, 0.3])
@pytest.mark.parametrize("family", FAMILIES)
def test_engines_agree_on_other_families(family, difference, large_files, tmp_path):
    """The same sums from memory and from files; a device rounds, and a stream has its own cells."""
    torch = pytest.importorskip("torch")
    test, stream, calibration = FAMILIES[family]
    rng = np.random.default_rng(3)
    x = (1.0 + difference) * rng.normal(size=(3001, 2))
    y = difference * x[:, :1] ** 2 + rng.normal(size=(3001, 1))
    rows = (x, y) if family == "independence" else (x,)
    tables = tuple(pd.DataFrame(v, columns=[f"c{j}" for j in range(v.shape[1])]) for v in rows)
    for kind, write, own in (("parquet", pd.DataFrame.to_parquet, tables), ("npy", save, rows)):
        paths = [tmp_path / f"{i}.{kind}" for i in range(len(rows))]
        for path, values in zip(paths, own, strict=True):
            write(values, path)
        expected = test(own, calibration=calibration, rng=5)
        assert expected.reject(0.05) == bool(difference)
        found = test(paths, calibration=calibration, rng=5)
        np.testing.assert_array_equal(found.selection.tau, expected.selection.tau)
        np.testing.assert_array_equal(found.null.values, expected.null.values)
        assert (found.pvalue, found.how.n_used) == (expected.pvalue, expected.how.n_used)
    found = test([torch.from_numpy(v) for v in rows], calibration=calibration, rng=5)
    assert (found.pvalue, found.how.n_used) == (expected.pvalue, expected.how.n_used)
    accumulator = stream(SKETCH)
    for i in range(0, 3001, 700):
        accumulator.update(*(v[i : i + 700] for v in rows))
    found = accumulator.result(n_resamples=199)
    assert [type(k) for k in found.selection.kernels] == [
        type(k) for k in expected.selection.kernels
    ]
    assert found.reject(0.05) == expected.reject(0.05)


def save(values, path):
    np.save(path, values)


def test_a_value_that_is_no_number_in_units_of_its_column():
    """1e300 in a column of spread 1e-300: a warning of NumPy, and an error without advice."""
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame({"a": 1e-300 * rng.normal(size=300)}) for _ in range(2))
    x.loc[5, "a"] = 1e300
    with pytest.raises(nosplit.InputError, match="Rescale the column"):
        nosplit.two_sample_test(x, y, pairs="sketch", **CHOICES)
