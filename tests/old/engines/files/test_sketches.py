"""Files that are not read whole: the same cells and the same p-value as in memory."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import nosplit
from _same import assert_same
from nosplit import Blocks, Exact, InputError, Sketch
from nosplit._old.data.files import whole
from nosplit._old.data.files.opening import open_source
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.files import adjacent, side
from nosplit._old.engines.files.side import FileSide
from nosplit._old.engines.memory import ArraySide
from nosplit._old.engines.sides import Sides
from nosplit._old.engines.sketching.steps import prepare_sketch, sketch_pair
from nosplit.data.options import Options
from nosplit.kernels import Gaussian, Laplace, Linear
from nosplit.methods import Split

FEW = {"calibration": Exact(n_resamples=99), "pairs": "sketch"}
KERNELS = (Gaussian(1.0), Laplace(2.0), Linear())
CLOSED = {"pairs": "adjacent", "calibration": "asymptotic", "kernels": KERNELS, "method": "ost"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def large(monkeypatch):
    """Every file is too large to be read whole, and batches are small."""
    monkeypatch.setattr(whole, "SMALL", 0)
    monkeypatch.setattr(side, "BATCH", 3000)


def table(values, names="abcdefgh"):
    return pa.table(dict(zip(names, values.T, strict=False)))


def write(path, rows, group=500):
    pq.write_table(rows if isinstance(rows, pa.Table) else table(rows), path, row_group_size=group)


def normal(n, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def written(name, values):
    """The same rows as files of all kinds."""
    np.save(f"{name}.npy", values)
    np.save(f"{name}_turned.npy", np.asfortranarray(values))
    write(f"{name}.parquet", values, group=333)
    np.savetxt(f"{name}.csv", values, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    np.savetxt(f"{name}_plain.csv", values, delimiter=",", fmt="%.17g")
    Path(name).mkdir()
    for i, part in enumerate(np.array_split(values, 3)):
        write(f"{name}/{i}.parquet", part, group=100 + i)


# -- the same as in memory -------------------------------------------------------------------------


def test_all_kinds_of_files_against_memory(large, monkeypatch):
    x, y = normal(2000), 1.02 * normal(3001, seed=1)
    written("x", x)
    written("y", y)
    arrays = nosplit.two_sample_test(x, y, **FEW)
    tables = nosplit.two_sample_test(table(x), table(y), **FEW)
    assert arrays.how.pairs == "sketch"
    assert arrays.pvalue != tables.pvalue  # the columns of tables are scaled
    for batch in (1 << 20, 5000):
        monkeypatch.setattr(side, "BATCH", batch)
        for paths in (
            ("x.npy", "y.npy"),
            ("x_turned.npy", "y_plain.csv"),
            ("x.npy", "y.parquet"),
            ("x_plain.csv", y),
        ):
            assert_same(nosplit.two_sample_test(*paths, **FEW), arrays)
        for paths in (("x.parquet", "y.parquet"), ("x.csv", "y"), ("x", table(y))):
            assert_same(nosplit.two_sample_test(*paths, **FEW), tables)


def test_cells_do_not_depend_on_batches_and_workers(large, monkeypatch):
    x, y = normal(70_000, 2), normal(2000, 2, seed=1)  # more rows than a table of places holds
    np.save("x.npy", x)
    write("y.parquet", y)
    options = Options.of(None, None, None, "raise")
    asked = Asked(options, None, None, Sketch(frequencies=4), Exact(n_resamples=99), 1.0)

    def cells(sides):
        sketched = sketch_pair(sides, prepare_sketch(sides, asked, np.random.default_rng(0)))
        return [sketched.x.features, sketched.x.bins, sketched.y.features, sketched.y.bins]

    expected = cells(Sides(ArraySide("x", x), ArraySide("y", y)))
    for batch, workers in product((1 << 20, 7000), (1, 3)):
        monkeypatch.setattr(side, "BATCH", batch)
        files = (FileSide(open_source(f), options, True) for f in ("x.npy", "y.parquet"))
        for found, wanted in zip(cells(Sides(*files, workers)), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def tables_of_all_kinds(n, seed):
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    return pa.table(
        {
            "number": pa.array(number, mask=rng.random(n) < 0.05),
            "rare": np.where(np.arange(n) == 77, np.nan, rng.normal(size=n)),
            "whole": rng.integers(0, 9, n).astype(np.int32),
            "city": pa.array(rng.choice(["Oslo", "Rome", "Bern"], n), mask=rng.random(n) < 0.1),
            "kind": pa.array(rng.choice(["a", "b"], n)).dictionary_encode(),
            "member": rng.random(n) < 0.3,
            "day": pa.array(rng.integers(0, 400, n), pa.int32()).cast(pa.date32()),
        }
    )


@pytest.mark.parametrize("policy", ["omit", "indicate"])
def test_tables_with_missing_values_against_memory(large, policy):
    x, y = tables_of_all_kinds(2500, 0), tables_of_all_kinds(2000, 1)
    write("x.parquet", x, group=400)
    write("y.parquet", y.select(y.column_names[::-1]), group=700)
    found = nosplit.two_sample_test("x.parquet", "y.parquet", nan_policy=policy, **FEW)
    assert_same(found, nosplit.two_sample_test(x, y, nan_policy=policy, **FEW))
    missing = sum(len(rows) - len(rows.drop_null()) + 1 for rows in (x, y))
    assert found.how.n_used + found.how.n_left_out == 4500
    if policy == "omit":  # cells hold the same number of rows, none of which was left out
        assert found.how.n_left_out >= missing
        assert (
            nosplit.two_sample_test(
                "x.parquet", "y.parquet", nan_policy="omit", columns="whole", **FEW
            ).how.n_left_out
            < missing
        )
    else:  # the lone gaps of both samples are compared, whether or not they are in the pilot
        assert [column.indicated for column in found.how.encoding.columns[:3]] == [
            True,
            True,
            False,
        ]
    with pytest.raises(InputError, match="missing"):
        nosplit.two_sample_test("x.parquet", "y.parquet", nan_policy="raise", **FEW)
    default = nosplit.two_sample_test("x.parquet", "y.parquet", **FEW)
    assert_same(default, nosplit.two_sample_test(x, y, nan_policy="indicate", **FEW))


def test_columns_are_picked_and_scaled_against_memory(large):
    x, y = normal(2000) * [1.0, 1e6, 1e-6], normal(2500, seed=1) * [1.0, 1e6, 1e-6]
    np.save("x.npy", x)
    np.save("y.npy", y)
    options = {"columns": [2, 0], "scale": True, **FEW}
    assert_same(
        nosplit.two_sample_test("x.npy", "y.npy", **options),
        nosplit.two_sample_test(x, y, **options),
    )
    write("x.parquet", x)
    write("y.parquet", y.astype(np.float32))
    options = {"exclude": "b", **FEW}
    expected = nosplit.two_sample_test(table(x), table(y.astype(np.float32)), **options)
    assert_same(nosplit.two_sample_test("x.parquet", "y.parquet", **options), expected)
    assert expected.columns.names == ("a", "c")


def test_rows_that_depend_on_one_another_against_memory(large):
    """They are warned of, in the same words, and nothing is done about them."""
    rng = np.random.default_rng(0)
    x, y = (np.convolve(rng.normal(size=6000), 0.8 ** np.arange(30), "valid") for _ in "xy")
    np.save("x.npy", x)
    write("y.parquet", y[:, None])
    expected = nosplit.two_sample_test(x, y, **FEW)
    found = nosplit.two_sample_test("x.npy", "y.parquet", **FEW)
    assert_same(found, expected)
    assert found.warnings == expected.warnings
    assert found.how.calibration == "exact"
    assert any("Neighbouring rows are alike" in text for text in found.warnings)


def test_text_with_quoted_line_ends_against_memory(large):
    """A row may have several lines: then lines do not tell how many rows there are."""
    rng = np.random.default_rng(0)
    rows = [(value, rng.choice(["plain", "two\nlines"])) for value in rng.normal(size=2000)]
    text = "a,b\n" + "".join(f'{value!r},"{word}"\n' for value, word in rows)
    Path("x.csv").write_text(text.replace("np.float64(", "").replace(")", ""))
    x = pa.table({"a": [value for value, _ in rows], "b": [word for _, word in rows]})
    assert open_source("x.csv").n_rows == 2000
    assert_same(nosplit.two_sample_test("x.csv", x, **FEW), nosplit.two_sample_test(x, x, **FEW))


# -- what is planned -------------------------------------------------------------------------------


def test_few_wide_rows_are_read_whole(large):
    np.save("x.npy", normal(60, 40))
    np.save("y.npy", normal(60, 40, seed=1))
    found = nosplit.two_sample_test("x.npy", "y.npy")
    assert found.how.pairs == nosplit.plan(n=60, p=40).pairs == "complete"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"calibration": "exact", "pairs": "adjacent"}, "permutes all rows"),
        ({"method": Split()}, "must not be Split"),
        ({"pairs": Blocks(8)}, 'must be "sketch", "adjacent" or "linear", got'),
        ({"pairs": "complete"}, 'must be "sketch", "adjacent" or "linear", got'),
        ({"pairs": 5}, 'must be "sketch", "adjacent" or "linear", got'),
        ({"pairs": "sketch", "calibration": "asymptotic"}, "pairs with a normal limit"),
        ({"rng": -1}, "`rng`"),
        ({"shuffle": "no"}, "`shuffle`"),
    ],
)
def test_what_large_files_cannot_have_iv(large, options, words):
    np.save("x.npy", normal(4000, 1))
    with pytest.raises(InputError, match=words):
        nosplit.two_sample_test("x.npy", "x.npy", **options)


@pytest.mark.parametrize("pairs", ["sketch", "adjacent"])
def test_files_that_change_iv(large, monkeypatch, pairs):
    write("x.parquet", normal(2000))
    np.save("y.npy", normal(2000, seed=1))
    pilot = FileSide.pilot

    def remove(self, rows):
        found = pilot(self, rows)
        Path("x.parquet").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(FileSide, "pilot", remove)
    calibration = FEW["calibration"] if pairs == "sketch" else "asymptotic"
    with pytest.raises(InputError, match=r"`x\.parquet` cannot be read: No such file"):
        nosplit.two_sample_test(
            "x.parquet", "y.npy", pairs=pairs, calibration=calibration, workers=1
        )


def test_files_that_grow_iv(large):
    x = FileSide(open_source(_saved("x.npy", normal(500))), Options.of(None, None, None, "raise"))
    assert sum(len(batch) for _, batch in x.counted(500)) == 500
    for n in (499, 501):
        with pytest.raises(InputError, match=r"`x\.npy` must not change while it is read"):
            list(x.counted(n))


def _saved(name, values):
    np.save(name, values)
    return name


def pvalues(x, y, trials):
    found = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        for name, rows in (("x", x(rng)), ("y", y(rng))):
            np.save(f"{name}.npy", rows)
        options = {"pairs": Sketch(cells=50, frequencies=2), "calibration": Exact(n_resamples=99)}
        found.append(nosplit.two_sample_test("x.npy", "y.npy", rng=seed, **options).pvalue)
    return np.array(found)


def rising(rng, n=1000):
    rows = rng.exponential(size=(n, 2))
    return rows[np.argsort(rows[:, 0])]


def in_time(rng, n=1000):
    """Rows of which the first half are unlike the second, as those of another season."""
    return np.concatenate([rng.normal(0.0, 1.0, n // 2), rng.normal(3.0, 2.0, n // 2)])[:, None]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (rising, rising),
        (rising, lambda rng: rising(rng)[::-1]),
        (rising, lambda rng: rng.permutation(rising(rng, 1500))),
        (in_time, lambda rng: rng.permutation(in_time(rng))),
    ],
    ids=["both sorted", "against each other", "one sorted", "in time"],
)
def test_order_does_not_matter(large, x, y):
    """P-values of the same law are uniform, whatever the order of rows.

    Bound: Kolmogorov's, one false alarm in 10,000; files paired as they come had p = 1e-300.
    """
    found = pvalues(x, y, trials=60)
    # P-values are multiples of 1/100: moved to the middle of their steps.
    assert stats.kstest(found - 0.005, "uniform").pvalue > 1e-4


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("pairs", ["adjacent", "linear"])
@pytest.mark.parametrize("n", [2001, 514])
def test_adjacent_pairs_against_memory(large, monkeypatch, n, pairs):
    x, y = normal(n), normal(n, seed=1)
    np.save("x.npy", x)
    write("y.parquet", y)
    expected = nosplit.two_sample_test(x, y, shuffle=False, **CLOSED)
    for block in (1 << 20, 600):
        monkeypatch.setattr(adjacent, "BLOCK", block)
        found = nosplit.two_sample_test("x.npy", "y.parquet", **{**CLOSED, "pairs": pairs})
        for name in ("pairs", "calibration", "n_units", "n_pairs", "n_used", "n_left_out"):
            assert getattr(found.how, name) == getattr(expected.how, name)
        np.testing.assert_allclose(
            found.selection.tau, expected.selection.tau, rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            found.selection.cov, expected.selection.cov, rtol=1e-9, atol=1e-12
        )


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_adjacent_pairs_of_tables_without_missing_rows(large):
    x, y = tables_of_all_kinds(1500, 0), tables_of_all_kinds(1500, 1)
    write("x.parquet", x)
    options = {"pairs": "linear", "calibration": "asymptotic", "nan_policy": "omit"}
    with pytest.raises(InputError, match="need samples of the same size"):
        nosplit.two_sample_test("x.parquet", y, **options)
    swapped = x.take(np.arange(len(x))[::-1])  # as many rows are left out
    found = nosplit.two_sample_test("x.parquet", swapped, **options)
    assert found.how.pairs == "adjacent"
    assert found.how.n_left_out > 100
    assert "p = " in str(found)
    assert (
        nosplit.two_sample_test("x.parquet", y, method="naive", columns="whole").how.pairs
        == "adjacent"
    )
