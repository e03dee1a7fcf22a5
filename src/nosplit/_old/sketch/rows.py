"""Rows as cells of one row: what columns and flattened spectra show of samples in memory.

Everything that rows are looked at with is made of the pooled rows alone, in an order of their own:
no swap and no labelling changes a bit of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.statistics import ColumnDraws, Seen
from nosplit._old.sketch.bins import (
    ColumnBins,
    bin_scores,
    edge_table,
    fit_pooled,
)
from nosplit._old.sketch.cells import column_draws, covariance, look, mapped, means_of
from nosplit._old.sketch.columns.distances import distance_axes, distances_of
from nosplit._old.sketch.columns.waves import wave_lenses, waves_of_ranks
from nosplit._old.sketch.lenses import ColumnView, in_steps, lenses_of_bins, of_lenses
from nosplit._old.sketch.swaps import DRAWS, Swaps
from nosplit._old.sketch.units import Array32, CellUnits, Lens, exact_units, lenses_in_turn
from nosplit._types import Array, Index
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.kernels.eigenbases import default_eigenbases
from nosplit.kernels.orders import sorted_rows

__all__ = [
    "column_counts",
    "column_groups",
    "column_views",
    "live_statistics",
    "look_at_rows",
    "pair_view",
    "places_of",
]

# Bins whose counts are kept at once.
GROUP = 4096
# Numbers of which the bins are found without compiled loops.
FEW = 1 << 16
# Statistics of no kernels, and their covariance matrix.
NOTHING = np.zeros((0, 0)), np.zeros((0, 0))
# Columns up to which pairs of them are looked at.
MOST_COLUMNS = 20


def look_at_rows(
    x: Array,
    y: Array,
    weights: NDArray[Any],
    *,
    categorical: Sequence[int] = (),
    owners: Sequence[int] | None = None,
    workers: int | None = None,
) -> Seen:
    """Look at columns and flattened spectra under every draw.

    Parameters
    ----------
    x, y : array, shape (n, p) and (m, p)
        The samples; where units have signs, row i of both is one.
    weights : array, shape (F, n) or (F, n + m)
        Signs of units under each draw, the observed one first; or 1 for rows labelled x and 0 for
        others.
    categorical : sequence of int
        Columns whose values are compared for equality only.
    owners : sequence of int, optional
        The column that each column of the rows belongs to, where one has several.
    workers : int, optional
        Threads; all cores by default.
    """
    swaps = Swaps(len(x), len(y), len(weights) - 1, 0, labels=weights.shape[1] > len(x))
    draws = RowDraws(swaps, weights.astype(np.float32), workers)
    pooled = np.concatenate([x, y]).astype(np.float64)
    p = pooled.shape[1]
    names = range(p) if owners is None else owners
    with one_blas_thread():
        numbers = [j for j in range(p) if j not in set(categorical)]
        tau, cov = _spectral_statistics(draws, pooled[:, numbers])
        bins = fit_pooled(pooled, set(categorical))
        places = places_of(pooled, bins)
        columns = _column_statistics(draws, bins, places, names)
        pairs = _pair_statistics(draws, bins, places, names)
        distances = _distance_statistics(draws, pooled[:, numbers])
    return Seen(tau, cov, columns, pairs, distances)


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Swaps of rows of two samples, or labels of all of them; and what is seen under them.

    Attributes
    ----------
    swaps : Swaps
        What draws do with rows.
    weights : array
        The weights of all units under each of them.
    workers : int or None
        Threads; all cores by default.
    """

    swaps: Swaps
    weights: NDArray[Any]
    workers: int | None

    def units(self, values: Array) -> CellUnits:
        """Differences of rows, or all rows, in whole steps whose sums are exact in float32."""
        n = self.swaps.n_x
        return exact_units(values[:n] - values[n:] if self.swaps.paired else values)

    def see(self, units: CellUnits, lenses: Sequence[Lens]) -> Array:
        """Squared lengths of sums less their means, under all draws, (F, statistics)."""
        means = [means_of(self.swaps, units, lens) for lens in lenses]

        def part(chunk: tuple[int, int]) -> Array:
            weights = self.weights[chunk[0] : chunk[0] + chunk[1]]
            return look(self.swaps.sums(weights, units), lenses, means)

        chunks = [(i, DRAWS) for i in range(0, len(self.weights), DRAWS)]
        return np.concatenate(mapped(part, chunks, n_workers(self.workers)))


