"""Kernels: values against one-line formulas, algebra, bandwidths, messages."""

from __future__ import annotations

import itertools
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nosplit.errors import InputError
from nosplit.kernels import (
    IMQ,
    Combination,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Product,
    Scaled,
    Sum,
    aligned_base,
    as_kernel,
    default_kernels,
    gaussian_grid,
    median_bandwidth,
    paper_kernels,
    polynomial_kernels,
    tile_base,
)
from nosplit.kernels.defaults import default_scales


def sq(a, b):
    return math.fsum((s - t) ** 2 for s, t in zip(a, b, strict=True))


def l1(a, b):
    return math.fsum(abs(s - t) for s, t in zip(a, b, strict=True))


def dot(a, b):
    return math.fsum(s * t for s, t in zip(a, b, strict=True))


def matern(r, nu):
    s = math.sqrt(2 * nu) * r
    return {0.5: 1.0, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu] * math.exp(-s)


# Each kernel with its formula for one pair of rows, in plain Python.
FORMULAS = [
    (Gaussian(1.3), lambda a, b: math.exp(-sq(a, b) / (2 * 1.3**2))),
    (Laplace(2.1), lambda a, b: math.exp(-l1(a, b) / 2.1)),
    (IMQ(0.7), lambda a, b: (1 + sq(a, b) / 0.7**2) ** -0.5),
    (IMQ(0.7, exponent=-1.7), lambda a, b: (1 + sq(a, b) / 0.7**2) ** -1.7),
    (Matern(1.9, nu=0.5), lambda a, b: matern(math.sqrt(sq(a, b)) / 1.9, 0.5)),
    (Matern(1.9), lambda a, b: matern(math.sqrt(sq(a, b)) / 1.9, 1.5)),
    (Matern(1.9, nu=2.5), lambda a, b: matern(math.sqrt(sq(a, b)) / 1.9, 2.5)),
    (Linear(), dot),
    (Polynomial(1), dot),
    (Polynomial(2), lambda a, b: dot(a, b) ** 2),
    (Polynomial(3, offset=0.5), lambda a, b: (dot(a, b) + 0.5) ** 3),
]
KERNELS = [kernel for kernel, _ in FORMULAS]
STATIONARY = [kernel for kernel in KERNELS if kernel.base != "dot"]


def cosine(a, b):
    return (a * b).sum(axis=-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))


class Brownian:
    """A user's own kernel, on positive numbers, knowing nothing of this library."""

    def aligned(self, a, b):
        return np.minimum(a, b).sum(axis=1)

    def tile(self, a, b):
        return np.minimum(a[:, None, :], b[None, :, :]).sum(axis=2)

    def __repr__(self):
        return "Brownian()"


COMPOSITES = [
    Gaussian(1.0) + 2.0 * Linear(),
    Gaussian(1.0) * Laplace(2.0),
    3.0 * (Gaussian(1.0) + Matern(1.0)) * Polynomial(2, offset=1.0),
    Gaussian(1.0) + cosine,
    IMQ(1.0) * (as_kernel(cosine) + 1.5 * Gaussian(0.5) + Gaussian(2.0)),
]


