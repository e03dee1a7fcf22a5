"""All that the default test looks at, from the cells of a pilot, for samples of any size.

Kernels, plain and flattened, single columns, pairs of columns and distances from the middle are
squared lengths of one sum: of what rows of x and of y differ by, in features and in bins. Over n
rows of either that sum is √n (√n μ + ε), and nearly normal; the noise ε is that of the pilot's
cells, and μ its mean gap.
Every length of a mean gap has noise in it, so each is shortened by what noise adds on average, and
all of them together are made as long as pilots like this one suggest: those whose strongest
evidence would be like the observed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import new_key
from nosplit._old.inference.calibrating.evidence import joining_of, kinds_of
from nosplit._old.inference.calibrating.ranking import Joining
from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._old.sketch.cells import Means, View, statistics_under
from nosplit._old.sketch.lenses import (
    ColumnView,
    KernelView,
    column_view,
    distance_views,
    kernel_view,
    of_lenses,
    pair_lenses,
)
from nosplit._old.sketch.maps import SketchMap, fit_map
from nosplit._old.sketch.rows import MOST_COLUMNS
from nosplit._old.sketch.sums import CellSums
from nosplit._old.sketch.swaps import Swaps
from nosplit._old.sketch.units import CellUnits, Lens
from nosplit._types import Array
from nosplit.data.encoding import Encoding
from nosplit.data.samples import Samples
from nosplit.kernels.recipes import Recipe
from nosplit.methods import Adaptive

__all__ = ["PlannedGap", "gaps_of"]

# Cells of either sample of the pilot, rows that bins are made of, and frequencies of a kernel;
# and cells of either sample of a sketch.
CELLS, MAP_ROWS, FREQUENCIES, SKETCHED = 800, 2000, 64, 1000
# Draws of the null law, simulated pilots of a length, lengths between those that are clearly too
# short and too long, and the longest.
NULL, PILOTS, BETWEEN, LONGEST = 4000, 400, 9, 64.0
# The least squared length, and one without a direction, as shares of what noise has: less than
# nothing is no certainty of nothing.
LEAST_KEPT, NOTHING = 0.05, 1e-9
# Axes of a kernel that are shortened together.
TOGETHER = 16

Views = tuple[KernelView, ColumnView, ColumnView, list[ColumnView]]


@dataclass(frozen=True, eq=False)
class _PilotCells:
    """Cells of a pilot: their noise, and the mean gap as every lens shows it.

    Attributes
    ----------
    n_rows, p : int
        Rows of either sample in them, and columns.
    views : tuple of views
        Gaps of cells about their mean, and lenses on them.
    gaps : sequence of sequences of arrays
        The mean gap along the axes of every lens, as long as it is without its noise.
    """

    n_rows: int
    p: int
    views: Views
    gaps: Sequence[Sequence[Array]]

    @property
    def n_cells(self) -> int:
        return len(self.views[0].units.values)

    def statistics(self, z: Array, gaps: Sequence[Sequence[Array]]) -> DrawnStatistics:
        """Statistics of noise, by weights of the cells, and of gaps along the axes of lenses."""

        def see(_: Any, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
            each = zip(views, gaps, means, strict=True)
            return [_lengths(v.units, v.lenses, z, own, mean) for v, own, mean in each]

        draws = Swaps(self.n_cells, self.n_cells, 1, 0)
        return statistics_under(draws, *self.views, see=see)

    @cached_property
    def null(self) -> DrawnStatistics:
        """Statistics without a difference."""
        z = np.random.default_rng(0).standard_normal((NULL, self.n_cells))
        return self.statistics(z, self._times(0.0))

    def _times(self, factor: float) -> list[list[Array]]:
        return [[factor * gap for gap in own] for own in self.gaps]

    def evidence(
        self, factor: float, trials: int, rng: np.random.Generator, *, pairs: bool = True
    ) -> tuple[Array, Array]:
        """Kinds of evidence, (kinds, trials), with gaps so many times as long, and without any."""
        z = rng.standard_normal((trials, self.n_cells))
        kinds = kinds_of(Adaptive(), self.statistics(z, self._times(factor)), self.null)
        names = self._names(pairs=pairs)
        drawn, null = (np.stack([own[name] for name in names]) for own in (kinds, self.null_kinds))
        return drawn, null

    @cached_property
    def null_kinds(self) -> dict[str, Array]:
        """Kinds of evidence without a difference."""
        return kinds_of(Adaptive(), self.null)

    def _names(self, *, pairs: bool) -> list[str]:
        """Kinds of evidence of tests that look at pairs of columns, or do not."""
        return [name for name in self.null_kinds if pairs or name != "largest pair"]

    def joining(self, n_units: int, *, pairs: bool) -> Joining:
        """The way a test of so many units joins the kinds."""
        return joining_of(self._names(pairs=pairs), self.null, n_units)


@dataclass(frozen=True, eq=False)
class PlannedGap:
    """The pilot's cells, with the length of the mean gap that is planned for."""

    cells: _PilotCells
    length: float

    def scaled(self, factor: float) -> PlannedGap:
        """A gap of the same kind, `factor` times as large when squared."""
        return replace(self, length=float(np.sqrt(factor)) * self.length)

    def evidence(
        self, n: int, trials: int, rng: np.random.Generator, *, sketched: bool
    ) -> tuple[Array, Array, Joining]:
        """Kinds of evidence of tests of n rows of either sample, and of draws of the null law.

        Last is how the test joins them.

        Parameters
        ----------
        n : int
            Rows of either sample.
        trials : int
            Tests.
        rng : Generator
            Source of them.
        sketched : bool
            Whether the tests are of cells, and not of all pairs of rows.
        """
        factor = self.length * float(np.sqrt(n / self.cells.n_rows))
        pairs = sketched or self.cells.p <= MOST_COLUMNS
        joining = self.cells.joining(min(n, SKETCHED) if sketched else n, pairs=pairs)
        return *self.cells.evidence(factor, trials, rng, pairs=pairs), joining


