"""Fit and independence of tensors: sketches made on a device against those of memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import nosplit
from nosplit import InputError, Sketch, goodness_of_fit_test, independence_test
from nosplit.kernels import Gaussian, Polynomial
from nosplit.models import Laplace, Normal

torch = pytest.importorskip("torch")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
SMALL = {"pairs": Sketch(100, 8), "calibration": nosplit.Wild(99)}


def rows(n=3000, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def gradient(x):
    """The score of a standard normal law, of tensors only."""
    x = x.detach().requires_grad_(True)
    log_density = torch.distributions.Normal(0.0, 1.0).log_prob(x).sum()
    return torch.autograd.grad(log_density, x)[0]


def alike(found, expected, tolerance=1e-5):
    """Turns of waves are single numbers of up to some tens: errors of about 4e-6 a wave."""
    assert found.pvalue == expected.pvalue
    assert found.how.n_used == expected.how.n_used
    assert found.selection.kernels == expected.selection.kernels
    size = tolerance * np.abs(expected.selection.tau).max()
    np.testing.assert_allclose(found.selection.tau, expected.selection.tau, rtol=0.0, atol=size)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "score",
    [lambda x: -x, gradient, Normal(np.zeros(3)), -rows()],
    ids=["function", "function of tensors", "model", "array"],
)
def test_fit_of_tensors_against_memory(device, score):
    x = rows()
    expected = goodness_of_fit_test(x, lambda x: -x, **SMALL)
    alike(goodness_of_fit_test(torch.from_numpy(x).to(device), score, **SMALL), expected)


@pytest.mark.parametrize("device", DEVICES)
def test_fit_of_rows_that_are_moved_or_short(device):
    x = rows()
    expected = goodness_of_fit_test(x, lambda x: -x, **SMALL)
    alike(goodness_of_fit_test(x, lambda x: -x, device=device, **SMALL), expected)
    single = torch.from_numpy(x).float().to(device)
    for short in (single, single.bfloat16()):
        expected = goodness_of_fit_test(short.double().cpu().numpy(), lambda x: -x, **SMALL)
        alike(goodness_of_fit_test(short, lambda x: -x, **SMALL), expected)


def test_a_wrong_model_is_found_and_what_is_computed_in_memory():
    x = torch.from_numpy(rows())
    assert goodness_of_fit_test(1.2 * x, gradient, **SMALL).pvalue == 0.01
    few = x[:200, :1]
    by_array = goodness_of_fit_test(few.numpy(), Laplace())
    assert goodness_of_fit_test(few, Laplace()).pvalue == by_array.pvalue
    table = {"columns": [0, 1], **SMALL}
    picked = goodness_of_fit_test(x, lambda x: -x, **table)
    assert picked.pvalue == goodness_of_fit_test(x.numpy(), lambda x: -x, **table).pvalue


def test_fit_of_tensors_iv():
    x = torch.from_numpy(rows())
    with pytest.raises(InputError, match="one row of 3 for each of the"):
        goodness_of_fit_test(x, lambda x: x[:, :2], **SMALL)
    with pytest.raises(InputError, match="`score` must be finite"):
        goodness_of_fit_test(x, lambda x: x / 0.0, **SMALL)
    with pytest.raises(InputError, match="`x` is constant"):
        goodness_of_fit_test(torch.ones(3000, 2), lambda x: -x, **SMALL)
    with pytest.raises(InputError, match="`device` must be one that PyTorch has"):
        goodness_of_fit_test(x, lambda x: -x, device="abacus", **SMALL)
    x[7, 1] = torch.nan
    with pytest.raises(InputError, match=r"`x` must be finite, got nan at index \(7, 1\)"):
        goodness_of_fit_test(x, lambda x: -x, **SMALL)


COUPLED = {"pairs": Sketch(60, 8), "calibration": nosplit.Exact(99)}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "kernels",
    [None, [(Gaussian(1.0), Gaussian(1.0))], [(Polynomial(2), Gaussian(1.0))]],
    ids=["default", "Gaussian", "landmarks"],
)
def test_independence_of_tensors_against_memory(device, kernels):
    x, y = rows(seed=1), rows(p=2, seed=2)
    for z in (y, y + 0.3 * x[:, :2] ** 2):
        expected = independence_test(x, z, kernels=kernels, **COUPLED)
        both = (torch.from_numpy(v).to(device) for v in (x, z))
        # Sums of a unit are rounded from single numbers, which are added in another order.
        alike(independence_test(*both, kernels=kernels, **COUPLED), expected, 1e-4)
    moved = independence_test(x, z, kernels=kernels, device=device, **COUPLED)
    alike(moved, expected, 1e-4)


def test_independence_of_categories_is_tested_in_memory():
    x = rows(600, 1, seed=4)[:, 0]
    flags = torch.from_numpy(x > 0)
    by_array = independence_test(flags.numpy(), x, **COUPLED)
    assert independence_test(flags, torch.from_numpy(x), **COUPLED).pvalue == by_array.pvalue


@pytest.mark.parametrize("device", DEVICES)
def test_dependent_variables_are_warned_of_against_memory(device):
    noise = np.random.default_rng(4).normal(size=(6000, 2))
    time, series = np.arange(6000.0)[:, None], lfilter([1.0], [1.0, -0.8], noise[:, :1], axis=0)
    # Permuting y is exact if the rows of one variable are independent, whatever the other does.
    for x, y, warned in ((time, series, True), (series, time, True), (time, noise, False)):
        expected = independence_test(x, y, **COUPLED)
        found = independence_test(*(torch.from_numpy(v).to(device) for v in (x, y)), **COUPLED)
        assert bool(found.warnings) == warned
        assert found.warnings == expected.warnings
        assert (found.how.calibration, found.how.n_used) == ("exact", expected.how.n_used)


def test_independence_of_tensors_iv():
    x = torch.from_numpy(rows())
    with pytest.raises(InputError, match="must have as many rows, observed together"):
        independence_test(x, x[:-1], **COUPLED)
    with pytest.raises(InputError, match="`y` is constant"):
        independence_test(x, torch.ones(3000), **COUPLED)
