"""Units × pairing → `Moments`, and the sums under random draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nosplit._old.pairs.draws import Part
from nosplit._old.pairs.protocols import Draws, Folding, InBulk, Units
from nosplit.backend.threads import mapped
from nosplit.core.moments import Moments, Step, add_up, column_moments
from nosplit.core.pairings import Adjacent, Job, LinearPairs, Pairing

__all__ = ["accumulate", "accumulate_draws", "in_runs"]

# Kernel evaluations in a job: what a core's second cache holds.
JOB, FOLDED = 32768, 4


def accumulate(
    units: Units,
    pairing: Pairing,
    *,
    workers: int | None = None,
    step: Step | None = None,
) -> Moments:
    """Moments of the values of all pairs.

    Parameters
    ----------
    units : Units
        The units of a family.
    pairing : Pairing
        Which pairs.
    workers : int, optional
        Threads; all cores by default.
    step : callable, optional
        Called with the number of pairs done after each job.
    """

    def moments(job: Job) -> Moments:
        return column_moments(units.values(job), job)

    work: Callable[[Job], Moments] = units.moments if isinstance(units, Folding) else moments
    # Values that are not kept need no cache, and fewer jobs are less to hand over.
    folded = work is not moments and isinstance(pairing, Adjacent | LinearPairs)
    larger = FOLDED if folded else 1
    return add_up(work, _jobs(units, pairing, larger), workers, step)


def accumulate_draws(
    units: Units,
    pairing: Pairing,
    draws: Draws,
    *,
    workers: int | None = None,
    step: Step | None = None,
) -> Part:
    """Add up like `accumulate`, with the sums under every draw, in the same pass over the pairs."""
    return add_up(draws.part, _jobs(units, pairing), workers, step)


def _jobs(units: Units, pairing: Pairing, larger: int = 1) -> Iterator[Job]:
    if isinstance(units, InBulk):
        return pairing.jobs(units.n_units, units.pairs_at_once)
    combinations = (units.rows_per_unit / 2.0) ** 2
    return pairing.jobs(units.n_units, larger * max(JOB // 32, round(JOB / combinations)))


def in_runs(work: Callable[[slice], None], count: int, size: int, workers: int) -> None:
    """Do work on runs of some of a number of things, by threads."""
    for _ in mapped(work, (slice(i, i + size) for i in range(0, count, size)), workers):
        pass
