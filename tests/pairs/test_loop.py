"""The one loop: every job once, in order, by any number of workers, a few jobs ahead."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from _reference import pairs_of
from nosplit import Blocks, Gaussian, InputError, Laplace, Linear, Moments, two_sample_test
from nosplit.families.two_sample import two_sample_units
from nosplit.kernels.bank import Bank
from nosplit.pairs import loop as module
from nosplit.pairs.dealing import Natural
from nosplit.pairs.draws import Part
from nosplit.pairs.loop import accumulate, accumulate_draws, n_workers
from nosplit.pairs.pairing import Aligned, Band, Tile, as_pairing

PAIRS = ["linear", "adjacent", 3, Blocks(16), "complete"]
every_pairing = pytest.mark.parametrize("pairs", PAIRS, ids=str)


@dataclass
class Products:
    """Units with the simplest values: products of numbers and of their squares."""

    number: np.ndarray
    rows_per_unit: float = 2.0

    @property
    def n_units(self):
        return len(self.number)

    def values(self, job):
        def of(units):
            return self.number[np.array(units) % self.n_units]

        match job:
            case Aligned(a, b):
                h = of(a) * of(b)
            case Band(units, R):
                lags = (range(units.start + r, units.stop + r) for r in range(1, R + 1))
                h = np.concatenate([of(units) * of(lag) for lag in lags])
            case Tile(a, b):
                h = np.outer(of(a), of(b))
        return np.stack([h, h**2])


@dataclass
class Counted:
    """Draws that do nothing but keep account of the jobs they were given."""

    seen: list
    exhaustive: bool = False

    def of(self, units):
        return self

    def part(self, job):
        self.seen.append(job)
        n = float(job.n_pairs)
        moments = Moments(job.n_pairs, np.zeros(1), np.zeros((1, 1)))
        return Part(moments, np.full((2, 1), n), np.full((1, 1), n))


def samples(n, m=None, seed=0):
    rng = np.random.default_rng([seed, n])
    return rng.normal(size=(n, 2)), rng.normal(size=(m or n, 2))


@every_pairing
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_units_against_numpy(pairs, workers):
    """A family of one's own needs `n_units`, `rows_per_unit` and `values`, no more."""
    units, pairing = Products(np.random.default_rng(0).normal(size=301)), as_pairing(pairs)
    index = pairs_of(pairing, 301)
    h = units.number[index[:, 0]] * units.number[index[:, 1]]
    moments = accumulate(units, pairing, workers=workers)
    assert moments.n == len(index)
    np.testing.assert_allclose(moments.mean, [h.mean(), (h**2).mean()], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(moments.cov, np.cov(h, h**2, bias=True), rtol=1e-11)


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(700, 700), (200, 300)])
def test_workers_give_the_same_bits(pairs, n, m):
    """Parts are added in the order of the jobs, so not even rounding differs."""
    bank = Bank((Gaussian(1.0), Laplace(1.0), Linear()))
    units = two_sample_units(*samples(n, m), Natural(), Natural(), bank)
    one, three = (accumulate(units, as_pairing(pairs), workers=w) for w in (1, 3))
    assert np.array_equal(one.mean, three.mean)
    assert np.array_equal(one.scatter, three.scatter)
    draws = units.draws(19, np.random.default_rng(0))
    one, three = (accumulate_draws(units, as_pairing(pairs), draws, workers=w) for w in (1, 3))
    assert np.array_equal(one.sums, three.sums)
    assert np.array_equal(one.second, three.second)


@every_pairing
@pytest.mark.parametrize("job", [64, 500, 100_000])
def test_job_size_makes_no_difference(pairs, job, monkeypatch):
    bank = Bank((Gaussian(1.0), Laplace(1.0), Linear()))
    for n, m in ((150, 150), (60, 100)):
        units = two_sample_units(*samples(n, m), Natural(), Natural(), bank)
        draws = units.draws(19, np.random.default_rng(0))
        usual = accumulate_draws(units, as_pairing(pairs), draws)
        with monkeypatch.context() as patch:
            patch.setattr(module, "JOB", job)
            moments = accumulate(units, as_pairing(pairs))
            other = accumulate_draws(units, as_pairing(pairs), draws)
        sd = np.sqrt(np.diagonal(usual.moments.cov))
        for got in (moments, other.moments):
            assert got.n == usual.moments.n
            assert np.max(np.abs(got.mean - usual.moments.mean) / sd) < 1e-13
            assert np.max(np.abs(got.cov - usual.moments.cov) / np.outer(sd, sd)) < 1e-13
        scale = np.sqrt(np.diagonal(usual.second))
        # Values of a tile are rounded to steps of its own: sums of them are exact in float32.
        assert np.max(np.abs(other.sums - usual.sums) / scale) < 3e-4


