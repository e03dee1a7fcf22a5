"""Exchanges against a list of all permutations, made by hand, and draws against counting."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from math import comb, factorial, inf

import numpy as np
import pytest
from scipy import stats

from nosplit.core.exchange import DRAWS_AT_ONCE, Exchange, labels, signs, states

ALARM = 1e-6  # false alarms of each statistical statement here

DESIGNS = {
    "signs": signs(5, 99, 0),
    "two labels": labels([0, 0, 0, 1, 1, 1, 1], np.zeros(7), 99, 0),
    "equal labels": labels([0, 1, 0, 1, 1, 0], np.zeros(6), 99, 0),
    "strata": labels([0, 0, 1, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1, 1], 99, 0),
    "pairs": labels([0, 1, 0, 1, 1, 0], [4, 4, 5, 5, 9, 9], 99, 0),
    "a block of one label": labels([0, 1, 1, 1, 1], [0, 0, 0, 1, 1], 99, 0),
    "three labels": labels([0, 0, 1, 1, 2], np.zeros(5), 99, 0),
    "three labels, strata": labels([0, 2, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1], 99, 0),
    "states": states(np.full(3, 3), 99, 0),
}
every_design = pytest.mark.parametrize("name", DESIGNS)


def orders(own):
    return sorted(set(permutations(own)))


def all_weights(exchange: Exchange):
    """Weights of all permutations, (F, contrasts, A): one for an atom of the label, else 0.

    Signs are ± ½, as weights of two samples of a half each differ from their mean.
    """
    if exchange.label is None:
        return np.array(list(product([0.5, -0.5], repeat=exchange.n_atoms)))[:, None]
    blocks = [exchange.label[exchange.block == b] for b in np.unique(exchange.block)]
    every = product(*(orders(own.tolist()) for own in blocks))
    label = np.array([np.concatenate(own) for own in every])
    n = int(exchange.label.max()) + 1
    return np.stack([label == g for g in range(1 if n == 2 else n)], axis=1).astype(float)


def weights_of(exchange):
    """The draws' weights as above."""
    weights = np.concatenate(exchange.chunks).astype(float)
    if exchange.label is None:
        return weights / 2.0
    return (weights + 1.0) / 2.0 if exchange.even else weights


def as_set(weights):
    return {own.tobytes() for own in np.ascontiguousarray(weights + 0.0)}


@every_design
def test_all_permutations_are_listed_once(name):
    exchange, expected = DESIGNS[name], all_weights(DESIGNS[name])
    found = weights_of(exchange)
    assert exchange.exhaustive
    assert exchange.n_draws == len(found) == len(expected) // (2 if name == "signs" else 1)
    assert exchange.n_atoms == found.shape[2]
    alike = 1.0
    if name.startswith("three"):  # labels of as many atoms may change their names
        sizes = np.unique(exchange.counts, axis=1, return_counts=True)[1]
        alike = float(np.prod([factorial(own) for own in sizes]))
        divisions = Counter(map(frozenset, (map(bytes, own) for own in found)))
        assert set(divisions) == {frozenset(map(bytes, own)) for own in expected}
        assert set(divisions.values()) == {alike}
    elif name == "signs":  # of ε and -ε one is enough
        assert 2 * len(found) == len(expected)
        assert as_set(found) | as_set(-found) == as_set(expected)
        assert np.all(found[0] == 0.5)
    else:
        assert len(as_set(found)) == len(found)
        assert as_set(found) == as_set(expected)
        which = range(expected.shape[1])
        assert np.array_equal(found[0], [exchange.label == g for g in which])
    mirrored = name in ("signs", "equal labels", "pairs")
    assert exchange.even == mirrored
    assert exchange.n_permutations == len(expected) / (2 if mirrored else alike)
    fewer = Exchange(exchange.label, exchange.block, len(found) - 2, 0)
    assert not fewer.exhaustive
    assert fewer.n_draws == len(weights_of(fewer)) == len(found) - 1


def test_states_observe_the_first_atom_of_each_block():
    exchange = states(np.full(3, 4), 99, 0)
    assert exchange.label.reshape(3, 4).tolist() == [[0, 1, 1, 1]] * 3
    assert exchange.block.reshape(3, 4).tolist() == [[i] * 4 for i in range(3)]


@every_design
def test_mean_and_covariance_of_weights(name):
    exchange, every = DESIGNS[name], all_weights(DESIGNS[name])
    share = every.mean(axis=0)
    np.testing.assert_allclose(exchange.share, share)
    centred = every - share
    cov = np.einsum("fga,fgb,g->ab", centred, centred, exchange.scale) / len(every)
    if name == "signs":
        np.testing.assert_allclose(4.0 * cov, np.diag(exchange.variance), atol=1e-12)
        return
    same = exchange.block[:, None] == exchange.block
    expected = exchange.variance * (np.eye(len(same)) - same / exchange.sizes)
    np.testing.assert_allclose(cov, expected, atol=1e-12)
    atoms = np.bincount(exchange.label)
    assert exchange.scale.tolist() == ([1.0] if len(atoms) == 2 else (1.0 / atoms).tolist())


