"""Tables of columns and of pairs of columns: p-values, separation and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from nosplit._checks import check_alpha, resolve
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.inference.change import Change
from nosplit.inference.effect import Correlation, Separation, plain_separation
from nosplit.inference.print import Printed, column_lines, columns_headline, columns_text
from nosplit.inference.questions import (
    DIFFER,
    NO_EVIDENCE,
    TOO_LITTLE_DATA,
    Verdict,
)
from nosplit.inference.rank import benjamini_hochberg, holm

__all__ = [
    "Adjustment",
    "ColumnTable",
    "ColumnTest",
    "ColumnTests",
    "PairTable",
    "PairTest",
    "column_rows",
]

Adjustment = Literal["max-T", "holm", "bh"]
# Ways to adjust p-values, and the attribute of a row that each is.
ADJUSTMENTS = {"max-T": "adjusted", "holm": "holm", "bh": "bh"}


@dataclass(frozen=True)
class ColumnTest:
    """The test of one column.

    Attributes
    ----------
    name : str
        Name of the column.
    statistic : float
        The evidence of the column, as -log of a p-value.
    pvalue : float
        Its own p-value.
    adjusted : float
        Adjusted for all columns by step-down max-T over the same permutations (Westfall, Young).
    holm, bh : float
        Adjusted by Holm, and by Benjamini and Hochberg.
    change : Change or None
        What changed, in numbers and in words.
    separation : Separation or None
        Balanced accuracy of the best rule on the column.
    """

    name: str
    statistic: float
    pvalue: float
    adjusted: float
    holm: float
    bh: float
    change: Change | None = None
    separation: Separation | None = None

    @property
    def size(self) -> float:
        """Separation of the column, by which columns are ordered; 0.5 if it is not known."""
        return 0.5 if self.separation is None else float(self.separation.size)

    @property
    def words(self) -> str:
        """The change in words, in the units of the column."""
        return "" if self.change is None else self.change.text

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        numbers = ("statistic", "pvalue", "adjusted", "holm", "bh")
        return {
            "column": self.name,
            **{name: getattr(self, name) for name in numbers},
            **plain_separation(self.separation),
            **(self.change or Change(words="")).to_dict(),
        }


@dataclass(frozen=True)
class PairTest:
    """The test of how two columns go together.

    Attributes
    ----------
    columns : tuple of str
        The two columns.
    pvalue, adjusted : float
        Its own p-value, and that adjusted for all pairs.
    change : Change or None
        What changed: rank correlations, in numbers and in words.
    accuracy : Separation or None
        Balanced accuracy of the best rule on both columns together.
    correlation : Correlation or None
        Of a column of x with one of y, in a test of independence: their rank correlation.
    """

    columns: tuple[str, str]
    pvalue: float
    adjusted: float
    change: Change | None = None
    accuracy: Separation | None = None
    correlation: Correlation | None = None

    @property
    def name(self) -> str:
        """Both names."""
        return " with ".join(self.columns)

    @property
    def words(self) -> str:
        """The change, or the dependence, in words."""
        if self.correlation is not None:
            absent = self.correlation.absent
            return "not monotone" if absent else f"correlation {self.correlation.words[0]}"
        return "" if self.change is None else self.change.text

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        shown = (None, None, None) if self.accuracy is None else self.accuracy.shown
        keys = ("accuracy", "accuracy_low", "accuracy_high")
        return {
            "columns": list(self.columns),
            "pvalue": self.pvalue,
            "adjusted": self.adjusted,
            **dict(zip(keys, shown, strict=True)),
            "words": self.words,
            "dependence": None if self.change is None else self.change.dependence,
            "correlation": None if self.correlation is None else asdict(self.correlation),
        }


R = TypeVar("R", ColumnTest, PairTest)


@dataclass(frozen=True, eq=False, repr=False)
class _Table(Printed, Generic[R]):
    """Rows, and the p-value of the test as a whole; None if rows are tested by themselves.

    Nothing is listed as differing unless the test as a whole rejects.
    """

    rows: tuple[R, ...] = ()
    joint: float | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return tuple(row.name for row in self.rows)

    @property
    def pvalues(self) -> Array:
        """P-values of the rows by themselves."""
        return np.array([row.pvalue for row in self.rows])

    @property
    def adjusted(self) -> Array:
        """P-values adjusted for all rows by step-down max-T."""
        return np.array([row.adjusted for row in self.rows])

    def _rejects(self, alpha: float) -> bool:
        return self.joint is None or self.joint <= check_alpha(alpha)

    def to_records(self) -> list[dict[str, Any]]:
        """One dictionary of plain values for each row."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"rows": self.to_records()}


