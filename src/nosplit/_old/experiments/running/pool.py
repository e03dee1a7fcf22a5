"""Chunks done by several processes.

Workers ignore Ctrl-C, which the main process deals with, and end when the main process is gone,
however it ended. A worker that dies takes its chunk with it; the chunk is done again.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process

from threadpoolctl import threadpool_limits

from nosplit._old.experiments.catalogue import STUDIES
from nosplit._old.experiments.running.work import Chunk, Task

__all__ = ["WorkersDiedError", "run_all"]

Record = Callable[[Task, Chunk], None]

# Deaths of workers in a row, with no chunk finished in between, that are put up with.
MOST_DEATHS = 3


class WorkersDiedError(RuntimeError):
    """Workers die again and again."""


def run_all(tasks: Sequence[Task], *, seed: int, workers: int, record: Record) -> None:
    """Do all tasks and hand each to `record` when it is done."""
    if workers == 1 or len(tasks) <= 1:
        # One thread, as in the workers: sums are then rounded in the same way.
        with threadpool_limits(1):
            for task in tasks:
                record(task, _run(task, seed))
        return
    left, deaths = list(tasks), 0
    while left:
        before = len(left)
        try:
            _run_pool(left, seed, workers, record)
        except BrokenProcessPool:
            deaths = deaths + 1 if len(left) == before else 1
            if deaths >= MOST_DEATHS:
                raise WorkersDiedError(
                    f"Worker processes died {deaths} times in a row; is there enough memory?"
                ) from None


def _run_pool(left: list[Task], seed: int, workers: int, record: Record) -> None:
    """Do tasks and take them from the list as they are done."""

    def finish(future: Future[Chunk]) -> None:
        task = futures.pop(future)
        record(task, future.result())
        left.remove(task)

    with ProcessPoolExecutor(
        min(workers, len(left)), mp_context=get_context("spawn"), initializer=_start_worker
    ) as pool:
        futures = {pool.submit(_run, task, seed): task for task in left}
        try:
            for future in as_completed(list(futures)):
                finish(future)
        except BaseException:
            # What is under way is finished and kept, the rest is dropped.
            pool.shutdown(cancel_futures=True)
            for future in [f for f in futures if f.done() and not f.cancelled()]:
                if future.exception() is None:
                    finish(future)
            raise


def _run(task: Task, seed: int) -> Chunk:
    return task.run(STUDIES[task.study], seed)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
