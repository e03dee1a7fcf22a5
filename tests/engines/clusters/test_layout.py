"""Which rows make which block of units, and what a block gives: without a cluster."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _reference import pairs_of
from nosplit import Blocks, Gaussian, InputError, Linear
from nosplit.engines.clusters.layout import Reach, as_local_pairing, make_blocks, overlaps, spread
from nosplit.engines.clusters.parts import Part, Task
from nosplit.families.two_sample import two_sample_units
from nosplit.kernels.bank import Bank
from nosplit.pairs.dealing import Dealing
from nosplit.pairs.loop import accumulate
from nosplit.pairs.moments import Moments
from nosplit.pairs.neighbours import LagOne
from nosplit.pairs.order import Natural
from nosplit.pairs.pairing import Adjacent, Window
from nosplit.pairs.pairing import Linear as LinearPairs

BANK = Bank((Gaussian(1.0), Linear()))
sizes = st.integers(1, 60)
seeded = settings(max_examples=60, deadline=None, derandomize=True)


@seeded
@given(sizes, sizes)
def test_units_are_those_of_samples_in_memory(n, m):
    x, y = np.arange(float(n))[:, None], 1000 + np.arange(float(m))[:, None]
    units = two_sample_units(x, y, Natural(), Natural(), BANK)
    samples = Dealing(n, m)
    assert samples.n_units == units.n_units
    assert samples.rows_per_unit == pytest.approx(units.rows_per_unit)
    for unit in range(units.n_units):
        ours, theirs = samples.rows(range(unit, unit + 1))
        both = np.concatenate([x[ours.start : ours.stop], y[theirs.start : theirs.stop]])
        assert sorted(both.ravel()) == sorted(units.rows(unit).ravel())


def test_starts_do_not_overflow():
    """Products of a row's number and the sample's size pass 2**63 here."""
    n, m = 3 * 10**9 + 1, 4 * 10**10 + 7
    last = range(n - 1, n)
    assert Dealing(n, m).rows(last)[1] == range((n - 1) * m // n, m)


@seeded
@given(sizes, sizes, st.integers(0, 700))
def test_cut_at_a_row_of_the_larger_sample(n, m, row):
    samples = Dealing(n, m)
    starts = samples.starts(range(samples.n_units))
    assert samples.unit_at(row) == min(np.searchsorted(starts, row), samples.n_units)


@st.composite
def cases(draw):
    n_units = draw(st.integers(2, 60))
    window = Window(draw(st.integers(1, max(1, (n_units - 1) // 2))))
    pairing = draw(st.sampled_from([Adjacent(), window, Blocks(draw(st.integers(2, 9)))]))
    if n_units == 2 and pairing is window:
        pairing = Adjacent()
    return n_units, pairing, draw(st.lists(st.integers(0, 70)))


@seeded
@given(cases())
def test_blocks_have_every_pair_once_properties(case):
    n_units, pairing, cuts = case
    found = []
    for k, block in enumerate(make_blocks(n_units, pairing, cuts)):
        assert block.number == k
        read = [unit for run in block.runs for unit in run]
        assert read[: len(block.units)] == list(block.units)
        if isinstance(pairing, Window):
            own = Reach(len(block.units), pairing.R)
            jobs = list(own.jobs(len(read), 4))
            assert own.n_pairs(len(read)) == sum(job.n_pairs for job in jobs)
            near = [(a, a + r) for job in jobs for a in job.units for r in range(1, job.R + 1)]
        else:
            near = pairs_of(pairing, len(read))
        found += [(read[a], read[b]) for a, b in near]
    assert sorted(map(sorted, found)) == sorted(map(sorted, pairs_of(pairing, n_units).tolist()))


@pytest.mark.parametrize("pairs", ["linear", "complete", LinearPairs()])
def test_pairs_of_units_far_apart_iv(pairs):
    with pytest.raises(InputError, match=r"`pairs` must be .* where units far apart never meet"):
        as_local_pairing(pairs)


def test_auto_is_adjacent():
    assert as_local_pairing("auto") == Adjacent()


def test_no_pairs_iv():
    with pytest.raises(InputError, match=r"There are no pairs"):
        make_blocks(1, Adjacent(), [])


@seeded
@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.data())
def test_overlaps_against_numpy(lengths, data):
    n = sum(lengths)
    start = data.draw(st.integers(0, n))
    rows = range(start, data.draw(st.integers(start, n)))
    parts = np.split(np.arange(n), np.cumsum(lengths)[:-1])
    found = [parts[k][inside.start : inside.stop] for k, inside in overlaps(rows, lengths)]
    assert all(len(piece) for piece in found)
    assert [int(i) for piece in found for i in piece] == list(rows)


@seeded
@given(st.integers(1, 10**9), st.integers(1, 5000))
def test_spread_properties(n_units, total):
    runs = spread(n_units, total)
    assert runs == spread(n_units, total)
    flat = [i for run in runs for i in (run.start, run.stop - 1)]
    assert flat == sorted(flat)
    assert flat[0] >= 0
    assert flat[-1] < n_units
    assert min(total, n_units) <= sum(map(len, runs)) <= min(n_units, total + 32)
    gaps = [b.start - a.stop for a, b in pairwise(runs)]
    assert max(gaps, default=0) <= 2 * n_units / 32


def blocks_sum(x, y, pairing, cuts):
    samples = Dealing(len(x), len(y))
    task, parts = Task(samples, pairing, BANK), []
    for block in make_blocks(samples.n_units, pairing, cuts):
        rows = [samples.rows(run) for run in block.runs]
        ours, theirs = (np.concatenate([np.r_[r] for r in s]) for s in zip(*rows, strict=True))
        parts.append(task.part(x[ours], y[theirs], block))
    return Part.total(parts)


@pytest.mark.parametrize(("n", "m"), [(101, 101), (40, 101), (101, 40), (9, 200)])
@pytest.mark.parametrize("pairing", [Adjacent(), Window(3), Blocks(5)], ids=str)
def test_sum_of_blocks_against_memory(n, m, pairing):
    rng = np.random.default_rng(n + m)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    units = two_sample_units(x, y, Natural(), Natural(), BANK)
    whole = accumulate(units, pairing)
    for cuts in ([], [2, 3, 8], range(0, 100, 7)):
        moments = blocks_sum(x, y, pairing, cuts).moments
        assert moments.n == whole.n
        sd = np.sqrt(np.diag(whole.cov))
        np.testing.assert_allclose(moments.tau / sd, whole.tau / sd, atol=1e-13)
        np.testing.assert_allclose(moments.cov, whole.cov, atol=1e-13 * sd.max() ** 2)


def test_neighbours_of_blocks_are_those_of_pairs():
    """Neighbours that lie in one block are counted, whatever the pairing; others are not."""
    x, y = np.random.default_rng(0).normal(size=(2, 30, 1))
    for pairing in (Adjacent(), Window(2)):
        assert blocks_sum(x, y, pairing, []).lags.neighbours.n == 14
        assert blocks_sum(x, y, pairing, [10, 20]).lags.neighbours.n == 12


def test_part_as_bytes():
    values = np.random.default_rng(0).normal(size=(2, 9))
    part = Part(Moments.from_columns(values), LagOne.of_values(values))
    back = Part.from_bytes(part.to_bytes(), 2)
    assert (back.moments.n, back.lags.neighbours.n) == (9, 8)
    for a, b in ((part.moments, back.moments), (part.lags.neighbours, back.lags.neighbours)):
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.scatter, b.scatter)


def test_rows_that_are_not_there_iv():
    task = Task(Dealing(10, 10), Adjacent(), BANK)
    (block,) = make_blocks(10, Adjacent(), [])
    rows = np.zeros((10, 1))
    with pytest.raises(InputError, match=r"the same rows .* got 10 and 11 where 10 and 10 were"):
        task.part(rows, np.zeros((11, 1)), block)
