"""From rows of values as they are to an outcome: every row is a pair of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nosplit._old.inference.calibrating.bootstrap import (
    BOOTSTRAP,
    CAUTIOUS,
    MOST_ROWS,
    rank_bootstrap,
    rank_cautiously,
    skew_caveats,
    skewness,
)
from nosplit._old.inference.caveats import (
    few_rows,
)
from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.planning.limits import settle
from nosplit._old.inference.statistics import closed_outcome, exact_outcome, of_parts, sum_of_parts
from nosplit._old.pairs.draws import BLOCK, Signs
from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.errors import (
    InputError,
)
from nosplit.inference.calibrations import ASYMPTOTIC, Exact
from nosplit.methods import (
    OST,
    Best,
    Method,
    Nonnegative,
    Wald,
)
from nosplit.methods.split import split_at

__all__ = ["test_rows"]

RANKED = {BOOTSTRAP: rank_bootstrap, CAUTIOUS: rank_cautiously}


@np.errstate(over="ignore", invalid="ignore")  # as in `accumulate`: found in the total
def test_rows(
    values: Array, method: Method | None, calibration: Exact | str, rng: np.random.Generator
) -> Outcome:
    """Test with rows of values as they are: every row is a pair of its own.

    `calibration` may be "auto" for the closed form, the bootstrap where rows are skewed, or the
    cautious one where they are few, or skewed beyond what that mends.
    """
    chosen = settle(method, calibration)
    if not np.any(values):
        raise InputError("`h` is 0 in all rows: The values of all pairs are the same.")
    parts = split_at(chosen, len(values))
    moments = [Moments.from_values(values[r.start : r.stop]) for r in parts]
    if isinstance(calibration, Exact):
        signs = Signs(len(values), calibration.n_resamples, rng, products=False)
        tau = of_parts([_signed_rows(values, r, signs) / np.sqrt(len(r)) for r in parts])
        total = sum_of_parts(moments)
        outcome = exact_outcome(chosen, tau, total.second_moment, total, len(values))
        outcome = replace(outcome, relabellings=2.0 ** min(len(values), 1000))
    else:
        outcome = _calibrated(closed_outcome(chosen, moments), values, calibration, rng)
    return replace(outcome, pairs="rows")


test_rows.__test__ = False  # type: ignore[attr-defined]


def _calibrated(
    outcome: Outcome, values: Array, calibration: str, rng: np.random.Generator
) -> Outcome:
    """The outcome with the bootstrap in place of the closed form if asked for or called for."""
    d = len(outcome.tau)
    few = bool(few_rows(len(values), d))
    skewed = skewness(values)
    can = isinstance(outcome.method, OST | Nonnegative | Wald | Best) and len(values) <= MOST_ROWS
    called_for = few or bool(skew_caveats(skewed, ASYMPTOTIC))
    if calibration == "auto" and can and called_for:
        calibration = CAUTIOUS if few or skew_caveats(skewed, BOOTSTRAP) else BOOTSTRAP
    if calibration in RANKED:
        flips = RANKED[calibration](values, outcome.method, Exact().n_resamples, rng)
        outcome = replace(outcome, flips=flips, calibration=calibration)
    said = few_rows(len(values), d, allowed_for=outcome.calibration == CAUTIOUS)
    return outcome.noting([*said, *skew_caveats(skewed, outcome.calibration)])


def _signed_rows(values: Array, rows: range, signs: Signs) -> Array:
    """Sums of ε_i h_i over some rows, for all draws, (F, d)."""
    blocks = [rows[i : i + BLOCK] for i in range(0, len(rows), BLOCK)]
    parts = [signs.columns(b) @ values[b.start : b.stop] for b in blocks]
    return np.asarray(np.sum(parts, axis=0))