@every_pairing
@pytest.mark.parametrize("workers", [1, 2])
def test_every_job_once_and_progress(pairs, workers):
    units, pairing = Products(np.ones(2000)), as_pairing(pairs)
    draws, steps = Counted([]), []
    part = accumulate_draws(units, pairing, draws, workers=workers, step=steps.append)
    assert sum(steps) == sum(job.n_pairs for job in draws.seen) == pairing.n_pairs(2000)
    assert part.moments.n == pairing.n_pairs(2000)
    assert np.all(part.sums == pairing.n_pairs(2000))
    assert len(steps) == len(draws.seen) == len(set(map(repr, draws.seen)))


@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_are_taken_a_bounded_number_ahead(workers):
    """Neither all jobs nor all results are ever held: memory does not grow with N."""
    taken, done, ahead = 0, 0, []

    @dataclass
    class Many:
        def n_pairs(self, n_units):
            return 1000

        def jobs(self, n_units, size):
            nonlocal taken
            for i in range(1000):
                taken += 1
                yield Aligned(range(i, i + 1), range(i + 1, i + 2))

    def step(n):
        nonlocal done
        done += n
        ahead.append(taken - done)

    accumulate_draws(Products(np.ones(1001)), Many(), Counted([]), workers=workers, step=step)
    assert done == 1000
    assert max(ahead) <= 16 * workers


def test_work_is_shared_by_threads():
    """With two workers, two jobs are under way at once (each waits for the other)."""
    meeting = threading.Barrier(2, timeout=30)

    class Waiting(Counted):
        def part(self, job):
            meeting.wait()
            return super().part(job)

    @dataclass
    class Two:
        def n_pairs(self, n_units):
            return 2

        def jobs(self, n_units, size):
            yield Aligned(range(1), range(1, 2))
            yield Aligned(range(1, 2), range(2, 3))

    assert accumulate_draws(Products(np.ones(3)), Two(), Waiting([]), workers=2).moments.n == 2


def test_callers_in_threads_leave_linear_algebra_as_it_was(monkeypatch):
    """Two callers at once: the first to come leaves first, the second last."""

    class Library:
        threads = 8

        @contextmanager
        def limit(self, limits):
            before, self.threads = self.threads, limits
            yield
            self.threads = before

    class Slow(Products):
        def values(self, job):
            inside.wait()
            first_left.wait(timeout=30)
            return super().values(job)

    library, inside, first_left = Library(), threading.Barrier(2, timeout=30), threading.Event()
    monkeypatch.setattr(module, "_blas", lambda: library)
    second = threading.Thread(target=accumulate, args=(Slow(np.ones(2)), as_pairing("linear")))

    class Quick(Products):
        def values(self, job):
            second.start()
            inside.wait()
            assert library.threads == 1
            return super().values(job)

    accumulate(Quick(np.ones(2)), as_pairing("linear"))
    first_left.set()
    second.join()
    assert library.threads == 8


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_a_kernel_come_through(workers):
    class Broken(Products):
        def values(self, job):
            raise ZeroDivisionError("in the kernel")

    with pytest.raises(ZeroDivisionError, match="in the kernel"):
        accumulate(Broken(np.ones(500)), as_pairing("complete"), workers=workers)


@pytest.mark.parametrize("pairs", ["linear", "adjacent", "complete"])
def test_no_pairs_iv(pairs):
    with pytest.raises(InputError, match=r"There are no pairs: at least two units are needed"):
        accumulate(Products(np.ones(1)), as_pairing(pairs))


def test_number_of_workers():
    assert n_workers(3) == 3
    assert n_workers(None) >= 1


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "all"])
def test_workers_iv(workers):
    with pytest.raises(InputError, match=r"`workers` must be an int ≥ 1"):
        n_workers(workers)
    with pytest.raises(InputError, match=r"`workers` must be an int ≥ 1"):
        two_sample_test(*samples(30), workers=workers)
