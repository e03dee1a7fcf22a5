"""The paper's estimates: values and moments of pairs, and closed forms, against plain NumPy.

Errors are measured on the scale of the standard deviations of the values: 1e-13·σ_uσ_v.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.special import log_ndtr

from _reference import differences, kernel_matrices, pair_values, pairs_of
from nosplit import two_sample_test
from nosplit.core.order import Natural, Permuted
from nosplit.core.pairings import Blocks, Complete, LinearPairs, Sketch, Window, as_pairing
from nosplit.errors import (
    DependentRowsWarning,
    DroppedKernelWarning,
    InputError,
    NearCopyWarning,
    NosplitWarning,
    NotATestWarning,
    UnsafeAsymptoticsWarning,
)
from nosplit.families.paired import Paired, estimate_pairs
from nosplit.kernels import (
    IMQ,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    as_kernel,
    default_kernels,
    gaussian_grid,
    laplace_grid,
)
from nosplit.kernels.bank import Bank
from nosplit.methods import OST, Best, ChiBar, Naive, Nonnegative, Split, Wald

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


def samples(n, p, seed=0):
    rng = np.random.default_rng([seed, n, p])
    return rng.normal(size=(n, p)), 1.2 * rng.normal(size=(n, p)) + 0.2


@cache
def exact_values(family, n, p, pairing):
    """Values of all pairs in extended precision."""
    return pair_values(matrices(family, n, p), pairs_of(pairing, n))


@cache
def matrices(family, n, p):
    return kernel_matrices(FAMILIES[family], *samples(n, p))


def units_of(x, y, kernels, x_order=None, y_order=None):
    orders = x_order or Natural(), y_order or Natural()
    return Paired(x, y, *orders, Bank(tuple(kernels)), range(len(x)))


def total_of(x, y, kernels, pairing, workers=1):
    return units_of(x, y, kernels).total(pairing, workers)


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
def test_moments_against_numpy(family, pairs):
    kernels, pairing = FAMILIES[family], as_pairing(pairs)
    for n, p in ((37, 1), (60, 3)):
        moments = total_of(*samples(n, p), kernels, pairing)
        assert max(differences(moments, exact_values(family, n, p, pairing))) < 1e-13


@every_family
@pytest.mark.parametrize("pairs", ["linear", 3, Blocks(300), "complete"], ids=str)
def test_several_jobs_and_tiles_against_numpy(family, pairs, monkeypatch):
    """700 units in jobs of 4,096 pairs: tiles of 87 units, and several jobs of every pairing."""
    monkeypatch.setattr("nosplit.families.paired.PAIRS", 4096)
    monkeypatch.setattr("nosplit.families.paired.FOLDED_PAIRS", 100)
    kernels, pairing, n = FAMILIES[family], as_pairing(pairs), 700
    moments = total_of(*samples(n, 2), kernels, pairing)
    x, y = (s.astype(float) for s in samples(n, 2))
    values = exact_values(family, n, 2, pairing)
    assert max(differences(moments, values)) < 1e-12
    units = units_of(x, y, kernels)
    got = np.sort(by_jobs(units, pairing, 4096), axis=1)
    scale = got.std(axis=1, keepdims=True)
    assert np.max(np.abs(got - np.sort(values, axis=1)) / scale) < 1e-11


@every_pairing
def test_values_do_not_depend_on_the_size_of_jobs(pairs):
    """The same pairs in another order: sorted by value, they agree to rounding."""
    pairing, units = as_pairing(pairs), units_of(*samples(101, 3), FAMILIES["one of each"])
    whole = np.sort(by_jobs(units, pairing, 10**6), axis=1)
    scale = whole.std(axis=1, keepdims=True)
    for size in (1, 13, 64, 300):
        part = np.sort(by_jobs(units, pairing, size), axis=1)
        assert np.max(np.abs(part - whole) / scale) < 1e-12


@every_family
def test_wide_data_against_numpy(family):
    """From 32 columns on, tiles are matrix products; scaled so that kernels are not all 0."""
    x, y = (sample / np.sqrt(40) for sample in samples(30, 40))
    K = kernel_matrices(FAMILIES[family], x, y)
    for pairs in ("linear", 3, Blocks(10), "complete"):
        pairing = as_pairing(pairs)
        values = pair_values(K, pairs_of(pairing, 30))
        assert max(differences(total_of(x, y, FAMILIES[family], pairing), values)) < 1e-13


def test_wide_data_with_close_rows_against_numpy():
    """Distances far below the length of rows: where the matrix product cancels, it is mended."""
    x, y = (1e-4 * s + 1.0 for s in samples(40, 64))
    kernels = [Gaussian(1e-3), Laplace(1e-2), IMQ(1e-3)]
    values = pair_values(kernel_matrices(kernels, x, y), pairs_of(Complete(), 40))
    # The rows' own rounding, eps · 1/1e-4, is in the input, and the same for both.
    assert max(differences(total_of(x, y, kernels, Complete()), values)) < 1e-11


def test_wide_data_with_copies_of_rows():
    """Distances of exactly 0 stay exactly 0: a kernel of a row with itself is 1."""
    x, _ = samples(40, 64)
    units = units_of(x, x, [Gaussian(8.0), Matern(8.0)])
    assert np.all(units.values(next(Complete().jobs(40, 10**6))) == 0.0)


@every_pairing
def test_generic_kernels_are_the_same_as_built_in_ones(pairs):
    """A user's function, a sum and a product of kernels, against what the loops compute."""
    x, y = samples(60, 3)

    def gaussian(a, b):
        return np.exp(-0.5 * np.sum((a - b) ** 2, axis=-1))

    native = [Gaussian(1.0), Gaussian(np.sqrt(0.5)), Polynomial(2), Laplace(2.0)]
    generic = [as_kernel(gaussian), Gaussian(1.0) * Gaussian(1.0), Linear() * Linear()]
    generic.append(1.0 * Laplace(2.0))
    a, b = (total_of(x, y, kernels, as_pairing(pairs)) for kernels in (native, generic))
    sd = np.sqrt(np.diagonal(a.cov))
    assert np.max(np.abs(a.mean - b.mean) / sd) < 1e-12
    assert np.max(np.abs(a.cov - b.cov) / np.outer(sd, sd)) < 1e-12


