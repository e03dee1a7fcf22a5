"""Forms of several labels against brute force, and permutations that tie."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from nosplit.core import exchange as exchanges
from nosplit.core import forms
from nosplit.core.exchange import labels
from nosplit.core.forms import Bins, Features, Scores
from nosplit.core.gram import Gram

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 3))  # more than a tile of atoms
LABEL = RNG.integers(0, 4, 300)
BLOCKS = {"one block": np.zeros(300, int), "six blocks": np.repeat(np.arange(6), 50)}


def brute(K, exchange):
    """½ Σ (w - s)'K(w - s) over contrasts, divided by the atoms of each label."""
    w = np.concatenate(list(exchange.chunks)).astype(float) - exchange.share
    return 0.5 * np.einsum("fgi,ij,fgj,g->f", w, K, w, 1.0 / np.bincount(LABEL))


def centred(values):
    return values - values.mean(axis=0)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
@pytest.mark.parametrize(("kept", "many"), [(1 << 26, 5), (0, 5), (1 << 26, 3)])
def test_forms_against_brute_force(block, kept, many, monkeypatch):
    """Also if weights are made again for each form, and if sums are added atom by atom."""
    monkeypatch.setattr(exchanges, "MAX_KEPT", kept)
    monkeypatch.setattr(forms, "MANY_LABELS", many)
    exchange, K = labels(LABEL, block, 99, 3), ROWS @ ROWS.T + 1.0
    expected = brute(K, exchange)
    gram = Gram(300, 1, lambda a, b: K[None, a.start : a.stop, b.start : b.stop])
    np.testing.assert_allclose(
        centred(gram.under(exchange))[:, 0], centred(expected), atol=2e-3 * expected.std()
    )
    features = Features(np.column_stack([ROWS, np.ones(300)]), np.ones((4, 1)))
    np.testing.assert_allclose(features.under(exchange)[:, 0], expected, rtol=1e-3)
    w = np.concatenate(list(exchange.chunks)) - exchange.share
    sums = np.einsum("fgi,ij->fgj", w, ROWS)
    scores = Scores(ROWS, np.arange(3)).under(exchange)
    np.testing.assert_allclose(scores, sums.reshape(100, -1), atol=5e-3)
    bins = Bins((LABEL[:, None] == np.arange(4)).astype(np.float32), *np.eye(2, 4)[:, None], [0])
    counts = np.einsum("fgi,ij->fgj", w, bins.values) ** 2
    expected = 0.5 * np.einsum("fgj,g->fj", counts, 1.0 / np.bincount(LABEL))[:, :2]
    np.testing.assert_allclose(bins.under(exchange), expected, rtol=1e-4)


def test_weights_of_the_data_and_of_all_draws():
    exchange = labels(LABEL, BLOCKS["six blocks"], 99, 3)
    weights = np.concatenate(list(exchange.chunks))
    assert np.array_equal(weights.sum(axis=1), np.ones((100, 300)))
    each = np.add.reduceat(weights, exchange.starts[:-1], axis=2)
    assert np.array_equal(each, np.broadcast_to(exchange.counts.T, each.shape))
    assert np.array_equal(weights[0].argmax(axis=0), LABEL)  # no two labels are alike here
    for g in range(4):
        assert np.array_equal(exchange.part(g, range(20, 90)), weights[:, g, 20:90])


def test_labels_of_the_same_counts_have_names_by_their_atoms():
    """The same division of the atoms has the same weights, so that it ties to the last bit."""
    exchange = labels(np.repeat([0, 1, 2], 2), np.zeros(6, int), 999, 5)
    (weights,) = exchange.chunks
    assert len(weights) == 90
    assert exchange.n_permutations == 15 == len(np.unique(weights.argmax(axis=1), axis=0))
    uneven = labels(np.repeat([0, 1, 2], [2, 2, 3]), np.zeros(7, int), 999, 5)
    assert uneven.n_permutations == 105
    strata = labels(np.array([0, 1, 2, 0, 1, 2, 2]), np.repeat([0, 1], [3, 4]), 999, 5)
    assert strata.n_permutations == 6 * 12 / 2
    divisions = {
        frozenset(frozenset(np.flatnonzero(np.array(order) == g)) for g in range(3))
        for order in permutations([0, 0, 1, 1, 2, 2])
    }
    assert len(divisions) == 15


def test_names_do_not_favour_an_atom():
    """Each label has each atom in a third of all divisions.

    165 sets of four have an atom; a set with the hash u comes first with probability (1 - u)², so
    that shares are within 5 standard errors √(4 / 45 / 165).
    """
    exchange = labels(np.repeat([0, 1, 2], 4), np.zeros(12, int), 40_000, 1)
    share = np.mean(np.concatenate(list(exchange.chunks)), axis=0)
    assert exchange.n_draws == 6 * 5_775
    assert np.abs(share - 1 / 3).max() < 5 * np.sqrt(4 / 45 / 165)
