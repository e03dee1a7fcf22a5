"""Kernels on pairs of rows: all of them, or those that were asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite, naming
from nosplit.api.ways.evidence import look_for, pooled_outcome
from nosplit.data.samples import Samples, check_samples
from nosplit.data.series import block_length, check_rows
from nosplit.data.tables.encoding import columns_in
from nosplit.designs.asked import Asked
from nosplit.designs.two_sample import swapped_in
from nosplit.families.fitting import fitted_units
from nosplit.families.pooled import relabels
from nosplit.families.two_sample import Paired
from nosplit.inference.calibrations import SERIES
from nosplit.inference.caveats import unequal_caveats
from nosplit.inference.effect import separations_of_both
from nosplit.inference.outcome import Tested
from nosplit.inference.planning.plan import Plan
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.inference.run import run, sees_all
from nosplit.kernels.defaults.recipes import Recipe
from nosplit.pairs.pairing import Blocks, Complete, units_in_pairs

__all__ = ["test_pairs"]


def test_pairs(
    data: Samples,
    recipe: Recipe,
    plan: Plan,
    asked: Asked,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
) -> TestResult:
    """Evaluate kernels on pairs of rows: all of them, or those that were asked for."""
    x, y = check_samples(data.x, data.y)
    series, looks = asked.labels.series, sees_all(recipe.default, asked.method, plan)
    # Pairs may share what comes and goes: swaps need their differences to be independent.
    checked = (x - y,) if asked.paired else (x, y)
    caveats = check_rows(*checked) if series is False else []
    n_rows, block = len(x) + len(y) + data.left_out, 1
    if series is not False:  # of pairs in time order
        length = block_length(*checked) if series is True else series
        block = min(length or len(x), len(x))
        x, y = (rows[: len(x) // block * block] for rows in (x, y))
    tested = _tested(x, y, block, data, recipe, plan, asked, rng, workers, progress, looks)
    outcome = tested.outcome.noting(caveats)
    if outcome.columns:
        columns = columns_in(data.encoding, x.shape[1])
        found = separations_of_both(x, y, *columns, paired=asked.paired, block=block)
        outcome = outcome.separated(found)
    if series is not False:
        outcome = replace(outcome, calibration=SERIES)
    design = swapped_in(len(x), block) if asked.paired else None
    return replace(tested, outcome=outcome).result(TWO_SAMPLE, n_rows, data.columns, design)


def _tested(
    x: NDArray[Any],
    y: NDArray[Any],
    block: int,
    data: Samples,
    recipe: Recipe,
    plan: Plan,
    asked: Asked,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
    looks: bool,
) -> Tested:
    """Test by permuting or swapping rows, or blocks of so many pairs."""
    relabelled = looks and not asked.paired and relabels(len(x), len(y))
    with naming(x=x, y=y):
        if relabelled:
            outcome, kernels = pooled_outcome(x, y, recipe, data.encoding, plan, rng, workers)
            n_units = n_used = len(x) + len(y)
        else:
            shuffling = rng if asked.shuffle and block == 1 else None
            units = fitted_units(x, y, recipe, shuffling, paired=asked.paired)
            units = replace(units, block=block) if isinstance(units, Paired) else units
            if isinstance(plan.pairing, Blocks | Complete):
                # Their tiles take a distance that is not a number for a large one.
                check_finite(x, "x")
                check_finite(y, "y")
            look = look_for(units, data.encoding, workers) if looks else None
            outcome = run(units, asked.method, plan, rng, workers, progress, look)
            kernels, n_units = units.bank.kernels, units.n_units
            n_used = round(units.rows_per_unit * units_in_pairs(plan.pairing, n_units))
            if len(x) != len(y):
                outcome = outcome.noting(unequal_caveats(outcome, n_units))
    return Tested(outcome, kernels, n_units, n_used, data.encoding, recipe.default)


test_pairs.__test__ = False  # type: ignore[attr-defined]
