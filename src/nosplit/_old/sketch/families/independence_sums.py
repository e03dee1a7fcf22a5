"""Products of x with every cyclic shift of y, summed by cell, and statistics under random shifts.

Shifting y by the same number of places in all units of a cell changes no distribution if x and y
are independent. A cell therefore keeps one sum for each shift, and a draw picks one of them for
every cell: the test is exact, and all pairs of units of different cells are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._old.sketch.cells import statistics_under
from nosplit._old.sketch.dealing import Deal
from nosplit._old.sketch.lenses import kernel_view
from nosplit._old.sketch.sums import total_of
from nosplit._old.sketch.swaps import chunks_of
from nosplit._old.sketch.units import CellUnits, whole_units
from nosplit._types import Array
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.core.feature_map import STEP
from nosplit.core.tensor_map import TensorMap

__all__ = ["ShiftSums", "Shifts", "shift_statistics", "sketch_observations", "sketch_units"]

Array32 = NDArray[np.float32]

# Observations whose numbers are in the cache together, about.
BLOCK = 512


@dataclass(frozen=True, eq=False)
class ShiftSums:
    """The sketch of observations: integers, so that sketches of parts add exactly.

    Attributes
    ----------
    numbers : array of int64, shape (C, q, 2W)
        Sums over the units of each cell of centred products, for each shift of y, in steps.
    """

    numbers: NDArray[np.int64]

    @classmethod
    def empty(cls, sketch: TensorMap, cells: int, q: int) -> ShiftSums:
        """The sketch of no observations."""
        return cls(np.zeros((cells, q, 2 * sketch.n_pairs), np.int64))

    def __add__(self, other: ShiftSums) -> ShiftSums:
        return ShiftSums(self.numbers + other.numbers)

    def __iadd__(self, other: ShiftSums) -> ShiftSums:
        self.numbers.__iadd__(other.numbers)
        return self

    def add(self, sketch: TensorMap, x: NDArray[Any], y: NDArray[Any], cells: NDArray[Any]) -> None:
        """Add units to their cells.

        Parameters
        ----------
        sketch : TensorMap
            The map.
        x, y : array, shape (T · q, p) and (T · q, r)
            The observations of T units, q after q.
        cells : array of int, shape (T,)
            The cell of each unit.
        """
        from nosplit.backend.numba.families import add_shifted

        q = self.numbers.shape[1]
        at_once = max(1, BLOCK // q)
        for start in range(0, len(cells), at_once):
            part = slice(start * q, (start + at_once) * q)
            left, right = (s.numbers(v[part]) for s, v in zip(sketch.sides, (x, y), strict=True))
            own = cells[start : start + at_once]
            add_shifted(*left, *right, q, float(STEP), own, self.numbers)


def sketch_observations(
    sketch: TensorMap,
    x: NDArray[Any],
    y: NDArray[Any],
    deal: Deal,
    q: int,
    workers: int | None = None,
) -> ShiftSums:
    """The sketch of observations in memory, by as many threads as there are workers.

    Units are q neighbours in the order in which `deal` puts the rows.
    """
    order = np.empty(deal.n, np.int64)
    order[deal.places(0, deal.n)] = np.arange(deal.n)

    def rows(units: range) -> tuple[NDArray[Any], NDArray[Any]]:
        some = order[units.start * q : units.stop * q]
        return x[some], y[some]

    return sketch_units(sketch, rows, range(deal.n_dealt // q), deal, q, workers)


def sketch_units(
    sketch: TensorMap,
    rows: Callable[[range], tuple[NDArray[Any], NDArray[Any]]],
    units: range,
    deal: Deal,
    q: int,
    workers: int | None = None,
) -> ShiftSums:
    """The sketch of some units, of which `rows` gives the observations."""
    size = max(1, 16 * BLOCK // q)
    blocks = [units[start : start + size] for start in range(0, len(units), size)]
    threads = min(n_workers(workers), len(blocks))

    def part(worker: int) -> ShiftSums:
        sums = ShiftSums.empty(sketch, deal.cells, q)
        for block in blocks[worker::threads]:
            sums.add(sketch, *rows(block), np.arange(block.start, block.stop) * q // deal.c)
        return sums

    with one_blas_thread():
        return total_of(part, threads)


@dataclass(frozen=True)
class Shifts:
    """A random shift of y for every cell, one of q."""

    n_units: int
    looks: int
    flips: int
    key: int

    @property
    def spread(self) -> float:
        """Share of draws in which a cell has one of its looks."""
        return 1.0 / self.looks

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        return chunks_of(self.flips)

    def shifts(self, first: int, count: int) -> NDArray[np.int64]:
        """Shifts of all cells under some draws, (count, cells); none under the observed one."""
        key = np.array([self.key, first], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        drawn = rng.integers(0, self.looks, (count, self.n_units))
        if first == 0:
            drawn[0] = 0
        return drawn

    def weights(self, first: int, count: int) -> Array32:
        """1 for the look that each cell has under a draw, 0 for others, (count, cells · q)."""
        weights = np.zeros((count, self.n_units, self.looks), np.float32)
        np.put_along_axis(weights, self.shifts(first, count)[:, :, None], np.float32(1.0), axis=2)
        return weights.reshape(count, -1)

    def sums(self, weights: Array32, units: CellUnits) -> Array:
        """Sums of what cells look like; their mean over all shifts is 0."""
        return np.asarray((weights @ units.values).astype(np.float64))

    def about_mean(self, units: Array) -> Array:
        """Looks are about their mean: they are centred."""
        return units

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of looks along some directions."""
        return self.spread * np.asarray(np.einsum("ik,ik->k", along, along))


def shift_statistics(
    sketch: TensorMap, sums: ShiftSums, *, flips: int, key: int, workers: int | None = None
) -> DrawnStatistics:
    """Statistics of all kernels under random shifts of y."""
    cells, q, numbers = sums.numbers.shape
    shifts = Shifts(cells, q, flips, key)
    units = whole_units(sums.numbers.reshape(cells * q, numbers).astype(np.float64), cells)
    with one_blas_thread():
        view = kernel_view(sketch.features, shifts, units)
        return statistics_under(shifts, view, workers=workers)
