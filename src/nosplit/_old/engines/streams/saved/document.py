"""Small versioned files of JSON: written whole or not at all, and read with suspicion.

Nothing that is read is ever run: there are no pickles.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from nosplit._old._support.replacing import kind_of, replace_file
from nosplit._old.sketch.saved.bundles import check_version, no_constant
from nosplit.errors import FileError

__all__ = ["LARGEST", "DocumentForm", "FileError", "read_document", "write_document"]


class DocumentForm(NamedTuple):
    """The kind of content of a file, and the version of its format."""

    name: str
    version: int

    @property
    def title(self) -> str:
        """The title that a file carries."""
        return f"nosplit {self.name}"

    def __str__(self) -> str:
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name} file"


ACCUMULATOR = DocumentForm("accumulator", 6)
# Bytes of the largest file that is read or written.
LARGEST = 256 << 20


def write_document(
    path: str | os.PathLike[str], body: dict[str, Any], form: DocumentForm = ACCUMULATOR
) -> None:
    """Write a document in place of what was there; on failure, what was there stays."""
    try:
        head = {"format": form.title, "version": form.version}
        data = json.dumps({**head, **body}, allow_nan=False).encode()
    except ValueError as error:
        raise FileError(f"`{path}` cannot be written: numbers are not finite.") from error
    if len(data) > LARGEST:
        raise FileError(
            f"`{path}` would take {len(data) >> 20} MB, and at most {LARGEST >> 20} MB are read "
            "back: too many rows are waiting. Use a smaller `limit`."
        )
    replace_file(path, lambda stream: stream.write(data))


def read_document(path: str | os.PathLike[str], form: DocumentForm = ACCUMULATOR) -> dict[str, Any]:
    """The document in a file, once it is known to be one that this version can read."""
    data = _read_bytes(path)
    try:
        body = json.loads(data, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it ends too early" if data.startswith(b'{"format"') else "it is another kind"
        raise FileError(f"`{path}` is not {form}, or is damaged ({reason}).") from error
    if not isinstance(body, dict) or body.get("format") != form.title:
        raise FileError(f"`{path}` is not {form}: it holds other JSON.")
    check_version(path, body.get("version"), form.version)
    return body


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a plain file of no more than `LARGEST` bytes."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise FileError(f"`{path}` must be a file, got {kind_of(file)}.")
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"`{path}` cannot be read: {error.strerror or error}.") from error
    if len(data) > LARGEST:
        raise FileError(f"`{path}` must be of at most {LARGEST >> 20} MB, got more.")
    if not data:
        raise FileError(f"`{path}` is empty.")
    return data
