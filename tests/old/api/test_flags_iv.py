"""All functions check their flags alike, and count without overflow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nosplit import goodness_of_fit_test, independence_test, mean_test, two_sample_test
from nosplit.errors import InputError

X = np.random.default_rng(0).normal(size=(120, 1))
TESTS = {
    "two_sample": lambda **o: two_sample_test(X, -X, **o),
    "goodness_of_fit": lambda **o: goodness_of_fit_test(X, lambda x: -x, **o),
    "independence": lambda **o: independence_test(X, X, **o),
    "mean": lambda **o: mean_test(X, **o),
}


@pytest.mark.parametrize(
    ("test", "flag"),
    [
        *((test, "shuffle") for test in TESTS),
        ("two_sample", "paired"),
        ("mean", "symmetric"),
    ],
)
def test_flags_iv(test, flag):
    with pytest.raises(InputError, match=f"`{flag}` must be True or False, got 'no'"):
        TESTS[test](**{flag: "no"})


def test_distributions_of_scipy_as_they_are():
    assert not goodness_of_fit_test(X, stats.norm()).reject(0.001)
    assert goodness_of_fit_test(X + 9.0, stats.norm()).reject(0.05)
    with pytest.raises(InputError, match=r"parameters set, as in `scipy.stats.norm\(...\)`"):
        goodness_of_fit_test(X, stats.norm)