def sample(n, p, *, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=map(repr, KERNELS))
@pytest.mark.parametrize("p", [1, 2, 7])
def test_values_against_formula(kernel, formula, p):
    a, b = 0.6 * sample(9, p, seed=1), 0.6 * sample(6, p, seed=2)
    tile = [[formula(s, t) for t in b.tolist()] for s in a.tolist()]
    np.testing.assert_allclose(kernel.tile(a, b), tile, rtol=1e-14, atol=1e-14)
    aligned = [formula(s, t) for s, t in zip(a[:6].tolist(), b.tolist(), strict=True)]
    np.testing.assert_allclose(kernel.aligned(a[:6], b), aligned, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_tile_against_aligned(kernel):
    a, b = sample(13, 4, seed=3), sample(13, 4, seed=4)
    scale = np.abs(kernel.tile(a, b)).max()
    np.testing.assert_allclose(
        np.diag(kernel.tile(a, b)), kernel.aligned(a, b), rtol=1e-13, atol=1e-14 * scale
    )
    assert kernel.tile(a, b[:5]).shape == (13, 5)
    assert kernel.tile(a, b).dtype == kernel.aligned(a, b).dtype == np.float64


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_positive_semidefinite(kernel):
    a = sample(40, 3, seed=7)
    gram = kernel.tile(a, a)
    eigenvalues = np.linalg.eigvalsh((gram + gram.T) / 2)
    assert eigenvalues[0] >= -1e-10 * max(1.0, eigenvalues[-1])


@pytest.mark.parametrize("kernel", STATIONARY, ids=repr)
def test_data_far_from_the_origin(kernel):
    # Multiples of 2^-10, so that the shifted data is exact and any difference is cancellation.
    a, b = (np.round(sample(10, 3, seed=s) * 1024) / 1024 for s in (8, 9))
    np.testing.assert_array_equal(kernel.tile(a + 1e6, b + 1e6), kernel.tile(a, b))
    np.testing.assert_array_equal(kernel.aligned(a + 1e6, b + 1e6), kernel.aligned(a, b))


@pytest.mark.parametrize("base", ["sq", "l1", "dot"])
def test_float32_is_subtracted_in_float32(base):
    a, b = sample(300, 5, seed=10).astype(np.float32), sample(300, 5, seed=11).astype(np.float32)
    difference = (a[:, None, :] - b[None, :, :]).astype(np.float64)
    expected = {
        "sq": (difference**2).sum(axis=2),
        "l1": np.abs(difference).sum(axis=2),
        "dot": a.astype(np.float64) @ b.astype(np.float64).T,
    }[base]
    tile, aligned = tile_base(base, a, b), aligned_base(base, a, b)
    assert tile.dtype == aligned.dtype == np.float64
    np.testing.assert_allclose(tile, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(aligned, np.diag(expected), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("base", ["sq", "l1", "dot"])
def test_inputs_are_left_alone(base):
    a, b = sample(6, 2, seed=12), sample(6, 2, seed=13)
    before = a.copy(), b.copy()
    aligned_base(base, a, b)
    tile_base(base, a, b)
    median_bandwidth(a)
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


def test_integers_do_not_wrap_around():
    a, b = np.array([[1]], dtype=np.uint8), np.array([[3]], dtype=np.uint8)
    assert aligned_base("sq", a, b) == tile_base("sq", a, b) == 4
    assert aligned_base("l1", a, b) == tile_base("l1", a, b) == 2
    assert aligned_base("dot", np.array([[100]], dtype=np.int8), np.array([[100]])) == 10_000


def test_no_rows():
    nothing, some = np.empty((0, 2)), sample(3, 2)
    for kernel in [*KERNELS, *COMPOSITES]:
        assert kernel.tile(nothing, some).shape == (0, 3)
        assert kernel.tile(some, nothing).shape == (3, 0)
        assert kernel.aligned(nothing, nothing).shape == (0,)


# -- properties --------------------------------------------------------------------------------

moderate = st.floats(-50, 50, allow_subnormal=False)
matrices = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.just(2)), elements=moderate)
bandwidths = st.floats(0.05, 50)
families = [
    Gaussian,
    Laplace,
    IMQ,
    partial(IMQ, exponent=-2.0),
    partial(Matern, nu=0.5),
    Matern,
    partial(Matern, nu=2.5),
]


@settings(max_examples=50, deadline=None)
@given(matrices, matrices, bandwidths, st.sampled_from(families))
def test_stationary_properties(a, b, bandwidth, family):
    kernel = family(bandwidth)
    values = kernel.tile(a, b)
    assert np.all((values >= 0) & (values <= 1))
    np.testing.assert_array_equal(values, kernel.tile(b, a).T)
    np.testing.assert_array_equal(np.diag(kernel.tile(a, a)), 1.0)
    # Data and bandwidth in other units: powers of two are exact.
    np.testing.assert_allclose(family(4 * bandwidth).tile(4 * a, 4 * b), values, rtol=1e-13)


@settings(max_examples=50, deadline=None)
@given(matrices, st.lists(st.sampled_from(KERNELS), min_size=2, max_size=4), st.randoms())
def test_algebra_properties(a, kernels, random):
    first, second, *_ = kernels
    tiles = [kernel.tile(a, a) for kernel in kernels]
    weights = [random.uniform(-2, 2) for _ in kernels]
    close = partial(np.testing.assert_allclose, rtol=1e-12)
    size = max(np.abs(tile).max() for tile in tiles)
    close((first + second).tile(a, a), tiles[0] + tiles[1])
    close((first * second).tile(a, a), tiles[0] * tiles[1])
    close((2.5 * first).tile(a, a), 2.5 * tiles[0])
    combined = Combination(tuple(kernels), tuple(weights)).tile(a, a)
    expected = sum(w * tile for w, tile in zip(weights, tiles, strict=True))
    close(combined, expected, atol=1e-12 * size)


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.int8, st.tuples(st.integers(2, 9), st.just(2))))
def test_median_properties(rows):
    distances = [math.dist(s, t) for s, t in itertools.combinations(rows.tolist(), 2)]
    positive = [r for r in distances if r > 0]
    if not positive:
        with pytest.raises(InputError, match="all coincide"):
            median_bandwidth(rows)
        return
    expected = np.median(distances) or np.median(positive)
    assert median_bandwidth(rows) == pytest.approx(expected, rel=1e-12)


