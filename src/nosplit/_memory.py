"""Columns of numbers where they lie in memory: of arrays, of Arrow, or of parts of either.

Only compiled loops follow the addresses; whoever holds them holds the owner of the memory, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Numbers", "joined"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


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
        from nosplit._columns import copy

        out = np.empty((len(self.addresses), self.size))
        copy(self.addresses, centers, factors, out)
        return out


def joined(parts: Sequence[Numbers]) -> Numbers:
    """Rows of several parts, one after the other; where they are, if it is one."""
    from nosplit._columns import collect

    if len(parts) == 1:
        return parts[0]
    sizes = np.array([part.size for part in parts])
    rows = np.empty((len(parts[0].addresses), sizes.sum()))
    collect(np.stack([part.addresses for part in parts], axis=1), sizes, rows)
    return Numbers.of(rows, parts[0].raw)
