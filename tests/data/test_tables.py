"""Tables: what becomes of columns, what is invariant, and what is turned down."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import subprocess
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom

import nosplit
from nosplit import Exact, InputError, models
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import fit_encoding
from nosplit.data.frames import code_of, is_table
from nosplit.kernels import Gaussian, Linear, OnColumns

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
BACKENDS = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
START = dt.datetime(2020, 1, 1)
FAST = {"calibration": Exact(n_resamples=19)}


def columns(n, seed, shift=0.0):
    """Mixed columns as plain values."""
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(40.0 + shift, 10.0, n),
        "count": rng.integers(0, 1000, n),
        "city": rng.choice(["Rome", "Oslo", "Bern"], n).tolist(),
        "member": (rng.random(n) < 0.3).tolist(),
        "since": [START + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9999, n)],
    }


X, Y = columns(60, 1), columns(60, 2, shift=12.0)


# -- from tables to rows -----------------------------------------------------------------------


@BACKENDS
def test_backends_give_the_same_test(make):
    encoding = fit_encoding(pd.DataFrame(X), pd.DataFrame(Y))
    expected = nosplit.two_sample_test(pd.DataFrame(X), pd.DataFrame(Y))
    x, y = make(X), make(Y)
    found = nosplit.two_sample_test(x, y)
    np.testing.assert_array_equal(found.how.encoding.encode(x), encoding.encode(pd.DataFrame(X)))
    np.testing.assert_array_equal(found.selection.tau, expected.selection.tau)
    assert found.pvalue == expected.pvalue <= 0.05
    assert found.columns.names == tuple(X)


def test_whatever_narwhals_accepts():
    frame = pl.DataFrame(X)
    rows = fit_encoding(frame).encode(frame)
    arrow = frame.to_arrow()
    for other in (
        frame.lazy(),
        nw.from_native(frame),
        arrow.to_batches()[0],
        pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches()),
        pd.DataFrame(X, index=range(5, 65)),
    ):
        assert is_table(other)
        if not isinstance(other, pa.RecordBatchReader):  # which can be read once
            np.testing.assert_array_equal(fit_encoding(other).encode(other), rows)
    assert not any(map(is_table, (np.ones(3), [1.0], (1.0,), 3.0, np.ma.masked_array([1.0]))))


def test_robust_scale_against_numpy():
    rng = np.random.default_rng(0)
    x = {"wide": rng.normal(5.0, 1e6, 31), "zeros": [0.0] * 28 + [1.0, 2.0, 9.0], "same": [7] * 31}
    y = {"wide": rng.normal(5.0, 1e6, 20), "zeros": [0.0] * 20, "same": [7] * 20}
    encoding = fit_encoding(pd.DataFrame(x), pd.DataFrame(y))
    wide, zeros, same = encoding.columns
    pooled = np.concatenate([x["wide"], y["wide"]])
    low, middle, high = np.percentile(pooled, (25, 50, 75))
    assert wide.center == middle
    assert wide.scale == pytest.approx((high - low) / 1.3489795, rel=1e-7)
    # Where the quartiles agree, the standard deviation; where all values do, 1.
    assert zeros.scale == pytest.approx(np.std(np.concatenate([x["zeros"], y["zeros"]])), rel=0.1)
    assert (zeros.center, same.center, same.scale, same.idle) == (0.0, 7.0, 1.0, True)
    rows = encoding.encode(pd.DataFrame(x))
    np.testing.assert_allclose(rows[:, 0], (x["wide"] - middle) / wide.scale, rtol=1e-14)
    assert not rows[:, 2].any()


def test_rounding_does_not_count_as_spread():
    values = np.r_[np.arange(90) * 1e-17, np.ones(10)]
    (column,) = fit_encoding(values, scale=True).columns
    assert column.scale == pytest.approx(0.3, rel=0.01)


def test_one_wide_column_does_not_drown_the_rest():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2)) * [1e6, 1.0]
    y[:, 1] += 1.0
    frames = [pd.DataFrame(rows, columns=["wide", "narrow"]) for rows in (x, y)]
    assert nosplit.two_sample_test(*frames).reject(0.01)
    assert nosplit.two_sample_test(x, y, scale=True).reject(0.01)
    assert not nosplit.two_sample_test(x, y, kernels="paper1").reject(0.05)


def test_numeric_tables_against_arrays():
    """A table of numbers is its array, scaled unless told otherwise."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    frames = [pl.DataFrame(rows, schema=["a", "b", "c"]) for rows in (x, y)]
    plain, scaled = nosplit.two_sample_test(x, y), nosplit.two_sample_test(x, y, scale="robust")
    assert nosplit.two_sample_test(*frames, scale=False).pvalue == plain.pvalue
    assert nosplit.two_sample_test(*frames).pvalue == scaled.pvalue
    assert plain.how.encoding is None
    assert plain.columns.names == scaled.columns.names == ("0", "1", "2")
    assert scaled.how.encoding.encode(x).shape == (40, 3)