odd = [math.nan, math.inf, 10**400, 1e-200, 1e200, [1.0], np.ones(2), object()]
garbage = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.complex_numbers(),
    st.floats(max_value=0.0),
    st.sampled_from(odd),
)


@settings(max_examples=50, deadline=None)
@given(garbage)
def test_garbage_bandwidth_properties(value):
    for family in families:
        with pytest.raises(InputError, match=r"^`bandwidth` must be"):
            family(value)


# -- algebra -----------------------------------------------------------------------------------


def test_sum_product_scaled_repr():
    g, h, lin = Gaussian(1.0), Laplace(2.0), Linear()
    assert repr(Gaussian(0.5)) == "Gaussian(bandwidth=0.5)"
    assert repr(g + 2.0 * lin) == "Gaussian(bandwidth=1.0) + 2.0 * Linear()"
    assert repr(g * h * lin) == "Gaussian(bandwidth=1.0) * Laplace(bandwidth=2.0) * Linear()"
    assert repr((g + h) * lin) == "(Gaussian(bandwidth=1.0) + Laplace(bandwidth=2.0)) * Linear()"
    assert repr(3 * (g + lin)) == "3.0 * (Gaussian(bandwidth=1.0) + Linear())"
    assert repr(lin + Brownian()) == "Linear() + Brownian()"
    assert repr(cosine + lin) == "FunctionKernel(cosine) + Linear()"


def test_repr_can_be_evaluated():
    for kernel in [*KERNELS, *COMPOSITES[:3]]:
        assert eval(repr(kernel)) == kernel


def test_nested_are_flattened_and_merged():
    g, h, lin = Gaussian(1.0), Laplace(2.0), Linear()
    assert (g + h) + lin == g + (h + lin) == Sum((g, h, lin)) == Sum((Sum((g, h)), lin))
    assert (g * h) * lin == g * (h * lin) == Product((g, h, lin))
    assert 2.0 * (g * 3.0) == Scaled(6.0, g) == Scaled(2.0, Scaled(3.0, g))
    assert (2.0 * g) * (3.0 * h) == Scaled(6.0, Product((g, h)))
    assert (2.0 * (g * h)) * lin == Scaled(2.0, Product((g, h, lin)))
    assert 0.5 * (2.0 * g) == 1 * g == g


def test_numpy_numbers_are_plain_numbers():
    assert repr(Gaussian(np.float64(0.5))) == "Gaussian(bandwidth=0.5)"
    assert repr(Polynomial(np.int64(2), np.float32(1))) == "Polynomial(degree=2, offset=1.0)"
    assert np.float64(2.0) * Linear() == Linear() * np.float64(2.0) == Scaled(2.0, Linear())
    learned = Combination([Gaussian(1), Linear()], np.array([1.0, -2.0]))
    assert learned.weights == (1.0, -2.0)


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_frozen_hashable_picklable(kernel):
    assert isinstance(kernel, Kernel)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))
    with pytest.raises(FrozenInstanceError):
        kernel.anything = 1.0


# -- kernels of one's own ----------------------------------------------------------------------


def test_as_kernel():
    assert as_kernel(Linear()) == Linear()
    own = Brownian()
    assert as_kernel(own) is own
    assert as_kernel(cosine) == FunctionKernel(cosine)
    assert repr(as_kernel(partial(cosine))).startswith("FunctionKernel(functools.partial(")


def test_function_kernel_against_loops():
    # Wide enough that the tile is made in several blocks of rows.
    a, b = sample(7, 400, seed=15), sample(90, 400, seed=16)
    expected = [[cosine(s, t) for t in b] for s in a]
    np.testing.assert_allclose(as_kernel(cosine).tile(a, b), expected, atol=1e-14)
    np.testing.assert_allclose(as_kernel(cosine).aligned(a, b[:7]), np.diag(expected), atol=1e-14)


