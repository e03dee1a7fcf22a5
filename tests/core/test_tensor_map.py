"""Products under shifts against brute force and the kernel; the test of independence by them."""

import itertools

import numpy as np
import pytest
from scipy import stats

from nosplit import Exact, InputError, Sketch, independence_test
from nosplit._old.sketch.dealing import Deal, deal_of
from nosplit._old.sketch.families.independence_sums import (
    Shifts,
    ShiftSums,
    shift_statistics,
    sketch_observations,
)
from nosplit.core.feature_map import STEP
from nosplit.core.tensor_map import fit_tensor_map
from nosplit.kernels import (
    Agreement,
    Delta,
    Gaussian,
    Laplace,
    Linear,
    Mixed,
    OnColumns,
    Polynomial,
)
from nosplit.kernels.tensor import Tensor, default_tensors

MIXED = Mixed(OnColumns(Gaussian(1.0), (0,)), OnColumns(Agreement(), (1,)))
TENSORS = Tensor(Gaussian(1.0), Gaussian(0.7)), Tensor(Linear(), Linear())


def observations(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    return x, (x[:, :1] ** 2 + rng.standard_normal((n, 1)))


def map_of(x, y, tensors=TENSORS, frequencies=8, key=3):
    return fit_tensor_map(x, y, tensors, frequencies=frequencies, key=key)


def centred(rows):
    return rows - rows.mean(axis=0)


# -- numbers and sums ----------------------------------------------------------------------------


@pytest.mark.parametrize("q", [2, 5, 8])
def test_sums_against_brute_force(q):
    x, y = observations(12 * q)
    sketch = map_of(x, y)
    cells = np.array([0, 0, 1, 2, 2, 2, 1, 0, 1, 2, 1, 0])
    sums = ShiftSums.empty(sketch, 3, q)
    sums.add(sketch, x, y, cells)
    left, right = (
        a.astype(float) + 1j * b
        for a, b in (s.numbers(v) for s, v in zip(sketch.sides, (x, y), strict=True))
    )
    expected = np.zeros((3, q, sketch.n_pairs), complex)
    for t, cell in enumerate(cells):
        unit = slice(t * q, (t + 1) * q)
        for r in range(q):
            turned = centred(np.roll(right[unit], -r, axis=0))
            expected[cell, r] += np.sum(centred(left[unit]) * turned, axis=0)
    found = sums.numbers / STEP
    assert found[..., : sketch.n_pairs] == pytest.approx(expected.real, abs=1e-4)
    assert found[..., sketch.n_pairs :] == pytest.approx(expected.imag, abs=1e-4)
    # All shifts together are nothing: x is centred.
    assert found.sum(axis=1) == pytest.approx(np.zeros((3, 2 * sketch.n_pairs)), abs=1e-4)


@pytest.mark.parametrize(
    "tensor",
    [
        Tensor(Gaussian(1.0), Laplace(1.0)),
        Tensor(Linear(), Linear()),
        Tensor(Gaussian(2.0), Linear()),
        Tensor(OnColumns(Linear(), (1,)), Gaussian(1.0)),
        Tensor(MIXED, Gaussian(1.0)),
        Tensor(Delta(), Delta()),
        Tensor(0.5 * Gaussian(1.0) + Gaussian(0.3), Gaussian(1.0) + 2.0 * Gaussian(0.3)),
    ],
    ids=repr,
)
def test_inner_products_approach_the_product_kernel_against_theory(tensor):
    """⟨JKJ, JLJ⟩ of two units of five observations, at 64 times as many frequencies."""
    rng, q, T = np.random.default_rng(1), 5, 24
    x = np.column_stack([rng.standard_normal(T * q), rng.integers(0, 2, T * q)])
    y = np.column_stack([rng.integers(0, 2, T * q) + 0.1 * x[:, 0]])
    if isinstance(tensor.x, Delta):
        x, y = x[:, 1:], np.rint(y)
    J = np.eye(q) - 1.0 / q
    expected = []
    for a, b in itertools.combinations(range(T), 2):
        i, j = slice(a * q, (a + 1) * q), slice(b * q, (b + 1) * q)
        K, L = tensor.x.tile(x[i], x[j]), tensor.y.tile(y[i], y[j])
        expected.append(np.sum((J @ K @ J) * (J @ L @ J)))
    errors = []
    for frequencies in (32, 32 * 64):
        sketch = map_of(x, y, (tensor,), frequencies)
        sums = ShiftSums.empty(sketch, T, q)
        sums.add(sketch, x, y, np.arange(T))
        where, steps = sketch.features[0]
        values = sums.numbers[:, 0, where] * steps
        found = (values @ values.T)[np.triu_indices(T, 1)]
        errors.append(np.sqrt(np.mean((found - expected) ** 2)))
    assert errors[1] < 0.2 * np.std(expected)
    assert errors[1] < max(errors[0] / 3, 1e-3 * np.std(expected))


def test_a_shifted_unit_has_its_sums_shifted_exactly():
    """What makes the test exact: shifting y in a cell only renames the looks of the cell."""
    x, y = observations(64)
    sketch = map_of(x, y)
    cells = np.arange(8) // 2
    before, after = ShiftSums.empty(sketch, 4, 8), ShiftSums.empty(sketch, 4, 8)
    before.add(sketch, x, y, cells)
    after.add(sketch, x, np.roll(y.reshape(8, 8, -1), -3, axis=1).reshape(64, -1), cells)
    assert np.array_equal(after.numbers, np.roll(before.numbers, -3, axis=1))


def test_sums_are_the_same_for_all_workers_and_parts():
    x, y = observations(30_000)
    sketch = map_of(x[:500], y[:500])
    deal = Deal(30_000, 8 * 20, 180, 17)
    whole = sketch_observations(sketch, x, y, deal, 8, workers=1)
    for workers in (2, 3):
        other = sketch_observations(sketch, x, y, deal, 8, workers=workers)
        assert np.array_equal(other.numbers, whole.numbers)
    order = np.argsort(deal.places(0, deal.n))[: deal.n_dealt].reshape(-1, 8)
    parts, cells = ShiftSums.empty(sketch, 180, 8), np.repeat(np.arange(180), 20)
    for some in np.array_split(np.random.default_rng(0).permutation(len(order)), 7):
        part, rows = ShiftSums.empty(sketch, 180, 8), order[some].ravel()
        part.add(sketch, x[rows], y[rows], cells[some])
        parts += part
    assert np.array_equal(parts.numbers, whole.numbers)


# -- draws ---------------------------------------------------------------------------------------


def drawn_of(n=600, cells=30, flips=99, q=4):
    x, y = observations(n)
    deal = deal_of(n, cells, np.random.default_rng(2), fewest=q, unit=q, shuffle=True)
    pilot = deal.pilot_rows()
    sketch = map_of(x[pilot], y[pilot])
    sums = sketch_observations(sketch, x, y, deal, q)
    return sketch, sums, shift_statistics(sketch, sums, flips=flips, key=5, workers=2)


def test_statistics_against_brute_force():
    sketch, sums, drawn = drawn_of()
    C, q, _ = sums.numbers.shape
    picked = Shifts(C, q, 99, 5).shifts(0, 100)
    assert np.all(picked[0] == 0)
    for u, (where, steps) in enumerate(sketch.features):
        looks = sums.numbers[:, :, where] * steps
        totals = looks[np.arange(C), picked].sum(axis=1)
        expected = (np.sum(totals**2, axis=1) - np.sum(looks**2) / q) * q / 2
        found = drawn.tau[:, u] * np.sqrt(C * (C - 1) / 2)
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-3 * np.abs(expected).max())
        h = np.einsum("ark,bsk->arbs", looks, looks)
        pairs = [np.sum(h[a, :, b] ** 2) for a, b in itertools.combinations(range(C), 2)]
        assert drawn.cov[u, u] == pytest.approx(np.mean(pairs), rel=1e-4)


