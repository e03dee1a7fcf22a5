"""The interface of all kinds of files, and the messages when they fail."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from nosplit._checks import repeated
from nosplit._lazy import extra
from nosplit._text import listed
from nosplit.errors import FileError, InputError

__all__ = [
    "MOST_COLUMNS",
    "ColumnsOf",
    "SomeColumns",
    "Source",
    "Strand",
    "arrow_path",
    "check_names",
    "in_turn",
    "reading",
]

# Columns of the widest file that is read: more are a slip of the separator, or an attack.
MOST_COLUMNS = 100_000
# Values of a file from which on a part of its columns is read in batches, and of one of these.
LARGE, AT_ONCE = 1 << 24, 1 << 20


def arrow_path(file: Path) -> str:
    """The name of a file as Arrow wants it: in UTF-8, whatever the locale is."""
    return os.fsencode(file).decode("utf-8", "surrogateescape")


class Strand(NamedTuple):
    """A part of a file, from one place on, in batches: how many rows it has, or at most has."""

    rows: int
    batches: Iterator[Any]


class Source(Protocol):
    """A sample in a file, or in several; nothing of it is in memory."""

    @property
    def path(self) -> str:
        """The path as it was given: for messages."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows; for text, its lines are counted."""
        ...

    @property
    def width(self) -> int:
        """Number of columns."""
        ...

    @property
    def n_values(self) -> int:
        """Rows times columns; for text, from the size of the file."""
        ...

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if it has them."""
        ...

    def whole(self) -> Any:
        """All rows: a table of Arrow, or an array where columns have no names."""
        ...

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[Any]:
        """The rows in batches of about `rows`: tables or arrays, as `whole`.

        Parameters
        ----------
        rows : int
            Rows in a batch.
        columns : names, optional
            The columns to read, where they have names; all by default.
        rng : Generator, optional
            Read all strands in turn, so that every batch is like all of the file, as far as its
            format allows. The rows of a batch are not shuffled. By default, in order.
        """
        ...


@dataclass(frozen=True)
class ColumnsOf(os.PathLike[str]):
    """The name of a file of which some columns are read; it goes wherever names of files go."""

    path: str | os.PathLike[str]
    columns: tuple[str, ...]

    def __fspath__(self) -> str:
        return os.fspath(self.path)


@dataclass(frozen=True, eq=False)
class SomeColumns:
    """Some columns of a file, by their names; those of an array by their places."""

    source: Source
    columns: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path as it was given."""
        return self.source.path

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def n_values(self) -> int:
        """Values of these columns."""
        return self.source.n_values * self.width // self.source.width

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have some."""
        return None if self.source.names is None else self.columns

    def whole(self) -> Any:
        """All rows; of large files the other columns are never in memory."""
        if self.source.n_values <= LARGE:
            return self._picked(self.source.whole())
        parts = list(self.batches(max(1024, AT_ONCE // self.source.width)))
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        return extra("pyarrow", "tables").concat_tables(parts)

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[Any]:
        """The rows in batches, of these columns or of some of them."""
        wanted = columns or (None if self.source.names is None else self.columns)
        for batch in self.source.batches(rows, wanted, rng):
            yield self._picked(batch) if columns is None else batch

    def _picked(self, batch: Any) -> Any:
        if self._places is not None:
            return np.ascontiguousarray(batch[:, self._places])
        return batch.select(list(self.columns))

    @cached_property
    def _places(self) -> list[int] | None:
        """Places of the columns where batches are arrays."""
        return None if self.source.names is not None else [int(c) for c in self.columns]


def in_turn(strands: Sequence[Strand]) -> Iterator[list[Any]]:
    """A batch of every strand at a time, until all have ended."""
    while parts := [part for strand in strands if (part := next(strand.batches, None)) is not None]:
        yield parts


def check_names(path: str, names: Sequence[str]) -> None:
    """Check that there are columns, not too many of them, and that their names differ."""
    if not names:
        raise InputError(f"`{path}` must have at least one column, got none.")
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"`{path}` must have at most {MOST_COLUMNS:,} columns, got {len(names):,}."
        )
    if twice := repeated(names):
        raise InputError(f"`{path}` must have different column names, got {listed(twice)} twice.")


@contextmanager
def reading(file: Path | str, kind: str) -> Iterator[None]:
    """Replace errors while a file is read by errors that name the file."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        if error.errno is None:  # Arrow's word for a damaged file
            raise _unreadable(file, kind, error) from error
        raise FileError(f"`{file}` cannot be read: {_system(error)}.") from error
    except Exception as error:  # a damaged header raises almost anything, TokenError included
        raise _unreadable(file, kind, error) from error


def _system(error: OSError) -> str:
    # Arrow's errors carry a number and a sentence of their own; the system's word is shorter.
    import os

    return os.strerror(error.errno) if error.errno else str(error)


def _unreadable(file: Path | str, kind: str, error: Exception) -> FileError:
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if "allow_pickle" in text or "Python objects" in text:
        text = "it holds pickled Python objects, which are never loaded"
    return FileError(f"`{file}` is not a readable {kind} file: {text}.")
