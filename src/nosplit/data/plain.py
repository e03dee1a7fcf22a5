"""Tables without Arrow: columns of NumPy, as the csv reader of the standard library gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Index

__all__ = ["PlainColumn", "PlainTable", "parse_cells"]


@dataclass(frozen=True, eq=False)
class PlainColumn:
    """A column with the part of the interface of a narwhals series that is used here.

    Numbers are floats, dates are datetime64, all else are objects; missing: NaN, NaT or None.
    """

    name: str
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Sequence[int]) -> PlainColumn:
        return PlainColumn(self.name, self.values[index])

    def to_list(self) -> list[Any]:
        """Values of Python."""
        found: list[Any] = self.values.tolist()
        return found


@dataclass(frozen=True, eq=False)
class PlainTable:
    """A table with the part of the interface of an Arrow table that is used here.

    Attributes
    ----------
    values : mapping of str to array
        The columns by name.
    index : tuple of str
        Columns of the file that were left out, as they are an index of pandas.
    """

    values: Mapping[str, NDArray[Any]]
    index: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    @property
    def columns(self) -> list[PlainColumn]:
        """The columns."""
        return [PlainColumn(name, values) for name, values in self.values.items()]

    def select(self, names: Sequence[str]) -> PlainTable:
        """Some of the columns."""
        return PlainTable({name: self.values[name] for name in names}, self.index)

    def take(self, index: Index) -> PlainTable:
        """Some of the rows."""
        return PlainTable({n: values[index] for n, values in self.values.items()}, self.index)

    def slice(self, start: int, rows: int) -> PlainTable:
        """Rows that follow one another."""
        return self.take(np.arange(start, min(start + rows, len(self))))

    def as_text(self) -> PlainTable:
        """Convert all values to text."""
        texts = {name: v.astype(str).astype(object) for name, v in self.values.items()}
        return PlainTable(texts, self.index)


def parse_cells(
    cells: Sequence[str], missing: Collection[str], number: Callable[[str], float]
) -> NDArray[Any]:
    """Parse one column of text: as numbers, booleans, dates or times if all cells are, else text.

    Parameters
    ----------
    cells : sequence of str
        The cells.
    missing : collection of str
        Cells that mean that a value is missing.
    number : callable
        Converts a cell into a number, or raises ValueError.
    """
    distinct = set(cells)
    present = distinct.difference(missing)
    for read, gap, kind in _READERS:
        try:
            known = {cell: (read or number)(cell) for cell in present}
        except (ValueError, KeyError):
            continue
        known |= dict.fromkeys(distinct - present, gap)
        values = np.empty(len(cells), dtype=kind)
        values[:] = [known[cell] for cell in cells]
        return values
    raise AssertionError("any cell is text")


def _in_form(pattern: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Read cells of one form only: `fromisoformat` takes others, such as '20240131', as well."""
    form = re.compile(pattern)

    def checked(cell: str) -> Any:
        if form.fullmatch(cell) is None:
            raise ValueError(cell)
        return read(cell)

    return checked


def _instant(cell: str) -> datetime:
    """A date with a time, in UTC if it has a time zone."""
    found = datetime.fromisoformat(cell)
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


_TRUTHS = {f(str(truth)): truth for truth in (True, False) for f in (str, str.lower, str.upper)}
_DAY, _CLOCK = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d(:\d\d(\.\d+)?)?"
# How a cell is read (None: as a number), what stands for a missing one, and the type of the array.
_READERS: tuple[tuple[Callable[[str], Any] | None, Any, str], ...] = (
    (None, np.nan, "float64"),
    (_TRUTHS.__getitem__, None, "object"),
    (_in_form(_DAY, date.fromisoformat), np.datetime64("NaT"), "datetime64[D]"),
    (_in_form(rf"{_DAY}[ T]{_CLOCK}(Z|[-+]\d\d(:?\d\d)?)?", _instant), None, "datetime64[us]"),
    (_in_form(_CLOCK, time.fromisoformat), None, "object"),
    (str, None, "object"),
)
