"""Tables and arrays → rows of numbers that kernels can compare.

Everything here is a symmetric function of the pooled rows: medians, spreads and which columns
vary do not change when rows are swapped between the samples. Codes of categories depend on the
category alone. So exact calibration stays exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._errors import InputError
from nosplit._frames import CATEGORIES, UNKNOWN, Raw, Source, as_source, code_of, is_table
from nosplit._matching import (
    check_finite_columns,
    check_present,
    common_kind,
    matched,
    picked,
    present_rows,
    wanted,
)
from nosplit._validation import resolve
from nosplit.kernels import Kernel, mixed_kernels, table_kernels
from nosplit.recipes import Kernels, Recipe, as_recipe, check_looks_at

__all__ = ["Column", "Encoding", "Options", "Samples", "fit_encoding", "two_samples"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROBUST, NONE = "robust", "none"
POLICIES = {name: name for name in ("raise", "omit", "indicate")}
# The interquartile range of a normal law, in standard deviations.
NORMAL_IQR = 1.3489795003921634
# An interquartile range below this share of the standard deviation is rounding.
SMALLEST_IQR = 1e-9
MISSING = code_of(None)


@dataclass(frozen=True)
class Column:
    """How one column is encoded.

    Attributes
    ----------
    name : str
        Its name; its position if it came from an array.
    kind : str
        What it holds: "numbers", "dates", "text", "booleans", …
    center, scale : float
        Numbers become (value - center) / scale.
    fill : float
        What a missing number counts as, in the units of the data.
    indicated : bool
        Whether a column of its own says where it is missing.
    constant : bool
        Whether all values were the same where the encoding was fitted.
    """

    name: str
    kind: str
    center: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    indicated: bool = False
    constant: bool = False

    @property
    def categorical(self) -> bool:
        """Whether values are compared for equality."""
        return self.kind in CATEGORIES


@dataclass(frozen=True)
class Encoding:
    """How tables become rows of numbers. It holds no rows.

    Kernels look at the columns that varied where the encoding was fitted. Under "indicate", a
    column in which nothing was missing there has no indicator: numbers that are missing later
    count as the median.

    Attributes
    ----------
    columns : tuple of Column
        The columns of the tables, in the order of `names`.
    nan_policy : str
        What is done where values are missing: "raise", "omit" or "indicate".
    table : bool
        Whether it is for tables, matched by name, or for arrays, by position.

    Examples
    --------
    >>> import pandas as pd
    >>> x = pd.DataFrame({"age": [31, 40, 57], "city": ["Rome", "Oslo", "Rome"]})
    >>> y = pd.DataFrame({"city": ["Oslo", "Oslo", "Oslo"], "age": [33, 38, 36]})
    >>> encoding = fit_encoding(x, y)
    >>> encoding.names, encoding.categorical
    (('age', 'city'), (1,))
    >>> rows = encoding.encode(y)
    >>> rows.shape, rows[:, 0].round(2)
    ((3, 2), array([-0.94,  0.23, -0.23]))
    """

    columns: tuple[Column, ...]
    nan_policy: str = "raise"
    table: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the tables."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns of the rows that belong to each name: its values, and where they are missing."""
        groups, start = [], 0
        for column in self.columns:
            groups.append(tuple(range(start, start + 1 + column.indicated)))
            start += len(groups[-1])
        return tuple(groups)

    @property
    def width(self) -> int:
        """Number of columns of the rows."""
        return sum(map(len, self.groups))

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """Columns of the rows that are categories, indicators of missing values among them."""
        both = zip(self.columns, self.groups, strict=True)
        return tuple(i for c, group in both for i in (group if c.categorical else group[1:]))

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """Columns of the rows that are numbers."""
        return tuple(i for i in range(self.width) if i not in self.categorical)

    # -- rows --------------------------------------------------------------------------------

    def encode(self, table: Any, label: str = "table") -> Array:
        """Rows of numbers, (n, width); under "omit" of the rows in which nothing is missing.

        Parameters
        ----------
        table : table or array
            With the columns the encoding was fitted on, in any order, and maybe others.
        label : str
            What to call it in messages.
        """
        raws = self._read(as_source(table, label))
        return self._rows(raws, self._kept(raws))

    def kept(self, table: Any, label: str = "table") -> Mask:
        """Which rows of a table `encode` keeps."""
        return self._kept(self._read(as_source(table, label)))

    def _kept(self, raws: Sequence[Raw]) -> Mask:
        if self.nan_policy == "omit":
            return present_rows(raws)
        return np.ones(len(raws[0].values), dtype=np.bool_)

    def _read(self, source: Source) -> list[Raw]:
        """The columns of a table, checked against what they were."""
        if source.table != self.table:
            came, wanted = ("a table", "an array") if source.table else ("an array", "a table")
            raise InputError(f"`{source.label}` must be {wanted}, as before, got {came}.")
        if source.single and len(self.columns) == 1:
            positions = [0]
        else:
            positions = picked(source, self.names, None)
        raws = [source.read(i) for i in positions]
        for column, raw in zip(self.columns, raws, strict=True):
            if raw.kind not in (column.kind, UNKNOWN):
                raise InputError(
                    f"column {column.name!r} of `{source.label}` must hold {column.kind}, as "
                    f"before, got {raw.kind}."
                )
        check_finite_columns(raws, self.names, source.label)
        if self.nan_policy == "raise":
            check_present([raws], self.names, [source.label])
        return raws

    def _rows(self, raws: Sequence[Raw], kept: Mask) -> Array:
        """Encoded rows."""
        whole = bool(kept.all())
        rows = np.empty((int(np.count_nonzero(kept)), self.width))
        for column, raw, group in zip(self.columns, raws, self.groups, strict=True):
            values = raw.values if whole else raw.values[kept]
            missing = np.isnan(values)
            if column.categorical:
                rows[:, group[0]] = np.where(missing, MISSING, values)
                continue
            if missing.any():
                values = np.where(missing, column.fill, values)
            rows[:, group[0]] = (values - column.center) / column.scale
            if column.indicated:
                rows[:, group[1]] = missing
        return rows

    # -- kernels -----------------------------------------------------------------------------

    def kernels(self, bandwidth: float = 1.0, l1_bandwidth: float = 1.0) -> tuple[Kernel, ...]:
        """Default kernels for the rows, from median distances of their numeric columns."""
        return self.recipe().build(bandwidth, l1_bandwidth)

    def recipe(self, kernels: Kernels = None) -> Recipe:
        """Kernels for the rows: those given are for the numbers where there are categories too."""
        if not self.categorical:
            return as_recipe(kernels)
        inner = as_recipe(mixed_kernels if kernels is None else kernels)
        if inner.given:
            for kernel in inner.build():
                check_looks_at(kernel, self.categorical)
            return inner
        numeric, categorical = self._varying
        labels = self._label(numeric, "numbers"), self._label(categorical, "categories")
        return Recipe(
            lambda *medians: table_kernels(inner.build(*medians), numeric, categorical, labels),
            columns=numeric,
        )

    @property
    def _varying(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Columns of the rows that kernels look at: numbers, and categories that vary."""
        both = list(zip(self.columns, self.groups, strict=True))
        numbers = all(c.constant for c in self.columns if not c.categorical)
        dead = {g[0] for c, g in both if c.categorical and c.constant}
        categorical = tuple(i for i in self.categorical if i not in dead)
        return () if numbers else self.numeric, categorical

    def _label(self, columns: Sequence[int], several: str) -> str:
        """What to call columns in print: a lone one by its name."""
        if len(columns) != 1:
            return several
        return next(
            repr(c.name) + " missing" * (columns[0] != g[0])
            for c, g in zip(self.columns, self.groups, strict=True)
            if columns[0] in g
        )

    # -- text --------------------------------------------------------------------------------

    def __str__(self) -> str:
        categories = sum(c.categorical for c in self.columns)
        numbers = len(self.columns) - categories
        parts = [f"{numbers:,} numeric"] * bool(numbers)
        parts += [f"{categories:,} categorical"] * bool(categories)
        indicated = sum(c.indicated for c in self.columns)
        return ", ".join(parts + [f"{indicated:,} with missing values"] * bool(indicated))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": [asdict(column) for column in self.columns],
            "nan_policy": self.nan_policy,
            "table": self.table,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Encoding:
        """The encoding that `to_dict` wrote."""
        try:
            columns = tuple(_column(**column) for column in values["columns"])
            policy, table = values["nan_policy"], values["table"]
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise InputError(f"`values` must be from Encoding.to_dict, but {error!r}.") from error
        if not columns or policy not in POLICIES or not isinstance(table, bool):
            raise InputError("`values` must be from Encoding.to_dict, got other values.")
        return cls(columns, policy, table)


def _column(
    *,
    name: str,
    kind: str,
    center: float,
    scale: float,
    fill: float,
    indicated: bool,
    constant: bool,
) -> Column:
    numbers = float(center), float(scale), float(fill)
    if not (np.isfinite(numbers).all() and numbers[1] > 0):
        raise ValueError("a scale that is no positive number")
    return Column(str(name), str(kind), *numbers, bool(indicated), bool(constant))


# -- fitting ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What to do with the columns: checked values of the keywords of the test functions."""

    scale: str | None
    columns: tuple[str, ...] | None
    exclude: tuple[str, ...] | None
    nan_policy: str

    @classmethod
    def of(cls, scale: Any, columns: Any, exclude: Any, nan_policy: Any) -> Options:
        """Check the keywords."""
        if scale is not None and not isinstance(scale, str | bool | np.bool_):
            raise InputError(f"`scale` must be True, False, 'robust' or 'none', got {scale!r}.")
        if isinstance(scale, bool | np.bool_):
            scale = ROBUST if scale else NONE
        if scale is not None:
            resolve(scale, {ROBUST: ROBUST, NONE: NONE}, "scale")
        if not isinstance(nan_policy, str):
            raise InputError(f"`nan_policy` must be a name, got {nan_policy!r}.")
        policy = resolve(nan_policy, POLICIES, "nan_policy")
        return cls(scale, wanted(columns, "columns"), wanted(exclude, "exclude"), policy)

    @property
    def idle(self) -> bool:
        """Whether they leave arrays as they are."""
        picks = self.columns is not None or self.exclude is not None
        return self.scale in (None, NONE) and self.nan_policy == "raise" and not picks


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
    sources = [as_source(x, "x")] + ([] if y is None else [as_source(y, "y")])
    return _fitted(sources, options)[0]


def _fitted(
    sources: Sequence[Source], options: Options
) -> tuple[Encoding, list[list[Raw]], list[Mask]]:
    """The encoding, the columns it was fitted on, and which of their rows it keeps."""
    labels = [source.label for source in sources]
    if len(sources) == 2:
        positions = matched(sources[0], sources[1], options.columns, options.exclude)
    else:
        positions = (picked(sources[0], options.columns, options.exclude),) * 2
    names = [sources[0].names[i] for i in positions[0]]
    samples = [[s.read(i) for i in where] for s, where in zip(sources, positions, strict=False)]
    for raws, label in zip(samples, labels, strict=True):
        check_finite_columns(raws, names, label)
    kinds = [common_kind(names[j], [r[j] for r in samples], labels) for j in range(len(names))]
    if options.nan_policy == "raise":
        check_present(samples, names, labels)
    table = sources[0].table
    encoding = Encoding(tuple(map(Column, names, kinds)), options.nan_policy, table)
    kept = [encoding._kept(raws) for raws in samples]
    for source, keep in zip(sources, kept, strict=True):
        _check_rows(source, keep, samples, names)
    scaled = (options.scale or (ROBUST if table else NONE)) == ROBUST
    fitted = [
        _fit_column(
            column,
            np.concatenate([r[j].values[k] for r, k in zip(samples, kept, strict=True)]),
            scaled,
            options.nan_policy,
        )
        for j, column in enumerate(encoding.columns)
    ]
    return replace(encoding, columns=tuple(fitted)), samples, kept


def _check_rows(
    source: Source, kept: Mask, samples: Sequence[Sequence[Raw]], names: Sequence[str]
) -> None:
    count = int(np.count_nonzero(kept))
    if count >= 2:
        return
    if len(kept) < 2:
        raise InputError(f"`{source.label}` must have at least 2 rows, got {len(kept)}.")
    empty = [n for j, n in enumerate(names) if any(r[j].kind == UNKNOWN for r in samples)]
    hint = f" Leave out columns without values: exclude={empty[:5]!r}." if empty else ""
    raise InputError(
        f"`{source.label}` must have at least 2 rows in which nothing is missing, got {count} of "
        f"{len(kept):,}.{hint}"
    )


def _fit_column(column: Column, pooled: Array, scaled: bool, policy: str) -> Column:
    """Median and spread of the pooled values, in which the order of rows plays no part."""
    missing = np.isnan(pooled)
    some = bool(missing.any())
    present = pooled[~missing] if some else pooled
    constant = not len(present) or bool(present.min() == present.max())
    if column.categorical:
        return replace(column, constant=constant and not (some and len(present)))
    indicated = some and policy == "indicate"
    if not len(present):
        return replace(column, indicated=indicated, constant=True)
    center, scale = robust_scale(present)
    fitted = replace(column, fill=center, indicated=indicated, constant=constant)
    return replace(fitted, center=center, scale=scale) if scaled else fitted


def robust_scale(values: Array) -> tuple[float, float]:
    """Median, and spread: from the quartiles, else the standard deviation, else 1.

    Examples
    --------
    >>> robust_scale(np.array([1.0, 1.0, 1.0, 1.0]))
    (1.0, 1.0)
    """
    low, center, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    farthest = float(np.max(np.abs(values - center)))
    if farthest == 0.0:
        return center, 1.0
    # Sorted, so that the sum does not depend on the order of the rows, not even in its rounding.
    sd = farthest * float(np.std(np.sort((values - center) / farthest)))
    iqr = (high - low) / NORMAL_IQR
    return center, iqr if iqr > SMALLEST_IQR * sd else sd


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
    encoding, samples, kept = _fitted([as_source(x, "x"), as_source(y, "y")], options)
    rows = [encoding._rows(raws, keep) for raws, keep in zip(samples, kept, strict=True)]
    left_out = sum(int(np.count_nonzero(~keep)) for keep in kept)
    return Samples(rows[0], rows[1], encoding, left_out)
