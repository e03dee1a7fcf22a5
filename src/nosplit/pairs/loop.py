"""The one loop: units × pairing → `Moments` (and the sums under random draws).

Jobs are cut the same way whatever the number of workers, and added in their order: the result
does not depend on how many threads shared the work.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from nosplit._support.checks import check_int
from nosplit.errors import InputError
from nosplit.pairs.draws import Part, column_moments
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Adjacent, Job, LinearPairs, Pairing
from nosplit.pairs.protocols import Draws, Folding, InBulk, Units

__all__ = ["accumulate", "accumulate_draws", "in_runs", "n_workers", "one_blas_thread"]

J = TypeVar("J")
T = TypeVar("T")
S = TypeVar("S", Moments, Part)
Step = Callable[[int], None]

# Kernel evaluations in a job: what a core's second cache holds.
JOB, FOLDED = 32768, 4


def n_workers(workers: int | None) -> int:
    """Number of threads: as asked, or one for each core that this process may use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return check_int(workers, "workers", least=1)


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
    return _add_up(work, _jobs(units, pairing, larger), n_workers(workers), step)


def accumulate_draws(
    units: Units,
    pairing: Pairing,
    draws: Draws,
    *,
    workers: int | None = None,
    step: Step | None = None,
) -> Part:
    """Add up like `accumulate`, with the sums under every draw, in the same pass over the pairs."""
    return _add_up(draws.part, _jobs(units, pairing), n_workers(workers), step)


def _jobs(units: Units, pairing: Pairing, larger: int = 1) -> Iterator[Job]:
    if isinstance(units, InBulk):
        return pairing.jobs(units.n_units, units.pairs_at_once)
    combinations = (units.rows_per_unit / 2.0) ** 2
    return pairing.jobs(units.n_units, larger * max(JOB // 32, round(JOB / combinations)))


def _add_up(work: Callable[[Job], S], jobs: Iterator[Job], workers: int, step: Step | None) -> S:
    total: S | None = None

    def quietly(job: Job) -> S:
        with np.errstate(over="ignore", invalid="ignore"):
            return work(job)

    # What overflows is found in the total: once, and with an error that says what to do.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for job, part in _mapped(quietly, jobs, workers):
            total = part if total is None else total + part
            if step is not None:
                step(job.n_pairs)
    if total is None:
        raise InputError("There are no pairs: at least two units are needed.")
    return total


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One thread for linear algebra, unless another thread of the caller has seen to that.

    The limit is the process's. Were it set twice at once, the second to leave would restore the
    limit that the first had set, for good.
    """
    if not _LIMITING.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _LIMITING.release()


_LIMITING = Lock()


@cache
def _blas() -> Any:
    """Control of the threads of the linear algebra libraries: ours are enough.

    Those that are loaded later are not known to it, and SciPy brings its own.
    """
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def in_runs(work: Callable[[slice], None], count: int, size: int, workers: int) -> None:
    """Do work on runs of some of a number of things, by threads."""
    for _ in _mapped(work, (slice(i, i + size) for i in range(0, count, size)), workers):
        pass


def _mapped(work: Callable[[J], T], jobs: Iterator[J], workers: int) -> Iterator[tuple[J, T]]:
    """Results in the order of the jobs, a bounded number of jobs ahead."""
    first = list(islice(jobs, 2))
    if workers == 1 or len(first) < 2:
        for job in chain(first, jobs):
            yield job, work(job)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[J, Future[T]]] = deque()
        for job in (*first, *islice(jobs, 4 * workers)):
            waiting.append((job, pool.submit(work, job)))
        while waiting:
            job, future = waiting.popleft()
            yield job, future.result()
            for following in islice(jobs, 1):
                waiting.append((following, pool.submit(work, following)))
