"""Plans by their rules: what gives way to a budget, and how costs grow with sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nosplit.core.pairings import Blocks, Complete, LinearPairs, Window
from nosplit.inference.calibrations import Exact
from nosplit.inference.caveats import few_pairs, safe_window, small_test_part, too_alike, unsafe
from nosplit.inference.plan import Effort, is_sketched, plan_pairs, plan_samples
from nosplit.kernels import Gaussian
from nosplit.kernels.recipes import as_recipe

DEFAULT, NAMED = as_recipe(None), as_recipe(Gaussian(1.0))


def effort(n=500, atoms=None, p=4, recipe=DEFAULT, draws=999, budget=9e9, m=None):
    m = n if m is None else m
    return Effort.of((n, m), n + m if atoms is None else atoms, p, recipe, draws, budget)


def affine(cost, step):
    """Whether a cost has equal steps from one multiple of `step` to the next, and grows."""
    gaps = np.diff([cost(k * step) for k in (1, 2, 3, 4)])
    assert np.all(gaps > 0)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)


@pytest.mark.parametrize("recipe", [DEFAULT, NAMED], ids=["default", "named"])
@pytest.mark.parametrize("budget", [1e-9, 9e9])
def test_costs_are_affine_in_permutations(recipe, budget):
    affine(lambda draws: effort(recipe=recipe, draws=draws, budget=budget).seconds, 1000)
    affine(lambda draws: effort(30, m=900, recipe=recipe, draws=draws).seconds, 1000)


def test_costs_grow_with_rows_and_columns():
    """Named kernels see all pairs of atoms; of pairs of rows half as many atoms."""
    affine(lambda p: effort(p=p, recipe=NAMED).seconds, 5)
    fixed = effort(2, recipe=NAMED, draws=0).seconds
    big = [effort(n, recipe=NAMED).seconds - fixed for n in (20_000, 40_000)]
    assert big[1] / big[0] == pytest.approx(4.0, rel=0.01)
    # Atoms of two rows: as many kernel values, and a quarter of the products under draws.
    whole, half, none = (
        effort(atoms=atoms, recipe=NAMED, draws=draws).seconds
        for atoms, draws in ((1000, 1999), (500, 1999), (1000, -1))
    )
    assert (half - none) / (whole - none) == pytest.approx(0.25)
    for grow in ({"n": 700}, {"p": 6}, {"draws": 1999}):
        assert effort(**grow).seconds > effort().seconds


def test_what_gives_way_to_a_budget():
    """Exact kernels first, then frequencies, then bins; named kernels never."""
    found = [effort(1000, budget=10.0**k) for k in np.arange(-5.0, 3.0, 0.05)]
    frequencies, bins = [own.n_frequencies or 999 for own in found], [own.n_bins for own in found]
    assert list(dict.fromkeys(frequencies)) == [16, 32, 64, 999]
    assert list(dict.fromkeys(bins)) == [4, 8, 16, 32, 50]
    assert np.all(np.diff([own.seconds for own in found]) >= 0)
    assert frequencies[bins.index(50)] < 999
    # A frequency costs as much as any other one, and so does a bin.
    cost = {(own.n_frequencies, own.n_bins): own.seconds for own in found}
    assert cost[64, 50] - cost[32, 50] == pytest.approx(2.0 * (cost[32, 50] - cost[16, 50]))
    assert cost[64, 50] > 1.2 * cost[32, 50]
    assert cost[16, 32] - cost[16, 16] == pytest.approx(4.0 * (cost[16, 8] - cost[16, 4]))
    named = effort(1000, p=10, recipe=NAMED, budget=1e-9)
    assert (named.n_frequencies, named.n_bins) == (0, None)


def test_which_samples_are_sketched():
    """More than 2,000 rows of the smaller sample, or 20,000 of both and 400 of the smaller."""
    sizes = [(2000, 9000), (2001, 2001), (400, 19_600), (400, 19_601), (399, 10**6)]
    assert [is_sketched(*own) for own in sizes] == [False, True, False, True, False]
    assert [is_sketched(*own[::-1]) for own in sizes] == [False, True, False, True, False]


def test_plans():
    """The widest safe window by default: √N / 5, and narrower than half of the units."""
    for n, pairing in ((2, LinearPairs()), (3, Window(1)), (99, Window(1)), (10_000, Window(20))):
        found = plan_pairs(None, n)
        assert (found.pairing, found.calibration) == (pairing, "asymptotic")
    assert plan_pairs(Blocks(9), 50).pairs == "blocks of 9"
    for calibration, draws in ((Exact(99), 99), ("auto", 999)):
        found = plan_samples((20, 30), 50, 2, DEFAULT, calibration, 1.0)
        assert found.effort == effort(20, m=30, p=2, draws=draws, budget=1.0)
        assert (found.pairing, found.calibration.n_resamples) == (Complete(), draws)


# Caveats of the normal approximation --------------------------------------------------------------


def test_sizes_at_which_the_normal_approximation_is_trusted():
    """50 pairs for each kernel, a window up to √N / 5; less than 2 pairs a kernel is refused."""
    assert [safe_window(n) for n in (1, 99, 100, 225, 10_000)] == [1, 1, 2, 3, 20]
    assert len(few_pairs(6, 3)) == len(few_pairs(149, 3)) == 1
    assert few_pairs(150, 3) == []
    with pytest.raises(ValueError, match=r"5 pairs are too few .* at least 6"):
        few_pairs(5, 3)
    # Blocks are as wide as half their size.
    for pairing, said in ((Window(2), 0), (Window(3), 1), (Blocks(5), 0), (Blocks(6), 1)):
        assert len(unsafe(pairing, 100, 900, 2)) == said
        assert len(small_test_part(pairing, 100)) == said
    assert len(unsafe(Window(3), 100, 99, 2)) == 2
    assert (len(small_test_part(LinearPairs(), 98)), small_test_part(LinearPairs(), 100)) == (1, [])
    for t, p, said in (([-1.0, -2.0], 0.04, 1), ([-1.0, 0.1], 0.04, 0), ([-1.0], 0.06, 0)):
        assert len(too_alike(np.array(t), math.log(p))) == said
