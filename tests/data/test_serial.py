"""Rows that depend on those before them, and rows that are only sorted."""

import numpy as np
import pytest

import nosplit
from nosplit.data.likeness import _first_places
from nosplit.data.serial import correlated_rows, sure_of
from nosplit.sketch.dealing import Deal


def series(phi, n, rng):
    noise, out = rng.normal(size=n), np.empty(n)
    out[0] = noise[0] / np.sqrt(1 - phi**2)
    for i in range(1, n):
        out[i] = phi * out[i - 1] + noise[i]
    return out[:, None] * np.sqrt(1 - phi**2)


@pytest.mark.parametrize("phi", [0.3, 0.5, 0.9])
def test_series_are_found(phi):
    assert correlated_rows(series(phi, 4000, np.random.default_rng(1))) > 0


def test_a_daily_cycle_is_found():
    hours = np.arange(5000) % 24
    assert correlated_rows(hours[:, None].astype(float)) > 0
    noisy = np.sin(2 * np.pi * hours / 24) + np.random.default_rng(0).normal(size=5000)
    assert correlated_rows(noisy[:, None]) > 0


def test_repeated_rows_are_found():
    rows = np.repeat(np.random.default_rng(0).normal(size=(400, 2)), 12, axis=0)
    assert correlated_rows(rows) >= 8


@pytest.mark.parametrize("n", [150, 3000, 30_000])
def test_sorted_and_independent_rows_are_not(n):
    rng = np.random.default_rng(n)
    groups, values = rng.integers(0, 4, n), rng.exponential(size=n)
    inside = np.lexsort((values, groups))
    for rows in (
        rng.normal(size=(n, 3)),
        rng.poisson(0.05, (n, 2)).astype(float),
        rng.standard_cauchy((n, 2)),
        np.sort(values)[:, None],
        np.sort(values)[::-1, None],
        np.sort(groups)[:, None].astype(float),
        np.column_stack([groups, values])[inside],
    ):
        assert correlated_rows(rows) == 0


def test_false_alarms_are_rare():
    """None of 500 columns at five standard errors; expected are fewer than .001."""
    rng = np.random.default_rng(3)
    assert not any(correlated_rows(rng.normal(size=(300, 5))) for _ in range(100))


def test_blocks_are_dealt_whole():
    deal = Deal(1000, 50, 18, key=3, block=10)
    places = deal.places(0, 1000)
    assert np.array_equal(np.sort(places), np.arange(1000))
    assert all(len(set(deal.cell_of(10 * b, 10))) == 1 for b in range(100))
    assert np.array_equal(deal.places(333, 200), places[333:533])


def test_rows_that_depend_are_not_called_exact():
    """Both samples in time order: blocks hold the level that single rows do not."""
    rng = np.random.default_rng(0)
    hits = blind = 0
    for trial in range(60):
        x, y = (series(0.9, 6000, rng) for _ in range(2))
        with pytest.warns(nosplit.DependentRowsWarning, match="blocks of"):
            res = nosplit.two_sample_test(
                x, y, pairs=nosplit.Sketch(frequencies=8), calibration=nosplit.Exact(99), rng=trial
            )
        assert res.calibration == "blocks"
        hits += res.reject(0.05)
        if trial < 20:
            blind += nosplit.two_sample_test(
                rng.permutation(x),
                rng.permutation(y),
                pairs=nosplit.Sketch(frequencies=8),
                calibration=nosplit.Exact(99),
                rng=trial,
            ).reject(0.05)
    # 9 or more of 60 at .05: probability .002. Single rows reject most of the time.
    assert hits < 9
    assert blind > 10


@pytest.mark.parametrize("phi", [0.98, 0.999, 1.0])
def test_slow_series_are_found(phi):
    """Neighbours so alike are no column that goes along with a sorted one."""
    rng = np.random.default_rng(5)
    walk = np.cumsum(rng.normal(size=(3000, 1)), axis=0)
    assert correlated_rows(walk if phi == 1.0 else series(phi, 3000, rng)) > 0


@pytest.mark.parametrize("n", [300, 4000])
def test_columns_that_go_along_with_a_sorted_one_are_not(n):
    rng = np.random.default_rng(n)
    first = np.sort(rng.normal(size=n))
    for share in (0.3, 0.9):
        along = share * first + np.sqrt(1.0 - share**2) * rng.normal(size=n)
        assert correlated_rows(np.column_stack([first, along])) == 0


@pytest.mark.parametrize("phi", [0.9, 0.98, 0.995, 1.0])
@pytest.mark.parametrize("n", [120, 200])
def test_slow_series_of_few_rows_are_no_sorted_rows(phi, n):
    """Their steps add up. Of 20 series, most were taken for sorted ones before."""
    rng = np.random.default_rng(n)
    found = 0
    for _ in range(20):
        rows = np.cumsum(rng.normal(size=(n, 1)), axis=0) if phi == 1.0 else series(phi, n, rng)
        found += correlated_rows(rows) > 0
    assert found >= 18


@pytest.mark.parametrize("n", [60, 150, 200])
def test_few_rows_sorted_inside_groups_are_not(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        groups, values = rng.integers(0, 5, n), rng.normal(size=n)
        assert correlated_rows(values[np.lexsort((values, groups))][:, None]) == 0


def test_rare_values_side_by_side_are_no_alarm():
    """Two of a few rare rows are neighbours more often than a normal law says: 1 of 400 before."""
    rng = np.random.default_rng(77)
    assert not any(correlated_rows(rng.poisson(0.05, (1000, 1)).astype(float)) for _ in range(300))


def test_many_columns_raise_the_bar():
    assert sure_of(100, 1) < sure_of(100, 50) < sure_of(50, 50)
    assert 4.3 < np.sqrt(100) * sure_of(100, 1) < 4.5  # 2e-5 in four tails


@pytest.mark.parametrize(("n", "last", "later"), [(48, 4, 3), (191, 4, 3), (192, 8, 1)])
def test_lags_that_tell_sorted_rows_in_short_samples(n, last, later):
    places, found = _first_places(n)
    assert (places[0, 0], places[0, -1], found) == (0, last, later)
    assert places.max() < n
