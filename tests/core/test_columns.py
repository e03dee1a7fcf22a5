"""Numbers of columns: ranks and bins against scipy, waves and distances from their definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from nosplit.core.bins import normal_scores, number_of_bins, rank_columns
from nosplit.core.feature_map import pairs_of_columns, radii, shuffled, wave_values
from nosplit.kernels.frequencies import Frequencies

N = 60


def columns_of(rng):
    """Numbers, three values, one value that half of the rows have, two values, a constant."""
    often = np.where(rng.random(N) < 0.5, 3.0, rng.normal(size=N))
    return np.column_stack(
        [rng.normal(size=N), rng.integers(0, 3, N), often, rng.random(N) < 0.3, np.full(N, 2.0)]
    )


def test_ranks_and_scores_against_scipy():
    rows = columns_of(np.random.default_rng(0))
    found = rank_columns(rows, np.zeros(5, bool), 6)
    ranks = stats.rankdata(rows, axis=0)
    assert np.array_equal(found.twice, 2.0 * ranks - 1.0)
    assert found.scored.tolist() == [0, 1, 2]  # with three values or more
    np.testing.assert_allclose(found.shares, (ranks[:, :3] - 0.5) / N)
    np.testing.assert_allclose(found.scores, stats.norm.ppf((ranks[:, :3] - 0.5) / N))
    order = np.random.default_rng(1).permutation(N)
    some = found.some(order[:50])
    assert np.array_equal(some.twice, found.twice[order[:50]])
    assert np.array_equal(some.code, found.code[order[:50]])
    assert np.array_equal(some.keys, found.keys[order[:50]])
    assert np.isfinite(normal_scores(N)).sum() == 2 * N  # none for a rank of 0 but the least
    assert normal_scores(N)[0] == pytest.approx(stats.norm.ppf(0.25 / N))


@pytest.mark.parametrize("count", [4, 6, 13])
def test_bins_of_numbers(count):
    rows = columns_of(np.random.default_rng(2))
    found = rank_columns(rows, np.zeros(5, bool), count)
    for j in range(5):
        own, values = found.code[:, j], rows[:, j]
        sizes = np.bincount(own)
        assert sizes.min() > 0
        assert found.counts[j].tolist() == [*sizes, *[0] * (found.counts.shape[1] - len(sizes))]
        # Bins are intervals: codes grow with values, and equal values share one.
        order = np.argsort(values, kind="stable")
        assert np.all(np.diff(own[order]) >= 0)
        assert len(set(zip(values, own, strict=True))) == len(np.unique(values))
    assert len(np.unique(found.code[:, 0])) == count
    assert np.ptp(np.bincount(found.code[:, 0])) <= 1
    alone = found.code[rows[:, 2] == 3.0, 2]
    assert np.ptp(alone) == 0
    assert np.count_nonzero(found.code[:, 2] == alone[0]) == len(alone)
    assert len(np.unique(found.code[:, 3])) == 2
    assert found.counts[4].tolist() == [N] + [0] * (found.counts.shape[1] - 1)


def test_bins_of_categories():
    """Each category of ten rows has a bin, the most frequent first; all others share one."""
    values = np.repeat([5.0, 1.0, 9.0, 4.0, 2.0], [12, 30, 10, 9, 1])
    found = rank_columns(values[:, None], np.ones(1, bool), 4)
    own = {v: set(found.code[values == v, 0].tolist()) for v in (1.0, 5.0, 9.0, 4.0, 2.0)}
    assert list(own.values()) == [{0}, {1}, {2}, {3}, {3}]
    assert found.counts[0].tolist() == [30, 12, 10, 10]
    assert found.scored.size == 0
    many = np.repeat(np.arange(200.0), 10)
    code = rank_columns(many[:, None], np.ones(1, bool), 4).code
    assert code.max() == 127
    assert np.count_nonzero(code == 127) == 730


def test_numbers_of_bins():
    """A dozen rows a bin up to 32, then forty up to 128; four at least."""
    rows = [1, 48, 59, 60, 383, 384, 1319, 1320, 5119, 5120, 10**6]
    bins = [4, 4, 4, 5, 31, 32, 32, 33, 127, 128, 128]
    assert [number_of_bins(n) for n in rows] == bins


# Features -----------------------------------------------------------------------------------------


def test_distances_from_the_middle():
    """Ranks of the sum of squared scores, each with mean 0 and mean square 1 over the rows."""
    scores = np.random.default_rng(4).normal(size=(N, 3)) * [1.0, 5.0, 0.1]
    scores[5] = scores[6]
    squares = stats.zscore(scores**2, axis=0)
    place = stats.norm.ppf((stats.rankdata(squares.sum(axis=1).round(6)) - 0.5) / N)
    expected = stats.zscore(np.column_stack([place, place**2]), axis=0)
    np.testing.assert_allclose(radii(scores), expected, atol=1e-9)
    assert radii(scores[:, :1]) is None


def test_reference_scores_are_shuffled_by_key():
    scores = np.arange(50.0)
    found = shuffled(scores, 3)
    assert found.shape == (50, 32)
    assert np.array_equal(np.sort(found, axis=0), np.tile(scores[:, None], (1, 32)))
    assert np.array_equal(shuffled(scores, 3), found)
    assert not np.array_equal(shuffled(scores, 4), found)
    assert len(np.unique(found, axis=1).T) == 32


@pytest.mark.parametrize("p", [2, 3, 6, 20])
def test_products_of_waves(p):
    """Orthonormal waves of the ranks of two columns, and sums over dyadic squares of them."""
    rng, n = np.random.default_rng(5), 400
    rows = rng.normal(size=(n, p))
    columns = rank_columns(rows, np.zeros(p, bool), 8)
    found = pairs_of_columns(columns, range(p))
    pairs = list(combinations(range(p), 2))
    assert list(found.columns) == pairs
    J = int(np.sqrt(len(found.gains)))
    # The largest of 1, 2, 4, 8, 16 for which all products are 1,024 at most.
    fitting = [s for s in (1, 2, 4, 8, 16) if s == 1 or s * s * len(pairs) <= 1024]
    assert max(fitting) == J
    assert found.values.shape == (n, len(pairs) * J * J)
    u = (stats.rankdata(rows, axis=0) - 0.5) / n
    for at in (0, len(pairs) - 1):
        j, k = pairs[at]
        own = found.values[:, at * J * J : (at + 1) * J * J].reshape(n, J, J)
        for a, b in {(1, 1), (J, 1), (1, J), (J, J)}:
            wave = 2.0 * np.cos(np.pi * a * u[:, j]) * np.cos(np.pi * b * u[:, k])
            np.testing.assert_allclose(own[:, a - 1, b - 1], wave, atol=1e-9)
    for scale, gain in zip(fitting, found.gains.T, strict=True):
        square = np.zeros((J, J))
        square[:scale, :scale] = 1.0
        assert np.array_equal(gain.reshape(J, J), square)


def test_pairs_of_columns_with_categories():
    """Columns of one owner are no pair, constants are in none; categories have random signs."""
    rng, n = np.random.default_rng(6), 90
    rows = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, n), np.ones(n)])
    columns = rank_columns(rows, np.array([False, False, True, False]), 8)
    found = pairs_of_columns(columns, [0, 0, 1, 2])
    assert list(found.columns) == [(0, 1), (0, 1)]
    with_category = found.values[:, 0]
    u = (stats.rankdata(rows[:, 0]) - 0.5) / n
    sign = with_category / (np.sqrt(2.0) * np.cos(np.pi * u))
    np.testing.assert_allclose(np.abs(sign), 1.0)
    assert all(np.ptp(sign[rows[:, 2] == v]) < 1e-9 for v in range(3))
    assert pairs_of_columns(columns, [0, 0, 0, 1]) is None
    wide = rank_columns(rng.normal(size=(n, 21)), np.zeros(21, bool), 8)
    assert pairs_of_columns(wide, range(21)) is None
    assert pairs_of_columns(wide, [0, 0, *range(1, 20)]) is not None


def test_waves_of_rows():
    """Cosines and sines of turns; a phase adds a share of a turn that equal values have."""
    rng = np.random.default_rng(7)
    rows, turns = rng.normal(size=(8, 2)), rng.normal(size=(2, 5))
    rows[3, 1] = rows[4, 1]
    weights, none = rng.random(5), np.zeros((2, 5), np.uint32)
    found = wave_values(rows, Frequencies(turns, none, weights))
    angle = 2.0 * np.pi * rows @ turns
    expected = np.sqrt(weights) * np.stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(found, np.concatenate(expected, axis=1), atol=1e-9)
    # Many frequencies: an inner product is 1 if values are equal, and 0 if not.
    phases = np.zeros((2, 4000), np.uint32)
    phases[1] = rng.integers(0, 2**32, 4000, dtype=np.uint32)
    many = Frequencies(np.zeros((2, 4000)), phases, np.full(4000, 1 / 4000))
    values = wave_values(rows, many)
    equal = rows[:, 1, None] == rows[:, 1]
    np.testing.assert_allclose(values @ values.T, equal, atol=5 / np.sqrt(4000))
    np.testing.assert_allclose((values @ values.T)[equal], 1.0)
