"""Describe what changed in columns: from their values in memory, or from counts of their bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.tensors import is_tensor
from nosplit._support.terminal import printable
from nosplit._support.types import Array, Index
from nosplit.data.tables.encoding import MISSING, Column, Encoding
from nosplit.data.tables.frames import (
    CATEGORIES,
    NUMBER,
    UNKNOWN,
    Raw,
    as_frame,
    code_of,
    native_columns,
)
from nosplit.inference.change import (
    Change,
    Counts,
    Distance,
    change_inside_strata,
    change_of_distances,
    change_of_pair,
    describe,
    mean_of_differences,
)
from nosplit.inference.effect import Separation, coarser_bins, separation_of_counts
from nosplit.inference.outcome import Outcome
from nosplit.sketch.bins import ColumnBins
from nosplit.sketch.columns.distances import squares

__all__ = ["SomeColumns", "changes_in_bins", "separations_in_bins", "with_changes"]

# Bins of a column of the rows, and rows of x and of y in them.
Binned = tuple[ColumnBins, Array]
# Categories whose codes are known without a table.
KNOWN = {code_of(True): "True", code_of(False): "False"}


# -- values in memory ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SomeColumns:
    """Columns of two tables or arrays, read when one is described."""

    samples: tuple[Any, Any]

    @classmethod
    def of(cls, x: Any, y: Any, names: Sequence[str]) -> SomeColumns:
        """Take some columns of two samples; no others of tensors are copied to memory."""
        if is_tensor(x) or is_tensor(y):
            places = [int(name) for name in names]
            x, y = (_some_of_array(sample, places, names) for sample in (x, y))
        return cls((x, y))

    def change(self, name: str) -> Change:
        """Describe what changed in a column."""
        raws, namer = self._read(name)
        table = Counts.of([raw.values for raw in raws], _kind(raws))
        return describe(table, namer and (lambda j: namer(float(table.values[j]))))

    def change_of_pairs(self, name: str) -> Change:
        """Describe paired rows: numbers by the mean of their differences."""
        raws, namer = self._read(name)
        change = self.change(name)
        words = None if namer else mean_of_differences(*(raw.values for raw in raws))
        if words is None or _kind(raws) != NUMBER:
            return change
        return replace(change, words=words, more=(), what="mean", discreet=words)

    def change_inside(self, name: str, strata: Index) -> Change:
        """Describe a column inside strata; rows of which the stratum is missing have -1."""
        raws, namer = self._read(name)
        both, kept = np.concatenate([raw.values for raw in raws]), strata >= 0
        n = int(np.count_nonzero(kept[: len(raws[0].values)]))
        sizes = n, int(np.count_nonzero(kept)) - n
        return change_inside_strata(both[kept], sizes, strata[kept], namer)

    def change_of_two(self, first: str, second: str) -> Change:
        """Describe how two columns go together."""
        both = self._read(first), self._read(second)
        if any(namer for _, namer in both):
            return change_of_pair(None)
        sides = list(zip(both[0][0], both[1][0], strict=True))
        kept = [~np.isnan(a.values) & ~np.isnan(b.values) for a, b in sides]
        sizes = [int(np.count_nonzero(own)) for own in kept]
        if min(sizes) < 2:
            return change_of_pair(None)
        parts = zip(sides, kept, strict=True)
        return change_of_pair([_dependence(a.values[k], b.values[k]) for (a, b), k in parts], sizes)

    def distance(self, pvalue: float, names: Sequence[str]) -> Distance:
        """Describe how far rows lie from the middle: by squared normal scores, added up.

        A missing number counts as the median of its column.
        """
        squared, n = np.zeros(0), 0
        for name in names:
            raws, namer = self._read(name)
            values, n = np.concatenate([raw.values for raw in raws]), len(raws[0].values)
            if namer is None and not np.isnan(values).all():
                values = np.where(np.isnan(values), np.nanmedian(values), values)
                places = np.rint(2.0 * _ranks(values) - 1.0).astype(np.int64)
                squared = (squared if squared.size else 0.0) + squares(len(values))[places]
        if not squared.size:
            return Distance(pvalue)
        return change_of_distances(pvalue, *np.split(np.sqrt(squared), [n]))

    def _read(self, name: str) -> tuple[list[Raw], Callable[[float], str] | None]:
        """Read a column of both, and the function that names its codes, if it has any."""
        x, y = self.samples
        sources = as_frame(x, "x"), as_frame(y, "y")
        places = [0 if s.single else s.names.index(name) for s in sources]
        raws = [s.read(i) for s, i in zip(sources, places, strict=True)]
        if not any(raw.kind in CATEGORIES for raw in raws):
            return raws, None
        natives = cache(lambda side: native_columns(self.samples[side], "sample").columns)
        values = [raw.values for raw in raws]
        return raws, lambda code: _category_name(code, values, natives, places)


def _some_of_array(sample: Any, places: Sequence[int], names: Sequence[str]) -> Any:
    """Some columns of a tensor or an array, and nothing in the place of the others."""
    rows = sample if sample.ndim == 2 else sample[:, None]
    some = rows[:, list(places)]
    some = some.detach().cpu().double().numpy() if is_tensor(some) else some
    whole = np.zeros((len(some), rows.shape[1]))
    whole[:, list(places)] = some
    return whole


def _kind(raws: Sequence[Raw]) -> str:
    """The kind of a column, of which one sample may hold missing values only."""
    return next((raw.kind for raw in raws if raw.kind != UNKNOWN), NUMBER)


def _ranks(values: Array) -> Array:
    """Ranks from 1 on; equal values have the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[place])


