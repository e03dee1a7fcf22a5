"""Blocks of a stream of one kind of units: runs of them, and the sums of their numbers.

When there are too many blocks, neighbours are merged two by two: a long stream has blocks of 2^k
units, and as sums are sums of integers, they are the same whatever the batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Index
from nosplit.backend.threads import one_blas_thread

__all__ = ["BlockCounts", "RunSums", "two_by_two"]

# Blocks that there is room for at first.
FEW = 64


def two_by_two(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of neighbouring rows; a last one without a neighbour stays alone."""
    half = values[::2].copy()
    half[: len(values) // 2] += values[1::2]
    return half


class BlockCounts:
    """Units in the blocks of a stream: all are full but the last, and those where streams met."""

    most: int
    length: int
    counts: Index

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_units(self) -> int:
        """Units in all blocks."""
        return int(self.counts.sum())

    def halved(self) -> Self:
        """Neighbouring blocks merged two by two: half as many, twice as long."""
        raise NotImplementedError

    def _joined(self, other: Self, counts: Index) -> Self:
        """These blocks, then others of the same length."""
        raise NotImplementedError

    def _dealt(self, count: int) -> tuple[Self, int, Index]:
        """Blocks with room for more units, the first that takes one in, and that of each unit."""
        blocks = self
        while blocks._needed(count) > blocks.most:
            blocks = blocks.halved()
        place = (blocks._open + np.arange(count)) // blocks.length
        return blocks, len(blocks) - bool(blocks._open), place

    @property
    def _open(self) -> int:
        """Units in the last block, if it is not full."""
        last = int(self.counts[-1]) if len(self) else 0
        return last if last < self.length else 0

    def _needed(self, count: int) -> int:
        """Blocks there would be with so many units more."""
        done = self._open
        return len(self) - bool(done) - (-(done + count) // self.length)

    def _counts_with(self, first: int, counts: Index) -> Index:
        """Units in all blocks, with more in those from `first` on."""
        more = np.zeros(first + len(counts), np.int64)
        more[: len(self)] = self.counts
        more[first:] += counts
        return more

    def followed_by(self, other: Self) -> Self:
        """These blocks, then those of another stream with the same map; neither is changed."""
        ours, theirs = self, other
        while ours.length < theirs.length:
            ours = ours.halved()
        while theirs.length < ours.length:
            theirs = theirs.halved()
        joined = ours._joined(theirs, np.concatenate([ours.counts, theirs.counts]))
        while len(joined) > joined.most:
            joined = joined.halved()
        return joined


@dataclass(frozen=True, eq=False)
class RunSums(BlockCounts):
    """Blocks of a stream.

    Attributes
    ----------
    width : int
        Numbers of a block.
    most : int
        Blocks at the most.
    length : int
        Units of a block that is full; the last one may be open, and where streams were merged
        there are shorter ones.
    counts : array of int64, shape (N,)
        Units in each block.
    room : array of int64, shape (≥ N, width)
        Sums of the numbers of each block, and room for more.
    """

    width: int
    most: int
    length: int = 1
    counts: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    room: NDArray[np.int64] | None = None

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Sums of the blocks, (N, width); not copied."""
        if self.room is None:
            return np.zeros((0, self.width), np.int64)
        return self.room[: len(self)]

    def added(self, count: int, sums: Callable[[Index, int], NDArray[np.int64]]) -> RunSums:
        """These blocks with so many units more; this object must not be used any more.

        `sums` gets the block of every new unit, counted from the first that takes one in, and how
        many blocks there are, and gives their sums. What can fail, fails before anything changes.
        """
        if not count:
            return self
        blocks, first, place = self._dealt(count)
        with one_blas_thread():
            part = sums(place, int(place[-1]) + 1)
        return blocks._with(first, np.bincount(place), part)

    def _with(self, first: int, counts: NDArray[Any], part: NDArray[np.int64]) -> RunSums:
        """Add sums to the blocks from `first` on."""
        total, room = first + len(counts), self.room
        if room is None or len(room) < total:
            size = min(self.most, max(FEW, 2 * total))
            room = np.zeros((size, self.width), np.int64)
            room[: len(self)] = self.numbers
        room[first:total] += part
        return replace(self, counts=self._counts_with(first, counts), room=room)

    def halved(self) -> Self:
        """Neighbouring blocks merged two by two: half as many, twice as long."""
        counts = two_by_two(self.counts[:, None])[:, 0]
        return replace(self, length=2 * self.length, counts=counts, room=two_by_two(self.numbers))

    def _joined(self, other: Self, counts: Index) -> Self:
        return replace(self, counts=counts, room=np.concatenate([self.numbers, other.numbers]))