@pytest.mark.parametrize("pairs", ["linear", 3, "complete"])
@pytest.mark.parametrize("p", [2, 40])
def test_float32_against_float64(pairs, p):
    """Distances in float32 are good to about 1e-6; the input is the same, so nothing else is."""
    kernels = [Gaussian(np.sqrt(p)), Laplace(p), IMQ(1.0), Matern(2.0), Linear(), Polynomial(2)]
    x, y = (s.astype(np.float32) for s in samples(200, p))
    small = total_of(x, y, kernels, as_pairing(pairs))
    large = total_of(x.astype(float), y.astype(float), kernels, as_pairing(pairs))
    assert small.mean.dtype == small.scatter.dtype == np.float64
    sd = np.sqrt(np.diagonal(large.cov))
    assert np.max(np.abs(small.mean - large.mean) / sd) < 2e-6
    assert np.max(np.abs(small.cov - large.cov) / np.outer(sd, sd)) < 1e-5


@every_pairing
@pytest.mark.parametrize("p", [2, 40])
def test_offset_changes_nothing(pairs, p):
    """Data at 1e6 from the origin, where both samples are on a grid that survives the move."""
    kernels = [*gaussian_grid(np.sqrt(p)), *laplace_grid(p), Linear(), IMQ(1.0), Matern(2.0)]
    x, y = (np.round(s * 2**20) / 2**20 for s in samples(100, p))
    near, far = (total_of(x + c, y + c, kernels, as_pairing(pairs)) for c in (0.0, 2.0**20))
    sd = np.sqrt(np.diagonal(near.cov))
    assert np.max(np.abs(near.mean - far.mean) / sd) < 1e-9
    assert np.max(np.abs(near.cov - far.cov) / np.outer(sd, sd)) < 1e-9


@every_pairing
def test_orders_say_which_rows_are_in_a_unit(pairs):
    rng, kernels = np.random.default_rng(0), FAMILIES["one of each"]
    x, y = samples(40, 2)
    i, j = rng.permutation(40), rng.permutation(40)
    a = units_of(x, y, kernels, Permuted(i), Permuted(j)).total(as_pairing(pairs), 1)
    b = total_of(x[i], y[j], kernels, as_pairing(pairs))
    assert np.array_equal(a.mean, b.mean)
    assert np.array_equal(a.scatter, b.scatter)