@BACKENDS
def test_kinds_of_numbers(make):
    table = make(
        {
            "int": [1, 2, None] * 2,
            "decimal": [decimal.Decimal("1.25"), None, decimal.Decimal("-3")] * 2,
            "date": [dt.date(1970, 1, 2), dt.date(1970, 1, 3), None] * 2,
            "time": [dt.datetime(1970, 1, 1, 6), None, dt.datetime(1970, 1, 2, 12)] * 2,
            "lapse": [dt.timedelta(days=2), dt.timedelta(hours=12), None] * 2,
        }
    )
    encoding = fit_encoding(table, scale=False, nan_policy="indicate")
    rows = encoding.encode(table)
    np.testing.assert_array_equal(rows[:3], rows[3:])
    values, missing = rows[:3, ::2], rows[:3, 1::2]
    expected = [[1, 2, 1.5], [1.25, -0.875, -3], [1, 2, 1.5], [0.25, 0.875, 1.5], [2, 0.5, 1.25]]
    np.testing.assert_allclose(values.T, expected, rtol=1e-15)
    np.testing.assert_array_equal(missing.argmax(axis=0), [2, 1, 2, 1, 2])
    assert encoding.groups == ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
    assert encoding.categorical == (1, 3, 5, 7, 9)


def test_time_zones_are_normalised():
    there = pd.to_datetime(["2020-07-01 12:00", "2020-01-01 12:00"]).tz_localize("Europe/Berlin")
    x = pd.DataFrame({"t": there})
    y = pl.DataFrame(
        {"t": pl.Series(there.tz_convert("UTC").tz_localize(None)).dt.replace_time_zone("UTC")}
    )
    encoding = fit_encoding(x, y, scale=False)
    np.testing.assert_array_equal(encoding.encode(x), encoding.encode(y))
    np.testing.assert_allclose(np.diff(encoding.encode(x)[:, 0]), -182 + 1 / 24, rtol=1e-12)
    with pytest.raises(InputError, match="got dates with a time zone in `x` and dates in `y`"):
        fit_encoding(x, pd.DataFrame({"t": there.tz_localize(None)}))


def test_codes_are_stable_and_exact():
    """The same number on every machine, in every batch: nothing to keep, nothing to agree on."""
    assert code_of("red") == 169344727989019.0
    values = ["1", 1, True, "", "True", 1.5, None, dt.date(2020, 1, 1), "\udcff"]
    codes = [code_of(v) for v in values]
    assert len(set(codes)) == len(codes)
    assert all(c.is_integer() and 0 <= c < 2**48 for c in codes)
    assert code_of(1.0) == code_of(1)


@BACKENDS
def test_categories(make):
    plain = make({"c": ["a", "b", "a"], "t": [True, False, True]})
    rows = fit_encoding(plain).encode(plain)
    assert rows[:, 0].tolist() == [code_of("a"), code_of("b"), code_of("a")]
    assert rows[:, 1].tolist() == [code_of(True), code_of(False), code_of(True)]


def test_categorical_types_are_text():
    series = (
        pd.Series(["a", "b", None], dtype="category"),
        pd.Series(["a", "b", None], dtype="string"),
        pd.Series(["a", "b", None], dtype=object),
        pl.Series(["a", "b", None], dtype=pl.Categorical),
        pl.Series(["a", "b", None], dtype=pl.Enum(["b", "a"])),
        pa.chunked_array([["a"], ["b", None]]),
        pa.array(["a", "b", None]),
    )
    expected = [code_of("a"), code_of("b"), code_of(None)]
    for one in series:
        encoding = fit_encoding(one, series[0], nan_policy="indicate")
        assert encoding.encode(one)[:, 0].tolist() == expected
    numbers = pd.DataFrame({"c": pd.Categorical([3, 1, 3])})
    assert fit_encoding(numbers).encode(numbers)[:, 0].tolist() == [code_of(v) for v in (3, 1, 3)]


def test_many_categories():
    """More than the type of the index can count, with missing ones."""
    values = [f"c{i}" for i in range(128)] + [None]
    index = pa.array([*range(128), None], pa.int8())
    table = pa.table({"c": pa.DictionaryArray.from_arrays(index, values[:128])})
    rows = fit_encoding(table, table, nan_policy="indicate").encode(table)
    assert rows[:, 0].tolist() == [code_of(v) for v in values]


