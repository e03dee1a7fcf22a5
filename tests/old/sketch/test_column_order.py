"""Columns in another order, or in other units: the same sketch, and the same result."""

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import Exact, Sketch
from nosplit.kernels.orders import column_order

OPTIONS = {"pairs": Sketch(frequencies=8), "calibration": Exact(39)}


def samples(p, n=600, m=600):
    rng = np.random.default_rng(p)
    x, y = rng.normal(size=(n, p)), 1.03 * rng.normal(size=(m, p))
    x[:, 0], y[:, 0] = np.round(x[:, 0]), np.round(y[:, 0])
    return x, y, np.roll(np.arange(p), 1)


def tables(n=600):
    rng = np.random.default_rng(1)

    def table(scale):
        return pd.DataFrame(
            {
                "size": scale * rng.exponential(size=n),
                "age": rng.integers(20, 60, n),
                "gap": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
                "city": rng.choice(["Rome", "Oslo", "Bern"], n),
                "kind": rng.choice(list("abcdefgh"), n),
            }
        )

    return table(1.0), table(1.05), ["kind", "gap", "age", "city", "size"]


def assert_same(one, two):
    assert one.pvalue == two.pvalue
    assert np.array_equal(one.selection.tau, two.selection.tau)
    assert np.array_equal(one.selection.cov, two.selection.cov)


def test_column_order_goes_with_the_columns():
    rows, _, order = samples(30)
    rows[:, 3] = 0.0
    rows[:, 4] = np.exp(rows[:, 5])  # the same ranks
    found = column_order(rows)
    assert sorted(found.tolist()) == list(range(30))
    assert order[column_order(3.0 * rows[:, order] + 1.0)].tolist() == found.tolist()


# Beyond twenty columns, pairs of them are picked.
@pytest.mark.parametrize(("p", "m"), [(3, 700), (23, 600)])
def test_arrays(p, m):
    x, y, order = samples(p, m=m)
    one = nosplit.two_sample_test(x, y, **OPTIONS)
    assert_same(one, nosplit.two_sample_test(x[:, order], y[:, order], **OPTIONS))
    larger = nosplit.two_sample_test(1024.0 * x, 1024.0 * y, **OPTIONS)
    assert larger.pvalue == one.pvalue


def test_tables():
    x, y, names = tables()
    one = nosplit.two_sample_test(x, y, **OPTIONS)
    assert_same(one, nosplit.two_sample_test(x[names], y, **OPTIONS))
    finer = [table.assign(size=table["size"] * 64.0) for table in (x, y)]
    assert_same(one, nosplit.two_sample_test(*finer, **OPTIONS))


def test_what_is_the_same_in_all_draws_but_for_rounding():
    """All labellings of two and two rows have the same mean over columns."""
    x = np.array([[0.35904217, 0.74942273, 0.10352136], [1.04395542, 0.39978909, -0.80361251]])
    y = np.array([[0.61150351, -0.16515329, 0.84519923], [-0.55845831, 0.06576555, 0.0562137]])
    one, two = (nosplit.two_sample_test(x[:, c], y[:, c], rng=65) for c in ([0, 1, 2], [0, 2, 1]))
    assert one.pvalue == two.pvalue
