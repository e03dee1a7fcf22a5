"""Files: what is read is what is in them, whole or in batches, and nothing else ever comes out."""

from __future__ import annotations

import contextlib
import math
import threading
import warnings
from functools import partial
from itertools import repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import nosplit
from nosplit import Blocks, DependentRowsWarning, Gaussian, InputError, Laplace, Linear, Split
from nosplit.data.files import csv, npy, parquet, whole
from nosplit.data.files.opening import open_source
from nosplit.engines.files import mixing, reading
from nosplit.engines.files import two_sample as larger
from nosplit.engines.files.columns import Columns, Numbers
from nosplit.engines.files.drift import Drift, Features
from nosplit.families.two_sample import Paired
from nosplit.kernels import IMQ, Matern, OnColumns, Polynomial
from nosplit.kernels.bank import Bank
from nosplit.pairs.loop import accumulate
from nosplit.pairs.order import Natural
from nosplit.pairs.pairing import Adjacent

KERNELS = (Gaussian(1.0), Laplace(2.0), Linear())
FIXED = {"kernels": KERNELS, "method": "ost", "scale": False}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def streamed(monkeypatch):
    """Every file is too large to be read whole, and blocks are small."""
    monkeypatch.setattr(whole, "SMALL", 0)
    monkeypatch.setattr(reading, "BLOCK", 256)
    monkeypatch.setattr(reading, "BATCH", 3000)
    monkeypatch.setattr(whole, "PILOT", 400)


def table(values, names="abcdefgh"):
    return pa.table(dict(zip(names, values.T, strict=False)))


def write(path, values, group=100, **options):
    pq.write_table(
        values if isinstance(values, pa.Table) else table(values),
        path,
        row_group_size=group,
        **options,
    )
    return path


def normal(n, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def same_test(a, b):
    """The same pairs, to rounding."""
    assert (a.n_pairs, a.n_units, a.n_used, a.n_left_out) == (
        b.n_pairs,
        b.n_units,
        b.n_used,
        b.n_left_out,
    )
    np.testing.assert_allclose(a.tau, b.tau, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.cov, b.cov, rtol=1e-9, atol=1e-12)


# -- whole files -----------------------------------------------------------------------------------


def test_formats_hold_the_same_rows(tmp_path):
    values = normal(50)
    np.save("a.npy", values)
    np.savez("a.npz", first=values, second=values[:5])
    np.savetxt("a.csv", values, delimiter=",")
    for path in ("a.npy", "a.npz:first", "a.csv"):
        np.testing.assert_array_equal(open_source(path).whole(), values)
    write("a.parquet", values, group=7)
    np.savetxt("named.csv", values, delimiter=",", header="a,b,c", comments="")
    folder = Path("folder")
    folder.mkdir()
    write(folder / "2.parquet", values[20:])
    write(folder / "1.parquet", values[:20])
    write(folder / "_notes.parquet", values[:1])
    for path in ("a.parquet", "named.csv", "folder", "folder/[0-9].parquet", Path("a.parquet")):
        source = open_source(path)
        assert source.names == ("a", "b", "c")
        assert source.whole().equals(table(values)), path


def test_paths_are_tested_as_what_they_hold():
    x, y = table(normal(60)), table(normal(70, seed=1))
    write("x.parquet", x)
    write("y.parquet", y)
    expected = nosplit.two_sample_test(x, y, kernels="paper2")
    for paths in (("x.parquet", "y.parquet"), (Path("x.parquet"), Path("y.parquet"))):
        found = nosplit.two_sample_test(*paths, kernels="paper2")
        assert found.to_dict() == expected.to_dict()
    assert found.columns == ("a", "b", "c")
    mixed = nosplit.two_sample_test("x.parquet", y, kernels="paper2")
    assert mixed.to_dict() == expected.to_dict()


def test_other_questions_take_paths():
    chain, other = normal(80, 1), normal(80, 1, seed=1)
    np.save("chain.npy", chain)
    write("other.parquet", other)
    found = nosplit.goodness_of_fit_test("chain.npy", lambda x: -x)
    assert found.pvalue == nosplit.goodness_of_fit_test(chain, lambda x: -x).pvalue
    found = nosplit.independence_test("chain.npy", "other.parquet")
    assert found.pvalue == nosplit.independence_test(chain, other).pvalue


def test_text_and_missing_values_in_csv():
    Path("x.csv").write_text("age,city,member\n31,Rome,true\n,Oslo,false\n57,NA,true\n")
    rows = open_source("x.csv").whole()
    assert rows.to_pydict() == {
        "age": [31, None, 57],
        "city": ["Rome", "Oslo", None],
        "member": [True, False, True],
    }
    with pytest.raises(InputError, match="missing"):
        nosplit.two_sample_test("x.csv", "x.csv")


def test_csv_without_arrow_against_arrow(monkeypatch):
    rng = np.random.default_rng(0)
    for name, seed, order in (("x", 0, [0, 1]), ("y", 1, [1, 0])):
        values = normal(40, 2, seed) * [1.0, 100.0]
        header = ",".join("ab"[i] for i in order)
        np.savetxt(f"{name}.csv", values[:, order], delimiter=",", header=header, comments="")
    del rng
    expected = nosplit.two_sample_test("x.csv", "y.csv", kernels="paper2")
    monkeypatch.setattr(csv, "find_spec", lambda name: None)
    found = nosplit.two_sample_test("x.csv", "y.csv", kernels="paper2")
    assert found.pvalue == expected.pvalue
    np.testing.assert_allclose(found.tau, expected.tau, rtol=1e-12)
    Path("z.csv").write_text("a,b\n1,Oslo\n3,Rome\n")
    with pytest.raises(InputError, match=r"got 'Oslo' in line 2, column 2.*nosplit\[tables\]"):
        open_source("z.csv").whole()
    Path("z.csv").write_text("a,b\n1,2,3\n3,4,5\n")
    with pytest.raises(InputError, match="got 2 names and 3 columns"):
        open_source("z.csv").whole()


# -- batches ---------------------------------------------------------------------------------------


def sources():
    values = np.arange(3000.0).reshape(-1, 2)
    np.save("a.npy", values)
    np.save("ints.npy", values.astype(np.int32))
    np.save("turned.npy", np.asfortranarray(values))
    np.savetxt("a.csv", values, delimiter=",", header="a,b", comments="")
    write("a.parquet", values, group=70)
    write("one.parquet", values, group=5000)
    for i, part in enumerate(np.array_split(values, 7)):
        Path("folder").mkdir(exist_ok=True)
        write(f"folder/{i}.parquet", part, group=50 + 10 * i)
    names = ("a.npy", "ints.npy", "turned.npy", "a.csv", "a.parquet", "one.parquet", "folder")
    return values, [open_source(name) for name in names]


def as_rows(batch):
    if isinstance(batch, np.ndarray):
        return batch
    return np.stack([column.to_numpy() for column in batch.columns], axis=1)


def test_batches_hold_all_rows_once():
    values, found = sources()
    for source in found:
        in_order = np.concatenate([as_rows(b) for b in source.batches(128)])
        np.testing.assert_array_equal(in_order, values)
        for seed in (0, 1):
            batches = list(source.batches(128, None, np.random.default_rng(seed)))
            rows = np.concatenate([as_rows(b) for b in batches])
            np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], values)


