"""Two-sample units: values, moments and draws against plain NumPy, for every pairing and kernel.

Errors are measured on the scale of the standard deviations of the values: 1e-13·σ_uσ_v.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from _reference import (
    averaged_second_moment,
    differences,
    kernel_matrices,
    observed_weights,
    pair_values,
    pairs_of,
    unit_rows,
)
from nosplit import NosplitWarning, two_sample_test
from nosplit.families.two_sample import Paired, two_sample_units
from nosplit.families.unequal import Grouped
from nosplit.kernels import (
    IMQ,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    as_kernel,
    gaussian_grid,
    laplace_grid,
)
from nosplit.kernels.bank import Bank
from nosplit.pairs.dealing import Natural, Permuted
from nosplit.pairs.loop import accumulate, accumulate_draws
from nosplit.pairs.pairing import Blocks, as_pairing

FAMILIES = {
    "gaussian": [Gaussian(0.6), Gaussian(1.7)],
    "gaussian grid": list(gaussian_grid(1.3)),
    "laplace": [Laplace(0.9), Laplace(2.3)],
    "laplace grid": list(laplace_grid(2.0)),
    "imq": [IMQ(0.8), IMQ(1.1, -0.3), IMQ(0.9, -2.0)],
    "matern": [Matern(1.1, 0.5), Matern(0.9, 1.5), Matern(1.4, 2.5)],
    "linear": [Linear()],
    "polynomial": [Polynomial(1), Polynomial(2), Polynomial(3, 1.0), Polynomial(4, 0.5)],
    "sum": [Gaussian(1.0) + Linear(), Gaussian(0.5) + Laplace(1.0)],
    "one of each": [Linear(), Laplace(1.5), Gaussian(1.0), IMQ(1.0), Matern(1.0), Polynomial(2)],
}
PAIRS = ["linear", "adjacent", 1, 3, 7, Blocks(10), "complete"]
every_family = pytest.mark.parametrize("family", FAMILIES)
every_pairing = pytest.mark.parametrize("pairs", PAIRS, ids=str)


def samples(n, m, p, seed=0):
    rng = np.random.default_rng([seed, n, m, p])
    return rng.normal(size=(n, p)), 1.2 * rng.normal(size=(m, p)) + 0.2


@cache
def exact_values(family, n, m, p, pairing):
    """Values of all pairs in extended precision, with the observed weights."""
    index = pairs_of(pairing, min(n, m))
    return pair_values(matrices(family, n, m, p), observed_weights(n, m), index)


@cache
def matrices(family, n, m, p):
    return kernel_matrices(FAMILIES[family], *samples(n, m, p))


def units_of(x, y, kernels, order=Natural):
    return two_sample_units(x, y, order(), order(), Bank(tuple(kernels)))


def by_jobs(units, pairing, size):
    """Values of all pairs, from jobs of about the given size."""
    columns = []
    for job in pairing.jobs(units.n_units, size):
        h = units.values(job)
        if h.ndim == 3:
            rows, cols = np.indices(h.shape[1:]).reshape(2, -1)
            keep = (job.a != job.b) | (rows < cols)
            h = h[:, rows[keep], cols[keep]]
        assert h.shape == (len(units.bank), job.n_pairs)
        columns.append(h)
    return np.concatenate(columns, axis=1)


# Values and moments -------------------------------------------------------------------------------


@every_family
@every_pairing
def test_equal_sizes_against_numpy(family, pairs):
    kernels, pairing = FAMILIES[family], as_pairing(pairs)
    for n, p in ((37, 1), (60, 3)):
        units = units_of(*samples(n, n, p), kernels)
        assert isinstance(units, Paired)
        values = exact_values(family, n, n, p, pairing)
        assert max(differences(accumulate(units, pairing), values)) < 1e-13


@every_family
@every_pairing
@pytest.mark.parametrize(("n", "m"), [(40, 25), (17, 34), (16, 40)])
def test_unequal_sizes_against_numpy(family, pairs, n, m):
    kernels, pairing = FAMILIES[family], as_pairing(pairs)
    units = units_of(*samples(n, m, 2), kernels)
    assert isinstance(units, Grouped)
    values = exact_values(family, n, m, 2, pairing)
    assert max(differences(accumulate(units, pairing), values)) < 1e-11


@pytest.mark.parametrize(("n", "m"), [(250, 15), (15, 250), (33, 100), (31, 32)])
def test_very_unequal_sizes_against_numpy(n, m):
    """More than 16 rows to a unit are left out: 250 against 15 uses 240 of them."""
    units = units_of(*samples(n, m, 3), FAMILIES["one of each"])
    used = sum(len(a) + len(b) for a, b in unit_rows(n, m))
    assert round(units.rows_per_unit * units.n_units) == used
    for pairs in PAIRS:
        pairing = as_pairing(pairs)
        values = exact_values("one of each", n, m, 3, pairing)
        assert max(differences(accumulate(units, pairing), values)) < 1e-11


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(101, 101), (50, 101)])
def test_values_do_not_depend_on_the_size_of_jobs(pairs, n, m):
    """The same pairs in another order: sorted by value, they agree to rounding."""
    kernels, pairing = FAMILIES["one of each"], as_pairing(pairs)
    units = units_of(*samples(n, m, 3), kernels)
    whole = np.sort(by_jobs(units, pairing, 10**6), axis=1)
    scale = whole.std(axis=1, keepdims=True)
    for size in (1, 13, 64, 300):
        part = np.sort(by_jobs(units, pairing, size), axis=1)
        assert np.max(np.abs(part - whole) / scale) < 1e-12


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(500, 500), (150, 230)])
def test_workers_make_no_difference(pairs, n, m):
    kernels, pairing = FAMILIES["one of each"], as_pairing(pairs)
    units = units_of(*samples(n, m, 2), kernels)
    one, two = (accumulate(units, pairing, workers=w) for w in (1, 2))
    assert one.n == two.n == pairing.n_pairs(units.n_units)
    sd = np.sqrt(np.diagonal(one.cov))
    assert np.max(np.abs(one.mean - two.mean) / sd) < 1e-13
    assert np.max(np.abs(one.cov - two.cov) / np.outer(sd, sd)) < 1e-13


@every_family
def test_wide_data_against_numpy(family):
    """From 32 columns on, tiles are matrix products; scaled so that kernels are not all 0."""
    kernels = FAMILIES[family]
    for n, m in ((30, 30), (20, 33)):
        x, y = (sample / np.sqrt(40) for sample in samples(n, m, 40))
        K = kernel_matrices(kernels, x, y)
        for pairs in ("linear", 3, Blocks(10), "complete"):
            pairing = as_pairing(pairs)
            index = pairs_of(pairing, min(n, m))
            values = pair_values(K, observed_weights(n, m), index)
            moments = accumulate(units_of(x, y, kernels), pairing)
            assert max(differences(moments, values)) < (1e-13 if n == m else 1e-11)


def test_wide_data_with_close_rows_against_numpy():
    """Distances far below the length of rows: where the matrix product cancels, it is mended."""
    x, y = (1e-4 * s + 1.0 for s in samples(40, 40, 64))
    kernels = [Gaussian(1e-3), Laplace(1e-2), IMQ(1e-3)]
    pairing = as_pairing("complete")
    K = kernel_matrices(kernels, x, y)
    values = pair_values(K, observed_weights(40, 40), pairs_of(pairing, 40))
    # The rows' own rounding, eps · 1/1e-4, is in the input, and the same for both.
    assert max(differences(accumulate(units_of(x, y, kernels), pairing), values)) < 1e-11


def test_wide_data_with_copies_of_rows():
    """Distances of exactly 0 stay exactly 0: a kernel of a row with itself is 1."""
    x, _ = samples(40, 40, 64)
    units = units_of(x, x, [Gaussian(8.0), Matern(8.0)])
    assert np.all(units.values(next(as_pairing("complete").jobs(40, 10**6))) == 0.0)


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(60, 60), (30, 50)])
def test_generic_kernels_are_the_same_as_built_in_ones(pairs, n, m):
    """A user's function, a sum and a product of kernels, against what the loops compute."""
    pairing = as_pairing(pairs)
    x, y = samples(n, m, 3)

    def gaussian(a, b):
        return np.exp(-0.5 * np.sum((a - b) ** 2, axis=-1))

    native = [Gaussian(1.0), Gaussian(np.sqrt(0.5)), Polynomial(2), Laplace(2.0)]
    generic = [as_kernel(gaussian), Gaussian(1.0) * Gaussian(1.0), Linear() * Linear()]
    generic.append(1.0 * Laplace(2.0))
    a, b = (accumulate(units_of(x, y, k), pairing) for k in (native, generic))
    sd = np.sqrt(np.diagonal(a.cov))
    assert np.max(np.abs(a.mean - b.mean) / sd) < 1e-12
    assert np.max(np.abs(a.cov - b.cov) / np.outer(sd, sd)) < 1e-12


