"""Sketches of samples: the same integers in whatever batches, by however many workers."""

from itertools import pairwise

import numpy as np
import pytest

import nosplit
from nosplit._old.sketch.bins import dependent_pairs, edge_table, fit_bins
from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.sums import CellSums, sketch_rows
from nosplit.backend.numba.sketch import bin_places
from nosplit.core.feature_map import STEP
from nosplit.errors import NonFiniteError
from nosplit.kernels import Gaussian, Laplace, Linear, Polynomial
from nosplit.kernels.recipes import as_recipe


def a_map(rows, kernels=None, categorical=()):
    return fit_map(
        rows, as_recipe(kernels), categorical=categorical, frequencies=16, cells=100, key=3
    )


@pytest.mark.parametrize("p", [1, 3, 20, 70])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_and_workers_give_the_same_integers(p, dtype):
    rng = np.random.default_rng(p)
    rows = rng.normal(size=(20_000, p)).astype(dtype)
    rows[:, 0] = rng.integers(0, 4, 20_000)
    sketch = a_map(rows[:500], categorical=(0,))
    deal = Deal(20_000, 40, 490, key=1)
    whole = sketch_rows(sketch, rows, deal, workers=1)
    parts = CellSums.empty(sketch, 490)
    cuts = [0, 1, 2, 64, 65, 1000, 9999, 10_000, 19_999, 20_000]
    for start, stop in pairwise(cuts):
        parts.add(sketch, rows[start:stop], deal.cell_of(start, stop - start))
    for other in (sketch_rows(sketch, rows, deal, workers=3), parts):
        assert np.array_equal(whole.features, other.features)
        assert np.array_equal(whole.bins, other.bins)


def test_sums_against_numpy():
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    sketch = a_map(rows[:500], [Gaussian(1.0), Laplace(2.0), Linear()])
    deal = Deal(3000, 29, 100, key=5)
    sums = sketch_rows(sketch, rows, deal)
    cells = deal.cell_of(0, 3000)
    scaled = (rows - sketch.center) / sketch.spread
    where, steps = sketch.features[2]
    means = np.array([scaled[cells == c].sum(axis=0) for c in range(100)]) * sketch.spread
    means = means[:, sketch.coordinates]
    assert sums.features[:, where] * steps == pytest.approx(means, abs=29 * 4 / STEP)
    for j, bins in enumerate(sketch.bins):
        start = sum(len(b) for b in sketch.bins[:j])
        for c in (0, 50):
            place = np.searchsorted(bins.edges, rows[cells == c, j], side="left")
            found = sums.bins[c, start : start + len(bins)]
            assert np.array_equal(found, np.bincount(place, minlength=len(bins)))


@pytest.mark.parametrize("kernels", [None, [Laplace(2.0), Linear()]])
def test_columns_give_the_sums_of_rows(kernels):
    rng = np.random.default_rng(0)
    rows, center, scale = rng.normal(size=(2100, 3)), [0.5, -1.0, 2.0], [2.0, 0.1, 1.0]
    encoded = (rows - center) / scale
    sketch, deal = a_map(encoded[:500], kernels), Deal(2100, 20, 100, key=5)
    whole = sketch_rows(sketch, encoded, deal)
    found = CellSums.empty(sketch, 100)
    for start in range(0, 2100, 700):
        part = rows[start : start + 700].T
        columns = [(np.ascontiguousarray(part[j]), center[j], scale[j]) for j in range(3)]
        found.add_columns(sketch, columns, deal.cell_of(start, 700))
    assert sketch.of_numbers
    assert np.array_equal(found.features, whole.features)
    assert np.array_equal(found.bins, whole.bins)
    columns[1][0][deal.cell_of(1400, 700).argmin()] = np.nan
    with pytest.raises(NonFiniteError):
        found.add_columns(sketch, columns, deal.cell_of(1400, 700))


