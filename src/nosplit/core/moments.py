"""Moments: all that a closed form sees of its data.

Jobs of pairs are cut in one way for any number of workers, and added in their order: the result
does not depend on how many threads shared the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nosplit._checks import check_matrix
from nosplit._types import Array
from nosplit.backend.threads import mapped, n_workers, one_blas_thread
from nosplit.core.pairings import Job, Tile
from nosplit.errors import InputError

__all__ = ["Moments", "Step", "add_up", "column_moments"]

Step = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, mean and centred scatter of the values of pairs, for d kernels.

    Two `Moments` add; the empty one is the identity. Values are centred before they are
    multiplied and parts are merged by their means, so that nothing is lost for 10⁹ pairs.

    Parameters
    ----------
    n : int
        Number of pairs.
    mean : array, shape (d,)
        Mean of their values.
    scatter : array, shape (d, d)
        Sum of the outer products of their deviations from the mean.

    Examples
    --------
    >>> half = Moments.from_values([[1.0], [2.0]])
    >>> whole = half + Moments.from_values([[3.0], [4.0]])
    >>> whole.n, whole.mean, whole.cov
    (4, array([2.5]), array([[1.25]]))
    """

    n: int
    mean: Array
    scatter: Array

    @classmethod
    def empty(cls, d: int) -> Moments:
        """No pairs, d kernels: the identity of addition."""
        return cls(0, np.zeros(d), np.zeros((d, d)))

    @classmethod
    def from_values(cls, values: ArrayLike) -> Moments:
        """Moments of an (n, d) matrix of values."""
        h = check_matrix(values, "values")
        mean = h.mean(axis=0)
        centred = h - mean
        # The mean's own rounding error, put right: exact for values far from zero.
        correction = centred.mean(axis=0)
        return cls(len(h), mean + correction, _symmetric(centred.T @ (centred - correction)))

    @classmethod
    def from_columns(cls, columns: Array) -> Moments:
        """Moments of a (d, n) array of values, by the compiled loop."""
        from nosplit.backend.numba.values import scatter

        d, n = columns.shape
        if n == 0:
            return cls.empty(d)
        mean, total = np.empty(d), np.empty((d, d))
        scatter(columns, n, mean, total)
        return cls(n, mean, total)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if len(self.mean) != len(other.mean):
            raise InputError(
                f"`Moments` must be of the same kernels, got {len(self.mean)} and "
                f"{len(other.mean)} of them."
            )
        n = self.n + other.n
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        step = other.mean - self.mean
        mean = self.mean + step * (other.n / n)
        between = np.outer(step, step) * (self.n * (other.n / n))
        return Moments(n, mean, self.scatter + other.scatter + between)

    @property
    def tau(self) -> Array:
        """The base statistics τ = √n · mean."""
        return np.asarray(np.sqrt(self.n) * self.mean)

    @property
    def cov(self) -> Array:
        """Centred estimate of Σ with divisor n (Appendix D of the paper)."""
        return np.asarray(self.scatter / max(self.n, 1))

    @property
    def second_moment(self) -> Array:
        """Uncentred estimate of Σ, which no change of signs moves."""
        return np.asarray(self.cov + np.outer(self.mean, self.mean))


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2.0)


def column_moments(values: Array, job: Job) -> Moments:
    """Compute the moments of values of a job, (d, M), or (d, A, B) for a tile: each pair once."""
    if not isinstance(job, Tile):
        return Moments.from_columns(values)
    if job.a == job.b:
        rows, columns = np.triu_indices(len(job.a), 1)
        return Moments.from_columns(np.ascontiguousarray(values[:, rows, columns]))
    return Moments.from_columns(values.reshape(len(values), -1))


S = TypeVar("S", bound=Any)  # what can be added


def add_up(
    work: Callable[[Job], S], jobs: Iterable[Job], workers: int | None, step: Step | None = None
) -> S:
    """Add up what `work` makes of each job, by threads, in the order of the jobs.

    Call `step` with the number of pairs done after each job.
    """
    total: S | None = None

    def quietly(job: Job) -> S:
        with np.errstate(over="ignore", invalid="ignore"):
            return work(job)

    # An overflow is found in the total: once, and with an error that says what to do.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for job, part in mapped(quietly, jobs, n_workers(workers)):
            total = part if total is None else total + part
            if step is not None:
                step(job.n_pairs)
    if total is None:
        raise InputError("There are no pairs: at least two units are needed.")
    return total
