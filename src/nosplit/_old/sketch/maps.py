"""A row → the numbers that cells sum: waves, coordinates, landmarks and bins.

Every number is a bounded function of the row, rounded to a fixed step, so that sums are sums of
integers: they are the same in whatever order, batches and places they are taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.bins import (
    MOST_BINS,
    ColumnBins,
    EdgeTable,
    bin_scores,
    dependent_pairs,
    edge_table,
    fit_bins,
    fit_pooled,
)
from nosplit._types import Array, Index
from nosplit.core.feature_map import STEP, spread_of
from nosplit.core.tensor_map import linear_columns
from nosplit.kernels import Kernel, OnColumns
from nosplit.kernels.frequencies import (
    Frequencies,
    frequencies_of,
    has_frequencies,
    turns_by_spread,
)
from nosplit.kernels.octaves import drawn_in_octaves, n_followed
from nosplit.kernels.orders import column_order
from nosplit.kernels.recipes import Recipe, check_own_kernel
from nosplit.kernels.spectral import FittedSpectral

__all__ = ["MOST_BINS", "SketchMap", "fit_map"]


# Bins of a column, and of all columns and cells together: what keeps wide tables small.
FEWEST_BINS, ALL_BINS = 16, 1 << 24
# Pairs of columns whose dependence is looked at: all of up to twenty columns.
MOST_PAIRS = 190
# Products of scores of pairs of numbers, if there are not more pairs; and twos of scores.
MOST_PRODUCTS, MOST_TWOS = 256, 5
# Landmarks of a kernel that is no mixture of waves.
LANDMARKS = 64


@dataclass(frozen=True, eq=False)
class SketchMap:
    """The map of a sketch, made of pilot rows: the same for both samples.

    Attributes
    ----------
    kernels : tuple of Kernel
        The base kernels, with their bandwidths.
    center, spread : array, shape (p,)
        Columns are moved and divided by these before they are multiplied by frequencies.
    bins : tuple of ColumnBins
        Those of each column.
    frequencies : int
        Frequencies of a kernel.
    key : int
        Picks the frequencies.
    landmarks : array, shape (L, p)
        Pooled pilot rows, for kernels that are no mixture of waves; empty if there are none.
    pairs : array of int, shape (P, 2)
        Pairs of columns whose dependence is looked at.
    order : array of int, shape (p,)
        The columns in the order in which frequencies are drawn for them, and turns are added up.
        It goes with the columns, so that the numbers do not depend on where they stand.
    twos : int
        Scores of a column come in twos: of numbers so many, of categories one.
    """

    kernels: tuple[Kernel, ...]
    center: Array
    spread: Array
    bins: tuple[ColumnBins, ...]
    frequencies: int
    key: int
    landmarks: Array
    pairs: Index
    order: Index
    twos: int = 1

    @property
    def p(self) -> int:
        """Columns of a row."""
        return len(self.center)

    @cached_property
    def scale(self) -> Array:
        """Factors of the columns."""
        return np.asarray(1.0 / self.spread)

    @cached_property
    def places(self) -> Index:
        """Place of each column in the order, (p,)."""
        return np.argsort(self.order)

    # -- waves -------------------------------------------------------------------------------

    @cached_property
    def drawn(self) -> dict[int, Frequencies]:
        """The frequencies of each kernel that has some, by its number."""
        return drawn_in_octaves(self._waving, self._draw)

    @property
    def _waving(self) -> dict[int, Kernel]:
        """The kernels that have frequencies, by their number."""
        return {u: kernel for u, kernel in enumerate(self.kernels) if has_frequencies(kernel)}

    def _draw(self, kernel: Kernel, source: int) -> Frequencies:
        """Frequencies of a kernel, from the source with a number."""
        rng = np.random.Generator(np.random.Philox(key=np.array([self.key, source], np.uint64)))
        return frequencies_of(kernel, self.places, self.frequencies, rng)

    @cached_property
    def n_waves(self) -> int:
        """Frequencies of all kernels together."""
        return sum(map(len, self.drawn.values()))

    @cached_property
    def turns(self) -> NDArray[np.float32]:
        """Turns for a spread of each column, (p, F), columns being in order."""
        parts = [d.turns for d in self.drawn.values()] or [np.zeros((self.p, 0))]
        turns = np.concatenate(parts, axis=1)
        return turns_by_spread(turns[self.order], self.spread[self.order])

    @cached_property
    def followed(self) -> int:
        """The number of waves that come first, and that others follow from."""
        return n_followed(list(self.drawn.values()))

    @cached_property
    def projected_turns(self) -> NDArray[np.float32]:
        """The turns of those and of waves that follow from none."""
        return self._projected(self.turns)

    @cached_property
    def projected_phases(self) -> NDArray[np.uint32]:
        """The phases of these."""
        return self._projected(self.phases)

    def _projected(self, waves: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([waves[:, : self.followed], waves[:, 3 * self.followed :]], axis=1)

    @cached_property
    def hashed(self) -> NDArray[np.int64]:
        """Columns whose values have phases."""
        return np.flatnonzero(self._phases.any(axis=1))

    @cached_property
    def phases(self) -> NDArray[np.uint32]:
        """Multipliers of the hashes of those columns, (len(hashed), F)."""
        return np.ascontiguousarray(self._phases[self.hashed])

    @cached_property
    def _phases(self) -> NDArray[np.uint32]:
        parts = [d.phases for d in self.drawn.values()] or [np.zeros((self.p, 0), np.uint32)]
        return np.concatenate(parts, axis=1)

    # -- coordinates and landmarks -----------------------------------------------------------

    @cached_property
    def coordinates(self) -> NDArray[np.int64]:
        """Columns that linear kernels look at, in order."""
        wanted = [linear_columns(k, self.p) for k in self.kernels]
        found = {c for columns in wanted if columns for c in columns}
        return np.array([j for j in self.order.tolist() if j in found], dtype=np.int64)

    @cached_property
    def others(self) -> list[int]:
        """Numbers of the kernels that are evaluated at landmarks."""
        known = [
            u in self.drawn or linear_columns(k, self.p) is not None
            for u, k in enumerate(self.kernels)
        ]
        return [u for u, is_known in enumerate(known) if not is_known]

    @cached_property
    def landmark_scales(self) -> list[Array]:
        """The size of the numbers of each of these kernels, as many as there are numbers."""
        return [self._scales(self.kernels[u]) for u in self.others]

    def _scales(self, kernel: Kernel) -> Array:
        values = np.abs(kernel.aligned(self.landmarks, self.landmarks))
        size = float(np.median(values))
        size = size if size > 0 and np.isfinite(size) else 1.0
        count = self._numbers(kernel, self.landmarks[:1]).shape[1]
        return np.full(count, size if _flat_part(kernel) is None else np.sqrt(size))

    def _numbers(self, kernel: Kernel, rows: Array) -> Array:
        """Features of a flattened kernel; values of others at the landmarks."""
        flat = _flat_part(kernel)
        if flat is None:
            return kernel.tile(rows, self.landmarks)
        return flat.features(kernel.pick(rows) if isinstance(kernel, OnColumns) else rows)

    def at_landmarks(self, rows: Array) -> NDArray[np.int64]:
        """Numbers of these kernels, in steps, (n, all of them)."""
        parts = []
        for u, scales in zip(self.others, self.landmark_scales, strict=True):
            values = self._numbers(self.kernels[u], rows) / scales
            parts.append(np.rint(np.clip(values, -1024.0, 1024.0) * STEP).astype(np.int64))
        return np.concatenate(parts, axis=1)

    @cached_property
    def of_numbers(self) -> bool:
        """Whether columns of numbers are all that it needs: neither phases nor landmarks."""
        return not (len(self.hashed) or self.others or any(b.categories for b in self.bins))

    # -- the numbers of a cell ---------------------------------------------------------------

    @cached_property
    def n_features(self) -> int:
        """Numbers of a cell besides its bins."""
        return self.first_product + 4 * len(self.products)

    @cached_property
    def first_product(self) -> int:
        """Place of the first product of scores among the numbers of a cell."""
        landmarks = sum(map(len, self.landmark_scales))
        return 2 * self.n_waves + len(self.coordinates) + landmarks

    @cached_property
    def products(self) -> Index:
        """Twos of scores that are multiplied with one another, four products each, (Q, 2).

        The first of all columns are numbered as these, then come the next: `% p` is the column,
        `// p` which. First are those of `pairs`.
        """
        of_numbers = [not any(self.bins[j].categories for j in both) for both in self.pairs]
        finer = [(a, b) for a in range(self.twos) for b in range(self.twos) if a or b]
        numbers = self.pairs[np.array(of_numbers, np.bool_)]
        return np.concatenate([self.pairs, *(numbers + self.p * np.array(two) for two in finer)])

    @cached_property
    def score_steps(self) -> NDArray[np.int32]:
        """The scores in steps, whole numbers whose products are in steps of a sum."""
        return np.asarray(np.rint(self.scores * np.sqrt(STEP)), dtype=np.int32)

    @cached_property
    def score_words(self) -> NDArray[np.int32]:
        """Two scores of a bin as halves of one word, the second above, (twos p, bins)."""
        low, high = self.score_steps[..., 0], self.score_steps[..., 1]
        return (high << 16) | (low & 0xFFFF)

    @cached_property
    def scores(self) -> NDArray[np.float32]:
        """Two scores of every bin of every column, and so many twos, (twos p, bins, 2)."""
        return bin_scores(self.bins, self.key, self.twos)

    @property
    def n_bins(self) -> int:
        """Bins of all columns."""
        return sum(map(len, self.bins))

    @cached_property
    def edges(self) -> EdgeTable:
        """The bins of all columns, as compiled loops look them up."""
        return edge_table(self.bins)

    @cached_property
    def features(self) -> list[tuple[NDArray[np.int64], Array]]:
        """For each kernel, the places of its numbers in a cell, and the value of a step of each."""
        F, found, start = self.n_waves, {}, 0
        for u, drawn in self.drawn.items():
            where = np.arange(start, start + len(drawn))
            steps = np.sqrt(drawn.weights) / STEP
            found[u] = np.concatenate([where, F + where]), np.concatenate([steps, steps])
            start += len(drawn)
        for u, kernel in enumerate(self.kernels):
            columns = linear_columns(kernel, self.p)
            if columns is not None:
                own = np.flatnonzero(np.isin(self.coordinates, columns))
                found[u] = 2 * F + own, self.spread[self.coordinates[own]] / STEP
        start = 2 * F + len(self.coordinates)
        for u, scales in zip(self.others, self.landmark_scales, strict=True):
            found[u] = np.arange(start, start + len(scales)), scales / STEP
            start += len(scales)
        return [found[u] for u in range(len(self.kernels))]


def _flat_part(kernel: Kernel) -> FittedSpectral | None:
    """A kernel with a flattened spectrum, on all columns or on some, which has features."""
    inner = kernel.kernel if isinstance(kernel, OnColumns) else kernel
    return inner if isinstance(inner, FittedSpectral) else None


def fit_map(
    rows: NDArray[Any],
    recipe: Recipe | None,
    *,
    categorical: tuple[int, ...],
    frequencies: int,
    cells: int,
    key: int,
    binned: NDArray[Any] | None = None,
) -> SketchMap:
    """Make the map of a sketch of pooled pilot rows.

    Parameters
    ----------
    rows : array, shape (n, p)
        Pilot rows of both samples, which are in no cell.
    recipe : Recipe or None
        The kernels, whose bandwidths the rows give; None to look at columns only.
    categorical : tuple of int
        Columns whose values are compared for equality only.
    frequencies : int
        Frequencies of a kernel.
    cells : int
        Cells of both samples, to which the number of bins is fitted.
    key : int
        Picks the frequencies.
    binned : array, shape (N, p), optional
        All rows of both samples, to make bins of; those of the pilot by default.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    order = column_order(rows)
    kernels = () if recipe is None else recipe.fit(rows[:: -(-len(rows) // 1000)], order)
    for kernel in kernels:
        check_own_kernel(kernel, rows[:2], rows[:4])
    most = int(np.clip(ALL_BINS // (cells * rows.shape[1]), FEWEST_BINS, MOST_BINS))
    bins = (
        [fit_bins(v, categories=j in categorical, most=most) for j, v in enumerate(rows.T)]
        if binned is None
        else fit_pooled(np.asarray(binned, dtype=np.float64), categorical, most)
    )
    center, spread = np.array([spread_of(column) for column in rows.T]).T
    needs_landmarks = any(
        not has_frequencies(k) and linear_columns(k, rows.shape[1]) is None for k in kernels
    )
    landmarks = rows[:: -(-len(rows) // LANDMARKS)] if needs_landmarks else rows[:0]
    pairs = _pairs_of(rows, order)
    return SketchMap(
        *(kernels, center, spread, tuple(bins), frequencies, key, landmarks, pairs, order),
        twos=_twos_of(bins, pairs),
    )


def _twos_of(bins: Sequence[ColumnBins], pairs: Index) -> int:
    """Twos of waves of columns of numbers: the more, the fewer pairs of them there are."""
    count = sum(not any(bins[j].categories for j in both) for both in pairs)
    return max(1, min(MOST_TWOS, math.isqrt(MOST_PRODUCTS // (4 * count)))) if count else 1


def _pairs_of(rows: Array, order: Index) -> Index:
    """Pairs of columns, which equal correlations and rounding pick by the order of columns."""
    found = order[dependent_pairs(np.ascontiguousarray(rows[:, order]), MOST_PAIRS)]
    pairs = np.sort(found, axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]
