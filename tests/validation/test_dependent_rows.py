"""Rows that depend on those before them, in memory: never called exact, and the level holds.

Bounds are binomial quantiles at .05 with a false alarm rate of 1e-3 each. Single rows were
exchanged before: nearly all of the series with φ = .9 were rejected.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom

import nosplit
from nosplit import DependentRowsWarning, Exact, independence_test, mean_test, two_sample_test
from nosplit.data.serial import perhaps_correlated

pytestmark = pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")


def series(rng, n, phi=0.9):
    noise = rng.normal(size=(n, 1)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def hours(rng, n):
    return 3.0 * np.sin(2.0 * np.pi * np.arange(n)[:, None] / 24.0) + rng.normal(size=(n, 1))


def random_hours(rng, n):
    return rng.permutation(hours(rng, n))


PAIRS = {
    "both series": (lambda rng: (series(rng, 200), series(rng, 200)), 40),
    "a series and none": (lambda rng: (series(rng, 400), rng.normal(size=(400, 1))), 25),
    "more of one": (lambda rng: (series(rng, 150), series(rng, 400)), 25),
    "hours in order and random hours": (lambda rng: (hours(rng, 400), random_hours(rng, 400)), 25),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_samples(name):
    draw, trials = PAIRS[name]
    hits = 0
    for trial in range(trials):
        found = two_sample_test(*draw(np.random.default_rng(trial)), calibration=Exact(99))
        assert found.calibration == "blocks"
        assert any("blocks of" in text for text in found.warnings)
        hits += found.reject()
    assert hits <= binom.isf(1e-3, trials, 0.05)


def test_a_shift_is_still_found():
    rng = np.random.default_rng(0)
    x, y = series(rng, 1500, 0.5), 0.5 + series(rng, 1500, 0.5)
    found = two_sample_test(x, y, calibration=Exact(99))
    assert (found.calibration, found.reject()) == ("blocks", True)


def test_closed_forms_are_warned_of():
    rng = np.random.default_rng(0)
    with pytest.warns(DependentRowsWarning, match="too small"):
        two_sample_test(series(rng, 4000), series(rng, 4000), calibration="asymptotic", pairs=2)


def test_two_variables():
    """Two series that have nothing to do with each other were found to depend in 25 of 30."""
    trials, hits = 40, 0
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        found = independence_test(series(rng, 400), series(rng, 400), calibration=Exact(99))
        assert found.calibration == "thinned"
        assert found.n_used + found.n_left_out == 400
        hits += found.reject()
    assert hits <= binom.isf(1e-3, trials, 0.05)


def test_one_series_of_two_variables_is_harmless():
    """If y does not depend on its past, it may be permuted, whatever x does."""
    rng = np.random.default_rng(1)
    found = independence_test(series(rng, 400), rng.normal(size=400), calibration=Exact(99))
    assert (found.calibration, found.warnings) == ("exact", ())


def test_rows_of_values():
    rng = np.random.default_rng(2)
    with pytest.warns(DependentRowsWarning, match="long blocks"):
        mean_test(series(rng, 400), symmetric=True)


@pytest.mark.parametrize(("n", "phi", "least"), [(60, 0.5, 0.7), (60, 0.3, 0.42), (120, 0.3, 0.5)])
def test_short_series_are_suspected(n, phi, least):
    """4 of 20 tests of two series of 60 rows (φ = .5) rejected without a word."""
    rng, trials = np.random.default_rng(3), 100
    pairs = ((series(rng, n, phi), series(rng, n, phi)) for _ in range(trials))
    assert sum(perhaps_correlated(x, y) for x, y in pairs) >= least * trials


def test_independent_rows_are_seldom_suspected():
    rng, trials = np.random.default_rng(4), 150

    def ties(size):
        return rng.integers(3, size=size)

    for draw in (rng.normal, rng.standard_cauchy, ties):
        samples = (draw(size=(2, 80, 2)) for _ in range(trials))
        assert sum(perhaps_correlated(x, y) for x, y in samples) <= binom.isf(1e-3, trials, 0.01)
        by_size = (np.sort(draw(size=(80, 1)), axis=0) for _ in range(trials))
        assert not any(map(perhaps_correlated, by_size))


@pytest.mark.parametrize(
    ("test", "where"),
    [
        (independence_test, "ways.observations"),
        (lambda x, y, calibration: mean_test(x - y, symmetric=True), "means"),
    ],
)
def test_suspicion_leaves_the_p_value_alone(monkeypatch, test, where):
    x, y = np.random.default_rng(5).normal(size=(2, 80, 1))
    before = test(x, y, calibration=Exact(99))
    monkeypatch.setattr(f"nosplit.api.{where}.perhaps_correlated", lambda *_, **__: True)
    with pytest.warns(DependentRowsWarning, match="look alike"):
        after = test(x, y, calibration=Exact(99))
    assert (before.calibration, after.calibration) == ("exact", "approximate")
    assert (before.pvalue, before.statistic) == (after.pvalue, after.statistic)


@pytest.mark.parametrize(("n", "m", "how"), [(80, 80, "blocks"), (80, 200, "approximate")])
def test_suspected_samples_have_blocks(monkeypatch, n, m, how):
    """As they stood, 12 of 100 with 200 rows and φ = .3 were rejected, with a warning; now 5."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(n, 1)), rng.normal(size=(m, 1))
    monkeypatch.setattr("nosplit.api.ways.pairs.perhaps_correlated", lambda *_, **__: True)
    said = "blocks of 8 rows" if how == "blocks" else "rows farther apart"
    with pytest.warns(DependentRowsWarning, match=f"look alike.*{said}"):
        found = two_sample_test(x, y, calibration=Exact(99))
    assert found.calibration == how