@pytest.mark.parametrize("pandas", ["before 3", "installed"])
def test_series_are_compared_whatever_they_are_called(pandas, monkeypatch):
    if pandas == "before 3":  # its series do not offer themselves through Arrow
        monkeypatch.delattr(pd.Series, "__arrow_c_stream__", raising=False)
    rng = np.random.default_rng(0)
    before, after = pd.Series(rng.normal(size=50), name="before"), pd.Series(rng.normal(1, 1, 50))
    res = nosplit.two_sample_test(before, after)
    assert res.columns.names == ("before",)
    assert res.reject(0.01)
    assert res.how.encoding.encode(after).shape == (50, 1)


def test_encoding_goes_to_json_and_back():
    table = pd.DataFrame({"a": [1.0, 2.5, None], "\x1b[31m": ["x", None, "y"]})
    encoding = fit_encoding(table, nan_policy="indicate")
    again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    assert again == encoding
    np.testing.assert_array_equal(again.encode(table), encoding.encode(table))


# -- which columns -----------------------------------------------------------------------------


@BACKENDS
def test_columns_are_matched_by_name(make):
    turned = make(dict(reversed(Y.items())))
    one, other = (nosplit.two_sample_test(make(X), y, **FAST) for y in (make(Y), turned))
    np.testing.assert_array_equal(one.selection.tau, other.selection.tau)
    assert one.columns.names == other.columns.names == tuple(X)


def test_columns_and_exclude():
    x, y = pd.DataFrame(X), pd.DataFrame({**Y, "extra": [[1]] * 60})
    assert nosplit.two_sample_test(x, y, exclude="extra", **FAST).columns.names == tuple(X)
    some = nosplit.two_sample_test(x, y, columns=["city", "age"], **FAST)
    assert some.columns.names == ("city", "age")
    left = nosplit.two_sample_test(x, y, columns=tuple(X), exclude=["age"], **FAST)
    assert left.columns.names == tuple(X)[1:]
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30, 3))
    picked = nosplit.two_sample_test(a, b, columns=[2, 0])
    assert picked.columns.names == ("2", "0")
    assert picked.pvalue == nosplit.two_sample_test(a[:, [2, 0]], b[:, [2, 0]]).pvalue
    dropped = nosplit.two_sample_test(a, b, exclude=1)
    assert dropped.pvalue == nosplit.two_sample_test(a[:, [0, 2]], b[:, [0, 2]]).pvalue
    labelled = nosplit.two_sample_test(pd.DataFrame(a), pd.DataFrame(b), columns=[0, 2])
    assert labelled.columns.names == ("0", "2")


# -- missing values ----------------------------------------------------------------------------


