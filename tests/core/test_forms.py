"""Forms under every draw, against the weights and values written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from test_exchange_brute import DESIGNS, weights_of

from nosplit.core.exchange import labels, signs, states
from nosplit.core.forms import Bins, Features, Scores, flattened
from nosplit.core.gram import Gram
from nosplit.core.statistics import Statistics, statistics
from nosplit.errors import NonFiniteError

EXCHANGES = DESIGNS | {
    "few of many": labels(np.arange(30) % 15 == 3, np.zeros(30), 700, 1),
    "many of many": labels(np.arange(30) % 15 != 3, np.zeros(30), 700, 1),
    "tiles of signs": signs(300, 40, 2),
    "tiles": labels(np.arange(300) % 3 > 0, np.zeros(300), 40, 3),
    "even tiles": labels(np.arange(520) % 2, np.arange(520) // 4, 40, 3),
    "tiles of three": labels(np.arange(300) % 3, np.arange(300) // 150, 40, 3),
    "tiles of states": states(np.full(100, 3), 40, 4),
}
every_exchange = pytest.mark.parametrize("name", EXCHANGES)


def centred_weights(exchange):
    """The weights of every draw less their mean over all permutations, (F, contrasts, A)."""
    mean = 0.0 if exchange.label is None else exchange.share
    return weights_of(exchange) - mean


def quadratic(exchange, K):
    """½ (w - s)'K(w - s), all contrasts together, under every draw."""
    w = centred_weights(exchange)
    return 0.5 * np.einsum("fga,ab,fgb,g->f", w, K, w, exchange.scale, optimize=True)


def varying(values):
    return values - values.mean(axis=0)


def assert_close(found, expected, exchange):
    """To the rounding of numbers to steps of 2⁻²⁴ for each atom."""
    part = 1e-5 + 1e-6 * exchange.n_atoms
    np.testing.assert_allclose(found, expected, rtol=0, atol=part * np.abs(expected).max())


def tile_of(K):
    return lambda a, b: K[:, a.start : a.stop, b.start : b.stop].copy()


@every_exchange
def test_kernels(name):
    """Two symmetric matrices, of which one is far from 0; also of values that are whole: ties."""
    exchange = EXCHANGES[name]
    n, rng = exchange.n_atoms, np.random.default_rng(1)
    K = rng.normal(size=(2, n, n)) + np.array([0.0, 50.0])[:, None, None]
    K += K.transpose(0, 2, 1)
    found = statistics(exchange, {"kernels": Gram(n, 2, tile_of(K))})["kernels"].tau
    if exchange.label is None:  # pairs of different atoms: with signs their mean is 0
        K[:, np.arange(n), np.arange(n)] = 0.0
        expected = np.stack([quadratic(exchange, k) for k in K], axis=1)
    else:
        expected = varying(np.stack([quadratic(exchange, k) for k in K], axis=1))
    for u in range(2):
        assert_close(found[:, u], expected[:, u], exchange)


@every_exchange
def test_features(name):
    """Three blocks of four numbers with two sums of squares each; those without a block as well."""
    exchange, rng = EXCHANGES[name], np.random.default_rng(2)
    values, gains = rng.normal(size=(exchange.n_atoms, 12)) + 3.0, rng.random((4, 2))
    values[:, 11] = 7.0  # constant
    if exchange.label is None:
        values -= 3.0
    found = statistics(exchange, {"f": Features(values, gains, 3, np.arange(6))})["f"]
    sums = np.einsum("fga,ad->fgd", centred_weights(exchange), values)
    squares = np.einsum("fgd,g->fd", sums**2, exchange.scale).reshape(len(sums), 3, 4)
    expected = 0.5 * (squares @ gains).reshape(len(sums), 6)
    assert_close(found.tau, varying(expected), exchange)
    shapes = (expected.mean(axis=0) / expected.std(axis=0)) ** 2
    np.testing.assert_allclose(found.shapes, shapes, rtol=1e-3)
    plain = statistics(exchange, {"f": Features(values[:, :4], gains)})["f"]
    assert_close(plain.tau, varying(expected)[:, :2], exchange)
    assert plain.shapes.size == plain.owner.size == 0
    assert found.owner.tolist() == list(range(6))
    # The same from counts, which are whole in single precision.
    whole = np.rint(values).astype(np.float32)
    for own in (whole, whole.astype(float)):
        tau = statistics(exchange, {"f": Features(own, gains, 3)})["f"].tau
        sums = np.einsum("fga,ad->fgd", centred_weights(exchange), whole.astype(float))
        squares = np.einsum("fgd,g->fd", sums**2, exchange.scale).reshape(len(sums), 3, 4)
        assert_close(tau, varying(0.5 * (squares @ gains).reshape(len(sums), 6)), exchange)


