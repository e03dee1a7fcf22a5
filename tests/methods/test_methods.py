"""The methods on (τ, Σ): against brute force, their invariances, their weights, their batches.

Tolerances follow the condition number of the correlation matrix: max(floor, 100·eps·cond).
The null laws have a file of their own, `test_null_laws.py`.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import product

import numpy as np
import pytest

from _brute import EPS, brute_nonnegative, brute_ost, condition, problems
from nosplit import joint_normal_test
from nosplit.methods import METHODS, OST, Best, ChiBar, Naive, Nonnegative, Selection, Split, Wald
from nosplit.methods.whitening import Whitening

# ChiBar's weights come from draws that depend on the order of the coordinates.
CLOSED_FORM = [OST(), Nonnegative(), Wald(), Best(), Naive()]
INNER = [OST(), Nonnegative(), Wald(), Best()]
SIGNS = ["null", "positive", "negative", "corner"]

every_closed_form = pytest.mark.parametrize("method", CLOSED_FORM, ids=lambda m: m.name)
every_sign = pytest.mark.parametrize("sign", SIGNS)


def tolerance(cov, floor):
    return np.maximum(floor, 100 * EPS * condition(cov))


def pvalue(out):
    return np.exp(out.log_pvalue)


def mild(rng, cases, d, **options):
    """Well-conditioned problems, half of them far from the null."""
    tau, cov = problems(rng, cases, d, 10.0, "null", **options)
    tau[::2] += 3 * np.sqrt(np.diagonal(cov[::2], axis1=1, axis2=2))
    return tau, cov


# Brute force ------------------------------------------------------------------------------------


@every_sign
@pytest.mark.parametrize("kappa", [3.0, 1e4, 1e8])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6])
def test_all_active_sets_against_brute_force(d, kappa, sign):
    """72 × 2 × up to 150 problems; the margin is what rounding may decide."""
    tau, cov = problems(np.random.default_rng([d, int(kappa)]), 150, d, kappa, sign)
    for expected, out in [
        (brute_ost(tau, cov), OST()(tau, cov)),
        (brute_nonnegative(cov, tau), Nonnegative()(tau, cov)),
    ]:
        decided = expected.margin > EPS * condition(cov)
        assert decided.mean() > 0.8
        assert np.array_equal(out.active[decided], expected.active[decided])
        error = np.abs(out.statistic - expected.statistic)
        assert np.all(error <= tolerance(cov, 1e-10) * np.maximum(np.abs(out.statistic), 1))
        assert np.array_equal(out.dof, out.active.sum(axis=1))


@every_sign
def test_relaxed_rule_is_the_same_at_full_rank_against_brute_force(sign):
    """Without standardising, the condition number that counts is that of Σ itself."""
    letter = OST(Whitening(standardise=False, rcond=1e-14))
    for d in (1, 2, 4, 6):
        tau, cov = problems(np.random.default_rng(d), 200, d, 1e3, sign, decades=0.5)
        a, b = OST()(tau, cov), letter(tau, cov)
        limit = np.maximum(1e-10, 100 * EPS * np.linalg.cond(cov))
        decided = brute_ost(tau, cov).margin > limit / 100
        assert decided.mean() > 0.95
        assert np.array_equal(a.active[decided], b.active[decided])
        np.testing.assert_array_less(np.abs(a.statistic - b.statistic), limit * 10)
        np.testing.assert_array_less(np.abs(pvalue(a) - pvalue(b))[decided], limit[decided] * 10)


# Weights ----------------------------------------------------------------------------------------


@every_sign
@pytest.mark.parametrize("method", [*CLOSED_FORM, ChiBar(draws=50)], ids=lambda m: m.name)
def test_weights_attain_the_statistic(method, sign):
    for kappa in (3.0, 1e6):
        tau, cov = problems(np.random.default_rng(3), 60, 4, kappa, sign, decades=0.3)
        out = method(tau, cov)
        beta, limit = out.weights, tolerance(cov, 1e-8)
        learned = beta.any(axis=1)
        variance = np.einsum("bi,bij,bj->b", beta, cov, beta)
        ratio = np.einsum("bi,bi->b", beta, tau) / np.sqrt(np.where(learned, variance, 1.0))
        error = np.abs(ratio - out.statistic)
        np.testing.assert_array_less(error, limit * np.maximum(np.abs(out.statistic), 1))
        if method.name in ("ost", "naive", "chibar"):
            image = np.einsum("bij,bj->bi", cov, beta)
            np.testing.assert_array_less(np.abs(np.linalg.norm(image, axis=1) - learned), limit)
            assert np.all(image > -limit[:, None])
            assert np.all(np.where(out.active, 0.0, image) < limit[:, None])
        else:
            np.testing.assert_allclose(np.linalg.norm(beta, axis=1), 1.0, rtol=1e-12)
        if method.name in ("nonnegative", "best"):
            assert np.array_equal(beta > 0, out.active)


def test_chibar_learns_nothing_where_the_projection_is_zero():
    tau, cov = problems(np.random.default_rng(0), 20, 3, 5.0, "corner")
    out = ChiBar(draws=50)(tau, cov)
    assert not out.weights.any()
    assert not out.active.any()
    assert not out.dof.any()
    assert not out.log_pvalue.any()


@pytest.mark.parametrize("inner", INNER, ids=lambda m: m.name)
def test_split_applies_what_it_learned_to_the_rest(inner):
    tau, cov = mild(np.random.default_rng(4), 40, 4)
    held_out = np.random.default_rng(5).standard_normal(tau.shape)
    out = Split(0.3, inner)(np.stack([tau, held_out], axis=1), cov)
    beta = inner(tau, cov).weights
    sd = np.sqrt(np.einsum("bi,bij,bj->b", beta, cov, beta))
    np.testing.assert_allclose(out.statistic, np.einsum("bi,bi->b", beta, held_out) / sd)
    assert np.array_equal(out.weights, beta)


# Invariance -------------------------------------------------------------------------------------


@every_closed_form
@every_sign
def test_units_do_not_matter(method, sign):
    """Coordinates rescaled by anything from 1e-3 to 1e3."""
    rng = np.random.default_rng(5)
    for kappa in (3.0, 1e6):
        tau, cov = problems(rng, 60, 5, kappa, sign)
        factor = 10.0 ** rng.uniform(-3, 3, tau.shape)
        a = method(tau, cov)
        b = method(tau * factor, cov * factor[:, :, None] * factor[:, None, :])
        np.testing.assert_array_less(np.abs(pvalue(a) - pvalue(b)), tolerance(cov, 1e-9))
        assert np.array_equal(a.active, b.active)


@every_closed_form
@every_sign
def test_order_does_not_matter(method, sign):
    rng = np.random.default_rng(6)
    for kappa in (3.0, 1e6):
        tau, cov = problems(rng, 60, 5, kappa, sign)
        order = rng.permutation(5)
        a, b = method(tau, cov), method(tau[:, order], cov[:, order][:, :, order])
        limit = tolerance(cov, 1e-9)
        np.testing.assert_array_less(np.abs(pvalue(a) - pvalue(b)), limit)
        assert np.array_equal(a.active[:, order], b.active)
        scale = np.abs(a.weights).max(axis=1)
        error = np.abs(a.weights[:, order] - b.weights).max(axis=1)
        np.testing.assert_array_less(error / scale, 10 * limit)


@pytest.mark.parametrize("method", [*CLOSED_FORM, ChiBar(draws=200)], ids=lambda m: m.name)
@pytest.mark.parametrize("power", [-150, -100, -75, -10, 10, 75, 100, 150])
def test_magnitude_does_not_matter(method, power):
    """τ times s and Σ times s², s² from 1e-300 to 1e300, without a warning."""
    tau, cov = mild(np.random.default_rng(7), 20, 4, decades=0.0)
    s = 10.0**power
    a, b = method(tau, cov), method(tau * s, cov * s * s)
    np.testing.assert_allclose(b.log_pvalue, a.log_pvalue, rtol=1e-9, atol=1e-9)
    assert np.array_equal(a.active, b.active)
    assert np.isfinite(b.weights).all()


def test_magnitude_does_not_matter_to_split():
    tau, cov = mild(np.random.default_rng(7), 40, 4, decades=0.0)
    halves = tau.reshape(-1, 2, 4)
    for s in (1e-150, 1e-75, 1e75, 1e150):
        a = Split()(halves, cov[:20])
        b = Split()(halves * s, cov[:20] * s * s)
        np.testing.assert_allclose(b.log_pvalue, a.log_pvalue, rtol=1e-9, atol=1e-9)


def with_copy(tau, cov, which, noise=0.0):
    """Append a copy of one coordinate; `noise` is its 1 - correlation with the original."""
    d = tau.shape[1]
    double = np.vstack([np.eye(d), np.eye(d)[which]])
    wide = double @ cov @ double.T
    wide[:, d, :d] *= 1 - noise
    wide[:, :d, d] *= 1 - noise
    return tau @ double.T, wide


@every_closed_form
@every_sign
@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-14, 0.9e-12])
def test_copies_do_not_matter(method, sign, noise):
    """An exact copy of a coordinate, and near copies with 1 - correlation < rcond / 100."""
    tau, cov = problems(np.random.default_rng(8), 60, 4, 10.0, sign)
    a = method(tau, cov)
    for which in range(4):
        b = method(*with_copy(tau, cov, which, noise))
        np.testing.assert_array_less(np.abs(pvalue(a) - pvalue(b)), 1e-6)
        np.testing.assert_allclose(b.statistic, a.statistic, atol=1e-6)
        assert np.array_equal(a.dof, b.dof)


@pytest.mark.parametrize("method", INNER, ids=lambda m: m.name)
@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-6, 1e-5])
def test_order_of_near_copies_does_not_matter(method, noise):
    """Flips of few whole numbers lie on the edge of an active set, but for noise of the copies."""
    rng = np.random.default_rng(17)
    for _ in range(150):
        n, d = rng.integers(2, 6), rng.integers(2, 5)
        h = rng.integers(-1, 3, (n, 2))[:, rng.integers(0, 2, d)] + noise * rng.normal(size=(n, d))
        tau, cov = np.array(list(product([1, -1], repeat=n))) @ h, h.T @ h
        order = rng.permutation(d)
        a, b = method(tau, cov), method(tau[:, order], cov[np.ix_(order, order)])
        np.testing.assert_allclose(b.log_pvalue, a.log_pvalue, rtol=1e-6, atol=1e-6)
        assert np.array_equal(a.dof, b.dof)


@every_closed_form
@pytest.mark.parametrize("sign", ["null", "negative", "corner"])
def test_dead_coordinate_has_no_influence(method, sign):
    tau, cov = problems(np.random.default_rng(9), 60, 4, 10.0, sign)
    a = method(tau, cov)
    for at in (0, 2, 4):
        wide = np.insert(np.insert(cov, at, 0.0, axis=1), at, 0.0, axis=2)
        b = method(np.insert(tau, at, 0.0, axis=1), wide)
        np.testing.assert_allclose(pvalue(b), pvalue(a), rtol=1e-9)
        np.testing.assert_allclose(b.weights, np.insert(a.weights, at, 0.0, axis=1), rtol=1e-8)
        assert np.array_equal(b.active, np.insert(a.active, at, False, axis=1))
        assert np.array_equal(a.dof, b.dof)


def test_relaxed_rule_drops_what_is_too_small_to_see():
    """A coordinate whose variance is truncated away altogether, and not replaced by rounding."""
    letter = OST(Whitening(standardise=False, rcond=1e-6))
    tau, cov = problems(np.random.default_rng(14), 60, 4, 10.0, "null", decades=0.0)
    wide = np.zeros((len(tau), 5, 5))
    wide[:, :4, :4], wide[:, 4, 4] = cov, 1e-40
    a, b = letter(tau, cov), letter(np.column_stack([tau, np.full(len(tau), 2e-20)]), wide)
    np.testing.assert_allclose(b.log_pvalue, a.log_pvalue, rtol=1e-7, atol=1e-9)
    assert not b.active[:, 4].any()


# Singular Σ -------------------------------------------------------------------------------------


def test_sum_of_two_coordinates_adds_nothing_to_ost():
    """α ≥ 0 for k₁ and k₂ implies it for k₁ + k₂, so OST gives the same p-value without it."""
    tau, cov = mild(np.random.default_rng(10), 300, 4)
    tau = np.concatenate([tau, -tau, tau * [-1, -1, 1, 1]])
    cov = np.concatenate([cov] * 3)
    M = np.vstack([np.eye(4), [1.0, 1.0, 0.0, 0.0]])
    a, b = OST()(tau, cov), OST()(tau @ M.T, M @ cov @ M.T)
    np.testing.assert_allclose(b.log_pvalue, a.log_pvalue, rtol=1e-9, atol=1e-9)
    assert np.array_equal(a.dof, b.dof)
    assert np.array_equal(a.active, b.active[:, :4])
    either = a.active[:, 0] | a.active[:, 1]
    assert np.array_equal(b.active[:, 4], either)
    assert np.any(~either & (a.dof == 2))


# Batches ----------------------------------------------------------------------------------------


def assert_same(batch: Selection, single: Selection, index):
    for field in fields(Selection):
        expected, value = getattr(single, field.name), getattr(batch, field.name)
        if expected is None:
            assert value is None
            continue
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(value[index], expected, rtol=1e-9, atol=1e-12)
        else:
            assert np.array_equal(value[index], expected)
        assert value[index].shape == expected.shape


@pytest.mark.parametrize("method", [*CLOSED_FORM, ChiBar(draws=50)], ids=lambda m: m.name)
def test_batch_is_many_single_calls(method):
    tau, cov = mild(np.random.default_rng(11), 24, 4)
    tau[3], cov[3, 0], cov[3, :, 0] = tau[3] * [0, 1, 1, 1], 0.0, 0.0  # one of lower rank
    shared, each = method(tau[8:], cov[8]), method(tau, cov)
    for i in range(16):
        assert_same(shared, method(tau[8 + i], cov[8]), i)
    for i in range(24):
        assert_same(each, method(tau[i], cov[i]), i)
    rest = problems(np.random.default_rng(1), 2, 4, 3.0, "corner")
    for i in range(2):
        assert_same(method(*rest), method(rest[0][i], rest[1][i]), i)
    grid = method(tau.reshape(2, 3, 4, 4), cov.reshape(2, 3, 4, 4, 4))
    assert_same(grid, method(tau[17], cov[17]), (1, 1, 1))
    assert method(tau[:0], cov[0]).log_pvalue.shape == (0,)


def test_methods_have_their_names():
    for name, method in METHODS.items():
        assert method.name == ("split0.5" if name == "split" else name)
    assert Split(0.1, Best()).name == "best_split0.1"
    assert Naive(Wald()).name == "naive(wald)"


def test_rounding_does_not_decide_the_active_set():
    """A statistic of 0 in discrete data: ±1e-15 in its place changed p fourfold."""
    cov = [[1.0, 0.8846], [0.8846, 1.0]]
    for method in ("ost", "nonnegative"):
        given = [
            joint_normal_test([1.46696973, zero], cov, method=method)
            for zero in (0.0, 1e-15, -1e-15, 3e-17)
        ]
        assert len({res.selection.active for res in given}) == 1
        assert np.ptp([res.log_pvalue for res in given]) < 1e-9
