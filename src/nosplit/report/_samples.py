"""Samples as named columns, whatever they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._errors import InputError
from nosplit._lazy import extra

__all__ = ["Column", "Sample", "as_sample", "column_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """A sample whose columns are read one at a time: most of them are never looked at."""

    names: tuple[str, ...]
    n: int
    get: Callable[[int], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one column that are there, as numbers or as the names of categories."""

    values: NDArray[Any]
    missing: float
    kind: str  # "number", "date" or "category"


def as_sample(data: Any, argument: str, names: Sequence[str] | None = None) -> Sample:
    """A sample from an array or a data frame of any kind.

    Examples
    --------
    >>> as_sample([[1.0, 2.0], [3.0, 4.0]], "x").names
    ('column 0', 'column 1')
    """
    if hasattr(data, "columns") or hasattr(data, "column_names"):
        found = _from_table(data)
    else:
        found = _from_array(np.asarray(data), argument)
    if names is None:
        return found
    if len(names) != len(found.names):
        raise InputError(
            f"`names` must be as many as columns of `{argument}`, got {len(names)} names and "
            f"{len(found.names)} columns."
        )
    return Sample(tuple(map(str, names)), found.n, found.get)


def _from_array(array: NDArray[Any], argument: str) -> Sample:
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not array.size:
        raise InputError(
            f"`{argument}` must be a table or an array of rows and columns, got shape "
            f"{array.shape}."
        )
    names = tuple(f"column {j}" for j in range(array.shape[1]))
    return Sample(names, len(array), lambda j: array[:, j])


def _from_table(data: Any) -> Sample:
    frame = extra("narwhals", "tables").from_native(data, eager_only=True)
    names = tuple(map(str, frame.columns))
    return Sample(names, len(frame), lambda j: _table_column(frame[:, j]))


def _table_column(series: Any) -> NDArray[Any]:
    """Numbers as floats, times as they are, all else as objects with None where one is missing."""
    if series.dtype.is_numeric():
        return np.array([np.nan if v is None else float(v) for v in series.to_list()])
    if series.dtype.is_temporal():
        return np.asarray(series.to_numpy())
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    values[series.is_null().to_numpy()] = None
    return values


def column_of(values: NDArray[Any]) -> Column:
    """The values that are there, and what they are.

    Examples
    --------
    >>> column_of(np.array([1.0, np.nan, 3.0, 4.0]))
    Column(values=array([1., 3., 4.]), missing=0.25, kind='number')
    """
    if values.dtype.kind == "M":
        days = values.astype("datetime64[s]")
        there = ~np.isnat(days)
        return Column(days[there].astype(np.float64) / 86400.0, 1.0 - there.mean(), "date")
    numbers = _numbers(values)
    if numbers is not None:
        there = np.isfinite(numbers)
        return Column(numbers[there], 1.0 - float(there.mean()), "number")
    there = np.array([value is not None and value == value for value in values])
    return Column(values[there].astype(str), 1.0 - float(there.mean()), "category")


def _numbers(values: NDArray[Any]) -> Array | None:
    """Values as numbers; None if they name categories, as text and booleans do."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    there = [v for v in values if v is not None]
    if any(isinstance(v, (str, bytes, bool, np.bool_)) for v in there):
        return None
    try:
        return np.array([np.nan if v is None else float(v) for v in values])
    except (TypeError, ValueError):
        return None
