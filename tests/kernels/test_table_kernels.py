"""Kernels on some columns, on categories, and on both."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from nosplit import InputError
from nosplit.kernels import (
    Agreement,
    Delta,
    Gaussian,
    Hamming,
    Kernel,
    Laplace,
    Linear,
    Mixed,
    OnColumns,
    Parts,
    Shared,
    mixed_kernels,
    table_kernels,
)


def sample(n, seed=0):
    """Two numbers and three categories of which two are large codes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n, 3)) * np.array([1.0, 2.0**47, 2.0**47 - 1])
    return np.column_stack([rng.normal(size=(n, 2)), codes])


def agree(a, b):
    return np.mean([p == q for p, q in zip(a[2:], b[2:], strict=True)])


def gauss(a, b):
    return np.exp(-0.5 * np.sum((a[:2] - b[:2]) ** 2))


ON_NUMBERS = OnColumns(Gaussian(1.0), (0, 1))
ON_CATEGORIES = OnColumns(Agreement(), (2, 3, 4))
FORMULAS = [
    (ON_NUMBERS, gauss),
    (OnColumns(Linear(), (1,)), lambda a, b: a[1] * b[1]),
    (OnColumns(Delta(), (2, 4)), lambda a, b: float(a[2] == b[2] and a[4] == b[4])),
    (ON_CATEGORIES, agree),
    (OnColumns(Hamming(0.3), (2, 3, 4)), lambda a, b: 0.3 ** (3 - 3 * agree(a, b))),
    (ON_NUMBERS * ON_CATEGORIES, lambda a, b: gauss(a, b) * agree(a, b)),
    (
        Mixed(ON_NUMBERS, ON_CATEGORIES),
        lambda a, b: gauss(a, b) + agree(a, b) + gauss(a, b) * agree(a, b),
    ),
    (Agreement(), lambda a, b: np.mean(a == b)),
]
KERNELS = [kernel for kernel, _ in FORMULAS]
SETS = [
    table_kernels(mixed_kernels(1.0, 2.0), (0, 1), (2, 3, 4)),
    table_kernels([], (), (2, 3)),
    Parts((0, 1), (2, 3, 4)).kernels(1.0, (0.5, 1.0)),
    Parts((), (2, 3)).kernels(1.0, (0.5, 1.0)),
    Parts((0,), ()).kernels(1.0, (0.5, 1.0)),
]


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=map(repr, KERNELS))
def test_values_against_formula(kernel, formula):
    a, b = sample(13), sample(7, seed=1)
    expected = [[formula(p, q) for q in b] for p in a]
    np.testing.assert_allclose(kernel.tile(a, b), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(kernel.aligned(a[:7], b), np.diagonal(kernel.tile(a[:7], b)))


@pytest.mark.parametrize("kernel", [*KERNELS, *(k for s in SETS for k in s)], ids=repr)
def test_symmetric_and_positive_semidefinite(kernel):
    rows = sample(40, seed=2)
    tile = kernel.tile(rows, rows)
    np.testing.assert_allclose(tile, tile.T, rtol=1e-14)
    assert np.linalg.eigvalsh(tile).min() > -1e-12 * np.abs(tile).max()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_frozen_hashable_picklable(kernel):
    assert isinstance(kernel, Kernel)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))


@pytest.mark.parametrize("layout", ["aligned", "tile"])
def test_shared_against_one_by_one(layout):
    """What kernels have in common is computed once, and to the same values."""
    a, b = sample(9), sample(9, seed=1)
    own = Laplace(1.0) * (lambda a, b: np.minimum(a, b)[..., 0])
    kernels = [*KERNELS, *SETS[0], own, 2.0 * KERNELS[0] + Linear(), Laplace(1.0)]
    shared = Shared(layout, a, b)
    for kernel in kernels:
        np.testing.assert_array_equal(shared.values(kernel), getattr(kernel, layout)(a, b))


def test_default_sets():
    names = [str(k) for k in table_kernels([Gaussian(1.0), Linear()], (0, 1), (2,))]
    assert names == [
        "Gaussian(bandwidth=1.0) on numbers",
        "Linear() on numbers",
        "Agreement() on categories",
        "Gaussian(bandwidth=1.0) on numbers * Agreement() on categories",
    ]
    assert [len(s) for s in SETS] == [11, 2, 2, 2, 2]
    # The more columns, the less a single one counts.
    factors = [table_kernels([], (), range(n))[1].kernel.factor for n in (2, 3, 6)]
    np.testing.assert_allclose(factors, [8**-0.5, 0.5, 0.5**0.5])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OnColumns(Linear(), ()), "`columns` of a kernel must be different positions"),
        (lambda: OnColumns(Linear(), (-1,)), "from 0, at least one, got (-1,)."),
        (lambda: OnColumns(Linear(), (0, 0)), "must be different positions"),
        (lambda: OnColumns(Linear(), 1.5), "must be different positions"),
        (lambda: OnColumns(Linear(), ("a",)), "must be different positions"),
        (lambda: OnColumns(Linear, (0,)), "got the class Linear. Call it"),
        (lambda: OnColumns(Linear(), (2,)).tile(np.eye(2), np.eye(2)), "among the 2 of the data"),
        (lambda: Hamming(1.0), "`factor` must be strictly between 0 and 1, got 1.0."),
        (lambda: Hamming("half"), "`factor` must be strictly between 0 and 1, got 'half'."),
        (lambda: Mixed(Linear(), Delta()), "`Mixed` must be of two kernels on columns"),
        (lambda: Agreement().aligned(np.eye(2), np.eye(3)), "the same number of columns"),
    ],
)
def test_message_iv(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)
