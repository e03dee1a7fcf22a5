"""Kinds of evidence of the default test: what each is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import nosplit
from nosplit.inference import evidence


def without(kind, monkeypatch):
    """Leave a kind of evidence out."""

    def others(*args, kinds_of=evidence.kinds_of):
        return {name: kind_ for name, kind_ in kinds_of(*args).items() if name != kind}

    monkeypatch.setattr(evidence, "kinds_of", others)


def p_values(change, *, n, p, trials, seed):
    rng, found = np.random.default_rng(seed), []
    for trial in range(trials):
        x, y = rng.normal(size=(2, n, p))
        found.append(nosplit.two_sample_test(x, change(y), rng=trial).pvalue)
    return np.array(found)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("linear", lambda y: y + 0.2),
        ("place and spread of a column", lambda y: y * ([1.2, 1.0 / 1.2] * 5)),
        ("distance", lambda y: y * 1.15),
        ("distance", lambda y: y * np.random.default_rng(0).choice([0.8, 1.2], (len(y), 1))),
    ],
)
def test_what_is_a_little_everywhere_shows_in_its_kind(kind, change, monkeypatch):
    """The same samples and permutations, with the kind of evidence and without it."""
    how = {"n": 80, "p": 10, "trials": 16, "seed": 3}
    with_it = p_values(change, **how)
    without(kind, monkeypatch)
    assert np.mean(np.log(with_it)) < np.mean(np.log(p_values(change, **how)))


def test_a_dependence_of_two_of_ten_columns_is_found(monkeypatch):
    """Columns are as they were, and kernels of all ten see little of it; power .83 in 100 trials.

    False alarm: 1e-3.
    """

    def change(y):
        y[:, 4] = 0.6 * y[:, 2] + 0.8 * y[:, 4]
        return y

    how = {"n": 150, "p": 10, "trials": 24, "seed": 4}
    assert np.count_nonzero(p_values(change, **how) <= 0.05) >= binom.ppf(1e-3, 24, 0.83)
    without("largest pair", monkeypatch)
    assert np.count_nonzero(p_values(change, **how) <= 0.05) <= 10


def test_modes_far_apart_do_not_hide_what_is_inside_them():
    """One of four modes is wider. Kernels at the distance between modes found 3 of these 10."""
    rng, count = np.random.default_rng(5), 0
    for trial in range(10):
        mode = rng.integers(0, 2, (2, 250, 2))
        x, y = rng.normal(size=(2, 250, 2))
        y[mode[1].all(axis=1)] *= 1.8
        x, y = 4000.0 * mode + [x, y]
        count += nosplit.two_sample_test(x, y, method="ost", rng=trial).reject(0.05)
    assert count >= 8