@pytest.mark.parametrize("pairs", ["linear", 3, "complete"])
@pytest.mark.parametrize(("n", "m"), [(200, 200), (100, 150)])
@pytest.mark.parametrize("p", [2, 40])
def test_float32_against_float64(pairs, n, m, p):
    """Distances in float32 are good to about 1e-6; the input is the same, so nothing else is."""
    kernels = [Gaussian(np.sqrt(p)), Laplace(p), IMQ(1.0), Matern(2.0), Linear(), Polynomial(2)]
    x, y = (s.astype(np.float32) for s in samples(n, m, p))
    pairing = as_pairing(pairs)
    small = accumulate(units_of(x, y, kernels), pairing)
    large = accumulate(units_of(x.astype(float), y.astype(float), kernels), pairing)
    assert small.mean.dtype == small.scatter.dtype == np.float64
    sd = np.sqrt(np.diagonal(large.cov))
    assert np.max(np.abs(small.mean - large.mean) / sd) < 2e-6
    assert np.max(np.abs(small.cov - large.cov) / np.outer(sd, sd)) < 1e-5


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(100, 100), (40, 70)])
@pytest.mark.parametrize("p", [2, 40])
def test_offset_changes_nothing(pairs, n, m, p):
    """Data at 1e6 from the origin, where both samples are on a grid that survives the move."""
    kernels = [*gaussian_grid(np.sqrt(p)), *laplace_grid(p), Linear(), IMQ(1.0), Matern(2.0)]
    x, y = (np.round(s * 2**20) / 2**20 for s in samples(n, m, p))
    pairing = as_pairing(pairs)
    near, far = (accumulate(units_of(x + c, y + c, kernels), pairing) for c in (0.0, 2.0**20))
    sd = np.sqrt(np.diagonal(near.cov))
    assert np.max(np.abs(near.mean - far.mean) / sd) < 1e-9
    assert np.max(np.abs(near.cov - far.cov) / np.outer(sd, sd)) < 1e-9


