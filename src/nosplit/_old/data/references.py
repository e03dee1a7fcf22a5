"""A reference, and what is compared with it later: rows whose encoding is fitted on some of them.

This is where samples in memory, and in files that are read whole, become those that profiles are
made of, or compared with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._text import listed
from nosplit._types import Index
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import Read, read_one
from nosplit.data.frames import Frame, Raw, as_frame, is_table
from nosplit.data.options import Options
from nosplit.data.samples import count_out
from nosplit.errors import InputError

__all__ = [
    "Later",
    "NumberedRows",
    "Reference",
    "RowsInMemory",
    "as_before",
    "check_no_new",
    "check_precision",
    "fingerprint_of",
    "need_names",
    "no_contrast",
    "read_later",
    "read_reference",
]

# Rows whose bytes are looked at together, and rows that are brought at once.
BLOCK, CHUNK = 1 << 16, 1 << 20


class NumberedRows(Protocol):
    """Rows as numbers, wherever they lie."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    def some(self, rows: Index) -> NDArray[Any]:
        """Rows of given numbers, ascending."""
        ...

    def batches(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """All rows, in order, with the number of the first of each batch; they are finite."""
        ...


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Rows in memory."""

    rows: NDArray[Any]
    label: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def some(self, rows: Index) -> NDArray[Any]:
        """Rows of given numbers."""
        return self.rows[rows]

    def batches(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """All rows, in order."""
        check_finite(self.rows, self.label)
        for start in range(0, self.n, CHUNK):
            yield start, self.rows[start : start + CHUNK]


def fingerprint_of(batches: Iterable[Sequence[NDArray[Any]]], n: int) -> bytes:
    """A hash of all values: other for other data, and as good as random.

    Columns are hashed one by one, so that their rows may come in batches; in whatever order they
    are, they make the same hash.

    Parameters
    ----------
    batches : iterable of sequences of arrays
        Rows of each column, or of one array of all columns.
    n : int
        All rows.
    """
    found: list[Any] = []
    for arrays in batches:
        columns = [c for array in arrays for c in np.atleast_2d(array.T)]
        if not found:
            heads = [f"{column.dtype.str} {n}".encode() for column in columns]
            found = [hashlib.blake2b(head, digest_size=16) for head in heads]
        for own, column in zip(found, columns, strict=True):
            for start in range(0, len(column), BLOCK):
                own.update(np.ascontiguousarray(column[start : start + BLOCK]).data)
    parts = b"".join(sorted(own.digest() for own in found))
    return hashlib.blake2b(parts, digest_size=16).digest()


@dataclass(frozen=True, eq=False)
class Reference:
    """A sample that was read, and is not encoded yet.

    Attributes
    ----------
    array : array, optional
        Rows that stay as they are.
    read : Read, optional
        Columns that are to be encoded.
    label : str
        What it is called in messages.
    ignored : tuple of str
        Names of columns that were left out on purpose.
    """

    array: NDArray[Any] | None
    read: Read | None
    label: str
    ignored: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Rows in which nothing is missing, or in which it does not matter."""
        if self.read is not None:
            return int(np.count_nonzero(self.read.kept[0]))
        assert self.array is not None
        return len(self.array)

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        return 0 if self.read is None else count_out(self.read.kept)

    @property
    def dtype(self) -> str | None:
        """Precision of rows that stay as they are."""
        return None if self.array is None else str(self.array.dtype)

    def fingerprint(self) -> bytes:
        """A hash of all values: other for other data, and as good as random."""
        if self.read is not None:
            columns = [raw.values for raw in self.read.samples[0]]
        else:
            assert self.array is not None
            columns = [self.array]
        return fingerprint_of([columns], len(columns[0]))

    def encoding(self, pilot: Index) -> Encoding | None:
        """The encoding of the rows, fitted to some of them; None if they came as numbers."""
        if self.read is None:
            return None
        read = self.read
        where = np.flatnonzero(read.kept[0])[pilot]
        some = [Raw(raw.kind, raw.values[where]) for raw in read.samples[0]]
        kept = np.ones(len(where), np.bool_)
        encoding = replace(read, samples=[some], kept=[kept]).encoding()
        if encoding.idle:
            raise no_contrast(read.sources[0].label, len(pilot))
        return encoding

    def rows(self, encoding: Encoding | None) -> NumberedRows:
        """All rows, as numbers."""
        if self.read is None or encoding is None:
            assert self.array is not None
            return RowsInMemory(self.array, self.label)
        return RowsInMemory(self.read.rows(encoding)[0], self.label)


def no_contrast(label: str, rows: int) -> InputError:
    """The error for a reference of which no column varies."""
    return InputError(
        f"`{label}` holds nothing to compare: in {rows:,} rows of it, every column is constant, or "
        "holds categories that are all different."
    )


def read_reference(value: Any, options: Options, label: str) -> Reference:
    """A reference from an array, a table or a file."""
    value = _whole(value, label)
    if options.idle and not is_table(value):
        return Reference(check_sample(value, label), None, label)
    source = as_frame(value, label)
    read = read_one(source, options)
    ignored = tuple(name for name in source.names if name not in read.names)
    return Reference(None, read, label, ignored)


@dataclass(frozen=True, eq=False)
class Later:
    """Later rows as numbers, and how many had to be left out.

    `fingerprint` is that of all of it, made when it is asked for.
    """

    rows: NumberedRows
    left_out: int
    width: int
    fingerprint: Callable[[], bytes]


def read_later(
    value: Any,
    encoding: Encoding | None,
    label: str,
    *,
    dtype: str | None,
    ignored: tuple[str, ...],
    omit: bool = False,
) -> Later:
    """A sample with the columns of a reference that was encoded before."""
    value = _whole(value, label)
    if encoding is None:
        rows = as_before(value, dtype, label, omit)
        kept = rows[~np.isnan(rows).any(axis=1)] if omit else rows
        found = Reference(kept, None, label)
        return Later(found.rows(None), len(rows) - len(kept), kept.shape[1], found.fingerprint)
    source = as_frame(value, label)
    raws = encoding.read(source)
    check_no_new(source, encoding, ignored, label)
    kept = encoding.kept_of(raws)
    kinds = [raw.kind for raw in raws]
    options = Options.of(None, None, None, encoding.nan_policy)
    read = Read([source], list(encoding.names), kinds, [raws], [kept], options)
    rows = encoding.rows_of(raws, kept)
    found = Reference(None, read, label)
    left_out = count_out([kept])
    return Later(RowsInMemory(rows, label), left_out, rows.shape[1], found.fingerprint)


def as_before(value: Any, dtype: str | None, label: str, omit: bool) -> NDArray[Any]:
    """Rows that stay as they are, of the precision of the reference."""
    if is_table(value):
        raise InputError(f"`{label}` must be an array, as the reference was, got a table.")
    rows = check_sample(value, label, finite=not omit)
    check_precision(str(rows.dtype), dtype, label)
    return rows


def check_precision(found: str, dtype: str | None, label: str) -> None:
    """Check that rows that stay as they are have the precision of the reference."""
    if found != dtype:
        raise InputError(
            f"`{label}` must hold {dtype}, as the reference did, got {found}: values that "
            f"are rounded differ from those that are not. Use x.astype({dtype!r}) if they are the "
            "same."
        )


def check_no_new(source: Frame, encoding: Encoding, ignored: tuple[str, ...], label: str) -> None:
    """Check that no column is new; that none is lacking, the encoding checks."""
    new = [name for name in source.names if name not in (*encoding.names, *ignored)]
    if not new or (source.single and len(encoding.columns) == 1):
        return
    if not source.table:
        raise InputError(
            f"`{label}` must have {len(source.names) - len(new)} columns, as the reference had, "
            f"got {len(source.names)}."
        )
    raise InputError(
        f"`{label}` must have the columns of the reference, but has {listed(new)} besides. "
        f"Leave them out with exclude={new[:5]!r}."
    )


def _whole(value: Any, label: str) -> Any:
    """All rows of a file if a value names one; any other value as it is."""
    if not is_path(value):
        return value
    source = open_source(value)
    rows = source.whole()
    need_names(rows, source.names, label)
    return rows


def need_names(rows: Any, names: Any, label: str) -> None:
    """Check that columns that have names in a file still have them."""
    if isinstance(rows, np.ndarray) and names is not None:
        raise InputError(
            f"`{label}` has names of columns, by which they are found again: that needs Arrow. "
            "Install it with pip install 'nosplit[tables]'."
        )