@every_exchange
def test_kernels_are_features(name):
    """The form of an inner product is that of its numbers, for signs as for labels."""
    exchange = EXCHANGES[name]
    values = np.random.default_rng(3).normal(size=(exchange.n_atoms, 5))
    K, gains = (values @ values.T)[None], np.ones((5, 1))
    found = statistics(
        exchange, {"k": Gram(exchange.n_atoms, 1, tile_of(K)), "f": Features(values, gains)}
    )
    assert_close(varying(found["k"].tau), found["f"].tau, exchange)


@every_exchange
def test_scores_and_bins(name):
    exchange, rng = EXCHANGES[name], np.random.default_rng(4)
    n, w = exchange.n_atoms, centred_weights(exchange)
    values = rng.normal(size=(n, 3)) + (exchange.label is not None)
    found = statistics(exchange, {"place": Scores(values, np.arange(3))})["place"]
    expected = np.einsum("fga,as->fgs", w, values).reshape(len(w), -1)
    assert_close(found.tau, expected, exchange)
    assert found.shapes.size == 0
    # Two columns of three bins; the second has two.
    code = rng.integers(0, [3, 2], (n, 2))
    counts = (np.arange(3) == code[:, :, None]).reshape(n, 6).astype(np.float32)
    if exchange.label is None:
        counts *= rng.choice([-1.0, 1.0], (n, 1)).astype(np.float32)
    upper, single = rng.random((2, 2, 3))
    bins = Bins(counts, upper, single, np.array([3, 8]))
    sums = np.einsum("fga,ad->fgd", w, counts.astype(float)).reshape(*w.shape[:2], 2, 3)
    both = np.cumsum(sums, axis=3), sums
    squares = [
        np.einsum("fgjb,g,jb->fj", own**2, exchange.scale, weight)
        for own, weight in zip(both, (upper, single), strict=True)
    ]
    expected = 0.5 * np.concatenate(squares, axis=1)
    for form in (bins, Bins(counts.astype(float), upper, single, bins.owner)):
        found = statistics(exchange, {"shape": form})["shape"]
        assert_close(found.tau, varying(expected), exchange)
        assert found.owner.tolist() == [3, 8]
        live = expected.std(axis=0) > 1e-9
        shapes = (expected.mean(axis=0)[live] / expected.std(axis=0)[live]) ** 2
        np.testing.assert_allclose(found.shapes[live], shapes, rtol=1e-3)


def test_draws_that_tie_tie_exactly():
    """Mirrored permutations, and copies of rows, whatever the values."""
    rng = np.random.default_rng(5)
    values = np.repeat(rng.normal(size=(3, 4)), 2, axis=0)
    exchange = DESIGNS["equal labels"]
    weights = weights_of(exchange)[:, 0].reshape(-1, 3, 2).sum(axis=2)
    tied = np.unique(
        np.minimum(weights @ [9, 3, 1], (2 - weights) @ [9, 3, 1]), return_inverse=True
    )
    forms = {
        "kernels": Gram(6, 1, tile_of(np.exp(values @ values.T)[None])),
        "features": Features(values, rng.random((4, 1))),
    }
    for own in statistics(exchange, forms).values():
        for group in range(len(tied[0])):
            assert len(np.unique(own.tau[tied[1] == group, 0])) == 1