@BACKENDS
def test_missing_values(make):
    x = {"a": [1.0, None, 3.0, 4.0, 5.0] * 4, "c": ["u", "v", None, "u", "v"] * 4}
    y = {"a": [2.0, 3.0, 4.0, float("nan")] * 5, "c": ["u", "u", "v", "v"] * 5}
    one, other = make(x), make(y)
    with pytest.raises(InputError) as error:
        nosplit.two_sample_test(one, other, nan_policy="raise")
    assert "`x` has 4 of 20 in 'a', 4 of 20 in 'c'; `y` has 5 of 20 in 'a'" in str(error.value)
    omitted = nosplit.two_sample_test(one, other, nan_policy="omit", scale=False)
    left = {"a": [1.0, 4.0, 5.0] * 4, "c": ["u", "u", "v"] * 4}
    right = {"a": [2.0, 3.0, 4.0] * 5, "c": ["u", "u", "v"] * 5}
    whole = nosplit.two_sample_test(make(left), make(right), scale=False)
    np.testing.assert_array_equal(omitted.selection.tau, whole.selection.tau)
    assert (omitted.how.n_used, omitted.how.n_left_out) == (27, 13)
    assert omitted.how.encoding.kept(one).tolist() == [True, False, False, True, True] * 4
    encoding = fit_encoding(one, other, nan_policy="indicate")
    rows = encoding.encode(one)
    assert encoding.groups == ((0, 1), (2,))
    assert rows[1].tolist() == [0.0, 1.0, code_of("v")]  # the median of the pooled column is 0
    assert rows[2, 2] == code_of(None)
    assert rows[:5, 1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_a_single_missing_value_has_nothing_to_compare():
    """No other row is like it, so no pair of units could show it."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20, 2))
    x[3, 0] = np.nan
    res = nosplit.two_sample_test(x, y, nan_policy="indicate")
    assert res.how.encoding.groups == ((0,), (1,))
    assert res.how.encoding.encode(x)[3, 0] == np.nanmedian(np.r_[x[:, 0], y[:, 0]])


def test_missing_values_of_arrays():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 2))
    gaps = x.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(InputError, match=r"`x` must be finite, got nan at index \(3, 1\)"):
        nosplit.two_sample_test(gaps, y)
    omitted = nosplit.two_sample_test(gaps, y, nan_policy="omit")
    assert omitted.pvalue == nosplit.two_sample_test(np.delete(x, 3, axis=0), y).pvalue
    assert omitted.how.n_left_out == 1
    assert nosplit.two_sample_test(gaps, y, nan_policy="indicate").how.n_left_out == 0


def test_missingness_is_compared():
    """The values have the same law; how many are missing does not."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 150))
    y[rng.random(150) < 0.3] = np.nan
    frames = pl.DataFrame({"a": x}), pl.DataFrame({"a": y})
    assert nosplit.two_sample_test(*frames, nan_policy="indicate").reject(0.01)
    assert not nosplit.two_sample_test(*frames, nan_policy="omit").reject(0.05)
    c = (
        ["u" if v > 0 else "v" for v in x],
        [None if np.isnan(v) else "u" if v > 0 else "v" for v in y],
    )
    categories = [pl.DataFrame({"c": v}) for v in c]
    assert nosplit.two_sample_test(*categories, nan_policy="indicate").reject(0.01)


@BACKENDS
def test_all_missing_columns(make):
    rng = np.random.default_rng(0)
    x = {"a": rng.normal(size=20), "gone": [None] * 20}
    y = {"a": rng.normal(2, 1, size=20), "gone": [None] * 20}
    text = y | {"gone": ["text"] * 20}
    with pytest.raises(InputError, match="`x` has 20 of 20 in 'gone'; `y` has 20 of 20 in 'gone'"):
        nosplit.two_sample_test(make(x), make(y), nan_policy="raise")
    with pytest.raises(InputError, match=r"got 0 of 20. Leave out columns .*exclude=\['gone'\]"):
        nosplit.two_sample_test(make(x), make(y), nan_policy="omit")
    res = nosplit.two_sample_test(make(x), make(y), nan_policy="indicate")
    assert res.reject(0.05)
    # A column without values takes the other's type.
    with_text = nosplit.two_sample_test(make(x), make(text), nan_policy="indicate")
    assert with_text.how.encoding.columns[1].kind == "text"


# -- invariance and level ----------------------------------------------------------------------


def mixed(n, seed):
    """A table with a skewed number, one with gaps, one of ties, and two categories."""
    rng = np.random.default_rng(seed)
    gaps = rng.normal(size=n)
    gaps[rng.random(n) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "skewed": rng.lognormal(0, 2, n),
            "gaps": gaps,
            "ties": rng.integers(0, 2, n) * 5,
            "city": rng.choice(["Rome", "Oslo", None], n),
            "member": rng.random(n) < 0.5,
        }
    )


def swapped(x, y, which):
    """Rows of x and y exchanged where `which` says so."""
    both = pd.concat([x, y], keys=["x", "y"])
    keys = np.where(which, "y", "x"), np.where(which, "x", "y")
    index = range(len(x))
    return tuple(both.loc[list(zip(k, index, strict=True))].reset_index(drop=True) for k in keys)


@pytest.mark.parametrize("policy", ["indicate", "omit"])
def test_encoding_is_invariant_under_swaps(policy):
    """Not to rounding: to the last bit, or ties between flips would break."""
    for seed in range(20):
        x, y = mixed(15, seed), mixed(15, seed + 1000)
        which = np.random.default_rng(seed).random(15) < 0.5
        encoding = fit_encoding(x, y, nan_policy=policy)
        assert fit_encoding(*swapped(x, y, which), nan_policy=policy) == encoding
        pooled = pd.concat([x, y])
        again = fit_encoding(*swapped(x, y, which), nan_policy=policy)
        np.testing.assert_array_equal(again.encode(pooled), encoding.encode(pooled))


