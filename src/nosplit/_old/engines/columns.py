"""Tests of all columns of two samples, wherever they lie: as many draws as it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._checks import new_key
from nosplit._old.engines.reading import Reader
from nosplit._old.engines.sketching.pilot import look_at
from nosplit._old.engines.sketching.task import Pair, SketchTask
from nosplit._old.sketch.cells import Sketched
from nosplit._old.sketch.columns.views import SeenColumns
from nosplit._old.sketch.maps import fit_map
from nosplit._types import Array
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Encoding
from nosplit.data.options import Options
from nosplit.inference.rank import own_pvalues, step_down

__all__ = ["ColumnSketch", "Ranked", "rank_columns", "sketch_columns"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Statistics and p-values of all columns."""

    statistics: Array
    pvalues: Array
    adjusted: Array


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


def rank_columns(seen: SeenColumns, n_resamples: int, workers: int | None) -> Ranked:
    """Rank all columns among the same permutations."""
    drawn = seen.under(n_resamples + 1, workers)
    return Ranked(drawn.scores[0], own_pvalues(drawn.scores), step_down(drawn.tails))
