"""Files that commands write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from nosplit.errors import InputError

__all__ = ["Force", "check_out"]

Force = Annotated[
    bool, typer.Option("--force", metavar="", help="Replace the file if it is there.")
]


def check_out(out: str, force: bool) -> None:
    """Find out that a file cannot be written before the data is read, not after."""
    folder = Path(out).parent
    if not folder.is_dir():
        raise InputError(f"`--out` must be in a folder that exists, got {str(folder)!r}.")
    if Path(out).is_dir():
        raise InputError(f"`--out` must be a file, got the folder {out!r}.")
    if os.path.lexists(out) and not force:
        raise InputError(f"`{out}` is there already. Use --force to replace it.")
