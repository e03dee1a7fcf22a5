"""Two-sample units on columns, as files hold them: adjacent pairs, folded where they lie.

The same units as `mmd.Paired` on the transposed arrays, for built-in kernels, at about half the
work a pair: see `_columns`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nosplit._errors import InputError
from nosplit._memory import Numbers
from nosplit.bank import Bank
from nosplit.mmd import Paired
from nosplit.moments import Moments
from nosplit.order import Natural
from nosplit.pairing import Aligned, Job

__all__ = ["Columns"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Columns:
    """N units of one row each of x and y, given by their columns.

    Parameters
    ----------
    x, y : Numbers
        The columns of the samples.
    bank : Bank
        The kernels, all of them built in.
    factors : array, shape (p,), optional
        What differences along the columns are multiplied by, for kernels of differences. By
        default 1.

    Examples
    --------
    >>> from nosplit.accumulate import accumulate
    >>> from nosplit.kernels import Gaussian, Linear
    >>> from nosplit.pairing import Adjacent
    >>> x, y = np.random.default_rng(0).normal(size=(2, 3, 100))
    >>> bank = Bank((Gaussian(1.0), Linear()))
    >>> by_column = accumulate(Columns(Numbers.of(x), Numbers.of(y), bank), Adjacent())
    >>> by_row = accumulate(Paired(x.T, y.T, Natural(), Natural(), bank, range(100)), Adjacent())
    >>> by_column.n, bool(np.allclose(by_column.tau, by_row.tau))
    (50, True)
    """

    x: Numbers
    y: Numbers
    bank: Bank
    factors: Array | None = None

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.x.size

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together."""
        return 2.0

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job, (d, M)."""
        first, last = _bounds(job)
        scaling = np.zeros(len(self.x.addresses)), self._factors()
        sides = [side.part(2 * first, 2 * last).scaled(*scaling).T for side in (self.x, self.y)]
        x, y = map(np.ascontiguousarray, sides)
        units = range(2 * (last - first))
        rows = Paired(x, y, Natural(), Natural(), self.bank, units)
        return rows.values(Aligned(units[::2], units[1::2]))

    def moments(self, job: Job) -> Moments:
        """Moments of the values of a job."""
        from nosplit._columns import adjacent_moments
        from nosplit._evaluate import two_sample_room

        first, last = _bounds(job)
        bank, d = self.bank, len(self.bank)
        mean, total = np.empty(d), np.empty((d, d))
        where = self.x.addresses, self.y.addresses, self._factors(), first, last
        how = bank.want, bank.linear_rows, bank.program, two_sample_room()
        adjacent_moments(*where, *how, mean, total)
        return Moments(last - first, mean, total)

    def _factors(self) -> Array:
        return np.ones(len(self.x.addresses)) if self.factors is None else self.factors


def _bounds(job: Job) -> tuple[int, int]:
    """The numbers of the first pair of a job and of the one after its last."""
    if not (isinstance(job, Aligned) and job.a.step == 2 and job.b.start == job.a.start + 1):
        raise InputError('`pairs` on columns must be "adjacent".')
    return job.a.start // 2, job.a.start // 2 + len(job.a)
