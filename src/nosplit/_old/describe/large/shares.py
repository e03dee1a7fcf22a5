"""Columns that carry the difference between two large samples.

Columns are moved between rows and shuffled rows as in `attribution`; what is looked at is not the
statistic of pairs but the witness function, whose means over x and y differ by that statistic. It
is learned on one half of the cells and looked at in rows of the other half, both ways round. Its
means over all rows are known from the sums, so what some rows have by chance can be taken off: the
means of what a column carries are those of a regression on the witness function itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.attribution import ColumnEffect
from nosplit._old.describe.large.cells import CellWitness
from nosplit._old.sketch.maps import SketchMap
from nosplit._types import Array

__all__ = ["Fold", "columns_of_folds", "relative_to", "rows_to_move"]

# Nominal seconds of one core for all columns together.
SECONDS = 4.0
FEWEST_ROWS = 500

Both = tuple[NDArray[Any], NDArray[Any]]


class Fold(NamedTuple):
    """A witness function, its means over all rows that it was not learned on, and some of these."""

    function: CellWitness
    means: tuple[float, float]
    rows: Both


def rows_to_move(sketch: SketchMap, columns: int) -> int:
    """Rows of either sample whose columns are moved, for the nominal time."""
    landmarks = sum(map(len, sketch.landmark_scales))
    ns = 40.0 + 10.0 * sketch.p + (1.2 + 0.1 * sketch.p) * sketch.n_waves
    ns += landmarks * (20.0 + 2.0 * sketch.p)
    return max(FEWEST_ROWS, int(1e9 * SECONDS / ns / (2 * (2 * columns + 2))))


def columns_of_folds(
    folds: Sequence[Fold],
    columns: Mapping[str, Sequence[int]],
    total: float,
    error: float,
    rng: np.random.Generator,
) -> tuple[ColumnEffect, ...]:
    """Share of the learned statistic that each column carries.

    Parameters
    ----------
    folds : sequence of Fold
        Two of them.
    columns : mapping
        Columns of the rows that belong to a named one.
    total, error : float
        The learned statistic over all rows, and its standard error.
    rng : Generator
        Source of the shuffling.
    """
    if len(columns) == 1:  # it carries all there is
        return tuple(ColumnEffect(name, 1.0, 0.0, total, total, total) for name in columns)
    moved = [_Moved.of(fold, rng) for fold in folds]
    return tuple(_effect(name, moved, group, total, error) for name, group in columns.items())


def _effect(
    name: str, folds: Sequence[_Moved], group: Sequence[int], total: float, error: float
) -> ColumnEffect:
    parts = [fold.moved(group) for fold in folds]
    lost, alone, carried, variance, slope = np.mean(parts, axis=0)
    share = relative_to(total, error, carried, variance / len(folds), slope)
    return ColumnEffect(name, *share, *map(float, (carried, lost, alone)))


def relative_to(
    total: float, error: float, carried: float, variance: float, slope: float
) -> tuple[float, float]:
    """A part of the whole as a share of it, and the standard error of that.

    `variance` is that of the part; with the whole, which has an error, it moves by its slope.
    """
    # Where the whole is within its own error, that error stands in for it.
    size = max(total, error)
    if not size > 0:
        return 0.0, 0.0
    share = carried / size
    return float(share), float(np.sqrt(variance + ((slope - share) * error) ** 2) / size)


class _Moved(NamedTuple):
    """Rows and shuffled rows of a fold, and the witness function at either."""

    fold: Fold
    shuffled: Both
    at_rows: tuple[Array, Array]
    at_shuffled: tuple[Array, Array]

    @classmethod
    def of(cls, fold: Fold, rng: np.random.Generator) -> _Moved:
        n = len(fold.rows[0])
        pool = np.concatenate(fold.rows)
        pool = pool[rng.permutation(len(pool))]
        shuffled = pool[:n], pool[n:]
        f = fold.function
        x, y = fold.rows
        return cls(fold, shuffled, (f(x), f(y)), (f(shuffled[0]), f(shuffled[1])))

    def moved(self, group: Sequence[int]) -> tuple[float, float, float, float, float]:
        """Losses and gains of a group of columns, their mean, its variance and its slope."""
        found, more = np.zeros(3), np.zeros(2)
        for side, sign in ((0, 1.0), (1, -1.0)):
            means, variance, slope = self._adjusted(side, self._values(side, group))
            found += sign * means
            more += variance, slope / 2.0
        lost, alone, carried, variance, slope = map(float, (*found, *more))
        return lost, alone, carried, variance, slope

    def _values(self, side: int, group: Sequence[int]) -> Array:
        """Lost, gained alone, and their mean, at the rows of one sample, (3, n)."""
        rows, shuffled, columns = self.fold.rows[side], self.shuffled[side], list(group)
        without, alone = rows.copy(), shuffled.copy()
        without[:, columns], alone[:, columns] = shuffled[:, columns], rows[:, columns]
        lost = self.at_rows[side] - self.fold.function(without)
        gained = self.fold.function(alone) - self.at_shuffled[side]
        return np.stack([lost, gained, (lost + gained) / 2.0])

    def _adjusted(self, side: int, values: Array) -> tuple[Array, float, float]:
        """Means by regression on the witness function, whose mean over all rows is known."""
        known, here = self.fold.means[side], self.at_rows[side]
        rest, n = here - here.mean(), len(here)
        spread = float(rest @ rest)
        slope = values @ rest / spread if spread > 0 else np.zeros(len(values))
        left = values[2] - values[2].mean() - slope[2] * rest
        means = values.mean(axis=1) - slope * (here.mean() - known)
        return means, float(left @ left) / n / max(1, n - 2), float(slope[2])
