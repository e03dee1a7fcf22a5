"""Small versioned files of JSON: written whole or not at all, and read with suspicion.

Nothing that is read is ever run: there are no pickles.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NoReturn

from nosplit._support.replacing import kind_of, replace_file
from nosplit.errors import FileError

__all__ = ["LARGEST", "FileError", "read_document", "write_document"]

FORMAT = "nosplit accumulator"
VERSION = 2
# Bytes of the largest file that is read or written.
LARGEST = 256 << 20


def write_document(path: str | os.PathLike[str], body: dict[str, Any]) -> None:
    """Write a document in place of what was there; on failure, what was there stays."""
    try:
        data = json.dumps({"format": FORMAT, "version": VERSION, **body}, allow_nan=False).encode()
    except ValueError as error:
        raise FileError(f"`{path}` cannot be written: numbers are not finite.") from error
    if len(data) > LARGEST:
        raise FileError(
            f"`{path}` would take {len(data) >> 20} MB, and at most {LARGEST >> 20} MB are read "
            "back: too many rows are waiting. Use a smaller `limit`."
        )
    replace_file(path, lambda stream: stream.write(data))


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The document in a file, once it is known to be one that this version can read."""
    data = _read(path)
    try:
        body = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it ends too early" if data.startswith(b'{"format"') else "it is another kind"
        raise FileError(
            f"`{path}` is not an accumulator file, or is damaged ({reason})."
        ) from error
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise FileError(f"`{path}` is not an accumulator file: it holds other JSON.")
    version = body.get("version")
    if type(version) is not int or version != VERSION:
        older = type(version) is int and version < VERSION
        hint = (
            "An older nosplit wrote it, which kept other numbers: make it again from the data."
            if older
            else "A newer nosplit wrote it: use that one to read it."
        )
        shown = str(version)[:20]
        raise FileError(f"`{path}` must be of version {VERSION}, got {shown}. {hint}")
    return body


def _read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a plain file of no more than `LARGEST` bytes."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise FileError(f"`{path}` must be a file, got {kind_of(file)}.")
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise FileError(f"`{path}` cannot be read: {error.strerror or error}.") from error
    if len(data) > LARGEST:
        raise FileError(f"`{path}` must be of at most {LARGEST >> 20} MB, got more.")
    if not data:
        raise FileError(f"`{path}` is empty.")
    return data


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