def gaps_of(
    data: Samples, rows: Sequence[NDArray[Any]], recipe: Recipe, rng: np.random.Generator
) -> tuple[PlannedGap, PlannedGap, PlannedGap]:
    """Measure the gap that the default test would see: the shortest, the likeliest, the longest.

    Parameters
    ----------
    data : Samples
        The pilot.
    rows : pair of arrays
        As many rows of either sample as numbers, in random order.
    recipe : Recipe
        The default kernels.
    rng : Generator
        Source of frequencies and draws.
    """
    encoding = data.encoding
    count = min(len(rows[0]), CELLS)
    c = len(rows[0]) // count
    sketch = fit_map(
        np.concatenate([side[:MAP_ROWS] for side in rows]),
        recipe,
        categorical=() if encoding is None else encoding.categorical,
        frequencies=FREQUENCIES,
        cells=2 * count,
        key=new_key(rng),
    )
    sums = []
    for side in rows:
        sums.append(CellSums.empty(sketch, count))
        sums[-1].add(sketch, side[: c * count], (np.arange(c * count) // c).astype(np.int32))
    x, y = sums
    features, bins = x.features - y.features, x.bins - y.bins
    views = _views_of(sketch, encoding, features, bins, x.bins + y.bins)
    looked_at: list[tuple[View, Any]] = list(
        zip(views[:3], (features, bins, features), strict=True)
    )
    looked_at += zip(views[3], (bins, features), strict=False)
    seen = [[lens.along(gaps.sum(axis=0)) for lens in view.lenses] for view, gaps in looked_at]
    shorter = [
        [_without_noise(gap, view.units, lens) for gap, lens in zip(own, view.lenses, strict=True)]
        for own, (view, _) in zip(seen, looked_at, strict=True)
    ]
    cells = _PilotCells(c * count, sketch.p, views, shorter)
    ours = cells.statistics(np.zeros((1, cells.n_cells)), seen)
    kinds = kinds_of(Adaptive(), ours, cells.null), cells.null_kinds
    found = _strength(*(np.stack(list(own.values())) for own in kinds))
    short, middle, long = _fitting_lengths(cells, float(found[0]), rng)
    return PlannedGap(cells, short), PlannedGap(cells, middle), PlannedGap(cells, long)


def _views_of(
    sketch: SketchMap, encoding: Encoding | None, features: Any, bins: Any, pooled: Any
) -> Views:
    """Gaps of cells about their mean, as kernels, columns, pairs and distances look at them.

    Half of the cells tell how spectra are flattened, the others how large the noise is: along
    small axes, those that told them would make it too small.
    """
    (fitted, waves), (_, counts) = _halves(features), _halves(bins)
    in_bins = pooled.sum(axis=0, dtype=np.float64)
    pairs = pair_lenses(sketch, waves)
    count = len(fitted.values)
    view = kernel_view(sketch.features, Swaps(count, count, 1, 0), fitted)
    return (
        replace(view, units=waves),
        column_view(sketch, counts, in_bins, None if encoding is None else encoding.owners),
        ColumnView(waves, pairs, of_lenses(range(len(pairs)), pairs)),
        distance_views(sketch, waves, counts, in_bins),
    )


def _halves(gaps: Any) -> tuple[CellUnits, CellUnits]:
    """Gaps of every second cell about the mean, and of the others; either with the noise of all."""
    values = gaps.astype(np.float64)
    rest = (values - values.mean(axis=0)) * np.sqrt(len(values) / (len(values) - 1.0))
    parts = (rest[i::2] * np.sqrt(len(rest) / len(rest[i::2])) for i in (1, 0))
    first, second = (CellUnits(v.astype(np.float32), np.ones(v.shape[1])) for v in parts)
    return first, second


def _without_noise(gap: Array, units: CellUnits, lens: Lens) -> Array:
    """A gap along the axes of a lens, as long as it is without its noise (James and Stein).

    Where spectra are flattened, small axes count as much as large ones: they are shortened by
    themselves, some neighbours together.
    """
    noise = units.along(lens)
    chance, several = (noise**2).sum(axis=0), lens.gains.shape[1] > 1
    if not (gap**2).sum() > NOTHING * chance.sum():  # no direction is known: any will do
        gap = np.resize((1.0, -1.0), len(noise)) @ noise
    starts = np.arange(0, len(gap), TOGETHER if several else len(gap))
    seen, random = (np.add.reduceat(v, starts) for v in (gap**2, chance))
    kept = np.maximum(seen - random, LEAST_KEPT * random) / np.where(seen > 0, seen, 1.0)
    return np.asarray(gap * np.sqrt(np.repeat(kept, np.diff(np.append(starts, len(gap))))))


def _lengths(
    units: CellUnits, lenses: Sequence[Lens], z: Array, gaps: Sequence[Array], means: Means
) -> Array:
    """Squared lengths of weighted sums of cells and a gap, less their means."""
    each = zip(lenses, gaps, means, strict=True)
    parts = [(z @ units.along(lens) + gap) ** 2 @ lens.gains - mean for lens, gap, mean in each]
    return np.concatenate([np.zeros((len(z), 0)), *parts], axis=1)


def _strength(kinds: Array, null: Array) -> Array:
    """The strongest kind of evidence, each on the scale of its own null law."""
    middle, high = np.quantile(null, [0.5, 0.95], axis=1)[:, :, None]
    scale = np.where(high > middle, high - middle, 1.0)
    return np.asarray(((kinds - middle) / scale).max(axis=0))


def _fitting_lengths(
    cells: _PilotCells, observed: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Lengths of which pilots are stronger than ours with chances of 2.5, 50 and 97.5 %."""
    seed = new_key(rng)
    strengths = {0.0: _of_pilots(cells, 0.0, seed)}

    def stronger(length: float) -> float:
        if length not in strengths:
            strengths[length] = _of_pilots(cells, length, seed)
        return float(np.mean(strengths[length] > observed))

    low, high = 0.0, 0.25
    while stronger(high) < 0.99 and high < LONGEST:
        low, high = (high if stronger(high) < 0.01 else low), 2.0 * high
    for length in np.linspace(low, high, BETWEEN + 2)[1:-1]:
        stronger(float(length))
    lengths = sorted(strengths)
    # A pilot that shows less than pilots without a difference do knows no more than those.
    usual = max(observed, float(np.median(strengths[0.0])))
    ours, theirs = (
        np.maximum.accumulate([np.mean(strengths[v] > bar) for v in lengths])
        for bar in (observed, usual)
    )
    short, middle = np.interp((0.025, 0.5), ours, lengths)
    return float(short), float(middle), float(max(middle, np.interp(0.975, theirs, lengths)))


def _of_pilots(cells: _PilotCells, length: float, seed: int) -> Array:
    """Strengths of simulated pilots with gaps so many times as long."""
    return _strength(*cells.evidence(length, PILOTS, np.random.default_rng(seed)))
