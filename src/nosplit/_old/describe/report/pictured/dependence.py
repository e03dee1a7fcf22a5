"""Two variables together: points or cells of pairs of columns, and how strongly they depend."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from nosplit._old.data.files.whole import pictured_rows
from nosplit._old.describe.report.context import PageChoices
from nosplit._old.describe.report.pictured.drawing import points, table_cells
from nosplit._text import printable
from nosplit._types import Array, Index
from nosplit.data.frames import (
    CATEGORIES,
    Frame,
    Raw,
    as_frame,
    is_table,
    native_columns,
)
from nosplit.errors import InputError
from nosplit.inference.result import TestResult

__all__ = ["cramers_v", "seen_of_dependence"]

# Pairs of columns that are drawn, and rows up to which each is a point.
MOST_FIGURES, MOST_POINTS = 6, 2_000
# Cells of a column of numbers, and categories with a cell of their own.
BINS, MOST_CATEGORIES = 8, 10


class _Column(NamedTuple):
    """A column of a variable: its values, and which cell each is in."""

    name: str
    values: Array
    categories: bool
    labels: Mapping[float, str]


class _Cells(NamedTuple):
    """Cells of the values of a column, and their ends where they are numbers."""

    place: Index
    number: int
    ends: Array | None
    codes: Array


def seen_of_dependence(res: TestResult, x: Any, y: Any, page: PageChoices) -> dict[str, Any] | None:
    """Pictures and sizes of the pairs of columns that depend most."""
    if x is None or y is None:
        return None
    both, said = pictured_rows(x, y)
    left, right = (
        _columns_of_variable(value, name) for value, name in zip(both, "xy", strict=True)
    )
    if len(left[0].values) != len(right[0].values):
        raise InputError("`x` and `y` must have as many rows, observed together.")
    found = sorted(
        (_counted_together(a, b) for a, b in product(left, right)),
        key=lambda pair: -pair["strength"],
    )
    strongest = found[0]["strength"]
    told = (
        "How strongly two columns depend on one another is told by Cramér's V of a table of their "
        "values (numbers in eight parts of as many rows), less what chance adds: 0 if they are "
        f"independent, 1 if one of them determines the other. The strongest is {strongest:.2f}."
    )
    cells = (
        "Pictures of cells are full where there are more rows than chance would put there, and "
        "hatched where there are fewer."
    )
    words = [told, cells] + [said] * bool(said)
    if len(found) > MOST_FIGURES:
        words.append(f"The {MOST_FIGURES} pairs of columns that depend most are shown.")
    columns = [_picture_of(pair, number, page) for number, pair in enumerate(found[:MOST_FIGURES])]
    return {
        "title": "The variables together",
        "words": words,
        "legend": None,
        "columns": columns,
    }


def _columns_of_variable(value: Any, label: str) -> list[_Column]:
    """The columns of a variable; text in arrays is a category, too."""
    if not is_table(value):
        array = np.asarray(value)
        array = array[:, None] if array.ndim == 1 else array
        if array.dtype.kind not in "fiu":
            return [_of_text(column, f"{label} {j}") for j, column in enumerate(array.T)]
    frame: Frame = as_frame(value, label)
    raws = [frame.read(j) for j in range(len(frame.names))]
    if not frame.table:
        return [_Column(f"{label} {j}", raw.values, False, {}) for j, raw in enumerate(raws)]
    series = native_columns(value, label).columns
    return [
        _Column(name, raw.values, raw.kind in CATEGORIES, _labels(raw, own))
        for name, raw, own in zip(frame.names, raws, series, strict=True)
    ]


def _labels(raw: Raw, series: Any) -> dict[float, str]:
    """Names of the codes of categories: the value of the first row that has each."""
    if raw.kind not in CATEGORIES:
        return {}
    codes, first = np.unique(raw.values, return_index=True)
    some = zip(codes[: 10 * MOST_CATEGORIES], first, strict=False)
    return {float(code): str(series[int(row)]) for code, row in some if not np.isnan(code)}


def _of_text(column: Any, name: str) -> _Column:
    labels, codes = np.unique(column.astype(str), return_inverse=True)
    return _Column(name, codes.astype(np.float64), True, dict(enumerate(map(str, labels))))


def _counted_together(a: _Column, b: _Column) -> dict[str, Any]:
    there = ~(np.isnan(a.values) | np.isnan(b.values))
    sides = [_cells(c.values[there], c.categories) for c in (a, b)]
    table = np.zeros((sides[0].number, sides[1].number))
    np.add.at(table, (sides[0].place, sides[1].place), 1.0)
    return {
        "both": (a, b),
        "there": there,
        "cells": sides,
        "table": table,
        "strength": cramers_v(table),
    }


def _cells(values: Array, categories: bool) -> _Cells:
    codes, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if categories:  # the most frequent first, and all others together
        order = np.argsort(-counts, kind="stable")
        rank = np.argsort(order)
        most = min(len(codes), MOST_CATEGORIES + 1)
        return _Cells(np.minimum(rank[place], MOST_CATEGORIES), most, None, codes[order])
    if len(codes) <= BINS:
        return _Cells(place, len(codes), np.append(codes, codes[-1:]), codes)
    ends = np.unique(np.quantile(values, np.linspace(0.0, 1.0, BINS + 1)))
    found = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, len(ends) - 2)
    return _Cells(found, len(ends) - 1, ends, codes)


def cramers_v(table: Array) -> float:
    """Cramér's V of a table of counts, less what chance adds (Bergsma 2013).

    Examples
    --------
    >>> cramers_v(np.diag([50.0, 50.0])), cramers_v(np.full((2, 2), 25.0))
    (1.0, 0.0)
    """
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n, (r, c) = table.sum(), table.shape
    if min(r, c) < 2 or n < 3:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = float(((table - expected) ** 2 / expected).sum() / n)
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    rows, columns = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    return float(min(1.0, np.sqrt(phi / (min(rows, columns) - 1.0))))


def _picture_of(pair: dict[str, Any], number: int, page: PageChoices) -> dict[str, Any]:
    a, b = pair["both"]
    x, y = (c.values[pair["there"]] for c in (a, b))
    key, words = f"pair {number}", f"Cramér's V {pair['strength']:.2f}."
    if page.rows and len(x) <= MOST_POINTS and not (a.categories or b.categories):
        picture = {"svg": points(x, y, key=key), "alt": "A point for every row."}
    else:
        table = pair["table"]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1.0)
        excess = (table - expected) / np.sqrt(np.maximum(expected, 1e-12))
        ends = tuple(side.ends for side in pair["cells"])
        picture = {
            "svg": table_cells(excess, (ends[0], ends[1]), key=key),
            "alt": "Where there are more rows than chance puts there, and where fewer.",
        }
        if page.rows:
            words += "".join(
                _category_names(c, side) for c, side in zip((a, b), pair["cells"], strict=True)
            )
    return {
        "name": printable(f"{a.name} and {b.name}"),
        "words": words,
        "pictures": [picture],
    }


def _category_names(column: _Column, side: _Cells) -> str:
    """Names of the numbers of categories, where they are at hand."""
    if side.ends is not None:
        return ""
    known = [column.labels.get(float(code), "…") for code in side.codes[:MOST_CATEGORIES]]
    told = ", ".join(f"{number} {name}" for number, name in enumerate(known, start=1))
    rest = f", {side.number} all others" if len(side.codes) > MOST_CATEGORIES else ""
    return printable(f" Categories of {column.name}: {told}{rest}.")
