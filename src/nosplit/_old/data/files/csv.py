"""Text files: .csv and .tsv, packed or not, with or without a line of names.

What stands between cells, and whether decimals have commas, is found from the first lines.

Columns may be numbers, text, booleans or dates. With Arrow, the file may be larger than memory;
without, the standard library reads it whole.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import extra, has_arrow
from nosplit._old.data.files.csv_form import COMMAS, Csv, Form, form_of, unpacked_size
from nosplit._old.data.files.encodings import UTF8, encoding_of, opened, plain_bytes
from nosplit._old.data.files.source import arrow_path, check_names, reading
from nosplit.data.names import index_note
from nosplit.data.plain import PlainTable, parse_cells
from nosplit.errors import InputError

__all__ = ["CsvFile", "open_csv"]

# Cells that mean that a value is missing, unless they are quoted.
MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null"]
BLOCK = 1 << 22
NEWLINE, RETURN = b"\n\r"
# Bytes to a value, about, where its number is only guessed at.
VALUE = 8
# Largest text that is read without Arrow: its cells then take about 1 GB of memory.
MAX_PLAIN_MEGABYTES = 50
# What pandas calls an index without a name after reading it from a file.
UNNAMED = "Unnamed: 0"


@dataclass(frozen=True, eq=False)
class CsvFile:
    """A text file.

    Attributes
    ----------
    path : str
        What was asked for.
    file : Path
        The file.
    names : tuple of str, optional
        Names of the columns, if the first line holds no number.
    width : int
        Number of columns.
    skip : int
        Lines before the first row.
    index : bool
        Whether another column stands before these: an index of pandas, which is left out.
    form : Form
        What stands between cells, and in decimals.
    """

    path: str
    file: Path
    names: tuple[str, ...] | None
    width: int
    skip: int
    form: Form = COMMAS
    index: bool = False

    @property
    def titles(self) -> tuple[str, ...]:
        """A name for every column of the file."""
        names = self.names or tuple(f"column {i + 1}" for i in range(self.width))
        return self.left_out + names

    @property
    def left_out(self) -> tuple[str, ...]:
        """Name of an index, for messages."""
        return (UNNAMED,) if self.index else ()

    @property
    def n_rows(self) -> int:
        """Number of rows: of lines, unless quotes may hide the end of one; then reading tells."""
        return self._read_rows if self.quoted else self.n_lines

    @property
    def n_lines(self) -> int:
        """Lines that are neither blank nor names."""
        return self._scanned[0]

    @property
    def quoted(self) -> bool:
        """Whether there are quotes anywhere."""
        return self._scanned[1]

    @cached_property
    def _read_rows(self) -> int:
        if not has_arrow():
            return len(self.whole())
        with _explained_error(self):
            return sum(len(batch) for batch in _stream(self))

    @cached_property
    def _scanned(self) -> tuple[int, bool]:
        count, last, start, before, quoted = 0, -1, 0, b"\n", False
        with reading(self.file, ".csv"), opened(self.file, self.form.encoding) as stream:
            while block := stream.read(BLOCK):
                text = np.frombuffer(before + block, dtype=np.uint8)
                ends = np.flatnonzero(text[1:] == NEWLINE)
                lengths = np.diff(ends + start, prepend=last)
                blank = (lengths == 1) | ((lengths == 2) & (text[ends] == RETURN))
                count += len(ends) - int(np.count_nonzero(blank))
                last = int(ends[-1]) + start if len(ends) else last
                start, before = start + len(block), block[-1:]
                quoted = quoted or b'"' in block
        return count + (start - 1 > last) - (self.names is not None), quoted

    @property
    def n_values(self) -> int:
        """Rows times columns, about, from the size of the file."""
        with reading(self.file, ".csv"):
            return unpacked_size(self.file) // VALUE

    def whole(self) -> Any:
        """All rows: a table, or an array of numbers where there are no names."""
        with _explained_error(self):
            values = _untitled(self, _read_table(self)) if has_arrow() else _read_plain(self)
        if len(values) < 2:
            raise InputError(f"`{self.path}` must have at least 2 rows, got {len(values)}.")
        return values

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[Any]:
        """Tables of about `rows` rows, in order; without Arrow a single one, as `whole`."""
        if not has_arrow():
            table = self.whole()
            yield table if columns is None else table.select(columns)
            return
        pa = extra("pyarrow", "tables")
        with _explained_error(self):
            waiting: list[Any] = []
            for batch in _stream(self):
                waiting.append(pa.Table.from_batches([batch]))
                if sum(map(len, waiting)) >= rows:
                    yield _untitled(self, _selected(pa.concat_tables(waiting), columns))
                    waiting = []
            if waiting:
                yield _untitled(self, _selected(pa.concat_tables(waiting), columns))


def open_csv(path: str, file: Path, asked: Csv | None = None) -> CsvFile:
    """Look at the first lines, which may be names."""
    with reading(file, ".csv"):
        encoding = None if asked is None else asked.encoding
        if encoding is None:
            with plain_bytes(file) as stream:
                head = stream.read(BLOCK)
            encoding = encoding_of(head, len(head) < BLOCK)
        with opened(file, encoding) as stream:
            head = stream.read(BLOCK)
        text = head.decode("utf-8-sig", errors="replace")
        form = replace(form_of(text, asked), encoding=encoding)
        first = next(_numbered_lines(text.split("\n"), form), None)
    if first is None:
        raise InputError(f"`{path}` is empty.")
    number, cells = first
    named = not any(map(form.is_number, cells))
    rest = text.split("\n")[number:]
    if named and not any(map(str.strip, rest)) and len(head) < BLOCK:
        _check_text(path, head)
        raise InputError(f"`{path}` has column names, but no rows.")
    index = named and len(cells) > 1 and _is_index(cells[0], rest[:-1], form)
    names = tuple(cells[index:]) if named else None
    if names:
        _check_header(path, names, index)
    return CsvFile(path, file, names, len(cells) - index, number if named else 0, form, index)


def _is_index(name: str, lines: Sequence[str], form: Form) -> bool:
    """Whether the first column is an index: without a name, or 0, 1, 2, … under "Unnamed: 0".

    The last line may be cut, and is not among these.
    """
    if name != UNNAMED:
        return name == ""
    first = (cells[0] for _, cells in _numbered_lines(lines, form))
    return all(cell == str(i) for i, cell in zip(count(), first, strict=False))


def _check_header(path: str, names: Sequence[str], index: bool) -> None:
    check_names(path, names)
    if "" in names:
        raise InputError(
            f"`{path}` must have a name for every column, got none for column "
            f"{names.index('') + 1 + index}. Is it an index? Save the file without."
        )


# -- with Arrow ------------------------------------------------------------------------------------


def _options(source: CsvFile, types: dict[str, Any] | None = None) -> dict[str, Any]:
    arrow = extra("pyarrow.csv", "tables")
    titles = source.titles
    return {
        "read_options": arrow.ReadOptions(
            column_names=list(titles), skip_rows=source.skip, block_size=BLOCK
        ),
        "convert_options": arrow.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            column_types=types,
            include_columns=list(titles[source.index :]),
            decimal_point=source.form.decimal,
        ),
        "parse_options": arrow.ParseOptions(
            delimiter=source.form.separator,
            newlines_in_values=types is None or source.quoted,
        ),
    }


def _input(source: CsvFile) -> Any:
    """The file as Arrow reads it: by its path where it can."""
    if source.form.encoding == UTF8:
        return arrow_path(source.file)
    return extra("pyarrow", "tables").PythonFile(opened(source.file, source.form.encoding))


def _read_table(source: CsvFile) -> Any:
    table = extra("pyarrow.csv", "tables").read_csv(_input(source), **_options(source))
    _check_columns(source, table)
    return table


def _stream(source: CsvFile) -> Iterator[Any]:
    """Batches of Arrow, all with the types of the first block; numbers need not stay whole."""
    pa, arrow = extra("pyarrow", "tables"), extra("pyarrow.csv", "tables")
    with arrow.open_csv(_input(source), **_options(source)) as reader:
        schema = reader.schema
        _check_columns(source, pa.Table.from_batches([reader.read_next_batch()]))
    number = pa.float64()
    loose = pa.types.is_integer, pa.types.is_null
    types = {f.name: number if any(k(f.type) for k in loose) else f.type for f in schema}
    with arrow.open_csv(_input(source), **_options(source, types)) as reader:
        yield from reader


def _check_columns(source: CsvFile, table: Any) -> None:
    """Refuse columns that hold both numbers and text: one of them is a slip."""
    pa, compute = extra("pyarrow", "tables"), extra("pyarrow.compute", "tables")
    if any(pa.types.is_binary(f.type) for f in table.schema):
        raise ValueError("text that is not UTF-8")
    text = [i for i, f in enumerate(table.schema) if pa.types.is_string(f.type)]
    for i in text:
        cells = table.column(i).unique()
        if compute.any(compute.match_substring_regex(cells, source.form.number)).as_py():
            raise ValueError("a column with both numbers and text")
        if table.num_columns == 1 and compute.all(compute.match_substring_regex(cells, "[;\t]")):
            cell = next(cell.as_py() for cell in table.column(i) if cell.is_valid)
            raise InputError(
                f"`{source.path}` must have commas between cells, got {cell!r} in line "
                f"{source.skip + 1}, column 1."
            )


def _untitled(source: CsvFile, table: Any) -> Any:
    """An array, if columns have no names and hold numbers only; the table otherwise."""
    pa = extra("pyarrow", "tables")
    number = pa.types.is_integer, pa.types.is_floating, pa.types.is_null
    if source.names or not all(any(k(f.type) for k in number) for f in table.schema):
        return table.replace_schema_metadata(index_note(source.left_out))
    columns = [column.cast(pa.float64()).to_numpy() for column in table.columns]
    return np.stack(columns, axis=1)


def _selected(table: Any, columns: Sequence[str] | None) -> Any:
    return table if columns is None else table.select(list(columns))


# -- without ---------------------------------------------------------------------------------------


def _read_plain(source: CsvFile) -> Any:
    """All rows, read by the standard library, which does not tell quoted cells from others."""
    megabytes = unpacked_size(source.file) / 1e6
    if megabytes > MAX_PLAIN_MEGABYTES:
        raise InputError(
            f"`{source.path}` has {megabytes:,.0f} MB, and pyarrow is needed to read text of more "
            f"than {MAX_PLAIN_MEGABYTES} MB. Install it with: pip install 'nosplit[tables]'"
        )
    lines = islice(io.StringIO(_bytes(source).decode("utf-8-sig"), newline=""), source.skip, None)
    rows = [row for row in csv.reader(lines, delimiter=source.form.separator) if row]
    if any(len(row) != len(source.titles) for row in rows):
        raise ValueError("rows of different lengths")
    columns = {
        name: _parsed_column([row[i] for row in rows], source.form)
        for i, name in enumerate(source.titles[source.index :], start=source.index)
    }
    if source.names or any(values.dtype.kind != "f" for values in columns.values()):
        return PlainTable(columns, source.left_out)
    return np.stack(list(columns.values()), axis=1)


def _parsed_column(cells: Sequence[str], form: Form) -> NDArray[Any]:
    values = parse_cells(cells, MISSING, form.as_number)
    if values.dtype == object and any(map(form.is_number, set(cells).difference(MISSING))):
        raise ValueError("a column with both numbers and text")
    return values


# -- what is wrong with a file ---------------------------------------------------------------------


@contextmanager
def _explained_error(source: CsvFile) -> Iterator[None]:
    """Find the line and the column that Arrow stumbled over."""
    try:
        with reading(source.file, ".csv"):
            yield
    except InputError as error:
        if "is not a readable" not in str(error):
            raise
        with reading(source.file, ".csv"):
            data = _bytes(source)
        _check_text(source.path, data)
        with reading(source.file, ".csv"):
            _explain(source, data.decode("utf-8-sig").split("\n"))
        raise


def _check_text(path: str, data: bytes) -> None:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"`{path}` must be UTF-8 text, got byte {error.object[error.start]:#04x} at position "
            f"{error.start}. Say what it is: encoding='latin-1', for example."
        ) from error


def _explain(source: CsvFile, lines: Sequence[str]) -> None:
    """Raise an error that names the first row of another length, or the cell of another type."""
    numbers: set[int] = set()
    text: dict[int, tuple[int, str]] = {}
    found = _numbered_lines(lines, source.form)
    rows = [(number, cells) for number, cells in found if number > source.skip]
    for i, (number, cells) in enumerate(rows):
        if len(cells) != len(source.titles):
            raise _other_width(source, len(cells), None if i == 0 else number)
        for column, cell in enumerate(cells, start=1):
            if source.form.is_number(cell):
                numbers.add(column)
            elif cell not in MISSING:
                text.setdefault(column, (number, cell))
    for column in sorted(numbers & text.keys()):
        number, cell = text[column]
        raise InputError(
            f"`{source.path}` must hold either numbers or text in a column, got {cell!r} in line "
            f"{number}, column {column}."
        )


def _other_width(source: CsvFile, width: int, line: int | None) -> InputError:
    if line is None:  # the first row: the names are as wrong as the row
        return InputError(
            f"`{source.path}` must have as many names as columns, got {len(source.titles)} "
            f"names and {width} columns."
        )
    return InputError(
        f"`{source.path}` must have {len(source.titles)} cells in every line, got {width} in line "
        f"{line}."
    )


def _bytes(source: CsvFile) -> bytes:
    with opened(source.file, source.form.encoding) as stream:
        return stream.read()


def _numbered_lines(lines: Sequence[str], form: Form) -> Iterator[tuple[int, list[str]]]:
    """Number (from 1) and cells of every line that is not blank."""
    reader = csv.reader(lines, delimiter=form.separator)
    try:
        for cells in reader:
            if any(map(str.strip, cells)) or len(cells) > 1:
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise ValueError(f"{error} in line {reader.line_num}") from error
