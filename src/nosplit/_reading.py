"""Two files as blocks of rows for units, read by a thread each while the blocks before are used."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._blocks import Columns, Mixer, ahead, cut
from nosplit._validation import numeric
from nosplit.files import Source
from nosplit.mmd import MOST_ROWS
from nosplit.tables import Encoding

__all__ = ["Block", "Deal", "Reader", "blocks"]

Array = NDArray[np.float64]

# Values of a batch, and units of a block at the most: fewer where rows are wide.
BATCH, BLOCK = 1 << 22, 1 << 14
# Up to this ratio of the files' sizes, units are one row of either, and the rest stays out.
EVEN = 1.1


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
    """

    n_units: int
    block: int
    many: int | None = None
    rows: int = 0

    @classmethod
    def of(cls, n: int, m: int, width: int) -> Deal:
        """For files of n and m rows of so many columns."""
        few, most = min(n, m), max(n, m)
        block = min(BLOCK, max(256, 1 << (BATCH // width).bit_length() - 1))
        if most <= EVEN * few:
            return cls(few, block)
        return cls(few, block, int(m > n), min(most, MOST_ROWS * few))

    def starts(self, block: int) -> NDArray[np.int64]:
        """Where the larger file's rows of the units of a block begin; the first at 0."""
        first = block * self.block
        units = np.arange(first, min(first + self.block, self.n_units) + 1)
        starts = units * self.rows // self.n_units
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

    def blocks(self, sizes: Iterable[int]) -> Iterator[Array]:
        """Blocks (p, size)."""
        names = self.encoding.names if self.encoding and self.encoding.table else None
        # The next batch is decoded while this one is cut: a row group is many blocks.
        batches = ahead(self.source.batches(max(1024, BATCH // self.width), names, self.rng), 1)
        mixer = Mixer(self.rng) if self.rng else None
        plain = self._plain()
        found = (self._columns(batch, plain) for batch in batches)
        if self.encoding is None:
            return cut(found, sizes, mixer)
        centers = np.array([column.center for column in self.encoding.columns])
        factors = 1.0 / np.array([column.scale for column in self.encoding.columns])
        return cut(found, sizes, mixer, centers, factors)

    def _plain(self) -> bool:
        """Whether columns are numbers that can be taken as they come, missing ones found later."""
        if self.encoding is None:
            return True
        numbers = all(column.kind == "numbers" for column in self.encoding.columns)
        return numbers and self.encoding.nan_policy == "raise" and self.encoding.table

    def _columns(self, batch: Any, plain: bool) -> Columns:
        if isinstance(batch, np.ndarray) and self.encoding is None:
            rows = np.ascontiguousarray(numeric(batch, self.source.path).T, dtype=np.float64)
            return Columns([[column] for column in rows], raw=False)
        if plain and all(_is_plain(column) for column in batch.columns):
            return Columns(_numbers(batch.columns), raw=True)
        assert self.encoding is not None
        rows = self.encoding.encode(batch, self.source.path)
        return Columns([[column] for column in np.ascontiguousarray(rows.T)], raw=False)


def _is_plain(column: Any) -> bool:
    return column.null_count == 0 and str(column.type) in ("double", "float", "int64", "int32")


def _numbers(columns: Sequence[Any]) -> list[list[Array]]:
    """Columns of Arrow as arrays, where they lie if they are of the right type."""
    if all(str(column.type) == "double" for column in columns):
        return [[chunk.to_numpy() for chunk in column.chunks] for column in columns]
    joined = [np.asarray(column.to_numpy(), dtype=np.float64) for column in columns]
    return [[np.ascontiguousarray(column)] for column in joined]


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of both files for a number of units, by column."""

    x: Array
    y: Array
    many: int | None
    starts: NDArray[np.int64] | None = None


def blocks(readers: Sequence[Reader], deal: Deal) -> Generator[Block, None, None]:
    """Blocks of both files at a time, each read by a thread of its own."""
    sides = [ahead(reader.blocks(deal.sizes(i))) for i, reader in enumerate(readers)]
    with closing(sides[0]), closing(sides[1]):
        for number, (x, y) in enumerate(zip(*sides, strict=False)):
            starts = None if deal.many is None else deal.starts(number)
            yield Block(x, y, deal.many, starts)
