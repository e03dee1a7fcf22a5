"""Files of a JSON header and plain arrays: written whole or not at all, read with suspicion.

A bundle is a zip archive. Its first member is the header, which says type and shape of every
other; those are the numbers, byte for byte. Nothing that is read is ever run: there are no
pickles. Sizes are known, and limited, before anything is unpacked.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from nosplit._old._support.replacing import kind_of, replace_file
from nosplit.errors import FileError

__all__ = ["HEADER", "check_version", "is_bundle", "no_constant", "read_bundle", "write_bundle"]

HEADER = "nosplit-profile.json"
# Types of numbers, all with their lowest byte first.
TYPES = ("|u1", "<u2", "<u4", "<i2", "<i4", "<i8", "<f4", "<f8")
# Bytes of a header and of all arrays; how many bytes one byte of a file may stand for.
LARGEST_HEADER, LARGEST, MOST_UNPACKED = 64 << 20, 4 << 30, 256
MOST_ARRAYS = 64
# Zip archives have no time before this one; files of the same content are the same.
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_bundle(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays in place of what was there; on failure, what was there stays."""
    little = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    shapes = {name: [a.dtype.str, *a.shape] for name, a in little.items()}
    text = json.dumps({**header, "arrays": shapes}, allow_nan=False, indent=1).encode()
    total = sum(array.nbytes for array in little.values())
    if total > LARGEST or len(text) > LARGEST_HEADER:
        raise FileError(
            f"`{path}` would hold {total >> 20:,} MB, and at most {LARGEST >> 20:,} MB are read "
            "back. Use fewer `frequencies`, or fewer columns."
        )
    replace_file(path, lambda stream: _write_archive(stream, text, little))


def _write_archive(stream: BinaryIO, text: bytes, arrays: Mapping[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, EPOCH), text, zipfile.ZIP_STORED)
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            data = np.ascontiguousarray(array).tobytes()
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=1)


def is_bundle(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a bundle does."""
    try:
        file = Path(path)
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            start = stream.read(30 + len(HEADER))
    except (OSError, ValueError):  # a name that no file can have
        return False
    return start[:4] == b"PK\x03\x04" and start[30:] == HEADER.encode()


def read_bundle(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file, of the types and shapes that the header tells."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise FileError(f"`{path}` must be a file, got {kind_of(file)}.")
        with file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            return _read_archive(path, archive, file.stat().st_size)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"`{path}` cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # The last two: other ways to pack, and passwords, neither of which a profile has.
        raise FileError(f"`{path}` is not a profile, or is damaged: {error}.") from error


def _read_archive(
    path: str | os.PathLike[str], archive: zipfile.ZipFile, size: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    entries = {entry.filename: entry for entry in archive.infolist()[: MOST_ARRAYS + 2]}
    if HEADER not in entries or entries[HEADER].file_size > LARGEST_HEADER:
        raise FileError(f"`{path}` is not a profile: it is another kind of archive.")
    header = _header(path, _unpacked(archive, entries.pop(HEADER)))
    shapes = header.pop("arrays", None)
    if not isinstance(shapes, dict) or set(shapes) != set(entries) or len(shapes) > MOST_ARRAYS:
        raise FileError(f"`{path}` is damaged: its header names other parts than it has.")
    kinds = {name: _kind(path, name, shape) for name, shape in shapes.items()}
    sizes = {name: kind.itemsize * math.prod(shape) for name, (kind, shape) in kinds.items()}
    if any(sizes[name] != entries[name].file_size for name in sizes):
        raise FileError(f"`{path}` is damaged: parts of it are not of the size they should be.")
    if sum(sizes.values()) > min(LARGEST, MOST_UNPACKED * size):
        raise FileError(f"`{path}` is too large once it is unpacked.")
    arrays = {
        name: np.frombuffer(_unpacked(archive, entries[name]), kind).reshape(shape)
        for name, (kind, shape) in kinds.items()
    }
    return header, arrays


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A member of the size it is said to have, and whose check sum is right."""
    with archive.open(entry) as stream:
        data = stream.read(entry.file_size)
        if len(data) != entry.file_size or stream.read(1):
            raise EOFError(f"{entry.filename[:40]!r} is not of the size it should be")
    return data


def _header(path: str | os.PathLike[str], data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise FileError(f"`{path}` is damaged: its header cannot be read.") from error
    if not isinstance(header, dict):
        raise FileError(f"`{path}` is damaged: its header holds other JSON.")
    return header


def _kind(
    path: str | os.PathLike[str], name: str, shape: Any
) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Type and shape of an array, from the header."""
    if not isinstance(shape, list) or not 2 <= len(shape) <= 3 or shape[0] not in TYPES:
        raise FileError(f"`{path}` is damaged: {name[:40]!r} is of no known type.")
    sides = shape[1:]
    if not all(type(side) is int and 0 <= side < 1 << 40 for side in sides):
        raise FileError(f"`{path}` is damaged: {name[:40]!r} has no shape.")
    return np.dtype(shape[0]), tuple(sides)


def check_version(path: str | os.PathLike[str], version: Any, expected: int) -> None:
    """Refuse a file of another version of its format."""
    if type(version) is not int or version != expected:
        raise FileError(
            f"`{path}` must be of version {expected}, got {str(version)[:20]}: another version of "
            "nosplit wrote it. Read it with that version, or make it again from the data."
        )


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and infinity, which JSON lacks and Python reads."""
    raise ValueError(f"{name} is not a number")