def test_mixed_batches_are_like_the_file():
    """Of sorted rows, every batch has some from every tenth of the file."""
    _, found = sources()
    for source in found:
        if source.path in ("a.csv", "one.parquet"):
            continue
        for batch in list(source.batches(300, None, np.random.default_rng(0)))[:-1]:
            tenths = np.bincount((as_rows(batch)[:, 0] // 300).astype(int), minlength=10)
            assert tenths.min() >= 0.5 * len(batch) / 10, source.path


def test_only_the_wanted_columns_are_read():
    write("a.parquet", normal(100))
    for rng in (None, np.random.default_rng(0)):
        batch = next(open_source("a.parquet").batches(50, ["c", "a"], rng))
        assert batch.column_names == ["c", "a"]


def test_strands_fit_the_memory(monkeypatch):
    values = normal(4000, 2)
    write("a.parquet", values, group=100, use_dictionary=False, compression="none")
    source = open_source("a.parquet")
    group = source._groups()[0]
    page = source._page(group, source.names)
    assert 0 <= page.bytes - 2 * (100 * (8 + 2) + parquet.BUFFER) <= 200
    assert page.rows == 100
    assert source._page(group, ["a"]).bytes < page.bytes
    rng = np.random.default_rng(0)
    assert len(source.strands(500, source.names, rng)) == 40
    batches = 8 * 2 * 500
    monkeypatch.setattr(parquet, "MEMORY", 35 * page.bytes + batches)
    assert len(source.strands(500, source.names, rng)) == 35
    monkeypatch.setattr(parquet, "MEMORY", 7 * page.bytes + batches // 2)  # smaller ones
    assert len(source.strands(500, source.names, rng)) == 7
    rows = np.concatenate([as_rows(b) for b in source.batches(500, None, rng)])
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(values, axis=0))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("checksum", [False, True])
def test_pages_tell_their_size(version, checksum):
    options = {"data_page_version": version, "write_page_checksum": checksum}
    options |= {"use_dictionary": False, "compression": "snappy", "max_rows_per_page": 300}
    write("a.parquet", normal(2000, 2), group=1000, **options)
    source = open_source("a.parquet")
    page = source._page(source._groups()[0], source.names)
    assert page.rows == 300
    assert 0 <= page.bytes - 2 * (300 * (8 + 2) + parquet.BUFFER) <= 100
    assert parquet._read_page(b"\x00\x01") == (parquet.PAGE, 0)
    assert parquet._read_page(b"") == (parquet.PAGE, 0)


def test_strands_hold_all_rows_once():
    values, found = sources()
    for source in found:
        strands = source.strands(128, None, np.random.default_rng(0))
        parts = [[as_rows(batch) for batch in strand.batches] for strand in strands]
        assert [sum(map(len, part)) for part in parts] == [strand.rows for strand in strands]
        rows = np.concatenate([batch for part in parts for batch in part])
        np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], values)


def strands(columns, lengths, said=None):
    """Strands of the rows of (p, n) columns, in batches of some lengths each."""
    parts = np.split(columns, np.cumsum([sum(some) for some in lengths])[:-1], axis=1)
    batches = [
        map(Numbers.of, map(np.ascontiguousarray, np.split(part, np.cumsum(some)[:-1], axis=1)))
        for part, some in zip(parts, lengths, strict=True)
    ]
    return list(zip(said or [sum(some) for some in lengths], batches, strict=True))


