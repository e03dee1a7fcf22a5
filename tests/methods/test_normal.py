"""Tails, truncated laws, the polyhedral lemma, whitening and non-negative least squares.

Tails are compared with mpmath at 60 digits. The Monte Carlo comparison uses the inequality of
Dvoretzky, Kiefer, Wolfowitz and Massart with a false-alarm rate of 1e-7.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import nnls

from _brute import problems
from nosplit.backend.numba.nnls import solve_batch
from nosplit.methods import Best
from nosplit.methods.polyhedral import polyhedral_truncation
from nosplit.methods.tails import log_chi_sf, log_truncated_sf
from nosplit.methods.whitening import optimal_weights

mp = mpmath.mp.clone()
mp.dps = 60


def relative(value, exact):
    return float(abs((mp.mpf(float(value)) - exact) / exact))


# Tails ------------------------------------------------------------------------------------------


def exact_log_chi_sf(x, dof):
    return mp.log(mp.gammainc(mp.mpf(dof) / 2, mp.mpf(x) ** 2 / 2, regularized=True))


@pytest.mark.parametrize("dof", [*range(1, 21), 50, 200])
def test_chi_tail_against_mpmath(dof):
    """From p = 1/2 through 1e-300 (x ≈ 37) to log p below -1e4 (x > 141) and far beyond."""
    for step in (0.0, 0.5, 2, 5, 10, 20, 30, 34, 36, 36.5, 37, 38, 45, 80, 150, 1e4):
        x = math.sqrt(dof) + step
        assert relative(log_chi_sf(x, dof), exact_log_chi_sf(x, dof)) < 1e-13


def test_chi_tail_at_the_ends():
    assert log_chi_sf(0.0, 3) == 0.0
    assert log_chi_sf(-1.0, 3) == 0.0
    assert float(log_chi_sf(1e140, 3)) == pytest.approx(-5e279)
    smallest = np.exp(log_chi_sf(37.0, 1))
    assert 0 < smallest < 1e-298


def exact_log_normal_mass(lower, upper):
    if upper <= 0:  # the difference of two tails, not of two values near 1
        lower, upper = -upper, -lower

    def sf(x):
        return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2 if math.isfinite(x) else mp.mpf(x < 0)

    return mp.log(sf(lower) - sf(upper))


def exact_log_truncated_sf(x, lower, upper=math.inf):
    return exact_log_normal_mass(x, upper) - exact_log_normal_mass(lower, upper)


@pytest.mark.parametrize("lower", [-np.inf, -40.0, -5.0, -1.0, -0.0, 1e-8, 0.1, 1, 3, 10, 30, 1e3])
def test_truncated_normal_tail_against_mpmath(lower):
    """The relative error of log p, where p is not within rounding of 1."""
    start = max(lower, 0.0)
    for step in (0.3, 1.0, 5.0, 20.0, 38.0, 45.0, 142.0, 1e4):
        exact = exact_log_truncated_sf(start + step, lower)
        assert relative(log_truncated_sf(start + step, lower), exact) < 1e-13


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(-1.0, 2.0), (-np.inf, 1.0), (0.5, 0.7), (5.0, 6.0), (-6.0, -5.0), (30.0, 31.0), (-31, -30)]
    + [(m, m + width) for m in (-3.0, 0.0, 2.0, 40.0) for width in (1e-3, 1e-6, 1e-9)]
    + [(-1e-16, 2e-16), (1e7, 1e7 + 1e-3), (-1e7 - 1e-3, -1e7), (1e9, 1e9 + 1e-4), (1e6, 1e6 + 1)]
    + [(1.5, 1.5 + 1e-4), (-np.inf, -1e7), (1.0, 1.0 + 1e-3)],
)
def test_two_sided_truncation_against_mpmath(lower, upper):
    start = max(lower, min(-10.0, upper - 1e-6)) if math.isinf(lower) else lower
    for share in (0.01, 0.1, 0.5, 0.9, 0.999):
        x = start + share * (upper - start)
        exact = exact_log_truncated_sf(x, lower, upper)
        value = float(log_truncated_sf(x, lower, upper))
        assert abs(value - float(exact)) <= 1e-10 * max(1.0, abs(float(exact)))


def test_truncated_normal_tail_at_the_ends():
    assert log_truncated_sf(2.0, 2.0) == 0.0
    assert log_truncated_sf(1.0, 2.0) == 0.0
    assert log_truncated_sf(-np.inf, -np.inf) == 0.0
    assert log_truncated_sf(1.0, 0.0, 1.0) == -np.inf
    assert float(log_truncated_sf(1e140, 0.0)) == pytest.approx(-5e279)


def test_tails_fall():
    x = np.linspace(0.0, 60.0, 5001)
    for dof in (1, 2, 7, 20):
        assert np.all(np.diff(log_chi_sf(x, dof)) <= 0)
    for lower in (-np.inf, -1.0, 0.0, 20.0):
        assert np.all(np.diff(log_truncated_sf(x, lower)) <= 0)


# The polyhedral lemma ---------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [(0.0, 0.0, 0.0), (0.5, -0.3, 1.0)])
def test_polyhedral_lemma_by_monte_carlo(mean):
    """η'τ given Aτ ≤ b has the truncated law, on both sides, whatever the mean (Theorem 2)."""
    rng = np.random.default_rng(0)
    R = rng.standard_normal((3, 3))
    A = np.array([[1.0, 1, 0], [-1, 0.5, 0.2], [0, -1, 1], [0.3, 0, -1]])
    b, eta = np.array([1.0, 0.8, 1.0, 1.5]), np.array([1.0, 0.5, -0.3])
    tau = rng.standard_normal((6_000, 3)) @ R.T + mean
    tau = tau[(tau @ A.T <= b).all(axis=1)]
    assert len(tau) > 800
    cuts = [polyhedral_truncation(t, R @ R.T, A, b, eta) for t in tau]
    statistic, sd, lower, upper = np.array(cuts).T
    assert np.mean(np.isfinite(lower) & np.isfinite(upper)) > 0.5
    assert np.all((lower <= statistic) & (statistic <= upper))
    shift = eta @ np.array(mean)
    p = np.exp(log_truncated_sf(*((v - shift) / sd for v in (statistic, lower, upper))))
    grid, ordered = np.arange(len(p) + 1) / len(p), np.sort(p)
    distance = max(np.max(grid[1:] - ordered), np.max(ordered - grid[:-1]))
    assert distance <= math.sqrt(math.log(2 / 1e-7) / (2 * len(p)))
    if not any(mean):
        np.testing.assert_allclose([cut.pvalue for cut in cuts], p, rtol=1e-9)


