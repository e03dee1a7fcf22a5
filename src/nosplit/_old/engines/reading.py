"""Rows of tables and arrays, wherever they come from, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_sample
from nosplit._old.sketch.sums import NumberColumn
from nosplit._types import Index
from nosplit.data.encoding import Encoding
from nosplit.data.frames import NUMBER, Raw, as_frame, is_table
from nosplit.data.matching import matched
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["Columns", "Reader", "changed", "check_read", "settled_columns"]

# Types of Arrow that are numbers as they are.
PLAIN = {"double", "float", "int64", "int32"}


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns that were read and checked, to be encoded."""

    raws: Sequence[Raw]

    def __len__(self) -> int:
        return len(self.raws[0].values)

    def slice(self, start: int, length: int) -> Columns:
        """Some consecutive rows."""
        return Columns([Raw(r.kind, r.values[start : start + length]) for r in self.raws])


@dataclass(frozen=True)
class Reader:
    """Rows → numbers: by an encoding, or as they are if they are arrays."""

    encoding: Encoding | None = None

    def __call__(self, rows: Any, name: str, first: int = 0) -> NDArray[Any]:
        """Numbers (n, p) from rows of the sample `name`, of which the first is at `first`.

        Whether numbers are finite is looked at where they are encoded, and not where columns are
        taken as they are: `blame` finds what is wrong with them.
        """
        if self.encoding is None:
            return check_sample(rows, name, smallest=0, finite=False)
        if isinstance(rows, Columns):
            return self.encoding.rows_of(rows.raws, np.ones(len(rows), np.bool_))
        found = self._plain(rows)
        return self._encoded(rows, name, first) if found is None else found

    def blame(self, rows: Any, name: str, first: int = 0) -> None:
        """Say which value is not finite."""
        if isinstance(rows, Columns):
            return
        if self.encoding is not None:
            self._encoded(rows, name, first)
            return
        numbers = check_sample(rows, name, smallest=0, finite=False)
        check_read(numbers, name, np.arange(first, first + len(numbers)))

    def _encoded(self, rows: Any, name: str, first: int) -> NDArray[Any]:
        assert self.encoding is not None
        try:
            return self.encoding.encode(rows, name)
        except InputError as error:
            last = first + len(rows) - 1
            text = f"{error} (Looking at rows {first:,} to {last:,} of `{name}`.)"
            raise type(error)(text) from None

    @cached_property
    def _scales(self) -> list[tuple[str, float, float]] | None:
        """Name, center and scale of every column, if all are numbers and nothing else is made."""
        encoding = self.encoding
        if encoding is None or not encoding.table or encoding.nan_policy == "indicate":
            return None
        if any(column.kind != NUMBER for column in encoding.columns):
            return None
        return [(column.name, column.center, column.scale) for column in encoding.columns]

    def columns(self, rows: Any) -> list[NumberColumn] | None:
        """Columns of Arrow that hold numbers only, with none missing; None for anything else."""
        if self._scales is None or not hasattr(rows, "schema") or not hasattr(rows, "num_rows"):
            return None
        kinds, found = {field.name: str(field.type) for field in rows.schema}, []
        for name, center, scale in self._scales:
            if kinds.get(name) not in PLAIN:
                return None
            column = rows.column(name)
            if column.null_count:
                return None
            found.append((column.to_numpy().astype(np.float64, copy=False), center, scale))
        return found

    def _plain(self, rows: Any) -> NDArray[np.float64] | None:
        """The same as rows, encoded."""
        columns = self.columns(rows)
        if columns is None:
            return None
        found = np.empty((rows.num_rows, len(columns)))
        for j, (values, center, scale) in enumerate(columns):
            # The same operations as an encoding's, to the last bit.
            found[:, j] = (values - center) / scale
        return found


def check_read(rows: NDArray[Any], name: str, numbers: Index) -> None:
    """Check that rows are finite; what is not is named by the number of its row."""
    for row, column in np.argwhere(~np.isfinite(rows))[:1]:
        raise InputError(
            f"`{name}` must be finite, got {rows[row, column]} in row {numbers[row]}, column "
            f"{column}. Remove or fill in such rows first; missing values may be left out with "
            'nan_policy="omit".'
        )


def settled_columns(x: Any, y: Any, options: Options) -> Options:
    """The columns to compare, named one by one, from samples with or without rows.

    Arrays of which all is compared as it came need no names.
    """
    if options.idle and not (is_table(x) or is_table(y)):
        return options
    source = as_frame(x, "x")
    positions, _ = matched(source, as_frame(y, "y"), options.columns, options.exclude)
    return replace(options, columns=tuple(source.names[i] for i in positions), exclude=None)


def changed(what: str) -> InputError:
    """The error for samples that are not the same each time they are read."""
    return InputError(
        f"`x` and `y` must have the same rows each time they are read, {what} to come. Read them "
        "from files, or keep them first: x = x.persist() on Dask, x = x.cache() on Spark."
    )
