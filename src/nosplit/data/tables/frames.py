"""Tables and arrays as named columns of numbers: the one place that knows narwhals and Arrow.

A category becomes a 48-bit hash of its text, as an exact float: the same on every machine and in
every batch, without a dictionary. Dates become days. What is missing is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import LARGEST_WHOLE, check_sample, repeated
from nosplit._support.lazy import extra
from nosplit._support.terminal import printable
from nosplit._support.types import Array
from nosplit._support.warn import warn
from nosplit.data.names import index_of, noted_index, tidy
from nosplit.errors import InputError, NosplitWarning

__all__ = [
    "CATEGORIES",
    "NUMBER",
    "UNKNOWN",
    "Frame",
    "Raw",
    "as_frame",
    "code_of",
    "is_table",
    "native_columns",
    "numbers_of",
]

NUMBER, UNKNOWN = "numbers", "missing values only"
# Kinds of columns that are compared for equality; all others are numbers.
CATEGORIES = ("booleans", "text", "categories")

_MARKS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "__narwhals_dataframe__")
_LAZY = ("polars", "duckdb", "dask", "dask_expr", "pyspark", "ibis", "narwhals", "sqlframe")
_NAMES = ("DataFrame", "LazyFrame", "Series", "DuckDBPyRelation", "Table", "Relation")
_UNITS = {"s": 86400.0, "ms": 86400e3, "us": 86400e6, "ns": 86400e9}  # in a day


@dataclass(frozen=True, eq=False)
class Raw:
    """A column as it came: what it holds, and its numbers or codes, NaN where it is missing."""

    kind: str
    values: Array


@dataclass(frozen=True, eq=False)
class Frame:
    """A table or an array.

    Attributes
    ----------
    label : str
        Name of the argument, for messages.
    names : tuple of str
        Names of the columns; "0", "1", … for an array.
    n_rows : int
        Number of rows.
    read : callable
        From the position of a column to its `Raw`.
    table : bool
        Whether it has names of its own.
    single : bool
        Whether it is a series: its name says nothing about another's.
    index : tuple of str
        Columns that are left out, as they are an index of pandas.
    """

    label: str
    names: tuple[str, ...]
    n_rows: int
    read: Callable[[int], Raw]
    table: bool
    single: bool = False
    index: tuple[str, ...] = ()


class Native(NamedTuple):
    """The columns of a table as narwhals series; those that are an index are left out.

    `single` says whether a series was given, `left_out` what the columns left out are called.
    """

    columns: list[Any]
    single: bool = False
    left_out: tuple[str, ...] = ()


def is_table(value: object) -> bool:
    """Whether a value is a table or a series, found without importing anything."""
    kind = type(value)
    if isinstance(value, np.ndarray | list | tuple) or _is_labelled_array(kind):
        return False
    if any(hasattr(kind, mark) for mark in _MARKS):
        return True
    return kind.__module__.partition(".")[0] in _LAZY and kind.__name__ in _NAMES


def _is_labelled_array(kind: type) -> bool:
    """Whether objects are arrays with labels, such as xarray's, which offer themselves as tables.

    Those would be tables in long form: one row for every value. Tables that have `ndim` have
    columns or are series, too.
    """
    return hasattr(kind, "ndim") and not (hasattr(kind, "columns") or hasattr(kind, "iloc"))


def as_frame(value: Any, label: str) -> Frame:
    """The columns of a table or an array, to be read one by one."""
    if not is_table(value):
        rows = check_sample(value, label, smallest=0, finite=False)
        names = tuple(map(str, range(rows.shape[1])))
        return Frame(label, names, len(rows), lambda i: Raw(NUMBER, _floats(rows[:, i])), False)
    columns, single, index = native_columns(value, label)
    names = tuple(str(c.name) for c in columns)
    _check_names(names, label)
    n = len(columns[0]) if columns else 0
    return Frame(
        label, names, n, lambda i: _read_through_arrow(columns[i], label), True, single, index
    )


def _check_names(names: tuple[str, ...], label: str) -> None:
    if not names:
        raise InputError(f"`{label}` must have at least one column, got none.")
    if twice := repeated(names):
        raise InputError(
            f"`{label}` must have different column names, got {', '.join(map(repr, twice[:5]))} "
            "more than once."
        )


def _floats(values: NDArray[Any]) -> Array:
    return np.asarray(values, dtype=np.float64)


# -- tables ------------------------------------------------------------------------------------


def native_columns(value: Any, label: str) -> Native:
    """The columns of a table, without an index of pandas, or a series."""
    nw = extra("narwhals", "tables")
    root = type(value).__module__.partition(".")[0]
    if root in ("dask", "dask_expr", "pyspark", "sqlframe"):
        door = "nosplit.dask" if root.startswith("dask") else "nosplit.spark"
        raise InputError(
            f"`{label}` is a table of {root}, which is not collected here. Use the functions of "
            f"`{door}`, or collect it first."
        )
    try:
        frame = nw.from_native(value, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise _twice(label, error) from None
    except TypeError:
        frame = nw.from_native(_through_arrow(value, label), allow_series=True)
    if isinstance(frame, nw.Series):
        return Native([frame.alias(str(frame.name or label))], single=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    try:
        columns = list(frame.iter_columns())
    except nw.exceptions.DuplicateError as error:
        raise _twice(label, error) from None
    return _without_index(columns, value.schema.metadata if root == "pyarrow" else None)


def _without_index(columns: list[Any], metadata: Any) -> Native:
    """Leave out an index of pandas, by the metadata of Arrow, and tidy the names of the rest."""
    names = [str(column.name) for column in columns]
    known = metadata if isinstance(metadata, Mapping) else None
    index = index_of(names, known)
    if len(index) == len(names):  # nothing else to compare
        index = ()
    kept = [column for column in columns if str(column.name) not in index]
    called = tidy([str(column.name) for column in kept])
    named = zip(kept, called, strict=True)
    columns = [c if str(c.name) == name else c.alias(name) for c, name in named]
    return Native(columns, left_out=tuple(dict.fromkeys(index + noted_index(known))))


def _twice(label: str, error: Exception) -> InputError:
    text = " ".join(str(error).split())
    return InputError(f"`{label}` must have different column names. {printable(text)}.")


def _through_arrow(value: Any, label: str) -> Any:
    """Convert a table that narwhals does not know through the Arrow interface."""
    pa = extra("pyarrow", "tables")
    try:
        if isinstance(value, pa.Array):
            return pa.chunked_array([value])
        return pa.table(value)
    except Exception as error:
        raise InputError(
            f"`{label}` must be an array or a table that narwhals accepts (pandas, polars, "
            f"pyarrow, ...), got {type(value).__name__}."
        ) from error


def _read_through_arrow(series: Any, label: str) -> Raw:
    """One column of a table, through Arrow."""
    pa = extra("pyarrow", "tables")
    try:
        column = series.to_arrow()
    except Exception as error:  # Arrow raises its own errors, and plain ones
        raise _mixed_types(series, label, error) from error
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    try:
        raw = _from_arrow(column, pa)
        if raw is not None and np.isnan(raw.values).all():
            raw = Raw(UNKNOWN, raw.values)  # its type is an accident of who wrote it
    except Exception as error:
        raise _unfit(series.name, label, f"{column.type} ({_reason(error)})") from error
    if raw is None:
        raise _unfit(series.name, label, str(column.type))
    if pa.types.is_integer(column.type) and raw.kind == NUMBER:
        _warn_of_column(raw.values, series.name, label)
    if pa.types.is_date(column.type) and "Object" in str(series.dtype):
        found = set(map(type, series.to_list()))  # Arrow would cut the time of day off
        if datetime in found and len(found - {type(None)}) > 1:
            raise _mixed_types(series, label, ValueError("dates with and without a time"))
    return raw


def _warn_of_column(values: Array, column: str, label: str) -> None:
    """Say where whole numbers are too large for floats to tell them apart."""
    if np.nanmax(np.abs(values)) > LARGEST_WHOLE:
        text = (
            f"Column {column!r} of `{label}` holds whole numbers beyond 2⁵³, which are rounded. "
            "Subtract a common offset first, or leave out what only names rows."
        )
        warn(text, NosplitWarning)


def _from_arrow(column: Any, pa: Any) -> Raw | None:
    """Numbers or codes of an Arrow array; None for a type that is neither."""
    kind, types = column.type, pa.types
    if types.is_null(kind):
        return Raw(UNKNOWN, np.full(len(column), np.nan))
    if types.is_dictionary(kind):
        return _dictionary_codes(column, "categories")
    if types.is_boolean(kind):
        return _dictionary_codes(column.dictionary_encode(), "booleans")
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return _dictionary_codes(column.cast(pa.large_string()).dictionary_encode(), "text")
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Raw(NUMBER, _cast_to_floats(column, pa))
    if types.is_date32(kind):
        return Raw("dates", _cast_to_floats(column.cast(pa.int32()), pa))
    if types.is_temporal(kind) and not types.is_interval(kind):
        return _days(column, pa)
    return None


def _cast_to_floats(column: Any, pa: Any) -> Array:
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _floats(values)


def numbers_of(series: Any) -> Array:
    """A narwhals series of numbers as floats, NaN where one is missing."""
    pa = extra("pyarrow", "tables")
    column = series.to_arrow()
    return _cast_to_floats(
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column, pa
    )


def _days(column: Any, pa: Any) -> Raw:
    """Days, in UTC where there is a time zone."""
    kind, types = column.type, pa.types
    name = "times of day" if types.is_time(kind) else "durations"
    if types.is_date(kind):
        name, unit = "dates", "ms"
    else:
        unit = kind.unit
        if types.is_timestamp(kind):
            name = "dates" if kind.tz is None else "dates with a time zone"
    whole = column.cast(pa.int32()) if types.is_time32(kind) else column.cast(pa.int64())
    return Raw(name, _cast_to_floats(whole, pa) / _UNITS[unit])


def _dictionary_codes(column: Any, kind: str) -> Raw:
    """Codes of a dictionary-encoded array: only its distinct values are hashed."""
    distinct = column.dictionary.to_pylist()
    if kind == "categories" and all(isinstance(v, str | None) for v in distinct):
        kind = "text"  # so that strings compare with categories of the same text
    codes = np.array([np.nan if v is None else code_of(v) for v in distinct] + [np.nan])
    places = column.indices.cast("int64").fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    return Raw(kind, codes[places])


def code_of(category: object) -> float:
    """A stable number for a category: 48 bits of a hash of its type and its text.

    Examples
    --------
    >>> code_of("red") == code_of("red"), code_of("1") == code_of(1), code_of(1) == code_of(1.0)
    (True, False, True)
    """
    match category:
        case bool():
            text = f"boolean {category}"
        case str():
            text = f"text {category}"
        case float() if category.is_integer():
            text = f"number {int(category)}"
        case int() | float():
            text = f"number {category!r}"
        case _:
            text = f"{type(category).__name__} {category}"
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return float(int.from_bytes(digest, "big"))


# -- what cannot be used -----------------------------------------------------------------------


def _mixed_types(series: Any, label: str, error: Exception) -> InputError:
    try:
        found = sorted({type(v).__name__ for v in series.to_list() if v is not None})
    except Exception:
        found = []
    if len(found) > 1:
        return InputError(
            f"column {series.name!r} of `{label}` must hold values of one type, got "
            f"{', '.join(found[:5])}. Convert it, or leave it out with exclude=[{series.name!r}]."
        )
    return _unfit(series.name, label, f"{', '.join(found) or series.dtype} ({_reason(error)})")


def _unfit(name: str, label: str, got: str) -> InputError:
    return InputError(
        f"column {name!r} of `{label}` must hold numbers, dates, booleans or text, got "
        f"{printable(got)}. "
        f"Convert it, or leave it out with exclude=[{name!r}]."
    )


def _reason(error: Exception) -> str:
    return printable(" ".join(str(error).split())).rstrip(".")[:200]
