"""Spark: the same result as in memory, to the last bit, in a local session with two workers."""

from __future__ import annotations

import os
import shutil
import signal

import numpy as np
import pandas as pd
import pytest

import nosplit
from _same import assert_same
from nosplit import Exact, InputError
from nosplit._old.engines.clusters import spark as engine
from nosplit.kernels import Gaussian, Laplace, Linear

JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")
needs_java = pytest.mark.skipif(not JAVA, reason="no Java was found, which Spark needs")
# PySpark says so of every pandas from 3 on; data goes through Arrow here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)

KERNELS = [Gaussian(1.0), Laplace(2.0), Linear()]
FEW = {"calibration": Exact(n_resamples=99)}


@pytest.fixture
def written(spark, tmp_path):
    """A table in files of some rows each, read by Spark; and its rows in Spark's order."""

    def write(name, table, rows):
        folder = tmp_path / name
        folder.mkdir()
        for k, start in enumerate(range(0, len(table), rows)):
            table.iloc[start : start + rows].to_parquet(folder / f"{k:03}.parquet", index=False)
        frame = spark.read.parquet(str(folder))
        return frame, frame.toArrow().to_pandas()

    return write


def table(n, seed, spread=1.0):
    """Numbers, text and booleans; a name with a dot, which Spark takes for a part of a column."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a.b": rng.normal(0.0, spread, n),
            "size": rng.normal(10.0, spread, n),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
            "paid": rng.random(n) < 0.5,
        }
    )


def in_memory(x, y, **options):
    return nosplit.two_sample_test(x, y, pairs="sketch", **FEW, **options)


@needs_java
def test_frames_with_categories_against_memory(written, monkeypatch):
    """Other partitions on either side, columns in another order, sums added in several steps."""
    monkeypatch.setattr(engine, "FAN_IN", 2)
    x, x_rows = written("x", table(2043, 1), 400)
    y, y_rows = written("y", table(2600, 2, 1.1)[["paid", "size", "city", "a.b"]], 1100)
    res = nosplit.two_sample_test(x, y, **FEW)
    assert_same(res, in_memory(x_rows, y_rows))
    assert res.columns.names == ("a.b", "size", "city", "paid")


@needs_java
@pytest.mark.parametrize("policy", ["omit", "indicate"])
def test_missing_values_against_memory(written, policy, quick_explanations):
    """NaN and null, in columns of numbers and of text."""
    x, y = table(2400, 5), table(2400, 6)
    gaps = np.random.default_rng(0).random((3, 2400)) < 0.2
    x.loc[gaps[0], "a.b"] = y.loc[gaps[1], "a.b"] = np.nan
    y.loc[gaps[2], "city"] = None
    (x, x_rows), (y, y_rows) = written("x", x, 700), written("y", y, 900)
    options = {"nan_policy": policy, "columns": ["a.b", "city"], "kernels": "paper1"}
    res = nosplit.two_sample_test(x, y, **options, **FEW)
    assert_same(res, in_memory(x_rows, y_rows, **options))
    assert (res.how.n_left_out > 700) == (policy == "omit")  # besides the pilot rows
    if policy == "indicate":
        options["nan_policy"] = "auto"
        assert_same(nosplit.two_sample_test(x, y, **options, **FEW), res)
        told, ref = nosplit.explain(res, x, y), nosplit.explain(res, x_rows, y_rows)
        assert told.to_dict() == ref.to_dict()
        assert told.top_rows().x[0].values == ref.top_rows().x[0].values


@needs_java
def test_a_worker_killed_in_the_middle(written, tmp_path):
    """The process that reads one of the partitions of x is killed when its rows are to be sent."""
    x, x_rows = written("x", table(1200, 7)[["a.b", "size"]], 300)
    y, y_rows = written("y", table(1200, 8)[["a.b", "size"]], 500)
    calls = tmp_path / "calls"
    calls.mkdir()

    def deadly(batches):
        from pyspark import TaskContext

        if TaskContext.get().partitionId() == 1:
            seen = len(list(calls.iterdir()))
            (calls / f"{seen}-{os.getpid()}").touch()
            if seen == 3:  # after the count and the choice of kernels and of bins
                next(batches)
                os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    x = x.toDF("a", "size").mapInArrow(deadly, "a double, size double").toDF("a", "size")
    res = nosplit.two_sample_test(x, y.toDF("a", "size"), kernels=KERNELS, **FEW)
    assert len(list(calls.iterdir())) == 5  # the last of them after the death
    names = {"a.b": "a"}
    x_rows, y_rows = (rows.rename(columns=names) for rows in (x_rows, y_rows))
    assert_same(res, in_memory(x_rows, y_rows, kernels=KERNELS))


@needs_java
def test_bad_input_iv(written):
    x, rows = written("x", table(50, 10), 50)
    with pytest.raises(InputError, match=r"`y` must be a Spark data frame, got DataFrame"):
        nosplit.two_sample_test(x, rows)
    with pytest.raises(InputError, match=r"`columns` must name columns of `x`.*Did you mean"):
        nosplit.two_sample_test(x, x, columns=["sizes"])
    with pytest.raises(InputError, match=r"`y` must have the columns of `x`, but lacks 'city'"):
        nosplit.two_sample_test(x, x.drop("city"))
    with pytest.raises(InputError, match=r"`x` must have at least 2 rows, got 0"):
        nosplit.two_sample_test(x.limit(0), x)
