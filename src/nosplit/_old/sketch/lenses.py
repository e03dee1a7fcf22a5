"""Kernels and columns as quadratic forms of the numbers of a cell: plain, flattened, by bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.statistics import CUMULATIVE, FINE, PLACE, SMOOTH, SPREAD
from nosplit._old.sketch.columns.distances import FEWEST, normal_axes
from nosplit._old.sketch.columns.waves import cosines
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.swaps import CellDraws
from nosplit._old.sketch.units import CellUnits, Lens
from nosplit._types import Array
from nosplit.errors import NonFiniteError

__all__ = [
    "REGULARISATIONS",
    "ColumnView",
    "KernelView",
    "column_lenses",
    "column_view",
    "distance_views",
    "in_steps",
    "kernel_view",
    "lenses_of_bins",
    "of_lenses",
    "pair_lenses",
]

# Flattened kernels divide by λ + γλ_max, for these γ.
REGULARISATIONS = (1e-1, 1e-3)

# Thresholds of the cumulative statistic of a column, and waves of the smooth one.
THRESHOLDS, WAVES = 31, 8

# Sums of features up to which their fourth powers are numbers.
LARGEST = 1e74
TOO_LARGE = (
    "The data is so large that variances of the kernels' values are not finite. Rescale it, for "
    "example to unit spread."
)

# A statistic whose variance is this share of its squared mean is taken to be constant.
CONSTANT = 1e-6


@dataclass(frozen=True, eq=False)
class KernelView:
    """The numbers that kernels look at, and how.

    Attributes
    ----------
    units : CellUnits
        The numbers.
    lenses : list of Lens
        One for each plain kernel: its statistic first, then those with a flattened spectrum.
    flattened : array of bool
        Which of all the statistics are of flattened kernels.
    """

    units: CellUnits
    lenses: list[Lens]
    flattened: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ColumnView:
    """Numbers that show columns, or pairs of them; lenses, and what each statistic looks at.

    `both` are the two columns of each pair.
    """

    units: CellUnits
    lenses: list[Lens]
    columns: NDArray[np.int64]
    both: Sequence[tuple[int, int]] = ()


def kernel_view(
    features: Sequence[tuple[NDArray[np.int64], Array]],
    draws: CellDraws,
    units: CellUnits,
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
    units : CellUnits
        The numbers.
    regularisations : sequence of float
        The γ.
    """
    lenses, flattened = [], []
    for where, steps in features:
        steps = steps * units.steps[where]
        part = draws.about_mean(units.values[:, where] * steps)
        if not np.abs(part).max(initial=0.0) < LARGEST:
            raise NonFiniteError(TOO_LARGE)
        values, axes = np.linalg.eigh(part.T @ part)
        largest = max(float(values[-1]), np.finfo(np.float64).tiny)
        # The spectrum of one number is flat: a copy of a kernel is of no use, and no help to OST.
        several = regularisations if len(where) > 1 else ()
        flat = [1.0 / (np.maximum(values, 0.0) / largest + g) for g in several]
        gains = np.stack([np.ones_like(values), *flat], axis=1)
        lenses.append(Lens(where, steps[:, None] * axes, gains))
        flattened += [False, *(True for _ in several)]
    return KernelView(units, lenses, np.array(flattened))


def column_lenses(sketch: SketchMap, units: CellUnits, pooled: Array) -> list[list[Lens]]:
    """For each column its lenses on bins: cumulative (Anderson-Darling), and bin by bin.

    `pooled` counts the rows of all cells in each bin, which no draw changes.
    """
    found, start = [], 0
    for bins in sketch.bins:
        where = np.arange(start, start + len(bins))
        start += len(bins)
        alone = sketch.p == 1
        lenses = lenses_of_bins(where, pooled[where], categories=bins.categories, alone=alone)
        found.append([in_steps(lens, units.steps[where]) for lens in lenses])
    return found


def column_view(
    sketch: SketchMap, units: CellUnits, pooled: Array, owners: Sequence[int] | None = None
) -> ColumnView:
    """All lenses on bins; `owners` are the columns that columns of the rows belong to."""
    by_column = column_lenses(sketch, units, pooled)
    names = range(sketch.p) if owners is None else owners
    lenses = [lens for own in by_column for lens in own]
    of = [j for j, own in zip(names, by_column, strict=True) for _ in own]
    return ColumnView(units, lenses, of_lenses(of, lenses))


