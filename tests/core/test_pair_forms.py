"""Forms of two variables from their definitions, under orders listed and drawn."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from nosplit.core.exchange import DRAWS_AT_ONCE, Permutations
from nosplit.core.pair_forms import FeaturePair, GramPair, WavePairs, rectangles

ALARM = 1e-6  # false alarms of the statistical statement here
# Permutations of single rows, inside blocks, of runs of two, and of runs of other lengths.
DESIGNS = {
    "rows": Permutations(np.zeros(4, np.int64), 999, 0),
    "blocks": Permutations(np.array([3, 3, 3, 7, 7]), 999, 0),
    "runs": Permutations(np.zeros(8, np.int64), 999, 0, 2),
    "lengths": Permutations(np.array([0, 0, 0, 1, 1, 1, 1]), 999, 0, np.array([1] * 3 + [2] * 4)),
}


def every_order(name):
    """Lists of the rows of all orders, from units of each block."""
    units = {
        "rows": [[[0], [1], [2], [3]]],
        "blocks": [[[0], [1], [2]], [[3], [4]]],
        "runs": [[[0, 1], [2, 3], [4, 5], [6, 7]]],
        "lengths": [[[0], [1], [2]], [[3, 4], [5, 6]]],
    }[name]
    for parts in product(*(permutations(own) for own in units)):
        yield tuple(row for part in parts for unit in part for row in unit)


@pytest.mark.parametrize("name", DESIGNS)
def test_all_orders_are_listed_the_data_first(name):
    found = [tuple(own) for own in DESIGNS[name].orders.tolist()]
    assert found[0] == tuple(range(DESIGNS[name].n_rows))
    assert sorted(found) == sorted(every_order(name))
    assert DESIGNS[name].n_draws == DESIGNS[name].n_permutations == len(found)
    fewer = Permutations(DESIGNS[name].block, len(found) - 2, 0, DESIGNS[name].length)
    assert fewer.n_draws == len(fewer.orders) == len(found) - 1
    assert set(map(tuple, fewer.orders.tolist())) <= set(found)


def test_drawn_orders_are_uniform_and_do_not_depend_on_their_number():
    many = Permutations(np.zeros(4, np.int64), 20 * DRAWS_AT_ONCE, 5)
    object.__setattr__(many, "n_permutations", np.inf)  # as if they were too many to be listed
    _, counts = np.unique(many.orders[1:], axis=0, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > ALARM
    large = np.zeros(30, np.int64)
    some, more = (Permutations(large, n, 5).orders for n in (99, 1999))
    assert np.array_equal(more[0], np.arange(30))
    assert Permutations(large, 99, 5).n_permutations == np.inf
    assert len(some) == 100
    assert len(more) == 2000


def centred(rng, n, columns, kind=np.float64):
    values = rng.normal(size=(n, columns))
    return (values - values.mean(axis=0)).astype(kind)


def test_gram_pairs_from_their_definition():
    rng, exchange = np.random.default_rng(0), Permutations(np.zeros(6, np.int64), 49, 1)
    K, L = (np.array([v @ v.T for v in (centred(rng, 6, 2) for _ in range(d))]) for d in (2, 3))
    u, v = np.array([0, 1, 1]), np.array([2, 0, 1])
    found = GramPair(K, L, u, v).under(exchange)
    for f, order in enumerate(exchange.orders):
        expected = [np.sum(K[a] * L[b][np.ix_(order, order)]) for a, b in zip(u, v, strict=True)]
        np.testing.assert_allclose(found[f], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_feature_pairs_from_their_definition(kind):
    rng, exchange = np.random.default_rng(1), Permutations(np.zeros(7, np.int64), 49, 1)
    A, B = centred(rng, 7, 3, kind), centred(rng, 7, 2, kind)
    gains = rng.random((3, 4)), rng.random((2, 4))
    found = FeaturePair(A, B, gains).under(exchange)
    for f, order in enumerate(exchange.orders):
        squares = (A.T.astype(float) @ B[order].astype(float)) ** 2
        expected = np.einsum("as,ab,bs->s", gains[0], squares, gains[1])
        # Numbers are rounded to 24 bits of their products, or to 53.
        close = 5e-3 * expected.max() if kind is np.float32 else 1e-6
        np.testing.assert_allclose(found[f], expected, atol=close)


@pytest.mark.parametrize(("top", "most"), [(0, 0), (2, 3), (3, 3), (2, 4), (3, 4)])
def test_wave_pairs_from_their_definition(top, most):
    """Rectangles k ≤ 2^i, l ≤ 2^j of products of waves, for each pair of columns."""
    rng, exchange = np.random.default_rng(2), Permutations(np.zeros(9, np.int64), 29, 1)
    p, r, J = 2, 3, 2**top
    A, B = centred(rng, 9, p * J, np.float32), centred(rng, 9, r * J, np.float32)
    form = WavePairs(A, B, top, most)
    found, shapes = form.under(exchange), rectangles(top, most)
    assert all(i + j <= most and max(i, j) <= top for i, j in shapes)
    assert form.owner.tolist() == np.repeat(np.arange(p * r), len(shapes)).tolist()
    for f, order in enumerate(exchange.orders):
        products = (A.T.astype(float) @ B[order].astype(float)).reshape(J, p, J, r) ** 2
        expected = [
            products[: 2**i, a, : 2**j, b].sum()
            for a in range(p)
            for b in range(r)
            for i, j in shapes
        ]
        np.testing.assert_allclose(found[f], expected, atol=5e-3 * max(expected))
