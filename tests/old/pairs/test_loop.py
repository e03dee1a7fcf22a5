"""Moments of any units, and sums under swaps of x and y."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from _reference import kernel_matrices, pair_values, pairs_of
from nosplit import Blocks
from nosplit._old.families.two_sample import SwappedPairs
from nosplit._old.pairs import loop as module
from nosplit._old.pairs.loop import accumulate, accumulate_draws
from nosplit.core.order import Natural
from nosplit.core.pairings import Aligned, Band, Tile, as_pairing
from nosplit.kernels import Gaussian, Laplace, Linear
from nosplit.kernels.bank import Bank

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


def samples(n):
    return np.random.default_rng([0, n]).normal(size=(2, n, 2))


def swapped(n):
    bank = Bank((Gaussian(1.0), Laplace(1.0), Linear()))
    return SwappedPairs(*samples(n), Natural(), Natural(), bank, range(n))


def test_sums_under_swaps_against_numpy():
    units = swapped(150)
    draws = units.draws(50, np.random.default_rng(1))
    signs = draws.signs.columns(range(150))
    assert signs.shape == (51, 150)
    assert np.all(signs[0] == 1.0)
    K = kernel_matrices(units.bank.kernels, *samples(150))
    for pairs in PAIRS:
        index = pairs_of(as_pairing(pairs), 150)
        h = pair_values(K, index).astype(float)
        part = accumulate_draws(units, as_pairing(pairs), draws)
        expected = (signs[:, index[:, 0]] * signs[:, index[:, 1]]) @ h.T
        scale = np.sqrt((h**2).sum(axis=1))
        assert np.max(np.abs(part.sums - expected) / scale) < 3e-4
        np.testing.assert_allclose(part.second, h @ h.T, rtol=0, atol=1e-12 * scale.max() ** 2)
        own = draws.of(range(50, 150))
        assert np.array_equal(own.signs.columns(range(100)), signs[:, 50:])


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
def test_workers_give_the_same_bits(pairs):
    """Parts are added in the order of the jobs, so not even rounding differs."""
    units = swapped(700)
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
    units = swapped(150)
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