def selection_of(u, cov):
    """Corollary 1's A and η for "coordinate u has the largest standardised value"."""
    sd = np.sqrt(np.diagonal(cov))
    A = np.diag(1 / sd)
    A[:, u] -= 1 / sd[u]
    return A, np.zeros(len(sd)), np.eye(len(sd))[u] / sd[u]


@pytest.mark.parametrize("kappa", [3.0, 1e4])
def test_best_is_an_instance_of_the_polyhedral_lemma(kappa):
    taus, covs = problems(np.random.default_rng(1), 60, 5, kappa, "null")
    out = Best()(taus, covs)
    for i, (tau, cov) in enumerate(zip(taus, covs, strict=True)):
        u = int(np.argmax(out.active[i]))
        cut = polyhedral_truncation(tau, cov, *selection_of(u, cov))
        assert cut.lower == pytest.approx(out.truncation[i], rel=1e-7)
        assert cut.upper == np.inf
        assert cut.sd == pytest.approx(1.0)
        assert cut.statistic == pytest.approx(out.statistic[i])
        assert cut.pvalue == pytest.approx(math.exp(out.log_pvalue[i]), rel=1e-6)


# Whitening and the best weights -----------------------------------------------------------------


def test_optimal_weights_against_numpy():
    """β^∞ of equation 3 is Σ⁻¹μ, and no other direction has a larger signal-to-noise ratio."""
    mus, covs = problems(np.random.default_rng(5), 30, 4, 100.0, "null", decades=0.5)
    for mu, cov in zip(mus, covs, strict=True):
        beta = optimal_weights(mu, cov)
        exact = np.linalg.solve(cov, mu)
        np.testing.assert_allclose(beta, exact / np.linalg.norm(exact), atol=1e-8)
        ratio = beta @ mu / math.sqrt(beta @ cov @ beta)
        other = beta + 0.1 * np.random.default_rng(6).standard_normal((50, 4))
        assert np.all(other @ mu <= ratio * np.sqrt(np.einsum("bi,ij,bj->b", other, cov, other)))


# Non-negative least squares ---------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "d"), [(3, 3), (8, 5), (20, 12), (4, 9), (2, 15)])
def test_nnls_against_scipy(rows, d):
    """The same fit; the same solution where it is unique (d ≤ rows)."""
    rng = np.random.default_rng([rows, d])
    for _ in range(30):
        A, y = rng.standard_normal((rows, d)), rng.standard_normal(rows)
        x = solve_batch((A.T @ A)[None], (A.T @ y)[None])[0]
        expected, residual = nnls(A, y)
        assert np.linalg.norm(A @ x - y) == pytest.approx(residual, abs=1e-7)
        assert np.all(x >= 0)
        assert np.count_nonzero(x) <= rows
        if d <= rows:
            np.testing.assert_allclose(x, expected, atol=1e-8)


@pytest.mark.parametrize("kappa", [10.0, 1e8])
def test_nnls_meets_its_optimality_conditions(kappa):
    """x ≥ 0, gradient ≤ 0, and 0 where x > 0, to rounding; thirty coordinates."""
    rng = np.random.default_rng(7)
    t, C = problems(rng, 60, 30, kappa, "null", decades=0.0)
    x = solve_batch(C, t)
    gradient = t - np.einsum("bij,bj->bi", C, x)
    noise = 1e-13 * (np.abs(t) + np.einsum("bij,bj->bi", np.abs(C), x))
    assert np.all(x >= 0)
    assert np.all(gradient <= noise)
    assert np.all(np.abs(gradient[x > 0]) <= noise[x > 0])


def test_nnls_uses_the_first_of_copies():
    A = np.array([[1.0, 1, 0.2], [0.3, 0.3, 1]])
    x = solve_batch((A.T @ A)[None], (A.T @ [1.0, 0.1])[None])[0]
    assert x[0] > 0
    assert x[1] == 0
