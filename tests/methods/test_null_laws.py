"""Theorem 1 and Corollary 1: under the null, p-values are uniform given what was selected.

Every comparison uses the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart: the largest
distance of n uniform values from the uniform law exceeds √(log(2/δ) / 2n) with probability at
most δ. With δ = 1e-7 and fewer than 1,000 comparisons here, a fresh seed fails with probability
below 1e-4. Levels are bounded by the binomial law with the same δ.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from nosplit.methods import OST, Best, ChiBar, Naive, Nonnegative, Split, Wald
from nosplit.methods.chibar import log_chibar_sf
from nosplit.methods.tails import log_chi_sf
from nosplit.methods.whitening import Whitening

FALSE_ALARM = 1e-7
DRAWS = 20_000


def assert_uniform(values):
    n = len(values)
    grid = np.arange(n + 1) / n
    ordered = np.sort(values)
    distance = max(np.max(grid[1:] - ordered), np.max(ordered - grid[:-1]))
    assert distance <= math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n))


def assert_level_held(values):
    """At no level do more p-values reject than the binomial law lets a valid test have."""
    for level in (0.001, 0.01, 0.05, 0.1, 0.25, 0.5):
        assert np.sum(values <= level) <= binom.isf(FALSE_ALARM, len(values), level)


def assert_uniform_given_selection(out, *, smallest=300):
    """Uniform given the active set, for each that is common enough to tell; how many are."""
    values = np.exp(out.log_pvalue)
    assert_uniform(values)
    sets, member = np.unique(out.active, axis=0, return_inverse=True)
    common = [i for i in range(len(sets)) if np.sum(member == i) >= smallest]
    for i in common:
        assert_uniform(values[member == i])
    for l in np.unique(out.dof):
        if np.sum(out.dof == l) >= smallest:
            assert_uniform(values[out.dof == l])
    return len(common)


def random_root(d, *, rank=None, lean=0.5):
    """R with RR' = Σ: random, on scales from 0.1 to 10; `lean` is the sign of the correlations."""
    rng = np.random.default_rng(d)
    R = rng.standard_normal((d, rank or d))
    R += lean if lean >= 0 else lean * R.mean(axis=0)
    return R * 10.0 ** rng.uniform(-1, 1, (d, 1))


def null_draws(R, draws=DRAWS, seed=1):
    """τ ~ N(0, Σ) and Σ = RR'."""
    z = np.random.default_rng(seed).standard_normal((draws, R.shape[1]))
    return z @ R.T, R @ R.T


SINGULAR = {
    "k1, k2, k1 + k2": np.array([[1.0, 0, 0], [0.6, 0.8, 0], [1.6, 0.8, 0], [0.2, 0.3, 1]]),
    "k1, k2, k1 + k2 alone": np.array([[1.0, 0], [0.6, 0.8], [1.6, 0.8]]),
    "exact copy": np.array([[1.0, 0, 0], [0.6, 0.8, 0], [1.0, 0, 0], [0.2, -0.5, 1]]),
    "two copies, rescaled": np.array([[1.0, 0], [0.6, 0.8], [30.0, 0], [0.006, 0.008]]),
    "copies of one": np.array([[1.0], [1.0], [5.0]]),
    "a dead coordinate": np.array([[1.0, 0], [0, 0], [0.6, 0.8]]),
}


@pytest.mark.parametrize("method", [OST(), Nonnegative(), Best()], ids=lambda m: m.name)
@pytest.mark.parametrize("d", [2, 4, 8])
def test_selective_pvalues_against_theory(method, d):
    """Positive, mixed and negative correlations."""
    dof = np.zeros(d + 1)
    for lean in (0.5, 0.0, -0.95):
        out = method(*null_draws(random_root(d, lean=lean)))
        assert assert_uniform_given_selection(out) >= 2
        dof += np.bincount(out.dof, minlength=d + 1)
    if method.name != "best":
        assert dof[1] >= 300
        assert dof[2:].sum() >= 300


@pytest.mark.parametrize("method", [OST(), Nonnegative(), Best()], ids=lambda m: m.name)
@pytest.mark.parametrize("name", SINGULAR)
def test_selective_pvalues_with_singular_covariance_against_theory(method, name):
    out = method(*null_draws(SINGULAR[name]))
    assert assert_uniform_given_selection(out) >= 1


def near_copy(noise):
    """Four coordinates; the last differs from the first by `noise` standard deviations."""
    R = random_root(4)
    R /= np.linalg.norm(R, axis=1, keepdims=True)
    R[3] = R[0] + noise * R[3]
    return R


@pytest.mark.parametrize("method", [OST(), Nonnegative(), Best()], ids=lambda m: m.name)
def test_nearly_singular_covariance_against_theory(method):
    """Condition number 1e8: small eigenvalues are used, not truncated."""
    assert_uniform_given_selection(method(*null_draws(near_copy(3e-4))))


@pytest.mark.parametrize("method", [OST(), Nonnegative(), Best()], ids=lambda m: m.name)
@pytest.mark.parametrize("noise", 10.0 ** np.arange(-9.0, -3.5, 0.5))
def test_level_holds_however_near_copies_are(method, noise):
    """From full rank through truncation of Σ (1 - correlation ≈ 1e-10) to an exact copy."""
    assert_level_held(np.exp(method(*null_draws(near_copy(noise))).log_pvalue))


