"""Moments: the algebra of addition, accuracy, and what they are read from and written to."""

from __future__ import annotations

import threading
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nosplit import InputError, Moments
from nosplit.core.moments import add_up, column_moments
from nosplit.core.pairings import Adjacent, Aligned, Blocks, Complete, LinearPairs, Tile, Window

EPS = np.finfo(float).eps
# Compilation on first use takes more than hypothesis allows.
seeded = settings(derandomize=True, deadline=None)
numbers = st.floats(-1e6, 1e6).map(lambda v: round(v, 3))


def matrices(d=3, least=1, most=12):
    return st.integers(least, most).flatmap(lambda n: arrays(np.float64, (n, d), elements=numbers))


def assert_same(a, b, values, ulps=64):
    """Equal to rounding, on the scale of the values that went in."""
    assert a.n == b.n
    scale = np.abs(values).max(axis=0) + 1e-300
    assert np.all(np.abs(a.mean - b.mean) <= ulps * EPS * scale)
    assert np.all(np.abs(a.scatter - b.scatter) <= ulps * EPS * a.n * np.outer(scale, scale))


@seeded
@given(matrices(), matrices(), matrices())
def test_addition_is_associative_and_commutative_properties(x, y, z):
    a, b, c = (Moments.from_values(v) for v in (x, y, z))
    every = np.concatenate([x, y, z])
    assert_same((a + b) + c, a + (b + c), every)
    assert_same(a + b, b + a, every)
    assert_same(a + b + c, Moments.from_values(every), every)


@seeded
@given(matrices())
def test_empty_is_the_identity_properties(x):
    m, zero = Moments.from_values(x), Moments.empty(3)
    for total in (m + zero, zero + m):
        assert total.n == m.n
        assert np.array_equal(total.mean, m.mean)
        assert np.array_equal(total.scatter, m.scatter)
    assert (zero + zero).n == 0
    assert np.array_equal((zero + zero).cov, np.zeros((3, 3)))
    assert np.array_equal(zero.tau, np.zeros(3))


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 5000])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_values_and_columns_against_numpy(n, d):
    h = np.random.default_rng([n, d]).gamma(2.0, size=(n, d)) @ np.diag(10.0 ** np.arange(d))
    sd = h.std(axis=0) if n > 1 else np.abs(h[0])
    for m in (Moments.from_values(h), Moments.from_columns(np.ascontiguousarray(h.T))):
        assert m.n == n
        np.testing.assert_allclose(m.mean, h.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(m.tau, np.sqrt(n) * h.mean(axis=0), rtol=1e-14)
        cov = np.atleast_2d(np.cov(h.T, bias=True))
        assert np.max(np.abs(m.cov - cov) / np.outer(sd, sd)) < 1e-13
        assert np.max(np.abs(m.second_moment - h.T @ h / n) / np.outer(sd, sd)) < 1e-12


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_offset_takes_nothing_from_the_scatter(offset):
    """Values far from zero: only their own rounding, eps times the offset, may show."""
    h = np.round(np.random.default_rng(1).normal(size=(4096, 3)) * 2**20) / 2**20
    near, far = Moments.from_values(h), Moments.from_values(h + offset)
    parts = [Moments.from_columns(np.ascontiguousarray(p.T)) for p in np.split(h + offset, 16)]
    for m in (far, reduce(add, parts)):
        np.testing.assert_allclose(m.mean - offset, near.mean, atol=4 * EPS * offset)
        np.testing.assert_allclose(m.cov, near.cov, rtol=0, atol=4 * EPS * offset)


def test_many_parts_lose_nothing():
    """30,000 parts added one after the other: the error of n = 10⁹ pairs in jobs of 32,768."""
    part = Moments.from_values(np.random.default_rng(2).normal(3.0, 1.0, size=(16, 2)))
    total = part
    for _ in range(30_000 - 1):
        total = total + part
    assert total.n == 480_000
    np.testing.assert_allclose(total.mean, part.mean, rtol=1e-13)
    np.testing.assert_allclose(total.cov, part.cov, rtol=1e-12)


def test_sum_and_other_operands():
    parts = [Moments.from_values([[float(i)]]) for i in range(4)]
    assert sum(parts[1:], start=parts[0]).mean == pytest.approx(1.5)
    with pytest.raises(TypeError):
        parts[0] + 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"`values` must be a non-empty matrix, got shape \(0,\)"),
        ([1.0, 2.0], r"`values` must be a non-empty matrix, got shape \(2,\)"),
        ([[1.0], [np.nan]], r"`values` must be finite, got nan at index \(1, 0\)"),
        ([["a"]], r"`values` must hold real numbers, got dtype <U1"),
        ([[1.0], [1.0, 2.0]], r"`values` must be a rectangular array of numbers"),
    ],
)
def test_values_iv(values, message):
    with pytest.raises(InputError, match=message):
        Moments.from_values(values)