def test_covariance_is_that_of_the_draws_against_theory():
    _, _, drawn = drawn_of(2000, 200, flips=4000)
    tau = np.hstack([drawn.tau, drawn.flat_tau])
    variance = np.concatenate([np.diagonal(c) for c in (drawn.cov, drawn.flat_cov)])
    # Standard error of a standard deviation from 4,000 draws of a skewed law: below 3 %.
    assert np.all(np.abs(tau[1:].std(axis=0) / np.sqrt(variance) - 1) < 0.12)
    assert np.all(np.abs(tau[1:].mean(axis=0)) < 5 * np.sqrt(variance / 4000))


def test_one_number_has_no_flattened_copy():
    x, y = observations(400)
    sketch = map_of(x[:, :1], y, (Tensor(Linear(), Linear()), TENSORS[0]))
    sums = ShiftSums.empty(sketch, 10, 4)
    sums.add(sketch, x[:, :1], y, np.arange(100) % 10)
    drawn = shift_statistics(sketch, sums, flips=19, key=1)
    assert (drawn.tau.shape[1], drawn.flat_tau.shape[1]) == (2, 2)


# -- the test ------------------------------------------------------------------------------------


def test_a_weak_correlation_is_found_at_20_000_rows():
    for seed in range(3):
        x, y = np.random.default_rng(seed).standard_normal((2, 20_000))
        result = independence_test(x, y + 0.05 * x, rng=seed, calibration=Exact(999))
        assert (result.how.pairs, result.how.calibration) == ("sketch", "exact")
        assert result.pvalue <= 0.01


