"""Kernels on some of the columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index

import numpy as np

from nosplit.errors import InputError
from nosplit.kernels._base import Kernel, Layout, Rows, Values, check_kernel_rows, set_fields
from nosplit.kernels.algebra import Algebra, as_kernel

__all__ = ["Mixed", "OnColumns"]


@dataclass(frozen=True, repr=False)
class OnColumns(Algebra):
    """A kernel that looks at some of the columns only.

    Parameters
    ----------
    kernel : Kernel
        What is done with these columns.
    columns : sequence of int
        Their positions, from 0.
    label : str
        What to call them where the kernel is printed.

    Examples
    --------
    >>> from nosplit.kernels import Delta, Gaussian
    >>> k = OnColumns(Gaussian(1.0), (0, 1)) * OnColumns(Delta(), (2,), label="'city'")
    >>> k
    Gaussian(bandwidth=1.0) on columns 0, 1 * Delta() on 'city'
    >>> k.tile([[0.0, 0.0, 7.0]], [[0.0, 0.0, 7.0], [0.0, 0.0, 8.0]])
    array([[1., 0.]])
    """

    kernel: Kernel
    columns: tuple[int, ...]
    label: str = ""

    def __post_init__(self) -> None:
        set_fields(self, kernel=as_kernel(self.kernel), columns=_checked_positions(self.columns))

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        a, b = check_kernel_rows(a, b)
        a, b = self.pick(a), self.pick(b)
        return self.kernel.aligned(a, b) if layout == "aligned" else self.kernel.tile(a, b)

    def pick(self, rows: Rows) -> Rows:
        """The columns it looks at."""
        if max(self.columns) >= rows.shape[1]:
            raise InputError(
                f"`columns` of a kernel must be among the {rows.shape[1]} of the data, counted "
                f"from 0, got {max(self.columns)}."
            )
        picked: Rows = np.take(rows, self.columns, axis=1)
        return picked

    @property
    def where(self) -> str:
        """Name of the columns."""
        return self.label or f"columns {', '.join(map(str, self.columns))}"

    def __repr__(self) -> str:
        text = repr(self.kernel)
        return f"({text}) on {self.where}" if " " in text else f"{text} on {self.where}"


@dataclass(frozen=True, repr=False)
class Mixed(Algebra):
    """k + a + k·a, of a kernel k on numbers and a kernel a on categories.

    One kernel that sees numbers, categories, and what they have to do with each other.

    Examples
    --------
    >>> from nosplit.kernels import Delta, Linear
    >>> k = Mixed(OnColumns(Linear(), (0,), "'age'"), OnColumns(Delta(), (1,), "'city'"))
    >>> k
    Linear() on 'age' with 'city'
    >>> k.aligned([[2.0, 5.0]], [[3.0, 5.0]])
    array([13.])
    """

    numbers: OnColumns
    categories: OnColumns

    def __post_init__(self) -> None:
        for part in (self.numbers, self.categories):
            if not isinstance(part, OnColumns):
                raise InputError(f"`Mixed` must be of two kernels on columns, got {part!r}.")

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.combined(*(k._evaluate(layout, a, b) for k in (self.numbers, self.categories)))

    def combined(self, numbers: Values, categories: Values) -> Values:
        """Kernel values from those of its parts."""
        return numbers + categories + numbers * categories

    def __repr__(self) -> str:
        return f"{self.numbers!r} with {self.categories.where}"


def _checked_positions(columns: Iterable[int]) -> tuple[int, ...]:
    try:
        positions = tuple(index(c) for c in columns)
    except TypeError:
        positions = ()
    if not positions or min(positions) < 0 or len(set(positions)) < len(positions):
        raise InputError(
            f"`columns` of a kernel must be different positions from 0, at least one, "
            f"got {columns!r}."
        )
    return positions
