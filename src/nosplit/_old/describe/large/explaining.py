"""Explanations of large samples: all rows in cells, and some of them one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.accuracy import accuracy_of
from nosplit._old.describe.effect import column_separations, effect_of
from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.large.cells import UnitCells, map_for, noise_of_rows
from nosplit._old.describe.large.learning import Learned
from nosplit._old.describe.large.samples import LargeSamples, Picked
from nosplit._old.describe.large.shares import Fold, columns_of_folds, rows_to_move
from nosplit._old.describe.rows import (
    Sampled,
    categorical_of,
    group_names,
    rows_held,
    rows_one_by_one,
)
from nosplit._old.sketch.dealing import Layout, layout_of
from nosplit._types import Array, Index
from nosplit.inference.result import TestResult

__all__ = ["explain_by_cells", "sampled_of"]

# Cells of the smaller sample.
CELLS = 1000
# Rows of either sample that the noise of a pair of rows is taken from.
NOISE_ROWS = 1000

Both = tuple[NDArray[Any], NDArray[Any]]


def explain_by_cells(
    res: TestResult, samples: LargeSamples, most: int, rng: np.random.Generator
) -> Explanation:
    """Explain large samples: sums over all rows, and some rows drawn at random."""
    layout = layout_of(*samples.sizes, CELLS, rng)
    picked, cells = _picked(samples, layout, rng)
    a, b = picked[0].rows, picked[1].rows
    sketch = map_for(res.selection.kernels, a, b, rng)
    units = UnitCells.of(sketch, layout, *samples.sums(sketch, layout))
    learned = Learned.of(res, units, noise_of_rows(sketch, *_as_many(a, b, NOISE_ROWS)))
    few = rows_one_by_one(most, a.shape[1])
    at_x, at_y = units.at_own_rows(a[:few], b[:few], learned.weights)
    held = _held_out(units, (a, b), cells)
    names = group_names(res, a.shape[1])
    folds = [
        Fold(function, means, rows)
        for function, means, rows in zip(
            learned.functions,
            learned.means,
            _first(held, rows_to_move(sketch, len(names)) // 2),
            strict=True,
        )
    ]
    categorical = categorical_of(res)
    accuracy = accuracy_of(held, learned.functions, names, categorical)
    separations = column_separations(res, a, b, names, categorical)
    error = learned.whole.error(learned.weights)
    level = learned.level
    return Explanation(
        result=res,
        effect=effect_of(learned.learned, learned.crossed, [*names], separations, accuracy),
        kernel=learned.kernel,
        kernels=learned.kernels,
        columns=columns_of_folds(folds, names, learned.total, error, rng),
        function=learned.function,
        level=level,
        x=sampled_of(res, picked[0], few, at_x - level),
        y=sampled_of(res, picked[1], few, at_y - level),
        n_seen=sum(units.counts),
        n_rows=sum(samples.sizes),
        n_moved=sum(len(rows) for fold in folds for rows in fold.rows),
    )


def _picked(
    samples: LargeSamples, layout: Layout, rng: np.random.Generator
) -> tuple[tuple[Picked, Picked], list[Index]]:
    """Rows of either sample, in random order, and the cells that they are in."""
    numbers, cells = [], []
    for deal in (layout.x, layout.y):
        count = min(deal.n_dealt, rows_held(samples.width))
        places = rng.choice(deal.n_dealt, count, replace=False)
        numbers.append(deal.rows_at(places))
        cells.append(places // deal.c)
    return samples.pick(numbers[0], numbers[1]), cells


def _held_out(units: UnitCells, rows: Both, cells: list[Index]) -> list[Both]:
    """For a function of either half of the units, the rows of the other half."""
    halves = [units.half_of(own) for own in cells]
    first, second = (
        tuple(r[own == 1 - i] for r, own in zip(rows, halves, strict=True)) for i in (0, 1)
    )
    return [(first[0], first[1]), (second[0], second[1])]


def _first(held: list[Both], rows: int) -> list[Both]:
    return [(a[:rows], b[:rows]) for a, b in held]


def _as_many(a: NDArray[Any], b: NDArray[Any], rows: int) -> Both:
    count = min(rows, len(a), len(b))
    return a[:count], b[:count]


def sampled_of(res: TestResult, picked: Picked, few: int, witness: Array) -> Sampled:
    """The first rows that were picked, with the witness function there."""
    sampled = Sampled.of(res, picked.came, picked.places[:few], picked.rows[:few], witness)
    return replace(sampled, index=picked.positions[:few])
