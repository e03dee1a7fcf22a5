"""From units and a plan to an outcome: accumulate the pairs, and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.planning.limits import settle
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.statistics import closed_outcome, exact_outcome, of_parts, sum_of_parts
from nosplit._old.pairs.loop import accumulate, accumulate_draws
from nosplit._old.pairs.protocols import Testable
from nosplit._old.pairs.statistics import Seen
from nosplit._text import progress_bar
from nosplit.core.pairings import Complete
from nosplit.inference.calibrations import Exact
from nosplit.inference.caveats import small_test_part, too_alike, unsafe
from nosplit.methods import Adaptive, Method, Wald
from nosplit.methods._base import nothing_seen
from nosplit.methods.split import split_at

__all__ = ["run", "sees_all"]


def sees_all(default: bool, method: Method | None, how: Plan) -> bool:
    """Whether a test looks at columns and flattened spectra, too.

    Kernels that were asked for (not `default`) are all that is looked at: who asks for a linear
    one asks whether means differ, and no column must answer more than that.
    """
    adaptive = isinstance(settle(method, how.calibration), Adaptive)
    everything = isinstance(how.pairing, Complete) and isinstance(how.calibration, Exact)
    return default and adaptive and everything


def run(
    units: Testable,
    method: Method | None,
    how: Plan,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
    look: Callable[[Any], Seen] | None = None,
) -> Outcome:
    """Accumulate the pairs that the plan names, and test.

    `look` says what else is seen under the draws that it is given, for exact calibration.
    """
    if isinstance(how.calibration, Exact):
        chosen = settle(method, how.calibration)
        return _run_exact(units, chosen, how, rng, workers, progress, look)
    outcome = _run_closed(units, settle(method, how.calibration), how, workers, progress)
    if method is None and not np.any(outcome.tau > 0):
        outcome = replace(outcome, selection=nothing_seen(outcome.selection))
    return outcome.noting(too_alike(outcome.tau, outcome.log_pvalue))


def _run_exact(
    units: Testable,
    method: Method,
    how: Plan,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
    look: Callable[[Any], Seen] | None,
) -> Outcome:
    ranges = split_at(method, units.n_units)
    draws = units.draws(how.n_resamples, rng)
    with progress_bar(progress, _n_pairs(how, ranges)) as step:
        done = [
            accumulate_draws(units.part(r), how.pairing, draws.of(r), workers=workers, step=step)
            for r in ranges
        ]
    total = sum_of_parts([part.moments for part in done])
    tau = of_parts([part.sums / np.sqrt(part.moments.n) for part in done])
    second = np.sum([part.second for part in done], axis=0)
    seen = None if look is None else look(draws)
    outcome = exact_outcome(method, tau, second / total.n, total, units.n_units, seen)
    outcome = replace(outcome, pairs=how.pairs, relabellings=draws.relabellings)
    # Others reject only where a statistic, or a column, is above zero.
    if not isinstance(method, Wald):
        return outcome
    return outcome.noting(too_alike(outcome.tau, outcome.log_pvalue))


def _run_closed(
    units: Testable, method: Method, how: Plan, workers: int | None, progress: bool
) -> Outcome:
    ranges = split_at(method, units.n_units)
    with progress_bar(progress, _n_pairs(how, ranges)) as step:
        moments = [
            accumulate(units.part(r), how.pairing, workers=workers, step=step) for r in ranges
        ]
    outcome = replace(closed_outcome(method, moments), pairs=how.pairs)
    if not np.any(outcome.cov):  # no evidence: nothing is approximated
        return outcome
    n_pairs = how.pairing.n_pairs(units.n_units)
    outcome = outcome.noting(unsafe(how.pairing, units.n_units, n_pairs, len(outcome.tau)))
    if len(ranges) > 1 and not outcome.caveats:
        return outcome.noting(small_test_part(how.pairing, len(ranges[1])))
    return outcome


def _n_pairs(how: Plan, parts: list[range]) -> int:
    return sum(how.pairing.n_pairs(len(part)) for part in parts)
