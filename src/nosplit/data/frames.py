"""Tables and arrays as named columns of numbers: the one place that knows narwhals and Arrow.

A category becomes a 48-bit hash of its text, as an exact float: the same on every machine and in
every batch, without a dictionary. Dates become days. What is missing is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import LARGEST_WHOLE, check_sample, repeated
from nosplit._lazy import extra, has_arrow
from nosplit._text import printable
from nosplit._types import Array
from nosplit._warn import warn
from nosplit.data.names import index_of, noted_index, tidy
from nosplit.data.plain import PlainColumn, PlainTable
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
    "values_of",
]

NUMBER, UNKNOWN = "numbers", "missing values only"
# Kinds of columns that are compared for equality; all others are numbers.
CATEGORIES = ("booleans", "text", "categories")

_MARKS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "__narwhals_dataframe__")
# Packages with tables that have none of these marks: lazy ones, and the series of pandas before 3.
_UNMARKED = (
    "pandas",
    "polars",
    "duckdb",
    "dask",
    "dask_expr",
    "pyspark",
    "ibis",
    "narwhals",
    "sqlframe",
)
_NAMES = ("DataFrame", "LazyFrame", "Series", "DuckDBPyRelation", "Table", "Relation")
_KINDS: tuple[tuple[Any, str], ...] = (
    (bool | np.bool_, "booleans"),
    (str, "text"),
    (date, "dates"),
    (time, "times of day"),
    (timedelta, "durations"),
    (int | float | Decimal | np.number, NUMBER),
)
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
    if isinstance(value, PlainTable):
        return True
    if any(hasattr(kind, mark) for mark in _MARKS):
        return True
    return kind.__module__.partition(".")[0] in _UNMARKED and kind.__name__ in _NAMES


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
    return Frame(label, names, n, lambda i: _raw_of(columns[i], label), True, single, index)


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
    if isinstance(value, PlainTable):
        return Native(value.columns, left_out=value.index)
    import narwhals as nw

    root = type(value).__module__.partition(".")[0]
    if root in ("dask", "dask_expr", "pyspark", "sqlframe"):
        raise InputError(
            f"`{label}` is a table of {root}, which only two_sample_test compares where it is. "
            "Collect it first."
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
    try:
        pa = extra("pyarrow", "tables")
        if isinstance(value, pa.Array):
            return pa.chunked_array([value])
        return pa.table(value)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"`{label}` must be an array or a table that narwhals accepts (pandas, polars, "
            f"pyarrow, ...), got {type(value).__name__}."
        ) from error


def _raw_of(series: Any, label: str) -> Raw:
    """One column of a table."""
    kind = str(getattr(series, "dtype", ""))
    if kind.startswith(("String", "Categorical", "Enum")) and has_arrow():
        return _codes_by_arrow(series)
    if kind == "Boolean":
        return _codes_of_booleans(series)
    values = values_of(series)
    match values.dtype.kind:
        case "f":
            raw = Raw(NUMBER, values)
            if "Int" in kind:
                _warn_of_column(values, series.name, label)
        case "M":
            raw = Raw("dates with a time zone" if _has_zone(series) else "dates", _days_of(values))
        case "m":
            raw = Raw("durations", _days_of(values))
        case _:
            raw = _from_objects(series, values, label)
    # The type of a column without values is an accident of who wrote it.
    return Raw(UNKNOWN, raw.values) if np.isnan(raw.values).all() else raw


def _codes_of_booleans(series: Any) -> Raw:
    truths = _numbers_of(series)
    codes = np.where(truths == 1.0, code_of(True), code_of(False))
    missing = np.isnan(truths)
    return Raw(UNKNOWN if missing.all() else "booleans", np.where(missing, np.nan, codes))


def _has_zone(series: Any) -> bool:
    return getattr(getattr(series, "dtype", None), "time_zone", None) is not None


def _codes_by_arrow(series: Any) -> Raw:
    """Codes of a column of text or categories, of which only distinct values are hashed."""
    pa = extra("pyarrow", "tables")
    column = series.to_arrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    distinct = column.dictionary.to_pylist()
    text = all(isinstance(v, str | None) for v in distinct)
    codes = np.array([np.nan if v is None else code_of(v) for v in distinct] + [np.nan])
    places = column.indices.cast("int64").fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    kind = UNKNOWN if np.isnan(codes[places]).all() else "text" if text else "categories"
    return Raw(kind, codes[places])


def _from_objects(series: Any, values: NDArray[Any], label: str) -> Raw:
    """Numbers or codes of values of Python, None where one is missing."""
    types = set(map(type, values)) - {type(None)}
    named = str(getattr(series, "dtype", "")).startswith(("Categorical", "Enum"))
    kinds = {next((k for parent, k in _KINDS if issubclass(t, parent)), "") for t in types}
    if named and kinds != {"text"}:
        kinds = {"categories"}
    if len(kinds) > 1 or (date in types and len(types) > 1):
        raise InputError(
            f"column {series.name!r} of `{label}` must hold values of one type, got "
            f"{', '.join(sorted(t.__name__ for t in types)[:5])}. Convert it, or leave it out with "
            f"exclude=[{series.name!r}]."
        )
    number: Callable[[Any], float]
    match kind := next(iter(kinds), UNKNOWN):
        case "":
            raise _unfit(series.name, label, types.pop().__name__)
        case "booleans" | "text" | "categories":
            number = code_of
        case "times of day":
            number = _part_of_day
        case "dates" | "durations":
            unit = "datetime64[us]" if kind == "dates" else "timedelta64[us]"
            return Raw(kind, _days_of(np.array(values, dtype=unit)))
        case _:
            number = float
            if int in types and any(abs(v) >= 2**64 for v in set(values) if v is not None):
                raise _unfit(series.name, label, "whole numbers of more than 64 bits")
    known = {v: np.nan if v is None else number(v) for v in set(values)}
    return Raw(kind, np.array([known[v] for v in values], dtype=np.float64))


def _days_of(values: NDArray[Any]) -> Array:
    """Days since 1970, or of a duration; NaN where one is missing."""
    unit = np.datetime_data(values.dtype)[0]
    days = values.astype(np.int64) / (1.0 if unit == "D" else _UNITS[unit])
    return np.where(np.isnat(values), np.nan, days)


def _part_of_day(clock: time) -> float:
    microseconds = ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 10**6
    return (microseconds + clock.microsecond) / _UNITS["us"]


def _warn_of_column(values: Array, column: str, label: str) -> None:
    """Say where whole numbers are too large for floats to tell them apart."""
    if np.any(np.abs(values) > LARGEST_WHOLE):
        text = (
            f"Column {column!r} of `{label}` holds whole numbers beyond 2⁵³, which are rounded. "
            "Subtract a common offset first, or leave out what only names rows."
        )
        warn(text, NosplitWarning)


def _numbers_of(series: Any) -> Array:
    import narwhals as nw

    if series.implementation.is_pyarrow():  # a safe cast refuses what a float rounds
        column = nw.to_native(series).cast("float64", safe=False)
        return _floats(column.to_numpy())
    return _floats(series.cast(nw.Float64).to_numpy())


def values_of(series: Any) -> NDArray[Any]:
    """Numbers as floats, times as they are, all else as objects; missing: NaN, NaT or None."""
    if isinstance(series, PlainColumn):
        return series.values
    if series.dtype.is_numeric():
        return _numbers_of(series)
    if series.dtype.is_temporal() and str(series.dtype) != "Time":
        return np.asarray(series.to_numpy())
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    values[series.is_null().to_numpy()] = None
    return values


def code_of(category: object) -> float:
    """A stable number for a category: 48 bits of a hash of its type and its text.

    Examples
    --------
    >>> code_of("red") == code_of("red"), code_of("1") == code_of(1), code_of(1) == code_of(1.0)
    (True, False, True)
    """
    match category:
        case bool() | np.bool_():
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


def _unfit(name: str, label: str, got: str) -> InputError:
    return InputError(
        f"column {name!r} of `{label}` must hold numbers, dates, booleans or text, got "
        f"{printable(got)}. "
        f"Convert it, or leave it out with exclude=[{name!r}]."
    )
