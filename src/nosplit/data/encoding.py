"""Tables → rows of numbers that kernels can compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._text import listed
from nosplit._types import Array
from nosplit.data.frames import CATEGORIES, UNKNOWN, Frame, Raw, as_frame, code_of
from nosplit.data.matching import check_finite_columns, check_present, picked, present_rows
from nosplit.data.names import without
from nosplit.data.options import POLICIES
from nosplit.errors import InputError
from nosplit.kernels import Kernel, Parts, mixed_kernels, table_kernels
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe, check_looks_at

__all__ = ["Column", "Encoding", "Mask"]

Mask = NDArray[np.bool_]
MISSING = code_of(None)


@dataclass(frozen=True)
class Column:
    """The encoding of one column.

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
    idle : bool
        Whether it had nothing to compare where the encoding was fitted: values all the same, or
        categories all different, or all the same but one.
    """

    name: str
    kind: str
    center: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    indicated: bool = False
    idle: bool = False

    @property
    def categorical(self) -> bool:
        """Whether values are compared for equality."""
        return self.kind in CATEGORIES


@dataclass(frozen=True)
class Encoding:
    """The encoding of tables as rows of numbers. It holds no rows.

    Kernels look at the columns that varied where the encoding was fitted. Under "indicate", a
    column of numbers in which fewer than two were missing there has no indicator: what is missing
    counts as the median.

    Attributes
    ----------
    columns : tuple of Column
        The columns of the tables, in the order of `names`.
    nan_policy : str
        What is done where values are missing: "raise", "omit" or "indicate".
    table : bool
        Whether it is for tables, matched by name, or for arrays, by position.
    notes : tuple of str
        What readers of a result should know of the columns; not saved.

    Examples
    --------
    >>> import pandas as pd
    >>> from nosplit.data.fit_encoding import fit_encoding
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
    notes: tuple[str, ...] = field(default=(), compare=False)

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
    def owners(self) -> list[int]:
        """The number of the name that each column of the rows belongs to."""
        return [j for j, group in enumerate(self.groups) for _ in group]

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
        categorical = set(self.categorical)
        return tuple(i for i in range(self.width) if i not in categorical)

    def scaled(self, centers: Array, scales: Array) -> Encoding:
        """The same encoding of numbers with other centers and scales."""
        new = zip(self.columns, centers.tolist(), scales.tolist(), strict=True)
        columns = tuple(replace(column, center=c, scale=s) for column, c, s in new)
        return replace(self, columns=columns)

    # -- rows --------------------------------------------------------------------------------

    def on_scale(self, rows: Array) -> Array:
        """Rows that the same encoding without scales made, on the scales of this one."""
        centers, scales = np.array([(c.center, c.scale) for c in self.columns]).T
        return np.asarray((rows - centers) / scales)

    def encode(self, table: Any, label: str = "table", kept: Mask | None = None) -> Array:
        """Rows of numbers, (n, width); under "omit" of the rows in which nothing is missing.

        Parameters
        ----------
        table : table or array
            With the columns the encoding was fitted on, in any order, and maybe others.
        label : str
            What to call it in messages.
        kept : array of bool, optional
            Which rows to encode, if that is decided elsewhere too.
        """
        raws = self.read(as_frame(table, label))
        return self.rows_of(raws, self.kept_of(raws) if kept is None else kept)

    def kept(self, table: Any, label: str = "table") -> Mask:
        """Mask of the rows of a table that `encode` keeps."""
        return self.kept_of(self.read(as_frame(table, label)))

    def kept_of(self, raws: Sequence[Raw]) -> Mask:
        """Mask of the rows kept, from columns that were read and checked."""
        if self.nan_policy == "omit":
            return present_rows(raws)
        return np.ones(len(raws[0].values), dtype=np.bool_)

    def read(self, source: Frame) -> list[Raw]:
        """The columns of a table, checked against what they were."""
        if source.table != self.table:
            came, wanted = ("a table", "an array") if source.table else ("an array", "a table")
            raise InputError(f"`{source.label}` must be {wanted}, as before, got {came}.")
        lacking = without(self.names, source.names)
        if source.single and len(self.columns) == 1:
            positions = [0]
        elif lacking:
            raise InputError(
                f"`{source.label}` must have the columns it had before, but lacks "
                f"{listed(lacking)}."
            )
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
            check_present([raws], self.names, [source.label], self.table)
        return raws

    @np.errstate(over="ignore", invalid="ignore")  # found where rows are used
    def rows_of(self, raws: Sequence[Raw], kept: Mask) -> Array:
        """Encoded rows from columns that were read and checked."""
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
            default=kernels is None or kernels == "default",
        )

    @property
    def _varying(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Columns of the rows that kernels look at: numbers, and categories that vary."""
        both = list(zip(self.columns, self.groups, strict=True))
        numbers = all(c.idle for c in self.columns if not c.categorical)
        dead = {g[0] for c, g in both if c.categorical and c.idle}
        categorical = tuple(i for i in self.categorical if i not in dead)
        return () if numbers else self.numeric, categorical

    @property
    def parts(self) -> bool | Parts:
        """Kinds of its columns, for the kernels of an independence test.

        False if all columns are numbers, True for one column of categories.
        """
        if not self.categorical:
            return False
        numeric, categorical = self._varying
        if self.width == 1:
            return True
        labels = self._label(numeric, "numbers"), self._label(categorical, "categories")
        return Parts(numeric, categorical, labels)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to compare."""
        return not any(self._varying)

    def _label(self, columns: Sequence[int], several: str) -> str:
        """Name columns in print: a lone one by its own name."""
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
        parts += [f"{indicated:,} with missing values"] * bool(indicated)
        idle = [c.name for c in self.columns if c.idle]
        return ", ".join(parts + [f"nothing to compare in {listed(idle)}"] * bool(idle))

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
            columns = tuple(_read_column(**column) for column in values["columns"])
            policy, table = values["nan_policy"], values["table"]
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise InputError(f"`values` must be from Encoding.to_dict, but {error!r}.") from error
        if not columns or policy not in POLICIES or not isinstance(table, bool):
            raise InputError("`values` must be from Encoding.to_dict, got other values.")
        return cls(columns, policy, table)


def columns_in(
    encoding: Encoding | None, width: int
) -> tuple[Sequence[tuple[int, ...]], Sequence[int]]:
    """Columns of the rows that belong to each column, and those that hold categories."""
    if encoding is None:
        return [(j,) for j in range(width)], ()
    return encoding.groups, encoding.categorical


def _read_column(
    *,
    name: str,
    kind: str,
    center: float,
    scale: float,
    fill: float,
    indicated: bool,
    idle: bool,
) -> Column:
    numbers = float(center), float(scale), float(fill)
    if not (np.isfinite(numbers).all() and numbers[1] > 0):
        raise ValueError("a scale that is no positive number")
    return Column(str(name), str(kind), *numbers, bool(indicated), bool(idle))
