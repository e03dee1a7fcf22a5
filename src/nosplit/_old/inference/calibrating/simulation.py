"""Calibration by simulation: the whole test repeated on samples drawn from the model.

Everything is made again for every replicate (scores, bandwidths, Σ̂), so the data and the
replicates are exchangeable under the null, and the rank of the data's evidence is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from nosplit._old.inference.calibrating.ranking import rank_draws
from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.pairs.loop import accumulate
from nosplit._old.pairs.protocols import Testable
from nosplit._text import progress_bar
from nosplit._types import Array
from nosplit.backend.threads import n_workers
from nosplit.core.moments import Moments
from nosplit.core.pairings import Pairing
from nosplit.errors import InputError
from nosplit.inference.calibrations import SIMULATE
from nosplit.methods import Method
from nosplit.methods.split import split_at

__all__ = ["Replicates", "simulate"]


class Replicates(Protocol):
    """Samples of one size, with kernels of their own."""

    def __len__(self) -> int: ...

    @property
    def n_units(self) -> int:
        """Units of every sample."""
        ...

    def first(self, count: int) -> Replicates:
        """So many of the samples, if there are so many."""
        ...

    def units(self, r: int) -> Testable:
        """The units of a sample."""
        ...

    def all_at_once(self, pairing: Pairing) -> bool:
        """Whether `moments` are those of its pairs."""
        ...

    def moments(self, workers: int) -> tuple[Array, Array]:
        """Means, (R, d), and scatters, (R, d, d), of the values of the pairs of every sample."""
        ...


def simulate(
    observed: Replicates,
    samples: Iterator[Replicates],
    method: Method,
    how: Plan,
    workers: int | None,
    progress: bool = False,
) -> Outcome:
    """Rank the evidence of the observed sample among that of samples drawn under the null.

    Parameters
    ----------
    observed : Replicates
        The data, as one sample.
    samples : iterator of Replicates
        Gives samples of the same size from the model, some at a time, without end.
    method : Method
        What turns statistics into evidence.
    how : Plan
        Pairs, and how many replicates (its `flips`).
    workers : int, optional
        Threads.
    progress : bool
        Show a progress bar on the terminal.
    """
    first, tau, cov = _statistics(observed, method, how, workers)
    taus, covs = [tau], [cov]
    left = how.n_resamples
    with progress_bar(progress, how.n_resamples) as step:
        while left > 0:
            some = next(samples).first(left)
            _, tau, cov = _statistics(some, method, how, workers)
            taus.append(tau)
            covs.append(cov)
            left -= len(some)
            if step is not None:
                step(len(some))
    tau, cov = np.concatenate(taus), np.concatenate(covs)
    if not (np.isfinite(cov).all() and cov.any(axis=(1, 2)).all()):
        raise InputError(
            "`score` is a model, or `x` a sample, of a scale at which squares of statistics are no "
            "numbers. Rescale both, for example to unit variance."
        )
    flips = rank_draws(method, tau, cov)
    selection = method(tau[0], cov[0])
    return Outcome(method, selection, first.tau, cov[0], first.n, SIMULATE, flips, pairs=how.pairs)


def _statistics(
    samples: Replicates, method: Method, how: Plan, workers: int | None
) -> tuple[Moments, Array, Array]:
    """Moments of the first sample; of all τ, (R, d) or (R, 2, d) for a split, and Σ̂, (R, d, d).

    Σ̂ is uncentred, as for flips: good for complete pairs too.
    """
    parts = split_at(method, samples.n_units)
    if len(parts) == 1 and samples.all_at_once(how.pairing):
        n = how.pairing.n_pairs(samples.n_units)
        means, scatters = samples.moments(n_workers(workers))
        cov = scatters / n + means[:, :, None] * means[:, None, :]
        return Moments(n, means[0], scatters[0]), np.sqrt(n) * means, cov
    totals, taus = [], []
    for r in range(len(samples)):
        units = samples.units(r)
        moments = [accumulate(units.part(run), how.pairing, workers=workers) for run in parts]
        totals.append(sum(moments[1:], start=moments[0]))
        taus.append(np.stack([m.tau for m in moments]))
    tau = np.stack(taus)
    covs = np.stack([total.second_moment for total in totals])
    return totals[0], tau[:, 0] if len(parts) == 1 else tau, covs
