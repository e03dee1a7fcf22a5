"""Few rows: what they may be, by how much they are like those next to them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom

from nosplit.data.likeness import (
    CORRELATIONS,
    DOUBTED,
    ODDS,
    UNSEEN,
    Likeness,
    doubt_of,
    likeness_of,
    rows_apart,
)


def series(rng, n, phi, p=1):
    noise = rng.normal(size=(n, p)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


@pytest.mark.parametrize(("n", "samples", "p"), [(20, 1, 1), (20, 2, 1), (40, 2, 1), (40, 2, 4)])
def test_how_likely_a_series_is_against_simulation(n, samples, p):
    """Rows of which one in six are series are so as often as is said of them."""
    rng = np.random.default_rng(n + samples + p)
    said, are = [], []
    for _ in range(3000):
        odds = np.array(ODDS) / sum(ODDS)
        phi = rng.choice(CORRELATIONS, p=odds) if rng.random() < DOUBTED else 0.0
        said.append(doubt_of(likeness_of(*(series(rng, n, phi, p) for _ in range(samples)))).series)
        are.append(phi > 0.0)
    said, are = np.array(said), np.array(are)
    # Never more of them than that, but for a little; several columns are taken for more alike.
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.01)):
        some = (said >= low) & (said < high)
        expected, count = said[some].mean(), int(some.sum())
        assert are[some].sum() <= binom.isf(1e-4, count, min(1.0, 1.3 * expected + 0.02))
        if p == 1:
            assert are[some].sum() >= binom.ppf(1e-4, count, 0.6 * expected)


@pytest.mark.parametrize("n", [20, 40, 120])
@pytest.mark.parametrize("phi", [0.0, 0.3, 0.6, 0.9])
def test_correlations_and_their_errors_against_simulation(n, phi):
    rng = np.random.default_rng(0)
    found = [likeness_of(series(rng, n, phi), series(rng, n, phi)) for _ in range(400)]
    values, errors = np.array([(own.correlation, own.error) for own in found]).T
    assert abs(values.mean() - phi) < 0.07
    assert values.std() < 1.15 * errors.mean()


def test_strata_take_more_means_out():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(300):
        rows = series(rng, 20, 0.5).reshape(2, 10)
        own = (rows - rows.mean(axis=1, keepdims=True)).reshape(20, 1)
        found.append((likeness_of(own).correlation, likeness_of(own, means=2).correlation))
    few, right = np.mean(found, axis=0)
    assert abs(right - 0.5) < abs(few - 0.5)


def test_doubt_fades_with_rows():
    rng = np.random.default_rng(2)

    def series_in(n, phi):
        both = (likeness_of(series(rng, n, phi), series(rng, n, phi)) for _ in range(40))
        return float(np.mean([doubt_of(own).series for own in both]))

    assert series_in(500, 0.0) < 0.03 < series_in(20, 0.0) < 0.2
    assert series_in(20, 0.3) > 0.2
    assert series_in(500, 0.3) > 0.999
    assert doubt_of(UNSEEN) is None
    assert doubt_of(likeness_of(rng.normal(size=(11, 1)))) is None


def test_shares_by_their_definition():
    own = Likeness(0.2, 0.25, 0.2)
    prior = np.array([1.0 - DOUBTED, *(DOUBTED / 16 * np.array([1, 3, 3, 3, 3, 3]))])
    weights = prior * np.exp(-0.5 * ((0.25 - np.array([0.0, *CORRELATIONS])) / 0.2) ** 2)
    assert np.allclose(own.shares, weights / weights.sum())
    assert np.isfinite(Likeness(0.0, 1.4, 1e-3).shares).all()
    doubt = doubt_of(own)
    assert doubt.variances[-1] == pytest.approx(19.0)
    assert doubt.series == pytest.approx(1.0 - own.shares[0])


def test_two_variables_must_both_be_series():
    alike, apart = Likeness(0.001, 0.6, 0.1), Likeness(0.9, -0.2, 0.1)
    assert doubt_of(alike).series > 0.99
    assert doubt_of(alike, apart).series < 0.01
    both = doubt_of(alike, alike)
    assert sum(both.shares) == pytest.approx(1.0)
    assert both.series > 0.99
    # Neighbours are alike by .36, and not by .6.
    assert doubt_of(alike).pvalues(0.001) > 2.0 * both.pvalues(0.001)


def test_rows_are_far_apart_only_where_they_depend_for_certain():
    assert [rows_apart(lag, Likeness(0.0, 0.5, 0.1), n=60) for lag in (0, 1, 4)] == [1, 5, 8]
    assert rows_apart(1, Likeness(0.0, 0.3, 0.1), Likeness(0.0, 0.3, 0.1), n=60) == 2
