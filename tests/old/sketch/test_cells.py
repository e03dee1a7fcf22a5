"""Statistics of cells against brute force."""

import numpy as np
import pytest

import nosplit
import nosplit._old.sketch.swaps as swaps_module
from nosplit._old.sketch.cells import drawn_statistics, units_of
from nosplit._old.sketch.dealing import layout_of
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.sums import sketch_rows
from nosplit._old.sketch.swaps import Swaps
from nosplit.kernels import Gaussian, Linear
from nosplit.kernels.recipes import as_recipe

KERNELS = Gaussian(1.0), Linear()


def cells_of(n, m, flips=99, seed=0, kernels=KERNELS):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) * 1.2
    layout = layout_of(n, m, 1000, rng)
    pilot = np.concatenate([x[layout.x.pilot_rows()], y[layout.y.pilot_rows()]])
    sketch = fit_map(
        pilot, as_recipe(list(kernels)), categorical=(), frequencies=8, cells=layout.n_cells, key=1
    )
    sums = sketch_rows(sketch, x, layout.x), sketch_rows(sketch, y, layout.y)
    return sketch, layout, sums, units_of(*sums, flips, 5)


@pytest.mark.parametrize(("n", "m"), [(300, 300), (200, 500)])
def test_statistics_against_brute_force(n, m):
    sketch, _, sums, (swaps, _, _, _) = cells_of(n, m)
    drawn = drawn_statistics(sketch, *sums, flips=99, key=5, workers=2)
    weights = swaps.weights(0, 100)
    where, steps = sketch.features[0]
    if swaps.paired:
        units = (sums[0].features - sums[1].features)[:, where] * steps
    else:
        units = np.concatenate([s.features for s in sums])[:, where] * steps
        units = units - units.mean(axis=0)
        weights = weights - weights.mean(axis=1, keepdims=True)
    K = units @ units.T
    N, pairs = len(K), len(K) * (len(K) - 1) / 2
    values = np.einsum("bi,ij,bj->b", weights, K, weights)
    if swaps.paired:
        expected = (values - np.trace(K)) / 2
    else:
        expected = (values - swaps.spread * N / (N - 1) * np.trace(K)) / 2
    assert drawn.tau[:, 0] * np.sqrt(pairs) * swaps.spread == pytest.approx(expected, rel=2e-3)
    off = K[np.triu_indices(N, 1)]
    assert drawn.cov[0, 0] == pytest.approx(np.mean(off**2), rel=1e-4)


def test_covariance_is_that_of_the_draws_against_theory():
    for n, m in ((300, 300), (200, 500)):
        sketch, _, sums, _ = cells_of(n, m)
        drawn = drawn_statistics(sketch, *sums, flips=4000, key=5)
        tau = np.hstack([drawn.tau, drawn.flat_tau])
        variance = np.concatenate([np.diagonal(c) for c in (drawn.cov, drawn.flat_cov)])
        ratio = tau[1:].std(axis=0) / np.sqrt(variance)
        # Standard error of a standard deviation from 4,000 draws of a skewed law: below 3 %.
        assert np.all(np.abs(ratio - 1) < 0.12)
        assert np.all(np.abs(drawn.columns.values[1:].std(axis=0) - 1) < 0.12)
        assert np.all(np.abs(tau[1:].mean(axis=0)) < 5 * np.sqrt(variance / 4000))


def test_equal_draws_have_equal_statistics():
    """Sums are integers: a draw and its negative tie exactly, however the product is cut."""
    _, _, _, (swaps, features, _, _) = cells_of(300, 300)
    weights = swaps.weights(0, 64)
    sums = weights @ features.values
    assert np.array_equal(-sums, (-weights) @ features.values)
    assert np.array_equal(sums[17:18], weights[17:18] @ features.values)
    assert np.array_equal(sums, weights.astype(float) @ features.values.astype(float))


def test_labels_are_as_many_as_cells():
    swaps = Swaps(30, 70, 99, 1)
    weights = swaps.weights(0, 100)
    assert np.array_equal(weights.sum(axis=1), np.full(100, 30.0))
    assert np.array_equal(np.flatnonzero(weights[0]), np.arange(30))
    # Each of the 100 cells is chosen .3 of the times: five standard errors.
    many = Swaps(30, 70, 9999, 1).weights(512, 512)
    assert np.abs(many.mean(axis=0) - 0.3).max() < 5 * np.sqrt(0.21 / 512)


@pytest.mark.parametrize("sizes", [(12, 300), (300, 12), (500, 9000)])
def test_that_changes_no_result(sizes, monkeypatch):
    """In memory, where rows are labelled, and in a sketch."""
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=(n, 3)) for n in sizes)
    found = []
    for few in (swaps_module.FEW_LABELS, 10**9):
        monkeypatch.setattr(swaps_module, "FEW_LABELS", few)
        found.append(nosplit.two_sample_test(x, y, rng=0, workers=1).to_dict())
    assert found[0] == found[1]
