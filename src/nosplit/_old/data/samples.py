"""Samples of numbers, and samples in files: what only later rooms need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._checks import check_finite, check_int
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.source import MOST_COLUMNS
from nosplit._old.data.files.whole import is_small, read_if_path, some_rows, two_in_memory
from nosplit._types import Array
from nosplit.data.encoding import Column, Encoding, Mask
from nosplit.data.fit_encoding import read_one, robust_scale
from nosplit.data.frames import CATEGORIES, NUMBER, as_frame, is_table
from nosplit.data.options import NONE, ROBUST, Options
from nosplit.data.samples import Samples, check_samples, count_out, two_samples
from nosplit.errors import InputError

__all__ = ["Sample", "one_sample", "read_samples", "some_columns", "standardised"]


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


@dataclass(frozen=True, eq=False)
class Sample:
    """One sample of numbers, in the units of the data.

    Attributes
    ----------
    x : array
        The rows.
    kept : array of bool, or None
        Which rows of what was given they are; None for all.
    encoding : Encoding or None
        As in `Samples`; not scaled.
    scaled : bool
        Whether a scale was asked for.
    """

    x: Any
    kept: Mask | None = None
    encoding: Encoding | None = None
    scaled: bool = False

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        return 0 if self.kept is None else count_out([self.kept])


def one_sample(x: Any, options: Options) -> Sample:
    """A sample of numbers to be compared with a model; an array without options as it came."""
    if options.idle and not is_table(x):
        return Sample(x)
    if options.nan_policy == "indicate":
        raise InputError(
            "`nan_policy` must be 'raise' or 'omit' here, got 'indicate': a model of numbers says "
            "nothing about missing ones."
        )
    read = read_one(as_frame(x, "x"), replace(options, scale=NONE))
    for name, kind in zip(read.names, read.kinds, strict=True):
        if kind != NUMBER:
            raise InputError(
                f"column {name!r} of `x` must hold numbers, as the model does, got {kind}. "
                f"Convert it, or leave it out with exclude=[{name!r}]."
            )
    encoding = read.encoding()
    return Sample(read.rows(encoding)[0], read.kept[0], encoding, options.scale == ROBUST)


def standardised(x: Array) -> tuple[Array, Array]:
    """Medians and spreads of the columns of x."""
    pairs = np.array([robust_scale(column) for column in x.T])
    return pairs[:, 0], pairs[:, 1]


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
