"""A hint at `groups=` where a column repeats as an identifier does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nosplit import Exact, column_tests, independence_test, k_sample_test, two_sample_test

HINT = "{0!r} repeats as an identifier would: if its rows belong together, use groups={0!r}."
QUICK = {"calibration": Exact(99), "workers": 1}


def notes(x, y, name="id"):
    """Notes on two tables of a column of this name, and of numbers."""
    tables = []
    for seed, values in enumerate((x, y)):
        rows = np.random.default_rng(seed).normal(size=len(values))
        tables.append(pd.DataFrame({"v": rows, name: values}))
    return two_sample_test(*tables, **QUICK).notes


def users(n, rows, first=0):
    """Identifiers of n users with so many rows each."""
    return np.repeat(np.arange(first, first + n), rows)


def random_users(n, rows, first, seed):
    """Rows of users at random."""
    return np.random.default_rng(seed).integers(first, first + n, n * rows)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (users(40, 5), users(60, 5, 40)),
        (random_users(60, 5, 0, 1), random_users(60, 5, 60, 2)),
        (2 * users(40, 5), 2 * users(40, 5) + 1),
        ([f"u{i}" for i in users(40, 5)], [f"u{i}" for i in users(40, 5, 40)]),
        ([f"u{i}" for i in users(200, 4)], [f"u{i}" for i in users(200, 4)]),
        ([None, *(f"u{i}" for i in users(30, 10))], [f"u{i}" for i in users(30, 10, 30)]),
    ],
)
def test_identifiers(x, y):
    assert HINT.format("id") in notes(x, y)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.array([f"city {i}" for i in rng.integers(20, size=1000)]),
        lambda rng: np.array([f"month {i}" for i in rng.integers(12, size=60)]),
        lambda rng: np.round(rng.normal(size=300), 2),
        lambda rng: np.round(rng.normal(size=300), 0),
        lambda rng: rng.poisson(10.0, 300),
        lambda rng: rng.poisson(1000.0, 2000),
        lambda rng: rng.integers(0, 24, 500),
        lambda rng: rng.random(300) < 0.5,
        lambda rng: rng.permutation(300),
        lambda rng: np.array([f"u{i}" for i in rng.permutation(300)]),
        lambda rng: np.zeros(100),
    ],
    ids=str.split("city month rounded whole counts large_counts hours boolean rows key constant"),
)
def test_other_columns(draw):
    x, y = (draw(np.random.default_rng(seed)) for seed in (1, 2))
    assert not [note for note in notes(x, y) if "repeats as an identifier" in note]


def test_the_hint_can_be_followed():
    rng = np.random.default_rng(0)
    ids = users(30, 6)
    x, y = (
        pd.DataFrame({"v": rng.normal(size=30)[ids] + 0.1 * rng.normal(size=180), "user": own})
        for own in (ids, ids + 30)
    )
    res = two_sample_test(x, y, **QUICK)
    assert HINT.format("user") in res.notes
    assert HINT.format("user").split(":")[0] in " ".join(str(res).split())
    assert HINT.format("user") in column_tests(x, y, n_resamples=99).notes
    grouped = two_sample_test(x, y, groups="user", **QUICK)
    assert grouped.columns.names == ("v",)
    assert not grouped.notes
    assert grouped.how.design.kind == "groups"


def test_who_gets_the_hint():
    """Several samples do; two variables are one sample, and arrays have no names to group by."""
    x, y = users(40, 5), users(40, 5, 40)
    tables = [pd.DataFrame({"id": own, "v": own % 7}) for own in (x, y)]
    assert HINT.format("id") in k_sample_test(tables, follow_up=False, **QUICK).overall.notes
    assert not [n for n in independence_test(*tables, **QUICK).notes if "groups" in n]
    rows = [table.to_numpy(float) for table in tables]
    assert not [n for n in two_sample_test(*rows, **QUICK).notes if "repeats" in n]
