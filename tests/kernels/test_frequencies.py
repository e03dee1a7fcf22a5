"""Random frequencies against the kernels they stand for."""

import numpy as np
import pytest

from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit.errors import InputError
from nosplit.kernels import IMQ, Delta, Gaussian, Laplace, Linear, Matern, Mixed, OnColumns
from nosplit.kernels.categories import Agreement, Hamming
from nosplit.kernels.frequencies import frequencies_of, has_frequencies

NONE = np.zeros((0, 2), np.int64)
NUMBERS = [
    Gaussian(1.3),
    Laplace(2.0),
    Matern(1.0, nu=0.5),
    Matern(1.5),
    Matern(1.5, nu=2.5),
    IMQ(1.0),
    IMQ(2.0, exponent=-1.5),
    2.0 * Gaussian(1.0) + Laplace(3.0),
    Gaussian(1.0) * Laplace(3.0),
    OnColumns(Gaussian(0.7), (1,)),
]
CATEGORIES = [Delta(), Agreement(), Hamming(0.5), OnColumns(Hamming(0.3), (0, 2))]


def approximate(kernel, rows, frequencies, key=0):
    """Kernel matrix of the features that a sketch sums, each row in a cell of its own."""
    p = rows.shape[1]
    sketch = SketchMap(
        (kernel,),
        np.zeros(p),
        np.ones(p),
        (),
        frequencies,
        key,
        np.zeros((0, p)),
        NONE,
        np.arange(p)[::-1],
    )
    sums = np.zeros((len(rows), sketch.n_features), np.int64)
    cells = np.arange(len(rows))
    CellSums(sums, np.zeros((len(rows), 0), np.int32)).add(sketch, rows, cells)
    where, steps = sketch.features[0]
    features = sums[:, where] * steps
    return features @ features.T


@pytest.mark.parametrize("kernel", NUMBERS, ids=repr)
def test_features_of_numbers_against_kernel(kernel):
    rows = np.random.default_rng(1).normal(size=(40, 3))
    exact = kernel.tile(rows, rows)
    errors = []
    for count in (256, 4096):
        found = np.mean([approximate(kernel, rows, count, key) for key in range(4)], axis=0)
        errors.append(np.abs(found - exact).max())
    size = np.diagonal(exact).max()
    # 1,600 means of 4 · count values in [-1, 1]: six standard errors hold for all of them.
    assert errors[0] < 6 * size / np.sqrt(4 * 256)
    assert errors[1] < 6 * size / np.sqrt(4 * 4096)


@pytest.mark.parametrize("kernel", CATEGORIES, ids=repr)
def test_features_of_categories_against_kernel(kernel):
    rows = np.random.default_rng(1).integers(0, 3, size=(40, 3)).astype(float)
    exact = kernel.tile(rows, rows)
    found = np.mean([approximate(kernel, rows, 3072, key) for key in range(4)], axis=0)
    assert np.abs(found - exact).max() < 6 / np.sqrt(4 * 1024)


def test_features_of_mixed_against_kernel():
    rng = np.random.default_rng(2)
    rows = np.column_stack([rng.normal(size=(30, 2)), rng.integers(0, 3, size=30)])
    kernel = Mixed(OnColumns(Gaussian(1.0), (0, 1)), OnColumns(Delta(), (2,)))
    found = np.mean([approximate(kernel, rows, 6000, key) for key in range(4)], axis=0)
    assert np.abs(found - kernel.tile(rows, rows)).max() < 3 * 6 / np.sqrt(4 * 2000)


def test_one_column_of_zeros_is_negative_zero_too():
    rows = np.array([[0.0], [-0.0], [1.0]])
    found = approximate(Delta(), rows, 64)
    assert found[0, 1] == pytest.approx(1.0, abs=1e-5)


def test_kernels_without_frequencies_iv():
    assert not has_frequencies(Linear())
    assert not has_frequencies(Gaussian(1.0) + Linear())
    with pytest.raises(InputError, match="has no frequencies"):
        frequencies_of(Linear(), np.arange(2), 4, np.random.default_rng(0))
