"""The protocol of kernels, and the base quantities of rows that the built-in ones depend on.

Distances are always sums over differences of coordinates, never ‖a‖² + ‖b‖² − 2⟨a, b⟩, which
loses every digit for data far from the origin.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from nosplit._checks import check_sample
from nosplit.errors import InputError

__all__ = [
    "Base",
    "Evaluated",
    "Kernel",
    "Layout",
    "Rows",
    "Values",
    "aligned_base",
    "check_aligned",
    "check_bandwidth",
    "check_base",
    "check_kernel_rows",
    "finite",
    "layout_base",
    "positive_int",
    "row_blocks",
    "set_fields",
    "tile_base",
]

Layout: TypeAlias = Literal["aligned", "tile"]
Base: TypeAlias = Literal["sq", "l1", "dot"]
Rows: TypeAlias = npt.NDArray[np.floating[Any]]
Values: TypeAlias = npt.NDArray[np.float64]

_METRICS = {"sq": "sqeuclidean", "l1": "cityblock"}  # SciPy's names
_TILE_ELEMENTS = 1 << 16  # temporaries of half a megabyte stay in the cache


@runtime_checkable
class Kernel(Protocol):
    """The interface of a kernel.

    Examples
    --------
    A kernel of one's own is a small class with these two methods (or a function: `as_kernel`):

    >>> import numpy as np
    >>> class Brownian:
    ...     "min(a, b) on positive numbers."
    ...
    ...     def aligned(self, a, b):
    ...         return np.minimum(a, b).sum(axis=1)
    ...
    ...     def tile(self, a, b):
    ...         return np.minimum(a[:, None, :], b[None, :, :]).sum(axis=2)
    >>> isinstance(Brownian(), Kernel)
    True
    >>> from nosplit.kernels import Linear
    >>> rows = np.array([[1.0], [3.0]])
    >>> (Brownian() + Linear()).tile(rows, rows)
    array([[ 2.,  4.],
           [ 4., 12.]])
    """

    def aligned(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_i), shape (n,), of two (n, p) arrays."""

    def tile(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_j), shape (n, m), of an (n, p) and an (m, p) array."""


class Evaluated(ABC):
    """`aligned` and `tile` by one method."""

    def aligned(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_i), shape (n,), of two (n, p) arrays."""
        return self._evaluate("aligned", a, b)

    def tile(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_j), shape (n, m), of an (n, p) and an (m, p) array."""
        return self._evaluate("tile", a, b)

    @abstractmethod
    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values: ...


def aligned_base(base: Base, a: Rows, b: Rows) -> Values:
    """Base quantity of a_i and b_i, shape (n,).

    Float32 rows are subtracted in float32; sums are float64.

    Examples
    --------
    >>> import numpy as np
    >>> aligned_base("sq", np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([25.])
    """
    a, b = check_aligned(a, b)
    check_base(base, ("sq", "l1", "dot"))
    if base == "dot":
        return _row_dots(a, b)
    difference = a - b
    if base == "sq":
        return _row_dots(difference, difference)
    sums: Values = np.abs(difference, out=difference).sum(axis=1, dtype=np.float64)
    return sums


def tile_base(base: Base, a: Rows, b: Rows) -> Values:
    """Base quantity of a_i and b_j, shape (n, m); rounded as `aligned_base` rounds.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> tile_base("l1", rows, rows)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    a, b = check_kernel_rows(a, b)
    check_base(base, ("sq", "l1", "dot"))
    if base == "dot":
        return a.astype(np.float64, copy=False) @ b.astype(np.float64, copy=False).T
    if a.dtype == b.dtype == np.float32:
        return _tile_float32(base, a, b)
    from scipy.spatial.distance import cdist  # here, as it is slow to import

    distances: Values = cdist(a, b, _METRICS[base])
    return distances


def layout_base(base: Base, layout: Layout, a: Rows, b: Rows) -> Values:
    """`aligned_base` or `tile_base`."""
    return (aligned_base if layout == "aligned" else tile_base)(base, a, b)


def _row_dots(a: Rows, b: Rows) -> Values:
    dots: Values = np.einsum("ij,ij->i", a, b, dtype=np.float64)
    return dots


def _tile_float32(base: Base, a: Rows, b: Rows) -> Values:
    """Distances as of `cdist`, which subtracts in float64 and disagrees with `aligned_base`."""
    out = np.zeros((len(a), len(b)))
    columns_b = np.ascontiguousarray(b.T)
    for rows in row_blocks(len(a), len(b)):
        total = out[rows]
        for column_a, column_b in zip(a[rows].T, columns_b, strict=True):
            difference = np.subtract.outer(column_a, column_b).astype(np.float64)
            total += difference * difference if base == "sq" else np.abs(difference)
    return out


def row_blocks(n: int, row_size: int) -> Iterator[slice]:
    """Slices of n rows, so few at a time that temporaries stay small."""
    step = max(1, _TILE_ELEMENTS // max(1, row_size))
    return (slice(start, start + step) for start in range(0, n, step))


def check_kernel_rows(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Both as two-dimensional float arrays of equal width."""
    a, b = _matrix("a", a), _matrix("b", b)
    if a.shape[1] != b.shape[1]:
        raise InputError(
            f"`a` and `b` must have the same number of columns, got {a.shape[1]} and {b.shape[1]}."
        )
    return a, b


def check_aligned(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Both as two-dimensional float arrays of equal shape."""
    a, b = check_kernel_rows(a, b)
    if a.shape != b.shape:
        raise InputError(
            "`a` and `b` must have the same shape to be aligned, "
            f"got shapes {a.shape} and {b.shape}. Use `tile` for all pairs of rows."
        )
    return a, b


def _matrix(name: str, rows: npt.ArrayLike) -> Rows:
    # Inside a test such arrays were checked at the door: not again for every block.
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype in (np.float32, np.float64):
        return rows
    return check_sample(rows, name, smallest=0)


def check_base(base: str, known: tuple[str, ...]) -> None:
    """Refuse a base quantity that is not known."""
    if base not in known:
        names = ", ".join(map(repr, known))
        raise InputError(f"`base` must be one of {names}, got {base!r}.")


def set_fields(kernel: object, /, **fields: object) -> None:
    """Store checked fields of a frozen dataclass, as plain Python numbers that print plainly."""
    for name, value in fields.items():
        object.__setattr__(kernel, name, value)


def finite(value: object) -> float:
    """A finite real number as a float; NaN, which fails every comparison, for all else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def check_bandwidth(value: object) -> float:
    """A positive number whose square is one too."""
    bandwidth = finite(value)
    if not bandwidth > 0:
        raise InputError(f"`bandwidth` must be a positive finite number, got {value!r}.")
    if not 1e-150 <= bandwidth <= 1e150:
        raise InputError(
            "`bandwidth` must be between 1e-150 and 1e150, as its square is needed, "
            f"got {value!r}. Rescale the data first."
        )
    return bandwidth


def positive_int(name: str, value: object) -> int:
    """An integer ≥ 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"`{name}` must be an integer ≥ 1, got {value!r}.")
    return int(value)
