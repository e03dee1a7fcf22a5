"""The parts of a page that need the data: how large a difference is, and what differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nosplit._old.describe.explanation import Explanation, Row
from nosplit._old.describe.report.columns import (
    Line,
    cell,
    column_figure,
    line,
    share_of,
    shorten,
)
from nosplit._old.describe.report.context import PageChoices
from nosplit._old.describe.report.samples import Data, ShownSample
from nosplit._text import printable

__all__ = ["differs", "effect"]

# Columns in the table, those drawn, and those shown of a row.
MOST_LINES, MOST_FIGURES, MOST_CELLS = 20, 8, 8
# Rows of either sample.
MOST_ROWS = 5
SUMS_ONLY = (
    "One sample is a profile, which holds sums and no rows. So shares are what columns show alone: "
    "what they show only together is in none."
)
CHANCE = "The test found no evidence of a difference: what follows may be chance."


def effect(told: Explanation, page: PageChoices, data: Data | None) -> dict[str, Any]:
    """The size of the difference, in numbers that do not grow with the samples.

    Without rows of both samples, because one is a profile, there is no data.
    """
    size = told.effect
    words = [
        (
            f"By the usual yardsticks, a {size.words} difference. Separation: how often the best "
            "rule on a single column assigns a row to the right sample, judged by rows it was not "
            "learned from, with a 95 % interval; 50 % is chance. The largest is that of "
            f"{printable(size.separation_by)}."
        ),
        (
            "The size does not grow with the number of rows, as the evidence does: with very many "
            "rows, even a difference too small to matter is found."
        ),
    ]
    if not told.result.reject(page.alpha):
        words.insert(0, CHANCE)
    if told.n_moved < told.n_rows:
        words.append(
            f"The signal rests on {told.n_seen:,} of {told.n_rows:,} rows, shares of columns on "
            f"{told.n_moved:,}, and the accuracy of all columns on some of them."
        )
    if told.of_profile:
        words.append(SUMS_ONLY)
    if data is not None and data.some:
        counts = " and ".join(f"{sample.n:,}" for sample in data.samples)
        words.append(
            "The samples are not held in memory: columns are drawn as they are in "
            f"{counts} of their rows, taken from many places."
        )
    facts = [
        ("Largest separation", size.largest.words),
        *([("Accuracy of all columns", size.accuracy.words)] if size.accuracy else []),
        ("Signal of one pair of rows", _with_error(size.crossfitted, size.crossfitted_error)),
        ("The same, as learned", _with_error(size.learned, size.learned_error)),
    ]
    return {
        "words": words,
        "facts": facts,
        "caption": "The squared distance between the samples as each kernel sees it (MMD²).",
        "kernels": [
            {"name": k.label, "value": f"{k.mmd2:.4g}", "error": f"{k.error:.2g}"}
            for k in told.kernels
        ],
    }


def _with_error(value: float, error: float) -> str:
    """A value to two digits of its error."""
    if not error > 0:
        return f"{value:.3g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def differs(told: Explanation, page: PageChoices, data: Data | None) -> dict[str, Any]:
    """The columns that carry the difference, and rows that stand out."""
    ranked = sorted(range(len(told.columns)), key=lambda i: -told.columns[i].low)
    shown = ranked[:MOST_CELLS]
    return {
        "words": _words_on_learned(told, page),
        "caption": _caption(len(ranked)),
        "described": data is not None,
        "rows": _top_rows(told, shown, page) if page.rows else [],
    } | _columns_shown(told, page, data, ranked)


def _columns_shown(
    told: Explanation, page: PageChoices, data: Data | None, ranked: Sequence[int]
) -> dict[str, Any]:
    """The columns in words and pictures; without data, their names and shares alone."""
    if data is None:
        names = [shorten(column.name) for column in told.columns]
        table = [Line(names[i], share_of(told.columns[i]), "", "") for i in ranked[:MOST_LINES]]
        return {
            "table": table,
            "figures": [],
            "row_names": [names[i] for i in ranked[:MOST_CELLS]],
        }
    samples, private = data.samples, not page.rows
    place = _places_explained(told, samples[0])
    return {
        "table": [line(place[i], told.columns[i], samples, private) for i in ranked[:MOST_LINES]],
        "figures": [
            column_figure(place[i], samples, page.labels, private) for i in ranked[:MOST_FIGURES]
        ],
        "row_names": [shorten(samples[0].names[place[i]]) for i in ranked[:MOST_CELLS]],
    }


def _places_explained(told: Explanation, sample: ShownSample) -> list[int]:
    """Positions of the explained columns in the sample: by name in a table, else by number."""
    encoding = told.result.how.encoding
    if encoding is None:
        return list(range(len(told.columns)))
    if not encoding.table:
        return list(map(int, encoding.names))
    return [sample.names.index(column.name) for column in told.columns]


def _words_on_learned(told: Explanation, page: PageChoices) -> list[str]:
    words = [
        (
            "This describes what the test learned. It has no p-values, and is no test of a single "
            "column."
        )
    ]
    if not told.result.reject(page.alpha):
        words.insert(0, CHANCE)
    if not page.rows:
        words.append("Rows and the names of categories are left out of this report.")
    return words


def _caption(count: int) -> str:
    listed = "" if count <= MOST_LINES else f" The {MOST_LINES} largest of {count:,} columns."
    return (
        "Share: how much of the difference a column carries. Shares need not add to 100 %, as "
        f"columns that say the same each carry it.{listed}"
    )


def _top_rows(told: Explanation, shown: Sequence[int], page: PageChoices) -> list[dict[str, Any]]:
    top = told.top_rows(MOST_ROWS)
    first, second = page.labels
    both = [
        _standing_out(first, (second, "highest"), top.x, shown),
        _standing_out(second, (first, "lowest"), top.y, shown),
    ]
    return [sample for sample in both if sample["rows"]]  # a profile has none


def _standing_out(
    label: str, words: tuple[str, str], rows: Sequence[Row], shown: Sequence[int]
) -> dict[str, Any]:
    other, end = words
    return {
        "label": label,
        "caption": f"Rows of {label} where it is dense and {other} is not: the witness function is "
        f"{end} there. Rows are counted from 0.",
        "rows": [
            {"index": row.index, "witness": f"{row.witness:+.3g}", "cells": _row_cells(row, shown)}
            for row in rows
        ],
    }


def _row_cells(row: Row, shown: Sequence[int]) -> list[str]:
    values = list(row.values.values())
    return [cell(np.array([values[i]]), 0) for i in shown]
