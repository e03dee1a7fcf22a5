"""Tables and arrays → rows of numbers: the doors of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_int
from nosplit.data.encoding import Column, Encoding, Mask
from nosplit.data.fit_encoding import NONE, ROBUST, Options, read_one, read_two, robust_scale
from nosplit.data.frames import CATEGORIES, NUMBER, Source, as_source, is_table
from nosplit.data.matching import check_known
from nosplit.errors import InputError
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe

__all__ = [
    "Column",
    "Encoding",
    "Options",
    "Sample",
    "Samples",
    "fit_encoding",
    "one_sample",
    "some_columns",
    "standardised",
    "two_samples",
    "two_variables",
]

Array = NDArray[np.float64]


def fit_encoding(
    x: Any,
    y: Any = None,
    *,
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "raise",
) -> Encoding:
    """Find out how tables become rows of numbers, from one or two of them.

    Parameters
    ----------
    x, y : table or array
        The data; its columns are matched by name.
    scale : {"robust", "none"}, bool or None
        Whether numbers are divided by a robust spread of the pooled column (interquartile range;
        standard deviation where that is 0). None: yes for tables, no for arrays.
    columns, exclude : names
        The columns to look at, or to leave out; positions for arrays.
    nan_policy : {"raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.

    Returns
    -------
    Encoding
    """
    options = Options.of(scale, columns, exclude, nan_policy)
    if y is None:
        return read_one(as_source(x, "x"), options).encoding()
    return read_two([as_source(x, "x"), as_source(y, "y")], options).encoding()


def some_columns(p: int, categorical: int) -> Encoding:
    """An encoding of p columns of which so many are categories, for planning."""
    if check_int(categorical, "categorical", least=0) > p:
        raise InputError(f"`categorical` must be at most p = {p}, got {categorical}.")
    kinds = [NUMBER] * (p - categorical) + [CATEGORIES[0]] * categorical
    return Encoding(tuple(Column(str(i), kind) for i, kind in enumerate(kinds)))


# -- the doors of the tests ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Samples:
    """Two samples as rows of numbers.

    Attributes
    ----------
    x, y : array
        The rows.
    encoding : Encoding or None
        How they were made; None for arrays that are as they came.
    left_out : int
        Rows left out because something was missing.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    encoding: Encoding | None = None
    left_out: int = 0

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None for arrays that are as they came."""
        return None if self.encoding is None else self.encoding.names

    def recipe(self, kernels: Kernels) -> Recipe:
        """Kernels for the rows, as `kernels=` asks for them."""
        return as_recipe(kernels) if self.encoding is None else self.encoding.recipe(kernels)


def two_samples(x: Any, y: Any, options: Options) -> Samples:
    """Two samples with the same columns; arrays without options as they came."""
    if options.idle and not (is_table(x) or is_table(y)):
        return Samples(x, y)
    read = read_two([as_source(x, "x"), as_source(y, "y")], options)
    encoding = read.encoding()
    if encoding.idle:
        raise InputError(
            "`x` and `y` hold nothing to compare: every column is constant, or holds categories "
            "that are all different."
        )
    rows = read.rows(encoding)
    return Samples(rows[0], rows[1], encoding, _count_out(read.kept))


def _count_out(kept: Sequence[Mask]) -> int:
    return sum(int(np.count_nonzero(~keep)) for keep in kept)


# -- one sample ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sample:
    """One sample of numbers, in the units of the data.

    Attributes
    ----------
    x : array
        The rows.
    kept : array of bool, or None
        Which rows of what was given they are; None for all.
    encoding : Encoding or None
        As in `Samples`; not scaled.
    scaled : bool
        Whether a scale was asked for.
    """

    x: Any
    kept: Mask | None = None
    encoding: Encoding | None = None
    scaled: bool = False

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        return 0 if self.kept is None else _count_out([self.kept])


def one_sample(x: Any, options: Options) -> Sample:
    """A sample of numbers to be compared with a model; an array without options as it came."""
    if options.idle and not is_table(x):
        return Sample(x)
    if options.nan_policy == "indicate":
        raise InputError(
            "`nan_policy` must be 'raise' or 'omit' here, got 'indicate': a model of numbers says "
            "nothing about missing ones."
        )
    read = read_one(as_source(x, "x"), replace(options, scale=NONE))
    for name, kind in zip(read.names, read.kinds, strict=True):
        if kind != NUMBER:
            raise InputError(
                f"column {name!r} of `x` must hold numbers, as the model does, got {kind}. "
                f"Convert it, or leave it out with exclude=[{name!r}]."
            )
    encoding = read.encoding()
    return Sample(read.rows(encoding)[0], read.kept[0], encoding, options.scale == ROBUST)


def standardised(x: Array) -> tuple[Array, Array]:
    """Medians and spreads of the columns of x."""
    pairs = np.array([robust_scale(column) for column in x.T])
    return pairs[:, 0], pairs[:, 1]


# -- two variables ---------------------------------------------------------------------------------


def two_variables(x: Any, y: Any, options: Options) -> tuple[list[Any], list[Encoding | None], int]:
    """Two variables observed together, how each was encoded, and how many rows were left out.

    Arrays that no option concerns are as they came.
    """
    tables = [is_table(value) for value in (x, y)]
    if not any(tables):
        if options.columns is not None or options.exclude is not None:
            raise InputError(
                "`columns` and `exclude` name columns of tables here: `x` and `y` are none."
            )
        if options.idle:
            return [x, y], [None, None], 0
    values = [v if is_table(v) else _array(v, label) for v, label in ((x, "x"), (y, "y"))]
    sources = [
        as_source(value, label)
        if table or (not options.idle and value.dtype.kind in "fiu")
        else None
        for value, label, table in zip(values, "xy", tables, strict=True)
    ]
    named = [source for source in sources if source is not None and source.table]
    check_known(options.columns or (), named, "columns")
    check_known(options.exclude or (), named, "exclude")
    return _encoded_together(values, sources, options)


def _encoded_together(
    values: list[Any], sources: list[Source | None], options: Options
) -> tuple[list[Any], list[Encoding | None], int]:
    """Rows are left out together; arrays without a source are as they came otherwise."""
    lengths = [len(v) if s is None else s.n_rows for v, s in zip(values, sources, strict=True)]
    if lengths[0] != lengths[1]:
        raise InputError(
            "`x` and `y` must have as many rows, observed together, "
            f"got {lengths[0]} and {lengths[1]}."
        )
    reads = [None if s is None else read_one(s, _own(options, s)) for s in sources]
    kept = np.logical_and.reduce([np.ones(lengths[0], np.bool_)] + [r.kept[0] for r in reads if r])
    encodings = [None if r is None else replace(r, kept=[kept]).encoding() for r in reads]
    rows = [
        v[kept] if read is None or encoding is None else encoding.rows_of(read.samples[0], kept)
        for v, read, encoding in zip(values, reads, encodings, strict=True)
    ]
    return rows, encodings, _count_out([kept])


def _array(value: Any, label: str) -> NDArray[Any]:
    """An array of one row or more, of whatever is in it."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"`{label}` must be a rectangular array: {error}.") from error
    if array.ndim == 0:
        raise InputError(f"`{label}` must be a vector or an (n, p) array, got 0 dimensions.")
    return array


def _own(options: Options, source: Source) -> Options:
    """The options that concern one of two variables; without a name it keeps all its columns."""
    if not source.table:
        return replace(options, columns=None, exclude=None)
    columns, exclude = (
        None if names is None else tuple(name for name in names if name in source.names)
        for names in (options.columns, options.exclude)
    )
    return replace(options, columns=columns, exclude=exclude)
