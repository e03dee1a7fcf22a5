"""Files that commands read: what text looks like, and how many of the rows are used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from nosplit.data.files.csv_form import Csv
from nosplit.data.files.opening import open_source
from nosplit.data.files.whole import sampled
from nosplit.errors import InputError

__all__ = ["File", "all_or_some", "check_sampled", "text_file"]

File = str | os.PathLike[str]
# Endings of files that are no text with cells.
OTHERS = (".npy", ".npz", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson", ".profile")


def text_file(path: str, sep: str | None, decimal: str | None, encoding: str | None) -> File:
    """A file, with what was said of it if it is text."""
    if sep is decimal is encoding is None or Path(path).suffix.lower() in OTHERS:
        return path
    return Csv(path, {"\\t": "\t", "tab": "\t"}.get(sep or "", sep), decimal, encoding)


def all_or_some(path: File, rows: int | None, seed: int) -> Any:
    """The rows of a file, or so many of them at random: the same ones for the same seed."""
    source = open_source(path)
    return source.whole() if rows is None else sampled(source, rows, np.random.default_rng(seed))


def check_sampled(rows: int | None, profiles: bool, paired: bool) -> None:
    """Refuse to draw rows from what holds none, or of which rows belong together."""
    if rows is not None and profiles:
        raise InputError("`--sample` draws rows of files, and a profile has none.")
    if rows is not None and paired:
        raise InputError("`--sample` draws rows of each file by itself, which --paired forbids.")
