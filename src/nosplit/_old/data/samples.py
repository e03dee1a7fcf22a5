"""Samples of numbers, and samples in files: what only later rooms need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nosplit._checks import check_finite, check_int
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.source import MOST_COLUMNS
from nosplit._old.data.files.whole import is_small, read_if_path, some_rows, two_in_memory
from nosplit.data.encoding import Column, Encoding
from nosplit.data.frames import CATEGORIES, NUMBER
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.errors import InputError

__all__ = ["read_samples", "some_columns"]


def some_columns(p: int, categorical: int) -> Encoding:
    """An encoding of p columns of which so many are categories, for planning."""
    if check_int(categorical, "categorical", least=0) > p:
        raise InputError(f"`categorical` must be at most p = {p}, got {categorical}.")
    if not categorical:
        return Encoding((Column("0", NUMBER),))  # kernels for numbers do not ask how many
    if p > MOST_COLUMNS:
        raise InputError(f"`p` must be at most {MOST_COLUMNS:,} in tables, got {p:,}.")
    kinds = [NUMBER] * (p - categorical) + [CATEGORIES[0]] * categorical
    return Encoding(tuple(Column(str(i), kind) for i, kind in enumerate(kinds)))


def in_hand(x: Any, y: Any, *, all_rows: bool) -> tuple[Any, Any]:
    """Two samples as arrays or tables: files are read, of large ones a part, or none."""
    if is_path(x) and is_path(y):
        sources = open_source(x), open_source(y)
        if is_small(*sources):
            return two_in_memory(*sources)
        if all_rows:
            raise InputError(
                "`paired`, `strata` and `groups` need all rows, and these files are too large to "
                "be read whole. Read some pairs, strata or groups of them into tables first."
            )
        x, y = some_rows(x, y)
    return read_if_path(x), read_if_path(y)


def read_samples(x: Any, y: Any, options: Options, *, paired: bool = False) -> Samples:
    """Two checked samples of finite numbers from arrays, tables or files; a part of large files."""
    x, y = in_hand(x, y, all_rows=paired)
    data = two_samples(x, y, options, paired=paired)
    x, y = check_samples(data.x, data.y)
    check_finite(x, "x")
    check_finite(y, "y")
    return replace(data, given=(x, y))
