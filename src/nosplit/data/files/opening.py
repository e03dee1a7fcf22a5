"""Files → samples: .npy, .npz, .csv, .parquet, and folders and globs of .parquet.

A source says what is in a file before it is read; it is then read whole, or in batches.
"""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_sample
from nosplit.data.files.csv import open_csv
from nosplit.data.files.npy import open_npy, open_npz
from nosplit.data.files.parquet import open_parquet
from nosplit.data.files.source import Source, listed, reading
from nosplit.errors import InputError

__all__ = [
    "Source",
    "is_path",
    "open_source",
    "read_array",
    "read_one",
    "said_of",
    "two_in_memory",
]

SUFFIXES = (".npy", ".npz", ".csv", ".parquet")
# Endings that people give to the same formats.
ALSO = {".pq": ".parquet", ".parq": ".parquet", ".txt": ".csv", ".tsv": ".csv"}


def is_path(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a value names a file."""
    return isinstance(value, str | os.PathLike)


def open_source(path: str | os.PathLike[str]) -> Source:
    r"""See what a file holds, without reading its rows.

    Parameters
    ----------
    path : str or Path
        A file that ends in .npy, .npz (`file.npz:name` picks one of several arrays), .csv or
        .parquet; or a folder or a glob of .parquet files, which are taken in the order of their
        names. A first line of a .csv without any number holds the names of the columns.

    Returns
    -------
    Source

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "sample.csv"
    ...     _ = file.write_text("height,weight\n1.8,75\n1.7,68\n")
    ...     source = open_source(file)
    ...     source.names, len(source.whole())
    (('height', 'weight'), 2)
    """
    text = os.fspath(path)
    with reading(text, "file"):
        several = _parquet_files(text)
    if several is not None:
        return open_parquet(text, several)
    name, member = text, ""
    if ".npz:" in text:
        name, _, member = text.rpartition(":")
    file = Path(name)
    match file.suffix.lower():
        case ".npy":
            return open_npy(text, file)
        case ".npz":
            return open_npz(text, file, member)
        case ".csv":
            return open_csv(text, file)
        case ".parquet":
            return open_parquet(text, [file])
    raise _unknown(text, file.suffix)


def _parquet_files(path: str) -> list[Path] | None:
    """The files of a folder or a glob; None for anything else."""
    if os.path.lexists(path):
        if not Path(path).is_dir():
            return None
        return _in_folder(Path(path))
    if not glob.has_magic(path) or ".npz:" in path:
        return None
    # A pattern may begin anywhere, so this is not `Path.glob`, which wants a folder first.
    found = [Path(name) for name in sorted(glob.glob(path, recursive=True))]  # noqa: PTH207
    if not found:
        raise InputError(f"`{path}` matches no file.")
    other = [file.name for file in found if file.suffix.lower() != ".parquet"]
    if other:
        raise InputError(f"`{path}` must match .parquet files only, got {listed(other)}.")
    return found


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(f for f in folder.rglob("*.parquet") if not _hidden(f.relative_to(folder)))
    if not found:
        raise InputError(f"`{folder}` is a folder without .parquet files.")
    keys = {part for f in found for part in f.relative_to(folder).parts[:-1] if "=" in part}
    if keys:
        raise InputError(
            f"`{folder}` has values in the names of its folders ({listed(sorted(keys))}), which "
            f"are not read. To test without them: '{folder}/**/*.parquet'."
        )
    return found


def _hidden(file: Path) -> bool:
    """Whether it is a note that another program left, or a file it had not finished."""
    return any(part.startswith(("_", ".")) for part in file.parts)


def _unknown(path: str, suffix: str) -> InputError:
    near = ALSO.get(suffix.lower()) or next(
        iter(difflib.get_close_matches(suffix.lower(), SUFFIXES, n=1)), None
    )
    got = repr(suffix) if suffix else "no ending"
    hint = f" If it holds what {near} files hold, rename it." if near else ""
    if suffix in (".tsv", ".txt"):
        hint = " If it is text with commas between cells, rename it to .csv."
    return InputError(f"`{path}` must end in {', '.join(SUFFIXES)}, got {got}.{hint}")


# -- files that fit in memory ----------------------------------------------------------------------


def two_in_memory(x: Source, y: Source) -> tuple[Any, Any]:
    """All rows of two files: two tables, or two arrays where one of them has no names."""
    a, b = x.whole(), y.whole()
    if _is_array(a) != _is_array(b):
        a, b = _by_position(a, x.path), _by_position(b, y.path)
    if not _is_array(a) or not _is_array(b):
        return a, b
    return a, _aligned(x, y, a, b)


def read_one(value: Any) -> Any:
    """All rows of a file if a value names one; any other value as it is."""
    return open_source(value).whole() if is_path(value) else value


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """All rows of a file of numbers, as an array."""
    source = open_source(path)
    return check_sample(_by_position(source.whole(), source.path), source.path)


def _is_array(rows: Any) -> TypeGuard[NDArray[Any]]:
    return isinstance(rows, np.ndarray)


def _by_position(rows: Any, path: str) -> NDArray[Any]:
    """The columns of a table as an array; text has no place in one."""
    if _is_array(rows):
        return rows
    columns = []
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        try:
            columns.append(np.asarray(column.cast("float64").to_numpy()))
        except Exception as error:
            raise InputError(
                f"`{path}` must hold numbers here, got {column.type} in column {name!r}."
            ) from error
    return np.stack(columns, axis=1)


def _aligned(x: Source, y: Source, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The columns of `b` in the order of those of `a`: by name where both have names."""
    ours, theirs = x.names, y.names
    if ours is None or theirs is None or ours == theirs:
        if a.shape[1] != b.shape[1]:
            raise InputError(
                f"`{x.path}` and `{y.path}` must have the same number of columns, got "
                f"{a.shape[1]} and {b.shape[1]}."
            )
        return b
    missing, more = _without(ours, theirs), _without(theirs, ours)
    if missing or more:
        parts = [f"lacks {listed(missing)}"] * bool(missing)
        parts += [f"has {listed(more)} besides"] * bool(more)
        raise InputError(
            f"`{y.path}` must have the columns of `{x.path}`, but {' and '.join(parts)}."
        )
    return b[:, [theirs.index(name) for name in ours]]


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]


@contextmanager
def said_of(**paths: str) -> Iterator[None]:
    """Errors that name files, where those of the functions inside name their arguments."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for argument, path in paths.items():
            text = text.replace(f"`{argument}`", f"`{path}`")
        raise type(error)(text) from error
