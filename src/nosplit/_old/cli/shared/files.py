"""Files that commands read: what text looks like, and how many of the rows are used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nosplit._old.api.ways.against_profile import is_profile
from nosplit._old.data.files import whole
from nosplit._old.data.files.csv_form import Csv
from nosplit._old.data.files.opening import open_source
from nosplit._old.data.files.whole import sampled
from nosplit.errors import InputError

__all__ = ["File", "all_or_some", "text_file", "two_files", "unless_large"]

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


def unless_large(files: Sequence[File], rows: int | None, seed: int) -> list[Any]:
    """The rows of files, or so many at random; large files by their names, to be read in passes."""
    large = sum(open_source(file).n_values for file in files) > whole.SMALL
    if rows is None and large:
        return list(files)
    return [all_or_some(file, rows, seed) for file in files]


def two_files(
    files: tuple[str, str],
    form: tuple[str | None, str | None, str | None],
    rows: int | None,
    seed: int,
    *,
    paired: bool = False,
) -> tuple[Any, Any, bool]:
    """Two files, or so many rows of each; and whether one is a profile, which has no rows.

    `form` is what was said of text: separator, decimal mark and encoding.
    """
    profiled = any(map(is_profile, files))
    x, y = (text_file(path, *form) for path in files)
    if rows is None:
        return x, y, profiled
    if profiled:
        raise InputError("`--sample` draws rows of files, and a profile has none.")
    if paired:
        raise InputError("`--sample` draws rows of each file by itself, which --paired forbids.")
    return all_or_some(x, rows, seed), all_or_some(y, rows, seed + 1), False
