"""Columns in other places: the same p from sketches of fit and of independence."""

import numpy as np
import pytest

import nosplit

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((3000, 4)), RNG.standard_normal((3000, 3))
Y[:, 0] += 0.03 * X[:, 1]
ORDERS = [[3, 1, 0, 2]]
FEW = {"pairs": "sketch", "calibration": nosplit.Exact(999)}


@pytest.mark.parametrize("order", ORDERS)
def test_fit(order):
    means = np.array([0.0, 0.02, -0.02, 0.0])

    def pvalue(columns):
        model = nosplit.models.MultivariateNormal(means[columns], 1.0)
        return nosplit.goodness_of_fit_test(X[:, columns], model, pairs="sketch").pvalue

    assert pvalue(order) == pvalue([0, 1, 2, 3])


def test_sums_over_many_columns_have_an_order_of_their_own():
    """Waves are of single numbers: in another order 1e-5 of a statistic was lost."""
    rows, order = np.round(RNG.standard_normal((2000, 23)), 1), RNG.permutation(23)
    model = nosplit.models.MultivariateNormal(np.zeros(23))
    sketch = {"pairs": nosplit.Sketch(frequencies=4)}
    both = [
        (
            nosplit.independence_test(x, Y[:2000], **sketch).selection.tau,
            nosplit.goodness_of_fit_test(x, model, **sketch).selection.tau,
        )
        for x in (rows, rows[:, order])
    ]
    for first, other in zip(*both, strict=True):
        np.testing.assert_allclose(first, other, rtol=1e-9, atol=1e-9 * np.abs(first).max())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kernels", [None, [(nosplit.kernels.Linear(), nosplit.kernels.Linear())]])
def test_independence(order, kernels):
    found = nosplit.independence_test(X, Y, kernels=kernels, **FEW)
    other = nosplit.independence_test(X[:, order], Y[:, [2, 0, 1]], kernels=kernels, **FEW)
    assert other.pvalue == found.pvalue


def test_independence_of_tables():
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(city=RNG.choice(["u", "v", "w"], 3000))
    found = nosplit.independence_test(x, Y, **FEW)
    assert nosplit.independence_test(x[["city", "b", "a"]], Y, **FEW).pvalue == found.pvalue


@pytest.mark.parametrize("order", ORDERS)
def test_streams(order):
    def pvalue(columns):
        acc = nosplit.IndependenceAccumulator(pairs=nosplit.Sketch(50, 8))
        for start in range(0, 3000, 500):
            acc.update(X[start : start + 500, columns], Y[start : start + 500])
        return acc.result().pvalue

    assert pvalue(order) == pvalue([0, 1, 2, 3])