def _dependence(first: Array, second: Array) -> float:
    """Rank correlation; 0 if a column is constant."""
    a, b = (_ranks(values) - (len(values) + 1) / 2.0 for values in (first, second))
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


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


# -- counts of bins --------------------------------------------------------------------------------


def with_changes(
    outcome: Outcome, bins: Sequence[ColumnBins], counts: Array, encoding: Encoding | None
) -> Outcome:
    """Add to an outcome how each column changed, by rows in folds and bins, (2, folds, Q)."""
    if not outcome.columns:
        return outcome
    told = zip(outcome.columns, changes_in_bins(bins, counts.sum(axis=1), encoding), strict=True)
    outcome = replace(outcome, columns=tuple(replace(c, change=change) for c, change in told))
    return outcome.separated(separations_in_bins(bins, counts, encoding))


def separations_in_bins(
    bins: Sequence[ColumnBins], counts: Array, encoding: Encoding | None
) -> list[Separation | None]:
    """Estimate the separation of each column, by rows in folds and bins, (2, folds, Q)."""
    starts = np.concatenate([[0], np.cumsum([len(own) for own in bins])])
    parts = np.split(counts, starts[1:-1], axis=2)
    if encoding is None:
        return [separation_of_counts(coarser_bins(own)) for own in parts]
    columns = zip(encoding.columns, encoding.groups, strict=True)
    return [
        separation_of_counts(
            parts[group[0]]
            if column.categorical
            else _missing_apart([(bins[j], parts[j]) for j in group], column)
        )
        for column, group in columns
    ]


def _missing_apart(own: Sequence[Binned], column: Column) -> Array:
    """Move missing values from the bin of the number that fills them to one of their own."""
    bins, counts = own[0]
    if len(own) == 1:
        return coarser_bins(counts)
    indicator, gone = own[1]
    gone = gone[:, :, np.append(indicator.edges, np.nan) == 1.0].sum(axis=2)
    counts = counts.copy()
    filled = np.searchsorted(bins.edges, (column.fill - column.center) / column.scale)
    counts[:, :, filled] = np.maximum(counts[:, :, filled] - gone, 0.0)
    return np.concatenate([coarser_bins(counts), gone[:, :, None]], axis=2)


def changes_in_bins(
    bins: Sequence[ColumnBins], counts: Array, encoding: Encoding | None
) -> list[Change]:
    """Describe what changed in each column, by counts of rows of x and of y in its bins."""
    starts = np.concatenate([[0], np.cumsum([len(own) for own in bins])])
    both = list(zip(bins, np.split(counts, starts[1:-1], axis=1), strict=True))
    if encoding is None:
        return [_change_of_numbers(both[j : j + 1], Column("", NUMBER)) for j in range(len(bins))]
    columns = zip(encoding.columns, encoding.groups, strict=True)
    return [_change_of_column([both[j] for j in group], column) for column, group in columns]


def _change_of_column(own: Sequence[Binned], column: Column) -> Change:
    if not column.categorical:
        return _change_of_numbers(own, column)
    bins, counts = own[0]
    codes = np.append(bins.edges, np.nan)
    gone = codes == MISSING
    table = Counts(codes[~gone], counts[:, ~gone], counts[:, gone].sum(axis=1), column.kind)
    return describe(table, lambda j: KNOWN.get(float(table.values[j]), "a category"))


def _change_of_numbers(own: Sequence[Binned], column: Column) -> Change:
    """Describe what changed in numbers; those that are missing were counted as `fill`."""
    bins, counts = own[0]
    missing = np.zeros(2)
    if len(own) > 1:
        indicator, marked = own[1]  # a row whose value is missing has the code 1
        missing = marked[:, np.append(indicator.edges, np.nan) == 1.0].sum(axis=1)
        counts = counts.copy()
        counts[:, np.searchsorted(bins.edges, (column.fill - column.center) / column.scale)] -= (
            missing
        )
    values, upper, single = _values_of(bins.edges, column)
    table = Counts(values, np.maximum(counts, 0.0), missing, column.kind, single, upper)
    return describe(table.present())


def _values_of(edges: Array, column: Column) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Values that stand for bins, their largest values, and whether a bin holds one value only.

    A value that many rows share has a bin of its own, from the next smaller float on.
    """
    if not len(edges):
        return np.zeros(1), np.zeros(1), np.zeros(1, np.bool_)
    shared = np.append(edges[:-1] == np.nextafter(edges[1:], -np.inf), False)
    units = edges * column.scale + column.center
    near = np.rint(units)  # whole numbers come back from their scale with rounding
    units = np.where(np.abs(units - near) <= 1e-9 * np.maximum(np.abs(units), 1.0), near, units)
    units[:-1] = np.where(shared[:-1], units[1:], units[:-1])
    step = float(bool(np.all(units == np.rint(units))) and column.kind == NUMBER)
    upper = np.append(np.where(shared, units - step, units), units[-1])
    lower = np.append(units[0], units) + step  # the smallest value of a bin of whole numbers
    lower[0] = upper[0]
    values = np.minimum(lower, upper) / 2.0 + upper / 2.0
    single = np.append(False, np.append(shared[:-1], False))
    values, upper = np.where(single, np.append(units, units[-1]), [values, upper])
    values[-1] = upper[-1] = units[-1] + step
    return values, upper, single