def test_own_class_joins_the_algebra():
    a = np.abs(sample(6, 2, seed=17))
    brownian = Brownian().tile(a, a)
    np.testing.assert_allclose((Brownian() + Linear()).tile(a, a), brownian + a @ a.T)
    np.testing.assert_allclose((Linear() * Brownian()).tile(a, a), brownian * (a @ a.T))
    np.testing.assert_allclose((Brownian() * Linear()).tile(a, a), brownian * (a @ a.T))
    np.testing.assert_allclose(Scaled(2.0, Brownian()).tile(a, a), 2 * brownian)


# -- bandwidths and sets -----------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 10, 11])
@pytest.mark.parametrize("base", ["sq", "l1"])
def test_median_against_brute_force(n, base):
    rows = sample(n, 3, seed=18)
    pairs = list(itertools.combinations(rows.tolist(), 2))
    distances = [math.dist(s, t) if base == "sq" else l1(s, t) for s, t in pairs]
    assert median_bandwidth(rows, base=base) == pytest.approx(np.median(distances), rel=1e-14)


@pytest.mark.parametrize("base", ["sq", "l1"])
def test_median_does_not_depend_on_the_order(base):
    # To the last bit: exact calibration rests on it.
    rows = sample(60, 5, seed=19)
    expected = median_bandwidth(rows, base=base)
    rng = np.random.default_rng(20)
    for _ in range(5):
        assert median_bandwidth(rng.permutation(rows), base=base) == expected


@pytest.mark.parametrize("apart", [0.0, 10.0, 40.0, 200.0, 3000.0])
def test_default_scales_by_the_definition(apart):
    """Medians, divided by four until they are at most 16 times the scale of near rows."""
    rows = sample(60, 2, seed=22)
    rows[::2] += apart
    near = [np.sort(np.linalg.norm(rows - row, axis=1))[5] for row in rows]
    median, fourths = median_bandwidth(rows), 0
    while median / 4**fourths > 16.0 * np.median(near):
        fourths += 1
    assert (fourths > 0) == (apart >= 40.0)
    expected = median / 4**fourths, median_bandwidth(rows, base="l1") / 4**fourths
    assert default_scales(rows) == pytest.approx(expected, rel=1e-12)
    shuffled = np.random.default_rng(0).permutation(rows)
    assert default_scales(shuffled) == default_scales(rows)


def test_default_scales_where_rows_are_equal():
    """Ties have no local scale: the medians stay."""
    rows = np.repeat([[0.0], [100.0], [1.0]], 20, axis=0)
    for own in (rows, rows + 1e-12 * sample(60, 1, seed=23)):
        assert default_scales(own) == (median_bandwidth(own), median_bandwidth(own, base="l1"))


def test_median_scales_with_the_data():
    rows = sample(30, 2, seed=21)
    expected = median_bandwidth(rows)
    for scale in (2.0**-400, 2.0**10, 2.0**400):
        assert median_bandwidth(rows * scale) == expected * scale
    assert median_bandwidth(rows + 1e6) == pytest.approx(expected, rel=1e-8)
    assert median_bandwidth(rows.astype(np.float32)) == pytest.approx(expected, rel=1e-6)
    assert median_bandwidth([0.0, 1.0, 3.0]) == 2.0


def test_sets_against_paper():
    s = 0.8
    assert paper_kernels(1, s) == (Gaussian(s),)
    assert paper_kernels(2, s) == (Gaussian(s), Linear())
    five = tuple(Gaussian(f * s) for f in (0.25, 0.5, 1.0, 2.0, 4.0))
    assert paper_kernels(6, s) == (*five, Linear())
    assert polynomial_kernels(3) == (Polynomial(1), Polynomial(2), Polynomial(3))
    a = sample(4, 2, seed=22)
    for degree, kernel in enumerate(polynomial_kernels(5), start=1):
        np.testing.assert_allclose(kernel.tile(a, a), (a @ a.T) ** degree, rtol=1e-13)


def test_default_set():
    factors = (0.125, 0.5, 2.0)
    expected = (
        *(Gaussian(2.0 * f) for f in factors),
        *(Laplace(3.0 * f) for f in factors),
        Linear(),
    )
    assert default_kernels(2.0, 3.0) == expected