@pytest.mark.filterwarnings("ignore::nosplit.errors.DroppedKernelWarning")  # there are few pairs
@pytest.mark.parametrize("m", [14, 20])
def test_level_at_small_n(m):
    """Rejections within the binomial bound, with a false-alarm rate of 1e-6 for each level."""
    trials, levels = 150, (0.05, 0.2, 0.5)
    pvalues = []
    for seed in range(trials):
        x, y = mixed(14, 10_000 + seed), mixed(m, 20_000 + seed)
        policy = "indicate" if seed % 2 else "omit"
        res = nosplit.two_sample_test(
            x,
            y,
            nan_policy=policy,
            calibration=Exact(n_resamples=99),
            pairs="complete",
            rng=seed,
            workers=1,
        )
        pvalues.append(res.pvalue)
    for level in levels:
        assert np.sum(np.array(pvalues) <= level) <= binom.isf(1e-6, trials, level)


def test_what_numbers_and_categories_have_to_do_with_each_other_is_seen():
    rng = np.random.default_rng(0)
    city = rng.choice(["Rome", "Oslo"], 150), rng.choice(["Rome", "Oslo"], 150)
    number = rng.normal(size=150), rng.normal(size=150)
    y = np.where(city[1] == "Rome", np.abs(number[1]), -np.abs(number[1]))
    x, y = pd.DataFrame({"c": city[0], "a": number[0]}), pd.DataFrame({"c": city[1], "a": y})
    assert nosplit.two_sample_test(x, y).reject(0.01)
    for column in ("c", "a"):
        assert not nosplit.two_sample_test(x, y, columns=column).reject(0.05)


# -- kernels -----------------------------------------------------------------------------------


def test_kernels_of_ones_own():
    x, y = pd.DataFrame(X), pd.DataFrame(Y)
    for kernels in (Gaussian(1.0), [Linear() + Gaussian(2.0)], [OnColumns(Gaussian(1.0), (0, 2))]):
        with pytest.raises(InputError, match="must not compare categories as if they were numbers"):
            nosplit.two_sample_test(x, y, kernels=kernels)
    own = [OnColumns(Gaussian(1.0), (0, 1)), OnColumns(nosplit.kernels.Delta(), (2, 3))]
    assert nosplit.two_sample_test(x, y, kernels=own, **FAST).selection.kernels == tuple(own)
    named = nosplit.two_sample_test(x, y, kernels="paper2", **FAST)
    assert [type(k).__name__ for k in named.selection.kernels] == [
        "OnColumns", "OnColumns", "OnColumns", "OnColumns", "Product",
    ]  # fmt: skip
    numbers = nosplit.two_sample_test(x, y, columns=["age", "count"], kernels="paper2", **FAST)
    assert [type(k).__name__ for k in numbers.selection.kernels] == ["Gaussian", "Linear"]


def test_plan_against_what_is_done():
    for kept in (tuple(X), ("city", "member"), ("age", "city")):
        told = nosplit.plan(n=60, p=len(kept), categorical=len({"city", "member"} & set(kept)))
        done = nosplit.two_sample_test(pd.DataFrame(X), pd.DataFrame(Y), columns=kept)
        assert (told.pairs, told.sizes.d) == (done.how.pairs, len(done.selection.kernels))
    with pytest.raises(InputError, match="`categorical` must be at most p = 2, got 3"):
        nosplit.plan(n=60, p=2, categorical=3)


def test_columns_with_nothing_to_compare():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {"a": rng.normal(size=20), "same": ["s"] * 20, "id": [f"x{i}" for i in range(20)]}
    )
    y = pd.DataFrame(
        {"a": rng.normal(3, 1, 20), "same": ["s"] * 20, "id": [f"y{i}" for i in range(20)]}
    )
    res = nosplit.two_sample_test(x, y)
    assert res.reject(0.01)
    text = "1 numeric, 2 categorical, nothing to compare in 'same', 'id'"
    assert str(res.how.encoding) == text
    with pytest.raises(InputError, match="`x` and `y` hold nothing to compare"):
        nosplit.two_sample_test(x, y, exclude="a")
    with pytest.raises(InputError, match="`x` and `y` hold nothing to compare"):
        nosplit.two_sample_test(x[["same"]], y[["same"]])


# -- results -----------------------------------------------------------------------------------


def test_result_names_columns():
    res = nosplit.two_sample_test(pd.DataFrame(X), pd.DataFrame(Y), **FAST)
    assert [row["column"] for row in res.to_dict()["columns"]] == list(X)
    assert str(res.how.encoding) == "3 numeric, 2 categorical"
    json.dumps(res.to_dict(), allow_nan=False)


