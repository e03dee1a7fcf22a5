"""Feather: tables of Arrow, as they are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nosplit._lazy import extra
from nosplit._old.data.files.source import arrow_path, check_names, reading
from nosplit.data.names import index_note, index_of, tidy, without

__all__ = ["FeatherFile", "open_feather"]


@dataclass(frozen=True, eq=False)
class FeatherFile:
    """A file of record batches.

    Attributes
    ----------
    path : str
        What was asked for.
    file : Path
        The file.
    stored : dict of str to str
        What the columns are called in the file, by our names.
    index : tuple of str
        Columns that are left out: an index of pandas.
    """

    path: str
    file: Path
    stored: dict[str, str]
    index: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without an index of pandas."""
        return tuple(self.stored)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.stored)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        with reading(self.file, ".feather"):
            return sum(len(batch) for batch in _stored_batches(self.file))

    @property
    def n_values(self) -> int:
        """Rows times columns."""
        return self.n_rows * self.width

    def whole(self) -> Any:
        """All rows, as a table."""
        with reading(self.file, ".feather"):
            table = self._renamed(_reader(self.file).read_all(), self.names)
        return table.replace_schema_metadata(index_note(self.index))

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[Any]:
        """Tables of at most `rows` rows, in order."""
        pa = extra("pyarrow", "tables")
        names = self.names if columns is None else columns
        with reading(self.file, ".feather"):
            for batch in _stored_batches(self.file):
                table = self._renamed(pa.Table.from_batches([batch]), names)
                for start in range(0, len(table), rows):
                    yield table.slice(start, rows)

    def _renamed(self, table: Any, names: Sequence[str]) -> Any:
        return table.select([self.stored[name] for name in names]).rename_columns(list(names))


def open_feather(path: str, file: Path) -> FeatherFile:
    """See which columns a file has."""
    with reading(file, ".feather"):
        schema = _reader(file).schema
    index = index_of(schema.names, schema.metadata)
    if len(index) == len(schema.names):  # nothing else to compare
        index = ()
    stored = without(schema.names, index)
    check_names(path, stored)
    return FeatherFile(path, file, dict(zip(tidy(stored), stored, strict=True)), index)


def _reader(file: Path) -> Any:
    pa, ipc = extra("pyarrow", "tables"), extra("pyarrow.ipc", "tables")
    return ipc.open_file(pa.memory_map(arrow_path(file)))


def _stored_batches(file: Path) -> Iterator[Any]:
    reader = _reader(file)
    for i in range(reader.num_record_batches):
        yield reader.get_batch(i)
