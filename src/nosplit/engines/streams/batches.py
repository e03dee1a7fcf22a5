"""Batches of one variable as numbers, of arrays and of tables."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._support.checks import check_finite, check_sample
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import read_one
from nosplit.data.frames import NUMBER, as_source, code_of, is_table
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["Side", "batch_rows"]


@dataclass(frozen=True, eq=False)
class Side:
    """A batch of one variable as numbers, how it was encoded, and whether it names categories."""

    name: str
    rows: Any
    encoding: Encoding | None = None
    discrete: bool = False

    @classmethod
    def of(
        cls,
        value: Any,
        name: str,
        encoding: Encoding | None,
        *,
        first: bool,
        scale: str | None = None,
    ) -> Side:
        """Tables by their encoding, which the first of them brings; arrays as they are."""
        if encoding is None and is_table(value):
            if not first:
                raise InputError(f"`{name}` must be an array, as before, got a table.")
            options = Options.of(scale, None, None, "raise")
            encoding = read_one(as_source(value, name), options).encoding()
        if encoding is not None and value is not None:
            return cls(name, encoding.encode(value, name), encoding)
        rows, discrete = (None, False) if value is None else _numbered(value)
        return cls(name, rows, encoding, discrete)

    def check_numbers(self) -> None:
        """Check that there is nothing but numbers."""
        if self.discrete:
            raise InputError(f"`{self.name}` must hold real numbers, got categories.")
        for column in self.encoding.columns if self.encoding is not None else ():
            if column.kind != NUMBER:
                raise InputError(
                    f"column {column.name!r} of `{self.name}` must hold numbers, as the model "
                    f"does, got {column.kind}."
                )


def _numbered(value: ArrayLike) -> tuple[NDArray[Any], bool]:
    """A variable as numbers, and whether they only name categories."""
    array = np.asarray(value)
    kind = array.dtype.kind
    if kind == "O" and all(isinstance(v, Real) and not isinstance(v, bool) for v in array.flat):
        return array.astype(np.float64), False
    if kind not in "SUbO":
        return array, False
    try:
        found, where = np.unique(array.ravel(), return_inverse=True)
    except TypeError as error:
        raise InputError(
            f"Variables must hold numbers, or categories of one type: {error}."
        ) from error
    codes = np.array([code_of(category) for category in found.tolist()])
    return codes[where].reshape(array.shape), True


def batch_rows(value: ArrayLike | None, name: str, width: int | None) -> NDArray[Any] | None:
    """A batch as an (n, p) array of finite numbers; None if it has no rows."""
    if value is None:
        return None
    rows = check_sample(value, name, smallest=0, finite=False)
    if not len(rows):
        return None
    check_finite(rows, name)
    if width is not None and rows.shape[1] != width:
        raise InputError(f"`{name}` must have {width} columns, as before, got {rows.shape[1]}.")
    return rows
