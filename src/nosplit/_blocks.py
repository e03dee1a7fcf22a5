"""Batches of a file → blocks of columns of fixed sizes, in order or mixed, made ahead of time."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Mixer", "ahead", "cut"]

T = TypeVar("T")
Array = NDArray[np.float64]
Index = NDArray[np.int64]

DEPTH = 3  # blocks that are made before they are asked for
PIECES, HAND = 64, 8192  # pieces that a batch is cut into at least, and rows of a hand


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

    def hands(self, columns: Sequence[Sequence[Array]]) -> Iterator[Array]:
        """Rows of a batch, mixed, some at a time: (p, n); in place of those before."""
        from nosplit._columns import deal

        lengths = np.array([len(piece) for piece in columns[0]], dtype=np.int64)
        splits = -(-PIECES // len(lengths))
        begins = np.arange(splits) * lengths[:, None] // splits
        parts = np.diff(np.column_stack([begins, lengths])).ravel()
        addresses = [(_addresses(pieces)[:, None] + 8 * begins).ravel() for pieces in columns]
        number = max(1, int(lengths.sum()) // HAND)
        sizes = np.diff(parts[:, None] * np.arange(number + 1) // number).sum(axis=0)
        room = np.empty((len(columns), int(sizes.max())))
        for hand, size in enumerate(map(int, sizes)):
            places, out = self._places(size), room[:, :size]
            for address, column in zip(addresses, out, strict=True):
                deal(address, parts, hand, number, places, column)
            yield out

    def _places(self, size: int) -> NDArray[np.uint16]:
        """A random order of a hand."""
        from nosplit._columns import mix

        if size not in self.known:
            self.known[size] = self.rng.permutation(size).astype(np.uint16)
        out = np.empty(size, dtype=np.uint16)
        mix(self.known[size], *self.rng.integers(max(size, 1), size=2), out)
        return out


def _addresses(pieces: Sequence[Array]) -> NDArray[np.int64]:
    """Where the numbers of contiguous arrays lie."""
    found = [piece.__array_interface__["data"][0] for piece in pieces]
    return np.array(found, dtype=np.int64)


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
    for columns, raw in _parts(batches, mixer):
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


def _parts(
    batches: Iterable[Columns], mixer: Mixer | None
) -> Iterator[tuple[Sequence[Array] | Array, bool]]:
    """Columns in one piece each: of a batch in order, or of a hand of mixed rows."""
    for values, raw in batches:
        if mixer is None:
            yield [_joined(pieces) for pieces in values], raw
        else:
            yield from ((hand, raw) for hand in mixer.hands(values))


def _joined(pieces: Sequence[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


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
