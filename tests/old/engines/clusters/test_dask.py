"""Dask: the same result as in memory, to the last bit, on a cluster of two worker processes."""

from __future__ import annotations

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import nosplit
from _same import assert_same
from nosplit import Blocks, Exact, InputError
from nosplit._old.engines.clusters import dask as engine
from nosplit.kernels import Gaussian, Laplace, Linear

KERNELS = [Gaussian(1.0), Laplace(2.0), Linear()]
FEW = {"calibration": Exact(n_resamples=99)}


@pytest.fixture(scope="module")
def client():
    """A cluster of two worker processes, each watched by a nanny that starts it again."""
    with (
        # Without it, a test whose workers are all gone would wait for ever.
        dask.config.set({"distributed.scheduler.no-workers-timeout": "60s"}),
        LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def here():
    """No cluster: tasks one after another in this process."""
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(n, m, p=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), 1.2 * rng.normal(size=(m, p))


def frames(n, m, seed=0):
    """Numbers, text, dates and booleans; the columns of y in another order."""
    rng = np.random.default_rng(seed)

    def one(n, spread):
        return pd.DataFrame(
            {
                "size": rng.normal(10.0, spread, n),
                "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
                "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
                "paid": rng.random(n) < 0.5,
                "id": np.arange(n),
            }
        )

    return one(n, 2.0), one(m, 2.5)[["paid", "id", "city", "day", "size"]]


def in_memory(x, y, **options):
    return nosplit.two_sample_test(x, y, pairs="sketch", **FEW, **options)


@pytest.mark.parametrize(("n", "m"), [(1501, 1501), (700, 1501)])
def test_arrays_against_memory(here, monkeypatch, n, m):
    monkeypatch.setattr(engine, "FAN_IN", 3)
    x, y = arrays(n, m)
    ref = in_memory(x, y, kernels=KERNELS)
    for chunks in ((501, 300), ((n - 1, 1), 97), (n, m)):
        x_dask, y_dask = (da.from_array(s, (c, 1)) for s, c in zip((x, y), chunks, strict=True))
        assert_same(nosplit.two_sample_test(x_dask, y_dask, kernels=KERNELS, **FEW), ref)


def test_arrays_on_a_cluster_against_memory(client):
    x, y = arrays(20_001, 24_000)
    ref = in_memory(x, y, rng=3, budget=10.0)
    for chunks in (3_000, 7_001):
        res = nosplit.two_sample_test(
            da.from_array(x, (chunks, 2)), da.from_array(y, (4_000, 2)), rng=3, budget=10.0, **FEW
        )
        assert_same(res, ref)


def test_frames_with_categories_against_memory(client):
    x, y = frames(2001, 1500)
    ref = in_memory(x, y, exclude="id")
    for a, b in ((1, 4), (5, 3)):
        res = nosplit.two_sample_test(
            dd.from_pandas(x, npartitions=a), dd.from_pandas(y, npartitions=b), exclude="id", **FEW
        )
        assert_same(res, ref)
    assert res.columns.names == ("size", "city", "day", "paid")
    assert len(res.how.encoding.categorical) == 2


def test_columns_and_vectors_against_memory(here):
    x, y = arrays(1200, 900, p=3)
    dask_x, dask_y = da.from_array(x, 170), da.from_array(y, 170)
    options = {"kernels": "paper2", "columns": [2, 0], "scale": True}
    res = nosplit.two_sample_test(dask_x, dask_y, **options, **FEW)
    assert_same(res, in_memory(x, y, **options))
    res = nosplit.two_sample_test(dask_x[:, 1], dask_y[:, 1], **FEW)
    assert_same(res, in_memory(x[:, 1], y[:, 1]))


def test_single_precision_and_unknown_chunks_against_memory(here):
    x, y = (s.astype(np.float32) for s in arrays(1500, 1500))
    dask_x, dask_y = da.from_array(x, (150, 2)), da.from_array(y, (150, 2))
    dask_x, dask_y = dask_x[dask_x[:, 0] > -1.0], dask_y[dask_y[:, 0] > -1.0]
    assert np.isnan(dask_x.shape[0])
    res = nosplit.two_sample_test(dask_x, dask_y, **FEW)
    assert_same(res, in_memory(x[x[:, 0] > -1.0], y[y[:, 0] > -1.0]))


@pytest.mark.parametrize("policy", ["omit", "indicate"])
@pytest.mark.parametrize("table", [True, False])
def test_missing_values_against_memory(here, policy, table):
    x, y = arrays(3000, 3000)
    gaps = np.random.default_rng(1).random((2, 3000)) < [[0.3], [0.2]]
    x[gaps[0], 0] = y[gaps[1], 1] = np.nan
    if table:
        x, y = (pd.DataFrame(s, columns=["a", "b"]) for s in (x, y))
        dask_x, dask_y = (dd.from_pandas(s, npartitions=4) for s in (x, y))
    else:
        dask_x, dask_y = (da.from_array(s, (700, 2)) for s in (x, y))
    res = nosplit.two_sample_test(dask_x, dask_y, nan_policy=policy, **FEW)
    assert_same(res, in_memory(x, y, nan_policy=policy))
    assert res.how.n_left_out >= (gaps.sum() if policy == "omit" else 0)
    if table and policy == "indicate":
        assert_same(nosplit.two_sample_test(dask_x, dask_y, **FEW), res)


@pytest.mark.parametrize("table", [True, False])
def test_explanations_against_memory(here, quick_explanations, monkeypatch, tmp_path, table):
    """Cells are summed where rows are: the same numbers, and the same rows stand out."""
    monkeypatch.setattr(engine, "FAN_IN", 2)
    x, y = frames(1001, 900) if table else arrays(1001, 900)
    if table:
        dask_x, dask_y = dd.from_pandas(x, npartitions=5), dd.from_pandas(y, npartitions=3)
    else:
        dask_x, dask_y = da.from_array(x, (501, 1)), da.from_array(y, (300, 2))
    res = nosplit.two_sample_test(dask_x, dask_y, **{"exclude": "id"} if table else {}, **FEW)
    told, ref = nosplit.explain(res, dask_x, dask_y), nosplit.explain(res, x, y)
    assert told.to_dict() == ref.to_dict()
    assert told.top_rows() == ref.top_rows()
    np.testing.assert_array_equal(told.witness(x[:9]), ref.witness(x[:9]))
    if not table:
        page = res.report(dask_x, dask_y, path=tmp_path / "r.html").read_text(encoding="utf-8")
        assert "Rows that stand out in x" in page
    with pytest.raises(InputError, match="must be the samples of `res`"):
        nosplit.explain(res, dask_x, dask_x)


def _deadly(block, folder, call):
    """Kill the worker when it works on this block for the `call`-th time, in all of the test."""
    seen = len(list(folder.iterdir()))
    (folder / f"{seen}-{os.getpid()}").touch()
    if seen + 1 == call:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_worker_killed_in_the_middle(client, tmp_path):
    """The last of eight blocks kills its worker after others are done."""
    x, y = arrays(16_000, 16_000)
    ref = in_memory(x, y, kernels=KERNELS)
    x, y = da.from_array(x, (2_000, 2)), da.from_array(y, (2_000, 2))
    last = x.blocks[7].map_blocks(_deadly, tmp_path, 2, dtype=float, meta=np.empty((0, 2)))
    x = da.concatenate([x[:14_000], last])
    res = nosplit.two_sample_test(x, y, kernels=KERNELS, **FEW)
    calls = sorted(path.name for path in tmp_path.iterdir())
    assert len(calls) >= 3  # once for the kernels, once to die, once again
    assert len({name.partition("-")[2] for name in calls}) >= 2
    assert_same(res, ref)


X, Y = (da.from_array(s, (40, 2)) for s in arrays(100, 100))
F, G = (dd.from_pandas(s, npartitions=2) for s in frames(100, 100))


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        (X.compute(), Y, {}, r"`x` must be a Dask array or a Dask data frame, got ndarray"),
        (X, F, {}, r"must both be Dask arrays or both be Dask data frames"),
        (X, Y[:, :1], {}, r"must have the same number of columns, got 2 and 1"),
        (X[:, :, None], Y, {}, r"`x` must be a vector or an \(n, p\) array, got 3 dimensions"),
        (X.astype(str), Y, {}, r"`x` must hold real numbers"),
        (X[:1], Y, {}, r"`x` must have at least 2 rows, got 1"),
        (X, Y, {"pairs": "adjacent"}, r"must be \"sketch\", got 'adjacent"),
        (X, Y, {"pairs": Blocks(7)}, r"must be \"sketch\""),
        (X, Y, {"pairs": 60}, r"must be \"sketch\""),
        (X, Y, {"calibration": "asymptotic"}, r"no closed form is known"),
        (X, Y, {"method": "split"}, r"`method` must not be Split"),
        (X, Y, {"rng": -1}, r"`rng`"),
        (X, Y, {"columns": [5]}, r"`columns` must name columns of `x`"),
        (F, G, {"exclude": "ids"}, r"Did you mean 'id'"),
        (F, G[["size", "city"]], {}, r"`y` must have the columns of `x`, but lacks"),
        (da.where(X > 2, np.inf, X), Y, {}, r"`x` must be finite, got inf in row \d+, column \d"),
        (F.assign(size=np.inf), G, {}, r"column 'size' of `x` must be finite"),
        (F.assign(size="large"), G, {}, r"column 'size' must be of one type, got text in `x`"),
    ],
)
def test_bad_input_iv(here, x, y, options, message):
    with pytest.raises(InputError, match=message):
        nosplit.two_sample_test(x, y, **options)


def test_what_is_found_late_says_where_iv(here):
    """A value that is missing outside the rows that kernels are chosen from."""
    x, y = arrays(20_000, 20_000)
    x[9_999, 0] = np.nan
    frames = (dd.from_pandas(pd.DataFrame(s, columns=["a", "b"]), npartitions=4) for s in (x, y))
    with pytest.raises(InputError, match=r"1 of [0-9,]+ in 'a'.*rows [0-9,]+ to [0-9,]+ of `x`"):
        nosplit.two_sample_test(*frames, nan_policy="raise")


def test_rows_that_change_iv(here):
    """Partitions that have another number of rows each time they are computed."""
    calls = []

    def growing(_):
        calls.append(None)
        return pd.DataFrame({"a": np.arange(100.0 + len(calls))})

    x = dd.from_map(growing, range(2), meta=growing(0).iloc[:0])
    with pytest.raises(InputError, match=r"the same rows each time .*x\.persist\(\) on Dask"):
        nosplit.two_sample_test(x, x)