@every_design
def test_centred_values_and_starts_of_blocks(name):
    exchange = DESIGNS[name]
    values = np.random.default_rng(0).normal(size=(exchange.n_atoms, 2))
    found = exchange.centred(values)
    if exchange.label is None:
        assert found is values
        return
    edges = np.flatnonzero(np.append(True, np.diff(exchange.block) != 0))
    assert exchange.starts.tolist() == [*edges, exchange.n_atoms]
    for b in np.unique(exchange.block):
        own = exchange.block == b
        np.testing.assert_allclose(found[own], values[own] - values[own].mean(axis=0))
        assert np.all(exchange.sizes[own] == own.sum())


BIG = {
    "signs": lambda n, key: signs(6, n, key),
    "rarer first": lambda n, key: labels([0, 1, 1, 1, 1, 1, 0, 1], np.zeros(8), n, key),
    "rarer last": lambda n, key: labels([0, 0, 1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0, 1, 1], n, key),
    "even": lambda n, key: labels([0, 1, 0, 1, 1, 0, 1, 0], np.zeros(8), n, key),
    "three": lambda n, key: labels([0, 1, 2, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1], n, key),
    "states": lambda n, key: states(np.full(3, 4), n, key),
}


@pytest.mark.parametrize("name", BIG)
def test_random_draws_are_uniform_over_all_permutations(name):
    """χ² over all permutations, of draws that are forbidden to be a list; the data comes first."""
    exchange = BIG[name](25 * DRAWS_AT_ONCE + 40, 3)
    every = all_weights(exchange)
    object.__setattr__(exchange, "_every", None)  # as if there were too many to list
    assert [len(own) for own in exchange.chunks] == [DRAWS_AT_ONCE] * 25 + [41]
    found = weights_of(exchange)
    index = {own.tobytes(): i for i, own in enumerate(np.ascontiguousarray(every + 0.0))}
    drawn = [index[own.tobytes()] for own in np.ascontiguousarray(found + 0.0)]
    counts = np.bincount(drawn[1:], minlength=len(every))
    assert stats.chisquare(counts).pvalue > ALARM
    first = every[0] * 0.0 + 0.5 if exchange.label is None else None
    observed = exchange.label == np.arange(every.shape[1])[:, None] if first is None else first
    assert np.array_equal(found[0], observed)
    # A chunk depends on the key and on its place, not on how many come after it.
    for n, key in ((700, 3), (700, 4)):
        again = BIG[name](n, key)
        object.__setattr__(again, "_every", None)
        assert np.array_equal(weights_of(again)[:512], found[:512]) == (key == 3)
    assert not np.array_equal(found[1:512], found[513:1024])


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (signs(40, 9, 0), 2.0**39),
        (signs(41, 9, 0), inf),
        (labels(np.arange(40) < 20, np.zeros(40), 9, 0), comb(40, 20) / 2),
        (labels(np.arange(41) < 20, np.zeros(41), 9, 0), comb(41, 20)),
        (labels(np.arange(50) < 25, np.zeros(50), 9, 0), inf),
        (states(np.full(10, 3), 9, 0), 3**10),
        (states(np.full(30, 3), 9, 0), inf),
    ],
)
def test_numbers_of_permutations(exchange, expected):
    assert exchange.n_permutations == expected
    assert not exchange.exhaustive
    assert exchange.n_draws == 10


@pytest.mark.parametrize(("rare", "rest"), [(1, 7), (2, 14), (2, 13), (3, 40), (1, 6)])
@pytest.mark.parametrize("first", [0, 1])
def test_atoms_of_a_rare_label_are_picked(rare, rest, first):
    """If there are at least eight times as many atoms in all; they are those of the weights."""
    label = np.random.default_rng(0).permutation(np.repeat([first, 1 - first], [rare, rest]))
    exchange = labels(label, np.zeros(rare + rest), 600, 5)
    if 8 * rare > rare + rest:
        assert exchange.picked is None
        return
    which, atoms = exchange.picked
    assert (which, atoms.shape) == (first, (exchange.n_draws, rare))
    marked = weights_of(exchange)[:, 0] == (1.0 if first == 0 else 0.0)
    assert np.array_equal(atoms, [np.flatnonzero(own) for own in marked])


def test_labels_are_picked_only_if_there_are_two():
    assert signs(20, 99, 0).picked is None
    assert labels(np.repeat([0, 1, 2], [1, 20, 20]), np.zeros(41), 99, 0).picked is None
