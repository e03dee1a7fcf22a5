"""Explanations of a difference, and how they print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_int
from nosplit._old.describe.attribution import ColumnEffect
from nosplit._old.describe.effect import Effect, KernelEffect
from nosplit._old.describe.rows import Sampled, encoded
from nosplit._text import printable, wrapped
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.inference.effect import Separation
from nosplit.inference.print import said_p
from nosplit.inference.result import TestResult
from nosplit.kernels import Combination

__all__ = ["MOST_LINES", "Explanation", "Row", "TopRows"]

# Columns and rows that a summary lists.
MOST_LINES, MOST_TOP = 8, 3


@dataclass(frozen=True)
class Row:
    """A row of a sample: its position from 0, the witness function there, and its values."""

    index: int
    witness: float
    values: dict[str, Any]


class TopRows(NamedTuple):
    """The rows that the witness function separates most: of x its highest, of y its lowest."""

    x: tuple[Row, ...]
    y: tuple[Row, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The difference between two samples, described by `explain`; it tests nothing.

    Attributes
    ----------
    result : TestResult
        The result that is explained.
    effect : Effect
        The size of the difference, which does not grow with the samples.
    kernel : Combination
        The learned kernel, k = Σ β*_u k_u, which can be evaluated (`kernel.tile(a, b)`). It is
        scaled so that the noise of one pair of units is 1: mean k(x, x') + k(y, y') - 2 k(x, y) is
        `effect.learned`.
    kernels : tuple of KernelEffect
        MMD² of each base kernel with its standard error.
    columns : tuple of ColumnEffect
        How much of the learned statistic each column carries, in the order of the columns.
    function : callable
        The witness function of rows of numbers as the test saw them, not centred: of all rows
        where samples are large, of those looked at one by one where they are not.
    level : float
        What is taken off the witness function, so that 0 is midway between the samples.
    x, y : Sampled
        The rows that were looked at, with the witness function there.
    n_seen, n_rows : int
        Rows that the signal rests on, and rows that were given, of both samples.
    n_moved : int
        Rows that the shares of columns rest on, of both samples.
    """

    result: TestResult
    effect: Effect
    kernel: Combination
    kernels: tuple[KernelEffect, ...]
    columns: tuple[ColumnEffect, ...]
    function: Callable[[NDArray[Any]], Array]
    level: float
    x: Sampled
    y: Sampled
    n_seen: int
    n_rows: int
    n_moved: int

    @property
    def of_profile(self) -> bool:
        """Whether one of the samples was a profile, of which no rows are known."""
        return min(len(self.x.index), len(self.y.index)) == 0

    def witness(self, points: Any) -> Array:
        """The witness function: mean of k(x, point) over rows of x minus the same for y, centred.

        It is positive where x is denser than y, seen through the learned kernel. A constant is
        taken off, so that its means over the two samples differ in their sign alone: weights may be
        of any sign, and the constant part of a kernel moves all points alike.

        Parameters
        ----------
        points : array_like, shape (k, p), or a table with the same columns
            Where to evaluate it.

        Returns
        -------
        array, shape (k,)
            NaN for rows that the test would leave out because something is missing.
        """
        coded = encoded(self.result, points, "points", smallest=0)
        rows = coded.rows
        if rows.shape[1] != self.x.rows.shape[1]:
            raise InputError(
                f"`points` must have {self.x.rows.shape[1]} columns, got {rows.shape[1]}."
            )
        found = self.function(rows) - self.level
        if coded.kept is None:
            return found
        whole = np.full(len(rows) + coded.omitted, np.nan)
        whole[coded.kept] = found
        return whole

    @property
    def accuracy(self) -> Separation | None:
        """Balanced accuracy of a rule that sees all columns together."""
        return self.effect.accuracy

    def ranked(self) -> tuple[ColumnEffect, ...]:
        """The columns, those that carry most first, less what may be noise."""
        return tuple(sorted(self.columns, key=lambda column: -column.low))

    def top_rows(self, k: int = 5) -> TopRows:
        """The k rows of either sample that the witness function separates most.

        These are rows of x where it is highest, and rows of y where it is lowest, among the rows
        that were looked at.

        Parameters
        ----------
        k : int
            Rows of each sample; all there are if there are fewer.

        Returns
        -------
        TopRows
        """
        k = check_int(k, "k", least=1)
        names = [column.name for column in self.columns]
        return TopRows(_top(self.x, k, names, -1.0), _top(self.y, k, names, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; of the rows only their positions, not what is in them."""
        top = self.top_rows()
        return {
            "descriptive": True,
            "effect": self.effect.to_dict(),
            "kernels": [kernel._asdict() for kernel in self.kernels],
            "columns": [column._asdict() for column in self.columns],
            "top_rows": {
                name: [{"index": row.index, "witness": row.witness} for row in rows]
                for name, rows in (("x", top.x), ("y", top.y))
            },
            "rows_looked_at": [len(self.x.index), len(self.y.index)],
            "rows_seen": self.n_seen,
            "rows_moved": self.n_moved,
            "rows_given": self.n_rows,
        }

    def __repr__(self) -> str:
        names = ", ".join(printable(column.name) for column in self.ranked()[:3])
        return f"Explanation(effect={self.effect.crossfitted:.3g}, columns={names})"

    def __str__(self) -> str:
        lines = [*self._head(), *self._column_lines(), *self._row_lines()]
        return "\n".join([*lines, *(_SUMS_NOTE if self.of_profile else ()), *_NOTE])

    def _repr_html_(self) -> str:
        """Say it in notebooks, how large in bold."""
        first, rest = str(self).split("\n", 1)
        return f"<div><strong>{escape(first)}</strong>\n<pre>{escape(rest)}</pre></div>"

    def _head(self) -> list[str]:
        effect, res = self.effect, self.result
        lines = []
        if not res.reject():
            lines = wrapped(
                f"The test found no evidence of a difference ({said_p(res.log_pvalue)}): "
                "what follows may be chance.",
                "",
            )
        learned = f"{effect.learned:.3g} ± {effect.learned_error:.1g}"
        crossed = f"{effect.crossfitted:.3g} ± {effect.crossfitted_error:.1g}"
        together = []
        if effect.accuracy is not None:
            together.append(f"  accuracy   {effect.accuracy.words} from all columns together")
        return [
            *lines,
            f"A {effect.words} difference (50 % = chance)",
            f"  separation {effect.largest.words} by {printable(effect.separation_by)}",
            *together,
            "  signal     of one pair of rows, in units of its noise; it does not grow with n",
            f"             {learned} as learned, {crossed} on rows not learned from",
        ]

    def _column_lines(self) -> list[str]:
        shown = self.ranked()[:MOST_LINES]
        lines = ["  columns    share    ±" + "   lost  alone" * (not self.of_profile)]
        lines += [f"             {_percents(c)}  {_short(c.name)}" for c in shown]
        if len(self.columns) > MOST_LINES:
            lines.append(f"             and {len(self.columns) - MOST_LINES} that carry less")
        return lines

    def _row_lines(self) -> list[str]:
        top = self.top_rows(MOST_TOP)
        seen = len(self.x.index) + len(self.y.index)
        some = wrapped(
            f"  looked at  {self.n_seen:,} of {self.n_rows:,} rows for the signal, "
            f"{self.n_moved:,} for the columns, {seen:,} one by one",
            " " * 13,
        )
        return some * (seen < self.n_rows) + [
            f"  rows       most like {name} alone: "
            + (", ".join(f"{row.index} ({row.witness:+.2g})" for row in rows) or "none is kept")
            for name, rows in (("x", top.x), ("y", top.y))
        ]


_SUMS_NOTE = [
    "  A profile holds sums and no rows: shares are what columns show alone, and what columns show",
    "  only together is in none of them.",
]
_NOTE = ["  This describes what the test learned. It has no p-values, and is no test of a column."]


def _top(sample: Sampled, k: int, names: list[str], sign: float) -> tuple[Row, ...]:
    order = np.argsort(sign * sample.witness, kind="stable")[:k]
    return tuple(
        Row(int(sample.index[i]), float(sample.witness[i]), sample.row(int(i), names))
        for i in order
    )


def _percents(column: ColumnEffect) -> str:
    scale = column.share / column.carried if column.carried else 0.0
    parts = (column.error, scale * (column.lost or 0.0), scale * column.alone)
    error, lost, alone = (round(100 * part) + 0 for part in parts)
    both = "" if column.lost is None else f" {lost:6d} {alone:6d}"
    return f"{column.percent:4d} % {error:4d}{both}"


def _short(name: str) -> str:
    return printable(name if len(name) <= 40 else name[:39] + "…")
