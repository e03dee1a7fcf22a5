"""Tests of all columns of two samples, wherever they lie: as many draws as it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._support.checks import new_key
from nosplit._support.types import Array, Index
from nosplit.data.options import Options
from nosplit.data.tables.encoding import Encoding
from nosplit.engines.reading import Reader
from nosplit.engines.sketching.pilot import look_at
from nosplit.engines.sketching.task import Pair, SketchTask
from nosplit.inference.calibrating.evidence import step_down
from nosplit.inference.calibrations import MOST_DRAWS
from nosplit.inference.columns.sequential import enough_draws, sequential_pvalues
from nosplit.methods.normal.laws import counted_from
from nosplit.pairs.pairing import Sketch
from nosplit.sketch.cells import Sketched
from nosplit.sketch.columns.look import ColumnLook
from nosplit.sketch.maps import fit_map

__all__ = ["ColumnSketch", "Ranked", "rank_columns", "sketch_columns"]

# Draws whose statistics are kept at once.
STAGE = 1 << 14


@dataclass(frozen=True, eq=False)
class Ranked:
    """Statistics and p-values of all columns, and how many draws each is made of."""

    statistics: Array
    pvalues: Array
    adjusted: Array
    draws: Index
    most: int


@dataclass(frozen=True, eq=False)
class ColumnSketch:
    """Columns of two samples in cells, how they became numbers, and rows of both."""

    sketched: Sketched
    encoding: Encoding | None
    n_rows: int


def sketch_columns(
    pair: Pair, options: Options, rng: np.random.Generator, shuffle: bool
) -> ColumnSketch:
    """Sketch the columns of two samples, and no kernels."""
    look = look_at(pair, options, Sketch().cells, rng, shuffle)
    encoding, layout = look.encoding, look.layout
    sketch = fit_map(
        look.rows,
        None,
        categorical=() if encoding is None else encoding.categorical,
        frequencies=1,
        cells=layout.n_cells,
        key=new_key(rng),
        binned=look.binned,
    )
    x, y = pair.sums(SketchTask(pair.names, Reader(encoding), sketch, layout))
    sketched = Sketched(sketch, x, y, layout.c, look.caveats)
    return ColumnSketch(sketched, encoding, sum(side.n + side.left_out for side in look.census))


def rank_columns(look: ColumnLook, alpha: float, flips: int, workers: int | None) -> Ranked:
    """Rank all columns among the same draws, and those with small p-values among more.

    Parameters
    ----------
    look : ColumnLook
        What columns show under draws.
    alpha : float
        Level that draws are to be enough for.
    flips : int
        Draws of all columns.
    workers : int, optional
        Threads; all cores by default.
    """
    scores = look.under(0, flips + 1, workers).scores
    least = counted_from(scores[0])

    def extreme(columns: Index, first: int, stop: int) -> Index:
        some, counts = look.some(columns), np.zeros(len(columns), np.int64)
        for start in range(first, stop, STAGE):
            drawn = some.under(start, min(start + STAGE, stop), workers)
            counts += np.count_nonzero(drawn.scores >= least[columns], axis=0)
        return counts

    most = max(flips, min(enough_draws(scores.shape[1], alpha), MOST_DRAWS))
    pvalues, draws = sequential_pvalues(scores, extreme, most)
    return Ranked(scores[0], pvalues, step_down(scores), draws, most)
