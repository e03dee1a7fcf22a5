"""A GPU against NumPy: what is computed otherwise there than in `test_tensors`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import nosplit
from _same import doubled_steps
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.memory import ArraySide
from nosplit._old.engines.sides import Sides
from nosplit._old.engines.sketching.steps import prepare_sketch
from nosplit.core.pairings import Sketch
from nosplit.data.options import Options
from nosplit.errors import DeviceError

torch = pytest.importorskip("torch", reason="the torch extra is not installed")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

from nosplit._old.engines.torch.pairs.values import tensor_kernel_values  # noqa: E402
from nosplit._old.engines.torch.products import exact_product  # noqa: E402
from nosplit._old.engines.torch.sketches.sides import MovedSide, TensorSide  # noqa: E402

CUDA = torch.device("cuda")


def samples(n=600, m=None, p=3, seed=0, factor=1.3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), factor * rng.normal(size=(m or n, p))


def on_gpu(*arrays, kind=torch.float64):
    return [torch.from_numpy(a).to(CUDA, kind) for a in arrays]


# Relative accuracy of a product by theory: that of float32, or of two numbers rounded to the 11
# digits of TF32. Sums over p columns in float32 come on top. A step is 2⁻²⁰, and a turn 2π.
ACCURACY = {"highest": 2.0**-24, "high": 2 * 2.0**-11}


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("p", [5, 40, 300])
@pytest.mark.parametrize("products", ["highest", "high"])
def test_cell_sums_against_numpy(kind, p, products):
    x, y = (rows.astype(kind) + 50.0 for rows in samples(20_000, p=p))
    x[:, 1], y[:, 1] = np.round(x[:, 1], 1), np.round(y[:, 1], 1)
    asked = Asked(Options.of(None, None, None, "raise"), None, None, Sketch(100, 32), "auto", 1.0)
    sides = Sides(ArraySide("x", x), ArraySide("y", y))
    task = prepare_sketch(sides, asked, np.random.default_rng(0)).task
    own = Sides(TensorSide("x", torch.from_numpy(x).to(CUDA)), MovedSide(sides.y, CUDA))
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(products)
    try:
        again, found = own.sums(task), own.sums(task)
    finally:
        torch.set_float32_matmul_precision(before)
    F = task.map.n_waves
    turned = np.abs(task.map.turns).sum(axis=0)  # times that a row of size one turns each wave
    accuracy = ACCURACY[products] + p * 2.0**-24
    allowed = 1.0 + 2**20 * 2 * np.pi * accuracy * np.tile(turned, 2) + doubled_steps(task.map)
    for a, b, c in zip(sides.sums(task), found, again, strict=True):
        assert np.array_equal(b.features, c.features)  # run to run
        assert np.array_equal(a.bins, b.bins)
        apart = np.abs(a.features - b.features)
        assert (apart[:, : 2 * F] <= task.layout.c * allowed).all()
        assert apart[:, 2 * F :].max() <= task.layout.c


@pytest.mark.parametrize("largest", [1, 127, 128, 30_000, 1 << 22])
def test_products_of_whole_numbers_are_exact(largest):
    rng = np.random.default_rng(largest)
    weights = rng.integers(-1, 2, size=(300, 5000))
    numbers = rng.integers(-largest, largest + 1, size=(5000, 200))
    found = exact_product(*(torch.from_numpy(a).to(CUDA) for a in (weights, numbers)), largest)
    assert np.array_equal(found.cpu(), weights @ numbers)


@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_kernel_values_against_numpy(kind):
    x, y = samples(300, 200, p=37)
    kernels = [
        nosplit.kernels.Gaussian(8.0),
        nosplit.kernels.Laplace(30.0),
        nosplit.kernels.IMQ(5.0),
        nosplit.kernels.Linear(),
    ]
    found = tensor_kernel_values(kernels, "tile", *on_gpu(x, y, kind=kind))
    for kernel, values in zip(kernels, found, strict=True):
        expected = kernel.tile(x, y)
        accuracy = 1e-12 if kind == torch.float64 else 3e-6
        size = np.abs(expected).max()
        assert np.allclose(values.cpu(), expected, rtol=0, atol=accuracy * size)


CASES = {
    "complete": {"pairs": "complete"},
    "linear": {"pairs": "linear", "calibration": "asymptotic", "kernels": "paper2"},
    "window": {"pairs": 5, "calibration": "exact", "kernels": "paper6"},
}


@pytest.mark.parametrize("case", CASES)
def test_pairs_against_numpy(case):
    x, y = samples(3000, factor=1.03)
    res = nosplit.two_sample_test(x, y, **CASES[case])
    sd = np.sqrt(np.diagonal(res.selection.cov))
    for kind, tau, cov in ((torch.float64, 1e-9, 1e-9), (torch.float32, 3e-5, 3e-6)):
        own = nosplit.two_sample_test(*on_gpu(x, y, kind=kind), **CASES[case])
        assert np.allclose(own.selection.tau, res.selection.tau, rtol=0, atol=tau * sd)
        assert np.allclose(
            own.selection.cov, res.selection.cov, rtol=0, atol=cov * np.outer(sd, sd)
        )
        assert own.pvalue == pytest.approx(res.pvalue, abs=5e-3)
        again = nosplit.two_sample_test(*on_gpu(x, y, kind=kind), **CASES[case])
        assert np.array_equal(own.selection.tau, again.selection.tau)
        assert own.pvalue == again.pvalue


def test_pooled_rows_against_numpy():
    x, y = samples(1200, 900, factor=1.1)
    res = nosplit.two_sample_test(x, y, pairs="complete")
    own = nosplit.two_sample_test(*on_gpu(x, y), pairs="complete")
    sd = np.sqrt(np.diagonal(res.selection.cov))
    assert np.allclose(own.selection.cov, res.selection.cov, rtol=0, atol=1e-9 * np.outer(sd, sd))
    assert own.pvalue == pytest.approx(res.pvalue, abs=1e-2)


@pytest.mark.parametrize("m", [20_000, 15_000])
def test_sketches_against_numpy(m):
    x, y = samples(20_000, m, factor=1.01)
    res = nosplit.two_sample_test(x, y, pairs="sketch")
    for kind in (torch.float64, torch.float32):
        own = nosplit.two_sample_test(*on_gpu(x, y, kind=kind), pairs="sketch")
        assert own.pvalue == pytest.approx(res.pvalue, abs=1e-3)
    moved = nosplit.two_sample_test(x, y, pairs="sketch", device="cuda")
    assert moved.pvalue == pytest.approx(res.pvalue, abs=1e-3)


def test_all_tests_take_tensors_of_a_gpu():
    x, y = samples(200)
    a, b = on_gpu(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in (
            lambda u, v: nosplit.goodness_of_fit_test(u, lambda rows: -rows),
            nosplit.independence_test,
            lambda u, v: nosplit.mean_test(u),
        ):
            assert call(a, b).pvalue == pytest.approx(call(x, y).pvalue, rel=1e-9)


def test_arrays_of_other_libraries_are_taken_without_a_copy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    x, y = samples(2000)
    own = nosplit.two_sample_test(cupy.asarray(x), cupy.asarray(y), pairs="sketch")
    assert own.pvalue == nosplit.two_sample_test(*on_gpu(x, y), pairs="sketch").pvalue


def test_a_gpu_without_room_says_what_to_do():
    x, y = samples(3000)
    a, b = on_gpu(x, y)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(CUDA).total_memory
    torch.cuda.set_per_process_memory_fraction(100e6 / total)
    try:
        with pytest.raises(DeviceError, match=r'no room left.*pairs="sketch"'):
            nosplit.two_sample_test(a, b, pairs="complete")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