@pytest.mark.parametrize("shape", [(60, 4), (12, 30), (450, 430)])
def test_flattened_spectrum_by_eigenvectors(shape):
    """Squares along the leading eigenvectors of the second moment, over λ + γ λ_max."""
    (A, D), rng, gammas = shape, np.random.default_rng(6), (0.1, 1e-3)
    decay = 0.5 ** np.minimum(np.arange(D), 12)  # so that the leading ones stand out
    values = rng.normal(size=(A, D)) @ (np.linalg.qr(rng.normal(size=(D, D)))[0] * decay).T
    block = np.repeat([0, 1], [A - A // 3, A // 3])
    exchange = labels(np.arange(A) % 3 == 1, block, 60, 7)
    form = flattened(values + 5.0, exchange, gammas)
    rank = min(A, D, 200, max(2, A // 3))
    assert form.gains.shape == (rank, 2)
    v, centred = exchange.variance, exchange.centred(values)
    eigenvalues, axes = np.linalg.eigh((centred * v[:, None]).T @ centred)
    eigenvalues, axes = eigenvalues[::-1], axes[:, ::-1]
    top = rank if rank < 100 else 6  # beyond them the spectrum is flat: any basis will do
    sums = np.einsum("fa,ad->fd", centred_weights(exchange)[:, 0], centred) @ axes[:, :top]
    expected = np.stack(
        [0.5 * sums**2 @ (1.0 / (eigenvalues[:top] + g * eigenvalues[0])) for g in gammas], axis=1
    )
    some = Features(form.values[:, :top], form.gains[:top])
    found = statistics(exchange, {"f": some})["f"].tau
    np.testing.assert_allclose(found, varying(expected), atol=1e-3 * np.abs(expected).max())


# Statistics ---------------------------------------------------------------------------------------


def test_second_moment_and_deviations():
    tau = np.random.default_rng(7).normal(size=(50, 4)) * [1.0, 1e-3, 100.0, 0.0]
    found = Statistics(tau)
    np.testing.assert_allclose(found.cov, tau.T @ tau / 50, rtol=1e-11)
    np.testing.assert_allclose(found.spread, np.sqrt(np.mean(tau**2, axis=0)))
    np.testing.assert_allclose(found.deviations[:, :3], tau[:, :3] / found.spread[:3])
    assert not found.deviations[:, 3].any()
    for seed in range(5):  # to the last bit, whichever draw was the data
        order = np.random.default_rng(seed).permutation(50)
        assert np.array_equal(Statistics(tau[order]).cov, found.cov)


@pytest.mark.parametrize("shape", [4.0, 10.0, 60.0])
def test_normal_scores_of_gamma_laws_against_scipy(shape):
    """Quantiles of a gamma law become those of the normal law, to the approximation's 0.05."""
    p = (np.arange(20_000) + 0.5) / 20_000
    draws = stats.gamma(shape).ppf(p)
    tau = np.stack([3.0 * (draws - draws.mean()), np.zeros(len(p))], axis=1)
    found = Statistics(tau, np.array([shape, 0.0])).normal_scores
    inside = (p > 0.01) & (p < 0.999)
    np.testing.assert_allclose(found[inside, 0], stats.norm.ppf(p[inside]), atol=0.05)
    assert np.ptp(found[:, 1]) == 0.0


def test_statistics_of_one_name_are_joined_and_constants_are_zero():
    exchange = labels(np.arange(9) % 2, np.zeros(9), 99, 0)
    values = np.random.default_rng(8).normal(size=(9, 2))
    nothing = Scores(np.full((9, 1), 1e9), np.array([5]))
    forms = {"a": [Scores(values, np.array([1, 4])), nothing], "b": Scores(values, np.arange(2))}
    found = statistics(exchange, forms)
    assert list(found) == ["a", "b"]
    assert found["a"].owner.tolist() == [1, 4, 5]
    assert np.array_equal(found["a"].tau[:, :2], found["b"].tau)
    assert not found["a"].tau[:, 2].any()
    # One that varies by less than a billionth of its size does so by rounding.
    for noise, constant in ((3e-12, True), (1e-5, False)):
        K = 1.0 + noise * (values @ values.T)[None]
        K[:, np.arange(9), np.arange(9)] += 1e3
        found = statistics(exchange, {"k": Gram(9, 1, tile_of(K))})["k"]
        assert (not found.tau.any()) == constant
        assert found.owner.size == found.shapes.size == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200, 1e154])
def test_values_that_are_not_finite_iv(value):
    exchange = labels(np.arange(9) % 2, np.zeros(9), 99, 0)
    K = np.eye(9)[None]
    K[0, 2, 5] = K[0, 5, 2] = value
    values = np.where(np.arange(9.0) == 3.0, value, 1.0)[:, None]
    for form in (Gram(9, 1, tile_of(K)), Features(values, np.ones((1, 1)))):
        with pytest.raises(NonFiniteError, match="kernels' values are not finite"):
            statistics(exchange, {"f": form})
