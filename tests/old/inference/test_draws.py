"""Signs of units, their sums, and ranks of kinds of evidence with weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nosplit._old.inference.calibrating.ranking import Joining, hedged, rank_draws
from nosplit._old.pairs.draws import Signs
from nosplit.core.gram import signed_sums
from nosplit.methods import OST, Split, Wald
from nosplit.methods.laws import Flips

TIE = 1e-6


def test_products_of_signs_have_half_as_many_patterns():
    signs = Signs(8, 127, np.random.default_rng(0))
    assert signs.exhaustive
    patterns = signs.columns(range(8))
    outer = (patterns[:, :, None] * patterns[:, None]).reshape(128, -1)
    assert len(np.unique(outer, axis=0)) == 128


@pytest.mark.parametrize("n", [6, 7, 9])
def test_few_patterns_are_drawn_without_replacement(n):
    """None twice, not even with all signs turned, and never the observed one again."""
    patterns = Signs(n, 19, np.random.default_rng(1)).columns(range(n))
    turned = patterns * patterns[:, -1:]
    assert len(patterns) == len(np.unique(turned, axis=0)) == 20


def test_random_signs_are_fair_and_independent():
    """Means and correlations of 2,000 × 300 signs; false alarms: 1e-6 in all."""
    signs = Signs(300, 2000, np.random.default_rng(1)).columns(range(300))[1:]
    limit = 6.9  # standard normal, two-sided, over 300 + 300 · 299 / 2 comparisons
    assert np.max(np.abs(signs.mean(axis=0))) * np.sqrt(2000) < limit
    correlation = signs.T @ signs / 2000
    np.fill_diagonal(correlation, 0.0)
    assert np.max(np.abs(correlation)) * np.sqrt(2000) < limit


@pytest.mark.parametrize("n", [3, 64, 65, 200])
def test_triangles_are_summed_as_squares_are(n):
    """In strips, without what is below the diagonal, to the last bit; and against float64."""
    rng = np.random.default_rng(n)
    signs = Signs(n, 40, rng).columns(range(n))
    values = np.triu(rng.normal(size=(n, n)), 1)
    (sums,) = signed_sums(signs, values, [signs], upper=True)
    np.testing.assert_array_equal(sums, signed_sums(signs, values, [signs])[0])
    plain = np.einsum("fi,ij,fj->f", signs, values, signs)
    np.testing.assert_allclose(sums, plain, atol=np.abs(values).max() * n**2 * n / 2**24)


@pytest.mark.parametrize("N", [5, 127, 128, 129, 1000])
def test_any_columns_of_the_signs_are_the_same(N):
    signs = Signs(N, 40, np.random.default_rng(2))
    whole = signs.columns(range(N))
    rng = np.random.default_rng(3)
    for step in (1, 2):
        for _ in range(30):
            start, stop = np.sort(rng.integers(N + 1, size=2))
            if start < stop:
                part = range(int(start), int(stop), step)
                assert np.array_equal(signs.columns(part), whole[:, start:stop:step])
    beyond = range(N - 2, N + 2)
    assert np.array_equal(signs.columns(beyond), whole[:, [N - 2, N - 1, 0, 1]])
    assert np.array_equal(signs.columns(range(N + 1, N + 3)), whole[:, [1, 2]])


def plainly_hedged(evidence):
    """By the definition: ranks with ties against, and their inverses added up, as fractions."""
    ranks = [[int(np.sum(kind >= v - TIE * max(1, abs(v)))) for v in kind] for kind in evidence]
    score = [sum(Fraction(1, r[f]) for r in ranks) for f in range(evidence.shape[1])]
    return np.array([np.mean([other >= own for other in score]) for own in score])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(arrays(np.float64, (3, 24), elements=st.integers(-6, 6).map(float)))
def test_hedging_with_ties_against_the_definition_properties(evidence):
    np.testing.assert_allclose(np.exp(-hedged(evidence)), plainly_hedged(evidence), rtol=1e-12)


def test_weights_and_powers_of_ranks_against_the_definition():
    """Σ weight · rank^-power, and still any draw may have been the observed one."""
    evidence = np.round(np.random.default_rng(5).normal(size=(3, 300)), 1)
    weights, power = np.array([6.0, 2.0, 1.0]), 0.75
    ranks = np.sum(evidence[:, None, :] >= evidence[:, :, None], axis=2) / 300
    score = weights @ ranks**-power
    told = np.exp(-hedged(evidence, Joining(weights, power)))
    np.testing.assert_allclose(told, np.mean(score[None] >= score[:, None] - 1e-12, axis=1))
    assert np.all(np.sort(told) >= np.arange(1, 301) / 300 - 1e-12)
    alone = np.exp(-hedged(evidence, Joining(np.array([0.0, 1.0, 0.0]), power)))
    np.testing.assert_allclose(alone, ranks[1])


def test_rounding_is_no_evidence():
    """Values that differ by rounding are ties, near zero as well."""
    for centre in (0.0, 1.0, 1e6):
        noise = 1e-13 * max(centre, 1.0) * np.random.default_rng(0).normal(size=200)
        noise[0] = np.abs(noise).max()
        assert Flips(centre + noise).log_sf(centre + noise[0]) == 0.0
        np.testing.assert_array_equal(hedged((centre + noise)[None]), np.zeros(200))


def test_evidence_of_each_method_against_the_design():
    """OST: -log p of the closed form, and 0 where every statistic is below 0; Wald: the statistic;
    Split: learned again for every draw."""
    rng = np.random.default_rng(5)
    tau, cov = rng.normal(size=(50, 3)), np.cov(rng.normal(size=(3, 40)))
    some = np.any(tau > 0, axis=1)
    assert 0 < np.count_nonzero(~some) < 20
    expected = np.where(some, -OST()(tau, cov).log_pvalue, 0.0)
    np.testing.assert_array_equal(rank_draws(OST(), tau, cov).values, expected)
    np.testing.assert_array_equal(rank_draws(Wald(), tau, cov).values, Wald()(tau, cov).statistic)
    halves = rng.normal(size=(50, 2, 3))
    split = Split(0.5)
    single = [float(split(pair, cov).statistic) for pair in halves]
    np.testing.assert_allclose(rank_draws(split, halves, cov).values, single, rtol=1e-9)
