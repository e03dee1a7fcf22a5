"""Explanations of large samples: all rows in cells, and some of them one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index
from nosplit.describe.effect import (
    LEARNED,
    all_rules,
    crossed,
    effect_of,
    kernel_effects,
    learn,
    learner,
    mean_estimate,
    ratio,
    scaled_weights,
)
from nosplit.describe.explanation import Explanation
from nosplit.describe.large.cells import CellWitness, UnitCells, map_for, row_means
from nosplit.describe.large.samples import LargeSamples, Picked
from nosplit.describe.large.shares import Fold, columns_of_folds, rows_to_move
from nosplit.describe.pair_means import Means
from nosplit.describe.rows import Sampled, categorical_of, group_names, rows_held, rows_one_by_one
from nosplit.describe.separation import Rule, auc, surest
from nosplit.inference.printed import kernel_label
from nosplit.inference.result import TestResult
from nosplit.kernels import Combination
from nosplit.sketch.dealing import Layout, layout_of

__all__ = ["explain_by_cells"]

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
    sketch = map_for(res.kernels, a, b, rng)
    units = UnitCells.of(sketch, layout, *samples.sums(sketch, layout))
    noise = row_means(sketch, *_as_many(a, b, NOISE_ROWS))
    whole = units.means(noise)
    weights = _learned(res, whole)
    function = units.witness(weights)
    level = sum(units.mean_witness(function)) / 2.0
    few = rows_one_by_one(most, a.shape[1])
    at_x, at_y = units.at_own_rows(a[:few], b[:few], weights)
    halves, held = [units.half(i) for i in (0, 1)], _held_out(units, (a, b), cells)
    means = [half.means(noise) for half in halves]
    beta = [_learned(res, m) for m in means]
    functions = [half.witness(w) for half, w in zip(halves, beta, strict=True)]
    names = group_names(res, a.shape[1])
    folds = [
        Fold(functions[i], halves[1 - i].mean_witness(functions[i]), rows)
        for i, rows in enumerate(_first(held, rows_to_move(sketch, len(names)) // 2))
    ]
    total = float(np.mean([x - y for x, y in (fold.means for fold in folds)]))
    own = _own_rule(functions, held)
    rules = all_rules(a, b, names, categorical_of(res), own, most=len(a) + len(b))
    kernels = sketch.kernels
    return Explanation(
        result=res,
        effect=effect_of(ratio(whole, weights), crossed(means, beta), surest(rules), rules),
        kernel=Combination(kernels, tuple(map(float, weights))),
        kernels=kernel_effects(whole, [kernel_label(k) for k in kernels]),
        columns=columns_of_folds(folds, names, total, whole.error(weights), rng),
        function=function,
        level=level,
        x=_sampled(res, picked[0], few, at_x - level),
        y=_sampled(res, picked[1], few, at_y - level),
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


def _learned(res: TestResult, means: Means) -> Array:
    """Weights for a noise of 1, learned again: features are others than those of the test."""
    found = learn(means, learner(res.method), scaled_weights(res, means.noise))
    return np.asarray(found / means.noise(found))


def _own_rule(functions: list[CellWitness], held: list[Both]) -> Rule:
    """The rule of the learned kernel, judged by rows that it was not learned on."""
    found = []
    for function, (a, b) in zip(functions, held, strict=True):
        mean, square = auc(function(a), function(b))
        found.append((mean, float(np.sqrt(square))))
    return Rule(LEARNED, *mean_estimate(*found))


def _sampled(res: TestResult, picked: Picked, few: int, witness: Array) -> Sampled:
    sampled = Sampled.of(res, picked.came, picked.places[:few], picked.rows[:few], witness)
    return replace(sampled, index=picked.positions[:few])
