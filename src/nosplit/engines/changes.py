"""Changes of columns from counts of their bins: in cells, in files, in profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nosplit._support.changes import Change
from nosplit._support.types import Array
from nosplit.data.changes import said_as
from nosplit.data.tables.encoding import MISSING, Column, Encoding
from nosplit.data.tables.frames import NUMBER, code_of
from nosplit.inference.outcome import Outcome
from nosplit.sketch.bins import ColumnBins
from nosplit.sketch.columns.changes import change_of_bins, change_of_codes

__all__ = ["changes_in_bins", "with_changes"]

# Bins of a column of the rows, and rows of x and of y in them.
Binned = tuple[ColumnBins, Array]
# Categories whose codes are known without a table.
KNOWN = {code_of(True): "True", code_of(False): "False"}


def with_changes(
    outcome: Outcome, bins: Sequence[ColumnBins], counts: Array, encoding: Encoding | None
) -> Outcome:
    """An outcome with what changed in each column that was looked at."""
    if not outcome.columns:
        return outcome
    told = zip(outcome.columns, changes_in_bins(bins, counts, encoding), strict=True)
    return replace(outcome, columns=tuple(replace(c, change=change) for c, change in told))


def changes_in_bins(
    bins: Sequence[ColumnBins], counts: Array, encoding: Encoding | None
) -> list[Change]:
    """Describe what changed in each column, by counts of rows of x and of y in its bins."""
    starts = np.concatenate([[0], np.cumsum([len(own) for own in bins])])
    both = list(zip(bins, np.split(counts, starts[1:-1], axis=1), strict=True))
    if encoding is None:
        return [_change_of_bins(both[j : j + 1], None) for j in range(len(bins))]
    columns = zip(encoding.columns, encoding.groups, strict=True)
    return [_change_of_column([both[j] for j in group], column) for column, group in columns]


def _change_of_column(own: Sequence[Binned], column: Column) -> Change:
    if column.categorical:
        return change_of_codes(*own[0], MISSING, lambda code: KNOWN.get(code, "a category"))
    return _change_of_bins(own, column)


def _change_of_bins(own: Sequence[Binned], column: Column | None) -> Change:
    """Describe what changed in numbers, and in where they are missing."""
    column = column or Column("", NUMBER)
    missing = [0.0, 0.0]
    if len(own) > 1:
        bins, counts = own[1]  # a row whose value is missing has the code 1
        gone = np.append(bins.edges, np.nan) == 1.0
        missing = (counts[:, gone].sum(axis=1) / counts.sum(axis=1)).tolist()
    return change_of_bins(
        *own[0],
        missing,
        lambda values: values * column.scale + column.center,
        (column.fill - column.center) / column.scale,
        said_as(column.kind),
    )
