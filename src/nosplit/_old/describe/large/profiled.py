"""Explanations of a sample that was compared with a profile, of which there are sums only."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._checks import new_key
from nosplit._old.describe.effect import effect_of
from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.large.cells import UnitCells, noise_of_cells
from nosplit._old.describe.large.explaining import sampled_of
from nosplit._old.describe.large.histograms import (
    BinnedFold,
    columns_of_bins,
    counts_of,
)
from nosplit._old.describe.large.learning import Learned
from nosplit._old.describe.large.samples import LargeSample, Picked
from nosplit._old.describe.large.shares import rows_to_move
from nosplit._old.describe.rows import group_names, rows_held, rows_one_by_one
from nosplit._old.engines.changes import separations_in_bins
from nosplit._old.engines.reading import Reader
from nosplit._old.engines.sketching.task import SketchTask
from nosplit._old.sketch.dealing import Deal, Layout
from nosplit._old.sketch.saved.profiles import Profile, best_level
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.inference.effect import FOLDS
from nosplit.inference.result import TestResult

__all__ = ["explain_with_profile"]


def explain_with_profile(
    res: TestResult,
    profile: Profile,
    new: LargeSample,
    side: int,
    most: int,
    rng: np.random.Generator,
) -> Explanation:
    """Explain how a sample differs from a profile, by cells of the profile's own features.

    Parameters
    ----------
    res : TestResult
        The result of the test.
    profile : Profile
        The reference.
    new : LargeSample
        What was compared with it.
    side : int
        Whether that is x (0) or y (1).
    most : int
        Rows of the sample that are looked at one by one.
    rng : Generator
        Source of the dealing, the drawing and the shuffling.
    """
    sketch, width = profile.map, profile.map.p
    number, count = best_level(profile.levels, new.n)
    c, kept = profile.levels[number][0], profile.level(number)
    deal = Deal(new.n, c, count, new_key(rng))
    dealt = Deal(c * len(kept.features), c, len(kept.features), None)
    layout = Layout(*_in_order(deal, dealt, side))
    summed = new.sums(SketchTask(("x", "y"), Reader(res.how.encoding), sketch, layout), side)
    x, y = _in_order(summed, kept, side)
    units = UnitCells.of(sketch, layout, x, y)
    learned = Learned.of(res, units, noise_of_cells(sketch, x, y, c))
    places = rng.choice(deal.n_dealt, min(deal.n_dealt, rows_held(width)), replace=False)
    picked = new.pick(deal.rows_at(places))
    names = group_names(res, width)
    folds = _binned_folds(learned, picked, places // c, (x, y), rows_to_move(sketch, len(names)))
    few = rows_one_by_one(most, width)
    rows, none = picked.rows[:few], picked.rows[:0]
    level = learned.level
    witness = units.at_own_rows(*_in_order(rows, none, side), learned.weights)[side] - level
    looked_at = sampled_of(res, picked, few, witness)
    first, second = _in_order(looked_at, looked_at.none(), side)
    known = [column.separation for column in res.columns.rows]
    if not any(known):
        counts = np.stack([cells.in_bins(FOLDS) for cells in (x, y)])
        known = separations_in_bins(sketch.bins, counts, res.how.encoding)
    return Explanation(
        result=res,
        effect=effect_of(learned.learned, learned.crossed, [*names], known, None),
        kernel=learned.kernel,
        kernels=learned.kernels,
        columns=columns_of_bins(
            folds, names, learned.total, learned.whole.error(learned.weights), rng
        ),
        function=learned.function,
        level=level,
        x=first,
        y=second,
        n_seen=sum(units.counts),
        n_rows=profile.n_rows + new.n,
        n_moved=sum(len(fold.rows) for fold in folds),
    )


def _in_order(new: Any, kept: Any, side: int) -> tuple[Any, Any]:
    """The sample and the profile as x and y."""
    return (new, kept) if side == 0 else (kept, new)


def _binned_folds(
    learned: Learned, picked: Picked, cells: Index, sums: tuple[CellSums, CellSums], most: int
) -> list[BinnedFold]:
    """For the witness function of either half of the units, the rows and bins of the other."""
    units, folds = learned.units, []
    halves = [units.half_of(np.arange(len(side.bins))) for side in sums]
    counts = np.stack([counts_of(side, half, 2) for side, half in zip(sums, halves, strict=True)])
    for i, function in enumerate(learned.functions):
        held = picked.rows[units.half_of(cells) == 1 - i][:most]
        folds.append(BinnedFold(function, held, counts[:, 1 - i]))
    return folds
