"""Columns of numbers where they lie in memory: of arrays, of Arrow, or of parts of either.

Only compiled loops follow the addresses; whoever holds them holds the owner of the memory, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nosplit._support.types import Array, Index
from nosplit.errors import InputError
from nosplit.families.two_sample import Paired
from nosplit.kernels.bank import Bank
from nosplit.pairs.moments import Moments
from nosplit.pairs.order import Natural
from nosplit.pairs.pairing import Aligned, Job

__all__ = ["Columns", "Numbers", "joined"]


class Numbers(NamedTuple):
    """Columns of numbers where they lie in memory.

    Attributes
    ----------
    addresses : array, shape (p,)
        Where the numbers of each column begin, float64 one after the other.
    size : int
        How many they are.
    owner : object
        What keeps the memory.
    raw : bool
        Whether they are still to be centred and scaled.
    """

    addresses: Index
    size: int
    owner: object
    raw: bool = False

    @classmethod
    def of(cls, columns: Array, raw: bool = False) -> Numbers:
        """Of an array (p, n), its last axis contiguous."""
        first, step = columns.__array_interface__["data"][0], columns.strides[0]
        return cls(first + step * np.arange(len(columns)), columns.shape[1], columns, raw)

    def part(self, start: int, stop: int) -> Numbers:
        """Some of them."""
        return self._replace(addresses=self.addresses + 8 * start, size=stop - start)

    def scaled(self, centers: Array, factors: Array) -> Array:
        """An array (p, n) of (number - center) · factor."""
        from nosplit._support.loops.columns import copy

        out = np.empty((len(self.addresses), self.size))
        copy(self.addresses, centers, factors, out)
        return out


def joined(parts: Sequence[Numbers]) -> Numbers:
    """Rows of several parts, one after the other; where they are, if it is one."""
    from nosplit._support.loops.columns import collect

    if len(parts) == 1:
        return parts[0]
    sizes = np.array([part.size for part in parts])
    rows = np.empty((len(parts[0].addresses), sizes.sum()))
    collect(np.stack([part.addresses for part in parts], axis=1), sizes, rows)
    return Numbers.of(rows, parts[0].raw)


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
    >>> from nosplit.pairs.loop import accumulate
    >>> from nosplit.kernels import Gaussian, Linear
    >>> from nosplit.pairs.pairing import Adjacent
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
        from nosplit._support.loops.columns import adjacent_moments
        from nosplit._support.loops.values import two_sample_room

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