def rows_of(numbers):
    p = len(numbers.addresses)
    return numbers.scaled(np.zeros(p), np.ones(p))


LENGTHS = (
    [[1000]] * 40,
    [[1]],
    [[3], [1], [2]],
    [[0, 5, 0], [1, 1, 1, 1]],
    [[20_000, 30_000, 7]],
    [[700, 1], [1], [19_000, 60_000], [5] * 100],
)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_mixer_permutes(lengths):
    rng = np.random.default_rng(0)
    n = sum(map(sum, lengths))
    columns = rng.normal(size=(2, n))
    blocks = list(mixing.Mixer(strands(columns, lengths), 2, rng).blocks(repeat(30_001)))
    assert [block.size for block in blocks] == [30_001] * (n // 30_001) + [n % 30_001]
    mixed = np.concatenate([rows_of(block) for block in blocks], axis=1)
    order = np.argsort(mixed[0])
    np.testing.assert_array_equal(mixed[:, order], columns[:, np.argsort(columns[0])])


def test_mixer_makes_no_more_blocks_than_asked_for():
    columns = normal(2, 1000)
    mixer = mixing.Mixer(strands(columns, [[600], [400]]), 2, np.random.default_rng(0))
    assert [block.size for block in mixer.blocks([100, 300])] == [100, 300]


def test_mixer_ends_with_strands_that_are_shorter_than_they_said():
    """Rows with missing values are left out on the way, and lines of text can be joined."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2, 3000))
    said = [2000, 1900, 10**6]
    found = strands(columns, [[1000], [200, 700], [100] * 11], said)
    blocks = list(mixing.Mixer(found, 2, rng).blocks(repeat(256)))
    mixed = np.concatenate([rows_of(block) for block in blocks], axis=1)
    np.testing.assert_array_equal(np.sort(mixed, axis=1), np.sort(columns, axis=1))


def test_hands_are_like_all_strands():
    """Each takes from every strand its share of the rows, to one row."""
    lengths = [[500, 500], [3000], [100] * 20]
    which = np.repeat([0.0, 1.0, 2.0], [1000, 3000, 2000])[None]
    mixer = mixing.Mixer(strands(which, lengths), 1, np.random.default_rng(0))
    for block in mixer.blocks([60] * 100):
        counts = np.bincount(rows_of(block)[0].astype(int), minlength=3)
        assert abs(counts - [10, 30, 20]).max() <= 1


def test_mixer_leaves_no_correlation_of_neighbours():
    """Sorted row groups, mixed: lag-1 correlations of 40 files are as of independent rows.

    Bound: four standard deviations of their mean, one false alarm in 16,000.
    """
    rng = np.random.default_rng(0)
    n, trials = 3 * mixing.HAND, 40
    rows = np.linspace(-1.0, 1.0, 12).repeat(n // 12)[None]
    lags = []
    for _ in range(trials):
        mixer = mixing.Mixer(strands(rows, [[n // 24] * 2] * 12), 1, rng)
        mixed = np.concatenate([rows_of(block)[0] for block in mixer.blocks(repeat(10**5))])
        lags.append(np.corrcoef(mixed[:-1], mixed[1:])[0, 1])
    assert abs(np.mean(lags)) < 4.0 / math.sqrt(n * trials)
    # A hand is a stratified sample, which varies less than an independent one.
    assert abs(np.std(lags) * math.sqrt(n) - 1.0) < 0.5


def in_pieces(columns, *batches):
    """Batches of the rows of (p, n) columns, each in pieces of some lengths."""
    parts = np.split(columns, np.cumsum([sum(sizes) for sizes in batches])[:-1], axis=1)
    for part, sizes in zip(parts, batches, strict=True):
        numbers = Numbers.of(part.copy(), raw=True)
        ends = np.cumsum(sizes)
        yield [numbers.part(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def test_blocks_have_the_sizes_asked_for():
    columns = np.stack([np.arange(100.0), -np.arange(100.0)])
    batches = list(in_pieces(columns, [25], [9, 0, 16], [25], [25]))
    found = list(mixing.InOrder(iter(batches)).blocks([10, 20, 5, 50, 99, 99]))
    assert [block.size for block in found] == [10, 20, 5, 50, 15]
    assert all(block.raw for block in found)
    np.testing.assert_array_equal(np.concatenate([*map(rows_of, found)], axis=1), columns)
    assert len(list(mixing.InOrder(iter(batches)).blocks([30]))) == 1
    # Where they are, if they can: the first block is a part of its batch.
    np.testing.assert_array_equal(found[0].addresses, batches[0][0].addresses)


def test_blocks_side_by_side():
    """Even numbers of rows, none lost but the last, wherever batches end."""
    columns = np.stack([np.arange(101.0), -np.arange(101.0)])
    x = in_pieces(columns, [10, 11], [1], [39], [40])
    y = in_pieces(-columns, [7], [30, 1, 1], [1], [61])
    found = list(mixing.side_by_side(*map(mixing.InOrder, (x, y))))
    sides = [np.concatenate([rows_of(block[i]) for block in found], axis=1) for i in (0, 1)]
    assert sides[0].shape[1] == 101
    np.testing.assert_array_equal(sides[0], columns)
    np.testing.assert_array_equal(sides[1], -columns[:, : sides[1].shape[1]])
    assert all(x.size == y.size and x.size % 2 == 0 for x, y in found[:-1])


def test_reading_ahead_ends_with_its_reader():
    def failing():
        yield 1
        raise InputError("here")

    found = mixing.ahead(failing())
    assert next(found) == 1
    with pytest.raises(InputError, match="here"):
        next(found)
    endless = mixing.ahead(iter(int, 1))
    assert next(endless) == 0
    endless.close()
    assert not any(t.name == "nosplit-reader" for t in threading.enumerate())


@pytest.mark.parametrize(
    "kernels",
    [
        (Gaussian(1.0),),
        (Laplace(1.0), Gaussian(0.5), Gaussian(1.0), Linear()),
        (Linear(),),
        (Polynomial(2), IMQ(1.0), Matern(1.0, 1.5)),
    ],
)
def test_columns_against_rows(kernels):
    rng = np.random.default_rng(0)
    for n, p in ((2, 1), (517, 3), (1300, 11)):
        x, y = rng.normal(size=(2, p, n))
        bank = Bank(kernels)
        factors = None if Polynomial(2) in kernels else 2.0 ** rng.integers(-2, 2, size=p)
        columns = Columns(Numbers.of(x), Numbers.of(y), bank, factors)
        x, y = ((a.T if factors is None else a.T * factors).copy() for a in (x, y))
        rows = Paired(x, y, Natural(), Natural(), bank, range(n))
        found, expected = (accumulate(u, Adjacent()) for u in (columns, rows))
        (job,) = Adjacent().jobs(n, n)
        np.testing.assert_allclose(columns.values(job), rows.values(job), rtol=1e-12)
        assert found.n == expected.n == n // 2
        scale = np.sqrt(np.diagonal(expected.second_moment))
        np.testing.assert_allclose(found.mean / scale, expected.mean / scale, atol=1e-12)
        np.testing.assert_allclose(found.cov, expected.cov, atol=1e-12 * scale.max() ** 2)


# -- larger than memory ----------------------------------------------------------------------------


def streamed_and_whole(x, y, monkeypatch, **options):
    found = nosplit.two_sample_test(x, y, shuffle=False, **FIXED, **options)
    monkeypatch.setattr(whole, "SMALL", 10**9)
    options = {"pairs": "adjacent", "calibration": "asymptotic"} | options
    return found, nosplit.two_sample_test(x, y, shuffle=False, **FIXED, **options)


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("kernels", [KERNELS, (Polynomial(2), Gaussian(2.0))])
@pytest.mark.parametrize("unlike", [False, True])
@pytest.mark.parametrize("largest", [1e6, 1e60])
def test_scaled_columns_against_memory(streamed, monkeypatch, kernels, unlike, largest):
    """Columns far from 0, of all scales, also where those of one file are of another type."""
    monkeypatch.setattr(whole, "PILOT", 10**6)  # all rows: the scales are those in memory
    for name, seed in (("x", 0), ("y", 1)):
        values = (100 * normal(3001, 3, seed)).round()
        columns = [values[:, 0] / 1e6 + 7.0, values[:, 1] + 1e9, values[:, 2] * largest]
        names = ["a", "b", "c"]
        if unlike and name == "y":
            columns[1] = columns[1].astype(np.uint32)
        write(f"{name}.parquet", pa.table(columns, names=names), group=333 + seed)
    options = {"kernels": kernels, "method": "ost", "shuffle": False}
    found = nosplit.two_sample_test("x.parquet", "y.parquet", **options)
    monkeypatch.setattr(whole, "SMALL", 10**9)
    options |= {"pairs": "adjacent", "calibration": "asymptotic"}
    expected = nosplit.two_sample_test("x.parquet", "y.parquet", **options)
    same_test(found, expected)


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize(("n", "m"), [(3001, 3001), (257, 257), (513, 1600), (2001, 2000)])
def test_every_row_counts(streamed, n, m):
    """Also a last one without a partner, whatever the kernels, the pairs and the order."""
    np.save("x.npy", normal(n, 2))
    np.save("y.npy", normal(m, 2, 1))
    for kernels in (KERNELS, [OnColumns(Gaussian(1.0), (0,))]):
        for shuffle in (True, False):
            for pairs in ("auto", 5):
                options = {"kernels": kernels, "shuffle": shuffle, "pairs": pairs}
                found = nosplit.two_sample_test("x.npy", "y.npy", method="ost", **options)
                assert found.n_used + found.n_left_out == n + m
                if pairs == "auto":
                    assert (found.n_units, found.n_pairs) == (min(n, m), min(n, m) // 2)


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("kind", ["parquet", "folder", "npy", "csv", "named.csv", "float", "int"])
def test_one_pass_against_memory(streamed, monkeypatch, kind):
    """In order, the pairs are those of the rows in memory, whatever they are read from."""
    for name, seed in (("x", 0), ("y", 1)):
        values = np.round(100 * normal(3001, 3, seed)) / 50
        match kind:
            case "parquet":
                write(f"{name}.{kind}", values, group=333 + seed)
            case "folder":
                Path(f"{name}.folder").mkdir()
                for i, part in enumerate(np.array_split(values, 3 + seed)):
                    write(f"{name}.folder/{i}.parquet", part)
            case "npy":
                np.save(f"{name}.npy", values)
            case "csv" | "named.csv":
                names = "a,b,c" if kind == "named.csv" else ""
                np.savetxt(f"{name}.{kind}", values, delimiter=",", header=names, comments="")
            case _:
                dtype = np.float32 if kind == "float" else np.int64
                write(f"{name}.{kind}.parquet", (50 * values).astype(dtype))
    ending = f"{kind}.parquet" if kind in ("float", "int") else kind
    found, expected = streamed_and_whole(f"x.{ending}", f"y.{ending}", monkeypatch)
    same_test(found, expected)
    assert found.pairs == "adjacent"
    assert found.columns == expected.columns


@pytest.mark.parametrize(("n", "m"), [(700, 1900), (1900, 700), (100, 2500), (1000, 1050)])
def test_one_pass_of_unequal_files_against_memory(streamed, monkeypatch, n, m):
    write("x.parquet", normal(n))
    write("y.parquet", normal(m, seed=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nosplit.UnsafeAsymptoticsWarning)
        if (n, m) == (1000, 1050):  # about as long: one row of either to a unit
            found = nosplit.two_sample_test("x.parquet", "y.parquet", **FIXED)
            assert (found.n_units, found.n_used, found.n_left_out) == (1000, 2000, 50)
            return
        found, expected = streamed_and_whole("x.parquet", "y.parquet", monkeypatch)
    same_test(found, expected)
    assert found.n_left_out == max(0, max(n, m) - 16 * min(n, m))


def test_one_pass_of_mixed_tables(streamed, monkeypatch):
    """Text, booleans and dates, encoded batch by batch, with kernels that need no bandwidth."""
    rng = np.random.default_rng(0)
    for name in "xy":
        rows = pa.table(
            {
                "size": rng.normal(size=3000),
                "city": rng.choice(["Oslo", "Rome", "Bern"], size=3000),
                "member": rng.random(3000) < 0.5,
            }
        )
        write(f"{name}.parquet", rows)
    found = nosplit.two_sample_test("x.parquet", "y.parquet")
    assert not found.reject(1e-4)
    assert found.columns == ("size", "city", "member")
    assert found.n_used == 6000
    other = rows.set_column(1, "city", pa.array(rng.choice(["Oslo", "Rome", "Riga"], size=3000)))
    write("z.parquet", other)
    assert nosplit.two_sample_test("x.parquet", "z.parquet").reject(1e-4)


def test_missing_values_in_one_pass(streamed):
    rng = np.random.default_rng(0)
    for name in "xy":
        values = rng.normal(size=(3000, 2))
        values[rng.random(3000) < 0.1, 0] = np.nan
        write(f"{name}.parquet", values)
    with pytest.raises(InputError, match="'a'"):
        nosplit.two_sample_test("x.parquet", "y.parquet")
    found = nosplit.two_sample_test("x.parquet", "y.parquet", nan_policy="omit")
    assert 5000 < found.n_used < 5700
    assert found.n_used + found.n_left_out == 6000
    found = nosplit.two_sample_test("x.parquet", "y.parquet", nan_policy="indicate")
    assert found.n_used == 6000
    found = nosplit.two_sample_test("x.parquet", "y.parquet", exclude="a")
    assert (found.columns, found.n_used) == (("b",), 6000)


def test_windows_in_one_pass(streamed):
    write("x.parquet", normal(3000))
    write("y.parquet", normal(3000, seed=1) * 1.3)
    narrow = nosplit.two_sample_test("x.parquet", "y.parquet", **FIXED)
    wide = nosplit.two_sample_test("x.parquet", "y.parquet", pairs=5, **FIXED)
    assert wide.pairs == "window 5"
    assert wide.n_pairs == 10 * narrow.n_pairs
    assert wide.log_pvalue < narrow.log_pvalue


def test_the_same_files_give_the_same_verdict(streamed):
    write("x.parquet", normal(2000))
    write("y.parquet", normal(2000, seed=1))
    runs = [nosplit.two_sample_test("x.parquet", "y.parquet", workers=w) for w in (1, 2, 2)]
    assert len({run.log_pvalue for run in runs}) == 1
    other = nosplit.two_sample_test("x.parquet", "y.parquet", rng=1)
    assert other.log_pvalue != runs[0].log_pvalue


def sorted_pair(rng, up, n=2400):
    """Rows sorted by a column; those of y upwards or downwards."""
    for name, step in (("x", 1), ("y", 1 if up else -1)):
        values = rng.normal(size=(n, 2))
        write(f"{name}.parquet", values[np.argsort(values[:, 0])[::step]], group=n // 30)


def test_sorted_files_keep_their_level(streamed):
    """Same law, both sorted by a column, in 30 row groups: 40 tests at level 0.1.

    Bound: the binomial law's 1 - 1e-4 quantile; paired as they come, nearly all would reject or
    none.
    """
    trials, rejections, alarms = 40, 0, 0
    for seed in range(trials):
        sorted_pair(np.random.default_rng(seed), up=seed % 2 == 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = nosplit.two_sample_test("x.parquet", "y.parquet", rng=seed, **FIXED)
        rejections += found.reject(0.1)
        alarms += any(w.category is DependentRowsWarning for w in caught)
    assert rejections <= stats.binom.ppf(1 - 1e-4, trials, 0.1)
    assert alarms <= stats.binom.ppf(1 - 1e-4, trials, 0.01)


def test_sorted_files_in_order_are_found_out(streamed):
    sorted_pair(np.random.default_rng(0), up=False)
    with pytest.warns(DependentRowsWarning, match="Leave out shuffle=False"):
        found = nosplit.two_sample_test("x.parquet", "y.parquet", shuffle=False, **FIXED)
    assert "DependentRowsWarning" in found.warnings[0]


def test_files_that_cannot_be_mixed_are_found_out(streamed, monkeypatch):
    """One sorted file of one row group: there is nothing to mix it with but its own neighbours."""
    monkeypatch.setattr(reading, "BATCH", 1000)
    rng = np.random.default_rng(0)
    write("x.parquet", np.sort(rng.normal(size=(20_000, 1)), axis=0), group=20_000)
    write("y.parquet", rng.normal(size=(20_000, 1)), group=20_000)
    with pytest.warns(
        DependentRowsWarning, match="shuffle the rows when the file is written, or test"
    ):
        nosplit.two_sample_test("x.parquet", "y.parquet", **FIXED)


def order_found(x, y, **options):
    """What a test says of the order of rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nosplit.two_sample_test(x, y, **FIXED, **options)
    return " ".join(str(w.message) for w in caught if w.category is DependentRowsWarning)


@pytest.mark.parametrize("type_of_y", [np.float64, np.float32])
def test_order_that_mixing_cannot_undo_is_found_out(streamed, type_of_y):
    """Sorted rows beside unsorted ones differ whenever one looks, and not on the whole.

    In row groups, 16 at a time from their beginnings, they look alike to the lag-1 check.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 1 << 15, 2))
    group = 1 << 11
    rising = x[np.argsort(x[:, 0])]
    inside = np.concatenate([rng.permutation(part) for part in np.split(rising, 16)])
    files = {"x": x, "rising": rising, "inside": inside, "falling": rising[::-1]}
    files |= {"other": 1.3 * x + 0.1}
    for name, rows in files.items():
        write(f"{name}.parquet", rows, group=group)
    for name, rows in {"y": y, "y_rising": y[np.argsort(y[:, 0])]}.items():
        write(f"{name}.parquet", rows.astype(type_of_y), group=group)
    drift = "how the samples differ depends on where"  # not the lag-1 check's words
    assert drift in order_found("rising.parquet", "y.parquet")
    assert drift in order_found("falling.parquet", "y_rising.parquet")
    assert order_found("rising.parquet", "y.parquet", shuffle=False)
    # No harm done: independent rows, sorted row groups, both sorted alike, or a real difference.
    assert not order_found("x.parquet", "y.parquet")
    assert not order_found("inside.parquet", "y.parquet")
    assert not order_found("rising.parquet", "y_rising.parquet")
    assert not order_found("other.parquet", "y.parquet")


@pytest.mark.parametrize(
    ("n", "m", "width", "units"),
    [
        (10**8, 10**8, 10, 65_536),
        (10**8, 10**8, 100, 8192),
        (10**8, 10**8, 10_000, 256),
        (10**8, 3 * 10**8, 10, 32_768),
        (10**10, 10**8, 10, 4096),
    ],
)
def test_blocks_of_wide_rows_are_small(n, m, width, units):
    """Whatever the columns, and how many rows make a unit: some blocks are in memory at a time."""
    assert reading.Deal.of(n, m, width, fixed=True).block == units


@pytest.mark.parametrize("tails", [1.0, 3.0, np.inf])
def test_drift_check_has_few_false_alarms(tails):
    """Of independent rows, heavy tails and a difference included: one in a thousand.

    Bound: one chance in 10,000 of more alarms than that, by the binomial law.
    """
    rng = np.random.default_rng(0)
    trials, alarms = 400, 0
    spread = np.zeros(4), np.ones(4)
    for _ in range(trials):
        drift = Drift()
        for n in (500, 4000, 20, 5, 500, 500, 999, 500, 77, 500, 500, 500):
            draw = rng.normal if math.isinf(tails) else partial(rng.standard_t, tails)
            x, y = (draw(size=(4, size)) for size in (n, 3 * n))
            sides = Numbers.of(x), Numbers.of(2 * y + 1)
            drift.add(*(Features.of(side, *spread) for side in sides))
        alarms += bool(drift.caveats())
    assert alarms <= stats.binom.ppf(1 - 1e-4, trials, 1e-3)


def test_drift_check_sees_a_small_bias():
    """Means that drift by a tenth of a standard deviation, as of blocks of 4,096 rows."""
    rng = np.random.default_rng(0)
    drift, spread = Drift(), (np.zeros(1), np.ones(1))
    for t in np.linspace(-0.05, 0.05, 60):
        x, y = rng.normal(size=(2, 1, 4096))
        drift.add(Features.of(Numbers.of(x + t), *spread), Features.of(Numbers.of(y), *spread))
    assert drift.caveats()


def test_what_one_pass_cannot_do_iv(streamed):
    write("x.parquet", normal(500))
    for options, words in (
        ({"calibration": "exact"}, "read whole, of up to"),
        ({"method": Split()}, "must not be a Split"),
        ({"pairs": Blocks(8)}, 'must be "adjacent" or a window'),
        ({"pairs": "complete"}, 'must be "adjacent" or a window'),
        ({"pairs": 10**6}, 'must be "adjacent" or a window'),
        ({"rng": -1}, "`rng`"),
        ({"shuffle": "no"}, "`shuffle`"),
    ):
        with pytest.raises(InputError, match=words):
            nosplit.two_sample_test("x.parquet", "x.parquet", **options)


# -- bad input -------------------------------------------------------------------------------------


def error(*paths, **options):
    with pytest.raises(InputError) as caught:
        nosplit.two_sample_test(*(paths if len(paths) == 2 else paths * 2), **options)
    return str(caught.value)


def test_damaged_files_iv():
    """Cut anywhere, or with any byte changed: an error that names the file, or its rows."""
    values = normal(30)
    np.save("a.npy", values)
    np.savez("a.npz", values)
    write("a.parquet", values, group=10)
    rng = np.random.default_rng(0)
    for suffix in ("npy", "npz", "parquet"):
        whole = Path(f"a.{suffix}").read_bytes()
        bad = Path(f"bad.{suffix}")
        for length in (0, 1, 10, len(whole) // 2, len(whole) - 1):
            bad.write_bytes(whole[:length])
            assert f"`bad.{suffix}` is not a readable .{suffix} file: " in error(str(bad))
        for place in (
            *range(4),
            *range(len(whole) - 40, len(whole)),
            *rng.integers(len(whole), size=60),
        ):
            changed = bytearray(whole)
            changed[place] ^= int(rng.integers(1, 256))
            bad.write_bytes(changed)
            with contextlib.suppress(InputError):
                assert len(open_source(bad).whole()) >= 1


def test_damage_in_the_middle_iv(streamed):
    """What is damaged after the first batch is found in the pass, and the threads end."""
    write("x.parquet", normal(3000), group=100, compression="snappy", use_dictionary=False)
    write("y.parquet", normal(3000, seed=1), group=100)
    whole = bytearray(Path("x.parquet").read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 20_000] = b"\xff" * 20_000  # pages have no checksums: hit a header
    Path("x.parquet").write_bytes(whole)
    for shuffle in (True, False):
        assert "`x.parquet` is not a readable" in error("x.parquet", "y.parquet", shuffle=shuffle)
    assert not any(t.name == "nosplit-reader" for t in threading.enumerate())


def test_files_that_disappear_iv(streamed, monkeypatch):
    write("x.parquet", normal(2000))
    write("y.parquet", normal(2000, seed=1))
    fit = larger._bank

    def fit_and_remove(*args):
        Path("y.parquet").unlink()
        return fit(*args)

    monkeypatch.setattr(larger, "_bank", fit_and_remove)
    assert (
        error("x.parquet", "y.parquet") == "`y.parquet` cannot be read: No such file or directory."
    )


def test_files_that_may_not_be_read_iv(monkeypatch):
    write("a.parquet", normal(10))
    np.save("a.npy", normal(10))
    np.savetxt("a.csv", normal(10), delimiter=",")

    def denied(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(pq, "read_metadata", denied)
    for path in ("a.parquet", "a.npy", "a.csv"):
        assert error(path) == f"`{path}` cannot be read: Permission denied."


def test_no_files_iv():
    Path("folder").mkdir()
    Path("folder/notes.txt").write_text("hello")
    assert (
        error("nowhere.parquet") == "`nowhere.parquet` cannot be read: No such file or directory."
    )
    assert (
        error("nowhere")
        == "`nowhere` must end in .npy, .npz, .csv, .tsv, .csv.gz, .parquet, got no ending."
    )
    assert error("folder") == "`folder` is a folder without .parquet files."
    assert error("*.parquet") == "`*.parquet` matches no file."
    assert "must match .parquet files only, got 'notes.txt'" in error("folder/*")
    assert "rename it" in error("a.pq")
    assert "rename it" in error("a.parque")
    assert "text with commas, semicolons or tabs" in error("a.txt")
    Path("folder/day=1").mkdir()
    write("folder/day=1/a.parquet", normal(10))
    assert "values in the names of its folders ('day=1')" in error("folder")
    assert nosplit.two_sample_test(*["folder/**/*.parquet"] * 2, kernels="paper1").n_used == 20


def test_empty_files_iv():
    write("a.parquet", table(np.empty((0, 2))))
    assert error("a.parquet") == "`a.parquet` has columns, but no rows."
    write("a.parquet", table(np.ones((1, 2))))
    assert "must have at least 2 rows" in error("a.parquet")
    write("b.parquet", pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2, names=["a", "a"]))
    assert error("b.parquet") == "`b.parquet` must have different column names, got 'a' twice."
    write("a.parquet", pa.table({}))
    assert error("a.parquet") == "`a.parquet` must have at least one column, got none."
    np.save("a.npy", np.empty((0, 3)))
    assert error("a.npy") == "`a.npy` must have at least 2 rows, got 0."
    for path in ("a.csv", "a.parquet", "a.npy", "a.npz"):
        Path(path).write_bytes(b"")
        assert f"`{path}` is " in error(path)


def test_different_schemas_iv():
    Path("folder").mkdir()
    write("folder/1.parquet", normal(20))
    write("folder/2.parquet", table(normal(20), "abx"))
    text = "`folder/2.parquet` must have the columns of `folder/1.parquet`, but lacks 'c' and has"
    assert text in error("folder")
    write("folder/2.parquet", table(normal(20).astype(np.float32)))
    assert "column 'a' holds float instead of double" in error("folder")
    write("x.parquet", normal(20))
    write("y.parquet", table(normal(20), "abx"))
    assert "'x'" in error("x.parquet", "y.parquet")
    write("y.parquet", pa.table({name: ["one", "two"] for name in "abc"}))
    assert "'a'" in error("x.parquet", "y.parquet")
    np.save("y.npy", normal(20, 2))
    assert "same number of columns, got 3 and 2" in error("x.parquet", "y.npy")
    write("y.parquet", pa.table({"a": ["one", "two"]}))
    assert "must hold numbers here, got string in column 'a'" in error("y.npy", "y.parquet")


def test_mixed_types_in_a_column_iv(streamed):
    rows = "".join(f"{i},{'late' if i == 90_000 else i}\n" for i in range(100_000))
    Path("x.csv").write_text("a,b\n" + rows)
    assert "got 'late' in line 90002, column 2." in error("x.csv")
    Path("x.csv").write_text("a,b\n1,2\n3,x\n4,5\n")
    text = "`x.csv` must hold either numbers or text in a column, got 'x' in line 3, column 2."
    assert error("x.csv") == text


def test_columns_without_values_iv(streamed):
    rows = pa.table({"a": normal(1200, 1)[:, 0], "b": pa.array([None] * 1200, pa.float64())})
    write("x.parquet", rows)
    assert "'b'" in error("x.parquet")
    write("y.parquet", rows.slice(0, 1150))
    found = nosplit.two_sample_test("x.parquet", "y.parquet", exclude=["b"], kernels="paper1")
    assert found.columns == ("a",)


def test_constant_columns(streamed):
    values = normal(2000, 2)
    values[:, 1] = 7.0
    write("x.parquet", values)
    write("y.parquet", np.column_stack([normal(2000, 1, seed=1), values[:, 1]]))
    assert not nosplit.two_sample_test("x.parquet", "y.parquet", kernels="paper2").reject(1e-4)
    write("z.parquet", np.full((50, 2), 7.0))
    assert "constant" in error("z.parquet") or "same" in error("z.parquet")


@pytest.mark.parametrize("place", [5, 1700, 2999])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kernels", [None, [Gaussian(1.0)], [Linear()], "products"])
def test_infinite_values_in_one_pass_iv(streamed, place, value, kernels):
    """A bounded kernel would hide an infinite distance: it must not."""
    values = normal(3000, 2, seed=1)
    values[place, 1] = value
    write("x.parquet", normal(3000, 2))
    write("y.parquet", values)
    np.save("x.npy", normal(3000, 2))
    np.save("y.npy", values)
    if kernels == "products":
        kernels = [Gaussian(1.0) * Laplace(1.0)]
    text = error("x.parquet", "y.parquet", kernels=kernels)
    assert "'b'" in text
    assert "y" in text
    assert "finite" in error("x.npy", "y.npy", kernels=kernels)


def test_escape_codes_are_shown_not_obeyed(capsys, monkeypatch):
    from nosplit.cli import main

    name = "\x1b[31mred\x07"
    write("x.parquet", pa.table({name: normal(40, 1)[:, 0], "b": ["one"] * 40}))
    write("y.parquet", pa.table({name: normal(40, 1)[:, 0], "c": ["one"] * 40}))
    write("z.parquet", pa.table({name: [1.0, None] * 20, "b": ["one"] * 40}))
    for args in (
        ["x.parquet", "y.parquet"],
        ["x.parquet", "z.parquet"],
        ["x.parquet", "x.parquet"],
        ["x.parquet", "x.parquet", "--exclude", "b", "--json"],
        ["x.parquet", "x.parquet", "--columns", "\x1b[31mblue"],
        ["\x1b[31m.parquet", "x.parquet"],
    ):
        with pytest.raises(SystemExit):
            main(["test", *args])
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
        assert "\x07" not in out + err
        assert out + err


def test_rows_of_text_are_counted(monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 7)
    for text, rows in (
        ("a,b\n1,2\n3,4\n", 2),
        ("a,b\n1,2\n3,4", 2),
        ("\n\na,b\r\n\r\n1,2\r\n\n\n3,4\r\n\r\n", 2),
        ("1,2\n3,4\n\n5,6\n\n", 3),
    ):
        Path("x.csv").write_bytes(text.encode())
        assert open_source("x.csv").n_lines == rows


def test_csv_that_is_not_utf8_iv(streamed):
    Path("x.csv").write_bytes("name,b\nJosé,1\nZoë,2\n".encode("latin-1"))
    assert error("x.csv") == "`x.csv` must be UTF-8 text, got byte 0xe9 at position 10."


def test_places_of_short_arrays():
    np.save("a.npy", np.arange(5.0))
    batches = open_source("a.npy").batches(2, None, np.random.default_rng(0))
    assert sorted(np.concatenate(list(batches)).ravel()) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert npy.PLACES > 5
