"""Threads: the limit of linear algebra belongs to the process, and callers are counted."""

from __future__ import annotations

from contextlib import ExitStack

from nosplit.backend import threads


class Library:
    """Linear algebra with eight threads."""

    def __init__(self):
        self.threads = 8

    def limit(self, limits):
        self.threads = limits
        return self

    def restore_original_limits(self):
        self.threads = 8


def test_the_last_caller_lifts_the_limit(monkeypatch):
    """The first to come may leave first."""
    library = Library()
    monkeypatch.setattr(threads, "_blas", lambda: library)
    first, second = ExitStack(), ExitStack()
    first.enter_context(threads.one_blas_thread())
    second.enter_context(threads.one_blas_thread())
    first.close()
    assert library.threads == 1
    second.close()
    assert library.threads == 8


def test_results_come_in_the_order_of_jobs():
    jobs = range(40)
    assert list(threads.mapped(lambda i: i * i, jobs, 2)) == [(i, i * i) for i in jobs]
