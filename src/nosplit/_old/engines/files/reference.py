"""References, and what is compared with them, in files that are too large to be read whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_sample
from nosplit._old.data.files import whole
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.source import Source
from nosplit._old.data.references import (
    Later,
    NumberedRows,
    Reference,
    as_before,
    check_no_new,
    fingerprint_of,
    need_names,
    no_contrast,
    read_later,
    read_reference,
)
from nosplit._old.engines.files.side import FileSide
from nosplit._old.engines.reading import Reader, check_read
from nosplit._old.engines.sketching.task import Census
from nosplit._types import Index
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import read_one
from nosplit.data.frames import as_frame, is_table
from nosplit.data.matching import picked
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["FileReference", "FileRows", "open_later", "open_reference"]


def open_reference(value: Any, options: Options, label: str) -> Reference | FileReference:
    """A reference from an array, a table or a file; large files are read in passes."""
    source, head = _large(value, label)
    if source is None:
        return read_reference(value, options, label)
    if options.idle and not is_table(head):
        dtype = str(check_sample(head, label).dtype)
        return FileReference(FileSide(source, options), label, (), dtype)
    frame = as_frame(head, label)
    names = tuple(frame.names[i] for i in picked(frame, options.columns, options.exclude))
    side = FileSide(source, replace(options, columns=names, exclude=None))
    return FileReference(side, label, tuple(n for n in frame.names if n not in names), None)


def open_later(
    value: Any,
    encoding: Encoding | None,
    label: str,
    *,
    dtype: str | None,
    ignored: tuple[str, ...],
    omit: bool = False,
) -> Later:
    """A sample with the columns of a reference that was encoded before, in memory or in a file."""
    source, head = _large(value, label)
    if source is None:
        return read_later(value, encoding, label, dtype=dtype, ignored=ignored, omit=omit)
    policy = "omit" if omit else "raise"
    names = None
    if encoding is None:
        width = as_before(head, dtype, label, omit).shape[1]
    else:
        frame = as_frame(head, label)
        encoding.read(frame)
        check_no_new(frame, encoding, ignored, label)
        names, policy, width = encoding.names, encoding.nan_policy, encoding.width
    side = FileSide(source, Options.of(None, names, None, policy))
    rows = FileRows(side, encoding, side.census())
    return Later(rows, rows.census.left_out, width, FileReference(side, label, ()).fingerprint)


def _large(value: Any, label: str) -> tuple[Source | None, Any]:
    """A file that is not read whole, and its first rows; None for anything else."""
    if not is_path(value):
        return None, None
    source = open_source(value)
    if source.n_values <= whole.SMALL:
        return None, None
    head = next(iter(source.batches(1024)))
    need_names(head, source.names, label)
    return source, head


@dataclass(frozen=True, eq=False)
class FileReference:
    """A reference in a file: what it is called, columns left out on purpose, and its precision.

    Precision is that of rows that stay as they are.
    """

    side: FileSide
    label: str
    ignored: tuple[str, ...]
    dtype: str | None = None

    @cached_property
    def census(self) -> Census:
        """Its rows, counted."""
        return self.side.census()

    @property
    def n(self) -> int:
        """Rows in which nothing is missing, or in which it does not matter."""
        return self.census.n

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        return self.census.left_out

    def fingerprint(self) -> bytes:
        """A hash of all values: other for other data, and as good as random."""
        side = self.side
        if side.options.columns is None:
            arrays = (
                [check_sample(batch, side.name, smallest=0, finite=False)]
                for _, batch in side.numbered()
            )
            return fingerprint_of(arrays, self.n)
        columns = ([raw.values for raw in side.raws(batch)] for batch in side.batches())
        return fingerprint_of(columns, side.source.n_rows)

    def encoding(self, pilot: Index) -> Encoding | None:
        """The encoding of the rows, fitted to some of them; None if they came as numbers."""
        if self.dtype is not None:
            return None
        frame = as_frame(self.side.pilot(pilot), self.label)
        encoding = read_one(frame, self.side.options).encoding()
        if encoding.idle:
            raise no_contrast(self.label, len(pilot))
        return encoding

    def rows(self, encoding: Encoding | None) -> NumberedRows:
        """All rows, as numbers."""
        return FileRows(self.side, encoding, self.census)


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of a file, as numbers."""

    side: FileSide
    encoding: Encoding | None
    census: Census

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.census.n

    def some(self, rows: Index) -> NDArray[Any]:
        """Rows of given numbers, ascending."""
        return self._numbers(self.side.pilot(rows), rows)

    def batches(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """All rows, in order, with the number of the first of each batch; they are finite."""
        for first, batch in self.side.counted(self.n):
            if len(batch):
                yield first, self._numbers(batch, np.arange(first, first + len(batch)))

    def _numbers(self, rows: Any, numbers: Index) -> NDArray[Any]:
        found = Reader(self.encoding)(rows, self.side.name, int(numbers[0]))
        if not np.isfinite(found.sum()):
            check_read(found, self.side.name, numbers)
            raise InputError(f"`{self.side.name}` holds numbers whose sum is not finite.")
        return found
