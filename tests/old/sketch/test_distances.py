"""How far rows lie from the middle: by hand, in any order, in memory, in cells and on a device."""

import numpy as np
import pytest
from scipy import special, stats

import nosplit
from nosplit._old.sketch.columns.distances import STEPS, distances_of
from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.lenses import distance_views
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.sums import sketch_rows
from nosplit._old.sketch.units import CellUnits
from nosplit.core.feature_map import STEP
from nosplit.kernels.recipes import as_recipe

LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "discrete": lambda rng, shape: rng.integers(3, size=shape).astype(float),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
}


def standardised(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def scores_of(values):
    """Normal scores of mean ranks, by scipy."""
    return special.ndtri((stats.rankdata(values, axis=0) - 0.5) / len(values))


def cells_of(rows, categorical=()):
    """A map, and features and bins of cells of eight rows."""
    deal = Deal(len(rows), 8, len(rows) // 8, key=5)
    recipe = as_recipe(None)
    sketch = fit_map(rows, recipe, categorical=categorical, frequencies=16, cells=100, key=3)
    sums = sketch_rows(sketch, rows, deal)
    both = (
        CellUnits(v.astype(np.float32), np.ones(v.shape[1])) for v in (sums.features, sums.bins)
    )
    return sketch, *both, deal.cell_of(0, len(rows))


@pytest.mark.parametrize("law", LAWS)
def test_distances_by_hand(law):
    rows = LAWS[law](np.random.default_rng(0), (90, 3))
    by_hand = standardised(scores_of(rows) ** 2).sum(axis=1)
    assert distances_of(rows) / STEPS == pytest.approx(by_hand, abs=1e-5)


def test_distances_in_any_order_and_in_any_units():
    rng = np.random.default_rng(1)
    rows = np.round(rng.normal(size=(70, 130)), 1)  # more columns than are looked at together
    found, order = distances_of(rows), rng.permutation(70)
    np.testing.assert_array_equal(distances_of(rows[order]), found[order])
    np.testing.assert_array_equal(distances_of(rows[:, rng.permutation(130)]), found)
    np.testing.assert_array_equal(distances_of(-3.0 * rows + 5.0), found)


def test_columns_that_do_not_tell_the_middle_from_the_ends():
    rng = np.random.default_rng(2)
    one, flag = rng.normal(size=50), rng.random(50) < 0.3
    assert distances_of(np.column_stack([one, flag, np.ones(50)])) is None
    two = np.column_stack([one, one**2])
    with_flag = np.column_stack([two, flag])
    np.testing.assert_array_equal(distances_of(with_flag), distances_of(two))


def test_views_on_cells_by_hand():
    """Widths of all columns added up, and products of the waves of every two of them."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.normal(size=(800, 3)), rng.integers(0, 4, 800)])
    sketch, features, bins, cell = cells_of(rows, categorical=(3,))
    wide, together = distance_views(sketch, features, bins, bins.values.sum(axis=0))
    places = [np.searchsorted(sketch.bins[j].edges, rows[:, j]) for j in range(3)]
    waves = np.stack([sketch.scores[j][at][:, 1] for j, at in enumerate(places)])
    in_pairs = sum(waves[j] * waves[k] for j, k in ((0, 1), (0, 2), (1, 2)))
    width = standardised(scores_of(np.stack(places, axis=1)) ** 2).sum(axis=1)
    for view, by_hand, unit in ((wide, width, 1.0), (together, in_pairs, STEP)):
        along = view.units.along(view.lenses[0])[:, 0] / unit
        assert along == pytest.approx(np.bincount(cell, by_hand), abs=0.1)


def test_columns_that_are_far_from_their_middles_together():
    """Columns are normal, or nearly, and not correlated. Without distances none were found."""
    found = 0
    for trial in range(4):
        rng = np.random.default_rng(trial)
        x, y = rng.normal(size=(2, 10_000, 20))
        y *= np.exp(0.08 * rng.normal(size=(10_000, 1)) - 0.0064)
        found += nosplit.two_sample_test(x, y, rng=trial).reject()
    assert found >= 3


def test_on_a_device():
    torch = pytest.importorskip("torch")
    from nosplit._old.engines.torch.pairs.rows import _distances_on

    rng = np.random.default_rng(7)
    for rows in (rng.normal(size=(60, 70)), np.round(rng.normal(size=(60, 3)))):
        found = _distances_on(torch.from_numpy(rows))
        np.testing.assert_array_equal(found.numpy(), distances_of(rows))
    assert _distances_on(torch.from_numpy(rows[:, :1])) is None
