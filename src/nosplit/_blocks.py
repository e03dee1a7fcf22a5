"""Batches of a file → blocks of columns of fixed sizes, in order or mixed, made ahead of time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Mixer", "ahead", "cut"]

T = TypeVar("T")
Array = NDArray[np.float64]
Index = NDArray[np.int64]

DEPTH = 2  # blocks that wait for their turn
PATIENCE = 0.05  # seconds between looks at whether anybody still waits


class Columns(NamedTuple):
    """The columns of a batch; if `raw`, they are still to be centred and scaled."""

    values: Sequence[NDArray[Any]]
    raw: bool


@dataclass
class Mixer:
    """Random orders of the rows of batches.

    A permutation of its own would cost a batch more than reading it does. All batches of one
    length share a permutation, which is used twice, with two shifts of the batch's own: used once,
    neighbours would be the same in every batch.
    """

    rng: np.random.Generator
    known: dict[int, Index] = field(default_factory=dict)

    def order(self, n: int) -> Index:
        """A random order of n rows."""
        if n not in self.known:
            self.known.clear()  # lengths seldom come back once they have changed
            self.known[n] = self.rng.permutation(n)
        pattern = self.known[n]
        first, second = self.rng.integers(n, size=2)
        return np.asarray(np.roll(pattern, second)[np.roll(pattern, first)])


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
    wanted = iter(sizes)
    block, filled = None, 0
    for columns, raw in batches:
        n, start = len(columns[0]), 0
        order = mixer.order(n) if mixer else None
        while start < n:
            if block is None:
                size = next(wanted, None)
                if size is None:
                    return
                block, filled = np.empty((len(columns), size)), 0
            stop = min(n, start + block.shape[1] - filled)
            room = block[:, filled : filled + stop - start]
            for j, column in enumerate(columns):
                if order is None:
                    room[j] = column[start:stop]
                else:
                    np.take(column, order[start:stop], out=room[j], mode="clip")
                if raw and centers is not None and factors is not None:
                    room[j] -= centers[j]
                    room[j] *= factors[j]
            filled, start = filled + stop - start, stop
            if filled == block.shape[1]:
                yield block
                block = None
    if block is not None and filled:
        yield np.ascontiguousarray(block[:, :filled])


def ahead(items: Iterable[T], depth: int = DEPTH) -> Iterator[T]:
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
        with_suppressed_drain(queue)
        thread.join()


def with_suppressed_drain(queue: Queue[Any]) -> None:
    """Let a thread that waits to put go on."""
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