def pair_lenses(sketch: SketchMap, units: CellUnits) -> list[Lens]:
    """For each pair of columns a lens on the products of their scores.

    Of two columns of numbers it has a statistic for each of up to three scales: of the first wave
    of either, of the first three, and of all.
    """
    column, two = sketch.products % sketch.p, sketch.products // sketch.p
    # Two scores of either column are waves of two numbers, and have four products.
    left, right = 2 * two[:, :1] + (1, 1, 2, 2), 2 * two[:, 1:] + (1, 2, 1, 2)
    wave = np.maximum(left, right)
    places = sketch.first_product + np.arange(wave.size).reshape(wave.shape)
    found = []
    for both in sketch.pairs:
        own = (column == both).all(axis=1)
        number, where = wave[own].ravel(), places[own].ravel()
        finest = int(number.max())
        categories = any(sketch.bins[j].categories for j in both)
        scales = [finest] if categories else sorted({1, min(3, finest), finest})
        gains = np.stack([number <= scale for scale in scales], axis=1).astype(np.float64)
        found.append(Lens(where, units.steps[where], gains))
    return found


def distance_views(
    sketch: SketchMap, features: CellUnits, bins: CellUnits, pooled: Array
) -> list[ColumnView]:
    """Views on how far rows lie from the middle: on average, and how much that varies.

    The widths of all columns of numbers, added up; and how much any two of them are far from their
    middles together: products of the waves that tell the middle of a column from its ends. No view
    if fewer than two columns tell.
    """
    ends = np.cumsum([len(own) for own in sketch.bins])
    numbers = [j for j, own in enumerate(sketch.bins) if not own.categories]
    where, axes = [], []
    for j in numbers:
        counts = pooled[ends[j] - len(sketch.bins[j]) : ends[j]]
        if np.count_nonzero(counts) >= FEWEST:
            where.append(np.arange(ends[j] - len(counts), ends[j]))
            axes.append(normal_axes(counts / counts.sum())[1])
    if len(where) < 2:
        return []
    of_numbers = np.isin(sketch.products, numbers).all(axis=1)  # their first two waves
    both = sketch.first_product + 4 * np.flatnonzero(of_numbers) + 3
    parts = [(bins, np.concatenate(where), np.concatenate(axes)), (features, both, 1.0)]
    return [
        ColumnView(
            units, [Lens(at, (units.steps[at] * axis)[:, None], np.ones((1, 1)))], np.array([0])
        )
        for units, at, axis in parts
        if len(at)
    ]


def of_lenses(names: Sequence[int], lenses: Sequence[Lens]) -> NDArray[np.int64]:
    """The names of what lenses look at, for each of their statistics."""
    return np.repeat(np.asarray(names, np.int64), [lens.gains.shape[1] for lens in lenses])


def in_steps(lens: Lens, steps: Array) -> Lens:
    """A lens on numbers that were divided by steps."""
    return replace(lens, axes=(steps if lens.axes.ndim == 1 else steps[:, None]) * lens.axes)


def lenses_of_bins(
    where: NDArray[np.int64] | slice, counts: Array, *, categories: bool, alone: bool = False
) -> list[Lens]:
    """Lenses on the bins of a column, of so many pooled rows each.

    A column that is `alone` has one on its shape, too: with others, kernels see what is between
    thresholds and bins.
    """
    size = len(counts)
    share = counts / max(counts.sum(), 1.0)
    live = share > 0
    single = np.where(live, 1.0 / np.sqrt(np.where(live, share, 1.0)), 0.0)
    fine = Lens(where, single, np.ones((size, 1)), (FINE,))
    if categories or np.count_nonzero(live) <= 2:
        return [fine]
    below = np.cumsum(share)
    levels = np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1)
    chosen = np.unique(np.minimum(np.searchsorted(below, levels), size - 2))
    variance = below[chosen] * (1.0 - below[chosen])
    chosen, variance = chosen[variance > 0], variance[variance > 0]
    steps = (np.arange(size)[:, None] <= chosen) / np.sqrt(variance)
    cumulative = Lens(where, steps, np.ones((len(chosen), 1)), (CUMULATIVE,))
    found = [cumulative, fine, _normal_scores(where, share)]
    return [*found, _smooth(where, share)] if alone else found


def _normal_scores(where: NDArray[np.int64] | slice, share: Array) -> Lens:
    """A lens on place and spread, together and each by itself.

    Normal scores, and their squares: what moves or widens a whole column shows in one number each,
    where bins spread it over many.
    """
    axes, gains = np.stack(normal_axes(share), axis=1), np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    return Lens(where, axes, gains, ("", PLACE, SPREAD))


def _smooth(where: NDArray[np.int64] | slice, share: Array) -> Lens:
    """A lens on the first waves of ranks, which count alike (Neyman's smooth test)."""
    return Lens(where, cosines(share, WAVES), np.ones((WAVES, 1)), (SMOOTH,))
