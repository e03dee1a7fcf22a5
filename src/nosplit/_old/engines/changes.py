"""Describe what changed in columns, from counts of their bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nosplit._old.inference.outcome import Outcome
from nosplit._old.sketch.bins import ColumnBins
from nosplit._types import Array
from nosplit.data.encoding import MISSING, Column, Encoding
from nosplit.data.frames import (
    NUMBER,
    code_of,
)
from nosplit.inference.change import (
    Change,
    Counts,
    describe,
)
from nosplit.inference.effect import Separation, coarser_bins, separation_of_counts

__all__ = ["changes_in_bins", "separations_in_bins", "with_changes"]

# Bins of a column of the rows, and rows of x and of y in them.
Binned = tuple[ColumnBins, Array]
# Categories whose codes are known without a table.
KNOWN = {code_of(True): "True", code_of(False): "False"}


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
