"""Sketches of streams of fit and of independence: batches, merging, files, what is found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from nosplit import GoodnessOfFitAccumulator, IndependenceAccumulator, InputError, Sketch, models
from nosplit._old.engines.streams.saved.loading import load_accumulator
from nosplit._old.sketch.families.independence_sums import ShiftSums
from nosplit.core.stein_map import SteinSums
from nosplit.errors import FileError

NORMAL = models.MultivariateNormal([0.0, 0.0])
SMALL = Sketch(cells=16, frequencies=2)
X, Y = np.random.default_rng(0).normal(size=(2, 3001, 2))


def fit(**options):
    return GoodnessOfFitAccumulator(NORMAL, **{"pairs": SMALL, **options})


def both(**options):
    return IndependenceAccumulator(**{"pairs": SMALL, "unit_size": 4, **options})


def fed(acc, start=0, stop=3001, step=3001):
    for first in range(start, stop, step):
        rows = slice(first, min(first + step, stop))
        acc.update(X[rows]) if isinstance(acc, GoodnessOfFitAccumulator) else acc.update(
            X[rows], Y[rows]
        )
    return acc


def facts(acc):
    return acc.counts(), acc.result(n_resamples=99).to_dict()


@pytest.mark.parametrize("make", [fit, both])
def test_nothing_depends_on_the_batches(make):
    whole = fed(make())
    for step in (700, 999):
        assert facts(fed(make(), step=step)) == facts(whole)
    # Small batches hardly change the sums of integers: none at all.
    parts = fed(make(), step=37)
    np.testing.assert_array_equal(parts._state.blocks.numbers, whole._state.blocks.numbers)


def test_blocks_against_the_sums_of_their_rows():
    acc = fed(fit())
    state = acc._state
    assert (state.blocks.length, len(state.blocks)) == (128, 24)
    sums = SteinSums.empty(state.bank, 24)
    sums.add(state.bank, X, NORMAL.score(X), np.arange(3001) // 128)
    np.testing.assert_array_equal(state.blocks.numbers, sums.numbers)
    acc = fed(both())
    state = acc._state
    assert (state.blocks.length, len(state.blocks), acc.n_waiting) == (32, 24, 1)
    sums = ShiftSums.empty(state.bank, 24, 4)
    sums.add(state.bank, X[:3000], Y[:3000], np.arange(750) // 32)
    np.testing.assert_array_equal(state.blocks.numbers, sums.numbers.reshape(24, -1))


@pytest.mark.parametrize("make", [fit, both])
def test_parts_add_up(make):
    whole, first = fed(make(), 0, 3000), fed(make(), 0, 1536)
    second = fed(type(first).like(first), 1536, 3000)
    first += second
    assert first.counts()["n_used"] == 3000
    np.testing.assert_array_equal(
        first._state.blocks.numbers.sum(axis=0), whole._state.blocks.numbers.sum(axis=0)
    )
    # Rows that had no map yet take that of the other, on either side.
    small = fed(make(), 0, 40)
    small += second
    assert small.counts()["n_used"] == 40 + 3000 - 1536
    other = fed(make(), 100, 1500)
    with pytest.raises(InputError, match="the same map"):
        first += other
    with pytest.raises(InputError, match="the same `pairs`"):
        first += make(pairs="adjacent")


@pytest.mark.parametrize("make", [fit, both])
@pytest.mark.parametrize("n", [3, 300, 2000])
def test_what_is_loaded_goes_on_as_what_was_saved(make, n, tmp_path):
    acc = fed(make(), 0, n)
    acc.save(tmp_path / "s.json")
    known = {"score": NORMAL} if make is fit else {}
    again = type(acc).load(tmp_path / "s.json", **known)
    assert type(load_accumulator(tmp_path / "s.json")) is type(acc)
    for one in (acc, again):
        fed(one, n)
    assert facts(again) == facts(acc)
    again += type(acc).load(tmp_path / "s.json", **known)


def test_files_that_were_tampered_with_iv(tmp_path):
    changes = [
        lambda b: b["settings"].update(encodings=[{}]),
        lambda b: b["settings"].update(keys=[-1, 2]),
        lambda b: b["settings"].update(pairs=7),
        lambda b: b["state"].update(n_omitted=-1),
        lambda b: b["state"].update(waiting=None),
        lambda b: b["state"].update(discrete=[True]),
        lambda b: b["state"]["blocks"].update(length=3),
        lambda b: b["state"]["blocks"]["numbers"].update(shape=[1, 1]),
        lambda b: b["state"]["map"].update(kernels=[]),
        lambda b: b["state"]["map"].update(center=[0.0]),
        lambda b: b["state"]["map"].update(x=None),
    ]
    for make in (fit, both):
        fed(make(), 0, 1500).save(tmp_path / "s.json")
        text = (tmp_path / "s.json").read_text()
        for change in changes:
            body = json.loads(text)
            change(body)
            (tmp_path / "s.json").write_text(json.dumps(body))
            if "x" in body["state"]["map"] and make is both and change is changes[9]:
                continue  # its centers are those of x and of y
            with pytest.raises(FileError, match="is damaged"):
                load_accumulator(tmp_path / "s.json")


def test_small_changes_are_found_in_streams():
    """A spread of 1.03 at six standard errors, and a correlation of .05 at seven."""
    rng = np.random.default_rng(1)
    x = 1.03 * rng.normal(size=(20_000, 1))
    y = 0.05 * x + rng.normal(size=(20_000, 1))
    one, two = GoodnessOfFitAccumulator(lambda x: -x), IndependenceAccumulator()
    for start in range(0, 20_000, 1500):
        rows = slice(start, start + 1500)
        one.update(x[rows])
        two.update(x[rows], y[rows])
    assert one.result(n_resamples=999).pvalue <= 0.005
    assert two.result(n_resamples=999).pvalue <= 0.005


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
@pytest.mark.parametrize("make", [fit, both])
def test_level(make):
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(60):
        acc = make(pairs=Sketch(cells=64, frequencies=2))
        for _ in range(2):
            x, y = rng.normal(size=(2, 300, 2))
            acc.update(x) if make is fit else acc.update(x, y)
        hits += acc.result(n_resamples=59).pvalue <= 0.05
    assert hits <= stats.binom.isf(1e-4, 60, 0.06)


def test_tables_do_not_depend_on_the_batches(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    x = pd.DataFrame({"age": rng.normal(40, 9, 2000), "city": rng.choice(["Rome", "Oslo"], 2000)})
    y = pd.DataFrame({"income": 1e4 * (x["city"] == "Rome") + 1e4 * rng.normal(size=2000)})
    whole, parts = both(), both()
    whole.update(x, y)
    for start in range(0, 2000, 300):
        parts.update(x[start : start + 300], y[start : start + 300])
    assert facts(parts) == facts(whole)
    res = whole.result(n_resamples=99)
    assert sum((e.names for e in res.how.encoding), ()) == ("age", "city", "income")
    assert res.pvalue <= 0.01
    whole.save(tmp_path / "s.json")
    assert (
        IndependenceAccumulator.load(tmp_path / "s.json").result(n_resamples=99).pvalue
        == res.pvalue
    )
