"""Files → arrays: .npy, .npz and .csv, checked at the door.

Pickled objects are never loaded: reading a file must not run what is in it.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._errors import InputError
from nosplit._validation import check_sample

__all__ = ["Table", "aligned_columns", "read_table"]


@dataclass(frozen=True, eq=False)
class Table:
    """A sample from a file.

    Attributes
    ----------
    source : str
        Where it came from, for messages.
    values : array, shape (n, p)
        One observation a row; finite.
    names : tuple of str, optional
        Names of the columns, if the file has them.
    """

    source: str
    values: NDArray[Any]
    names: tuple[str, ...] | None = None


def read_table(path: str) -> Table:
    r"""Read a sample from a file.

    Parameters
    ----------
    path : str
        A file that ends in .npy, .npz or .csv. `file.npz:name` picks one of several arrays. A
        first line of a .csv without any number holds the names of the columns.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "sample.csv"
    ...     _ = file.write_text("height,weight\n1.8,75\n1.7,68\n")
    ...     table = read_table(str(file))
    >>> table.names, table.values.shape
    (('height', 'weight'), (2, 2))
    """
    file, member = path, ""
    if ".npz:" in path:
        file, _, member = path.rpartition(":")
    suffix = Path(file).suffix.lower()
    if suffix not in READERS:
        got = repr(suffix) if suffix else "no ending"
        raise InputError(f"`{path}` must end in {', '.join(READERS)}, got {got}.")
    try:
        values, names = READERS[suffix](Path(file), member)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"`{file}` cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # a damaged header raises almost anything, TokenError included
        raise InputError(f"`{file}` is not a readable {suffix} file: {_reason(error)}") from error
    return Table(path, check_sample(values, path), names)


def aligned_columns(reference: Table, current: Table) -> Table:
    """The columns of `current` in the order of `reference`: by name where both have names."""
    ours, theirs = reference.names, current.names
    widths = reference.values.shape[1], current.values.shape[1]
    if widths[0] != widths[1] and (ours is None or theirs is None):
        raise InputError(
            f"`{reference.source}` and `{current.source}` must have the same number of columns, "
            f"got {widths[0]} and {widths[1]}."
        )
    if ours is None or theirs is None or ours == theirs:
        return current
    missing, extra = _without(ours, theirs), _without(theirs, ours)
    if missing or extra:
        parts = [f"lacks {_listed(missing)}"] * bool(missing)
        parts += [f"has {_listed(extra)} besides"] * bool(extra)
        raise InputError(
            f"`{current.source}` must have the columns of `{reference.source}`, "
            f"but {' and '.join(parts)}."
        )
    order = [theirs.index(name) for name in ours]
    return Table(current.source, current.values[:, order], ours)


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


Contents = tuple[NDArray[Any], tuple[str, ...] | None]


def _read_npy(file: Path, _: str) -> Contents:
    with file.open("rb") as stream:  # memory-mapping reports a missing magic string less clearly
        np.lib.format.read_magic(stream)
    return np.load(file, mmap_mode="r", allow_pickle=False), None


def _read_npz(file: Path, member: str) -> Contents:
    with zipfile.ZipFile(file), np.load(file, allow_pickle=False) as archive:
        names = archive.files
        if member and member not in names:
            raise InputError(f"`{file}` has no array {member!r}; it has {_listed(names)}.")
        if not member and len(names) != 1:
            raise InputError(
                f"`{file}` must hold one array, got {len(names)}: {_listed(names)}. "
                f"Pick one as {file.name}:{names[0] if names else 'name'}."
            )
        return archive[member or names[0]], None


def _read_csv(file: Path, _: str) -> Contents:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"`{file}` must be UTF-8 text, got byte {error.object[error.start]:#04x} at position "
            f"{error.start}."
        ) from error
    lines = text.split("\n")
    first = next(_cells(lines), None)
    if first is None:
        raise InputError(f"`{file}` is empty.")
    number, cells = first
    names = None if any(map(_is_number, cells)) else tuple(cells)
    body = lines[number:] if names else lines
    if not any(map(str.strip, body)):
        raise InputError(f"`{file}` has column names, but no rows.")
    if names:
        _check_names(file, names)
    try:
        values = np.loadtxt(body, delimiter=",", quotechar='"', comments=None, ndmin=2)
    except ValueError:
        _explain(file, lines, len(cells), skip=number if names else 0)
        raise
    if names and len(names) != values.shape[1]:
        raise InputError(
            f"`{file}` must have as many names as columns, got {len(names)} names and "
            f"{values.shape[1]} columns."
        )
    return values, names


def _check_names(file: Path, names: Sequence[str]) -> None:
    if "" in names:
        raise InputError(
            f"`{file}` must have a name for every column, got none for column "
            f"{names.index('') + 1}. Is it an index? Save the file without."
        )
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise InputError(f"`{file}` must have different column names, got {_listed(twice)} twice.")


def _cells(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Number (from 1) and cells of every line that is not blank."""
    reader = csv.reader(lines)
    for cells in reader:
        if any(map(str.strip, cells)) or len(cells) > 1:
            yield reader.line_num, [cell.strip() for cell in cells]


def _explain(file: Path, lines: Sequence[str], width: int, skip: int) -> None:
    """Raise an error that names the first cell that is not a number, or row of another length."""
    for number, cells in _cells(lines):
        if number <= skip:
            continue
        for column, cell in enumerate(cells, start=1):
            if not _is_number(cell):
                got = repr(cell) if cell else "an empty cell"
                raise InputError(
                    f"`{file}` must hold numbers, got {got} in line {number}, column {column}."
                )
        if len(cells) != width:
            raise InputError(
                f"`{file}` must have {width} cells in every line, got {len(cells)} in line "
                f"{number}."
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python allows in numbers, and files do not


def _reason(error: Exception) -> str:
    if "allow_pickle" in str(error) or "Python objects" in str(error):
        return "it holds pickled Python objects, which are never loaded."
    return f"{str(error).rstrip('.') or type(error).__name__}."


READERS: dict[str, Callable[[Path, str], Contents]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
}
