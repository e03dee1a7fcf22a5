"""The test by sketches of two samples, wherever they lie: the steps that all engines share.

Sizes → cells → pilot rows → encoding, kernels and plan → map → sums by cell → result. An engine
counts the rows, brings the pilot rows, and sums the others where they are; the sums are integers,
so that they are the same in whatever parts and order they are made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nosplit._checks import new_key
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.reading import Reader
from nosplit._old.engines.sketching.pilot import look_at
from nosplit._old.engines.sketching.task import Census, Pair, Sees, SketchTask
from nosplit._old.engines.sketching.verdict import sketch_result
from nosplit._old.inference.planning.costs import sizes_of
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.sketch.cells import Sketched
from nosplit._old.sketch.maps import fit_map
from nosplit.errors import Caveat
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import as_recipe

__all__ = ["Prepared", "prepare_sketch", "sketch_pair", "sketch_test"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Plan, map and cells: all that is known before rows are summed."""

    census: tuple[Census, Census]
    plan: Plan
    task: SketchTask
    caveats: list[Caveat]

    @property
    def n_rows(self) -> int:
        """All rows, those left out included."""
        return sum(side.n + side.left_out for side in self.census)


def prepare_sketch(pair: Pair, asked: Asked, rng: np.random.Generator) -> Prepared:
    """Cells, encoding, kernels, plan and map, from the sizes and the pilot rows."""
    sketch = asked.sketch
    look = look_at(pair, asked.options, sketch.cells, rng, asked.shuffle, paired=asked.paired)
    encoding, layout = look.encoding, look.layout
    recipe = as_recipe(asked.kernels) if encoding is None else encoding.recipe(asked.kernels)
    sizes = sizes_of(layout.x.n, layout.y.n, look.rows.shape[1], recipe)
    plan = replace(asked, pairs=sketch).plan(sizes)
    fitted = fit_map(
        look.rows,
        recipe.of_rare(look.rows),
        categorical=() if encoding is None else encoding.categorical,
        frequencies=plan.sketch.frequencies or 64,
        cells=layout.n_cells,
        key=new_key(rng),
        binned=look.binned,
    )
    return Prepared(
        look.census,
        plan,
        SketchTask(pair.names, Reader(encoding), fitted, layout),
        look.caveats,
    )


def sketch_pair(pair: Pair, prepared: Prepared) -> Sketched:
    """The sketches of both samples."""
    x, y = pair.sums(prepared.task)
    layout = prepared.task.layout
    see = pair.see if isinstance(pair, Sees) else None
    return Sketched(prepared.task.map, x, y, layout.c, prepared.caveats, see)


def sketch_test(
    pair: Pair,
    asked: Asked,
    *,
    rng: np.random.Generator,
    workers: int | None = None,
) -> TestResult:
    """Test two samples by their sketches, wherever they lie.

    Parameters
    ----------
    pair : Pair
        The samples.
    asked : Asked
        What is asked for.
    rng : Generator
        Source of the dealing, the frequencies and the draws, in this order.
    workers : int, optional
        Threads of the draws; all cores by default.
    """
    prepared = prepare_sketch(pair, asked, rng)
    return sketch_result(
        sketch_pair(pair, prepared),
        method=asked.method,
        flips=prepared.plan.n_resamples,
        rng=rng,
        n_rows=prepared.n_rows,
        encoding=prepared.task.reader.encoding,
        workers=workers,
        default=asked.kernels is None,
    )