def test_result_of_a_sketch():
    x, y = observations(5000)
    options = {"calibration": Exact(999), "rng": 1}
    results = [independence_test(x, y, workers=w, **options) for w in (1, 2)]
    assert results[0].to_dict() == results[1].to_dict()
    result = results[0]
    assert result.how.pairs == "sketch"
    assert result.reject(0.01)
    assert result.how.n_used + result.how.n_left_out == 5000
    assert result.how.n_units * (result.how.n_units - 1) // 2 == result.how.n_pairs
    assert len(result.selection.kernels) == len(default_tensors(1.0, 1.0))
    assert "⊗" in str(result.selection)


@pytest.mark.parametrize("kind", ["names", "table", "own kernel", "polynomial", "given"])
def test_variables_and_kernels_of_all_kinds(kind):
    x, y = observations(2000)
    options = {"pairs": "sketch", "calibration": Exact(199)}
    if kind == "names":
        x = np.array(list("abc"))[np.digitize(x[:, 0], [-0.5, 0.5])]
    elif kind == "table":
        pd = pytest.importorskip("pandas")
        x = pd.DataFrame({"number": x[:, 1], "name": np.where(np.abs(x[:, 0]) < 1, "in", "out")})
    elif kind == "own kernel":
        options["kernels"] = [(lambda a, b: np.exp(-np.abs(a - b).sum(axis=-1)), Gaussian(1.0))]
    elif kind == "polynomial":
        options["kernels"] = [(Polynomial(2, 1.0), Polynomial(1))]
    else:
        options["kernels"] = [(Gaussian(0.5), Linear()), (Linear(), Gaussian(1.0))]
        x, y = x[:, 0], y + x[:, :1]
    result = independence_test(x, y, **options)
    assert (result.how.pairs, result.reject(0.05)) == ("sketch", True)
    assert "sketch" in str(result)


def test_many_columns():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 3000, 40))
    y[:, 7] += 0.4 * x[:, 3]
    result = independence_test(x, y, pairs="sketch", calibration=Exact(199))
    assert np.isfinite(result.selection.tau).all()


@pytest.mark.parametrize("law", ["normal", "cauchy", "sorted"])
def test_level_is_exact(law):
    """19 draws, of which the data's is the largest with probability .05; false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(7), 80, 0
    for _ in range(trials):
        x, y = rng.standard_cauchy((2, 300)) if law == "cauchy" else rng.standard_normal((2, 300))
        x = np.sort(x) if law == "sorted" else x
        options = {"calibration": Exact(19), "rng": rng, "workers": 1}
        hits += independence_test(x, y, pairs=Sketch(frequencies=4), **options).pvalue <= 0.05
    assert hits <= stats.binom.isf(1e-4, trials, 0.05)


def test_sketches_are_refused_where_they_do_not_serve_iv():
    x, y = np.random.default_rng(0).standard_normal((2, 500))

    def refuse(match, n=500, **options):
        with pytest.raises(InputError, match=match):
            independence_test(x[:n], y[:n], pairs="sketch", **options)

    refuse("needs pairs with a normal limit", calibration="asymptotic")
    refuse("needs about", n=60)
    refuse("must not be Split with a sketch", method="split")
