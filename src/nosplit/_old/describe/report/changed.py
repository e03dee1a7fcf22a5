"""The table that a report begins with: what changed, column by column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nosplit._old.describe.report.columns import shorten
from nosplit.inference.change import Change, Distance, percent
from nosplit.inference.columns import ColumnTest
from nosplit.inference.print import format_p, said_p
from nosplit.inference.result import TestResult

__all__ = ["ChangedLine", "what_changed"]

# Columns in the table.
MOST_LINES = 50


@dataclass(frozen=True)
class ChangedLine:
    """A column that differs, in the table of what changed."""

    name: str
    words: str
    missing: str
    separation: str
    adjusted: str


def what_changed(res: TestResult, alpha: float, private: bool) -> dict[str, Any] | None:
    """The columns that differ, the largest separation first; None if none was looked at.

    If `private`, without values of rows: no medians, and no names of categories.
    """
    if not res.columns:
        return None
    tests = res.columns
    held = tests.held(alpha)
    lines = [_line(row, private) for row in held[:MOST_LINES]]
    return {
        "words": _words_on_columns(len(held), len(tests), alpha)
        + _words_on_pairs(res.together(alpha))
        + _words_on_distances(_distance_alone(res, alpha)),
        "lines": lines,
        "missing": any(line.missing for line in lines),
        "more": len(held) - len(lines),
    }


def _words_on_columns(held: int, total: int, alpha: float) -> str:
    if not held:
        return (
            f"No column differs by itself at level {alpha:g}. A difference may still be in how "
            "columns go together."
        )
    others = total - held
    none = "shows none by itself" if others == 1 else "show none by themselves"
    rest = f"{others:,} of {total:,} columns {none}. " * (others > 0)
    return (
        f"Columns with a difference of their own, the largest first. {rest}The p-values hold for "
        "all columns together. Separation: how often the best rule on the column alone assigns a "
        "row to the right sample, with a 95 % interval; 50 % is chance."
    )


def _words_on_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Say which columns go together in another way than before."""
    if not pairs:
        return ""
    named = "; ".join(" with ".join(map(shorten, pair)) for pair in pairs[:MOST_LINES])
    more = f"; and {len(pairs) - MOST_LINES} more" if len(pairs) > MOST_LINES else ""
    return f" How these go together differs, while neither does by itself: {named}{more}."


def _distance_alone(res: TestResult, alpha: float) -> Distance | None:
    """Distances from the middle, if they differ and no column does by itself."""
    found = res.distance
    if found is None or not res.reject(alpha) or res.columns.differing(alpha):
        return None
    return found if found.pvalue <= alpha else None


def _words_on_distances(found: Distance | None) -> str:
    """Say that rows of one sample lie farther from the middle, or more differently far."""
    return (
        ""
        if found is None
        else f" All columns together: {found.words} ({said_p(math.log(found.pvalue))})."
    )


def _line(row: ColumnTest, private: bool) -> ChangedLine:
    change = row.change or Change(words="")
    return ChangedLine(
        shorten(row.name),
        change.private().words if private else change.text,
        "" if change.missing is None else " → ".join(map(percent, change.missing)),
        "" if row.separation is None else row.separation.words,
        format_p(math.log(row.adjusted)),
    )