def test_orders_say_which_rows_are_in_a_unit():
    rng = np.random.default_rng(0)
    kernels = tuple(FAMILIES["one of each"])
    for n, m in ((40, 40), (25, 60), (60, 25)):
        x, y = samples(n, m, 2)
        i, j = rng.permutation(n), rng.permutation(m)
        dealt = two_sample_units(x, y, Permuted(i), Permuted(j), Bank(kernels))
        plain = two_sample_units(x[i], y[j], Natural(), Natural(), Bank(kernels))
        for pairs in PAIRS:
            a, b = (accumulate(u, as_pairing(pairs)) for u in (dealt, plain))
            assert np.array_equal(a.mean, b.mean)
            assert np.array_equal(a.scatter, b.scatter)


@pytest.mark.parametrize(("n", "m"), [(41, 41), (41, 90), (90, 41)])
def test_parts_are_units_of_their_own(n, m):
    kernels = FAMILIES["one of each"]
    x, y = samples(n, m, 2)
    whole, rows = units_of(x, y, kernels), unit_rows(n, m)
    part = whole.part(range(12, 36))
    assert part.n_units == 24
    weights = observed_weights(n, m)[12:36]
    for pairs in PAIRS:
        pairing = as_pairing(pairs)
        values = pair_values(matrices("one of each", n, m, 2), weights, pairs_of(pairing, 24))
        assert max(differences(accumulate(part, pairing), values)) < 1e-11
    for unit in (0, 5, 23):
        own_x, own_y = rows[12 + unit]
        expected = np.concatenate([x[list(own_x)], y[list(own_y)]])
        got = part.rows(unit)
        assert sorted(map(tuple, got)) == sorted(map(tuple, expected))
    assert replace(part, bank=Bank((Linear(),))).n_units == 24


