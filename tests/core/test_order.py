"""Orders: every row once, and nothing left of the order the rows came in."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nosplit.core.order import BUFFER, LARGE, Natural, Permuted, Riffled, shuffled, take
from nosplit.core.pairings import as_pairing
from nosplit.families.paired import estimate_pairs
from nosplit.kernels import Gaussian
from nosplit.methods import OST

# False alarms of each statistical statement here.
ALARM = 1e-6
SIZES = [LARGE, LARGE + 1, LARGE + 513, LARGE + BUFFER - 1, LARGE + BUFFER + 12_345]


def estimate(x, y, pairs, rng, bandwidth=1.0):
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    rng = None if rng is None else np.random.default_rng(rng)
    return estimate_pairs(x, y, Gaussian(bandwidth), as_pairing(pairs), OST(), rng)


def rows_of(order, n):
    return np.asarray(order.rows(range(n)))


@pytest.mark.parametrize("n", [*SIZES, BUFFER, BUFFER + 77])
def test_riffled_is_a_bijection(n):
    rows = rows_of(Riffled.draw(n, np.random.default_rng(n)), n)
    assert rows.shape == (n,)
    assert np.array_equal(np.bincount(rows, minlength=n), np.ones(n))


@pytest.mark.parametrize("n", [2, 3, 1000, LARGE - 1])
def test_permuted_is_a_bijection(n):
    order = shuffled(n, np.random.default_rng(0))
    assert isinstance(order, Permuted)
    assert np.array_equal(np.sort(rows_of(order, n)), np.arange(n))


def test_many_rows_are_riffled():
    assert isinstance(shuffled(LARGE, np.random.default_rng(0)), Riffled)
    assert isinstance(shuffled(LARGE - 1, np.random.default_rng(0)), Permuted)


@pytest.mark.parametrize("n", [LARGE + 77, 5000])
def test_any_part_of_an_order_is_the_same(n):
    """Jobs ask for parts, with steps for adjacent pairs: they must be parts of one order."""
    for order in (shuffled(n, np.random.default_rng(3)), Natural()):
        whole = rows_of(order, n)
        rng = np.random.default_rng(4)
        for step in (1, 2, 3):
            for _ in range(20):
                start, stop = np.sort(rng.integers(n, size=2))
                part = range(int(start), int(stop), step)
                assert np.array_equal(order.rows(part), whole[part.start : part.stop : step])
        last = range(n - 5, n)
        assert np.array_equal(order.rows(last), whole[-5:])


def test_natural_keeps_the_order():
    assert np.array_equal(rows_of(Natural(), 10), np.arange(10))


def test_take_follows_the_order():
    sample = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    order = Permuted(np.random.default_rng(1).permutation(50))
    got = take(sample, order, range(10, 40, 2))
    assert got.dtype == np.float32
    assert np.array_equal(got, sample[order.index[10:40:2]])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lag", [1, 2, 16, BUFFER // 2])
def test_riffled_breaks_sortedness(n, lag):
    """The rank correlation of sorted rows at a lag is that of independent ones: N(0, 1/n)."""
    rows = rows_of(Riffled.draw(n, np.random.default_rng([n, lag])), n)
    u = rows / n - 0.5
    correlation = 12 * np.mean(u[:-lag] * u[lag:])
    assert abs(correlation) * np.sqrt(n) < stats.norm.isf(ALARM / 2)


@pytest.mark.parametrize("n", SIZES[2:])
def test_linear_pairs_of_sorted_rows_are_as_random_pairs(n):
    """Position i and n/2 + i: the two ranks are uniform and independent (χ² on an 8 × 8 grid)."""
    rows = rows_of(Riffled.draw(n, np.random.default_rng(n)), n)
    half = n // 2
    cells = rows[:half] * 8 // n * 8 + rows[half : 2 * half] * 8 // n
    counts = np.bincount(cells, minlength=64)
    assert stats.chisquare(counts).pvalue > ALARM


def test_first_positions_are_a_sample_of_everything():
    """The first 1,000 positions of a riffled order are spread evenly over all rows."""
    n = LARGE + 99
    rows = rows_of(Riffled.draw(n, np.random.default_rng(7)), 1000)
    assert stats.kstest(rows / n, "uniform").pvalue > ALARM


@pytest.mark.parametrize("pairs", ["linear", "adjacent", 1, 10])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sorted_samples_keep_the_level_against_theory(pairs, seed):
    """Sorted samples of one law, riffled: τ/σ is standard normal.

    (With the same neighbours in every buffer it was as far out as 9.)
    """
    x, y = np.sort(np.random.default_rng(seed).normal(size=(2, LARGE + 1001)), axis=1)
    out = estimate(x, y, pairs, seed)
    assert abs(out.tau[0]) < stats.norm.isf(ALARM / 2) * np.sqrt(out.cov[0, 0])
