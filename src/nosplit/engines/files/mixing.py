"""Batches of a file → blocks of columns of fixed sizes, in order or mixed, made ahead of time.

Numbers stay where they are as long as they can: a block in order is a part of its batch, and mixed
rows are dealt from their batch to their places in the block.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index
from nosplit.engines.files.columns import Numbers, joined

__all__ = ["InOrder", "Mixer", "ahead", "side_by_side"]

T = TypeVar("T")
Places = NDArray[np.uint16]

DEPTH = 3  # blocks that are made before they are asked for
# Pieces that a batch is cut into at least, and rows that are dealt at once (16 bits count them).
PIECES, HAND = 16, 1 << 15


class InOrder:
    """Rows of batches, in their order, and where they are if they can.

    Parameters
    ----------
    batches : iterator of sequences of Numbers
        The rows, in pieces.
    """

    def __init__(self, batches: Iterator[Sequence[Numbers]]) -> None:
        self._pieces = (piece for batch in batches for piece in batch if piece.size)
        self._piece: Numbers | None = None

    def at_hand(self) -> int:
        """Rows of which none has to be copied; 0 at the end."""
        if self._piece is None:
            self._piece = next(self._pieces, None)
        return self._piece.size if self._piece else 0

    def take(self, n: int) -> Numbers | None:
        """The next n rows, or what is left of them; None at the end."""
        parts, missing = list[Numbers](), n
        while missing and (size := min(missing, self.at_hand())):
            assert self._piece is not None
            parts.append(self._piece.part(0, size))
            rest = self._piece.part(size, self._piece.size)
            self._piece = rest if rest.size else None
            missing -= size
        return joined(parts) if parts else None

    def blocks(self, sizes: Iterable[int]) -> Iterator[Numbers]:
        """Blocks of so many rows; the last holds what is left."""
        for size in sizes:
            if (block := self.take(size)) is None:
                return
            yield block


def side_by_side(x: InOrder, y: InOrder) -> Iterator[tuple[Numbers, Numbers]]:
    """Blocks of as many rows as lie together on both sides, an even number."""
    while n := min(x.at_hand(), y.at_hand()):
        one, other = (side.take(max(2, n - n % 2)) for side in (x, y))
        assert one is not None  # both have rows at hand
        assert other is not None
        yield one, other


class Mixer:
    """Rows of strands in random order, such as suits the cache.

    Rows are dealt in hands: a hand takes the next few rows of every strand, in proportion to what
    is left of it, in random order. It is then like all of the file. Where strands are few, every
    batch of theirs is cut into pieces, which are dealt from in the same way.

    A permutation of its own would cost a hand more than reading it does. Hands of the usual size
    share one, which is used twice, with two shifts of the hand's own: used once, neighbours would
    be the same in every hand.

    Parameters
    ----------
    strands : sequence of (int, iterator of Numbers)
        Their rows, and how many there are at most.
    p : int
        Number of columns.
    rng : Generator
        For the orders.
    """

    def __init__(
        self, strands: Sequence[tuple[int, Iterator[Numbers]]], p: int, rng: np.random.Generator
    ) -> None:
        self.batches = [batches for _, batches in strands]
        self.rows = np.array([rows for rows, _ in strands])
        self.pieces = math.ceil(PIECES / len(strands))
        self.cuts = np.arange(self.pieces + 1)
        self.addresses = np.zeros((p, len(strands), self.pieces), dtype=np.int64)
        self.left = np.zeros((len(strands), self.pieces), dtype=np.int64)
        self.owners: list[object] = [None] * len(strands)
        self.raw = False
        self.rng = rng
        self.pattern = self._permutation(HAND)
        self.hand = np.empty(HAND)

    def blocks(self, sizes: Iterable[int]) -> Iterator[Numbers]:
        """Blocks of so many rows; the last holds what is left."""
        for size in sizes:
            room, filled = np.empty((len(self.addresses), size)), 0
            while filled < size and self.rows.any():
                filled += self._deal(room[:, filled : min(size, filled + HAND)])
            if filled:
                yield Numbers.of(room, self.raw).part(0, filled)
            if filled < size:
                return

    def _deal(self, room: Array) -> int:
        """Deal a hand, and say how many rows it has: fewer than there is room for at the end."""
        from nosplit._support.loops.columns import deal

        wanted = _shares(self.rows, min(room.shape[1], self.rows.sum()))
        rests = self._refill(wanted)
        counts = _shares(self.left, wanted)
        pieces = [rest.addresses[:, None] for rest in rests]
        addresses = np.concatenate([*pieces, self.addresses.reshape(len(room), -1)], axis=1)
        numbers = np.array([*(rest.size for rest in rests), *counts.ravel().tolist()])
        size = int(numbers.sum())
        deal(addresses, numbers, self._places(size), self.hand, room)
        self.addresses += 8 * counts
        self.left -= counts
        self.rows -= wanted
        return size

    def _refill(self, wanted: Index) -> list[Numbers]:
        """Read on where strands lack rows; what was left of the batches before."""
        rests = []
        while len(short := np.flatnonzero(self.left.sum(axis=1) < wanted)):
            rests.append(self._rest(short))
            left = self.left[short].sum(axis=1)
            self.rows[short] -= left
            wanted[short] -= left
            for strand in short.tolist():
                self.owners[strand] = None  # whose memory the next batch may take
                batch = next(self.batches[strand], None)
                if batch is None:  # it has fewer rows than it was said to have
                    self.left[strand] = self.rows[strand] = wanted[strand] = 0
                    continue
                cuts = batch.size * self.cuts // self.pieces
                self.addresses[:, strand] = batch.addresses[:, None] + 8 * cuts[:-1]
                self.left[strand] = cuts[1:] - cuts[:-1]
                self.owners[strand], self.raw = batch.owner, batch.raw
        return rests

    def _rest(self, strands: Index) -> Numbers:
        """A copy of what is left of some strands' batches."""
        from nosplit._support.loops.columns import collect

        addresses, left = self.addresses[:, strands], self.left[strands].ravel()
        rest = np.empty((len(addresses), left.sum()))
        collect(addresses.reshape(len(rest), -1), left, rest)
        return Numbers.of(rest, self.raw)

    def _places(self, size: int) -> Places:
        """A random order of a hand."""
        from nosplit._support.loops.columns import mix

        if size != HAND:
            return self._permutation(size)
        out = np.empty(HAND, dtype=np.uint16)
        mix(self.pattern, *self.rng.integers(HAND, size=2), out)
        return out

    def _permutation(self, size: int) -> Places:
        return self.rng.permutation(size).astype(np.uint16)