# Draws --------------------------------------------------------------------------------------------


@every_pairing
@pytest.mark.parametrize("n", [37, 150])
def test_sign_flips_against_numpy(pairs, n):
    kernels, pairing = FAMILIES["one of each"], as_pairing(pairs)
    units, index = units_of(*samples(n, n, 2), kernels), pairs_of(pairing, n)
    K = matrices("one of each", n, n, 2).astype(float)
    h = pair_values(K, observed_weights(n, n), index)
    draws = units.draws(50, np.random.default_rng(1))
    signs = draws.signs.columns(range(n))
    assert signs.shape == (51, n)
    assert np.all(signs[0] == 1.0)
    assert np.all(np.abs(signs) == 1.0)
    part = accumulate_draws(units, pairing, draws)
    expected = (signs[:, index[:, 0]] * signs[:, index[:, 1]]) @ h.T
    scale = np.sqrt((h**2).sum(axis=1))
    # Values of a tile are rounded to whole steps, so that sums of them are exact in float32.
    assert np.max(np.abs(part.sums - expected) / scale) < 3e-4
    assert max(differences(part.moments, h)) < 1e-12
    np.testing.assert_allclose(part.second, h @ h.T, rtol=0, atol=1e-12 * scale.max() ** 2)


def labelled_weights(places, n, m):
    """Weights (F, N, n + m) when the lone row of each unit is the given one of its rows.

    Rows are counted from the one of the smaller sample, then those of the larger one.
    """
    out = np.zeros((len(places), min(n, m), n + m))
    for unit, (x, y) in enumerate(unit_rows(n, m)):
        rows = [*x, *(n + j for j in y)] if n < m else [*(n + j for j in y), *x]
        out[:, unit, rows] = -1 / (len(rows) - 1)
        out[np.arange(len(places)), unit, np.array(rows)[places[:, unit]]] = 1.0
    return out


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(40, 25), (25, 40), (16, 30), (30, 60), (100, 23), (15, 250)])
def test_label_permutations_against_numpy(pairs, n, m):
    kernels, pairing, N = FAMILIES["one of each"], as_pairing(pairs), min(n, m)
    units, index = units_of(*samples(n, m, 2), kernels), pairs_of(pairing, N)
    draws = units.draws(12, np.random.default_rng(1))
    places = draws.columns(range(N))
    assert places.shape == (13, N)
    assert np.all(places[0] == 0)
    counts = np.array([len(a) + len(b) for a, b in unit_rows(n, m)])
    assert np.all(places < counts)
    part = accumulate_draws(units, pairing, draws)
    weights = labelled_weights(places, n, m)
    K = matrices("one of each", n, m, 2).astype(float)
    values = [pair_values(K, w, index) for w in weights]
    scale = np.sqrt((values[0] ** 2).sum(axis=1))
    expected = np.array([h.sum(axis=1) for h in values])
    assert np.max(np.abs(part.sums - expected) / scale) < 1e-10
    assert max(differences(part.moments, values[0])) < 1e-11
    if len(index) < 200:
        second = averaged_second_moment(K, n, m, index)
        sd = np.sqrt(np.diagonal(second))
        assert np.max(np.abs(part.second / len(index) - second) / np.outer(sd, sd)) < 1e-11


