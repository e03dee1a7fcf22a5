"""Batches of one variable as numbers, of arrays and of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._lazy import is_tensor, tensor_as_array
from nosplit.data.encoding import Encoding, Mask
from nosplit.data.fit_encoding import read_one
from nosplit.data.frames import NUMBER, as_frame, code_of, is_table
from nosplit.data.options import Options
from nosplit.errors import InputError, NonFiniteError
from nosplit.kernels import Polynomial

__all__ = ["StreamBatch", "batch_rows", "check_sizes", "kept_together"]


# The fourth power of larger numbers would overflow, in pairs that no one could take back.
LARGEST = 1e70


@dataclass(frozen=True, eq=False)
class StreamBatch:
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
        kept: Mask | None = None,
    ) -> StreamBatch:
        """Tables by their encoding, which the first of them brings; arrays as they are."""
        if encoding is None and is_table(value):
            if not first:
                raise InputError(f"`{name}` must be an array, as before, got a table.")
            options = Options.of(scale, None, None, "raise")
            encoding = read_one(as_frame(value, name), options).encoding()
        if encoding is not None and value is not None:
            return cls(name, encoding.encode(value, name, kept), encoding)
        rows, discrete = (None, False) if value is None else _as_variable(value, name)
        return cls(name, rows if kept is None or rows is None else rows[kept], encoding, discrete)

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


def _as_variable(value: ArrayLike, name: str) -> tuple[NDArray[Any], bool]:
    """A variable as numbers, and whether they only name categories."""
    array = tensor_as_array(value, name) if is_tensor(value) else np.asarray(value)
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


def kept_together(
    values: Sequence[Any], encodings: Sequence[Encoding | None]
) -> NDArray[np.bool_] | None:
    """Mask of the observations with nothing missing in any variable; None if none is omitted."""
    masks = [
        encoding.kept(value, name)
        for value, encoding, name in zip(values, encodings, "xy", strict=True)
        if value is not None and encoding is not None and encoding.nan_policy == "omit"
    ]
    if not masks:
        return None
    lengths = {len(mask) for mask in masks} | {_length(value) for value in values}
    if len(lengths) > 1:
        raise InputError("`x` and `y` must have as many rows, observed together.")
    return np.asarray(np.logical_and.reduce(masks))


def _length(value: Any) -> int:
    if is_table(value):
        return as_frame(value, "x").n_rows
    return len(value) if is_tensor(value) else len(np.atleast_1d(value))


def check_sizes(rows: Sequence[NDArray[Any]], bank: Any = None) -> None:
    """Refuse numbers whose powers would not be finite, before they wait for others.

    Later it would be too late: what was taken in cannot be told from what came before.
    """
    kernels = () if bank is None else bank.kernels
    degree = max([k.degree for k in kernels if isinstance(k, Polynomial)], default=1)
    most = LARGEST ** (1.0 / degree)
    farthest = max(float(np.max(np.abs(side), initial=0.0)) for side in rows)
    if farthest > most:
        raise NonFiniteError(
            f"The kernels' values would not be finite: the largest number is {farthest:.2g} in "
            f"size, and up to {most:.2g} will do. Nothing of this batch was taken in. Rescale the "
            "data, for example to unit variance."
        )


def batch_rows(value: ArrayLike | None, name: str, width: int | None) -> NDArray[Any] | None:
    """A batch as an (n, p) array of finite numbers; None if it has no rows."""
    if value is None:
        return None
    rows = check_sample(value, name, smallest=0, finite=False)
    if not len(rows):
        return None
    check_finite(rows, name)
    farthest = float(np.abs(rows).max())
    if farthest > LARGEST:
        raise InputError(
            f"`{name}` must be below {LARGEST:g} in size, got {farthest:g}. Rescale the data first."
        )
    if width is not None and rows.shape[1] != width:
        raise InputError(f"`{name}` must have {width} columns, as before, got {rows.shape[1]}.")
    return rows
