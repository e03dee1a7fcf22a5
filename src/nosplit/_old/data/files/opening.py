"""Files → samples: arrays of NumPy, text, lines of JSON, Feather and Parquet, in folders too.

A source says what is in a file before it is read; it is then read whole, or in batches.
"""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard

from nosplit._old.data.files.csv import open_csv
from nosplit._old.data.files.csv_form import Csv
from nosplit._old.data.files.feather import open_feather
from nosplit._old.data.files.json import open_json
from nosplit._old.data.files.npy import open_npy, open_npz
from nosplit._old.data.files.parquet import open_parquet
from nosplit._old.data.files.source import ColumnsOf, SomeColumns, Source, reading
from nosplit._text import listed
from nosplit.errors import InputError

__all__ = ["is_path", "open_source", "said_of"]

SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".csv.gz", ".jsonl", ".feather", ".parquet")
# Endings that people give to the same formats.
ALSO = {".pq": ".parquet", ".parq": ".parquet", ".txt": ".csv", ".gz": ".csv.gz", ".json": ".jsonl"}


def is_path(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a value names a file."""
    return isinstance(value, str | os.PathLike)


def open_source(path: str | os.PathLike[str]) -> Source:
    r"""See what a file holds, without reading its rows.

    Parameters
    ----------
    path : str or Path
        A file that ends in .npy, .npz (`file.npz:name` picks one of several arrays), .csv, .tsv
        (or .csv.gz, .tsv.gz), .jsonl, .feather or .parquet; or a folder or a glob of .parquet
        files, which are taken in the order of their names. In text, commas, semicolons, tabs or
        bars stand between cells, and a first line without any number holds the names of the
        columns; `Csv` names a text file of which that need not be found out.

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
    if isinstance(path, ColumnsOf):
        return SomeColumns(open_source(path.path), path.columns)
    text = os.fspath(path)
    with reading(text, "file"):
        several = None if isinstance(path, Csv) else _parquet_files(text)
    if several is not None:
        for file in several:
            _check_file(str(file), file)
        return open_parquet(text, several)
    if isinstance(path, Csv):
        _check_file(text, Path(text))
        return open_csv(text, Path(text), path)
    name, member = text, ""
    if ".npz:" in text:
        name, _, member = text.rpartition(":")
    file = Path(name)
    _check_file(text, file)
    match "".join(file.suffixes[-2:] if file.suffix.lower() == ".gz" else file.suffix).lower():
        case ".npy":
            return open_npy(text, file)
        case ".npz":
            return open_npz(text, file, member)
        case ".csv" | ".tsv" | ".csv.gz" | ".tsv.gz":
            return open_csv(text, file)
        case ".jsonl" | ".ndjson" | ".jsonl.gz" | ".ndjson.gz":
            return open_json(text, file)
        case ".feather" | ".arrow":
            return open_feather(text, file)
        case ".parquet":
            return open_parquet(text, [file])
    raise _unknown(text, file.suffix)


def _check_file(path: str, file: Path) -> None:
    """Refuse what exists and is no file: reading a pipe without a writer would never end."""
    with reading(path, "file"):
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise InputError(f"`{path}` must be a file, got a device or a pipe.")


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
    if suffix == ".txt":
        hint = " If it is text with commas, semicolons or tabs between cells, rename it to .csv."
    return InputError(f"`{path}` must end in {', '.join(SUFFIXES)}, got {got}.{hint}")


# -- files that fit in memory ----------------------------------------------------------------------


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