def test_kernels_must_be_the_same_iv():
    with pytest.raises(InputError, match=r"must be of the same kernels, got 1 and 2"):
        Moments.empty(1) + Moments.from_values([[1.0, 2.0]])


# Adding up jobs -----------------------------------------------------------------------------------

PAIRS = [LinearPairs(), Adjacent(), Window(3), Blocks(16), Complete()]


def ones(job):
    return Moments.from_columns(np.ones((1, job.n_pairs)))


def lone_jobs(count):
    return (Aligned(range(i, i + 1), range(i + 1, i + 2)) for i in range(count))


@pytest.mark.parametrize("pairing", PAIRS, ids=repr)
@pytest.mark.parametrize("workers", [1, 2])
def test_every_job_once_in_order_and_progress(pairing, workers):
    seen, steps = [], []

    def work(job):
        seen.append(job)
        return ones(job)

    total = add_up(work, pairing.jobs(2000, 5000), workers, steps.append)
    assert total.n == sum(steps) == pairing.n_pairs(2000)
    assert steps == [job.n_pairs for job in pairing.jobs(2000, 5000)]
    assert len(seen) == len(set(map(repr, seen))) == len(steps)


@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_are_taken_a_bounded_number_ahead(workers):
    """Neither all jobs nor all results are ever held: memory does not grow with N."""
    taken, done, ahead = 0, 0, []

    def jobs():
        nonlocal taken
        for job in lone_jobs(1000):
            taken += 1
            yield job

    def step(n):
        nonlocal done
        done += n
        ahead.append(taken - done)

    assert add_up(ones, jobs(), workers, step).n == done == 1000
    assert max(ahead) <= 16 * workers


def test_work_is_shared_by_threads():
    """With two workers, two jobs are under way at once (each waits for the other)."""
    meeting = threading.Barrier(2, timeout=30)

    def work(job):
        meeting.wait()
        return ones(job)

    assert add_up(work, lone_jobs(2), 2).n == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_the_work_come_through(workers):
    def broken(job):
        raise ZeroDivisionError("in the kernel")

    with pytest.raises(ZeroDivisionError, match="in the kernel"):
        add_up(broken, lone_jobs(5), workers)


@pytest.mark.parametrize("pairing", [LinearPairs(), Adjacent(), Complete()], ids=repr)
def test_no_pairs_iv(pairing):
    with pytest.raises(InputError, match=r"There are no pairs: at least two units are needed"):
        add_up(ones, pairing.jobs(1, 100), 1)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "all"])
def test_workers_iv(workers):
    with pytest.raises(InputError, match=r"`workers` must be an int ≥ 1"):
        add_up(ones, lone_jobs(2), workers)


def test_tiles_hold_each_pair_once():
    values = np.random.default_rng(0).normal(size=(2, 5, 5))
    rows, columns = np.triu_indices(5, 1)
    alone = column_moments(values, Tile(range(5), range(5)))
    once = Moments.from_values(values[:, rows, columns].T)
    np.testing.assert_allclose(alone.scatter, once.scatter, rtol=1e-12)
    whole = column_moments(values, Tile(range(5), range(5, 10)))
    assert (alone.n, whole.n) == (10, 25)
    np.testing.assert_allclose(whole.mean, values.mean(axis=(1, 2)), rtol=1e-12)
