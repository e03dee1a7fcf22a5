"""The work on rows wherever they lie, and what an engine must bring for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nosplit._old.engines.reading import Reader
from nosplit._old.sketch.cells import See
from nosplit._old.sketch.dealing import Layout
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.errors import NonFiniteError

__all__ = ["ROWS", "Census", "Pair", "Sees", "SketchTask"]

# Rows that become numbers at once, the fewest and the most: a cell that is met once for many rows
# is in the cache for all of them. And numbers in them, where these are few enough.
ROWS, MOST_AT_ONCE, NUMBERS = 1 << 14, 1 << 16, 1 << 20


@dataclass(frozen=True)
class Census:
    """Counts of a sample, before any of it is looked at.

    Attributes
    ----------
    n : int
        Rows, without those left out.
    left_out : int
        Rows left out because something in them is missing.
    missing : mapping of str to int
        How many values of each column are missing, where that is to be compared.
    """

    n: int
    left_out: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SketchTask:
    """The work on rows wherever they lie: make them numbers, and add these to their cells.

    Attributes
    ----------
    names : pair of str
        What the samples are called in messages.
    reader : Reader
        How rows become numbers.
    map : SketchMap
        How these become the numbers that cells sum.
    layout : Layout
        Which row is in which cell.
    """

    names: tuple[str, str]
    reader: Reader
    map: SketchMap
    layout: Layout

    def empty(self, side: int) -> CellSums:
        """The sketch of no rows of a sample."""
        return CellSums.empty(self.map, self.deal(side).cells)

    def deal(self, side: int) -> Any:
        """The cells of a sample: 0 for x, 1 for y."""
        return (self.layout.x, self.layout.y)[side]

    def add(self, sums: CellSums, side: int, rows: Any, first: int) -> None:
        """Add rows of a sample, of which the first has the number `first`."""
        step = max(ROWS, min(MOST_AT_ONCE, NUMBERS // self.map.p))
        for start in range(0, len(rows), step):
            self._add(sums, side, _rows_between(rows, start, start + step), first + start)

    def _add(self, sums: CellSums, side: int, rows: Any, first: int) -> None:
        columns = self.reader.columns(rows) if self.map.of_numbers else None
        cells = self.deal(side).cell_of(first, len(rows))
        try:
            if columns is None:
                sums.add(self.map, self.reader(rows, self.names[side], first), cells)
            else:
                sums.add_columns(self.map, columns, cells)
        except NonFiniteError:
            self.reader.blame(rows, self.names[side], first)
            raise


def _rows_between(rows: Any, start: int, stop: int) -> Any:
    """Some rows of an array, a data frame of pandas or a table of Arrow."""
    if hasattr(rows, "iloc"):
        return rows.iloc[start:stop]
    return rows[start:stop] if isinstance(rows, np.ndarray) else rows.slice(start, stop - start)


class Pair(Protocol):
    """Two samples that lie somewhere."""

    @property
    def names(self) -> tuple[str, str]:
        """Their names in messages."""
        ...

    def census(self) -> tuple[Census, Census]:
        """Count them."""
        ...

    def pilot(self, x: Index, y: Index) -> tuple[Any, Any]:
        """Rows of given numbers, ascending, of both: tables, arrays or `Frame`."""
        ...

    def sums(self, task: SketchTask) -> tuple[CellSums, CellSums]:
        """The sketches of both."""
        ...


@runtime_checkable
class Sees(Protocol):
    """Two samples whose cells are looked at somewhere else than in memory."""

    @property
    def see(self) -> See | None:
        """The function that finds statistics under all draws; None: in memory."""
        ...
