"""Two variables observed together → rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import check_sample, check_varies, densified
from nosplit._lazy import is_tensor, tensor_as_array
from nosplit._types import Array, Index
from nosplit.data.encoding import Encoding, Mask
from nosplit.data.fit_encoding import read_one
from nosplit.data.frames import Frame, as_frame, is_table
from nosplit.data.matching import check_known
from nosplit.data.options import Options
from nosplit.errors import InputError
from nosplit.kernels import Kernel, Parts
from nosplit.kernels.recipes import check_looks_at

__all__ = [
    "Variable",
    "as_variables",
    "check_named",
    "column_names",
    "own_options",
    "two_variables",
]


def two_variables(
    x: Any, y: Any, options: Options
) -> tuple[list[Any], list[Encoding | None], Mask | None]:
    """Two variables observed together, how each was encoded, and which rows are not left out.

    Without options none is (None). Arrays that no option concerns are as they came.
    """
    tables = [is_table(value) for value in (x, y)]
    if not any(tables):
        if options.columns is not None or options.exclude is not None:
            raise InputError(
                "`columns` and `exclude` name columns of tables here: `x` and `y` are none."
            )
        if options.idle:
            return [x, y], [None, None], None
    values = [
        v if is_table(v) else _at_least_one_row(v, label) for v, label in ((x, "x"), (y, "y"))
    ]
    sources = [
        as_frame(value, label)
        if table or (not options.idle and value.dtype.kind in "fiu")
        else None
        for value, label, table in zip(values, "xy", tables, strict=True)
    ]
    check_named([source for source in sources if source is not None], options)
    return _encoded_together(values, sources, options)


def check_named(sources: Sequence[Frame], options: Options) -> None:
    """Check that columns that are named are there, in one of the tables."""
    named = [source for source in sources if source.table]
    check_known(options.columns or (), named, "columns")
    check_known(options.exclude or (), named, "exclude")


def _encoded_together(
    values: list[Any], sources: list[Frame | None], options: Options
) -> tuple[list[Any], list[Encoding | None], Mask]:
    """Rows are left out together; arrays without a source are as they came otherwise."""
    lengths = [len(v) if s is None else s.n_rows for v, s in zip(values, sources, strict=True)]
    if lengths[0] != lengths[1]:
        raise InputError(
            "`x` and `y` must have as many rows, observed together, "
            f"got {lengths[0]} and {lengths[1]}."
        )
    reads = [None if s is None else read_one(s, own_options(options, s)) for s in sources]
    kept = np.logical_and.reduce([np.ones(lengths[0], np.bool_)] + [r.kept[0] for r in reads if r])
    encodings = [None if r is None else replace(r, kept=[kept]).encoding() for r in reads]
    rows = [
        v[kept] if read is None or encoding is None else encoding.rows_of(read.samples[0], kept)
        for v, read, encoding in zip(values, reads, encodings, strict=True)
    ]
    return rows, encodings, kept


def _at_least_one_row(value: Any, label: str) -> NDArray[Any]:
    """An array of one row or more, of whatever is in it."""
    value = densified(value, label)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"`{label}` must be a rectangular array: {error}.") from error
    if array.ndim == 0:
        raise InputError(f"`{label}` must be a vector or an (n, p) array, got 0 dimensions.")
    return array


def own_options(options: Options, source: Frame) -> Options:
    """The options that concern one of two variables; without a name it keeps all its columns."""
    if not source.table:
        return replace(options, columns=None, exclude=None)
    columns, exclude = (
        None if names is None else tuple(name for name in names if name in source.names)
        for names in (options.columns, options.exclude)
    )
    return replace(options, columns=columns, exclude=exclude)


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable as numbers, and whether they only name categories, or some of them do."""

    rows: NDArray[Any]
    discrete: bool | Parts
    encoding: Encoding | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns, as they came."""
        return self.rows.shape[1] if self.encoding is None else len(self.encoding.names)

    def some(self, rows: Index) -> Variable:
        """The same of some rows, in their order."""
        return replace(self, rows=self.rows[rows])

    def check(self, kernel: Kernel) -> None:
        """Check that a kernel that was given looks at categories as such."""
        if self.encoding is not None and self.encoding.categorical:
            check_looks_at(kernel, self.encoding.categorical)


def column_names(*variables: Variable) -> tuple[str, ...] | None:
    """Names of the columns of tables, one variable after the other."""
    encodings = [v.encoding for v in variables if v.encoding is not None]
    return tuple(name for e in encodings for name in e.names) if encodings else None


def as_variables(x: Any, y: Any, encodings: Sequence[Encoding | None]) -> tuple[Variable, Variable]:
    """Two variables as numbers, of as many rows, neither of them constant."""
    left, right = _read_variable(x, "x", encodings[0]), _read_variable(y, "y", encodings[1])
    if len(left.rows) != len(right.rows):
        raise InputError(
            "`x` and `y` must have as many rows, observed together, "
            f"got {len(left.rows)} and {len(right.rows)}."
        )
    for variable, name in ((left, "x"), (right, "y")):
        check_varies(variable.rows, name)
        if variable.encoding is not None and variable.encoding.idle:
            raise InputError(
                f"`{name}` holds nothing to compare: every column is constant, or holds "
                "categories that are all different."
            )
    return left, right


def _read_variable(value: ArrayLike, name: str, encoding: Encoding | None) -> Variable:
    if encoding is not None:
        return Variable(check_sample(value, name, smallest=4), encoding.parts, encoding)
    if is_tensor(value):
        value = tensor_as_array(value, name)
    value = densified(value, name)
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind in "SUb" or (array.dtype.kind == "O" and not _all_numbers(array)):
        return Variable(_category_codes(array, name), discrete=True)
    if array.dtype.kind == "O":
        array = array.astype(np.float64)
    return Variable(check_sample(array, name, smallest=4), discrete=False)


def _all_numbers(array: NDArray[Any]) -> bool:
    return all(isinstance(v, Real) and not isinstance(v, bool) for v in array.ravel())


def _category_codes(array: NDArray[Any], name: str) -> Array:
    """Numbers for the categories of each column."""
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2:
        raise InputError(
            f"`{name}` must be a vector or an (n, p) array, got {array.ndim} dimensions."
        )
    try:
        codes = [np.unique(column, return_inverse=True)[1] for column in columns.T]
    except TypeError as error:
        raise InputError(
            f"`{name}` must hold numbers, or categories of one type: {error}."
        ) from error
    return check_sample(np.stack(codes, axis=1).astype(np.float64), name, smallest=4)