# -- flattened spectra -------------------------------------------------------------------------


def _spectral_statistics(draws: RowDraws, pooled: Array) -> tuple[Array, Array]:
    """Statistics of kernels with flattened spectra, and their covariance matrix."""
    if not pooled.shape[1]:
        return NOTHING
    rows, place = sorted_rows(pooled)
    bases = default_eigenbases(rows)
    if not bases:
        return NOTHING
    units = draws.units(np.concatenate([features for _, features in bases], axis=1)[place])
    lenses = lenses_in_turn(units.steps, [basis.gains() for basis, _ in bases])
    N = draws.swaps.n_units
    m = N * (N - 1) // 2
    tau = draws.see(units, lenses) / (2.0 * np.sqrt(m) * draws.swaps.spread)
    cov = covariance(draws.swaps, units, lenses, m)
    return live_statistics(tau, cov)


def live_statistics(tau: Array, cov: Array) -> tuple[Array, Array]:
    """Statistics without what no draw changes, which is no evidence: one unit differs, or none."""
    dead = np.diagonal(cov) <= 1e-12 * np.square(tau).max(axis=0)
    cov[dead], cov[:, dead], tau[:, dead] = 0.0, 0.0, 0.0
    return NOTHING if dead.all() else (tau, cov)


# -- columns -----------------------------------------------------------------------------------


def places_of(pooled: Array, bins: Sequence[ColumnBins]) -> NDArray[np.uint8]:
    """Number of the bin of every column of each row."""
    found = np.empty(pooled.T.shape, np.uint8)
    if pooled.size <= FEW:
        for j, values in enumerate(pooled.T):
            found[j] = _places_in(bins[j], values)
    else:
        from nosplit.backend.numba.sketch import bin_places

        edges, _, *others = edge_table(bins)
        bin_places(pooled, edges, *others, found)
    return np.ascontiguousarray(found.T)


def _places_in(bins: ColumnBins, values: Array) -> NDArray[np.intp]:
    """Bins of a column, as `bin_places` finds them, without waiting for a compiler."""
    places = np.searchsorted(bins.edges, values)
    if not bins.categories:
        return places
    known = np.append(bins.edges, np.nan)[places] == values
    return np.where(known, places, len(bins.edges))


def _column_statistics(
    draws: RowDraws, bins: Sequence[ColumnBins], places: NDArray[np.uint8], names: Sequence[int]
) -> ColumnDraws:
    views = column_views(draws, bins, places, names)
    parts = [column_draws(draws.swaps, v, draws.see(v.units, v.lenses)) for v in views]
    return ColumnDraws.joined(parts)


def column_groups(bins: Sequence[ColumnBins], most: int) -> Iterator[range]:
    """Runs of columns with at most so many bins, or of one: few at a time keep counts small."""
    start, total = 0, 0
    for j, own in enumerate(bins):
        if total and total + len(own) > most:
            yield range(start, j)
            start, total = j, 0
        total += len(own)
    yield range(start, len(bins))


def column_views(
    draws: RowDraws, bins: Sequence[ColumnBins], places: NDArray[np.uint8], names: Sequence[int]
) -> Iterator[ColumnView]:
    """Counts of all units in the bins of columns, and lenses on them: some columns at a time."""
    for group in column_groups(bins, GROUP):
        counts, pooled, starts = column_counts(
            draws.swaps, [bins[j] for j in group], places[:, group.start : group.stop]
        )
        units = CellUnits(counts, np.ones(counts.shape[1]))
        lenses, which = [], []
        for j, start in zip(group, starts, strict=True):
            where = slice(int(start), int(start) + len(bins[j]))
            found = lenses_of_bins(
                where, pooled[where], categories=bins[j].categories, alone=len(bins) == 1
            )
            lenses += [in_steps(lens, units.steps[where]) for lens in found]
            which += [names[j]] * len(found)
        yield ColumnView(units, lenses, of_lenses(which, lenses))


