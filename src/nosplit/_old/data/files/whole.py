"""Files that are read whole, and a sample of those that are not."""

from __future__ import annotations

import os
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_sample
from nosplit._lazy import extra
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.source import Source
from nosplit.data.frames import NUMBER, UNKNOWN, as_frame
from nosplit.errors import InputError

File = str | os.PathLike[str]

__all__ = [
    "PILOT",
    "SMALL",
    "by_position",
    "is_small",
    "n_rows_in",
    "pictured_rows",
    "read_array",
    "read_if_path",
    "rows_shown",
    "sampled",
    "some_rows",
    "two_in_memory",
]

# Values of two files together up to which they are read whole and tested as if in memory.
SMALL = 20_000_000
# Values of a batch from which rows are picked.
AT_ONCE = 1 << 20
# Rows of a large file that it is described by, and numbers in them.
PILOT, NUMBERS = 250_000, 1 << 22


def two_in_memory(x: Source, y: Source) -> tuple[Any, Any]:
    """All rows of two files: two tables, or two arrays where one of them has no names."""
    a, b = x.whole(), y.whole()
    if _is_array(a) != _is_array(b):
        return by_position(a, x.path), by_position(b, y.path)
    return a, b


def read_if_path(value: Any) -> Any:
    """All rows of a file if a value names one; any other value as it is."""
    return open_source(value).whole() if is_path(value) else value


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """All rows of a file of numbers, as an array."""
    source = open_source(path)
    return check_sample(by_position(source.whole(), source.path), source.path)


def _is_array(rows: Any) -> TypeGuard[NDArray[Any]]:
    return isinstance(rows, np.ndarray)


def by_position(rows: Any, path: str) -> NDArray[Any]:
    """The columns of a table as an array; text has no place in one."""
    if _is_array(rows):
        return rows
    frame = as_frame(rows, path)
    columns = [frame.read(i) for i in range(len(frame.names))]
    for name, column in zip(frame.names, columns, strict=True):
        if column.kind not in (NUMBER, UNKNOWN):
            raise InputError(
                f"`{path}` must hold numbers here, got {column.kind} in column {name!r}."
            )
    return np.stack([column.values for column in columns], axis=1)


def is_small(x: Source, y: Source) -> bool:
    """Whether two files are read whole: by their sizes, so that the same files always are."""
    return x.n_values + y.n_values <= SMALL


def some_rows(x: File, y: File) -> tuple[Any, Any]:
    """Rows of two files for a description of them: all, or a random sample of large files."""
    sources = open_source(x), open_source(y)
    if is_small(*sources):
        return two_in_memory(*sources)
    rng = np.random.default_rng(0)
    a, b = (sampled(s, rows_shown(s.width), rng) for s in sources)
    if _is_array(a) != _is_array(b):
        return by_position(a, sources[0].path), by_position(b, sources[1].path)
    return a, b


def rows_shown(width: int) -> int:
    """Rows of a large sample that it is described by, at the most."""
    return min(PILOT, max(2000, NUMBERS // width))


def pictured_rows(*values: Any) -> tuple[list[Any], str]:
    """Values as they are, files read: of large ones some rows, the same of all; and a word on it.

    Rows of files belong together here, or there is only one.
    """
    sources = [open_source(v) if is_path(v) else None for v in values]
    files = [s for s in sources if s is not None]
    if sum(s.n_values for s in files) <= SMALL or len(files) < len(values):
        return [read_if_path(v) for v in values], ""
    n = files[0].n_rows
    rows = min(n, rows_shown(sum(s.width for s in files)))
    found = [sampled(s, rows, np.random.default_rng(0)) for s in files]
    return found, f"{rows:,} of {n:,} rows, drawn at random, are shown, and sizes are of these."


def n_rows_in(*values: Any) -> int:
    """Rows of files, of which some may have been looked at; 0 if a value names none."""
    return sum(open_source(v).n_rows for v in values) if all(map(is_path, values)) else 0


def sampled(source: Source, rows: int, rng: np.random.Generator) -> Any:
    """Draw the given number of rows of a file, in their order; all of them if there are no more."""
    if source.n_rows <= rows:
        return source.whole()
    wanted, found, first = np.sort(rng.choice(source.n_rows, rows, replace=False)), [], 0
    for batch in source.batches(max(1024, AT_ONCE // source.width)):
        here = wanted[slice(*np.searchsorted(wanted, (first, first + len(batch))))] - first
        if len(here):
            found.append(batch[here] if _is_array(batch) else batch.take(here))
        first += len(batch)
    if len(found) == 1:
        return found[0]
    if _is_array(found[0]):
        return np.concatenate(found)
    return extra("pyarrow", "tables").concat_tables(found)
