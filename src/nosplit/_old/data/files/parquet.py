"""Parquet: one file, or many with the same columns.

Read in order, or in strands: the row groups are cut into as many stretches as memory allows (one
row group each, if it allows that), the row groups of a stretch are put in random order, and every
batch takes its share of all of them. A batch is then like all of the file, even if its rows are
sorted (but not if those of every row group are, on their own: they can only be read from their
beginnings). What a strand keeps in memory is a page of every column; batches that fit the pages
cost a third less than others, because no page is fetched from memory twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nosplit._lazy import extra
from nosplit._old.data.files.source import Strand, arrow_path, check_names, in_turn, reading
from nosplit._text import listed
from nosplit.data.names import index_note, index_of, tidy, without
from nosplit.errors import InputError

__all__ = ["Parquet", "open_parquet"]

# Bytes of a column chunk read at once; pages beyond that are read as they are.
BUFFER = 1 << 14
# Bytes of pages and batches that the strands of a source may hold, about, and the largest number
# of strands: each opens its file.
MEMORY, MOST_STRANDS = 224 << 20, 100
# Bytes of a page where it does not tell, and those at its beginning that do.
PAGE, HEAD = 1 << 20, 48
# Bytes with which Arrow notes, of every row of a page, whether its value is missing.
LEVELS = 2


class Group(NamedTuple):
    """A row group."""

    file: int
    number: int
    rows: int


class Page(NamedTuple):
    """A page of a column, or one of all columns."""

    bytes: int
    rows: int

    def fitting(self, rows: int) -> int:
        """About as many rows, but some pages or an equal part of one: few are then read in parts.

        Examples
        --------
        >>> [Page(0, 20_000).fitting(rows) for rows in (45_000, 17_000, 9_000, 3_000)]
        [40000, 20000, 10000, 2857]
        """
        if rows >= self.rows:
            return round(rows / self.rows) * self.rows
        return max(1, self.rows // round(self.rows / rows))


@dataclass(frozen=True, eq=False)
class Parquet:
    """Parquet files with the same columns, one after the other.

    Attributes
    ----------
    path : str
        What was asked for.
    files : tuple of Path
        The files.
    metadata : tuple
        What Arrow read at their ends.
    """

    path: str
    files: tuple[Path, ...]
    metadata: tuple[Any, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(m.num_rows for m in self.metadata)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def n_values(self) -> int:
        """Rows times columns."""
        return self.n_rows * len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without an index of pandas."""
        return tuple(self.stored[0])

    @cached_property
    def stored(self) -> list[dict[str, str]]:
        """Names of the columns in each of the files, by our names."""
        return [_stored(m) for m in self.metadata]

    @cached_property
    def index(self) -> tuple[str, ...]:
        """Columns that are left out: an index of pandas, in any of the files."""
        return tuple(dict.fromkeys(name for m in self.metadata for name in _index(m)))

    def whole(self) -> Any:
        """All rows, as a table."""
        pa = extra("pyarrow", "tables")
        tables = []
        for i, file in enumerate(self.files):
            with reading(file, ".parquet"):
                tables.append(self._renamed(self._open(i).read(), i, self.names))
        return pa.concat_tables(tables).replace_schema_metadata(index_note(self.index))

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[Any]:
        """Tables of about `rows` rows: in order, or from many row groups at once."""
        names = self._chosen(columns)
        if rng is not None:
            return self._tables(self._stretches(rows, names, rng))
        groups = self._groups()
        run = self._page(groups[0], names).fitting(rows)
        return self._tables([Strand(self.n_rows, self._read(groups, run, names))])

    def _stretches(self, rows: int, names: Sequence[str], rng: np.random.Generator) -> list[Strand]:
        """Stretches of row groups, each in random order, that end in the same turn."""
        groups = self._groups()
        page = self._page(max(groups, key=lambda group: group.rows), names)
        most = min(len(groups), MOST_STRANDS)
        number = (MEMORY - 8 * len(names) * rows) // page.bytes
        if number < 0.75 * most:  # large pages: smaller batches leave room for more strands
            rows = max(1, rows // 2)
            number = (MEMORY - 8 * len(names) * rows) // page.bytes
        number = max(1, min(most, number))
        cuts = [len(groups) * i // number for i in range(number + 1)]
        turns = math.ceil(self.n_rows / rows)
        strands = []
        for start, stop in pairwise(cuts):
            stretch = [groups[start + i] for i in rng.permutation(stop - start)]
            stretch.sort(key=lambda group: group.file)  # so that every file is opened once
            n = sum(group.rows for group in stretch)
            strands.append(Strand(n, self._read(stretch, math.ceil(n / turns), names)))
        return strands

    def _chosen(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        return self.names if columns is None else tuple(columns)

    def _tables(self, strands: Sequence[Strand]) -> Iterator[Any]:
        pa = extra("pyarrow", "tables")
        note = index_note(self.index)
        for batches in in_turn(strands):
            yield pa.Table.from_batches(batches).replace_schema_metadata(note)

    def _groups(self) -> list[Group]:
        return [
            Group(i, g, m.row_group(g).num_rows)
            for i, m in enumerate(self.metadata)
            for g in range(m.num_row_groups)
            if m.row_group(g).num_rows
        ]

    def _read(self, groups: Sequence[Group], rows: int, names: Sequence[str]) -> Iterator[Any]:
        """Some row groups, in the order given, in batches."""
        # A batch that began in the row group before would fit the pages of this one no more.
        apart = groupby(groups, key=lambda g: (g.file, g.number if g.rows > rows else None))
        for (i, _), some in apart:
            with reading(self.files[i], ".parquet"):
                found = self._open(i).iter_batches(
                    batch_size=rows,
                    row_groups=[group.number for group in some],
                    columns=[self.stored[i][name] for name in names],
                    use_threads=False,
                )
                for batch in found:
                    yield self._renamed(batch, i, names)

    def _renamed(self, rows: Any, i: int, names: Sequence[str]) -> Any:
        """Columns of one of the files in the order asked for, under our names."""
        stored = [self.stored[i][name] for name in names]
        rows = rows if rows.schema.names == stored else rows.select(stored)
        return rows if stored == list(names) else rows.rename_columns(list(names))

    def _open(self, i: int) -> Any:
        """One of the files; if it is another one by now, its rows would not be those we counted."""
        pq = extra("pyarrow.parquet", "tables")
        return pq.ParquetFile(
            arrow_path(self.files[i]),
            metadata=self.metadata[i],
            pre_buffer=False,
            buffer_size=BUFFER,
        )

    def _page(self, group: Group, names: Sequence[str]) -> Page:
        """A page of every column: what reading a row group keeps in memory, about."""
        chunks = self.metadata[group.file].row_group(group.number)
        total, rows = 0, group.rows
        wanted = {self.stored[group.file][name] for name in names}
        with reading(self.files[group.file], ".parquet"), self.files[group.file].open("rb") as file:
            for c in range(chunks.num_columns):
                chunk = chunks.column(c)
                if chunk.path_in_schema.partition(".")[0] not in wanted and (
                    chunk.path_in_schema not in wanted
                ):
                    continue
                file.seek(chunk.data_page_offset)
                page = _read_page(file.read(HEAD))
                total += page.bytes + LEVELS * page.rows + BUFFER
                rows = min(rows, page.rows or rows)
                if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
                    file.seek(chunk.dictionary_page_offset)
                    total += _read_page(file.read(HEAD)).bytes
        return Page(max(total, BUFFER), rows)


def _read_page(head: bytes) -> Page:
    """The size of a page, from its header: numbers of Thrift's compact form.

    The second number is the size before compression. Behind the third, or one for a checksum,
    begins a structure, whose first number is that of the values.

    Examples
    --------
    >>> _read_page(bytes([0x15, 0, 0x15, 0x80, 0x01, 0x15, 0x10, 0x2C, 0x15, 0x10]))
    Page(bytes=64, rows=8)
    """
    numbers: list[int] = []
    at = structure = 0
    while at + 1 < len(head) and not structure:
        structure = head[at] & 0x0F == 0x0C
        at += structure
        if head[at] & 0x0F != 0x05:  # an int of 32 bits
            break
        at += 1
        value = shift = 0
        while at < len(head):
            value |= (head[at] & 0x7F) << shift
            shift += 7
            at += 1
            if not head[at - 1] & 0x80:
                break
        numbers.append(value >> 1)  # zigzag, and not negative
    size = numbers[1] if len(numbers) > 1 else PAGE
    return Page(size, numbers[-1] if structure else 0)


def open_parquet(path: str, files: Sequence[Path]) -> Parquet:
    """Read what the files say of themselves, and check that they agree."""
    pq = extra("pyarrow.parquet", "tables")
    metadata = []
    for file in files:
        with reading(file, ".parquet"):
            metadata.append(pq.read_metadata(arrow_path(file)))
        check_names(str(file), metadata[-1].schema.to_arrow_schema().names)
    source = Parquet(path, tuple(files), tuple(metadata))
    for file, other in zip(files[1:], metadata[1:], strict=True):
        _check_schema(files[0], metadata[0], file, other)
    if not source.names and source.index:
        raise InputError(
            f"`{path}` must have a column besides its index of pandas ({listed(source.index)}). "
            "Save the file with `reset_index()` to compare that."
        )
    if not source.n_rows:
        raise InputError(f"`{path}` has columns, but no rows.")
    return source


def _index(metadata: Any) -> tuple[str, ...]:
    """Columns of a file that are an index of pandas."""
    return index_of(metadata.schema.to_arrow_schema().names, metadata.metadata)


def _stored(metadata: Any) -> dict[str, str]:
    """The other columns of a file, by their names without white space around them."""
    found = metadata.schema.to_arrow_schema().names
    names = without(found, _index(metadata))
    return dict(zip(tidy(names), names, strict=True))


def _check_schema(first: Path, one: Any, file: Path, other: Any) -> None:
    ours, theirs = one.schema.to_arrow_schema(), other.schema.to_arrow_schema()
    names = _stored(one), _stored(other)
    missing, more = without(*names), without(*names[::-1])
    if missing or more:
        parts = [f"lacks {listed(missing)}"] * bool(missing)
        parts += [f"has {listed(more)} besides"] * bool(more)
        raise InputError(f"`{file}` must have the columns of `{first}`, but {' and '.join(parts)}.")
    for name, stored in names[0].items():
        our, their = ours.field(stored).type, theirs.field(names[1][name]).type
        if our != their:
            raise InputError(
                f"`{file}` must have the types of `{first}`, but column {name!r} holds "
                f"{their} instead of {our}."
            )
