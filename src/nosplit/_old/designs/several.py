"""Several samples by sums of cells, for the new house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nosplit._old.designs.pairs import RowsInUnits
from nosplit._old.designs.testing import test_design, test_samples
from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import design_sizes
from nosplit._types import Array
from nosplit.api._request import Request
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Encoding, columns_in
from nosplit.data.series import check_rows
from nosplit.families.design import Design
from nosplit.inference.calibrations import Exact
from nosplit.inference.effect import DealtSamples, separations_of_rows
from nosplit.inference.questions import K_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Recipe

__all__ = ["sketch_samples"]


def sketch_samples(
    request: Request, rows: Sequence[Array], encoding: Encoding | None, recipe: Recipe, n_rows: int
) -> TestResult:
    """Test whether samples are alike by sums of cells; their names are those of the request."""
    sizes, pooled = np.array([*map(len, rows)]), np.concatenate(rows)
    total, p = pooled.shape
    plan = choose(
        design_sizes(total, 0, p, recipe, total, len(rows)),
        pairs=request.pairs or Sketch(),
        calibration=request.calibration if isinstance(request.calibration, Exact) else "auto",
        method=request.method,
        budget=request.budget,
    )
    units = RowsInUnits(pooled, np.arange(total), request.workers)
    common = recipe, encoding, plan, request.method, request.rng
    if len(rows) == 2:
        starts = np.array([0, total], dtype=np.int64)
        tested = test_design(
            units, Design(np.arange(total), starts, sizes[None], False, None), *common
        )
    else:
        tested = test_samples(units, sizes, *common)
    outcome = tested.outcome.noting(check_rows(*rows))
    if outcome.columns:
        label = np.repeat(np.arange(len(rows)), sizes)
        dealt = DealtSamples.of(label, request.names)
        columns = columns_in(encoding, p)
        outcome = outcome.separated(separations_of_rows(pooled, dealt, *columns))
    result = replace(tested, outcome=outcome).result(
        K_SAMPLE, n_rows, None if encoding is None else encoding.names, None
    )
    return result.done(seed=request.seed, names=request.names, sizes=tuple(sizes.tolist()))