def test_average_over_labellings_against_enumeration():
    """Σ̄ in closed form is the mean of hh' over all labellings of two units of 3 and 4 rows."""
    kernels, (n, m) = FAMILIES["one of each"], (2, 5)
    x, y = samples(n, m, 2)
    places = np.array([(i, j) for i in range(3) for j in range(4)])
    weights = labelled_weights(places, n, m)
    index = np.array([[0, 1]])
    K = kernel_matrices(kernels, x, y)
    h = np.array([pair_values(K, w, index)[:, 0] for w in weights]).astype(float)
    draws = units_of(x, y, kernels).draws(999, np.random.default_rng(0))
    part = accumulate_draws(units_of(x, y, kernels), as_pairing("complete"), draws)
    assert draws.exhaustive
    np.testing.assert_allclose(part.second, h.T @ h / 12, rtol=1e-10)
    np.testing.assert_allclose(np.sort(part.sums, axis=0), np.sort(h, axis=0), rtol=1e-10)


@every_pairing
@pytest.mark.parametrize(("n", "m"), [(300, 300), (100, 170)])
def test_draws_do_not_depend_on_workers_or_parts(pairs, n, m):
    """One set of draws serves both parts of a split: each part has its own columns."""
    kernels, pairing = FAMILIES["one of each"], as_pairing(pairs)
    units = units_of(*samples(n, m, 2), kernels)
    draws = units.draws(30, np.random.default_rng(0))
    one, two = (accumulate_draws(units, pairing, draws, workers=w) for w in (1, 2))
    scale = np.sqrt(np.diagonal(one.second))
    assert np.max(np.abs(one.sums - two.sums) / scale) < 1e-12
    cut = units.n_units // 3
    for part in (range(cut), range(cut, units.n_units)):
        own = draws.of(part)
        source = draws.signs if isinstance(units, Paired) else draws
        own_source = own.signs if isinstance(units, Paired) else own
        all_columns = source.columns(range(units.n_units))
        assert np.array_equal(
            own_source.columns(range(len(part))), all_columns[:, part.start : part.stop]
        )
        done = accumulate_draws(units.part(part), pairing, own)
        again = accumulate(units.part(part), pairing)
        np.testing.assert_allclose(done.moments.mean, again.mean, rtol=1e-9, atol=1e-13)
        size = np.sqrt(np.diagonal(done.second))
        assert np.max(np.abs(done.sums[0] - again.n * again.mean) / size) < 3e-4


# The paper ----------------------------------------------------------------------------------------


def appendix_d(x, y, kernels):
    """Appendix D of the paper, transcribed: z_i = (x_i, x_{n+i}, y_i, y_{n+i})."""
    n = len(x) // 2
    h = np.empty((len(kernels), n))
    for u, k in enumerate(kernels):
        for i in range(n):
            a, b, c, d = x[i], x[n + i], y[i], y[n + i]
            h[u, i] = k(a, b) + k(c, d) - k(a, d) - k(c, b)
    tau = np.sqrt(n) * h.mean(axis=1)
    cov = h @ h.T / n - np.outer(h.mean(axis=1), h.mean(axis=1))
    return tau, cov


@pytest.mark.parametrize(("n", "p"), [(40, 1), (101, 2), (200, 10)])
def test_paper_mode_against_paper(n, p):
    x, y = samples(n, n, p)
    bandwidths = np.sqrt(p) * np.array([0.25, 0.5, 1.0, 2.0, 4.0])
    plain = [lambda a, b, s=s: np.exp(-((a - b) @ (a - b)) / (2 * s**2)) for s in bandwidths]
    tau, cov = appendix_d(x, y, [*plain, lambda a, b: a @ b])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        res = two_sample_test(
            x,
            y,
            kernels=[*(Gaussian(s) for s in bandwidths), Linear()],
            method="ost",
            pairs="linear",
            calibration="asymptotic",
            shuffle=False,
        )
    sd = np.sqrt(np.diagonal(cov))
    assert np.max(np.abs(res.tau - tau) / sd) < 1e-12
    assert np.max(np.abs(res.cov - cov) / np.outer(sd, sd)) < 1e-12
    assert res.n_pairs == n // 2
    assert (res.method, res.pairs, res.calibration) == ("ost", "linear", "asymptotic")