def test_escape_codes_are_shown_and_not_obeyed():
    red = "\x1b[31mred\x07"
    x = pd.DataFrame({red: ["a", "b"] * 10, "n": np.arange(20.0)})
    y = pd.DataFrame({red: ["a", "a", "b", "c"] * 5, "n": np.arange(20.0) + 5})
    res = nosplit.two_sample_test(x, y, **FAST)
    assert res.columns.names == (red, "n")
    assert "\x1b" not in str(res) + str(res.columns) + res.summary()
    assert r"\x1b[31mred\x07" in str(res.columns)
    for table in (
        y.drop(columns=red),
        y.set_axis([red, red], axis=1),
        y.assign(n=[red, 1] * 10),
        y.assign(n=[{red: 1}] * 20),
    ):
        with pytest.raises(InputError) as error:
            nosplit.two_sample_test(x, table)
        assert str(error.value).isprintable()


# -- goodness of fit ---------------------------------------------------------------------------


def test_goodness_of_fit_of_tables_against_arrays():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    model, table = models.MultivariateNormal(np.zeros(2), np.eye(2)), pl.DataFrame(rows, ["a", "b"])
    expected = nosplit.goodness_of_fit_test(rows, model)
    found = nosplit.goodness_of_fit_test(table, model)
    assert found.pvalue == expected.pvalue
    assert found.how.encoding.names == ("a", "b")
    assert expected.how.encoding is None
    # In the order of the model's columns, which is that of `columns`.
    score = np.column_stack([-rows[:, 0], -rows[:, 1] / 4])
    turned = nosplit.goodness_of_fit_test(table, score[:, ::-1], columns=["b", "a"], **SIGNS)
    straight = nosplit.goodness_of_fit_test(table, score, **SIGNS)
    assert turned.pvalue == pytest.approx(straight.pvalue)
    with pytest.raises(InputError, match="column 'c' of `x` must hold numbers, as the model does"):
        nosplit.goodness_of_fit_test(table.with_columns(c=pl.lit("text")), model)


SIGNS = {"calibration": "wild", "pairs": "complete"}


def test_goodness_of_fit_omits_rows_and_their_scores():
    rows = np.random.default_rng(0).normal(size=(60, 1))
    gaps = rows.copy()
    gaps[7] = np.nan
    left = np.delete(rows, 7, axis=0)
    expected = nosplit.goodness_of_fit_test(left, -left, **SIGNS)
    found = nosplit.goodness_of_fit_test(gaps, -rows, nan_policy="omit", **SIGNS)
    assert found.pvalue == expected.pvalue
    assert (found.how.n_used, found.how.n_left_out) == (59, 1)
    with pytest.raises(InputError, match="leave gaps in the series"):
        nosplit.goodness_of_fit_test(gaps, -rows, nan_policy="omit", series=True)
    with pytest.raises(InputError, match="`nan_policy` must be 'raise' or 'omit' here"):
        nosplit.goodness_of_fit_test(gaps, -rows, nan_policy="indicate")


@pytest.mark.parametrize("calibration", ["wild", "simulate"])
def test_scaled_goodness_of_fit_does_not_depend_on_units_against_theory(calibration):
    """∇ log q of x / s is s ∇ log q: the test sees the same problem in any units."""
    rows = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 1.3]
    units = np.array([1.0, 4096.0])  # a power of two: no rounding
    results = [
        nosplit.goodness_of_fit_test(
            rows * s,
            models.MultivariateNormal(np.zeros(2), np.diag(s**2)),
            scale=True,
            calibration=calibration,
        )
        for s in (np.ones(2), units)
    ]
    np.testing.assert_allclose(results[0].selection.tau, results[1].selection.tau, rtol=1e-9)
    assert results[0].pvalue == pytest.approx(results[1].pvalue, abs=0.002)
    center, scale = (
        results[1].how.encoding.columns[1].center,
        results[1].how.encoding.columns[1].scale,
    )
    high, middle, low = np.quantile(rows[:, 1] * 4096, (0.75, 0.5, 0.25))
    assert (center, scale) == (middle, pytest.approx((high - low) / 1.349, rel=1e-4))


# -- independence ------------------------------------------------------------------------------


@BACKENDS
def test_independence_of_tables(make):
    rng = np.random.default_rng(0)
    city, age = rng.choice(["Rome", "Oslo"], 120), rng.normal(size=120)
    z = np.where(city == "Rome", age, -age) + 0.3 * rng.normal(size=120)
    table = make({"city": city.tolist(), "age": age})
    res = nosplit.independence_test(table, z)
    assert res.reject(0.01)
    assert [e and e.names for e in res.how.encoding] == [("city", "age"), None]
    both = nosplit.independence_test(table, make({"z": z, "w": rng.normal(size=120)}))
    assert both.reject(0.01)
    assert [e.names for e in both.how.encoding] == [("city", "age"), ("z", "w")]
    some = nosplit.independence_test(table, make({"z": z, "w": z}), columns=["z", "age"], **FAST)
    assert [e.names for e in some.how.encoding] == [("age",), ("z",)]