# -- input validation --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "`bandwidth` must be a positive finite number, got 0.0."),
        (lambda: Laplace(-1), "`bandwidth` must be a positive finite number, got -1."),
        (lambda: Matern(math.inf), "`bandwidth` must be a positive finite number, got inf."),
        (lambda: IMQ("1"), "`bandwidth` must be a positive finite number, got '1'."),
        (lambda: Gaussian(1e-200), "`bandwidth` must be between 1e-150 and 1e150"),
        (lambda: IMQ(1.0, 0.5), "`exponent` must be a negative finite number, got 0.5."),
        (lambda: IMQ(1.0, -math.inf), "`exponent` must be a negative finite number, got -inf."),
        (lambda: Matern(1.0, nu=1.0), "`nu` must be 0.5, 1.5 or 2.5, got 1.0."),
        (lambda: Polynomial(0), "`degree` must be an integer ≥ 1, got 0."),
        (lambda: Polynomial(1.5), "`degree` must be an integer ≥ 1, got 1.5."),
        (lambda: Polynomial(True), "`degree` must be an integer ≥ 1, got True."),
        (lambda: Polynomial(2, -1.0), "`offset` must be a finite number ≥ 0, got -1.0."),
        (lambda: -2.0 * Linear(), "must be a positive finite number, got -2.0. `Combination("),
        (lambda: Linear() * 0, "must be a positive finite number, got 0. `Combination("),
        (lambda: math.nan * Linear(), "must be a positive finite number, got nan."),
        (lambda: 1j * Linear(), "must be a positive finite number, got 1j."),
        (lambda: 1e200 * (1e200 * Linear()), "must be a positive finite number, got inf."),
        (lambda: Linear() + 1.0, "must have the methods `aligned` and `tile`, or be a function"),
        (lambda: as_kernel("gaussian"), "or be a function of two arrays, got 'gaussian'."),
        (lambda: as_kernel(Gaussian), "got the class Gaussian. Call it: `Gaussian(...)`."),
        (lambda: Sum(()), "`kernels` must be a tuple of one or more kernels, got ()."),
        (lambda: Combination(Linear(), (1.0,)), "`kernels` must be a tuple of one or more"),
        (lambda: Combination((Linear(),), (1.0, 2.0)), "got 2 weights and 1 kernels."),
        (lambda: Combination((Linear(),), (math.nan,)), "`weights` must be finite numbers"),
        (lambda: Combination((Linear(),), None), "`weights` must be a tuple of numbers, got None."),
        (lambda: paper_kernels(3, 1.0), "`d` must be 1, 2 or 6, the sizes in the paper, got 3."),
        (lambda: polynomial_kernels(0), "`d` must be an integer ≥ 1, got 0."),
        (lambda: gaussian_grid(0.0), "`bandwidth` must be a positive finite number, got 0.0."),
        (lambda: median_bandwidth(np.ones((5, 2))), "got points that all coincide"),
        (lambda: median_bandwidth(np.ones((1, 2))), "`rows` must have at least 2 rows, got 1."),
        (lambda: median_bandwidth([[0.0], [math.nan]]), "`rows` must be finite, got nan"),
        (lambda: median_bandwidth([[0.0], [1e200]]), "`rows` must be below about 1e150"),
        (lambda: median_bandwidth(np.eye(3), base="dot"), "`base` must be one of 'sq', 'l1', got"),
        (lambda: tile_base("cos", np.eye(2), np.eye(2)), "`base` must be one of 'sq', 'l1', 'dot'"),
        (lambda: aligned_base("cos", np.eye(2), np.eye(2)), "`base` must be one of"),
    ],
)
def test_message_iv(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), as_kernel(cosine)], ids=repr)
def test_rows_iv(kernel):
    with pytest.raises(InputError, match="same number of columns, got 2 and 3"):
        kernel.tile(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(InputError, match="got 3 dimensions"):
        kernel.tile(np.ones((4, 2, 2)), np.ones((4, 2)))
    with pytest.raises(InputError, match="`a` must hold real numbers"):
        kernel.tile(np.array([["x"]]), np.ones((1, 1)))


def test_aligned_rows_iv():
    with pytest.raises(InputError, match=r"got shapes \(4, 2\) and \(3, 2\)"):
        Gaussian(1.0).aligned(np.ones((4, 2)), np.ones((3, 2)))
    with pytest.raises(InputError, match=r"got shapes \(4, 2\) and \(3, 2\)"):
        as_kernel(cosine).aligned(np.ones((4, 2)), np.ones((3, 2)))


def test_function_of_the_wrong_shape_iv():
    def total(a, b):
        return (a * b).sum()

    with pytest.raises(InputError, match=r"`total` must map .* got \(\)\. Reduce over the last"):
        as_kernel(total).tile(np.eye(2), np.eye(2))


def test_import_leaves_scipy_spatial_out():
    code = "import sys, nosplit.kernels; sys.exit('scipy.spatial' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
