"""Batches of a file → blocks of columns of fixed sizes, in order or mixed, made ahead of time."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Full, Queue
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Mixer", "ahead", "cut"]

T = TypeVar("T")
Array = NDArray[np.float64]
Index = NDArray[np.int64]

DEPTH = 2  # blocks that wait for their turn
PIECES, HAND = 64, 8192  # pieces that a batch is cut into at least, and rows of a hand
PATIENCE = 0.05  # seconds between looks at whether anybody still waits


class Columns(NamedTuple):
    """The columns of a batch, in the same pieces each; `raw` ones are still to be scaled."""

    values: Sequence[Sequence[Array]]
    raw: bool


@dataclass
class Mixer:
    """Rows of batches in random order, such as suits the cache.

    The pieces that a batch comes in are dealt in hands: a hand takes the next few rows of every
    piece, in random order. It is then like all of the batch, and its rows lie in the cache.

    A permutation of its own would cost a hand more than reading it does. Hands of one size share a
    permutation, which is used twice, with two shifts of the hand's own: used once, neighbours
    would be the same in every hand.
    """

    rng: np.random.Generator
    known: dict[int, NDArray[np.uint16]] = field(default_factory=dict)
    room: Array = field(default_factory=lambda: np.empty(0))

    def __call__(self, columns: Sequence[Sequence[Array]]) -> Array:
        """Columns in one piece, (p, n), their rows mixed; in place of those of the last call."""
        from nosplit._columns import deal

        lengths = np.array([len(piece) for piece in columns[0]], dtype=np.int64)
        splits = -(-PIECES // len(lengths))
        begins = np.arange(splits) * lengths[:, None] // splits
        parts = np.diff(np.column_stack([begins, lengths])).ravel()
        hands = max(1, int(lengths.sum()) // HAND)
        places = self._places(parts, hands)
        size = len(columns) * len(places)
        if self.room.size < size:  # new memory costs as much as what is done in it
            self.room = np.empty(size)
        mixed = self.room[:size].reshape(len(columns), -1)
        for pieces, column in zip(columns, mixed, strict=True):
            starts = np.array([_address(piece) for piece in pieces], dtype=np.int64)
            deal((starts[:, None] + 8 * begins).ravel(), parts, hands, places, column)
        return mixed

    def _places(self, lengths: Index, hands: int) -> NDArray[np.uint16]:
        """Where rows go in their hand, in the order in which they are dealt."""
        from nosplit._columns import mix

        ends = lengths[:, None] * np.arange(hands + 1) // hands
        sizes = np.diff(ends).sum(axis=0)
        places, start = np.empty(int(lengths.sum()), dtype=np.uint16), 0
        for size in map(int, sizes):
            if size not in self.known:
                self.known[size] = self.rng.permutation(size).astype(np.uint16)
            shifts = self.rng.integers(max(size, 1), size=2)
            mix(self.known[size], *shifts, places[start : start + size])
            start += size
        return places


def _address(piece: Array) -> int:
    """Where the numbers of a contiguous array lie."""
    return int(piece.__array_interface__["data"][0])


def cut(
    batches: Iterable[Columns],
    sizes: Iterable[int],
    mixer: Mixer | None = None,
    centers: Array | None = None,
    factors: Array | None = None,
) -> Iterator[Array]:
    """Blocks (p, size) of the rows of batches, in their order or in a random one of each batch.

    Parameters
    ----------
    batches : iterable of Columns
        The columns of the batches.
    sizes : iterable of int
        Rows of the blocks. The last block holds what is left.
    mixer : Mixer, optional
        Random orders; by default rows stay in order.
    centers, factors : array, shape (p,), optional
        Values of raw columns become (value - center) · factor.
    """
    from nosplit._columns import copy

    wanted = iter(sizes)
    block, filled = None, 0
    for values, raw in batches:
        columns = mixer(values) if mixer else [_joined(pieces) for pieces in values]
        n, start = len(columns[0]), 0
        c, f = (centers, factors) if raw else (None, None)
        while start < n:
            if block is None:
                size = next(wanted, None)
                if size is None:
                    return
                block, filled = np.empty((len(columns), size)), 0
            stop = min(n, start + block.shape[1] - filled)
            for j, column in enumerate(columns):
                scaling = 0.0 if c is None else c[j], 1.0 if f is None else f[j]
                copy(column[start:stop], *scaling, block[j, filled : filled + stop - start])
            filled, start = filled + stop - start, stop
            if filled == block.shape[1]:
                yield block
                block = None
    if block is not None and filled:
        yield np.ascontiguousarray(block[:, :filled])


def _joined(pieces: Sequence[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def ahead(items: Iterable[T], depth: int = DEPTH) -> Generator[T, None, None]:
    """The items of an iterable, made by a thread of its own, a few ahead.

    Errors come out where the item would have; the thread ends when nobody asks any more.

    Examples
    --------
    >>> list(ahead(i * i for i in range(4)))
    [0, 1, 4, 9]
    """
    queue: Queue[tuple[bool, Any]] = Queue(depth)
    stopped = threading.Event()

    def put(entry: tuple[bool, Any]) -> bool:
        while not stopped.is_set():
            try:
                queue.put(entry, timeout=PATIENCE)
                return True
            except Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((True, item)):
                    return
            put((False, None))
        except BaseException as error:  # for whoever waits
            put((False, error))

    thread = threading.Thread(target=work, name="nosplit-reader", daemon=True)
    thread.start()
    try:
        while True:
            more, item = queue.get()
            if more:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        stopped.set()
        thread.join()
