"""Which rows are in which unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._support.types import Index

__all__ = ["MOST_ROWS", "Dealing", "evenly"]

# Rows of the larger sample in a unit: a share of 1 + 1/16 of the smallest possible variance.
MOST_ROWS = 16


def evenly(units: range, rows: int, n_units: int) -> Index:
    """Where each of the units begins, and the one after them, if n_units share so many rows.

    Examples
    --------
    >>> evenly(range(1, 3), 8, 3)
    array([2, 5, 8])
    """
    quotient, rest = divmod(rows, n_units)
    places = np.arange(units.start, units.stop + 1, dtype=np.int64)
    # Not places * rows // n_units: that product can overflow.
    return places * quotient + places * rest // n_units


@dataclass(frozen=True)
class Dealing:
    """Two samples of n and m rows, cut into N = min(n, m) units as `two_sample_units` does.

    Examples
    --------
    >>> Dealing(2, 5).rows(range(1, 2))
    (range(1, 2), range(2, 5))
    """

    n: int
    m: int

    @property
    def n_units(self) -> int:
        """Number of units."""
        return min(self.n, self.m)

    @property
    def n_used(self) -> int:
        """Rows that are in units, both samples together."""
        return self.n_units + int(self.starts(range(self.n_units, self.n_units))[0])

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together, on average."""
        return self.n_used / self.n_units

    def starts(self, units: range) -> Index:
        """First row of the larger sample in each of the units, and in the one after them."""
        rows = min(max(self.n, self.m), MOST_ROWS * self.n_units)
        return evenly(units, rows, self.n_units)

    def rows(self, units: range) -> tuple[range, range]:
        """Rows of x and rows of y in consecutive units."""
        starts = self.starts(units)
        many = range(int(starts[0]), int(starts[-1]))
        return (units, many) if self.n <= self.m else (many, units)

    def unit_at(self, row: int) -> int:
        """The first unit whose rows of the larger sample begin at `row` or later."""
        used = self.n_used - self.n_units
        return min(-(-row * self.n_units // used), self.n_units)
