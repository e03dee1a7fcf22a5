"""The test on cells: statistics of all kernels and columns under every draw.

A draw's sum of features is one row of a matrix product, exact in integers, and a statistic is the
squared length of it, less its mean over all draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nosplit._old.pairs.statistics import ColumnDraws, DrawnStatistics
from nosplit._old.sketch.lenses import (
    CONSTANT,
    ColumnView,
    KernelView,
    column_view,
    distance_views,
    kernel_view,
    of_lenses,
    pair_lenses,
)
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._old.sketch.swaps import CellDraws, Slots, Swaps
from nosplit._old.sketch.units import CellUnits, Lens
from nosplit._types import Array
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.errors import Caveat

__all__ = [
    "Means",
    "See",
    "Sketched",
    "View",
    "column_draws",
    "covariance",
    "drawn_statistics",
    "gamma_laws",
    "look",
    "mapped",
    "means_of",
    "see_all",
    "sketch_statistics",
    "statistics_under",
    "units_of",
]

T = TypeVar("T")
View = KernelView | ColumnView
Means = Sequence[Array]
See = Callable[[CellDraws, Sequence[View], Sequence[Means]], list[Array]]


@dataclass(frozen=True, eq=False)
class Sketched:
    """The sketches of two samples.

    Attributes
    ----------
    map : SketchMap
        The map of both.
    x, y : CellSums
        Their cells.
    c : int
        Rows of a cell.
    caveats : sequence
        What to know of the rows before relying on them.
    see : callable, optional
        Finds statistics under all draws, somewhere else than in memory.
    """

    map: SketchMap
    x: CellSums
    y: CellSums
    c: int
    caveats: Sequence[Caveat] = ()
    see: See | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows in cells, of x and of y."""
        return self.c * len(self.x.features), self.c * len(self.y.features)

    def counts(self, folds: int) -> Array:
        """Rows of x and of y in all folds and bins, (2, folds, Q)."""
        return np.stack([self.x.in_bins(folds), self.y.in_bins(folds)])

    def drawn(
        self,
        flips: int,
        key: int,
        owners: Sequence[int] | None = None,
        workers: int | None = None,
    ) -> DrawnStatistics:
        """Statistics of kernels and columns under every draw."""
        with one_blas_thread():
            return drawn_statistics(
                self.map,
                self.x,
                self.y,
                flips=flips,
                key=key,
                owners=owners,
                workers=workers,
                see=self.see,
            )


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
    see: See | None = None,
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
    see : callable, optional
        As in `statistics_under`.
    """
    swaps, features, bins, pooled = units_of(x, y, flips, key, groups)
    return sketch_statistics(sketch, swaps, features, bins, pooled, owners, workers, see)


def sketch_statistics(
    sketch: SketchMap,
    draws: CellDraws,
    features: CellUnits,
    bins: CellUnits,
    pooled: Array,
    owners: Sequence[int] | None = None,
    workers: int | None = None,
    see: See | None = None,
) -> DrawnStatistics:
    """Statistics of all kernels and of all columns under draws of any kind.

    Parameters
    ----------
    sketch : SketchMap
        What the numbers of cells are.
    draws : CellDraws
        What draws do with cells.
    features, bins : CellUnits
        Features and bins of all cells.
    pooled : array
        How much is in each bin, of all cells together.
    owners, workers, see
        As in `drawn_statistics`.
    """
    names = range(sketch.p) if owners is None else owners
    pairs = pair_lenses(sketch, features)
    both = [(names[j], names[k]) for j, k in sketch.pairs.tolist()]
    return statistics_under(
        draws,
        kernel_view(sketch.features, draws, features),
        column_view(sketch, bins, pooled, owners),
        ColumnView(features, pairs, of_lenses(range(len(pairs)), pairs), both),
        distance_views(sketch, features, bins, pooled),
        workers=workers,
        see=see,
    )


def statistics_under(
    draws: CellDraws,
    kernels: KernelView,
    columns: ColumnView | None = None,
    pairs: ColumnView | None = None,
    distances: Sequence[ColumnView] = (),
    *,
    workers: int | None = None,
    see: See | None = None,
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
    distances : sequence of ColumnView
        Numbers that show how far rows lie from the middle.
    workers : int, optional
        Threads; all cores by default.
    see : callable, optional
        Finds what all views show under all draws somewhere else than in memory: from the draws,
        the views and the means of what they show.
    """
    views: list[View] = [kernels, *(v for v in (columns, pairs, *distances) if v)]
    means = [[means_of(draws, view.units, lens) for lens in view.lenses] for view in views]
    shown = see_all(draws, views, means, workers) if see is None else see(draws, views, means)
    values = dict(zip(map(id, views), shown, strict=True))
    N = draws.n_units
    m = N * (N - 1) // 2
    tau = values[id(kernels)] / (2.0 * np.sqrt(m) * draws.spread)
    cov = covariance(draws, kernels.units, kernels.lenses, m)
    plain, flat = ~kernels.flattened, kernels.flattened
    single, together = (
        None if view is None else column_draws(draws, view, values[id(view)])
        for view in (columns, pairs)
    )
    apart = [column_draws(draws, view, values[id(view)]).values[:, 0] for view in distances]
    return DrawnStatistics(
        tau[:, plain],
        cov[np.ix_(plain, plain)],
        N,
        m,
        tau[:, flat],
        cov[np.ix_(flat, flat)],
        single,
        together,
        np.sum(apart, axis=0) if apart else None,
    )