def test_independence_of_series_against_arrays():
    rng = np.random.default_rng(0)
    age, city = rng.normal(size=80), rng.choice(["Rome", "Oslo"], 80)
    plain = nosplit.independence_test(age, city)
    table = nosplit.independence_test(pd.Series(age), pd.Series(city), scale=False)
    assert plain.pvalue == table.pvalue
    assert plain.selection.kernels == table.selection.kernels


def test_independence_omits_rows_missing_in_either():
    rng = np.random.default_rng(0)
    x, y = pd.DataFrame({"a": rng.normal(size=60)}), rng.normal(size=(60, 1))
    names = rng.choice(["u", "v"], 60)
    x.loc[3, "a"], y[5] = np.nan, np.nan
    res = nosplit.independence_test(x, y, nan_policy="omit", scale=False)
    left = np.delete(np.arange(60), [3, 5])
    whole = nosplit.independence_test(x.to_numpy()[left], y[left])
    assert res.pvalue == whole.pvalue
    assert (res.how.n_used, res.how.n_left_out) == (58, 2)
    assert nosplit.independence_test(x, names, nan_policy="omit").how.n_left_out == 1
    with pytest.raises(InputError, match="Values are missing: `x` has 1 of 60 in 'a'"):
        nosplit.independence_test(x, y, nan_policy="raise")


def test_independence_level_of_mixed_tables():
    """As `test_level_at_small_n`: y is permuted inside units, its columns together."""
    trials, pvalues = 100, []
    for seed in range(trials):
        x, y = mixed(24, 30_000 + seed), mixed(24, 40_000 + seed)
        res = nosplit.independence_test(
            x[["skewed", "city"]], y[["gaps", "member"]], nan_policy="indicate",
            calibration=Exact(n_resamples=99), rng=seed, workers=1,
        )  # fmt: skip
        pvalues.append(res.pvalue)
    for level in (0.05, 0.2, 0.5):
        assert np.sum(np.array(pvalues) <= level) <= binom.isf(1e-6, trials, level)


# -- input validation --------------------------------------------------------------------------

GOOD = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "c": ["u", "v", "u", "u"]})


def bad(**changed):
    return GOOD.assign(**changed)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (bad(a=["1"] * 4), {}, "column 'a' must be of one type, got numbers in `x` and text in"),
        (bad(c=[True, False] * 2), {}, "column 'c' must be of one type, got text in `x` and boo"),
        (bad(c=[1, "u", 2.5, "v"]), {}, "'c' of `y` must hold values of one type, got float, in"),
        (bad(a=pd.Series([1, True] * 2, dtype=object)), {}, "of one type, got bool, int. Convert"),
        (bad(a=[START, START.date()] * 2), {}, "must hold values of one type, got date, datetime"),
        (bad(a=[[1]] * 4), {}, "column 'a' of `y` must hold numbers, dates, booleans or text, go"),
        (bad(a=[{"b": 1}] * 4), {}, "got dict. Convert it, or leave it out with exclude="),
        (bad(a=[b"1"] * 4), {}, "or text, got bytes. Convert it, or leave it out with exclude="),
        (bad(a=[1j] * 4), {}, "column 'a' of `y` must hold numbers, dates, booleans or text, got"),
        (bad(a=[2**70] * 4), {}, "column 'a' of `y` must hold numbers, dates, booleans or text,"),
        (bad(a=[1, np.inf, 2, -np.inf]), {}, "'a' of `y` must be finite, got inf in row 1 (2 su"),
        (GOOD.set_axis(["a", "d"], axis=1), {}, "but lacks 'c' and has 'd' besides. Say which"),
        (GOOD[["a"]], {}, "`y` must have the columns of `x`, but lacks 'c'."),
        (GOOD.set_axis(["a", "a"], axis=1), {}, "`y` must have different column names"),
        (GOOD[:0], {}, "`y` must have at least 2 rows, got 0."),
        (GOOD[:1], {}, "`y` must have at least 2 rows, got 1."),
        (GOOD[[]], {}, "`y` must have at least one column, got none."),
        (np.ones((4, 2)), {}, "must both be tables or both arrays, but only `x` is a table."),
        (GOOD, {"columns": "b"}, "must name columns of `x`, which has 'a', 'c', got 'b'."),
        (GOOD, {"columns": ["a", "a"]}, "`columns` must name every column once, got 'a' twice."),
        (GOOD, {"columns": []}, "`columns` must name at least one column, got none."),
        (GOOD, {"exclude": "agee"}, "`exclude` must name columns of `x` or `y`"),
        (GOOD, {"exclude": ["a", "c"]}, "`x` must keep at least one column, but all are left"),
        (
            GOOD,
            {"nan_policy": "drop"},
            "must be one of 'auto', 'raise', 'omit', 'indicate', got 'drop'",
        ),
        (GOOD, {"nan_policy": None}, "`nan_policy` must be a name, got None."),
        (GOOD, {"scale": "robst"}, "'robust', 'none', got 'robst'. Did you mean 'robust'?"),
        (GOOD, {"scale": 2.0}, "`scale` must be True, False, 'robust' or 'none', got 2.0."),
    ],
)
def test_message_iv(y, options, message):
    with pytest.raises(InputError) as error:
        nosplit.two_sample_test(GOOD, y, **options)
    assert message in str(error.value)


