"""Threads: one for linear algebra, and results in the order of their jobs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar

from nosplit._checks import check_int

__all__ = ["mapped", "n_workers", "one_blas_thread"]

J = TypeVar("J")
T = TypeVar("T")


def n_workers(workers: int | None) -> int:
    """Number of threads: as asked, or one for each core that this process may use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return check_int(workers, "workers", least=1)


class _Limit:
    """The limit of the process on threads of linear algebra, and the number of its users."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if not self.users:
                self.limit = _blas().limit(limits=1)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                self.limit.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit linear algebra to one thread until the last caller leaves.

    The limit is the process's, so that callers in several threads are counted.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


@cache
def _blas() -> Any:
    """Control of the threads of the linear algebra libraries.

    Those that are loaded later are not known to it, and SciPy brings its own.
    """
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def mapped(work: Callable[[J], T], jobs: Iterable[J], workers: int) -> Iterator[tuple[J, T]]:
    """Jobs and their results in order, a bounded number of jobs ahead."""
    jobs = iter(jobs)
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
