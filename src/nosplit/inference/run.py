"""From units and a plan to an outcome: accumulate the pairs, and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._support.terminal import progress_bar
from nosplit.errors import (
    InputError,
)
from nosplit.inference.calibrations import Exact
from nosplit.inference.caveats import (
    few_effective,
    small_test_part,
    too_alike,
    trusted,
    unsafe,
)
from nosplit.inference.outcome import Outcome
from nosplit.inference.planning.limits import settle
from nosplit.inference.planning.plan import Plan
from nosplit.inference.statistics import closed_outcome, exact_outcome, of_parts, sum_of_parts
from nosplit.methods import (
    Adaptive,
    Method,
    Split,
    Wald,
)
from nosplit.methods._base import nothing_seen
from nosplit.pairs.effective import effective_pairs
from nosplit.pairs.loop import accumulate, accumulate_draws
from nosplit.pairs.pairing import Complete
from nosplit.pairs.protocols import Testable
from nosplit.pairs.statistics import Seen

__all__ = ["run", "sees_all", "split_at"]


def sees_all(default: bool, method: Method | None, how: Plan) -> bool:
    """Whether a test looks at columns and flattened spectra, too.

    Kernels that were asked for (not `default`) are all that is looked at: who asks for a linear
    one asks whether means differ, and no column must answer more than that.
    """
    adaptive = isinstance(settle(method, how.calibration), Adaptive)
    everything = isinstance(how.pairing, Complete) and isinstance(how.calibration, Exact)
    return default and adaptive and everything


def split_at(method: Method, n_units: int) -> list[range]:
    """All units, or the two parts of a split, the first with an even number of units."""
    if not isinstance(method, Split):
        return [range(n_units)]
    cut = 2 * round(method.fraction * n_units / 2.0)
    if cut < 2 or n_units - cut < 2:
        raise InputError(
            f"`method` splits {n_units} units into {cut} and {n_units - cut}; each part needs 2."
        )
    return [range(cut), range(cut, n_units)]


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

    Where the closed form is not to be trusted with the data, and the plan knows another way, that
    is taken. What decides is unchanged by relabelling, so the other way stays exact. `look` says
    what else is seen under the draws that it is given, for exact calibration.
    """
    if isinstance(how.calibration, Exact):
        chosen = settle(method, how.calibration)
        return _run_exact(units, chosen, how, rng, workers, progress, look)
    effective = effective_pairs(units, how.pairing)
    if how.otherwise is not None and effective is not None and not trusted(effective):
        return run(units, method, how.otherwise, rng, workers, progress)
    outcome = _run_closed(units, settle(method, how.calibration), how, workers, progress)
    if method is None and not np.any(outcome.tau > 0):
        outcome = replace(outcome, selection=nothing_seen(outcome.selection))
    found = too_alike(outcome)
    if effective is not None:
        found += few_effective(effective, np.diagonal(outcome.cov) > 0)
    return outcome.noting(found)


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
    return outcome.noting(too_alike(outcome)) if isinstance(method, Wald) else outcome


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
