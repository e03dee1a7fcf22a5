"""Rows on their way to their blocks, as rows of a Spark data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from nosplit._support.types import Array, Index
from nosplit.engines.clusters.layout import Block
from nosplit.engines.clusters.parts import changed
from nosplit.errors import InputError

__all__ = ["PIECE", "SUM", "Runs", "joined", "spark_type", "table_of"]

# Rows of a sample that belong to one block, as numbers; and what blocks give.
PIECE = {"block": "long", "place": "long", "rows": "long", "data": "binary", "complaint": "string"}
SUM = {"block": "long", "data": "binary", "complaint": "string"}
ARROW = {"long": pa.int64(), "binary": pa.binary(), "string": pa.string()}


def spark_type(fields: dict[str, str]) -> str:
    """Fields as Spark names them."""
    return ", ".join(f"{name} {kind}" for name, kind in fields.items())


def table_of(fields: dict[str, str], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Rows with these fields."""
    schema = pa.schema([(name, ARROW[kind]) for name, kind in fields.items()])
    return pa.Table.from_pylist([dict(zip(fields, row, strict=True)) for row in rows], schema)


@dataclass(frozen=True, eq=False)
class Runs:
    """The rows of one sample that each block reads.

    Parameters
    ----------
    block : array of int, shape (k,)
        Block of each run of rows.
    start, stop : array of int, shape (k,)
        Its first row, and the one after its last.
    place : array of int, shape (k,)
        Rows of this sample that the block reads before this run.
    """

    block: Index
    start: Index
    stop: Index
    place: Index

    @classmethod
    def of(cls, blocks: Sequence[Block], rows: Callable[[range], range]) -> Runs:
        """The runs of some blocks, from the rows of a run of units."""
        found: list[tuple[int, int, int, int]] = []
        for block in blocks:
            place = 0
            for run in map(rows, block.runs):
                found.append((block.number, run.start, run.stop, place))
                place += len(run)
        return cls(*np.array(found, dtype=np.int64).T)

    def cut(self, rows: Array, first: int) -> Iterator[tuple[int, int, int, bytes, None]]:
        """Pieces of consecutive rows, the first at `first`, for the blocks that read them."""
        last = first + len(rows)
        for k in np.flatnonzero((self.start < last) & (self.stop > first)):
            start, stop = max(int(self.start[k]), first), min(int(self.stop[k]), last)
            data = np.ascontiguousarray(rows[start - first : stop - first], dtype=np.float64)
            place = int(self.place[k]) + start - int(self.start[k])
            yield int(self.block[k]), place, len(data), data.tobytes(), None


def joined(pieces: pa.Table) -> Array:
    """The rows of a block, put together from their pieces."""
    ordered = sorted(pieces.to_pylist(), key=lambda piece: piece["place"])
    for piece in ordered:
        if piece["complaint"] is not None:
            raise InputError(piece["complaint"])
    rows = np.array([piece["rows"] for piece in ordered], dtype=np.int64)
    places = np.array([piece["place"] for piece in ordered], dtype=np.int64)
    if not np.array_equal(places, np.cumsum(rows) - rows):
        raise changed(f"got rows that overlap where {rows.sum():,} were")
    data = np.concatenate([np.frombuffer(piece["data"]) for piece in ordered])
    return data.reshape(int(rows.sum()), -1)
