"""Tests of fit and of independence by sketches: cells, sums, draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._support.types import Array
from nosplit.data.variables import Variable
from nosplit.errors import Caveat, UnsafeAsymptoticsWarning
from nosplit.families.chain import looks_like_a_chain
from nosplit.families.fitting import (
    MEDIAN_ROWS,
    SteinKernels,
    TensorKernels,
    fit_stein_bank,
    tensors_for,
)
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.inference.calibrations import WILD
from nosplit.inference.outcome import Outcome, to_result
from nosplit.inference.planning.costs import HsicSizes
from nosplit.inference.planning.plan import Plan
from nosplit.inference.questions import Question
from nosplit.inference.result import TestResult
from nosplit.inference.statistics import test_draws
from nosplit.kernels.defaults.recipes import check_own_kernel
from nosplit.kernels.derived.stein import BoundedLinear, Constant
from nosplit.methods import Method
from nosplit.pairs.dealing import Natural
from nosplit.pairs.pairing import Sketch
from nosplit.sketch.dealing import deal_of
from nosplit.sketch.families.goodness_of_fit import fit_stein_map
from nosplit.sketch.families.goodness_of_fit_sums import (
    cell_skewness,
    sketch_scored_rows,
    stein_statistics,
)
from nosplit.sketch.families.independence import fit_tensor_map
from nosplit.sketch.families.independence_sums import shift_statistics, sketch_observations

__all__ = ["SketchOutcome", "sketched_fit", "sketched_independence"]

# Share of skewness from which random signs are not trusted: see `cell_skewness`.
TOO_SKEWED = 0.1


@dataclass(frozen=True, eq=False)
class SketchOutcome:
    """What a sketch says, on its way to a result."""

    outcome: Outcome
    kernels: tuple[Any, ...]
    n_units: int
    n_used: int

    def result(
        self,
        question: Question,
        n_rows: int,
        encoding: Any = None,
        columns: tuple[str, ...] | None = None,
    ) -> TestResult:
        """Issue the warnings, at the line that called the test, and put the result together."""
        if columns is None and encoding is not None:
            columns = encoding.names
        return to_result(
            self.outcome,
            question=question,
            kernels=self.kernels,
            n_units=self.n_units,
            n_used=self.n_used,
            n_left_out=n_rows - self.n_used,
            columns=columns,
            encoding=encoding,
        )


def _sketch_of(how: Plan) -> Sketch:
    if not isinstance(how.pairing, Sketch):
        raise TypeError(f"{how.pairing!r} is no sketch.")
    return how.pairing


def _key(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def sketched_fit(
    x: Array,
    scores: Array,
    kernels: SteinKernels,
    how: Plan,
    method: Method | None,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
    doubts: list[Caveat],
) -> SketchOutcome:
    """Test whether rows of these scores come from their model, by sums of Stein features.

    `doubts` say why random signs are not to be trusted; without any, the sums are looked at.
    """
    pairing = _sketch_of(how)
    deal = deal_of(len(x), pairing.cells, rng, fewest=1, shuffle=shuffle)
    pilot = deal.pilot_rows()
    bank = fit_stein_bank(kernels, x[pilot])
    chosen = bank.kernels if kernels is not None else (*bank.kernels, Constant(), BoundedLinear())
    sketch = fit_stein_map(
        x[pilot], scores[pilot], chosen, frequencies=pairing.frequencies or 64, key=_key(rng)
    )
    sums = sketch_scored_rows(sketch, x, scores, deal, workers)
    drawn = stein_statistics(
        sketch, sums, deal.n_dealt, flips=how.flips, key=_key(rng), workers=workers
    )
    outcome = test_draws(drawn, method, how.pairs)
    found = looks_like_a_chain(SteinUnits(x, scores, Natural(), bank, range(len(x))))
    found += doubts or _too_skewed(cell_skewness(sketch, sums))
    outcome = replace(outcome, calibration=WILD).noting(found)
    return SketchOutcome(outcome, chosen, drawn.n_units, deal.n_dealt)


def _too_skewed(share: float) -> list[Caveat]:
    if share < TOO_SKEWED:
        return []
    text = (
        "The scores of a few rows are so large that they rule the statistics, and random signs "
        "reject too often then: give a model that can sample and use calibration='simulate', or "
        "transform the data and the model."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def sketched_independence(
    x: Variable,
    y: Variable,
    kernels: TensorKernels,
    sizes: HsicSizes,
    how: Plan,
    method: Method | None,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
) -> SketchOutcome:
    """Test whether two variables are independent, by sums of products under all shifts."""
    pairing, q = _sketch_of(how), round(sizes.q)
    deal = deal_of(len(x.rows), sizes.cells(pairing), rng, fewest=q, unit=q, shuffle=shuffle)
    pilot = deal.pilot_rows()
    some = [v.rows[pilot[:: -(-len(pilot) // MEDIAN_ROWS)]] for v in (x, y)]
    tensors = tensors_for(kernels, some[0], some[1], (x.discrete, y.discrete))
    for tensor in tensors if kernels is not None else ():
        for variable, kernel, rows in zip((x, y), (tensor.x, tensor.y), some, strict=True):
            variable.check(kernel)
            check_own_kernel(kernel, rows[:2], rows[:4])
    sketch = fit_tensor_map(
        x.rows[pilot],
        y.rows[pilot],
        tensors,
        frequencies=pairing.frequencies or 64,
        key=_key(rng),
    )
    sums = sketch_observations(sketch, x.rows, y.rows, deal, q, workers)
    drawn = shift_statistics(sketch, sums, flips=how.flips, key=_key(rng), workers=workers)
    outcome = test_draws(drawn, method, how.pairs)
    return SketchOutcome(outcome, tensors, drawn.n_units, deal.n_dealt)
