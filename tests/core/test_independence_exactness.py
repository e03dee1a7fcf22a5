"""Independence is exact: every permutation of tiny data is tested, and all p-values counted.

Given x and y without their matching, all permutations of the design are equally likely, so that the
p-values of all of them must not exceed uniform ones: P(p ≤ t) ≤ t for every t.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pytest

from nosplit.core.exchange import Permutations, states
from nosplit.core.pair_forms import FeaturePair, GramPair, WavePairs, rectangles
from nosplit.data.labels import RowLabels
from nosplit.data.variables import Variable
from nosplit.families.hsic import permute_rows, shift_rows
from nosplit.families.row_design import row_design
from nosplit.inference.plan import Effort
from nosplit.kernels import Parts


def variables(n, law, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    if law == "ties":
        x, y = np.rint(x), np.rint(y)
    if law == "categories":
        return Variable(np.rint(x), True), Variable(y, False)
    if law == "mixed":
        y[:, 1] = np.arange(n) % 2
        return Variable(x, False), Variable(y, Parts((0,), (1,)))
    return Variable(x, False), Variable(y, False)


def assert_uniform_at_most(pvalues):
    values = np.array(pvalues)
    share = np.mean(values[:, None] <= values + 1e-12, axis=0)
    assert np.all(share <= values + 1e-12)
    assert values.min() < 0.5  # something is tested


def pvalues_of(x, y, design, orders, n_resamples=999):
    """P-values of the default test, y in each of these orders of the rows of the design."""
    found = []
    for order in orders:
        moved, own = y.some(design.rows[list(order)]), x.some(design.rows)
        exchange = design.permutations(n_resamples, 0)
        found.append(permute_rows(own, moved, exchange, None, None).finding.pvalue)
    return found


@pytest.mark.parametrize("law", ["normal", "ties", "categories", "mixed"])
def test_rows(law):
    x, y = variables(5, law)
    found = pvalues_of(x, y, row_design(5, None, None), permutations(range(5)))
    assert len(found) == 120
    assert_uniform_at_most(found)


def test_random_draws_are_ranked_with_the_data_among_them():
    """With fewer draws than permutations, p-values of all permutations are uniform at most."""
    x, y = variables(6, "normal", 1)
    found = []
    for key, order in enumerate(permutations(range(6))):
        exchange = Permutations(np.zeros(6, np.int64), 19, key)
        assert exchange.n_draws == 20
        found.append(permute_rows(x, y.some(np.array(order)), exchange, None, None).finding.pvalue)
    # 720 independent p-values: at most 0.05 and three standard errors below the smallest value.
    assert np.mean(np.array(found) <= 0.05 + 1e-9) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 720)


def test_strata():
    x, y = variables(7, "normal", 2)
    codes = np.array([1, 0, 1, 0, 1, 0, 2])
    design = row_design(7, RowLabels(codes, ("a", "b", "c")), None)
    assert design.rows.tolist() == [1, 3, 5, 0, 2, 4]  # the stratum of one row is left out
    orders = (
        [*first, *second] for first in permutations(range(3)) for second in permutations([3, 4, 5])
    )
    found = pvalues_of(x, y, design, orders)
    assert len(found) == 36
    assert_uniform_at_most(found)


def test_groups_of_the_same_size():
    """Three groups of two rows, two of three, and one of four, which is left out."""
    group = np.repeat([5, 1, 3, 0, 2, 4], [2, 2, 2, 3, 3, 4])
    x, y = variables(16, "normal", 3)
    design = row_design(16, None, RowLabels(group, tuple("abcdef")))
    assert (len(design.rows), design.n_units) == (12, 5)
    pairs, triples = np.arange(6).reshape(3, 2), np.arange(6, 12).reshape(2, 3)
    orders = [
        np.concatenate([pairs[list(a)].ravel(), triples[list(b)].ravel()])
        for a in permutations(range(3))
        for b in permutations(range(2))
    ]
    assert_uniform_at_most(pvalues_of(x, y, design, orders))


def test_blocks_of_a_series():
    x, y = variables(9, "normal", 4)
    design = row_design(9, None, None, 2)
    blocks = np.arange(8).reshape(4, 2)
    orders = [blocks[list(order)].ravel() for order in permutations(range(4))]
    assert len(design.rows) == 8
    assert_uniform_at_most(pvalues_of(x, y, design, orders))


@pytest.mark.parametrize("law", ["normal", "ties", "categories", "mixed"])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 4)])
def test_shifts_inside_units(law, sizes):
    x, y = variables(6, law, 5)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    units = [range(a, b) for a, b in pairwise(starts)]
    found = []
    for parts in product(*map(permutations, units)):
        order = np.concatenate(parts)
        rng, effort = np.random.default_rng(0), Effort(999, 16)
        test = shift_rows(x, y.some(order), starts, None, None, effort, rng)
        assert test.finding.n_draws == np.prod(sizes)
        found.append(test.finding.pvalue)
    assert_uniform_at_most(found)


# -- draws and forms -------------------------------------------------------------------------------


def test_orders_stay_in_their_blocks_and_units():
    block, length = np.repeat([0, 1], [6, 8]), np.repeat([2, 4], [6, 8])
    exchange = Permutations(block, 99, 3, length)
    assert exchange.n_permutations == 12
    orders = exchange.orders
    assert len(np.unique(orders, axis=0)) == len(orders) == exchange.n_draws == 12
    np.testing.assert_array_equal(orders[0], np.arange(14))
    assert np.all(np.sort(orders[:, :6], axis=1) == np.arange(6))
    assert np.all(np.diff(orders[:, :6].reshape(-1, 2), axis=1) == 1)
    assert np.all(np.diff(orders[:, 6:].reshape(-1, 4), axis=1) == 1)
    drawn = Permutations(np.zeros(30, np.int64), 999, 3).orders
    assert np.all(np.sort(drawn, axis=1) == np.arange(30))
    np.testing.assert_array_equal(drawn[0], np.arange(30))
    again = Permutations(np.zeros(30, np.int64), 600, 3).orders
    np.testing.assert_array_equal(drawn[:512], again[:512])


def test_states_pick_one_atom_of_each_block():
    exchange = states(np.array([2, 3, 4]), 99, 0)
    (weights,) = exchange.chunks
    assert weights.shape == (24, 1, 9)
    assert np.all(np.add.reduceat(weights[:, 0], [0, 2, 5], axis=1) == 1)
    np.testing.assert_array_equal(np.flatnonzero(weights[0, 0]), [0, 2, 5])


def test_forms_against_plain_loops():
    rng = np.random.default_rng(6)
    n, exchange = 7, Permutations(np.zeros(7, np.int64), 49, 0)
    grams = [m @ m.transpose(0, 2, 1) for m in rng.normal(size=(2, 2, n, n))]
    u, v = np.array([0, 1, 1]), np.array([1, 0, 1])
    A, B, left, right = (rng.normal(size=s) for s in ((n, 3), (n, 4), (3, 2), (4, 2)))
    waves = rng.normal(size=(2, n, 2 * 4)).astype(np.float32)  # two columns of four frequencies
    found = [
        GramPair(*grams, u, v).under(exchange),
        FeaturePair(A, B, (left, right)).under(exchange),
        WavePairs(*waves, 2, 3).under(exchange),
    ]
    for f, order in enumerate(exchange.orders):
        K, L = grams[0], grams[1][:, order][:, :, order]
        np.testing.assert_allclose(found[0][f], np.einsum("sij,sij->s", K[u], L[v]), rtol=1e-6)
        squares = (A.T @ B[order]) ** 2
        wanted = np.einsum("is,ij,js->s", left, squares, right)
        np.testing.assert_allclose(found[1][f], wanted, rtol=1e-5, atol=1e-5)
        squares = (waves[0].T @ waves[1][order]).reshape(4, 2, 4, 2) ** 2
        wanted = [
            squares[: 2**i, a, : 2**j, b].sum()
            for a, b in product(range(2), range(2))
            for i, j in rectangles(2, 3)
        ]
        np.testing.assert_allclose(found[2][f], wanted, rtol=0.02, atol=0.02)
