"""Changes of columns between two tables or arrays, from their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from nosplit._support.changes import (
    Change,
    change_of_categories,
    change_of_numbers,
    said_date,
    said_number,
)
from nosplit._support.terminal import printable
from nosplit._support.types import Array
from nosplit.data.tables.frames import CATEGORIES, Frame, as_frame, native_columns

__all__ = ["column_changes", "said_as"]


def column_changes(x: Any, y: Any, names: Sequence[str]) -> dict[str, Change]:
    """Describe what changed in some columns of two tables or arrays."""
    sources = as_frame(x, "x"), as_frame(y, "y")
    natives = cache(lambda side: native_columns((x, y)[side], "sample").columns)
    return {name: _change_of_values(name, sources, natives) for name in names}


def _change_of_values(
    name: str, sources: tuple[Frame, Frame], natives: Callable[[int], Any]
) -> Change:
    places = [0 if s.single else s.names.index(name) for s in sources]
    raws = [s.read(i) for s, i in zip(sources, places, strict=True)]
    a, b = (raw.values for raw in raws)
    sizes, missing = (len(a), len(b)), [float(np.isnan(v).mean()) for v in (a, b)]
    if any(raw.kind in CATEGORIES for raw in raws):
        return _change_of_shares(
            a, b, missing, lambda code: _category_name(code, (a, b), natives, places)
        )
    a, b = (np.sort(v[~np.isnan(v)]) for v in (a, b))
    if min(len(a), len(b)) < 2:
        return change_of_categories(np.zeros((2, 0)), sizes, missing, str)
    both = np.concatenate([a, b])
    shares = [np.searchsorted(v, both, side="right") / len(v) for v in (a, b)]
    apart = float(np.abs(shares[0] - shares[1]).max())
    quartiles = np.array([np.quantile(v, [0.25, 0.5, 0.75]) for v in (a, b)])
    return change_of_numbers(apart, quartiles, sizes, missing, said_as(raws[0].kind))


def said_as(kind: str) -> Callable[[float], str]:
    """The function that prints values of a kind of column: dates as dates."""
    return said_date if kind.startswith("dates") else said_number


def _change_of_shares(
    a: Array, b: Array, missing: Sequence[float], name: Callable[[float], str]
) -> Change:
    """Shares of all rows, those without a value included."""
    both = np.concatenate([a, b])
    codes, place = np.unique(both[~np.isnan(both)], return_inverse=True)
    cut = np.count_nonzero(~np.isnan(a))
    counts = [np.bincount(part, minlength=len(codes)) for part in (place[:cut], place[cut:])]
    shares = np.array([counts[0] / len(a), counts[1] / len(b)])
    return change_of_categories(shares, (len(a), len(b)), missing, lambda k: name(codes[k]))


def _category_name(
    code: float, values: Sequence[Array], natives: Callable[[int], Any], places: Sequence[int]
) -> str:
    """A category as it is called: that of the first row that has its code."""
    for side, (codes, place) in enumerate(zip(values, places, strict=True)):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            value = natives(side)[place][int(rows[0])]
            return printable(str(value) if str(value).strip() else repr(value))
    return "a category"
