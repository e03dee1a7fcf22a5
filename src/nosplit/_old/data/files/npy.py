"""Arrays in files: .npy, read in blocks, and .npz.

Rows of .npy files are read, not mapped into memory: a file that is cut short meanwhile then raises
an error, and does not end the interpreter. (Files in the order of columns are mapped: do not write
to those while they are read.)

Pickled objects are never loaded: reading a file must not run what is in it.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_sample
from nosplit._old.data.files.source import Strand, in_turn, reading
from nosplit._text import listed
from nosplit.errors import InputError

__all__ = ["ArrayFile", "open_npy", "open_npz"]

# Places that are read in turn, for batches like all of the file.
PLACES = 256


@dataclass(frozen=True, eq=False)
class ArrayFile:
    """An array in a file.

    Attributes
    ----------
    path : str
        What was asked for.
    values : array, shape (n, p)
        Its values; for .npy still in the file.
    file : Path, optional
        The file, if rows lie in it one after the other.
    """

    path: str
    values: NDArray[Any]
    file: Path | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def n_values(self) -> int:
        """Rows times columns."""
        return int(self.values.size)

    @property
    def names(self) -> None:
        """Arrays have no names."""
        return None

    def whole(self) -> NDArray[Any]:
        """All rows."""
        return check_sample(self._read(0, len(self.values)), self.path, finite=False)

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        """Some rows."""
        if self.file is None or not isinstance(self.values, np.memmap):
            return self.values[start:stop]
        stop = min(stop, len(self.values))
        width, dtype = self.values.shape[1], self.values.dtype
        with reading(self.file, ".npy"):
            rows = np.fromfile(
                self.file,
                dtype,
                count=(stop - start) * width,
                offset=self.values.offset + start * width * dtype.itemsize,
            )
        if rows.size != (stop - start) * width:
            raise InputError(f"`{self.path}` was cut short while it was read.")
        return rows.reshape(-1, width)

    def batches(
        self,
        rows: int,
        columns: Sequence[str] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Arrays of about `rows` rows: in order, or from many places at once."""
        if rng is None:
            return (self._read(i, i + rows) for i in range(0, len(self.values), rows))
        return map(np.concatenate, in_turn(self._strands(rows)))

    def _strands(self, rows: int) -> list[Strand]:
        """Stretches of the same length."""
        n = len(self.values)
        cuts = [n * i // PLACES for i in range(PLACES + 1)]
        turns = math.ceil(n / rows)
        return [Strand(b - a, self._parts(a, b, turns)) for a, b in pairwise(cuts)]

    def _parts(self, start: int, stop: int, number: int) -> Iterator[NDArray[Any]]:
        cuts = (start + (stop - start) * i // number for i in range(number + 1))
        return (self._read(a, b) for a, b in pairwise(cuts))


def open_npy(path: str, file: Path) -> ArrayFile:
    """See what an array is, without reading it."""
    with reading(file, ".npy"):
        with file.open("rb") as stream:  # memory-mapping reports a missing magic less clearly
            np.lib.format.read_magic(stream)
        values = np.load(file, mmap_mode="r", allow_pickle=False)
        in_order = values.flags.c_contiguous
        return ArrayFile(path, _as_rows(values, path), file if in_order else None)


def open_npz(path: str, file: Path, member: str) -> ArrayFile:
    """Load one array of an archive."""
    with (
        reading(file, ".npz"),
        zipfile.ZipFile(file),
        np.load(file, allow_pickle=False) as archive,
    ):
        names = archive.files
        if member and member not in names:
            raise InputError(f"`{file}` has no array {member!r}; it has {listed(names)}.")
        if not member and len(names) != 1:
            raise InputError(
                f"`{file}` must hold one array, got {len(names)}: {listed(names)}. "
                f"Pick one as {file.name}:{names[0] if names else 'name'}."
            )
        values = archive[member or names[0]]
        if not isinstance(values, np.ndarray):
            raise InputError(f"`{path}` must hold an array, got something else.")
        return ArrayFile(path, _as_rows(values, path))


def _as_rows(values: NDArray[Any], path: str) -> NDArray[Any]:
    """The array as (n, p), of any type of number: converting it would read all of it."""
    if values.ndim == 1:
        values = values[:, None]
    check_sample(values[:2] if values.ndim else values, path, finite=False)
    return values
