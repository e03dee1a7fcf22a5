"""Text in whatever encoding, as UTF-8: found from its first bytes, or as asked for."""

from __future__ import annotations

import codecs
import gzip
import io
from pathlib import Path
from typing import IO, Any

from nosplit.errors import InputError

__all__ = ["UTF8", "encoding_of", "known_encoding", "opened", "plain_bytes"]

UTF8 = "utf-8"
# What text is that is not UTF-8: Windows in Western Europe, of which Latin-1 is a part.
WESTERN = "cp1252"
# With a mark at the beginning that says so.
MARKS = {codecs.BOM_UTF8: UTF8, codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def encoding_of(head: bytes, whole: bool) -> str:
    r"""The encoding of a text, from its first bytes.

    Examples
    --------
    >>> encoding_of("Zürich".encode(), True), encoding_of("Zürich".encode("latin-1"), True)
    ('utf-8', 'cp1252')
    >>> encoding_of("Zürich".encode("utf-16"), True)
    'utf-16'
    """
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding
    try:
        # The last character may be cut.
        codecs.getincrementaldecoder(UTF8)().decode(head, final=whole)
    except UnicodeDecodeError:
        return UTF8 if b"\0" in head else WESTERN
    return UTF8


def known_encoding(encoding: str) -> str:
    """The name under which Python knows an encoding of text."""
    try:
        found = codecs.lookup(encoding)
        "".encode(found.name)  # some codecs make no text
    except (LookupError, TypeError) as error:
        raise InputError(
            f"`encoding` must be one that Python knows, as in 'latin-1', got {encoding!r}."
        ) from error
    return UTF8 if found.name == "utf-8-sig" else found.name


def plain_bytes(file: Path) -> IO[bytes]:
    """A file as bytes, unpacked if it is packed."""
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rb")  # type: ignore[return-value]
    return file.open("rb")


def opened(file: Path, encoding: str = UTF8) -> IO[bytes]:
    """A text file as bytes of UTF-8, unpacked."""
    stream = plain_bytes(file)
    return stream if encoding == UTF8 else io.BufferedReader(_Recoded(stream, encoding))


class _Recoded(io.RawIOBase):
    """Bytes of UTF-8 from a stream in another encoding."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(stream, encoding, newline="")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = self._text.read(max(1, len(buffer) // 4)).encode(UTF8)
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._text.close()
        super().close()
