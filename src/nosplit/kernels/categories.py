"""Kernels of rows of categories: in how many columns two rows agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit.errors import InputError
from nosplit.kernels._base import (
    Layout,
    Rows,
    Values,
    check_aligned,
    check_kernel_rows,
    finite,
    row_blocks,
    set_fields,
)
from nosplit.kernels.algebra import Algebra

__all__ = ["Agreement", "Hamming", "agreements"]


@dataclass(frozen=True)
class Agreement(Algebra):
    """Share of the columns in which two rows are equal: the mean of `Delta` on each of them.

    Examples
    --------
    >>> Agreement().aligned([[1.0, 5.0, 2.0, 2.0]], [[1.0, 5.0, 2.0, 3.0]])
    array([0.75])
    """

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.of_shares(agreements(layout, a, b), np.shape(a)[1])

    def of_shares(self, shares: Values, _: int) -> Values:
        """Kernel values from shares of columns that are equal."""
        return shares


@dataclass(frozen=True)
class Hamming(Algebra):
    """`factor` to the power of the number of columns in which two rows differ.

    A product over columns, so it sees how categories go together; `Agreement` does not.

    Examples
    --------
    >>> Hamming(0.5).tile([[0.0, 1.0]], [[0.0, 1.0], [0.0, 2.0], [3.0, 2.0]])
    array([[1.  , 0.5 , 0.25]])
    """

    factor: float

    def __post_init__(self) -> None:
        factor = finite(self.factor)
        if not 0.0 < factor < 1.0:
            raise InputError(f"`factor` must be strictly between 0 and 1, got {self.factor!r}.")
        set_fields(self, factor=factor)

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.of_shares(agreements(layout, a, b), np.shape(a)[1])

    def of_shares(self, shares: Values, columns: int) -> Values:
        """Kernel values from shares of columns that are equal, of so many columns."""
        values: Values = np.exp((1.0 - shares) * (columns * np.log(self.factor)))
        return values


def agreements(layout: Layout, a: Rows, b: Rows) -> Values:
    """Shares of the columns in which rows are equal: (n,) if aligned, (n, m) for a tile."""
    if layout == "aligned":
        a, b = check_aligned(a, b)
        return np.asarray((a == b).mean(axis=1))
    a, b = check_kernel_rows(a, b)
    shares = np.empty((len(a), len(b)))
    columns = np.ascontiguousarray(b.T)
    for rows in row_blocks(len(a), len(b)):
        count = np.zeros(shares[rows].shape, dtype=np.int32)
        for one, other in zip(a[rows].T, columns, strict=True):
            count += one[:, None] == other
        np.divide(count, a.shape[1], out=shares[rows])
    return shares
