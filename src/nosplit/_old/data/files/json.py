"""Lines of JSON: one object a line, one row each."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nosplit._lazy import extra
from nosplit._old.data.files.csv_form import unpacked_size
from nosplit._old.data.files.encodings import plain_bytes
from nosplit._old.data.files.source import check_names, reading
from nosplit.errors import InputError

__all__ = ["JsonLines", "open_json"]

# Bytes read at once.
BLOCK = 1 << 22
# Bytes to a value, about, where its number is only guessed at.
VALUE = 16


@dataclass(frozen=True, eq=False)
class JsonLines:
    """A file of lines of JSON.

    Attributes
    ----------
    path : str
        What was asked for.
    file : Path
        The file.
    schema : Schema of Arrow
        Names and types of the columns in the first block of lines.
    """

    path: str
    file: Path
    schema: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.schema.names)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.schema.names)

    @cached_property
    def n_rows(self) -> int:
        """Number of lines that are not blank."""
        with reading(self.file, ".jsonl"):
            return sum(sum(map(bool, map(bytes.strip, b.split(b"\n")))) for b in _blocks(self.file))

    @property
    def n_values(self) -> int:
        """Rows times columns, about, from the size of the file."""
        with reading(self.file, ".jsonl"):
            return unpacked_size(self.file) // VALUE

    def whole(self) -> Any:
        """All rows, as a table."""
        with reading(self.file, ".jsonl"), plain_bytes(self.file) as stream:
            return _read_block(stream.read())

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[Any]:
        """Tables of at most `rows` rows, in order, with the types of the first block."""
        with reading(self.file, ".jsonl"):
            for block in _blocks(self.file):
                table = _read_block(block, _loose_numbers(self.schema))
                table = table if columns is None else table.select(list(columns))
                for start in range(0, len(table), rows):
                    yield table.slice(start, rows)


def open_json(path: str, file: Path) -> JsonLines:
    """See which columns a file has, by its first lines."""
    with reading(file, ".jsonl"):
        first = next(_blocks(file), b"")
        if not first.strip():
            raise InputError(f"`{path}` is empty.")
        schema = _read_block(first).schema
    check_names(path, schema.names)
    return JsonLines(path, file, schema)


def _blocks(file: Path) -> Iterator[bytes]:
    """Whole lines, in blocks."""
    with plain_bytes(file) as stream:
        before = b""
        while block := stream.read(BLOCK):
            lines, end, after = block.rpartition(b"\n")
            if end:
                yield before + lines + end
                before = after
            else:
                before += block
        if before.strip():
            yield before


def _read_block(block: bytes, schema: Any = None) -> Any:
    json = extra("pyarrow.json", "tables")
    how = None if schema is None else json.ParseOptions(explicit_schema=schema)
    # As one block: the types of a block are those of all its lines.
    return json.read_json(
        io.BytesIO(block), json.ReadOptions(block_size=len(block) + 1), parse_options=how
    )


def _loose_numbers(schema: Any) -> Any:
    """A schema in which numbers need not stay whole."""
    pa = extra("pyarrow", "tables")
    loose = pa.types.is_integer, pa.types.is_null
    kinds = [pa.float64() if any(k(f.type) for k in loose) else f.type for f in schema]
    return pa.schema(list(zip(schema.names, kinds, strict=True)))