def see_all(
    draws: CellDraws, views: Sequence[View], means: Sequence[Means], workers: int | None
) -> list[Array]:
    """Look at all views under all draws, (F, statistics) each, in memory."""
    different = {id(view.units): view.units for view in views}

    def part(chunk: tuple[int, int]) -> list[Array]:
        weights = draws.weights(*chunk)
        sums = {i: draws.sums(weights, units) for i, units in different.items()}
        return [
            look(sums[id(view.units)], view.lenses, mean)
            for view, mean in zip(views, means, strict=True)
        ]

    parts = mapped(part, list(draws.chunks()), n_workers(workers))
    return [np.concatenate(every) for every in zip(*parts, strict=True)]


def column_draws(draws: CellDraws, view: ColumnView, values: Array) -> ColumnDraws:
    """Statistics of columns, or of pairs of them, in standard deviations."""
    spreads, shapes = gamma_laws(draws, view.units, view.lenses)
    found = values / spreads
    found[:, ~np.isfinite(spreads)] = 0.0
    shows = np.array([name for lens in view.lenses for name in lens.shown], dtype=str)
    return ColumnDraws(found, shapes, view.columns, shows, view.both)


def gamma_laws(draws: CellDraws, units: CellUnits, lenses: Sequence[Lens]) -> tuple[Array, Array]:
    """Standard deviations of statistics under the draws, and shapes of gamma laws like theirs.

    A squared length has the mean Σ|u|² and, under flips, the variance 2Σ⟨u, v⟩² over all pairs of
    different units; a gamma law of shape k has √k standard deviations in its mean. Where one unit
    alone differs no draw changes anything: the deviation is infinite, for no evidence.
    """
    laws = [np.zeros((2, 0))]
    for lens in lenses:
        along = draws.about_mean(units.along(lens))
        moment = along.T @ along
        own = _with_itself(along, lens.gains, draws.looks)
        all_pairs = np.sum(lens.gains * ((moment * moment) @ lens.gains), axis=0)
        first = draws.spread * (np.diagonal(moment) @ lens.gains)
        second = 2.0 * draws.spread**2 * (all_pairs - np.sum(own * own, axis=1))
        live = second > CONSTANT * first * first
        second = np.where(live, second, 1.0)
        law = np.sqrt(second), first * first / second
        laws.append(np.where(live, law, [[np.inf], [1.0]]))
    spreads, shapes = np.concatenate(laws, axis=1)
    return spreads, shapes


def means_of(draws: CellDraws, units: CellUnits, lens: Lens) -> Array:
    """Means over all draws of what a lens shows, one for each of its kernels."""
    return np.asarray(draws.mean_square(units.along(lens)) @ lens.gains)


def look(sums: Array, lenses: Sequence[Lens], means: Sequence[Array]) -> Array:
    """Weighted squares of sums along the axes of each lens, less their means.

    Where a draw has several sums, (F, K, D), their squares are added.
    """
    if not lenses:
        return np.zeros((len(sums), 0))
    parts = []
    for lens, mean in zip(lenses, means, strict=True):
        squares = lens.along(sums) ** 2
        added = squares if squares.ndim == 2 else squares.sum(axis=1)
        parts.append(added @ lens.gains - mean)
    return np.concatenate(parts, axis=1)


def covariance(draws: CellDraws, units: CellUnits, lenses: Sequence[Lens], m: int) -> Array:
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
    if looks == 1:
        return np.asarray(((along * along) @ gains).T)
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
) -> tuple[Swaps, CellUnits, CellUnits, Array]:
    """The draws, the units' features and bins, and the pooled bins of two sketches."""
    n_x, n_y = len(x.features), len(y.features)
    if groups is None or n_x == n_y == groups:
        swaps = Swaps(n_x, n_y, flips, key)
    else:
        swaps = Slots(n_x, n_y, flips, key, groups)
    pooled = x.bins.sum(axis=0, dtype=np.float64) + y.bins.sum(axis=0, dtype=np.float64)
    return swaps, swaps.units(x.features, y.features), swaps.units(x.bins, y.bins), pooled
