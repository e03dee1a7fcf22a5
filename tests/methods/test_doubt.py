"""Doubt: p-values that allow for what rows may be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi, norm

from nosplit.methods.normal.doubt import Doubt

DOUBT = Doubt((1.0, 2.0, 7.0), (0.85, 0.1, 0.05))


@pytest.mark.parametrize("V", [1.35, 1.86, 4.0, 19.0])
def test_tails_of_series_against_theory(V):
    """p^(1/V) is the tail of a law √V times as wide: of a chi law with two degrees of freedom.

    With one, or of a normal law, it is more than that, and less with four.
    """
    x = np.linspace(2.0, 5.0, 50)

    def ratio(tail):
        return Doubt((V,), (1.0,)).pvalues(tail(x)) / tail(x / np.sqrt(V))

    assert np.allclose(ratio(lambda x: chi.sf(x, 2)), 1.0)
    assert np.all(ratio(lambda x: 2.0 * norm.sf(x)) > 1.0)
    assert np.all(ratio(norm.sf) > 1.0)
    of_four = ratio(lambda x: chi.sf(x, 4))
    assert np.all((of_four > 0.4) & (of_four < 1.0))


def test_p_values_are_never_smaller_properties():
    p = np.concatenate([[1e-300, 1e-12], np.linspace(1e-3, 1.0, 999)])
    for draws in (None, 20, 1000):
        found = DOUBT.pvalues(p, draws)
        assert np.all(found >= p)
        assert np.all(found <= 1.0)
        assert np.all(np.diff(found) >= 0.0)
    assert DOUBT.pvalues(1.0) == 1.0
    assert Doubt((1.0, 2.0), (0.7, 0.3 + 1e-15)).log_pvalues(0.0) == 0.0
    assert DOUBT.log_pvalues(-1e5) == pytest.approx(-1e5 / 7.0 + np.log(0.05))
    sure = Doubt((1.0, 2.0), (1.0, 0.0))
    assert np.allclose(sure.pvalues(p), p)
    assert sure.series == 0.0


def test_tails_of_several_samples_are_wider():
    """Of four degrees of freedom p^(1/V) is .4 to .9 of the tail; of two times as much more."""
    x, doubled = np.linspace(2.0, 5.0, 50), Doubt((3.0,), (1.0,), times=2.0)
    p, wide = chi.sf(x, 4), chi.sf(x / np.sqrt(3.0), 4)
    assert np.all(Doubt((3.0,), (1.0,)).pvalues(p) < wide)
    assert np.all(doubled.pvalues(p) > 0.9 * wide)
    assert doubled.pvalues(0.9) == 1.0
    assert Doubt((1.0,), (1.0,), times=2.0).pvalues(0.01) == pytest.approx(0.01)


def test_of_draws_it_is_a_share_of_them():
    """A p-value that is a little more than 1 / draws would never reject at that level."""
    slight = Doubt((1.0, 1.35), (0.99, 0.01))
    assert slight.pvalues(0.05, 20) == 0.05 < slight.pvalues(0.05)
    # Of few draws a share is too much to be rounded down.
    assert 0.07 < Doubt((1.0, 4.0), (0.95, 0.05)).pvalues(0.05) < 0.075
    assert Doubt((1.0, 4.0), (0.95, 0.05)).pvalues(0.05, 20) == 0.1
    found = DOUBT.pvalues(np.arange(1, 1001) / 1000, 1000) * 1000
    assert np.allclose(found, np.round(found))


@pytest.mark.parametrize("draws", [None, 20, 200, 1000])
@pytest.mark.parametrize("doubt", [DOUBT, replace(DOUBT, times=2.0)], ids=["two", "four samples"])
def test_levels_are_the_inverse(draws, doubt):
    for alpha in (0.001, 0.01, 0.05, 0.3, 0.9):
        level = doubt.level(alpha, draws)
        assert level <= alpha
        if draws is None:
            assert doubt.pvalues(level) == pytest.approx(alpha)
        else:
            shares = np.arange(1, draws + 1) / draws
            rejected = doubt.pvalues(shares, draws) <= alpha
            assert np.array_equal(shares <= level, rejected)
