"""A reference, and what is compared with it later: rows whose encoding is fitted on some of them.

This is where samples are read that profiles are made of, or compared with. Files are read whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_sample
from nosplit._support.terminal import listed
from nosplit._support.types import Index
from nosplit.data.files.opening import is_path, open_source
from nosplit.data.options import Options
from nosplit.data.samples import count_out
from nosplit.data.tables.encoding import Encoding
from nosplit.data.tables.fit_encoding import Read, read_one
from nosplit.data.tables.frames import Frame, Raw, as_frame, is_table
from nosplit.errors import InputError

__all__ = ["Later", "Reference", "read_later", "read_reference"]

# Rows whose bytes are looked at together.
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Reference:
    """A sample that was read, and is not encoded yet.

    Attributes
    ----------
    array : array, optional
        Rows that stay as they are.
    read : Read, optional
        Columns that are to be encoded.
    ignored : tuple of str
        Names of columns that were left out on purpose.
    """

    array: NDArray[Any] | None
    read: Read | None
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
        found = hashlib.blake2b(digest_size=16)
        if self.read is not None:
            parts = [raw.values for raw in self.read.samples[0]]
        else:
            assert self.array is not None
            parts = [self.array]
        for part in parts:
            found.update(f"{part.dtype.str} {part.shape}".encode())
            for start in range(0, len(part), BLOCK):
                found.update(np.ascontiguousarray(part[start : start + BLOCK]).data)
        return found.digest()

    def encoding(self, pilot: Index) -> Encoding | None:
        """How rows become numbers, from some of them; None if they are numbers as they came."""
        if self.read is None:
            return None
        read = self.read
        where = np.flatnonzero(read.kept[0])[pilot]
        some = [Raw(raw.kind, raw.values[where]) for raw in read.samples[0]]
        kept = np.ones(len(where), np.bool_)
        encoding = replace(read, samples=[some], kept=[kept]).encoding()
        if encoding.idle:
            raise InputError(
                f"`{read.sources[0].label}` holds nothing to compare: in {len(pilot):,} rows of "
                "it, every column is constant, or holds categories that are all different."
            )
        return encoding

    def rows(self, encoding: Encoding | None) -> NDArray[Any]:
        """All rows, as numbers."""
        if self.read is None or encoding is None:
            assert self.array is not None
            return self.array
        return self.read.rows(encoding)[0]


def read_reference(value: Any, options: Options, label: str) -> Reference:
    """A reference from an array, a table or a file."""
    value = _whole(value, label)
    if options.idle and not is_table(value):
        return Reference(check_sample(value, label), None)
    source = as_frame(value, label)
    read = read_one(source, options)
    ignored = tuple(name for name in source.names if name not in read.names)
    return Reference(None, read, ignored)


@dataclass(frozen=True, eq=False)
class Later:
    """What came later, as rows of numbers, and how many had to be left out."""

    rows: NDArray[Any]
    left_out: int
    reference: Reference


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
        rows = _as_before(value, dtype, label, omit)
        kept = rows[~np.isnan(rows).any(axis=1)] if omit else rows
        return Later(kept, len(rows) - len(kept), Reference(kept, None))
    source = as_frame(value, label)
    raws = encoding.read(source)
    _check_names(source, encoding, ignored, label)
    kept = encoding.kept_of(raws)
    kinds = [raw.kind for raw in raws]
    options = Options.of(None, None, None, encoding.nan_policy)
    read = Read([source], list(encoding.names), kinds, [raws], [kept], options)
    return Later(encoding.rows_of(raws, kept), count_out([kept]), Reference(None, read))


def _as_before(value: Any, dtype: str | None, label: str, omit: bool) -> NDArray[Any]:
    if is_table(value):
        raise InputError(f"`{label}` must be an array, as the reference was, got a table.")
    rows = check_sample(value, label, finite=not omit)
    if str(rows.dtype) != dtype:
        raise InputError(
            f"`{label}` must hold {dtype}, as the reference did, got {rows.dtype}: values that "
            f"are rounded differ from those that are not. Use x.astype({dtype!r}) if they are the "
            "same."
        )
    return rows


def _check_names(source: Frame, encoding: Encoding, ignored: tuple[str, ...], label: str) -> None:
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
    if isinstance(rows, np.ndarray) and source.names is not None:
        raise InputError(
            f"`{label}` has names of columns, by which they are found again: that needs Arrow. "
            "Install it with pip install 'nosplit[tables]'."
        )
    return rows