def column_counts(
    swaps: Swaps, bins: Sequence[ColumnBins], places: NDArray[np.uint8]
) -> tuple[Array32, Array, Index]:
    """Counts of each unit in each bin, x less y, or of each row; pooled ones; where bins begin."""
    starts = np.concatenate([[0], np.cumsum([len(b) for b in bins])])
    at = places + starts[:-1]
    pooled = np.bincount(at.ravel(), minlength=starts[-1]).astype(np.float64)
    counts = np.zeros((swaps.n_units, starts[-1]), np.float32)
    row = np.arange(swaps.n_units)[:, None]
    if swaps.paired:
        counts[row, at[: swaps.n_x]] += 1.0
        counts[row, at[swaps.n_x :]] -= 1.0
    else:
        counts[row, at] = 1.0
    return counts, pooled, starts[:-1]


# -- pairs of columns --------------------------------------------------------------------------


def _pair_statistics(
    draws: RowDraws, bins: Sequence[ColumnBins], places: NDArray[np.uint8], names: Sequence[int]
) -> ColumnDraws | None:
    """Look at pairs of columns that do not belong together: of numbers, at several scales.

    None where columns that vary are too many, or no two of them are there.
    """
    varying = np.flatnonzero(np.any(places != places[0], axis=0)).tolist()
    both = [(j, k) for j, k in combinations(varying, 2) if names[j] != names[k]]
    if not both or len(varying) > MOST_COLUMNS:
        return None
    if any(own.categories for own in bins):
        view = pair_view(draws, bins, places, both)
    else:
        counts = [np.bincount(at, minlength=len(b)) for at, b in zip(places.T, bins, strict=True)]
        waves = waves_of_ranks(counts, len(both))
        units = _pair_products(draws, waves, places, both)
        view = ColumnView(units, *wave_lenses(units.steps, waves.shape[2]))
    found = column_draws(draws.swaps, view, draws.see(view.units, view.lenses))
    return replace(found, both=[(names[j], names[k]) for j, k in both])


def pair_view(
    draws: RowDraws,
    bins: Sequence[ColumnBins],
    places: NDArray[np.uint8],
    both: Sequence[tuple[int, int]],
) -> ColumnView:
    """Products of the scores of some pairs of columns, numbered as they come."""
    units = _pair_products(draws, bin_scores(bins, 0).astype(np.float64), places, both)
    lenses = lenses_in_turn(units.steps, [np.ones((4, 1))] * len(both))
    return ColumnView(units, lenses, np.arange(len(both)))


def _pair_products(
    draws: RowDraws, scores: Array, places: NDArray[np.uint8], both: Sequence[tuple[int, int]]
) -> CellUnits:
    """Products of all scores of bins, (p, bins, J), of one column with all of another."""
    own = np.stack([scores[j][at] for j, at in enumerate(places.T)], axis=1)
    left, right = own[:, [j for j, _ in both]], own[:, [k for _, k in both]]
    return draws.units((left[:, :, :, None] * right[:, :, None, :]).reshape(len(own), -1))


# -- distances from the middle -----------------------------------------------------------------


def _distance_statistics(draws: RowDraws, rows: Array) -> Array | None:
    """Look at how far rows lie from the middle; None if no two columns tell."""
    distances = distances_of(rows)
    if distances is None:
        return None
    _, at, repeats = np.unique(distances, return_inverse=True, return_counts=True)
    units = draws.units(distance_axes(repeats)[at])
    return draws.see(units, lenses_in_turn(units.steps, [np.ones((2, 1))]))[:, 0]