@pytest.mark.parametrize("facets", [4, 5, 6, 9])
def test_more_constraints_than_dimensions_is_valid(facets):
    """A pyramid's cone in three dimensions: all of its `facets` constraints are essential.

    Given l ≥ 1 the p-values are uniform; where the projection is 0 (l = 0) p is 1.
    """
    angle = 2 * np.pi * np.arange(facets) / facets + 0.1
    R = np.column_stack([np.cos(angle), np.sin(angle), np.full(facets, 0.7)])
    out = OST()(*null_draws(R))
    values = np.exp(out.log_pvalue)
    assert set(np.unique(out.dof)) == {0, 1, 2, 3}
    for l in (1, 2, 3):
        assert_uniform(values[out.dof == l])
    assert np.all(values[out.dof == 0] == 1.0)
    assert np.array_equal(out.dof == 3, out.active.all(axis=1))
    assert_level_held(values)


@pytest.mark.parametrize(("d", "rank"), [(4, 2), (6, 3), (8, 3), (10, 6)])
@pytest.mark.parametrize("method", [OST(), Nonnegative()], ids=lambda m: m.name)
def test_low_rank_is_valid(method, d, rank):
    values = np.exp(method(*null_draws(random_root(d, rank=rank))).log_pvalue)
    assert_level_held(values)


def test_relaxed_rule_against_theory():
    """Appendix E's rule, at full rank and for singular Σ."""
    full = OST(Whitening(standardise=False, rcond=1e-14))
    assert_uniform_given_selection(full(*null_draws(random_root(4))))
    authors = OST(Whitening(standardise=False, rcond=1e-6))
    for R in SINGULAR.values():
        assert_level_held(np.exp(authors(*null_draws(R)).log_pvalue))


@pytest.mark.parametrize("d", [1, 4, 8])
def test_wald_against_theory(d):
    out = Wald()(*null_draws(random_root(d)))
    assert_uniform(np.exp(out.log_pvalue))
    low = Wald()(*null_draws(random_root(d, rank=1)))
    assert_uniform(np.exp(low.log_pvalue))
    assert np.all(low.dof == 1)


@pytest.mark.parametrize("inner", [OST(), Nonnegative(), Wald(), Best()], ids=lambda m: m.name)
@pytest.mark.parametrize("d", [4, 8])
def test_split_against_theory(inner, d):
    tau, cov = null_draws(random_root(d))
    out = Split(0.5, inner)(tau.reshape(-1, 2, d), cov)
    assert_uniform_given_selection(out)


@pytest.mark.parametrize("d", [1, 2, 4, 8])
def test_chibar_against_theory(d):
    """Uniform where the projection is positive, given the chance of that; 1 elsewhere.

    Fewer draws than the weights are simulated from (four times as many here as by default).
    """
    out = ChiBar(draws=80_000)(*null_draws(random_root(d), draws=8_000))
    values, positive = np.exp(out.log_pvalue), out.statistic > 0
    assert np.all(values[~positive] == 1.0)
    assert_level_held(values)
    chance = 1 - out.mixture[0, 0]
    assert np.all(values[positive] <= chance * (1 + 1e-9))
    assert_uniform(values[positive] / chance)


def test_chibar_with_singular_covariance_is_valid():
    for R in SINGULAR.values():
        out = ChiBar(draws=80_000)(*null_draws(R, draws=8_000))
        assert_level_held(np.exp(out.log_pvalue))


@pytest.mark.parametrize("d", [2, 4, 8])
def test_naive_is_not_a_test(d):
    """Its false alarms exceed the level .05 beyond anything chance could do."""
    values = np.exp(Naive()(*null_draws(random_root(d))).log_pvalue)
    assert np.sum(values <= 0.05) > 1.4 * binom.isf(FALSE_ALARM, DRAWS, 0.05)


# The chi-bar mixture ----------------------------------------------------------------------------


@pytest.mark.parametrize("c", [-0.9, -0.5, 0.0, 0.3, 0.8])
def test_chibar_weights_in_two_dimensions_against_closed_form(c):
    """Kudô (1963): w₂ = P(both Σ⁻¹τ... inside) = angle / 2π, w₁ = 1/2, w₀ = 1/2 - w₂."""
    draws = 40_000
    out = ChiBar(draws=draws)([1.0, 1.0], [[1.0, c], [c, 1.0]])
    inside = np.arccos(-c) / (2 * np.pi)
    expected = np.array([0.5 - inside, 0.5, inside])
    # Bounded as a share of draws: normal law, five standard deviations (6e-7).
    assert np.all(np.abs(out.mixture - expected) <= 5 * 0.5 / math.sqrt(draws))
    assert out.mixture.sum() == pytest.approx(1.0)
    assert out.mixture[1] == pytest.approx(0.5)


def test_chibar_weights_of_independent_coordinates_against_closed_form():
    out = ChiBar(draws=40_000)(np.ones(5), np.eye(5))
    assert np.all(np.abs(out.mixture - binom.pmf(np.arange(6), 5, 0.5)) <= 2.5 / math.sqrt(40_000))


def test_chibar_tail_is_the_mixture_of_chi_tails():
    x = np.array([0.0, 1e-300, 0.3, 2.0, 30.0, 200.0])
    mixture = np.array([0.2, 0.5, 0.3])
    tail = log_chibar_sf(x, mixture)
    one, two = np.exp(log_chi_sf(x, 1)), np.exp(log_chi_sf(x, 2))
    np.testing.assert_allclose(np.exp(tail[1:5]), (0.5 * one + 0.3 * two)[1:5], rtol=1e-12)
    assert tail[0] == 0.0
    assert tail[5] == pytest.approx(-20_000 + math.log(0.3), rel=1e-6)
    only_first = log_chibar_sf(x, np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(only_first[1:], (math.log(0.5) + log_chi_sf(x, 1))[1:])
