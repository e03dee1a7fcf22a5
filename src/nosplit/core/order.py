"""Orders of rows, in which they are dealt to units.

Shuffling guards against rows that arrive sorted. A permutation of many rows is costly to draw and
to follow (every row is a miss of the cache), so large data is *riffled* instead: the rows are cut
into 512 segments, a buffer takes 16 consecutive rows from each, and the buffer's rows are dealt
in random order. Every buffer is then a stratified sample of all the data, and memory is read in
512 sequential streams.

All buffers use one random permutation of 8192 places, twice, with two shifts of their own. (With
the permutation used once, neighbours would be the same in every buffer, and what little
correlation they have by chance would not average out.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Index

__all__ = [
    "Natural",
    "Order",
    "Permuted",
    "Riffled",
    "UnitRange",
    "shuffled",
    "take",
    "unwrapped",
]

SEGMENTS, RUN = 512, 16  # as in `backend/numba/bases`, imported when needed
BUFFER = SEGMENTS * RUN
# Below this many rows a plain permutation is as cheap.
LARGE = 32 * BUFFER


class Order(Protocol):
    """The order of rows: the row at each position."""

    def rows(self, positions: range) -> Index:
        """Rows at the given positions."""
        ...


@dataclass(frozen=True)
class Natural:
    """Rows as they come."""

    def rows(self, positions: range) -> Index:
        """Rows at the given positions."""
        return np.arange(positions.start, positions.stop, positions.step, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Permuted:
    """Rows in the order of a permutation."""

    index: Index

    def rows(self, positions: range) -> Index:
        """Rows at the given positions."""
        return np.ascontiguousarray(self.index[positions.start : positions.stop : positions.step])


@dataclass(frozen=True, eq=False)
class Riffled:
    """Rows dealt from 512 segments, a buffer at a time (see the module's text)."""

    starts: Index  # first row of each segment
    pattern: Index  # random order of a buffer's places: 16 * segment + place in the run
    shifts: Index  # where each buffer enters the pattern, the first and the second time
    rest: Index  # the rows between the segments, in random order

    @classmethod
    def draw(cls, n: int, rng: np.random.Generator) -> Riffled:
        """A riffle of n ≥ 8192 rows."""
        buffers = n // BUFFER
        starts = np.arange(SEGMENTS + 1, dtype=np.int64) * n // SEGMENTS
        used = buffers * RUN
        gaps = [np.arange(a + used, b) for a, b in pairwise(starts)]
        return cls(
            starts[:-1],
            rng.permutation(BUFFER),
            rng.integers(BUFFER, size=(buffers, 2)),
            rng.permutation(np.concatenate(gaps)),
        )

    def rows(self, positions: range) -> Index:
        """Rows at the given positions."""
        from nosplit.backend.numba.bases import riffle

        out = np.empty(len(positions), dtype=np.int64)
        order = (self.starts, self.pattern, self.shifts, self.rest)
        riffle(*order, positions.start, positions.step, out)
        return out


def shuffled(n: int, rng: np.random.Generator) -> Order:
    """A random order of n rows."""
    return Riffled.draw(n, rng) if n >= LARGE else Permuted(rng.permutation(n))


def take(sample: NDArray[Any], order: Order, positions: range) -> NDArray[Any]:
    """Rows of a sample at the given positions, contiguous."""
    return np.take(sample, order.rows(positions), axis=0)


class UnitRange:
    """Units at some of the positions that rows were dealt to: what all families' units share."""

    units: range

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.units)

    def part(self, units: range) -> Self:
        """Some of the units, as units of their own."""
        return replace(self, units=self.units[units.start : units.stop])  # type: ignore[type-var]


def unwrapped(units: range, n: int) -> list[range]:
    """Runs of units, at most two, that span units which may go past the last, to the first."""
    round_again = n if units.start >= n else 0
    start, stop = units.start - round_again, units[-1] + 1 - round_again
    if stop <= n:
        return [range(start, stop)]
    return [range(start, n), range(stop - n)]
