"""All pairs of units, by exact kernels: statistics under every draw of labels."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index
from nosplit.designs.draws import BlockDraws, SampleDraws
from nosplit.families.pooled import TILE, Pooled
from nosplit.kernels.bank import Bank
from nosplit.pairs.draws import signed_sums
from nosplit.pairs.loop import n_workers, one_blas_thread
from nosplit.sketch.bins import ColumnBins
from nosplit.sketch.rows import KnownDraws, column_counts
from nosplit.sketch.swaps import Swaps
from nosplit.sketch.units import CellUnits

__all__ = ["UnitDraws", "label_statistics", "means_of_units", "sample_statistics", "unit_gram"]


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


def sample_statistics(K: Array, draws: SampleDraws, labels: NDArray[Any]) -> tuple[Array, Array]:
    """Statistics of kernels under labels of several samples, (F, d), and their covariance."""
    from nosplit._support.loops.dealing import sums_inside

    N, count = draws.n_units, len(draws.sizes)
    m = N * (N - 1) // 2
    K = K - K.mean(axis=1, keepdims=True)
    K -= K.mean(axis=2, keepdims=True)
    trace = np.einsum("uii->u", K).copy()
    np.einsum("uii->ui", K)[:] = 0.0
    tau = np.zeros((len(labels), len(K)))
    # In whole steps, as many as the sum of a row can have.
    steps = np.maximum(np.abs(K).max(axis=(1, 2)), np.finfo(np.float64).tiny) * (N / (1 << 30))
    whole = np.rint(K / steps[:, None, None]).astype(np.int32)
    sums_inside(labels, whole, len(labels), N, len(K), 1.0 / draws.sizes, tau)
    tau *= steps
    tau += (N - count) / (N * (N - 1.0)) * trace  # less the mean over all draws
    return tau / (2.0 * np.sqrt(m) * draws.spread), _products(K) / (2.0 * m)


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

    swaps: BlockDraws | SampleDraws
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