@dataclass(frozen=True, eq=False, repr=False)
class ColumnTable(_Table[ColumnTest]):
    """The tests of all columns. It has a length, iterates, and gives a row by its name."""

    @property
    def holm(self) -> Array:
        """P-values adjusted by Holm."""
        return np.array([row.holm for row in self.rows])

    @property
    def bh(self) -> Array:
        """P-values adjusted by Benjamini and Hochberg."""
        return np.array([row.bh for row in self.rows])

    def __getitem__(self, name: str | int) -> ColumnTest:
        if str(name) not in self.names:
            raise InputError(f"there is no column {name!r}; there are {len(self.rows):,} others.")
        return self.rows[self.names.index(str(name))]

    def held(self, alpha: float = 0.05, adjustment: Adjustment = "max-T") -> list[ColumnTest]:
        """The columns that differ, the largest separation first; see `differing`."""
        by = resolve(adjustment, ADJUSTMENTS, "adjustment")
        if not self._rejects(alpha):
            return []
        held = [row for row in self.rows if getattr(row, by) <= check_alpha(alpha)]
        return sorted(held, key=lambda row: (-row.size, getattr(row, by)))

    def differing(self, alpha: float = 0.05, adjustment: Adjustment = "max-T") -> tuple[str, ...]:
        """Names of the columns that differ, the largest separation first.

        Parameters
        ----------
        alpha : float, default 0.05
            Level for all columns together.
        adjustment : {"max-T", "holm", "bh"}, default "max-T"
            "max-T" and "holm": the probability that any column is named by mistake is at most
            alpha; "holm" holds for any dependence. "bh": on average at most a share alpha of the
            columns named is named by mistake.
        """
        return tuple(row.name for row in self.held(alpha, adjustment))

    def __repr__(self) -> str:
        return f"ColumnTable({len(self.rows)} columns, {len(self.held())} differ)"

    def __str__(self) -> str:
        return "\n".join(column_lines(self, 0.05, "max-T"))


@dataclass(frozen=True, eq=False, repr=False)
class PairTable(_Table[PairTest]):
    """Pairs of columns that differ or nearly so: adjusted p-values up to .1.

    In a test of independence all pairs of a column of x and a column of y.
    """

    def held(self, alpha: float = 0.05) -> list[PairTest]:
        """The pairs that differ, the strongest evidence first."""
        held = [row for row in self.rows if self._rejects(alpha) and row.adjusted <= alpha]
        return sorted(held, key=lambda row: (row.adjusted, row.pvalue))

    def differing(self, alpha: float = 0.05) -> tuple[tuple[str, str], ...]:
        """Names of the pairs that differ, the strongest evidence first."""
        return tuple(row.columns for row in self.held(alpha))

    def __repr__(self) -> str:
        return f"PairTable({len(self.rows)} pairs, {len(self.held())} differ)"


@dataclass(frozen=True, eq=False, repr=False)
class ColumnTests(ColumnTable):
    """Tests of all columns by themselves, made by `nosplit.column_tests`. It holds no rows.

    Attributes
    ----------
    rows : tuple of ColumnTest
        One for each column.
    how : How
        The procedure, as in `TestResult`.
    alpha : float
        The level of the printed table.
    warnings, notes : tuple of str
        As in `TestResult`.
    """

    how: Any = None
    alpha: float = 0.05
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def verdict(self, alpha: float | None = None) -> Verdict:
        """Return "differ" if any column does, else "no evidence" or "too little data"."""
        level = self.alpha if alpha is None else check_alpha(alpha)
        if self.differing(level):
            return DIFFER
        return NO_EVIDENCE if self.how.smallest_pvalue <= level else TOO_LITTLE_DATA

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "verdict": self.verdict(),
            "alpha": self.alpha,
            "differing": list(self.differing(self.alpha)),
            "columns": self.to_records(),
            "how": self.how.to_dict(),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return columns_headline(self, self.alpha, "max-T")

    def __str__(self) -> str:
        return columns_text(self, self.alpha, "max-T")

    def summary(self, alpha: float | None = None, adjustment: Adjustment = "max-T") -> str:
        """The printed table at another level, or adjusted in another way."""
        return columns_text(self, self.alpha if alpha is None else check_alpha(alpha), adjustment)


def column_rows(
    names: Sequence[str],
    statistics: Sequence[float],
    pvalues: Array,
    adjusted: Array,
    changes: Sequence[Change | None],
    separations: Sequence[Separation | None],
) -> tuple[ColumnTest, ...]:
    """Make the rows of all columns, adjusted together."""
    if not len(names):
        return ()
    numbers = np.stack([statistics, pvalues, adjusted, holm(pvalues), benjamini_hochberg(pvalues)])
    parts = zip(names, *numbers.tolist(), changes, separations, strict=True)
    return tuple(ColumnTest(*own) for own in parts)
