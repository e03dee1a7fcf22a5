"""The test on cells: statistics of all kernels and columns under every draw.

Two cells of the same number of rows may change places under the null hypothesis. With as many
cells of x as of y they are swapped in pairs, by signs; otherwise the labels of all cells are
permuted, or those inside each of many groups of cells. A draw's sum of features is one row of a
matrix product, exact in integers, and a statistic is the squared length of it, less its mean over
all draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array
from nosplit.pairs.loop import n_workers
from nosplit.pairs.statistics import ColumnDraws, DrawnStatistics
from nosplit.sketch.maps import SketchMap
from nosplit.sketch.sums import CellSums

__all__ = [
    "DRAWS",
    "EXACT",
    "REGULARISATIONS",
    "CellDraws",
    "ColumnView",
    "KernelView",
    "Lens",
    "Slots",
    "Swaps",
    "Units",
    "chunks_of",
    "column_draws",
    "column_lenses",
    "covariance",
    "drawn_statistics",
    "kernel_view",
    "lenses_of_bins",
    "look",
    "mapped",
    "means_of",
    "pair_lenses",
    "statistics_under",
    "units_of",
    "whole_units",
]

Array32 = NDArray[np.float32]
T = TypeVar("T")

# Draws computed at once.
DRAWS = 512
# Integers up to here are exact in float32, sums of them too.
EXACT = 1 << 24
# Flattened kernels divide by λ + γλ_max, for these γ.
REGULARISATIONS = (1e-1, 1e-3)
# Thresholds of the cumulative statistic of a column.
THRESHOLDS = 31
# A statistic whose variance is this share of its squared mean is taken to be constant.
CONSTANT = 1e-6


@dataclass(frozen=True, eq=False)
class Lens:
    """One way to look at the sum of features: kernels that are quadratic forms of the same numbers.

    Attributes
    ----------
    where : array of int, or slice
        Places of the numbers in a cell.
    axes : array, shape (len(where), k) or (len(where),)
        Directions in which they are looked at; one number each for the numbers as they are.
    gains : array, shape (k, s)
        Weights of the squares along these directions, a column for each of s kernels.
    """

    where: NDArray[np.int64] | slice
    axes: Array
    gains: Array

    def along(self, numbers: NDArray[Any]) -> Array:
        """Numbers of cells, or sums of them, along the axes."""
        own = numbers[:, self.where].astype(np.float64)
        return own * self.axes if self.axes.ndim == 1 else np.asarray(own @ self.axes)


@dataclass(frozen=True, eq=False)
class Units:
    """Cells, or differences of them, in integers, and the value of a step of each column."""

    values: Array32
    steps: Array

    def along(self, lens: Lens) -> Array:
        """Units along the axes of a lens."""
        return lens.along(self.values)


def whole_units(values: Array, terms: int) -> Units:
    """Units rounded so that sums of so many of them are exact in float32.

    Products are then the same however they are cut, and draws that tie, tie exactly.
    """
    steps = np.maximum(np.abs(values).max(axis=0) * terms / EXACT, 1.0)
    return Units(np.rint(values / steps).astype(np.float32), steps)


class CellDraws(Protocol):
    """What may happen to cells under the null hypothesis: a product with weights for each draw.

    A cell has as many rows in the matrix that weights are multiplied with as it may look, `looks`:
    one where it keeps its number and changes its sign or its label, several where a draw picks
    one of them.
    """

    @property
    def n_units(self) -> int:
        """Number of cells, or of pairs of them."""
        ...

    @property
    def looks(self) -> int:
        """Rows of the matrix that belong to one unit."""
        ...

    @property
    def spread(self) -> float:
        """Mean square of the weight of a row, less what all have in common."""
        ...

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        ...

    def weights(self, first: int, count: int) -> Array32:
        """Weights of all rows under some draws."""
        ...

    def sums(self, weights: Array32, units: Units) -> Array:
        """Sums of weighted rows, less their mean over all draws."""
        ...

    def about_mean(self, units: Array) -> Array:
        """Rows about what no draw moves."""
        ...

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of rows along some directions."""
        ...


def chunks_of(flips: int) -> Iterator[tuple[int, int]]:
    """Number and size of each chunk of so many draws, the observed one included."""
    return ((i, min(DRAWS, flips + 1 - i)) for i in range(0, flips + 1, DRAWS))