# Swaps of blocks --------------------------------------------------------------------------------


def test_signs_of_blocks_against_their_definition():
    from nosplit.pairs.draws import Signs

    signs = Signs(11, 99, np.random.default_rng(0), block=3)
    every = signs.columns(range(11))
    assert signs.n_signs == 3  # the last two units go with the third block
    assert np.array_equal(every, every[:, [0, 0, 0, 3, 3, 3, 6, 6, 6, 6, 6]])
    assert (len(every), len(np.unique(every, axis=0))) == (4, 4)
    assert np.array_equal(signs.columns(range(9, 13)), every[:, [9, 10, 0, 1]])
    assert np.array_equal(signs.of(range(4, 11)).columns(range(0, 7, 2)), every[:, [4, 6, 8, 10]])


# So little data that nothing is rejected --------------------------------------------------------


def test_tiny_samples_of_equal_sizes():
    """Five pairs that are swapped have 16 patterns: p was .06 for twenty standard deviations."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=4), rng.normal(size=4) + 20.0
    assert two_sample_test(x, y).pvalue <= 2 / 70 + 1e-12


def test_level_of_tiny_samples():
    """All 70 ways to call four of eight rows x: at most k of them have p ≤ k / 70."""
    from itertools import combinations

    rows = np.random.default_rng(3).normal(size=(8, 2))
    found = []
    for chosen in combinations(range(8), 4):
        mask = np.isin(np.arange(8), chosen)
        found.append(two_sample_test(rows[mask], rows[~mask]).pvalue)
    p = np.sort(found)
    assert np.all(np.searchsorted(p, p + 1e-9, side="right") <= 70 * p + 1e-6)


@pytest.mark.parametrize("n", [3, 4])
def test_a_test_that_cannot_reject_says_so(n):
    x, y = np.random.default_rng(0).normal(size=(2, n))
    with pytest.warns(nosplit.PowerlessWarning, match="not rejected at .05"):
        two_sample_test(x, y, kernels=[nosplit.Gaussian(1.0)])


@pytest.mark.parametrize("phi", [0.0, 0.3])
def test_streams_of_different_sizes(phi):
    """Three rows of y in a row beside one of x: 7 of 40 rejected without a word at φ = .3."""
    rng = np.random.default_rng(11)
    stream = nosplit.TwoSampleAccumulator(ratio=(1, 3), rng=1)
    stream.update(series(rng, 1000, phi), series(rng, 3000, phi))
    if not phi:
        assert stream.result(flips=199).calibration == "exact"
        return
    with pytest.warns(nosplit.DependentRowsWarning, match="came shortly before"):
        assert stream.result(flips=199).calibration == "blocks"
