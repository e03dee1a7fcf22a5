"""Stein features summed by cell, and their statistics under random signs of cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._old.sketch.cells import statistics_under
from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.lenses import ColumnView, kernel_view
from nosplit._old.sketch.sums import total_of
from nosplit._old.sketch.swaps import Swaps
from nosplit._old.sketch.units import CellUnits, Lens, whole_units
from nosplit._types import Array, Index
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.core.feature_map import STEP
from nosplit.core.stein_map import BLOCK, SteinMap, SteinSums

__all__ = [
    "cell_skewness",
    "sketch_scored_rows",
    "stein_statistics",
]

# Flattened kernels divide by λ + γλ_max, with γ the first number and the larger of the second and
# ROWS / n. Directions of little variance are skewed ones: random signs need more rows there.
FLATTENED, FLATTEST, ROWS = 1e-1, 1e-3, 200.0


def sketch_scored_rows(
    sketch: SteinMap, rows: Array, scores: Array, deal: Deal, workers: int | None = None
) -> SteinSums:
    """The sketch of a sample in memory, by as many threads as there are workers.

    Blocks of rows are the same for any number of threads, and sums are sums of integers.
    """
    blocks = list(range(0, len(rows), 16 * BLOCK))
    threads = min(n_workers(workers), len(blocks))

    def part(worker: int) -> SteinSums:
        sums = SteinSums.empty(sketch, deal.cells)
        for start in blocks[worker::threads]:
            block = slice(start, start + 16 * BLOCK)
            count = len(rows[block])
            sums.add(sketch, rows[block], scores[block], deal.cell_of(start, count))
        return sums

    with one_blas_thread():
        return total_of(part, threads)


def stein_statistics(
    sketch: SteinMap,
    sums: SteinSums,
    n: int,
    *,
    flips: int,
    key: int,
    workers: int | None = None,
) -> DrawnStatistics:
    """Statistics of all kernels and of all columns under random signs of cells.

    Signs are no symmetry of a model: the level is right in the limit.

    Parameters
    ----------
    sketch : SteinMap
        The map.
    sums : SteinSums
        The sketch.
    n : int
        Rows in cells.
    flips : int
        Number of random draws.
    key : int
        Picks the draws.
    workers : int, optional
        Threads; all cores by default.
    """
    cells = len(sums.numbers)
    signs = Swaps(cells, cells, flips, key)
    units = whole_units(sums.numbers.astype(np.float64), cells)
    with one_blas_thread():
        kernels = kernel_view(sketch.features, signs, units, _regularisations(n))
        return statistics_under(signs, kernels, *_views(sketch, units), workers=workers)


def _views(sketch: SteinMap, units: CellUnits) -> tuple[ColumnView, ColumnView]:
    """Columns one by one, and pairs of them."""
    pairs = [[places] for places in sketch.of_pairs]
    return _view(units, sketch.of_columns), _view(units, pairs)


def _regularisations(n: int) -> tuple[float, ...]:
    smallest = max(FLATTEST, ROWS / n)
    return (FLATTENED, smallest) if 2.0 * smallest < FLATTENED else (FLATTENED,)


def cell_skewness(sketch: SteinMap, sums: SteinSums) -> float:
    """Largest (ΣS³)² / (ΣS²)³ over the functions of low order: 1 where one cell rules them all.

    About skewness² / n of the rows' numbers, with which the level of random signs is off.
    """
    numbers = sums.numbers[:, 2 * sketch.n_waves :] / np.float64(STEP)
    second, third = np.sum(numbers**2, axis=0), np.sum(numbers**3, axis=0)
    return float(np.max(third**2 / np.where(second > 0, second, 1.0) ** 3, initial=0.0))


def _view(units: CellUnits, places: Sequence[Sequence[Index]]) -> ColumnView:
    """Lenses on numbers at these places: some for each column, or for each pair of columns."""
    lenses = [_whitened(units, where) for own in places for where in own]
    return ColumnView(units, lenses, np.repeat(np.arange(len(places)), [len(w) for w in places]))


def _whitened(units: CellUnits, where: Index) -> Lens:
    """Squares of numbers made uncorrelated by their second moment, which no sign changes."""
    part = units.values[:, where].astype(np.float64)
    size = np.sqrt(np.mean(part * part, axis=0))
    size[size == 0] = 1.0
    part /= size
    values, axes = np.linalg.eigh(part.T @ part)
    values = np.maximum(values, 0.0) + FLATTENED * max(float(values[-1]), 1.0)
    return Lens(where, axes / np.sqrt(values) / size[:, None], np.ones((len(where), 1)))
