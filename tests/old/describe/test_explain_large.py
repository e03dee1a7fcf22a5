"""Explanations of large samples: sums over all rows, against what they must add up to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nosplit
from nosplit import explain, two_sample_test
from nosplit._old.describe.large.cells import UnitCells, map_for
from nosplit._old.describe.large.samples import MemorySamples
from nosplit._old.describe.rows import Coded
from nosplit._old.describe.witness import witness_at
from nosplit._old.sketch.dealing import layout_of
from nosplit.kernels.bank import Bank

FEW = {"pairs": "sketch", "calibration": nosplit.Exact(n_resamples=99)}
KERNELS = [nosplit.kernels.Gaussian(1.5), nosplit.kernels.Laplace(3.0), nosplit.kernels.Linear()]


@pytest.fixture(autouse=True)
def _less_time(monkeypatch):
    """Fewer rows: these tests need no more."""
    monkeypatch.setattr("nosplit._old.describe.large.shares.SECONDS", 0.1)


def samples(n, p, m=None, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.normal(size=(m or n, p))


def sketched(x, y, kernels, cells=20, seed=0):
    """Units of two samples, which rows are in them, and which unit each of these is in."""
    rng = np.random.default_rng(seed)
    layout = layout_of(len(x), len(y), cells, rng)
    sketch = map_for(kernels, x, y, rng)
    memory = MemorySamples((x, y), (Coded(x), Coded(y)))
    units = UnitCells.of(sketch, layout, *memory.sums(sketch, layout))
    kept = []
    for rows, deal in ((x, layout.x), (y, layout.y)):
        cell = deal.cell_of(0, len(rows))
        kept.append((rows[cell < deal.cells], cell[cell < deal.cells] % len(units.x)))
    return units, kept


def test_witness_is_that_of_all_rows_against_numpy():
    x, y = samples(2000, 3, seed=1)
    y[:, 1] += 0.5
    weights = np.array([0.7, -0.2, 0.1])
    units, (a, b) = sketched(x, y, KERNELS)
    points = np.random.default_rng(2).normal(size=(50, 3))
    function = units.witness(weights)
    exact = witness_at(points, a[0], b[0], Bank(tuple(KERNELS)), weights)
    assert np.corrcoef(function(points), exact)[0, 1] > 0.97  # 64 frequencies
    linear = units.witness(np.array([0.0, 0.0, 1.0]))
    gap = a[0].mean(axis=0) - b[0].mean(axis=0)
    assert_allclose(linear(points), points @ gap - _center(units) @ gap, atol=1e-4)
    # Its means over the rows are those that the sums tell.
    assert_allclose(
        units.mean_witness(function), [function(a[0]).mean(), function(b[0]).mean()], atol=1e-5
    )


def _center(units):
    return units.map.center


def test_shares_and_signal_of_shifts_against_theory():
    x, y = samples(40_000, 4, seed=4)
    y[:, 1] += 0.1
    y[:, 3] += 0.2
    told = explain(two_sample_test(x, y, kernels=[nosplit.kernels.Linear()], **FEW), x, y)
    (kernel,) = told.kernels
    assert abs(kernel.mmd2 - 0.05) < 4.0 * kernel.error < 0.02
    # h = 2·⟨z, z'⟩ of p standard normal columns: its noise is 2·√p.
    for value, error in (
        (told.effect.learned, told.effect.learned_error),
        (told.effect.crossfitted, told.effect.crossfitted_error),
    ):
        assert abs(value - 0.05 / 4.0) < 4.0 * error + 0.1 * 0.05 / 4.0
    for column, share in zip(told.columns, (0.0, 0.2, 0.0, 0.8), strict=True):
        assert abs(column.share - share) < 4.0 * column.error + 0.05
        assert column.error < 0.1
    assert told.n_seen > 0.95 * told.n_rows == 76_000


def test_a_change_too_small_for_some_thousand_rows_is_seen():
    x, y = samples(150_000, 3, seed=5)
    y[:, 1] *= 1.03
    told = explain(two_sample_test(x, y, kernels=KERNELS, **FEW), x, y)
    assert told.ranked()[0].name == "column 1"
    assert told.effect.crossfitted > 3.0 * told.effect.crossfitted_error
    # y is wider: x is denser in the middle.
    middle, out = told.witness([[0.0, 0.0, 0.0], [0.0, 2.5, 0.0]])
    assert middle > 0 > out
    assert "rows for the signal" in str(told)