@every_pairing
def test_parts_are_units_of_their_own(pairs):
    kernels, pairing = FAMILIES["one of each"], as_pairing(pairs)
    x, y = samples(41, 2)
    part = units_of(x, y, kernels).part(range(12, 36))
    assert part.n_units == 24
    values = pair_values(matrices("one of each", 41, 2), 12 + pairs_of(pairing, 24))
    assert max(differences(part.total(pairing, 1), values)) < 1e-11
    assert np.array_equal(part.rows((0, 5)), [x[12], y[12], x[17], y[17]])


# Estimates ----------------------------------------------------------------------------------------

SOME = [Gaussian(0.7), Gaussian(1.5), Linear()]


def estimate(x, y, pairing, method, rng=None, kernels=SOME, **options):
    return estimate_pairs(x, y, kernels, pairing, method, rng, **options)


@pytest.mark.parametrize("pairing", [LinearPairs(), Window(2), Blocks(4)], ids=repr)
@pytest.mark.parametrize("method", [OST(), Nonnegative(), Wald(), Best(), ChiBar()], ids=repr)
def test_estimates_against_numpy(pairing, method):
    """τ = √m · mean(h) and the covariance of h with divisor m, in the order of the rows."""
    x, y = samples(150, 2)
    found = estimate(x, y, pairing, method)
    h = pair_values(kernel_matrices(SOME, x, y), pairs_of(pairing, 150)).astype(float)
    assert found.n_pairs == h.shape[1]
    np.testing.assert_allclose(found.tau, np.sqrt(found.n_pairs) * h.mean(axis=1), rtol=1e-11)
    np.testing.assert_allclose(found.cov, np.cov(h, bias=True), rtol=1e-11)
    again = method(found.tau, found.cov)
    assert found.selection.log_pvalue == again.log_pvalue
    assert (found.n_units, found.kernels) == (150, tuple(SOME))


def test_best_of_one_kernel_is_a_normal_test_against_theory():
    found = estimate(*samples(400, 2), Window(2), Best(), kernels=Gaussian(1.0))
    z = found.tau[0] / np.sqrt(found.cov[0, 0])
    assert found.selection.log_pvalue == pytest.approx(log_ndtr(-z), rel=1e-12)


@pytest.mark.parametrize("pairing", [LinearPairs(), Window(3), Blocks(20)], ids=repr)
@pytest.mark.parametrize("inner", [OST(), Best()], ids=repr)
def test_splits_learn_on_the_first_units_against_numpy(pairing, inner):
    x, y = samples(300, 2)
    method = Split(0.4, inner)
    found = estimate(x, y, pairing, method)
    K, d = kernel_matrices(SOME, x, y), len(SOME)
    first = pair_values(K, pairs_of(pairing, 120)).astype(float)
    rest = pair_values(K, 120 + pairs_of(pairing, 180)).astype(float)
    tau = [np.sqrt(h.shape[1]) * h.mean(axis=1) for h in (first, rest)]
    cov = np.cov(np.concatenate([first, rest], axis=1), bias=True)
    expected = method(np.array(tau), cov)
    assert found.tau.shape == (d,)
    assert found.n_pairs == first.shape[1] + rest.shape[1]
    assert found.selection.log_pvalue == pytest.approx(float(expected.log_pvalue), rel=1e-9)


@pytest.mark.parametrize("pairing", [LinearPairs(), Window(5), Blocks(64)], ids=repr)
def test_workers_give_the_same_bits(pairing, monkeypatch):
    monkeypatch.setattr("nosplit.families.paired.PAIRS", 500)
    monkeypatch.setattr("nosplit.families.paired.FOLDED_PAIRS", 100)
    x, y = samples(701, 2)
    one, three = (
        estimate(x, y, pairing, OST(), np.random.default_rng(1), workers=w) for w in (1, 3)
    )
    assert np.array_equal(one.tau, three.tau)
    assert np.array_equal(one.cov, three.cov)


def test_rows_are_shuffled_by_the_generator_and_pairs_alike():
    """Pairs that share a large part: their differences are the same in any order."""
    rng = np.random.default_rng(0)
    shared = np.sort(10.0 * rng.normal(size=(300, 1)), axis=0)
    x, y = (shared + 0.1 * rng.normal(size=(300, 1)) for _ in range(2))
    kept, again = (estimate(x, y, LinearPairs(), OST(), kernels=Linear()) for _ in range(2))
    apart = estimate(x, y, LinearPairs(), OST(), np.random.default_rng(1), kernels=Linear())
    alike = estimate(
        x, y, LinearPairs(), OST(), np.random.default_rng(1), kernels=Linear(), paired=True
    )
    assert np.array_equal(kept.tau, again.tau)
    assert kept.cov < 1e-2 < 1e2 < apart.cov
    assert alike.cov < 1e-2
    assert not np.array_equal(kept.tau, alike.tau)


