"""The rows that an explanation looks at: drawn at random, as numbers and as they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._types import Array, Index
from nosplit.data.frames import native_columns, values_of
from nosplit.errors import InputError
from nosplit.inference.result import TestResult

__all__ = [
    "FEWEST_ROWS",
    "Coded",
    "Sampled",
    "categorical_of",
    "draw_rows",
    "encoded",
    "group_names",
    "rows_held",
    "rows_one_by_one",
]

# Rows of a sample that are held, and numbers in them.
MOST_ROWS, MOST_NUMBERS = 250_000, 1 << 22
# Operations for the witness function at the rows that are looked at one by one, and fewest of them.
MOST_OPERATIONS = 1e9
FEWEST_ROWS = 8


class Coded(NamedTuple):
    """A sample as the numbers that the test saw, of the rows that it used."""

    rows: NDArray[Any]
    kept: Index | None = None  # positions of these rows in the sample, if some were left out
    omitted: int = 0


def encoded(res: TestResult, sample: Any, name: str, smallest: int) -> Coded:
    """A sample as the numbers that the test saw."""
    if res.how.encoding is None:
        return Coded(check_sample(sample, name, smallest=smallest))
    rows = check_sample(res.how.encoding.encode(sample, name), name, smallest=smallest)
    kept = res.how.encoding.kept(sample, name)
    if kept.all():
        return Coded(rows)
    return Coded(rows, np.flatnonzero(kept), int(np.count_nonzero(~kept)))


def group_names(res: TestResult, width: int) -> dict[str, Sequence[int]]:
    """The columns of the encoded rows that belong to each named column."""
    if res.how.encoding is not None:
        names = (
            res.how.encoding.names
            if res.how.encoding.table
            else _numbered_columns(res.how.encoding.names)
        )
        return dict(zip(names, res.how.encoding.groups, strict=True))
    names = _numbered_columns(range(width))
    if len(names) != width:
        raise InputError(
            f"`x` and `y` must have the columns of `res`, {len(names)} of them, got {width}."
        )
    return {name: (i,) for i, name in enumerate(names)}


def _numbered_columns(positions: Iterable[object]) -> tuple[str, ...]:
    return tuple(f"column {i}" for i in positions)


def categorical_of(res: TestResult) -> frozenset[int]:
    """Columns of the encoded rows that hold categories."""
    return frozenset(() if res.how.encoding is None else res.how.encoding.categorical)


def rows_held(width: int) -> int:
    """Rows of a sample that are held at the most."""
    return min(MOST_ROWS, max(2000, MOST_NUMBERS // width))


def rows_one_by_one(most: int, width: int) -> int:
    """Rows of either sample that are looked at one by one: fewer of very wide ones."""
    return max(FEWEST_ROWS, min(most, int(np.sqrt(MOST_OPERATIONS / (4.0 * width)))))


def draw_rows(sample: Coded, rng: np.random.Generator) -> tuple[Index, NDArray[Any]]:
    """All rows in random order: their positions, and what is in them."""
    index = rng.choice(len(sample.rows), len(sample.rows), replace=False)
    rows = np.take(sample.rows, index, axis=0)
    check_finite(rows, "x` and `y")
    return index if sample.kept is None else sample.kept[index], rows


@dataclass(frozen=True, eq=False)
class Sampled:
    """Rows of one sample that were looked at.

    Attributes
    ----------
    index : array of int, shape (k,)
        Their positions in the sample, from 0.
    rows : array, shape (k, width)
        The numbers that the test saw.
    witness : array, shape (k,)
        The witness function there, each row left out of its own sample's mean.
    values : tuple of arrays, each (k,)
        The columns as they came, one array each.
    """

    index: Index
    rows: NDArray[Any]
    witness: Array
    values: tuple[NDArray[Any], ...]

    @classmethod
    def of(
        cls, res: TestResult, sample: Any, index: Index, rows: NDArray[Any], witness: Array
    ) -> Sampled:
        """Rows of a sample, with what was in them before they became numbers."""
        return cls(index, rows, witness, _as_came(res.how.encoding, sample, index))

    def none(self) -> Sampled:
        """No rows, of the same columns: those of a sample that keeps none."""
        values = tuple(column[:0] for column in self.values)
        return Sampled(self.index[:0], self.rows[:0], self.witness[:0], values)

    def row(self, place: int, names: Sequence[str]) -> dict[str, Any]:
        """The values of one of the rows, by the names of their columns."""
        values = (column[place] for column in self.values)
        return {name: _python_value(v) for name, v in zip(names, values, strict=True)}


def _as_came(encoding: Any, sample: Any, index: Index) -> tuple[NDArray[Any], ...]:
    """The columns that were tested, as they were given."""
    if encoding is None or not encoding.table:
        columns = check_sample(sample, "sample", finite=False)[index].T
        return tuple(columns if encoding is None else (columns[int(i)] for i in encoding.names))
    found, single, _ = native_columns(sample, "sample")
    by_name = {encoding.names[0]: found[0]} if single else {str(c.name): c for c in found}
    return tuple(values_of(by_name[name][index.tolist()]) for name in encoding.names)


def _python_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
