"""Sketches of samples in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite
from nosplit.data.serial import correlated_rows
from nosplit.errors import NonFiniteError
from nosplit.kernels.recipes import Recipe
from nosplit.pairs.pairing import Sketch
from nosplit.sketch.dealing import block_length, layout_of
from nosplit.sketch.maps import fit_map
from nosplit.sketch.sketched import Sketched
from nosplit.sketch.sums import sketch_rows

__all__ = ["sketch_samples"]


def sketch_samples(
    x: NDArray[Any],
    y: NDArray[Any],
    recipe: Recipe,
    pairing: Sketch,
    *,
    categorical: tuple[int, ...],
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
) -> Sketched:
    """Sketch two samples of rows, with a map made of pilot rows of both.

    Where rows depend on those before them, blocks of rows are dealt whole.
    """
    lag = max(correlated_rows(x), correlated_rows(y)) if shuffle else 0
    block = block_length(lag, min(len(x), len(y)))
    layout = layout_of(len(x), len(y), pairing.cells, rng, shuffle=shuffle, block=block)
    pilot = np.concatenate([x[layout.x.pilot_rows()], y[layout.y.pilot_rows()]])
    try:
        check_finite(pilot, "x")
        sketch = fit_map(
            pilot,
            recipe,
            categorical=categorical,
            frequencies=pairing.frequencies or 64,
            cells=layout.n_cells,
            key=int(rng.integers(2**63)),
        )
        sums = [
            sketch_rows(sketch, rows, deal, workers)
            for rows, deal in ((x, layout.x), (y, layout.y))
        ]
    except NonFiniteError:
        check_finite(x, "x")
        check_finite(y, "y")
        raise
    return Sketched(sketch, sums[0], sums[1], layout.c, lag, block)
