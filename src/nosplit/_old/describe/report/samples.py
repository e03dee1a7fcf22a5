"""Samples as named columns, whatever they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.whole import read_if_path, rows_shown, some_rows
from nosplit._old.describe.large.samples import as_tested
from nosplit._old.engines.clusters.opening import cluster_pair, lies_on_cluster, width_of
from nosplit._types import Array
from nosplit.data.frames import is_table, native_columns, values_of
from nosplit.errors import InputError
from nosplit.inference.result import TestResult

__all__ = ["Data", "ShownColumn", "ShownSample", "as_samples", "column_of", "read"]


@dataclass(frozen=True, eq=False)
class ShownSample:
    """A sample whose columns are read one at a time: most of them are never looked at."""

    names: tuple[str, ...]
    n: int
    get: Callable[[int], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """The values of one column that are there, as numbers or as the names of categories."""

    values: NDArray[Any]
    missing: float
    kind: str  # "number", "date" or "category"


def as_samples(
    x: Any, y: Any, names: Sequence[str] | None = None
) -> tuple[ShownSample, ShownSample]:
    """Two samples with the same columns, matched by name where both are tables.

    Examples
    --------
    >>> first, second = as_samples([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]])
    >>> first.names, second.n
    (('column 0', 'column 1'), 1)
    """
    first, second = _shown_sample(x, "x"), _shown_sample(y, "y")
    if len(first.names) == 1 == len(second.names):
        second = replace(second, names=first.names)
    elif is_table(x) and is_table(y):
        second = _matched(first, second)
    if len(first.names) != len(second.names):
        raise InputError(
            "`x` and `y` must have the same number of columns, got "
            f"{len(first.names)} and {len(second.names)}."
        )
    if names is not None and len(names) != len(first.names):
        raise InputError(
            f"`names` must be as many as columns, got {len(names)} names and "
            f"{len(first.names)} columns."
        )
    called = first.names if names is None else tuple(map(str, names))
    return replace(first, names=called), replace(second, names=called)


def _shown_sample(data: Any, argument: str) -> ShownSample:
    if is_table(data):
        columns = native_columns(data, argument).columns
        names = tuple(str(column.name) for column in columns)
        return ShownSample(names, len(columns[0]), lambda j: values_of(columns[j]))
    array = np.asarray(data)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not array.size:
        raise InputError(
            f"`{argument}` must be a table or an array of rows and columns, got shape "
            f"{array.shape}."
        )
    names = tuple(f"column {j}" for j in range(array.shape[1]))
    return ShownSample(names, len(array), lambda j: array[:, j])


def _matched(first: ShownSample, second: ShownSample) -> ShownSample:
    """The columns of both, in the order of the first; those that only one has are not compared."""
    place = {name: j for j, name in enumerate(second.names)}
    missing = np.full(second.n, np.nan)
    order = [place.get(name) for name in first.names]
    get = second.get
    return ShownSample(
        first.names, second.n, lambda j: missing if (k := order[j]) is None else get(k)
    )


def column_of(values: NDArray[Any]) -> ShownColumn:
    """The values that are there, and what they are.

    Examples
    --------
    >>> column_of(np.array([1.0, np.nan, 3.0, 4.0]))
    ShownColumn(values=array([1., 3., 4.]), missing=0.25, kind='number')
    """
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]")
        there = ~np.isnat(seconds)
        days = seconds[there].astype(np.float64) / 86400.0
        return ShownColumn(days, 1.0 - float(there.mean()), "date")
    numbers = _numbers_or_none(values)
    if numbers is not None:
        there = np.isfinite(numbers)
        return ShownColumn(numbers[there], 1.0 - float(there.mean()), "number")
    there = np.array([value is not None and value == value for value in values])
    return ShownColumn(values[there].astype(str), 1.0 - float(there.mean()), "category")


def _numbers_or_none(values: NDArray[Any]) -> Array | None:
    """Values as numbers; None if they name categories, as text and booleans do."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    if any(isinstance(v, str | bytes | bool | np.bool_) for v in values):
        return None
    try:
        return np.array([np.nan if v is None else float(v) for v in values])
    except (TypeError, ValueError):
        return None


@dataclass(frozen=True, eq=False)
class Data:
    """Two samples, or some of their rows.

    Attributes
    ----------
    samples : two ShownSample
        The columns.
    some : bool
        Whether they are some rows of samples that were too large to be held in memory.
    """

    samples: tuple[ShownSample, ShownSample]
    some: bool = False


def read(res: TestResult, x: Any, y: Any, names: Sequence[str] | None) -> Data:
    """The columns of two samples, of which some rows are brought if they are not in memory."""
    if lies_on_cluster(x) or lies_on_cluster(y):
        return _some_of(res, as_samples(*_brought_rows(res, x, y), names))
    if not (is_path(x) and is_path(y)):
        return Data(as_samples(read_if_path(x), read_if_path(y), names))
    rows = some_rows(x, y)
    if names is None and isinstance(rows[0], np.ndarray):
        names = open_source(x).names
    return _some_of(res, as_samples(*rows, names))


def _some_of(res: TestResult, samples: tuple[ShownSample, ShownSample]) -> Data:
    return Data(samples, samples[0].n + samples[1].n < res.how.n_used + res.how.n_left_out)


def _brought_rows(res: TestResult, x: Any, y: Any) -> tuple[Any, Any]:
    """Rows drawn at random on a cluster, those in which something is missing among them."""
    pair, _ = cluster_pair(x, y, replace(as_tested(res), nan_policy="raise"))
    rng, wanted = np.random.default_rng(0), []
    for side, sample in zip(pair.census(), (x, y), strict=True):
        count = min(side.n, rows_shown(width_of(sample)))
        wanted.append(np.sort(rng.choice(side.n, count, replace=False)))
    return pair.pilot(wanted[0], wanted[1])
