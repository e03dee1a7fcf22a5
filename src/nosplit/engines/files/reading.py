"""Two files as blocks of rows for units, read by a thread each while the blocks before are used."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import numeric
from nosplit._support.types import Array
from nosplit.data.encoding import Encoding
from nosplit.data.files.source import Source
from nosplit.engines.files.columns import Numbers, joined
from nosplit.engines.files.drift import Features
from nosplit.engines.files.mixing import InOrder, Mixer, ahead, side_by_side
from nosplit.pairs.dealing import MOST_ROWS, evenly

__all__ = ["Block", "Deal", "Reader", "blocks"]

# Values of a batch and of a block, and units of a block: fewer where rows are wide.
BATCH, VALUES, BLOCK = 1 << 23, 1 << 20, 1 << 16
# Batches in order may be so many times smaller, as they are read one after the other.
IN_ORDER = 4
# Up to this ratio of the files' sizes, units are one row of either, and the rest stays out.
EVEN = 1.1
# Types of Arrow that are taken as they are, or converted at once.
PLAIN = {"double", "float", "int64", "int32"}


@dataclass(frozen=True)
class Deal:
    """How rows are dealt to units.

    Attributes
    ----------
    n_units : int
        Number of units.
    block : int
        Units of a block, an even number: pairs stay inside.
    many : int, optional
        Which of the files is so much larger that units hold several of its rows.
    rows : int
        Its rows that are dealt.
    fixed : bool
        Whether all blocks but the last have this size, or any even number will do.
    """

    n_units: int
    block: int
    many: int | None = None
    rows: int = 0
    fixed: bool = True

    @classmethod
    def of(cls, n: int, m: int, width: int, fixed: bool) -> Deal:
        """For files of n and m rows of so many columns."""
        few, most = min(n, m), min(max(n, m), MOST_ROWS * min(n, m))
        block = min(BLOCK, max(256, 1 << (VALUES * few // (width * most)).bit_length() - 1))
        if max(n, m) <= EVEN * few:
            return cls(few, block, fixed=fixed)
        return cls(few, block, int(m > n), most)

    def starts(self, block: int) -> NDArray[np.int64]:
        """Where the larger file's rows of the units of a block begin; the first at 0."""
        first = block * self.block
        units = range(first, min(first + self.block, self.n_units))
        starts = evenly(units, self.rows, self.n_units)
        return np.asarray(starts - starts[0])

    def sizes(self, file: int) -> Iterable[int]:
        """Rows of each block."""
        if file != self.many:
            return repeat(self.block)
        number = -(-self.n_units // self.block)
        return (int(self.starts(block)[-1]) for block in range(number))


@dataclass(frozen=True, eq=False)
class Reader:
    """Blocks of the rows of a file, as numbers.

    Parameters
    ----------
    source : Source
        The file.
    encoding : Encoding, optional
        How its rows become numbers; None for arrays that are as they come.
    width : int
        Columns of the blocks.
    rng : Generator, optional
        For a random order of the rows; its own, because readers run at the same time.
    """

    source: Source
    encoding: Encoding | None
    width: int
    rng: np.random.Generator | None

    def batches(self) -> Iterator[list[Numbers]]:
        """The rows in order, in batches of some pieces each."""
        return map(self._pieces, self.source.batches(self._rows // IN_ORDER, self._names))

    def mixed(self, sizes: Iterable[int]) -> Iterator[Numbers]:
        """Blocks of so many rows, in random order."""
        assert self.rng is not None
        strands = [
            (strand.rows, (joined(self._pieces(batch)) for batch in strand.batches))
            for strand in self.source.strands(self._rows, self._names, self.rng)
        ]
        return Mixer(strands, self.width, self.rng).blocks(sizes)

    @property
    def _rows(self) -> int:
        return max(1024, BATCH // self.width)

    @property
    def _names(self) -> Sequence[str] | None:
        return self.encoding.names if self.encoding and self.encoding.table else None

    @cached_property
    def scaling(self) -> tuple[Array, Array]:
        """Centers and factors of raw numbers."""
        columns = self.encoding.columns if self.encoding else ()
        centers = np.array([column.center for column in columns])
        return centers, 1.0 / np.array([column.scale for column in columns])

    @cached_property
    def _plain(self) -> bool:
        """Whether columns are numbers that can be taken as they come, missing ones found later."""
        if self.encoding is None:
            return True
        numbers = all(column.kind == "numbers" for column in self.encoding.columns)
        return numbers and self.encoding.nan_policy == "raise" and self.encoding.table

    def _pieces(self, batch: Any) -> list[Numbers]:
        if isinstance(batch, np.ndarray) and self.encoding is None:
            rows = np.asarray(numeric(batch, self.source.path), dtype=np.float64)
        elif self._plain and (found := _numbers(batch)):
            return found
        else:
            assert self.encoding is not None
            rows = self.encoding.encode(batch, self.source.path)
        return [Numbers.of(np.ascontiguousarray(rows.T))]


def _numbers(batch: Any) -> list[Numbers]:
    """Columns of Arrow, where they lie if they can; nothing if one of them needs to be encoded."""
    if hasattr(batch, "to_batches"):  # a table, in pieces
        pieces = [_numbers(piece) for piece in batch.to_batches()]
        return [numbers for piece in pieces for numbers in piece] if all(pieces) else []
    columns = batch.columns
    types = {str(column.type) for column in columns}
    if not types <= PLAIN or any(column.null_count for column in columns):
        return []
    if types != {"double"}:
        return [Numbers.of(np.array([column.to_numpy() for column in columns], np.float64), True)]
    # Behind the bits that tell which are missing.
    addresses = [column.buffers()[1].address + 8 * column.offset for column in columns]
    return [Numbers(np.array(addresses), len(batch), batch, raw=True)]


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of both files for a number of units, by column.

    Attributes
    ----------
    sides : Numbers, of both files
        The rows.
    readers : Reader, of both files
        Where they came from.
    many : int, optional
        Which of the files has several rows to a unit.
    starts : array, optional
        Where its units begin.
    """

    sides: tuple[Numbers, Numbers]
    readers: Sequence[Reader]
    many: int | None
    starts: NDArray[np.int64] | None = None

    def rows(self, i: int) -> Array:
        """The rows of a file as they are tested, (p, n)."""
        return self.sides[i].scaled(*self._scaling(i))

    def features(self, i: int, middle: Array, width: Array) -> Features:
        """Features of a file's rows, by the middle and the width of each column as it is tested."""
        centers, factors = self._scaling(i)
        return Features.of(self.sides[i], centers + middle / factors, factors / width)

    def _scaling(self, i: int) -> tuple[Array, Array]:
        p = len(self.sides[i].addresses)
        return self.readers[i].scaling if self.sides[i].raw else (np.zeros(p), np.ones(p))


def blocks(readers: Sequence[Reader], deal: Deal) -> Generator[Block, None, None]:
    """Blocks of both files at a time, each read by a thread of its own."""
    with ExitStack() as threads:
        for number, sides in enumerate(_sides(readers, deal, threads)):
            starts = None if deal.many is None else deal.starts(number)
            yield Block(sides, readers, deal.many, starts)


def _sides(
    readers: Sequence[Reader], deal: Deal, threads: ExitStack
) -> Iterator[tuple[Numbers, Numbers]]:
    if readers[0].rng is not None:  # mixed by the threads that read
        found = (ahead(reader.mixed(deal.sizes(i))) for i, reader in enumerate(readers))
        x, y = (threads.enter_context(closing(side)) for side in found)
        return zip(x, y, strict=False)
    batches = (threads.enter_context(closing(ahead(reader.batches()))) for reader in readers)
    one, other = map(InOrder, batches)
    if deal.many is None and not deal.fixed:
        return side_by_side(one, other)
    return zip(one.blocks(deal.sizes(0)), other.blocks(deal.sizes(1)), strict=False)