@dataclass(frozen=True)
class Swaps:
    """Which cells change places: pairs by signs, or all labels by permutation."""

    n_x: int
    n_y: int
    flips: int
    key: int

    @property
    def paired(self) -> bool:
        """Whether cells are swapped in pairs."""
        return self.n_x == self.n_y

    @property
    def n_units(self) -> int:
        """Rows of the matrix that draws are multiplied with."""
        return self.n_x if self.paired else self.n_x + self.n_y

    @property
    def looks(self) -> int:
        """Rows of the matrix that belong to one unit."""
        return 1

    def units(self, x: NDArray[Any], y: NDArray[Any]) -> Units:
        """What draws are multiplied with: differences of pairs, or all cells about their mean.

        Under no draw does their rounding change.
        """
        if self.paired:
            values = np.subtract(x, y, dtype=np.float64)
        else:
            values = np.concatenate([x, y]).astype(np.float64)
            values -= np.rint(values.mean(axis=0))
        return whole_units(values, self.n_units)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        return chunks_of(self.flips)

    def weights(self, first: int, count: int) -> Array32:
        """Weights of units under some draws, (count, n_units): ±1, or 1 for cells labelled x."""
        key = np.array([self.key, first], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        if self.paired:
            bits = np.frombuffer(rng.bytes(count * -(-self.n_units // 8)), dtype=np.uint8)
            signs = np.unpackbits(bits.reshape(count, -1), axis=1)[:, : self.n_units]
            weights = np.float32(1.0) - np.float32(2.0) * signs
        else:
            from nosplit._support.loops.dealing import chosen

            weights = np.zeros((count, self.n_units), np.float32)
            chosen(rng.random((count, self.n_x)), weights)
        if first == 0:
            weights[0] = 1.0 if self.paired else np.arange(self.n_units) < self.n_x
        return weights

    @property
    def spread(self) -> float:
        """Mean square of a unit's weight, less what all have in common."""
        share = self.n_x / (self.n_x + self.n_y)
        return 1.0 if self.paired else share * (1.0 - share)

    def sums(self, weights: Array32, units: Units) -> Array:
        """Sums of weighted units, less their mean over all draws."""
        sums: Array = (weights @ units.values).astype(np.float64)
        if self.paired:
            return sums
        return np.asarray(sums - self.n_x / self.n_units * units.values.sum(axis=0, dtype=float))

    def about_mean(self, units: Array) -> Array:
        """Units about what no draw moves: 0 for differences, their mean for cells."""
        return units if self.paired else units - units.mean(axis=0)

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of units along some directions."""
        centred = self.about_mean(along)
        share = 1.0 if self.paired else self.n_units / (self.n_units - 1) * self.spread
        return share * np.asarray(np.einsum("ik,ik->k", centred, centred))


@dataclass(frozen=True)
class Slots(Swaps):
    """Labels are permuted inside groups: each has as many cells of x, and as many of y.

    The cells of x come first, those of a group one after the other, then those of y. Cells may be
    of different sizes in different groups.
    """

    groups: int = 1

    @property
    def paired(self) -> bool:
        """Cells are labelled, not swapped by signs."""
        return False

    @property
    def per_group(self) -> tuple[int, int]:
        """Cells of x and of y in a group."""
        return self.n_x // self.groups, self.n_y // self.groups

    def units(self, x: NDArray[Any], y: NDArray[Any]) -> Units:
        """All cells about the mean of their group."""
        values = np.concatenate([x, y]).astype(np.float64)
        values -= np.rint(values - self.about_mean(values))
        return whole_units(values, self.n_units)

    def weights(self, first: int, count: int) -> Array32:
        """Weights of units under some draws: 1 for cells labelled x."""
        key = np.array([self.key, first], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        a, b = self.per_group
        places = rng.random((count, self.groups, a + b)).argsort(axis=2).argsort(axis=2)
        labelled = (places < a).astype(np.float32)
        if first == 0:
            labelled[0] = np.arange(a + b) < a
        sides = labelled[:, :, :a], labelled[:, :, a:]
        return np.concatenate([side.reshape(count, -1) for side in sides], axis=1)

    @property
    def spread(self) -> float:
        """Variance of a sum of labelled units of a group, over the sum of their squares."""
        a, b = self.per_group
        return a * b / ((a + b) * (a + b - 1))

    def about_mean(self, units: Array) -> Array:
        """Units about the mean of their group."""
        a, b = self.per_group
        x = units[: self.n_x].reshape(self.groups, a, -1)
        y = units[self.n_x :].reshape(self.groups, b, -1)
        mean = (x.sum(axis=1, keepdims=True) + y.sum(axis=1, keepdims=True)) / (a + b)
        parts = [(side - mean).reshape(-1, units.shape[1]) for side in (x, y)]
        return np.concatenate(parts)

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of units along some directions."""
        centred = self.about_mean(along)
        return self.spread * np.asarray(np.einsum("ik,ik->k", centred, centred))


@dataclass(frozen=True, eq=False)
class KernelView:
    """The numbers that kernels look at, and how.

    Attributes
    ----------
    units : Units
        The numbers.
    lenses : list of Lens
        One for each plain kernel: its statistic first, then those with a flattened spectrum.
    flattened : array of bool
        Which of all the statistics are of flattened kernels.
    """

    units: Units
    lenses: list[Lens]
    flattened: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ColumnView:
    """Numbers that show columns, or pairs of them; lenses on them, and what each looks at."""

    units: Units
    lenses: list[Lens]
    columns: NDArray[np.int64]


def kernel_view(
    features: Sequence[tuple[NDArray[np.int64], Array]],
    draws: CellDraws,
    units: Units,
    regularisations: Sequence[float] = REGULARISATIONS,
) -> KernelView:
    """Plain kernels, and the same with a flattened spectrum.

    The second moment of the units changes under no draw. Along its eigenvectors, a kernel divides
    squares by λ + γλ_max where a plain one does not.

    Parameters
    ----------
    features : sequence of (array of int, array)
        For each kernel, the places of its numbers in a cell, and the value of a step of each.
    draws : CellDraws
        What draws do.
    units : Units
        The numbers.
    regularisations : sequence of float
        The γ.
    """
    lenses, flattened = [], []
    for where, steps in features:
        steps = steps * units.steps[where]
        part = draws.about_mean(units.values[:, where] * steps)
        values, axes = np.linalg.eigh(part.T @ part)
        largest = max(float(values[-1]), np.finfo(np.float64).tiny)
        # The spectrum of one number is flat: a copy of a kernel is of no use, and no help to OST.
        several = regularisations if len(where) > 1 else ()
        flat = [1.0 / (np.maximum(values, 0.0) / largest + g) for g in several]
        gains = np.stack([np.ones_like(values), *flat], axis=1)
        lenses.append(Lens(where, steps[:, None] * axes, gains))
        flattened += [False, *(True for _ in several)]
    return KernelView(units, lenses, np.array(flattened))


def column_lenses(sketch: SketchMap, units: Units, pooled: Array) -> list[list[Lens]]:
    """For each column its lenses on bins: cumulative (Anderson-Darling), and bin by bin.

    `pooled` counts the rows of all cells in each bin, which no draw changes.
    """
    found, start = [], 0
    for bins in sketch.bins:
        where = np.arange(start, start + len(bins))
        start += len(bins)
        lenses = lenses_of_bins(where, pooled[where], categories=bins.categories)
        found.append([_in_steps(lens, units.steps[where]) for lens in lenses])
    return found


def pair_lenses(sketch: SketchMap, units: Units) -> list[Lens]:
    """For each pair of columns a lens on the products of their scores."""
    start = sketch.n_features - 4 * len(sketch.pairs)
    places = start + np.arange(4 * len(sketch.pairs)).reshape(-1, 4)
    return [Lens(w, units.steps[w], np.ones((4, 1))) for w in places]


def _in_steps(lens: Lens, steps: Array) -> Lens:
    """A lens on numbers that were divided by steps."""
    return replace(lens, axes=(steps if lens.axes.ndim == 1 else steps[:, None]) * lens.axes)


def lenses_of_bins(
    where: NDArray[np.int64] | slice, counts: Array, *, categories: bool
) -> list[Lens]:
    """Lenses on the bins of a column, of so many pooled rows each."""
    size = len(counts)
    share = counts / max(counts.sum(), 1.0)
    live = share > 0
    single = np.where(live, 1.0 / np.sqrt(np.where(live, share, 1.0)), 0.0)
    fine = Lens(where, single, np.ones((size, 1)))
    if categories or np.count_nonzero(live) <= 2:
        return [fine]
    below = np.cumsum(share)
    levels = np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1)
    chosen = np.unique(np.minimum(np.searchsorted(below, levels), size - 2))
    variance = below[chosen] * (1.0 - below[chosen])
    chosen, variance = chosen[variance > 0], variance[variance > 0]
    steps = (np.arange(size)[:, None] <= chosen) / np.sqrt(variance)
    return [Lens(where, steps, np.ones((len(chosen), 1))), fine]


def drawn_statistics(
    sketch: SketchMap,
    x: CellSums,
    y: CellSums,
    *,
    flips: int,
    key: int,
    owners: Sequence[int] | None = None,
    workers: int | None = None,
    groups: int | None = None,
) -> DrawnStatistics:
    """Statistics of all kernels and of all columns of two sketches under every draw.

    Parameters
    ----------
    sketch : SketchMap
        The map of both.
    x, y : CellSums
        The sketches.
    flips : int
        Number of random draws.
    key : int
        Picks the draws.
    owners : sequence of int, optional
        The column that each column of the rows belongs to, where one has several.
    workers : int, optional
        Threads; all cores by default.
    groups : int, optional
        Cells change places inside so many groups only; by default any may.
    """
    swaps, features, bins, pooled = units_of(x, y, flips, key, groups)
    by_column = column_lenses(sketch, bins, pooled)
    names = range(sketch.p) if owners is None else owners
    which = np.array([j for j, own in zip(names, by_column, strict=True) for _ in own])
    pairs = pair_lenses(sketch, features)
    return statistics_under(
        swaps,
        kernel_view(sketch.features, swaps, features),
        ColumnView(bins, [lens for own in by_column for lens in own], which),
        ColumnView(features, pairs, np.arange(len(pairs))),
        workers=workers,
    )


def statistics_under(
    draws: CellDraws,
    kernels: KernelView,
    columns: ColumnView | None = None,
    pairs: ColumnView | None = None,
    *,
    workers: int | None = None,
) -> DrawnStatistics:
    """Statistics of kernels, of single columns and of pairs of columns under every draw.

    Parameters
    ----------
    draws : CellDraws
        What draws do with cells.
    kernels : KernelView
        Numbers of all cells that kernels look at.
    columns, pairs : ColumnView, optional
        Numbers of all cells that show single columns, and pairs of them.
    workers : int, optional
        Threads; all cores by default.
    """
    views: list[KernelView | ColumnView] = [kernels, *(v for v in (columns, pairs) if v)]
    means = [[means_of(draws, view.units, lens) for lens in view.lenses] for view in views]
    different = {id(view.units): view.units for view in views}

    def part(chunk: tuple[int, int]) -> list[Array]:
        weights = draws.weights(*chunk)
        sums = {i: draws.sums(weights, units) for i, units in different.items()}
        return [
            look(sums[id(view.units)], view.lenses, mean)
            for view, mean in zip(views, means, strict=True)
        ]

    parts = mapped(part, list(draws.chunks()), n_workers(workers))
    values = dict(zip(map(id, views), map(np.concatenate, zip(*parts, strict=True)), strict=True))
    N = draws.n_units
    m = N * (N - 1) // 2
    tau = values[id(kernels)] / (2.0 * np.sqrt(m) * draws.spread)
    cov = covariance(draws, kernels.units, kernels.lenses, m)
    plain, flat = ~kernels.flattened, kernels.flattened
    single, together = (
        None if view is None else column_draws(draws, view, values[id(view)])
        for view in (columns, pairs)
    )
    return DrawnStatistics(
        tau[:, plain],
        cov[np.ix_(plain, plain)],
        N,
        m,
        tau[:, flat],
        cov[np.ix_(flat, flat)],
        single,
        together,
    )


def column_draws(draws: CellDraws, view: ColumnView, values: Array) -> ColumnDraws:
    """Statistics of columns, or of pairs of them, in standard deviations."""
    spreads, shapes = _gamma_laws(draws, view.units, view.lenses)
    found = values / spreads
    found[:, ~np.isfinite(spreads)] = 0.0
    return ColumnDraws(found, shapes, view.columns)


def _gamma_laws(draws: CellDraws, units: Units, lenses: Sequence[Lens]) -> tuple[Array, Array]:
    """Standard deviations of statistics under the draws, and shapes of gamma laws like theirs.

    A squared length has the mean Σ|u|² and, under flips, the variance 2Σ⟨u, v⟩² over all pairs of
    different units; a gamma law of shape k has √k standard deviations in its mean. Where one unit
    alone differs no draw changes anything: the deviation is infinite, for no evidence.
    """
    laws = []
    for lens in lenses:
        along = draws.about_mean(units.along(lens))
        moment = along.T @ along
        own = _with_itself(along, np.ones((along.shape[1], 1)), draws.looks)
        first = draws.spread * float(np.trace(moment))
        second = 2.0 * draws.spread**2 * float(np.sum(moment * moment) - np.sum(own * own))
        live = second > CONSTANT * first * first
        laws.append((np.sqrt(second), first * first / second) if live else (np.inf, 1.0))
    spreads, shapes = np.array(laws).reshape(-1, 2).T
    return spreads, shapes


def means_of(draws: CellDraws, units: Units, lens: Lens) -> Array:
    """Means over all draws of what a lens shows, one for each of its kernels."""
    return np.asarray(draws.mean_square(units.along(lens)) @ lens.gains)


def look(sums: Array, lenses: Sequence[Lens], means: Sequence[Array]) -> Array:
    """Weighted squares of sums along the axes of each lens, less their means."""
    if not lenses:
        return np.zeros((len(sums), 0))
    parts = []
    for lens, mean in zip(lenses, means, strict=True):
        along = lens.along(sums)
        parts.append((along * along) @ lens.gains - mean)
    return np.concatenate(parts, axis=1)


def covariance(draws: CellDraws, units: Units, lenses: Sequence[Lens], m: int) -> Array:
    """Second moments of pair values, over pairs of different units: m⁻¹ Σ_{a<b} h_u h_v.

    Where a unit has several looks, h_u h_v is summed over the looks of both.
    """
    along = [draws.about_mean(units.along(lens)) for lens in lenses]
    both = list(zip(along, lenses, strict=True))
    own = np.concatenate([_with_itself(a, lens.gains, draws.looks) for a, lens in both])
    starts = np.cumsum([0] + [lens.gains.shape[1] for lens in lenses])
    total = np.empty((starts[-1], starts[-1]))
    for i, (a, u) in enumerate(both):
        for j, (b, v) in enumerate(both[: i + 1]):
            block = u.gains.T @ (a.T @ b) ** 2 @ v.gains
            rows, columns = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            total[rows, columns], total[columns, rows] = block, block.T
    cov = (total - own @ own.T) / (2.0 * m)
    return np.asarray((cov + cov.T) / 2.0)


def _with_itself(along: Array, gains: Array, looks: int) -> Array:
    """Values of each unit with itself, for all pairs of its looks, (s, N · looks²)."""
    own = along.reshape(-1, looks, along.shape[1])
    turned = own.transpose(0, 2, 1)
    return np.stack([((own * gain) @ turned).ravel() for gain in gains.T])


def mapped(
    work: Callable[[tuple[int, int]], T], chunks: list[tuple[int, int]], workers: int
) -> list[T]:
    """Results for all chunks of draws, in their order."""
    if workers == 1 or len(chunks) == 1:
        return [work(chunk) for chunk in chunks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, chunks))


def units_of(
    x: CellSums, y: CellSums, flips: int, key: int, groups: int | None = None
) -> tuple[Swaps, Units, Units, Array]:
    """The draws, the units' features and bins, and the pooled bins of two sketches."""
    n_x, n_y = len(x.features), len(y.features)
    if groups is None or n_x == n_y == groups:
        swaps = Swaps(n_x, n_y, flips, key)
    else:
        swaps = Slots(n_x, n_y, flips, key, groups)
    pooled = x.bins.sum(axis=0, dtype=np.float64) + y.bins.sum(axis=0, dtype=np.float64)
    return swaps, swaps.units(x.features, y.features), swaps.units(x.bins, y.bins), pooled
