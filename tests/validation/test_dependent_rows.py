"""Neighbouring rows that are alike: a warning in the result, which changes nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import nosplit
from nosplit import Exact, independence_test, mean_test, two_sample_test


def series(rng, n, phi=0.9, p=1):
    noise = rng.normal(size=(n, p)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def warned(result):
    return any(text.startswith("DependentRowsWarning: Neigh") for text in result.warnings)


def halves(rows):
    return np.arange(len(rows)) * 2 // len(rows)


TESTS = {
    "two samples": lambda x, y: two_sample_test(x, y, calibration=Exact(99)),
    "a sketch": lambda x, y: two_sample_test(x, y, calibration=Exact(99), pairs="sketch"),
    "a closed form": lambda x, y: two_sample_test(x, y, calibration="asymptotic", pairs=2),
    "pairs": lambda x, y: two_sample_test(x, y, paired=True, calibration=Exact(99)),
    "strata": lambda x, y: two_sample_test(
        x, y, strata=(halves(x), halves(y)), calibration=Exact(99)
    ),
    "several samples": lambda x, y: (
        nosplit.k_sample_test([x, y, -x], follow_up=False, calibration=Exact(99)).overall
    ),
    "columns": lambda x, y: nosplit.column_tests(x, y, n_resamples=99),
    "two variables": lambda x, y: independence_test(x, y, calibration=Exact(99)),
    "means": lambda x, y: mean_test(x, symmetric=True),
}


@pytest.mark.parametrize("name", TESTS)
def test_rows_in_time_order_are_warned_of_by_the_result_alone(name):
    """Warnings are errors here: none is sent. The calibration is the one that was asked for."""
    rng = np.random.default_rng(0)
    n = 4000 if name == "a closed form" else 400
    found = TESTS[name](series(rng, n), series(rng, n))
    assert warned(found)
    assert found.how.calibration == ("asymptotic" if name == "a closed form" else "exact")
    assert "Neighbouring rows are alike" in " ".join(str(found).split())
    independent = TESTS[name](rng.normal(size=(n, 1)), rng.normal(size=(n, 1)))
    assert not warned(independent)


@pytest.mark.parametrize("name", ["two samples", "columns", "means", "two variables"])
def test_the_check_changes_no_p_value(name, monkeypatch):
    x, y = (series(np.random.default_rng(seed), 300) for seed in (1, 2))
    found = TESTS[name](x, y).to_dict()
    for where in ("api.two_sample", "api._run", "api.means"):
        monkeypatch.setattr(f"nosplit.{where}.check_rows", lambda *_, **__: [])
    monkeypatch.setattr("nosplit.api.independence.check_jointly", lambda *_, **__: [])
    unchecked = TESTS[name](x, y).to_dict()
    assert unchecked.pop("warnings") == []
    assert len(found.pop("warnings")) == 1
    assert found == unchecked


def test_rows_of_one_variable_that_are_independent_are_enough():
    """If y does not depend on its past, it may be permuted, whatever x does."""
    rng = np.random.default_rng(2)
    found = independence_test(series(rng, 400), rng.normal(size=400), calibration=Exact(99))
    assert (found.how.calibration, found.warnings) == ("exact", ())


def test_who_names_groups_says_that_they_are_independent():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(20), 10)
    x, y = (rng.normal(size=(20, 1))[group] + 0.1 * rng.normal(size=(200, 1)) for _ in range(2))
    assert warned(two_sample_test(x, y, calibration=Exact(99)))
    assert not warned(two_sample_test(x, y, groups=(group, group + 20), calibration=Exact(99)))
