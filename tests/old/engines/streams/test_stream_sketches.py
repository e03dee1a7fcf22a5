"""Sketches of streams: the same integers whatever the batches, and exact permutations."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _reference import at_most, within
from nosplit import (
    IndependenceAccumulator,
    InputError,
    NosplitWarning,
    Sketch,
    TwoSampleAccumulator,
)
from nosplit._old.engines.streams.sketches.cells import BlockSums
from nosplit._old.sketch.swaps import Slots
from nosplit.data.fit_encoding import fit_encoding
from nosplit.errors import DroppedKernelWarning
from nosplit.kernels import Gaussian, Linear, Polynomial
from nosplit.methods import Split

KERNELS = (Gaussian(1.0), Linear())
# Few blocks and frequencies, so that blocks are merged early and tests are quick.
SMALL = Sketch(cells=16, frequencies=4)
seeded = settings(derandomize=True, deadline=None, max_examples=15)


def stream(kernels=KERNELS, **options):
    return TwoSampleAccumulator(kernels, **{"pairs": SMALL, **options})


def samples(n, m, seed=0, factor=1.0, p=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.normal(size=(m, p)) * factor


def fed(acc, x, y, x_cuts=(), y_cuts=()):
    parts = (np.split(rows, sorted(cuts)) for rows, cuts in ((x, x_cuts), (y, y_cuts)))
    for a, b in itertools.zip_longest(*parts):
        acc.update(a, b)
    return acc


def numbers(acc):
    """All integers that are kept."""
    state = acc._flow.flush(acc._state)
    sides = state.blocks.cells
    return [state.blocks.counts, *(v for s in sides for v in (s.features, s.bins))]


def assert_equal(one, two):
    for a, b in zip(numbers(one), numbers(two), strict=True):
        assert np.array_equal(a, b)


def quietly(acc, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        return acc.result(**{"n_resamples": 99, **options})


# The same whatever the batches ------------------------------------------------------------------

cuts = st.lists(st.integers(0, 1500), max_size=8)


@seeded
@given(cuts, cuts, st.sampled_from([(1, 1), (1, 3), (2, 3)]))
def test_any_batches_give_the_same_integers_properties(x_cuts, y_cuts, ratio):
    x, y = samples(350 * ratio[0] + 1, 350 * ratio[1])
    whole = fed(stream(ratio=ratio), x, y)
    parts = fed(stream(ratio=ratio), x, y, x_cuts, y_cuts)
    assert_equal(whole, parts)
    assert whole.counts() == parts.counts()
    assert quietly(whole).pvalue == quietly(parts).pvalue


def test_row_by_row_with_the_default_kernels():
    x, y = samples(620, 620)
    whole, parts = fed(TwoSampleAccumulator(), x, y), TwoSampleAccumulator()
    for a, b in zip(x, y, strict=True):
        parts.update(a[None], b[None])
    assert parts.kernels == whole.kernels
    assert_equal(whole, parts)


def test_sums_against_numpy():
    """Cells are sums over runs of pairs, and of all rows in the end."""
    x, y = samples(1000, 1000)
    acc = fed(stream(), x, y, [700])
    blocks = acc._state.blocks
    assert (len(blocks), blocks.length, blocks.n_units) == (32, 32, 1000)
    assert blocks.counts.tolist() == [32] * 31 + [8]
    for side, rows in zip(blocks.cells, (x, y), strict=True):
        where, steps = blocks.sketch.features[1]  # the linear kernel: columns about their centers
        got = side.features[:, where] * steps
        moved = rows - blocks.sketch.center
        expected = [moved[i : i + 32].sum(axis=0) for i in range(0, 1000, 32)]
        np.testing.assert_allclose(got, expected, atol=1e-3)
        assert side.bins.sum() == 2000


def test_memory_is_bounded():
    acc = stream(pairs=Sketch(cells=16, frequencies=2))
    for seed in range(40):
        acc.update(*samples(500, 500, seed))
    blocks = acc._state.blocks
    assert 16 <= len(blocks) <= 32
    assert blocks.length == 1024
    assert len(blocks.x.features) <= 32
    assert acc.counts()["n_used"] == 40_000
    assert all(len(side) == 0 for side in acc._state.waiting)


def test_waiting_and_dropping():
    x, y = samples(1000, 1000)
    acc = stream(limit=100)
    acc.update(x, None)
    assert (acc.n_waiting, acc.n_dropped, acc.n_used) == (100, 900, 0)
    for part in np.split(y, range(10, 1000, 10)):
        acc.update([], part)
    assert acc.counts() == {**acc.counts(), "n_used": 200, "n_waiting": 100, "n_dropped": 1700}
    res = quietly(acc)
    assert (res.how.n_used, res.how.n_left_out, res.how.pairs) == (200, 1800, "sketch")
    # Pairs that wait for a map do not count as waiting for a partner.
    assert fed(stream(limit=1), x[:300], y[:300]).counts()["n_used"] == 600


def test_result_does_not_disturb():
    x, y = samples(900, 900)
    asked, silent = stream(), stream()
    for a, b in zip(np.split(x, 30), np.split(y, 30), strict=True):
        asked.update(a, b)
        silent.update(a, b)
        assert quietly(asked).pvalue == quietly(asked).pvalue
    assert_equal(asked, silent)


def test_errors_leave_the_state_alone():
    """Fault H3: a batch that cannot be taken in is refused at once, and nothing is lost."""
    x, y = samples(900, 900)
    for first in (100, 600):  # before there is a map, and after
        acc, same = stream(None), stream(None)
        acc.update(x[:first], y[:first])
        huge = x.copy()
        huge[3, 1] = 1e200
        for bad in (x * np.nan, x[:, :1], x * np.inf, huge):
            with pytest.raises(InputError):
                acc.update(bad, y)
        acc.update(x[first:], y[first:])
        same.update(x, y)
        assert_equal(acc, same)
        assert 0 < quietly(acc).pvalue <= 1
    # A kernel of the user's that fails in the middle of a batch.
    fails = [False]

    def product(a, b):
        if fails[0]:
            raise RuntimeError("no")
        return (a * b).sum(axis=-1)

    acc = fed(stream([product]), x[:600], y[:600])
    before = [v.copy() for v in numbers(acc)]
    fails[0] = True
    with pytest.raises(RuntimeError):
        acc.update(x[600:], y[600:])
    assert all(np.array_equal(a, b) for a, b in zip(before, numbers(acc), strict=True))


def test_large_values_are_taken_in():
    x, y = samples(900, 900)
    x[700] = 1e60
    assert 0 < quietly(fed(stream(None), x, y)).pvalue <= 1


def test_the_map_does_not_see_labels():
    """Swapping the rows of any pair changes nothing but the sign of a difference."""
    rng = np.random.default_rng(0)
    x, y = samples(600, 600, factor=2.0)
    swap = rng.random(600) < 0.5
    one, two = x.copy(), y.copy()
    one[swap], two[swap] = y[swap], x[swap]
    for kernels in (None, [Polynomial(2), Gaussian(1.0)]):
        plain = fed(stream(kernels, pairs=Sketch(1000, 4)), x, y)._state.blocks
        mixed = fed(stream(kernels, pairs=Sketch(1000, 4)), one, two)._state.blocks
        assert plain.sketch.kernels == mixed.sketch.kernels
        assert np.array_equal(plain.sketch.landmarks, mixed.sketch.landmarks)
        apart = [c[0].features - c[1].features for c in (plain.cells, mixed.cells)]
        assert np.array_equal(apart[0], np.where(swap, -1, 1)[:, None] * apart[1])


def test_slots_against_brute_force():
    """Labels are permuted inside groups; means over all draws are those of all labellings."""
    rng = np.random.default_rng(0)
    swaps = Slots(6, 9, 4000, 1, groups=3)
    x, y = rng.integers(-1000, 1000, (6, 4)), rng.integers(-1000, 1000, (9, 4))
    units = swaps.units(x, y)
    weights = swaps.weights(0, 512)
    groups = np.concatenate([np.repeat(range(3), 2), np.repeat(range(3), 3)])
    for g in range(3):
        assert np.array_equal(weights[:, groups == g].sum(axis=1), np.full(512, 2.0))
    assert np.array_equal(weights[0], np.arange(15) < 6)
    values = units.values.astype(float)
    centred = values - np.array([values[groups == g].mean(axis=0) for g in range(3)])[groups]
    np.testing.assert_allclose(swaps.about_mean(values), centred, atol=1e-9)
    np.testing.assert_allclose(swaps.sums(weights, units), weights @ centred, atol=1e-2)
    # All labellings of a group of 5 cells, 2 of them x, independently in 3 groups.
    total = np.zeros(4)
    for g in range(3):
        own = centred[groups == g]
        picks = [own[list(c)].sum(axis=0) for c in itertools.combinations(range(5), 2)]
        total += np.mean(np.square(picks), axis=0)
    np.testing.assert_allclose(swaps.mean_square(values), total, rtol=1e-9)


# Merging ----------------------------------------------------------------------------------------


def test_parts_that_end_with_full_blocks_add_up_to_the_whole():
    x, y = samples(1024, 1024)
    whole = fed(stream(), x, y)
    first = fed(stream(), x[:512], y[:512])
    second = fed(TwoSampleAccumulator.like(first), x[512:], y[512:])
    first += second
    assert_equal(whole, first)
    assert quietly(whole).pvalue == quietly(first).pvalue


@seeded
@given(st.integers(8, 700), st.integers(0, 700), st.integers(0, 3))
def test_merging_properties(a, b, over):
    """No row is lost or counted twice, and the other one stays as it is."""
    x, y = samples(a + b + over, a + b)
    left = fed(stream(), *samples(500, 500, seed=1))
    one, two = (TwoSampleAccumulator.like(left) for _ in range(2))
    fed(one, x[:a], y[:a])
    fed(two, x[a:], y[a:])
    before = [v.copy() for v in numbers(two)] if b else []
    one += two
    one += left
    assert one.counts()["n_used"] == 2 * (a + b + 500)
    assert one.n_waiting == over
    assert len(one._state.blocks) <= 32
    fed(one, *samples(40, 40))
    if b:
        assert all(np.array_equal(v, w) for v, w in zip(before, numbers(two), strict=True))


def test_maps_of_parts():
    x, y = samples(1400, 1400)
    first, second = fed(stream(None), x[:700], y[:700]), fed(stream(None), x[700:], y[700:])
    with pytest.raises(InputError, match=r"same map.*like"):
        first += second
    # Rows that had no map yet take that of the other, on either side of +=.
    small = fed(stream(None), x[:10], y[:10])
    assert small.kernels is None
    small += first
    assert small.kernels == first.kernels
    assert small.n_used == 1420
    again = fed(stream(None), x[:10], y[:10])
    first += again
    assert first.n_used == 1420
    both = fed(stream(None), x[:10], y[:11])
    both += again
    assert (both.kernels, both.n_used, both.n_waiting) == (None, 40, 1)
    both += stream(None)
    later = TwoSampleAccumulator.like(small)
    later += small
    assert_equal(later, small)


def test_merging_iv():
    plain = fed(stream(), *samples(10, 10))
    for other, name in (
        (stream(ratio=(1, 2)), "ratio"),
        (stream(pairs="adjacent"), "pairs"),
        (stream(pairs=Sketch(20)), "cells"),
        (stream([Linear()]), "kernels"),
        (fed(stream(), *samples(3, 3, p=1)), "columns"),
        (plain, "itself"),
    ):
        with pytest.raises(InputError, match=name):
            plain += other
    assert plain.n_used == 20


# Tables -----------------------------------------------------------------------------------------


def table(n, seed):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"age": rng.normal(40, 10, n), "city": rng.choice(["Rome", "Oslo", "Bonn"], n)}
    )


def test_tables_in_any_batches():
    x, y = table(1200, 0), table(1200, 1)[["city", "age"]]
    whole, parts = stream(None), stream(None)
    whole.update(x, y)
    assert whole.encoding == fit_encoding(x[:500], y[:500])
    parts.update(x[:1], None)
    parts.update(None, y[:700])
    parts.update(x[1:], y[700:])
    assert_equal(whole, parts)
    given = stream(None, encoding=whole.encoding)
    given.update(x, y)
    assert_equal(whole, given)
    res = quietly(parts)
    assert res.how.encoding.names == ("age", "city")
    assert (res.how.encoding, res.how.n_left_out) == (whole.encoding, 0)
    early = stream(None)
    early.update(x[:20], y[:20])
    assert quietly(early).how.encoding == fit_encoding(x[:20], y[:20])
    pair = IndependenceAccumulator()
    pair.update(x[:80], y[:80])
    assert pair.result(n_resamples=19).how.encoding == (fit_encoding(x[:80]), fit_encoding(y[:80]))
    early += whole  # rows that wait as they came are put on the scale of the other
    assert early.encoding == whole.encoding
    late = stream(None)
    late.update(x[:20], y[:20])
    whole += late
    assert whole.n_used == early.n_used == 2440
    for bad in (x.to_numpy()[:, :1].astype(float), x[["age"]]):
        with pytest.raises(InputError, match="`x`"):
            whole.update(bad, None)
    with pytest.raises(InputError, match="categories as if they were numbers"):
        stream([Gaussian(1.0)]).update(x, y)
    arrays = fed(stream(None), *samples(5, 5))
    with pytest.raises(InputError, match="arrays, as before"):
        arrays.update(x, y)
    with pytest.raises(InputError, match="encoding"):
        arrays += whole


def test_rows_with_missing_values_are_counted():
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame({"a": np.random.default_rng(0).normal(size=600)})
    holes = x.copy()
    holes.iloc[:20] = np.nan
    acc = stream([Gaussian(1.0)], encoding=fit_encoding(x, nan_policy="omit"))
    acc.update(x, holes)
    assert acc.counts()["n_omitted"] == 20
    assert quietly(acc).how.n_left_out == 40
    acc.update(holes[:15], None)  # nothing of it is left
    assert acc.counts()["n_omitted"] == 35


def test_empty_accumulators_can_be_added_to():
    """An empty one takes what the other knows, and keeps what the other does not know."""
    x, y = samples(600, 600)
    for n in (0, 20, 600):  # nothing, no map yet, and a map
        empty, other = stream(None), fed(stream(None), x[:n], y[:n])
        empty += other
        fed(empty, x[n:], y[n:])
        assert_equal(empty, fed(stream(None), x, y))
    scales = fit_encoding(table(50, 0))
    knows = stream(None, encoding=scales)
    knows += stream(None)
    assert knows.encoding == scales
    both = IndependenceAccumulator(encodings=(scales, scales))
    both += IndependenceAccumulator()
    both.update(table(80, 1), table(80, 2))
    assert both.result(n_resamples=19).how.encoding == (scales, scales)


def test_rows_on_different_scales_are_not_added_iv():
    """Rows that wait are on the scale of the encoding that was given."""
    small, large = (fit_encoding(table(50, 0).assign(age=table(50, 0).age * s)) for s in (1, 100))
    for n in (20, 600):
        one, two = stream(None, encoding=small), stream(None, encoding=large)
        one.update(table(n, 1), table(n, 2))
        two.update(table(n, 1), table(n, 2))
        with pytest.raises(InputError, match="scales"):
            one += two
        empty = stream(None, encoding=small)
        empty += two  # nothing was scaled yet
        assert empty.encoding == large


def rejections(make, n, trials, ratio=(1, 1), cells=64):
    """Count the rejections of trials with keys of their own."""
    found = 0
    for seed in range(trials):
        x, y = make(np.random.default_rng(seed), n)
        acc = stream(ratio=ratio, rng=seed, pairs=Sketch(cells, 4))
        acc.update(x, y)
        found += quietly(acc).reject(0.05)
    return found


def test_level_against_theory():
    """Type-I error at .05: a binomial bound with a false alarm in 10^5."""
    found = rejections(lambda rng, n: tuple(rng.normal(size=(2, n, 1))), 300, 200)
    assert within(found, 200, 0.05, 1e-5)


def test_level_of_rare_categories_against_theory():
    """Fault A1: 16 rows of y for one of x, and a value that few rows have."""

    def make(rng, n):
        return (rng.random((n, 1)) < 0.01) * 1.0, (rng.random((16 * n, 1)) < 0.01) * 1.0

    found = rejections(make, 200, 60, ratio=(1, 16), cells=200)
    assert at_most(found, 60, 0.05, 1e-5)


def test_both_may_change_together():
    """Rows that arrive together have one law, which changes in time: exact."""

    def make(rng, n):
        common = np.cumsum(rng.normal(size=(n, 1)), axis=0) / 5
        return common + rng.normal(size=(n, 1)), common + rng.normal(size=(n, 1))

    found = rejections(make, 500, 60, cells=128)
    assert within(found, 60, 0.05, 1e-5)


def test_update_iv():
    acc = TwoSampleAccumulator()
    for x, y, message in (
        (np.zeros((2, 2)), np.zeros((2, 3)), "same number of columns"),
        (np.zeros((2, 2, 2)), None, "3 dimensions"),
        (["a"], None, "`x` must hold real numbers"),
        (None, [np.inf], "`y` must be finite"),
        (None, [1e80], "below 1e"),
    ):
        with pytest.raises(InputError, match=message):
            acc.update(x, y)
    acc.update(None, None)
    acc.update([], np.empty((0, 3)))
    for ask in (acc.result, acc.fix_kernels):
        with pytest.raises(InputError, match="`update` with more rows"):
            ask()
    with pytest.raises(InputError, match="no moments"):
        _ = acc.moments
    acc.update(np.zeros((10, 2)), np.zeros((10, 2)))
    with pytest.warns(DroppedKernelWarning, match="the data is constant"):
        assert acc.result().pvalue == 1.0
    few = fed(stream(), *samples(12, 12))
    for method, message in ((Split(0.5), "sketch"), ("naive", "sketch"), ("osst", "'ost'")):
        with pytest.raises(InputError, match=message):
            few.result(method)
    with pytest.raises(InputError, match="`n_resamples`"):
        few.result(n_resamples=3)
    for options in ({"limit": 0}, {"pairs": 5}, {"rng": "x"}, {"kernels": []}):
        with pytest.raises(InputError, match=next(iter(options))):
            TwoSampleAccumulator(**options)


def test_methods_and_repr():
    acc = fed(stream(), *samples(300, 300, factor=2.0))
    for method in ("ost", "nonnegative", "wald", "best", "adaptive"):
        assert quietly(acc, method=method).reject()
    shown = "TwoSampleAccumulator(pairs='sketch', n_pairs=496, n_waiting=0, n_dropped=0)"
    assert repr(acc) == shown
    assert acc.fix_kernels() == KERNELS
    assert isinstance(acc._state.blocks, BlockSums)