def test_numbers_too_large_to_scale_iv():
    table = bad(a=[1.7e308, -1.7e308] * 2)
    with pytest.raises(InputError, match="column 'a' must hold numbers below 1e300 in size"):
        nosplit.two_sample_test(table, table)


def test_encoded_later_iv():
    encoding = fit_encoding(GOOD)
    for table, message in (
        (GOOD[["c"]], "`table` must have the columns it had before, but lacks 'a'."),
        (bad(a=["1"] * 4), "column 'a' of `table` must hold numbers, as before, got text."),
        (bad(a=[1.0, None, 2.0, 3.0]), "Values are missing: `table` has 1 of 4 in 'a'"),
        (np.ones((4, 2)), "`table` must be a table, as before, got an array."),
    ):
        with pytest.raises(InputError) as error:
            encoding.encode(table)
        assert message in str(error.value)
    assert encoding.encode(bad(extra=1)).shape == (4, 2)
    with pytest.raises(InputError, match="`batch` must be an array, as before, got a table"):
        fit_encoding(np.ones((4, 2)) * np.arange(2)).encode(GOOD, "batch")


PLAIN = fit_encoding(GOOD).to_dict()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"columns": [], "nan_policy": "raise", "table": True},
        {"columns": [{"name": "a"}], "nan_policy": "raise", "table": True},
        {**PLAIN, "nan_policy": "drop"},
        {**PLAIN, "table": "yes"},
        {**PLAIN, "columns": [{**PLAIN["columns"][0], "scale": 0.0}]},
        {**PLAIN, "columns": [{**PLAIN["columns"][0], "center": float("nan")}]},
        {**PLAIN, "columns": [{**PLAIN["columns"][0], "more": 1}]},
    ],
)
def test_foreign_encodings_iv(values):
    with pytest.raises(InputError, match=r"must be from Encoding\.to_dict"):
        Encoding.from_dict(values)


def test_arrays_iv():
    x = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(InputError, match="must have the same number of columns, got 2 and 1"):
        nosplit.two_sample_test(x, x[:, :1], scale=True)
    with pytest.raises(InputError, match="`columns` must name columns of `x`, which has '0', '1'"):
        nosplit.two_sample_test(x, x, columns=[2])
    with pytest.raises(InputError, match="`columns` and `exclude` name columns of tables here"):
        nosplit.independence_test(x, x, columns=[0])
    infinite = x.copy()
    infinite[4, 1] = np.inf
    with pytest.raises(InputError, match="column '1' of `y` must be finite, got inf in row 4"):
        nosplit.two_sample_test(x, infinite, nan_policy="omit")
    with pytest.raises(InputError, match="`x` and `y` must have as many rows"):
        nosplit.independence_test(GOOD, np.arange(5))
    with pytest.raises(InputError, match=r"`y` must be a vector or an .* got 0 dimensions"):
        nosplit.independence_test(GOOD, 3.0)
    with pytest.raises(InputError, match="`y` must be a rectangular array"):
        nosplit.independence_test(GOOD, [[1.0], [1.0, 2.0], [3.0], [4.0]])


def test_tables_of_clusters_are_not_collected_iv():
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(InputError, match=r"`y` must be a Dask array .*Both samples must be"):
        nosplit.two_sample_test(dd.from_pandas(GOOD, npartitions=2), GOOD)


def test_arrays_import_no_extra():
    program = """
import sys, numpy as np, nosplit
x = np.random.default_rng(0).normal(size=(20, 2))
nosplit.two_sample_test(x, x + 1, scale=True, nan_policy="omit")
nosplit.independence_test(x[:, 0], x[:, 1])
print(*(m for m in ("narwhals", "pandas", "polars", "pyarrow") if m in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == []
