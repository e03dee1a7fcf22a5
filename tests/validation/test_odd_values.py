"""Odd values: an answer or a documented error, and never a warning of NumPy's.

All of these were found by `benchmarks.fuzz`.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import Exact, InputError, NosplitWarning, goodness_of_fit_test, two_sample_test
from nosplit.core.feature_map import spread_of
from nosplit.data.fit_encoding import robust_scale
from nosplit.kernels.eigenbases import default_eigenbases
from nosplit.methods.laws import Flips


@pytest.fixture(autouse=True)
def _only_our_own_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NosplitWarning)
        yield


def normal(*size):
    return np.random.default_rng(0).normal(size=size)


@pytest.mark.parametrize("value", [1e155, 1e200, 1e300])
def test_columns_that_are_mostly_zero_and_huge(value):
    """The standard deviation of a column overflowed, and an eigenvalue problem failed."""
    x, y = np.zeros((2, 20, 2))
    x[:3, 0], y[:, 1] = value, normal(20)
    try:
        found = two_sample_test(x, y, calibration=Exact(19))
    except InputError:
        return
    assert 0.0 < found.pvalue <= 1.0


def test_a_column_in_denormal_units_with_one_value_far_out():
    """Rows over their spread overflowed."""
    x, y = normal(2, 20, 2)
    x[:, 0] *= 1e-310
    y[:, 0] *= 1e-310
    y[3, 0] = 1.0
    assert 0.0 < two_sample_test(x, y, calibration=Exact(19)).pvalue <= 1.0


def test_what_changed_in_columns_far_apart():
    """Squares and ratios of spreads overflowed."""
    x = pd.DataFrame({"a": 1e-200 * normal(40), "b": 1e170 * normal(40)})
    y = pd.DataFrame({"a": 1e200 + 1e199 * normal(40), "b": 1e170 * (3.0 + normal(40))})
    found = two_sample_test(x, y)
    assert found.reject()
    assert "inf" not in str(found)


def test_evidence_without_bounds():
    """Infinity less its share is not a number: draws without a bound counted for nothing."""
    law = Flips(np.array([np.inf, 1.0, np.inf, 0.0]))
    assert law.sf(np.inf) == 0.5
    assert law.isf(0.5) == np.inf
    assert law.isf(0.75) == 1.0


@pytest.mark.parametrize("series", [False, True])
def test_scores_that_overflow(series):
    x = normal(60, 2)
    with pytest.raises(InputError, match="`score` must be below"):
        goodness_of_fit_test(x, 1e200 * x, series=series)


def test_labellings_that_overflow():
    x, y = 1e153 * normal(8, 1), 1e153 * normal(16, 1)
    with pytest.raises(InputError, match="not finite"):
        two_sample_test(x, y, kernels=[nosplit.kernels.Linear()])


@pytest.mark.parametrize("size", [1e80, 1e100])
def test_two_variables_that_overflow(size):
    """Products of traces overflowed, and so did linear kernels of few observations."""
    x, y = size * normal(2, 12, 1)
    with pytest.raises(InputError, match="not finite"):
        nosplit.independence_test(x, y, calibration=Exact(19))


@pytest.mark.parametrize(
    "stream", [nosplit.TwoSampleAccumulator(), nosplit.IndependenceAccumulator()]
)
def test_columns_of_the_smallest_numbers_and_one_large_one(stream):
    """Turns of waves were beyond what a float32 holds, and a variance was below 0 by rounding."""
    x, y = 1e-60 * normal(2, 80, 2)
    y[3, 1] = 1e10
    stream.update(x, y)
    with pytest.raises(InputError, match="too small to be squared"):
        stream.result()


def test_columns_whose_spreads_are_the_largest_numbers():
    """Ten times a spread was infinite."""
    rows = 1e308 * np.sort(np.random.default_rng(0).uniform(-0.8, 0.8, size=(24, 1)), axis=0)
    default_eigenbases(rows)


def test_columns_of_denormal_numbers():
    """There is no number of spreads to a unit of them."""
    assert spread_of(1e-310 * normal(50))[1] == 1.0
    assert spread_of(1e-290 * normal(50))[1] < 1e-289
    with pytest.raises(InputError, match="spread overflows"):  # squares of large ones did
        spread_of(np.where(np.arange(50) < 49, 0.0, 1e200))


def test_columns_in_another_order_and_in_other_units_give_the_same_p():
    rng = np.random.default_rng(4)
    tables = [
        pd.DataFrame(
            {"a": rng.normal(size=90), "b": rng.choice(list("uvw"), 90), "c": rng.random(90)}
        )
        for _ in range(2)
    ]
    arrays = list(rng.normal(size=(2, 90, 4)))
    for x, y, turned in (
        (*tables, [table[["c", "b", "a"]] for table in tables]),
        (*arrays, [array[:, [2, 0, 3, 1]] for array in arrays]),
        (*arrays, [8.0 * array for array in arrays]),
    ):
        assert two_sample_test(*turned).pvalue == two_sample_test(x, y).pvalue


def test_tables_of_the_smallest_numbers():
    tiny = np.where(np.arange(40) % 9 == 0, 5e-324, 0.0)
    x, y = pd.DataFrame({"a": tiny}), pd.DataFrame({"a": tiny[::-1]})
    assert robust_scale(tiny) == (0.0, 5e-324)
    assert 0.0 < two_sample_test(x, y).pvalue <= 1.0


@pytest.mark.parametrize("size", [1e80, 1e140])
@pytest.mark.parametrize("kernels", [None, [nosplit.kernels.Linear()]])
def test_sketches_of_values_whose_fourth_powers_overflow_iv(size, kernels):
    x, y = size * np.random.default_rng(0).standard_normal((2, 300, 2))
    with pytest.raises(nosplit.InputError, match="Rescale"):
        nosplit.two_sample_test(x, y, pairs="sketch", kernels=kernels)


def test_streams_of_scores_whose_fourth_powers_overflow_iv():
    acc = nosplit.GoodnessOfFitAccumulator(lambda z: -z)
    acc.update(1e46 * np.random.default_rng(0).standard_normal((600, 2)))
    with pytest.raises(nosplit.InputError, match="Rescale"):
        acc.result()