def test_samples_of_different_sizes_iv():
    x, y = samples(60, 2)
    for pairing in (LinearPairs(), Window(1), Blocks(8)):
        with pytest.raises(InputError, match=r"`pairs` .* same size, got 60 and 59 rows. Use all"):
            estimate(x, y[1:], pairing, OST())


@pytest.mark.parametrize("pairing", [Complete(), Sketch()], ids=repr)
def test_all_pairs_have_no_closed_form_iv(pairing):
    with pytest.raises(InputError, match=r'no normal limit.*calibration="exact"'):
        estimate(*samples(60, 2), pairing, OST())


@pytest.mark.parametrize("pairing", [LinearPairs(), Window(2), Blocks(8)], ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), as_kernel(lambda a, b: a[..., 0] * b[..., 0])])
def test_rows_that_are_not_finite_iv(pairing, kernel):
    x, y = samples(60, 2)
    y[7, 1] = np.nan
    with pytest.raises(InputError, match=r"`y` must be finite, got nan at index \(7, 1\)"):
        estimate(x, y, pairing, OST(), kernels=[kernel])


def kinds(found):
    return [category for category, _ in found.caveats]


def test_caveats_iv():
    """Results stand as asked for: a caveat never changes the method or the p-value."""
    x, y = samples(60, 1)
    few = estimate(x, y, LinearPairs(), OST())
    assert kinds(few) == [UnsafeAsymptoticsWarning]
    assert "30 pairs are few" in few.caveats[0][1]
    assert "use all pairs with exact calibration" in few.caveats[0][1]
    wide = estimate(*samples(400, 1), Window(30), OST())
    assert "a window of 4 is the widest that is safe" in wide.caveats[0][1]
    with pytest.raises(InputError, match="5 pairs are too few for asymptotic calibration with 3"):
        estimate(x[:10], y[:10], LinearPairs(), OST())
    naive = estimate(*samples(1000, 1), LinearPairs(), Naive())
    assert kinds(naive) == [NotATestWarning]
    small = estimate(*samples(700, 1), Window(5), Split(0.95))
    assert "part that the split tests with is small" in small.caveats[-1][1]
    copies = [Gaussian(1.0), Gaussian(1.0 + 1e-4), Linear()]
    near = estimate(*samples(900, 1), LinearPairs(), OST(), kernels=copies)
    assert kinds(near) == [NearCopyWarning]
    dead = estimate(*samples(900, 1), LinearPairs(), OST(), kernels=[Gaussian(1e-9), Linear()])
    assert kinds(dead) == [DroppedKernelWarning]


def test_samples_that_share_rows_are_too_alike():
    """All statistics are below zero: Wald's test warns; the default is OST."""
    x, _ = samples(200, 1)
    y, kernels = x[np.random.default_rng(0).permutation(200)], [Gaussian(0.05), Gaussian(0.1)]
    alike = estimate(x, y, Window(99), Wald(), kernels=kernels)
    assert np.all(alike.tau < 0)
    assert float(alike.selection.log_pvalue) < np.log(0.05)
    assert kinds(alike)[-1] is DependentRowsWarning
    default, ost = (estimate(x, y, Window(99), own, kernels=kernels) for own in (None, OST()))
    assert default.selection.log_pvalue == ost.selection.log_pvalue


def test_the_same_sample_twice():
    x, _ = samples(200, 1)
    found = estimate(x, x, Window(1), OST())
    assert float(found.selection.log_pvalue) == 0.0
    assert kinds(found) == [DroppedKernelWarning]


def test_default_kernels_come_from_pooled_rows_and_are_not_called_copies():
    x, y = samples(500, 2)
    found = estimate(x, y, LinearPairs(), None, np.random.default_rng(0), kernels=None)
    assert len(found.kernels) == len(default_kernels(1.0, 1.0))
    assert NearCopyWarning not in kinds(found)


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
    x, y = samples(n, p)
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
    sd, found = np.sqrt(np.diagonal(cov)), res.selection
    assert np.max(np.abs(found.tau - tau) / sd) < 1e-12
    assert np.max(np.abs(found.cov - cov) / np.outer(sd, sd)) < 1e-12
    assert res.how.n_pairs == n // 2
    assert (res.how.method, res.how.pairs, res.how.calibration) == ("ost", "linear", "asymptotic")
