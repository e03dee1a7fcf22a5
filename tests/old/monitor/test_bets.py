"""Bets: fair under every swap, the same in whatever batches, and wealth as plain sums have it."""

from itertools import product

import numpy as np
import pytest

from nosplit._old.monitor import watch as watching
from nosplit._old.monitor.bets import learners, maps
from nosplit._old.monitor.bets.wealth import FRACTIONS, POINTS, EvidencePath, Wealth
from nosplit._old.monitor.independence import exchanged
from nosplit._old.monitor.watch import Watch, WatchPlan
from nosplit.data.encoding import Column, Encoding

MIXED = Encoding((Column("a", "numbers"), Column("c", "text")))
NUMBERS = Encoding((Column("a", "numbers"), Column("b", "numbers")))


def mixed_rows(rng, n):
    rows = np.column_stack([rng.standard_t(3, n), rng.choice([1.0, 2.0, 3.0, 77.0], n)])
    rows[rng.random(n) < 0.1, 0] = np.nan
    return rows


@pytest.fixture
def small(monkeypatch):
    """Few features, frequent updates and early maps: all swaps of a few pairs can be tried."""
    monkeypatch.setattr(maps, "ROOM", 0)
    monkeypatch.setattr(maps, "LEAST_WAVES", 8)
    monkeypatch.setattr(learners, "SHORTEST", 2)
    monkeypatch.setattr(watching, "STAGES", (2, 4))


def swapped(x, y, signs):
    flip = np.repeat(np.array(signs) < 0, len(x) // len(signs))[:, None]
    return np.where(flip, y, x), np.where(flip, x, y)


@pytest.mark.parametrize("rate", [False, True])
@pytest.mark.parametrize("piloted", [False, True])
def test_mean_wealth_over_all_swaps_is_one_against_enumeration(small, rate, piloted):
    """Maps, learners and bets together are fair: exactly, given the pairs but not who is x."""
    rng = np.random.default_rng(1)
    n, size = 6, 1
    x, y = mixed_rows(rng, n * size), mixed_rows(rng, n * size)
    y[:, 0] += 2.0  # so that bets win or lose a lot
    pilot = mixed_rows(rng, 40)
    found = []
    for signs in product([1, -1], repeat=n):
        watch = Watch(WatchPlan(size, 3.0, rate, key=3), MIXED)
        if piloted:
            watch.start(pilot)
        watch.feed(*swapped(x, y, signs))
        found.append(np.exp(watch.bettor.wealth.log_wealth))
    assert np.ptp(found) > 0.1
    assert np.mean(found) == pytest.approx(n if rate else 1.0, rel=1e-9)


def test_mean_wealth_of_blocks_over_all_swaps_is_one_against_enumeration(small):
    rng = np.random.default_rng(2)
    n, size = 6, 3
    x, y = rng.normal(size=(n * size, 2)), 1.0 + rng.normal(size=(n * size, 2))
    found = []
    for signs in product([1, -1], repeat=n):
        watch = Watch(WatchPlan(size, 3.0, False, key=3), NUMBERS)
        watch.feed(*swapped(x, y, signs))
        found.append(np.exp(watch.bettor.wealth.log_wealth))
    assert np.mean(found) == pytest.approx(1.0, rel=1e-9)


def test_mean_wealth_over_all_exchanges_is_one_against_enumeration(small):
    """Independence: y changes places between the two observations of a pair."""
    rng = np.random.default_rng(3)
    n = 6
    rows = rng.normal(size=(2 * n, 2))
    rows[:, 1] += 2.0 * rows[:, 0]
    found = []
    for signs in product([1, -1], repeat=n):
        other = exchanged(rows, 1, 1)
        watch = Watch(WatchPlan(2, 3.0, False, key=3, split=1), NUMBERS)
        watch.feed(*swapped(rows, other, signs))
        found.append(np.exp(watch.bettor.wealth.log_wealth))
    assert np.ptp(found) > 0.1
    assert np.mean(found) == pytest.approx(1.0, rel=1e-9)


def test_wealth_against_numpy():
    """One account after the other, written out."""
    rng = np.random.default_rng(0)
    n, J = 50, 3
    payoffs = np.tanh(rng.normal(0.5, 1.0, size=(n, J)))
    shares = np.array([0.5, 0.3, 0.2])
    wealth = Wealth(shares, np.log(20.0), rate=False)
    wealth.bet(payoffs[:20])
    wealth.bet(payoffs[20:])
    left = 0.3 / (1.0 + np.log1p(np.arange(n + 1) / 100.0))
    stakes = -np.diff(left)
    stakes[0] += 0.7
    logs = []
    for t in range(n):
        total = left[t + 1]
        for j, share in enumerate(shares):
            for fraction in FRACTIONS:
                gains = 1.0 + fraction * payoffs[: t + 1, j]
                grown = [stakes[s] * np.prod(gains[s:]) for s in range(t + 1)]
                total += share / len(FRACTIONS) * sum(grown)
        logs.append(np.log(total))
    assert wealth.path.values == pytest.approx(logs, rel=1e-12)
    assert wealth.highest == pytest.approx(max(logs))
    assert wealth.rang[0] == 1 + np.argmax(np.array(logs) >= np.log(20.0))


def test_wealth_of_any_size():
    """Fortunes of e^1000 are made and lost again without overflow."""
    wealth = Wealth(np.ones(1), 3.0, rate=False)
    wealth.bet(np.full((2000, 1), 0.99))
    high = wealth.log_wealth
    assert high > 1000
    wealth.bet(np.full((6000, 1), -0.99))
    assert -5.0 < wealth.log_wealth < 0.0
    assert wealth.highest == high


def test_change_is_where_gains_began():
    rng = np.random.default_rng(0)
    payoffs = np.tanh(rng.normal(size=(3000, 1)))
    payoffs[2000:] = np.abs(payoffs[2000:])
    wealth = Wealth(np.ones(1), np.log(1e6), rate=True)
    wealth.bet(payoffs)
    alarm, change = wealth.rang
    assert 2000 < alarm < 2060
    assert 1980 < change < 2010


def test_long_paths_are_thinned_whatever_the_batches():
    rng = np.random.default_rng(0)
    logs = rng.normal(size=5000)
    whole, parts = EvidencePath(), EvidencePath()
    whole.add(0, logs)
    for start in range(0, 5000, 7):
        parts.add(start, logs[start : start + 7])
    assert whole.step == parts.step == 8
    assert whole.values == parts.values == logs[7::8].tolist()
    assert len(whole.values) <= POINTS
    assert whole.numbers[0] == 8


def test_evidence_does_not_depend_on_batches():
    rng = np.random.default_rng(0)
    x, y = mixed_rows(rng, 700), mixed_rows(rng, 700)
    whole, parts = (Watch(WatchPlan(1, 3.0, False, key=3), MIXED) for _ in range(2))
    whole.feed(x, y)
    start = 0
    for size in [1] * 150 + [7] * 50 + [200]:
        parts.feed(x[start : start + size], y[start : start + size])
        start += size
    assert start == 700
    assert whole.bettor.wealth.path.values == parts.bettor.wealth.path.values