@pytest.mark.parametrize("law", ["normal", "cauchy", "lognormal", "ties", "tiny", "huge", "few"])
def test_bins_are_those_of_a_search(law):
    """By equal steps, and by halves where edges are too close: for edges and their neighbours."""
    rng = np.random.default_rng(0)
    column = {
        "normal": rng.normal(size=9000),
        "cauchy": rng.standard_cauchy(9000),
        "lognormal": np.exp(3.0 * rng.normal(size=9000)),
        "ties": rng.integers(0, 90, 9000).astype(float),
        "tiny": 5e-324 * rng.integers(0, 90, 9000),
        "huge": 1e308 * rng.uniform(-1.0, 1.0, 9000),
        "few": np.repeat([1.0, 2.0], 4500),
    }[law]
    bins = fit_bins(column, categories=False, most=128)
    edges = bins.edges
    near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    values = np.concatenate([column, near, [-np.inf, np.inf, -1.7e308, 1.7e308, 0.0]])
    table = edge_table([bins])
    by_steps = {"normal", "cauchy", "ties", "few"}
    assert (table.grids[0, 1] > 0) == (law in by_steps)
    places = np.empty((1, len(values)), np.uint8)
    bin_places(values[:, None], table.edges, *table[2:], places)
    assert np.array_equal(places[0], np.searchsorted(edges, values))


def test_landmarks_stand_in_for_kernels_without_frequencies():
    rows = np.random.default_rng(0).normal(size=(900, 2))
    kernel = Polynomial(2, offset=1.0)
    sketch = a_map(rows[:300], [kernel])
    sums = sketch_rows(sketch, rows, Deal(900, 8, 100, key=5))
    where, steps = sketch.features[0]
    cells = Deal(900, 8, 100, key=5).cell_of(0, 900)
    values = kernel.tile(rows, sketch.landmarks)
    expected = np.array([values[cells == c].sum(axis=0) for c in range(100)])
    assert sums.features[:, where] * steps == pytest.approx(expected, abs=1e-4)


def test_values_that_are_not_finite_iv():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    sketch = a_map(rows)
    rows[7, 1] = np.nan
    with pytest.raises(NonFiniteError):
        sketch_rows(sketch, rows, Deal(100, 1, 100, key=5))


def test_huge_values_are_far_and_nothing_else():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    sketch = a_map(rows)
    deal = Deal(100, 1, 100, key=5)
    before = sketch_rows(sketch, rows, deal)
    rows[7, 1] = 1e300
    after = sketch_rows(sketch, rows, deal)
    cell = deal.cell_of(7, 1)[0]
    changed = np.any(before.features != after.features, axis=1)
    assert np.array_equal(np.flatnonzero(changed), [cell])


def test_bins_of_tied_values():
    column = np.repeat([0.0, 1.0, 2.5], [300, 50, 50])
    bins = fit_bins(column, categories=False, most=128)
    place = np.searchsorted(bins.edges, [0.0, 0.5, 1.0, 2.5], side="left")
    assert len(set(place)) == 4


def test_products_of_scores_against_numpy():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(900, 2)), rng.integers(0, 3, 900)])
    sketch = a_map(rows[:300], [Linear()], categorical=(2,))
    deal = Deal(900, 8, 100, key=5)
    sums, cells = sketch_rows(sketch, rows, deal), deal.cell_of(0, 900)
    assert sketch.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    scores = sketch.score_steps / np.sqrt(STEP)
    assert scores == pytest.approx(sketch.scores, abs=1e-3)
    # One pair of numbers: five twos of waves of either column, and those with categories once.
    assert sketch.twos == 5
    assert len(sketch.products) == 5 * 5 + 2
    assert sorted(map(tuple, sketch.products[3:])) == sorted(
        (3 * a, 3 * b + 1) for a in range(5) for b in range(5) if a or b
    )
    places = [np.searchsorted(own.edges, rows[:, j]) for j, own in enumerate(sketch.bins)]
    places[2] = np.minimum(places[2], len(sketch.bins[2]) - 1)
    of_rows = np.stack([scores[two][places[two % 3]] for two in range(15)])
    for f, (a, b) in enumerate(sketch.products):
        products = np.einsum("ni,nj->nij", of_rows[a], of_rows[b]).reshape(900, 4)
        expected = np.array([products[cells == c].sum(axis=0) for c in range(100)])
        first = sketch.first_product + 4 * f
        assert sums.features[:, first : first + 4] / STEP == pytest.approx(expected, abs=1e-4)


def test_pairs_of_many_columns_are_those_that_depend():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 40))
    rows[:, 31] += 2 * rows[:, 7]
    pairs = dependent_pairs(rows, 190)
    assert len(pairs) == 190
    assert [7, 31] in pairs.tolist()


def test_pilot_rows_that_are_all_alike():
    """Values so rare that no pilot row has one still get a p-value."""
    rng = np.random.default_rng(0)
    x, y = (1.0 * (rng.random((n, 1)) < 0.002) for n in (400, 3000))
    res = nosplit.two_sample_test(x, y, pairs="sketch", calibration=nosplit.Exact(99))
    assert 0 < res.pvalue <= 1