def _shares(lengths: Index, n: Any) -> Index:
    """How many of n numbers each piece gives, by their lengths, along the last axis.

    Examples
    --------
    >>> _shares(np.array([30, 0, 10, 1]), 20)
    array([14,  0,  5,  1])
    """
    ends = lengths.cumsum(axis=-1)
    ends *= np.asarray(n)[..., None]
    ends //= np.maximum(lengths.sum(axis=-1)[..., None], 1)
    ends[..., 1:] -= ends[..., :-1].copy()
    return ends


def ahead(items: Iterable[T], depth: int = DEPTH) -> Generator[T, None, None]:
    """The items of an iterable, made by a thread of its own, a few ahead.

    At most `depth` items are under way or wait. Errors come out where the item would have; the
    thread ends when nobody asks any more.

    Examples
    --------
    >>> list(ahead(i * i for i in range(4)))
    [0, 1, 4, 9]
    """
    queue: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
    permits, stopped = threading.Semaphore(depth), threading.Event()

    def work() -> None:
        source = iter(items)
        try:
            while permits.acquire() and not stopped.is_set():
                queue.put((True, next(source)))
        except StopIteration:
            queue.put((False, None))
        except BaseException as error:  # for whoever waits
            queue.put((False, error))

    thread = threading.Thread(target=work, name="nosplit-reader", daemon=True)
    thread.start()
    try:
        while True:
            more, item = queue.get()
            permits.release()
            if more:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        stopped.set()
        permits.release()
        thread.join()
