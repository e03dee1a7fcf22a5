"""The order of the rows of a sample does not change the p-value, but for Monte Carlo error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nosplit import (
    Exact,
    Sketch,
    Wild,
    classifier_test,
    column_tests,
    goodness_of_fit_test,
    independence_test,
    k_sample_test,
    mean_test,
    models,
    two_sample_test,
)

SEEDS = 20
QUICK = {"calibration": Exact(199), "workers": 1}
N, M = 40, 44


def samples():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(N, 2)), rng.normal(size=(M, 2))
    return x, y + 0.3


X, Y = samples()
SX, SY = np.arange(N) % 2, np.arange(M) % 2
GX, GY = np.arange(N) // 4, N + np.arange(M) // 4
SHARED = np.arange(N) // 4, np.arange(M) // 4
ORDERS = {
    "sorted": lambda rows: np.argsort(rows[:, 0]),
    "reversed": lambda rows: np.arange(len(rows))[::-1],
    "shuffled": lambda rows: np.random.default_rng(1).permutation(len(rows)),
}


class Means:
    """Classify by the difference of means."""

    def fit(self, rows, labels):
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)
        return self

    def predict(self, rows):
        return rows @ self.w


def frame(rows):
    return pd.DataFrame({"a": rows[:, 0], "b": np.where(rows[:, 1] > 0.0, "high", "low")})


def labelled(labels, keyword):
    """A test that is given the labels of rows in the order of the rows."""

    def test(x, y, i, j, rng):
        own = {keyword: (labels[0][i], labels[1][j])}
        return two_sample_test(x, y, rng=rng, **QUICK | own).pvalue

    return test


def two_samples(change=lambda rows: rows, **options):
    """A test of two samples that are given as what `change` makes of them."""

    def test(x, y, i, j, rng):
        return two_sample_test(change(x), change(y), rng=rng, **QUICK | options).pvalue

    return test


# Tests of x[i] and y[j].
TESTS = {
    "two samples": two_samples(),
    "equal sizes": lambda x, y, i, j, rng: two_sample_test(x, y[j < N], rng=rng, **QUICK).pvalue,
    "tables": two_samples(frame),
    "ost": two_samples(method="ost"),
    "windows": lambda x, y, i, j, rng: (
        two_sample_test(x, y[j < N], pairs=3, calibration="asymptotic", rng=rng).pvalue
    ),
    "sketch": two_samples(pairs=Sketch(frequencies=8)),
    "strata": labelled((SX, SY), "strata"),
    "groups": labelled((GX, GY), "groups"),
    "shared groups": labelled(SHARED, "groups"),
    "columns": lambda x, y, i, j, rng: column_tests(x, y, n_resamples=499, rng=rng).pvalues[0],
    "k samples": lambda x, y, i, j, rng: (
        k_sample_test([x, y, X], follow_up=False, rng=rng, **QUICK).pvalue
    ),
    "classifier": lambda x, y, i, j, rng: classifier_test(x, y, estimator=Means(), rng=rng).pvalue,
}


def logs(test, i, j):
    """Logarithms of the p-values of all seeds."""
    return np.log([test(X[i], Y[j], i, j, seed) for seed in range(SEEDS)])


def alike(first, other):
    """Whether means differ by less than three standard errors; equal if there is no randomness."""
    error = np.sqrt((first.var(ddof=1) + other.var(ddof=1)) / SEEDS)
    return abs(first.mean() - other.mean()) <= 3.0 * error + 1e-9


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
@pytest.mark.parametrize("name", TESTS)
def test_order_of_either_sample(name):
    test = TESTS[name]
    usual = logs(test, np.arange(N), np.arange(M))
    assert usual.mean() < -0.1  # or there is nothing to see
    for order in ORDERS.values():
        assert alike(usual, logs(test, order(X), np.arange(M)))
        assert alike(usual, logs(test, np.arange(N), order(Y)))


@pytest.mark.parametrize("strata", [None, SX])
def test_order_of_observations(strata):
    """Both variables in another order, and labels of strata with them."""
    y = X[:, 1] + 0.3 * X[:, 0]

    def found(i):
        labels = None if strata is None else strata[i]
        tests = (
            independence_test(X[i, 0], y[i], strata=labels, rng=s, **QUICK) for s in range(SEEDS)
        )
        return np.log([res.pvalue for res in tests])

    usual = found(np.arange(N))
    assert all(alike(usual, found(order(X))) for order in ORDERS.values())


def test_order_of_pairs():
    def found(i):
        tests = (two_sample_test(X[i], Y[i], paired=True, rng=s, **QUICK) for s in range(SEEDS))
        return np.log([res.pvalue for res in tests])

    usual = found(np.arange(N))
    assert all(alike(usual, found(order(X))) for order in ORDERS.values())


@pytest.mark.parametrize("calibration", [Wild(199), "simulate"])
def test_order_of_rows_of_a_fit(calibration):
    model, usual = models.MultivariateNormal(np.zeros(2), np.eye(2)), None
    for order in (lambda rows: np.arange(N), *ORDERS.values()):
        x = X[order(X)] + 0.2
        tests = (
            goodness_of_fit_test(x, model, calibration=calibration, rng=s) for s in range(SEEDS)
        )
        found = np.log([res.pvalue for res in tests])
        usual = found if usual is None else usual
        assert usual.mean() < -0.1
        assert alike(usual, found)


@pytest.mark.parametrize("options", [{"symmetric": True}, {"calibration": Exact(999)}])
def test_order_of_rows_of_h(options):
    def found(i):
        h = X[i] + 0.15
        tests = (mean_test(h, **{"symmetric": True} | options, rng=s) for s in range(SEEDS))
        return np.log([res.pvalue for res in tests])

    usual = found(np.arange(N))
    assert all(alike(usual, found(order(X))) for order in ORDERS.values())
