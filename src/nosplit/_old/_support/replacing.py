"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from nosplit.errors import FileError

__all__ = ["kind_of", "replace_file"]


# Seconds after which a file that was to take the place of another is nobody's.
STALE = 3600.0


def replace_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], Any]) -> None:
    """Write a file in place of what was there; on failure, what was there stays.

    The new file is complete on the disk, under a name of its own in the same folder, before it
    takes the place of the old one.
    """
    # The file that a link points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise FileError(f"`{path}` must be a file, got {kind_of(target)}.")
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        _write_new(new, write)
        os.replace(new, target)  # noqa: PTH105 (as tests replace it)
        _tidy(target)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"`{path}` cannot be written: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def _tidy(target: Path) -> None:
    """Remove what writers left behind that were killed; those of the last hour may still write."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE:
                left.unlink()


def _write_new(new: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file that was not there, down to the disk."""
    descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "w+b") as stream:
        write(stream)
        stream.flush()
        os.fsync(descriptor)


def kind_of(file: Path) -> str:
    """Name the kind of a path that is no file."""
    return "a folder" if file.is_dir() else "a device or a pipe"
