"""Results of a test of every column, and what holds for all of them together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from nosplit._support.checks import check_alpha, resolve
from nosplit._support.pvalues import format_p
from nosplit._support.terminal import indented, printable
from nosplit._support.types import Array, Index
from nosplit.errors import InputError
from nosplit.inference.calibrations import SERIES
from nosplit.inference.change import Change, Described
from nosplit.inference.columns.adjusting import benjamini_hochberg, holm
from nosplit.inference.effect import Separation, plain_separation
from nosplit.inference.printed import EXACT_FOR
from nosplit.inference.questions import (
    DIFFER,
    NO_EVIDENCE,
    TOO_LITTLE,
    TOO_LITTLE_DATA,
    Verdict,
)

__all__ = ["ColumnTest", "ColumnTests", "tests_of"]

# Ways to adjust p-values, and the attribute of a row that each is.
METHODS = {"max-T": "adjusted", "holm": "holm", "bh": "bh"}
SAID = {
    "max-T": "for all of them together, step-down max-T",
    "holm": "for all of them together, Holm",
    "bh": "rate of false discoveries, Benjamini-Hochberg",
}
# Lines that are printed, and characters of a name in them.
MOST_LINES, LONGEST = 30, 32
HEADS = ("column", "p", "adjusted", "Holm", "separation", "what changed")


@dataclass(frozen=True)
class ColumnTest(Described):
    """The test of one column, or of one pair of columns.

    Attributes
    ----------
    name : str
        Name of the column; "a × b" for a pair.
    columns : tuple of str
        The column, or the two of a pair.
    statistic : float
        How far the best of its statistics lies beyond what chance gives, as a normal score.
    pvalue : float
        Its own p-value: exact over the draws of the test that it comes from.
    adjusted : float
        Adjusted for all columns by step-down max-T over the same draws (Westfall and Young).
    holm, bh : float
        Adjusted by Holm, and by Benjamini and Hochberg.
    n_resamples : int
        Permutations on which `pvalue` rests.
    change : Change or None
        What changed, in numbers that do not grow with the number of rows, and in words.
    separation : Separation or None
        Balanced accuracy of the best rule on the column; None for pairs.
    """

    name: str
    columns: tuple[str, ...]
    statistic: float
    pvalue: float
    adjusted: float
    holm: float
    bh: float
    n_resamples: int
    change: Change | None = None
    separation: Separation | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        change = self.change or Change(words="")
        return {
            "column": self.name,
            "columns": list(self.columns),
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "adjusted": self.adjusted,
            "holm": self.holm,
            "bh": self.bh,
            "n_resamples": self.n_resamples,
            **plain_separation(self.separation),
            **change.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class ColumnTests:
    """Tests of all columns, made by `nosplit.column_tests`. It holds no data.

    It has a length, iterates over its rows in the order of the columns, and gives one by its name:
    `tests["age"].adjusted`.

    Attributes
    ----------
    rows : tuple of ColumnTest
        One for each column, then one for each pair of columns, if those were asked for.
    alpha : float
        The level that printing is for, and that the draws are enough for.
    n_resamples, most_resamples : int
        Permutations of all columns, and of those whose p-values are small.
    calibration : str
        "exact", or "series" if blocks of consecutive rows were permuted.
    n_used, n_left_out : int
        Rows that were used and that were not, both samples together.
    warnings, notes : tuple of str
        What to know before relying on it, and what was done to columns without being asked for.
    reference : str or None
        What the sample was compared with, where that was a profile.
    smallest_pvalue, seed
        As in `TestResult`.
    """

    rows: tuple[ColumnTest, ...]
    alpha: float
    n_resamples: int
    most_resamples: int
    calibration: str
    n_used: int
    n_left_out: int = 0
    warnings: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())
    reference: str | None = None
    smallest_pvalue: float = 0.0
    seed: int | None = None

    # -- columns of the table --------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, and of pairs of them."""
        return tuple(row.name for row in self.rows)

    @property
    def statistics(self) -> Array:
        """Statistics: how far each column lies beyond what chance gives."""
        return np.array([row.statistic for row in self.rows])

    @property
    def pvalues(self) -> Array:
        """Their own p-values."""
        return np.array([row.pvalue for row in self.rows])

    @property
    def adjusted(self) -> Array:
        """Adjusted by step-down max-T."""
        return np.array([row.adjusted for row in self.rows])

    @property
    def holm(self) -> Array:
        """Adjusted by Holm."""
        return np.array([row.holm for row in self.rows])

    @property
    def bh(self) -> Array:
        """Adjusted by Benjamini and Hochberg."""
        return np.array([row.bh for row in self.rows])

    @property
    def effects(self) -> tuple[Change | None, ...]:
        """Changes of all columns."""
        return tuple(row.change for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ColumnTest]:
        return iter(self.rows)

    def __getitem__(self, name: str | int) -> ColumnTest:
        if str(name) not in self.names:
            raise InputError(f"there is no column {name!r}; there are {len(self.rows):,} others.")
        return self.rows[self.names.index(str(name))]

    def table(self) -> dict[str, list[Any]]:
        """Lists of equal length, one for each key of a row: `pandas.DataFrame(tests.table())`."""
        rows = [row.to_dict() for row in self.rows]
        return {key: [row[key] for row in rows] for key in rows[0]}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": [row.to_dict() for row in self.rows],
            "differing": list(self.differing()),
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "most_resamples": self.most_resamples,
            "calibration": self.calibration,
            "n_used": self.n_used,
            "n_left_out": self.n_left_out,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "reference": self.reference,
            "smallest_pvalue": self.smallest_pvalue,
            "seed": self.seed,
            "verdict": self.verdict(),
        }

    # -- what holds ------------------------------------------------------------------------------

    def differing(self, alpha: float | None = None, method: str = "max-T") -> tuple[str, ...]:
        """Names of the columns that differ, those with the largest separation first.

        Pairs are named where neither of their columns is: a changed dependence of columns that
        are unchanged themselves.

        Parameters
        ----------
        alpha : float, optional
            Level; that of the tests by default.
        method : {"max-T", "holm", "bh"}
            "max-T": the probability that any column is named which does not differ is at most
            alpha, as long as those that do not differ agree jointly. "holm": the same in every
            case. "bh": of the columns named, at most a share alpha do not differ, on average, if
            columns do not depend on one another too strangely.
        """
        return tuple(row.name for row in self._held(self._level(alpha), method))

    def verdict(self, alpha: float | None = None) -> Verdict:
        """Return "differ" if any column does, else "no evidence" or "too little data"."""
        level = self._level(alpha)
        if self.differing(level):
            return DIFFER
        return NO_EVIDENCE if self.smallest_pvalue <= level else TOO_LITTLE_DATA

    def _held(self, alpha: float, method: str) -> list[ColumnTest]:
        of = resolve(method, METHODS, "method")
        held = [row for row in self.rows if getattr(row, of) <= alpha]
        single = {row.name for row in held if len(row.columns) == 1}
        shown = [r for r in held if len(r.columns) == 1 or not single & set(r.columns)]
        return sorted(shown, key=lambda row: (-row.size, getattr(row, of)))

    def _level(self, alpha: float | None) -> float:
        return self.alpha if alpha is None else check_alpha(alpha)

    # -- text ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"ColumnTests({len(self.rows)} rows, {len(self.differing())} differ)"

    def __str__(self) -> str:
        return self.summary()

    def summary(self, alpha: float | None = None, method: str = "max-T") -> str:
        """The columns that differ at level alpha, in words and as a table."""
        level = self._level(alpha)
        lines, left = self._lines(level, method)
        # All but the last column are as wide as their widest cell.
        wide = [max(map(len, cells)) for cells in zip(HEADS, *lines, strict=True)]
        text = [self._verdict(level, method)]
        for line in (HEADS, *lines):
            cells = "  ".join(cell.ljust(w) for cell, w in zip(line[:-1], wide, strict=False))
            text.append(indented(f"  {cells}  ", line[-1]) if line[-1] else f"  {cells}".rstrip())
        if left:
            text.append(f"  and {left:,} more that do not")
        text.append(indented("  tested   ", self._how()))
        text += [indented("  note     ", printable(note)) for note in self.notes]
        text += [indented("  warning  ", warning) for warning in self.warnings]
        return "\n".join(text)

    def _verdict(self, alpha: float, method: str) -> str:
        if self.verdict(alpha) == TOO_LITTLE_DATA:
            least = format_p(math.log(self.smallest_pvalue))
            return f"{TOO_LITTLE} (p ≥ {least} whatever the data, level {alpha:g})."
        held = self._held(alpha, method)
        total = sum(len(row.columns) == 1 for row in self.rows)
        count = sum(len(row.columns) == 1 for row in held)
        level = f"level {alpha:g} {SAID[method]}"
        first = f"{count:,} of {total:,} columns differ" if count else "No column differs by itself"
        if len(held) == count:
            return f"{first} ({level})."
        pairs = "a pair of them does" if len(held) == count + 1 else f"{len(held) - count} pairs do"
        return f"{first}, and {pairs} with unchanged columns ({level})."

    def _lines(self, alpha: float, method: str) -> tuple[list[tuple[str, ...]], int]:
        """Cells of the lines that are printed, and how many are not: those held come first."""
        held = self._held(alpha, method)
        known = {row.name for row in held}
        rest = [r for r in self.rows if r.name not in known and len(r.columns) == 1]
        shown = [*held, *sorted(rest, key=lambda row: row.pvalue)][: max(len(held), MOST_LINES)]
        return [_table_cells(r, r.name in known) for r in shown], len(held) + len(rest) - len(shown)

    def _how(self) -> str:
        more = ""
        if self.most_resamples > self.n_resamples:
            more = f", up to {self.most_resamples:,} where p is small"
        how = f"{EXACT_FOR} {'blocks' if self.calibration == SERIES else 'rows'}, "
        left = f", {self.n_left_out:,} left out" if self.n_left_out else ""
        against = f", compared with {self.reference}" if self.reference else ""
        return (
            f"{how}{self.n_resamples:,} random draws of all columns{more}; "
            f"{self.n_used:,} rows used{left}{against}"
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        lines, left = self._lines(self.alpha, "max-T")
        heads = "".join(f"<th>{escape(head)}</th>" for head in HEADS)
        body = "".join(_html(line) for line in lines)
        more = f"<p>and {left:,} more that do not</p>" if left else ""
        verdict = escape(self._verdict(self.alpha, "max-T"))
        return (
            f"<div><strong>{verdict}</strong><table><thead><tr>{heads}</tr></thead>"
            f"<tbody>{body}</tbody></table>{more}<p>{escape(self._how())}</p></div>"
        )


def _html(line: Sequence[str]) -> str:
    cells = [escape(cell) for cell in line]
    if cells[-1]:
        cells[-1] = f"<strong>{cells[-1]}</strong>"
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _table_cells(row: ColumnTest, held: bool) -> tuple[str, ...]:
    name = printable(row.name)
    apart = "" if row.separation is None else row.separation.words
    return (
        name if len(name) <= LONGEST else name[: LONGEST - 1] + "…",
        *(format_p(math.log(p)) for p in (row.pvalue, row.adjusted, row.holm)),
        apart,
        row.words if held else "",
    )


def tests_of(
    columns: Sequence[tuple[str, ...]],
    statistics: Array,
    pvalues: Array,
    adjusted: Array,
    draws: Index,
    changes: Sequence[Change | None],
    separations: Sequence[Separation | None],
) -> tuple[ColumnTest, ...]:
    """Rows of all columns, adjusted together."""
    numbers = np.stack([statistics, pvalues, adjusted, holm(pvalues), benjamini_hochberg(pvalues)])
    apart = [*separations, *[None] * (len(columns) - len(separations))]  # pairs have none
    parts = zip(columns, *numbers.tolist(), draws.tolist(), changes, apart, strict=True)
    return tuple(ColumnTest(" × ".join(own), own, *rest) for own, *rest in parts)
