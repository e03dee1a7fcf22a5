"""Calibration by simulation: the whole test repeated on samples drawn from the model.

Everything is made again for every replicate (scores, bandwidths, Σ̂), so the data and the
replicates are exchangeable under the null, and the rank of the data's evidence is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nosplit._support.terminal import progress_bar
from nosplit._support.types import Array
from nosplit.errors import InputError
from nosplit.inference.calibrating.ranking import rank_draws
from nosplit.inference.calibrations import SIMULATE
from nosplit.inference.outcome import Outcome
from nosplit.inference.planning.plan import Plan
from nosplit.inference.run import split_at
from nosplit.methods import Method
from nosplit.pairs.loop import accumulate
from nosplit.pairs.moments import Moments
from nosplit.pairs.protocols import Testable, Units

__all__ = ["simulate"]


@dataclass(frozen=True, eq=False)
class _Replicate:
    """The statistics of one sample: τ, (d,) or (2, d) for a split, and Σ̂."""

    tau: Array
    cov: Array
    moments: Moments


def simulate(
    observed: Testable,
    draw: Callable[[], Testable],
    method: Method,
    how: Plan,
    workers: int | None,
    progress: bool = False,
) -> Outcome:
    """Rank the evidence of the observed units among that of units drawn under the null.

    Parameters
    ----------
    observed : Testable
        The units of the data.
    draw : callable
        Gives the units of a sample of the same size from the model, with kernels of their own.
    method : Method
        What turns statistics into evidence.
    how : Plan
        Pairs, and how many replicates (its `flips`).
    workers : int, optional
        Threads.
    progress : bool
        Show a progress bar on the terminal.
    """
    first = _replicate(observed, method, how, workers)
    taus, covs = [first.tau], [first.cov]
    with progress_bar(progress, how.flips) as step:
        for _ in range(how.flips):
            again = _replicate(draw(), method, how, workers)
            taus.append(again.tau)
            covs.append(again.cov)
            if step is not None:
                step(1)
    tau, cov = np.stack(taus), np.stack(covs)
    if not (np.isfinite(cov).all() and cov.any(axis=(1, 2)).all()):
        raise InputError(
            "`score` is a model, or `x` a sample, of a scale at which squares of statistics are no "
            "numbers. Rescale both, for example to unit variance."
        )
    flips = rank_draws(method, tau, cov)
    selection = method(first.tau, first.cov)
    total = first.moments
    return Outcome(
        method, selection, total.tau, first.cov, total.n, SIMULATE, flips, pairs=how.pairs
    )


def _replicate(units: Testable, method: Method, how: Plan, workers: int | None) -> _Replicate:
    parts: list[Units] = [units.part(r) for r in split_at(method, units.n_units)]
    moments = [accumulate(part, how.pairing, workers=workers) for part in parts]
    total = sum(moments[1:], start=moments[0])
    tau = np.stack([m.tau for m in moments])
    # Uncentred, as for flips: good for complete pairs too.
    return _Replicate(tau[0] if len(tau) == 1 else tau, total.second_moment, total)
