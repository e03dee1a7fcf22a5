"""Very large values (fill values of other formats) leave the other rows as they are."""

from __future__ import annotations

import numpy as np
import pytest

from nosplit import Exact, goodness_of_fit_test, independence_test, two_sample_test
from nosplit.errors import InputError
from nosplit.kernels import Gaussian, Linear, Polynomial, as_kernel
from nosplit.kernels.bank import SQ, Bank


def tile(a, b):
    bank = Bank((Gaussian(1.0),))
    bases = bank.empty_bases(1, len(a) * len(b))
    out = [q.reshape(len(a), len(b)) if q.size else q for q in bases]
    bank.tile_bases(a, b, out, bank.centre(a, b))
    return out[SQ]


@pytest.mark.parametrize("value", [1.0, 1e10, 1e16, 1e20, 1e36, 1e200, 1.7e308])
@pytest.mark.parametrize("share", [0.02, 0.6])
def test_wide_distances_against_numpy(value, share):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50, 40))
    for rows in (a, b):
        rows[rng.uniform(size=50) < share, 2] = value
        rows[rng.uniform(size=50) < share, 7] = -value
    with np.errstate(over="ignore"):
        expected = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(tile(a, b), expected, rtol=1e-11)


def test_a_constant_column_changes_nothing():
    r = np.random.default_rng(10)
    u = r.normal(size=(80, 31))
    u[:, 2] *= 10
    u[r.integers(80), 2] = 1e20
    a, b, z = u[:40], u[40:], np.zeros((40, 1))
    narrow, wide = (
        two_sample_test(*pair, method="ost", calibration=Exact(9_999))
        for pair in ((a, b), (np.c_[a, z], np.c_[b, z]))
    )
    assert wide.pvalue == pytest.approx(narrow.pvalue, abs=0.02)


def test_squares_that_overflow_are_far_away():
    r = np.random.default_rng(0)
    x = r.normal(size=(100, 32))
    y = r.normal(size=(100, 32)) * 1.5
    x[3, 2] = 1e200
    for p in (31, 32):
        res = two_sample_test(
            x[:, :p], y[:, :p], kernels=[Gaussian(8.0)], calibration=Exact(99), pairs="complete"
        )
        assert res.pvalue == 0.01


@pytest.mark.parametrize("last", [False, True])
def test_linear_kernel_whichever_row_comes_first(last):
    r = np.random.default_rng(0)
    x, y = r.normal(size=(20, 2)), r.normal(size=(40, 2))
    x[0, 0] = 1e20
    order = np.roll(np.arange(20), -1) if last else np.arange(20)
    res = two_sample_test(
        x[order],
        y.reshape(20, 2, 2)[order].reshape(40, 2),
        kernels=[Linear()],
        method="best",
        calibration=Exact(99),
        shuffle=False,
    )
    # The row that outweighs all counts for more in the smaller sample, in 20 of 60 permutations.
    assert res.pvalue == pytest.approx(1 / 3, abs=0.2)


def test_bandwidths_of_all_sizes():
    program = Bank((Gaussian(1e-80), Gaussian(1e80))).program
    assert np.isfinite(program[2]).all()


def test_polynomial_by_powers_against_numpy():
    rows = np.random.default_rng(0).normal(size=(10, 3))
    for degree in (1, 2, 3, 5, 8, 13, 64):
        kernel, out = Polynomial(degree, offset=0.5), np.empty((1, 10))
        bank = Bank((kernel,))
        dots = np.einsum("ij,ij->i", rows, rows)[None]
        bank.evaluate((np.empty((1, 0)), np.empty((1, 0)), dots), np.ones((1, 1)), out)
        np.testing.assert_allclose(out[0], (dots[0] + 0.5) ** degree, rtol=1e-12)


def test_polynomial_degree_iv():
    with pytest.raises(InputError, match="`degree` must be at most 64, got 1000000000000000"):
        Polynomial(10**15)


def test_kernels_as_a_function_that_fails_iv():
    def fails(*medians):
        raise ZeroDivisionError("no")

    x = np.random.default_rng(0).normal(size=(20, 1))
    for call in (
        lambda: two_sample_test(x, -x, kernels=fails),
        lambda: goodness_of_fit_test(x, lambda rows: -rows, kernels=fails),
        lambda: independence_test(x, x, kernels=fails),
    ):
        with pytest.raises(InputError, match="`kernels` as a function must take the median"):
            call()


def test_complex_kernels_iv():
    def twisted(a, b):
        return np.exp(1j * (a - b).sum(axis=-1))

    with pytest.raises(InputError, match="`twisted` must return real numbers, got complex128"):
        as_kernel(twisted).tile(np.eye(2), np.eye(2))
