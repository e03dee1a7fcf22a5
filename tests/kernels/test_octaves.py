"""Waves that follow from slower ones: which do, and that sums are as if none did."""

from dataclasses import replace

import numpy as np
import pytest

from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.sums import sketch_rows
from nosplit.core.feature_map import STEP
from nosplit.kernels import IMQ, Delta, Gaussian, Hamming, Laplace, Linear, Matern, Mixed, OnColumns
from nosplit.kernels.frequencies import frequencies_of
from nosplit.kernels.octaves import drawn_in_octaves, n_followed
from nosplit.kernels.recipes import as_recipe

RNG = np.random.default_rng(5)
ROWS = np.column_stack([RNG.standard_normal((3000, 2)), RNG.integers(0, 3, 3000)])


def draw(kernel, source):
    return frequencies_of(kernel, np.arange(3), 8, np.random.default_rng(source))


def drawn(*kernels):
    return drawn_in_octaves(dict(enumerate(kernels)), draw)


def map_of(kernels, categorical=()):
    return fit_map(
        ROWS[:400], as_recipe(kernels), categorical=categorical, frequencies=8, cells=50, key=3
    )


def mixed(bandwidth):
    return Mixed(OnColumns(Gaussian(bandwidth), (0, 1)), OnColumns(Hamming(0.3), (2,)))


@pytest.mark.parametrize(
    "kernel",
    [Gaussian, Laplace, lambda b: Matern(b, 1.5), IMQ, lambda b: OnColumns(Gaussian(b), (0, 2))],
)
def test_threes_of_a_grid(kernel):
    narrow, middle, wide = (kernel(0.3 * 4**k) for k in range(3))
    found = drawn(narrow, middle, wide)
    assert list(found) == [2, 1, 0]
    assert n_followed(list(found.values())) == 8
    # The source is that of the narrowest: each has the frequencies that it draws from there.
    for u, own in enumerate((narrow, middle, wide)):
        assert np.array_equal(found[u].turns, draw(own, 0).turns)


@pytest.mark.parametrize(
    "kernels",
    [
        [Gaussian(1.0), Gaussian(4.0)],
        [Gaussian(1.0), Gaussian(2.0), Gaussian(4.0)],
        [Gaussian(1.0), Gaussian(1.0), Gaussian(1.0)],
        [Gaussian(1.0), Gaussian(4.0), Laplace(16.0)],
        [Gaussian(16.0), Gaussian(4.0), Gaussian(1.0)],
        [Delta(), Delta(), Delta()],
        [Matern(1.0, 0.5), Matern(4.0, 1.5), Matern(16.0, 2.5)],
    ],
)
def test_other_kernels_draw_for_themselves(kernels):
    found = drawn(*kernels)
    assert n_followed(list(found.values())) == 0
    for u, kernel in enumerate(kernels):
        assert np.array_equal(found[u].turns, draw(kernel, u).turns)
        assert np.array_equal(found[u].phases, draw(kernel, u).phases)


def test_several_threes_and_others():
    grid = [0.5, 2.0, 8.0]
    kernels = [*map(Gaussian, grid), IMQ(1.0), *map(Laplace, grid)]
    found = drawn(*kernels)
    assert list(found) == [2, 6, 1, 5, 0, 4, 3]  # wide ones, those four times as fast, and so on
    assert n_followed(list(found.values())) == 16


def test_phases_turn_as_often_as_numbers():
    grid = [mixed(b) for b in (0.5, 2.0, 8.0)]
    wide, middle, narrow = drawn(*grid).values()
    assert wide.phases.any()
    assert np.array_equal(middle.phases, wide.phases << np.uint32(2))
    assert np.array_equal(narrow.phases, wide.phases << np.uint32(4))
    assert n_followed([wide, middle, narrow]) == 8
    assert n_followed([wide, middle, replace(narrow, phases=wide.phases)]) == 0


def direct_sums(sketch, deal):
    """Sums of waves by cell, all of them projected and turned one by one, in float64."""
    scaled = ((ROWS - sketch.center) * sketch.scale)[:, sketch.order]
    turns = scaled.astype(np.float32).astype(np.float64) @ sketch.turns.astype(np.float64)
    if len(sketch.hashed):
        from nosplit.backend.numba.sketch import add_phases

        hashed, phase = sketch.hashed, np.zeros(turns.shape, np.float32)
        add_phases(ROWS, hashed, sketch.places[hashed], sketch.phases, phase)
        turns += phase
    waves = np.concatenate([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=1)
    found = np.zeros((deal.cells, waves.shape[1]))
    cells = deal.cell_of(0, len(ROWS))
    np.add.at(found, cells[cells < deal.cells], waves[cells < deal.cells])
    return found


@pytest.mark.parametrize("categorical", [(), (2,)])
def test_sums_are_those_of_waves_by_themselves(categorical):
    kernels = None
    if categorical:
        kernels = [mixed(b) for b in (0.5, 2.0, 8.0)]
        kernels += [Linear(), OnColumns(IMQ(1.0), (0, 1))]
    sketch = map_of(kernels, categorical)
    deal = Deal(len(ROWS), 50, 50, key=1)
    F = sketch.n_waves
    assert sketch.followed > 0
    assert 3 * sketch.followed < F if categorical else 3 * sketch.followed == F
    sums = sketch_rows(sketch, ROWS, deal, workers=1).features[:, : 2 * F] / STEP
    want = direct_sums(sketch, deal)
    # Rounding of turns, in float32, grows with them. That of a cosine, 2e-7, grows four times with
    # every doubling, of which there are four: 5e-5.
    turned = np.abs(sketch.turns).sum(axis=0)
    room = deal.c * (5e-5 + 3e-6 * np.tile(turned, 2))
    assert np.all(np.abs(sums - want) <= room)
    assert np.abs(sums - want).max() > 0
