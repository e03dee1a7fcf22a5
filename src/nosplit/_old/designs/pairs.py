"""Rows in memory as units: all pairs by exact kernels, and sums by cell.

What is said here of rows in memory, an engine says of rows that lie elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.designs.draws import BlockDraws
from nosplit._old.families.pooled import TILE, Pooled
from nosplit._old.pairs.draws import signed_sums
from nosplit._old.pairs.statistics import Seen
from nosplit._old.sketch.bins import ColumnBins
from nosplit._old.sketch.cells import Means, View, see_all
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.rows import KnownDraws, column_counts, look_under
from nosplit._old.sketch.sums import BLOCK, CellSums, sketch_rows
from nosplit._old.sketch.swaps import CellDraws, Swaps
from nosplit._old.sketch.units import CellUnits
from nosplit._types import Array, Index
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.kernels.bank import Bank
from nosplit.kernels.eigenbases import spread_out
from nosplit.kernels.orders import sorted_rows

__all__ = [
    "RowsInUnits",
    "UnitDraws",
    "label_statistics",
    "means_of_units",
    "unit_gram",
]


@dataclass(frozen=True, eq=False)
class RowsInUnits:
    """Rows in memory, and the unit of each.

    Parameters
    ----------
    rows : array, shape (N, p)
        The rows, which are all in units.
    unit : array of int, shape (N,)
        Their units.
    workers : int or None
        Threads; all cores by default.
    """

    rows: NDArray[Any]
    unit: Index
    workers: int | None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def see(self, draws: CellDraws, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
        """Look at views on cells under all draws."""
        return see_all(draws, views, means, self.workers)

    def some(self, rows: Index) -> Array:
        """Rows of given numbers."""
        return np.asarray(self.rows[rows], dtype=np.float64)

    def spread(self, most: int) -> Array:
        """Pick so many rows from all over them, in an order that says nothing of labels."""
        ordered, _ = sorted_rows(np.asarray(self.rows, dtype=np.float64))
        return np.asarray(ordered[spread_out(len(ordered), most)])

    def statistics(
        self, bank: Bank, draws: BlockDraws, weights: NDArray[Any]
    ) -> tuple[Array, Array]:
        """Statistics of kernels on all pairs of units under draws, (F, d), and their covariance."""
        K = unit_gram(np.asarray(self.rows, dtype=np.float64), bank, self.unit, self.workers)
        return label_statistics(K, draws, weights)

    def look(
        self,
        draws: BlockDraws,
        weights: NDArray[Any],
        categorical: Sequence[int],
        owners: Sequence[int] | None,
    ) -> Seen:
        """Statistics of columns and flattened spectra under draws."""
        known = UnitDraws(draws, weights, self.workers, self.unit)
        rows = np.asarray(self.rows, dtype=np.float64)
        return look_under(known, rows, categorical=categorical, owners=owners)

    def sums(
        self, sketch: SketchMap, cell: Index, cells: int, some: Index | None = None
    ) -> CellSums:
        """Sums of rows by cell; `cells` stands for no cell, and `some` for some rows only."""
        numbers = cell.astype(np.int32)
        if some is None:
            return sketch_rows(sketch, self.rows, _Given(numbers, cells), self.workers)
        sums = CellSums.empty(sketch, cells)
        for start in range(0, len(some), BLOCK):
            part = slice(start, start + BLOCK)
            sums.add(sketch, self.rows[some[part]], numbers[part])
        return sums


@dataclass(frozen=True, eq=False)
class _Given:
    """Cells of rows that are known one by one."""

    cell: NDArray[np.int32]
    cells: int

    def cell_of(self, first: int, count: int) -> NDArray[np.int32]:
        """Cells of the rows first…first + count - 1."""
        return self.cell[first : first + count]


def unit_gram(rows: NDArray[Any], bank: Bank, unit: Index, workers: int | None) -> Array:
    """Kernel values of all pairs of units, (d, U, U): means over their rows.

    `unit` is the unit of each row; all rows are in one.
    """
    order = np.argsort(unit, kind="stable")
    own, pooled = unit[order], Pooled(rows[order], bank)
    U = int(own[-1]) + 1
    cuts = [range(i, min(i + TILE, len(own))) for i in range(0, len(own), TILE)]
    tiles = [(a, b) for i, a in enumerate(cuts) for b in cuts[i:]]

    def part(tile: tuple[range, range]) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # found in the total
            K = pooled.kernel_values(*tile)
        for axis, run in enumerate(tile, start=1):
            first = _firsts(own[run.start : run.stop])
            if len(first) < len(run):
                K = np.add.reduceat(K, first, axis=axis)
        return K

    K = np.zeros((len(bank), U, U))
    with one_blas_thread(), ThreadPoolExecutor(n_workers(workers)) as pool:
        for (a, b), values in zip(tiles, pool.map(part, tiles), strict=True):
            rows_of = slice(own[a.start], own[a.stop - 1] + 1)
            columns = slice(own[b.start], own[b.stop - 1] + 1)
            K[:, rows_of, columns] += values
            if a != b:
                K[:, columns, rows_of] += values.transpose(0, 2, 1)
    sizes = np.bincount(own)
    return K if sizes.max() == 1 else K / np.multiply.outer(sizes, sizes)


def _firsts(numbers: Index) -> Index:
    """Places at which new numbers begin among ascending ones."""
    return np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])


def label_statistics(
    K: Array, draws: BlockDraws, weights: NDArray[np.float32]
) -> tuple[Array, Array]:
    """Statistics of kernels under labels permuted inside blocks, (F, d), and their covariance.

    `K` are values of all pairs of units; it is overwritten.
    """
    N = draws.n_units
    m = N * (N - 1) // 2
    share, variance = draws.shares, draws.variances
    tau = np.empty((len(weights), len(K)))
    # As signs, samples that call each other's names tie exactly where blocks have as many of both.
    even = bool(np.all(share == 0.5))
    signs, scale = (2.0 * weights - 1.0, 0.25) if even else (weights, 1.0)
    for u, values in enumerate(K):
        own = np.diagonal(values).copy()
        values = draws.centred(draws.centred(values).T)
        total = np.zeros(len(weights))
        for i in range(0, N, TILE):
            own_part, rest = slice(i, min(i + TILE, N)), slice(min(i + TILE, N), N)
            left = np.ascontiguousarray(signs[:, own_part])
            total += scale * signed_sums(left, values[own_part, own_part], left)
            if rest.start < N:  # the values are symmetric
                other = signed_sums(left, values[own_part, rest], signs[:, rest])
                total += 2.0 * scale * other
        # A unit with itself is no pair: the squares of labels less their means are left out.
        alone = (1.0 - 2.0 * share) * own
        total -= weights @ alone
        tau[:, u] = total - (variance @ np.diagonal(values) - share @ alone)
        K[u] = values
    np.einsum("uii->ui", K)[:] = 0.0
    pairs = draws.starts[:-1][draws.sizes == 2]
    K[:, pairs, pairs + 1] = K[:, pairs + 1, pairs] = 0.0  # which no draw changes
    root = np.sqrt(variance)
    K *= root[:, None] * root
    return tau / (2.0 * np.sqrt(m)), _products(K) / (2.0 * m)


def _products(K: Array) -> Array:
    """Sums of products of the values of two kernels, for all of them."""
    flat = K.reshape(len(K), -1)
    return np.asarray(flat @ flat.T)


def means_of_units(values: NDArray[Any], unit: Index) -> Array:
    """Means of rows of each unit, of which all rows are in one."""
    order = np.argsort(unit, kind="stable")
    first = _firsts(unit[order])
    if len(first) == len(order):
        return np.asarray(values[order], dtype=np.float64)
    sums = np.add.reduceat(values[order], first, axis=0, dtype=np.float64)
    return np.asarray(sums / np.bincount(unit)[:, None])


@dataclass(frozen=True, eq=False)
class UnitDraws(KnownDraws):
    """Draws of labels of units, which are means of rows."""

    swaps: BlockDraws
    unit: Index

    def units(self, values: NDArray[Any]) -> CellUnits:
        """Means of rows about what no draw moves."""
        return self.swaps.units(means_of_units(values, self.unit))

    def counted(
        self, bins: Sequence[ColumnBins], places: NDArray[np.uint8]
    ) -> tuple[CellUnits, Array, Index]:
        """Shares of units in the bins of columns; pooled counts; where the bins of each begin."""
        labelled = Swaps(len(places), 0, 0, 0)  # rows one by one, none of them swapped
        counts, pooled, starts = column_counts(labelled, bins, places)
        return self.units(counts), pooled, starts
