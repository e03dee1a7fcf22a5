"""Kernels: what makes two rows alike.

A kernel is anything with two methods, `aligned` (values k(a_i, b_i)) and `tile` (values
k(a_i, b_j)): see `Kernel`. Each built-in one depends on its rows through a single **base
quantity** ("sq", the squared Euclidean distance; "l1", the sum of absolute differences; "dot",
the inner product) and a scalar `profile` of it, so kernels with the same base can share the
part that is costly for wide data. Distances are always sums over differences of coordinates,
never ‖a‖² + ‖b‖² − 2⟨a, b⟩, which loses every digit for data far from the origin.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Number, Real
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from nosplit._errors import InputError
from nosplit._validation import check_sample

__all__ = [
    "IMQ",
    "Combination",
    "Delta",
    "FunctionKernel",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Matern",
    "Polynomial",
    "Product",
    "ProfileKernel",
    "Scaled",
    "Sum",
    "aligned_base",
    "as_kernel",
    "default_kernels",
    "gaussian_grid",
    "laplace_grid",
    "median_bandwidth",
    "paper_kernels",
    "polynomial_kernels",
    "tile_base",
]

Layout: TypeAlias = Literal["aligned", "tile"]
Base: TypeAlias = Literal["sq", "l1", "dot"]
Rows: TypeAlias = npt.NDArray[np.floating[Any]]
Values: TypeAlias = npt.NDArray[np.float64]

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_METRICS = {"sq": "sqeuclidean", "l1": "cityblock"}  # SciPy's names
_TILE_ELEMENTS = 1 << 16  # temporaries of half a megabyte stay in the cache


@runtime_checkable
class Kernel(Protocol):
    """What a test needs to know of a kernel.

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
    >>> rows = np.array([[1.0], [3.0]])
    >>> (Brownian() + Linear()).tile(rows, rows)
    array([[ 2.,  4.],
           [ 4., 12.]])
    """

    def aligned(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_i), shape (n,), of two (n, p) arrays."""

    def tile(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_j), shape (n, m), of an (n, p) and an (m, p) array."""


# -- base quantities ---------------------------------------------------------------------------


def aligned_base(base: Base, a: Rows, b: Rows) -> Values:
    """Base quantity of a_i and b_i, shape (n,).

    Float32 rows are subtracted in float32; sums are float64.

    Examples
    --------
    >>> import numpy as np
    >>> aligned_base("sq", np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([25.])
    """
    a, b = _aligned_rows(a, b)
    _check_base(base, ("sq", "l1", "dot"))
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
    a, b = _rows(a, b)
    _check_base(base, ("sq", "l1", "dot"))
    if base == "dot":
        return a.astype(np.float64, copy=False) @ b.astype(np.float64, copy=False).T
    if a.dtype == b.dtype == np.float32:
        return _tile_float32(base, a, b)
    from scipy.spatial.distance import cdist  # here, as it is slow to import

    distances: Values = cdist(a, b, _METRICS[base])
    return distances


def _row_dots(a: Rows, b: Rows) -> Values:
    dots: Values = np.einsum("ij,ij->i", a, b, dtype=np.float64)
    return dots


def _base(base: Base, layout: Layout, a: Rows, b: Rows) -> Values:
    return (aligned_base if layout == "aligned" else tile_base)(base, a, b)


def _tile_float32(base: Base, a: Rows, b: Rows) -> Values:
    """As `cdist`, which would subtract in float64 and so disagree with `aligned_base`."""
    out = np.zeros((len(a), len(b)))
    columns_b = np.ascontiguousarray(b.T)
    for rows in _row_blocks(len(a), len(b)):
        total = out[rows]
        for column_a, column_b in zip(a[rows].T, columns_b, strict=True):
            difference = np.subtract.outer(column_a, column_b).astype(np.float64)
            total += difference * difference if base == "sq" else np.abs(difference)
    return out


def _row_blocks(n: int, row_size: int) -> Iterator[slice]:
    step = max(1, _TILE_ELEMENTS // max(1, row_size))
    return (slice(start, start + step) for start in range(0, n, step))


def _rows(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Both as two-dimensional float arrays of equal width."""
    a, b = _matrix("a", a), _matrix("b", b)
    if a.shape[1] != b.shape[1]:
        raise InputError(
            f"`a` and `b` must have the same number of columns, got {a.shape[1]} and {b.shape[1]}."
        )
    return a, b


def _aligned_rows(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Rows, Rows]:
    a, b = _rows(a, b)
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


# -- algebra -----------------------------------------------------------------------------------


class _Evaluated(ABC):
    """`aligned` and `tile` by one method."""

    def aligned(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_i), shape (n,), of two (n, p) arrays."""
        return self._evaluate("aligned", a, b)

    def tile(self, a: Rows, b: Rows, /) -> Values:
        """Values k(a_i, b_j), shape (n, m), of an (n, p) and an (m, p) array."""
        return self._evaluate("tile", a, b)

    @abstractmethod
    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values: ...


class _Algebra(_Evaluated):
    """Sums, products and positive multiples by operators; positive definite kernels stay so."""

    __array_ufunc__ = None  # so that np.float64(2) * kernel asks the kernel

    def __add__(self, other: object) -> Sum:
        return Sum((self, as_kernel(other)))

    def __radd__(self, other: object) -> Sum:
        return Sum((as_kernel(other), self))

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Number):
            return _scaled(other, self)
        return _product(self, as_kernel(other))

    def __rmul__(self, other: object) -> Kernel:
        if isinstance(other, Number):
            return _scaled(other, self)
        return _product(as_kernel(other), self)


class ProfileKernel(_Algebra):
    """A kernel that is a function (`profile`) of one base quantity (`base`)."""

    base: ClassVar[Base]

    @abstractmethod
    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities, element by element, as a new array."""

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.profile(_base(self.base, layout, a, b))


# -- the kernels -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gaussian(ProfileKernel):
    """exp(−‖a − b‖² / (2 bandwidth²)).

    Examples
    --------
    >>> Gaussian(0.5)
    Gaussian(bandwidth=0.5)
    >>> float(Gaussian(1.0).aligned([[0.0]], [[1.0]])[0])
    0.6065306597126334
    """

    bandwidth: float
    base: ClassVar[Base] = "sq"

    def __post_init__(self) -> None:
        _set(self, bandwidth=_bandwidth(self.bandwidth))

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.exp(q * (-0.5 / self.bandwidth**2))


@dataclass(frozen=True)
class Laplace(ProfileKernel):
    """exp(−Σ|a_j − b_j| / bandwidth).

    Examples
    --------
    >>> float(Laplace(2.0).aligned([[0.0, 1.0]], [[1.0, 0.0]])[0])
    0.36787944117144233
    """

    bandwidth: float
    base: ClassVar[Base] = "l1"

    def __post_init__(self) -> None:
        _set(self, bandwidth=_bandwidth(self.bandwidth))

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.exp(q * (-1.0 / self.bandwidth))


@dataclass(frozen=True)
class IMQ(ProfileKernel):
    """Inverse multiquadric: (1 + ‖a − b‖² / bandwidth²)^exponent, exponent < 0.

    Examples
    --------
    >>> IMQ(1.0).aligned([[0.0]], [[3.0**0.5]])
    array([0.5])
    """

    bandwidth: float
    exponent: float = -0.5
    base: ClassVar[Base] = "sq"

    def __post_init__(self) -> None:
        _set(self, bandwidth=_bandwidth(self.bandwidth))
        exponent = _number(self.exponent)
        if not exponent < 0:
            raise InputError(f"`exponent` must be a negative finite number, got {self.exponent!r}.")
        _set(self, exponent=exponent)

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        inside = 1.0 + q / self.bandwidth**2
        # The square root is many times faster than a general power.
        return 1.0 / np.sqrt(inside) if self.exponent == -0.5 else inside**self.exponent


@dataclass(frozen=True)
class Matern(ProfileKernel):
    """Matérn kernel of smoothness nu = ½, 3/2 or 5/2.

    With r = ‖a − b‖ / bandwidth and s = √(2 nu) r: exp(−s), (1 + s) exp(−s) and
    (1 + s + s²/3) exp(−s).

    Examples
    --------
    >>> Matern(2.0)
    Matern(bandwidth=2.0, nu=1.5)
    >>> float(Matern(1.0, nu=0.5).aligned([[0.0]], [[1.0]])[0])
    0.36787944117144233
    """

    bandwidth: float
    nu: float = 1.5
    base: ClassVar[Base] = "sq"

    def __post_init__(self) -> None:
        _set(self, bandwidth=_bandwidth(self.bandwidth))
        nu = _number(self.nu)
        if nu not in (0.5, 1.5, 2.5):
            raise InputError(f"`nu` must be 0.5, 1.5 or 2.5, got {self.nu!r}.")
        _set(self, nu=nu)

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        s = np.sqrt(q) * (math.sqrt(2.0 * self.nu) / self.bandwidth)
        if self.nu == 0.5:
            return np.exp(-s)
        if self.nu == 1.5:
            return (1.0 + s) * np.exp(-s)
        return (1.0 + s + s * s / 3.0) * np.exp(-s)


@dataclass(frozen=True)
class Linear(ProfileKernel):
    """⟨a, b⟩: sees differences in means, and nothing else.

    Examples
    --------
    >>> Linear().aligned([[1.0, 2.0]], [[3.0, 4.0]])
    array([11.])
    """

    base: ClassVar[Base] = "dot"

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.positive(q)  # a copy, as every other profile gives


@dataclass(frozen=True)
class Polynomial(ProfileKernel):
    """(⟨a, b⟩ + offset)^degree; homogeneous when offset is 0.

    Examples
    --------
    >>> Polynomial(2, offset=1.0).aligned([[1.0, 2.0]], [[3.0, 4.0]])
    array([144.])
    """

    degree: int
    offset: float = 0.0
    base: ClassVar[Base] = "dot"

    def __post_init__(self) -> None:
        offset = _number(self.offset)
        if not offset >= 0:
            raise InputError(
                f"`offset` must be a finite number ≥ 0, got {self.offset!r}. "
                "With a negative one the kernel is not positive definite."
            )
        _set(self, degree=_positive_int("degree", self.degree), offset=offset)

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return (q + self.offset) ** self.degree


@dataclass(frozen=True)
class Delta(ProfileKernel):
    """1 where two rows are equal in every column, 0 elsewhere: for categories.

    Examples
    --------
    >>> Delta().tile([[0.0], [1.0]], [[1.0], [2.0]])
    array([[0., 0.],
           [1., 0.]])
    """

    base: ClassVar[Base] = "l1"

    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities."""
        return np.asarray(q == 0.0, dtype=np.float64)


@dataclass(frozen=True, repr=False)
class FunctionKernel(_Algebra):
    """A plain function of two broadcastable (…, p) arrays as a kernel; made by `as_kernel`."""

    function: Callable[[Any, Any], Any]

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        if layout == "aligned":
            a, b = _aligned_rows(a, b)
            return self._call(a, b, (len(a),))
        a, b = _rows(a, b)
        out = np.empty((len(a), len(b)))
        for rows in _row_blocks(len(a), b.size):
            out[rows] = self._call(a[rows, None, :], b[None, :, :], out[rows].shape)
        return out

    def _call(self, a: Rows, b: Rows, shape: tuple[int, ...]) -> Values:
        values = np.asarray(self.function(a, b), dtype=np.float64)
        if values.shape != shape:
            raise InputError(
                f"`{self._name}` must map arrays of shape (..., p) to shape (...): {shape} for "
                f"shapes {a.shape} and {b.shape}, got {values.shape}. "
                "Reduce over the last axis only (`axis=-1`)."
            )
        return values

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", None) or repr(self.function)

    def __repr__(self) -> str:
        return f"FunctionKernel({self._name})"


def as_kernel(kernel: object) -> Kernel:
    """A kernel as it is; a plain function as a `FunctionKernel`.

    Parameters
    ----------
    kernel : Kernel or callable
        A callable takes two float arrays of shapes that broadcast against each other, (..., p),
        and returns values of shape (...): it reduces over the last axis. It should be symmetric
        and positive definite.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import numpy as np
    >>> def cosine(a, b):
    ...     norms = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    ...     return (a * b).sum(axis=-1) / norms
    >>> as_kernel(cosine)
    FunctionKernel(cosine)
    >>> rows = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> as_kernel(cosine).tile(rows, rows)
    array([[1., 0.],
           [0., 1.]])
    >>> Gaussian(1.0) + cosine
    Gaussian(bandwidth=1.0) + FunctionKernel(cosine)
    """
    # A class has the attributes of its instances, so it would pass for a kernel.
    if isinstance(kernel, type):
        name = kernel.__name__
        raise InputError(
            f"`kernel` must be a kernel, got the class {name}. Call it: `{name}(...)`."
        )
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return FunctionKernel(kernel)
    raise InputError(
        "`kernel` must have the methods `aligned` and `tile`, or be a function of two arrays, "
        f"got {kernel!r}."
    )


# -- composites --------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Sum(_Algebra):
    """k₁ + k₂ + …, made by `+`.

    Examples
    --------
    >>> Gaussian(1.0) + 2.0 * Linear()
    Gaussian(bandwidth=1.0) + 2.0 * Linear()
    """

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _set(self, kernels=_flat(Sum, _kernels(self.kernels)))

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return reduce(np.add, _values(self.kernels, layout, a, b))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


@dataclass(frozen=True, repr=False)
class Product(_Algebra):
    """k₁ · k₂ · …, made by `*`.

    Examples
    --------
    >>> (2.0 * Gaussian(1.0)) * (Linear() + Laplace(1.0))
    2.0 * Gaussian(bandwidth=1.0) * (Linear() + Laplace(bandwidth=1.0))
    """

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _set(self, kernels=_flat(Product, _kernels(self.kernels)))

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return reduce(np.multiply, _values(self.kernels, layout, a, b))

    def __repr__(self) -> str:
        return " * ".join(map(_factor_repr, self.kernels))


@dataclass(frozen=True, repr=False)
class Scaled(_Algebra):
    """factor · k with factor > 0, made by `*`.

    Examples
    --------
    >>> 2.0 * (Linear() * 3.0)
    6.0 * Linear()
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        factor, kernel = _positive_factor(self.factor), as_kernel(self.kernel)
        if isinstance(kernel, Scaled):
            factor, kernel = _positive_factor(factor * kernel.factor), kernel.kernel
        _set(self, factor=factor, kernel=kernel)

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.factor * _one(self.kernel, layout, a, b)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_factor_repr(self.kernel)}"


@dataclass(frozen=True)
class Combination(_Evaluated):
    """Σ weights_u k_u with weights of any sign, as OST learns them; maybe not positive definite.

    Examples
    --------
    >>> learned = Combination((Gaussian(1.0), Linear()), (1.0, -0.5))
    >>> learned
    Combination(kernels=(Gaussian(bandwidth=1.0), Linear()), weights=(1.0, -0.5))
    >>> learned.aligned([[2.0]], [[2.0]])
    array([-1.])
    """

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        kernels, weights = _kernels(self.kernels), self.weights
        if not isinstance(weights, list | tuple | np.ndarray):
            raise InputError(f"`weights` must be a tuple of numbers, got {weights!r}.")
        if len(weights) != len(kernels):
            raise InputError(
                "`weights` must be as many as `kernels`, "
                f"got {len(weights)} weights and {len(kernels)} kernels."
            )
        numbers = tuple(map(_number, weights))
        if any(map(math.isnan, numbers)):
            raise InputError(f"`weights` must be finite numbers, got {weights!r}.")
        _set(self, kernels=kernels, weights=numbers)

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        values = _values(self.kernels, layout, a, b)
        return reduce(np.add, map(np.multiply, self.weights, values))


def _values(kernels: Sequence[Kernel], layout: Layout, a: Rows, b: Rows) -> Iterator[Values]:
    """The values of each kernel in turn, every base quantity computed once."""
    found: dict[Base, Values] = {}
    for kernel in kernels:
        if not isinstance(kernel, ProfileKernel):
            yield _one(kernel, layout, a, b)
            continue
        if kernel.base not in found:
            found[kernel.base] = _base(kernel.base, layout, a, b)
        yield kernel.profile(found[kernel.base])


def _one(kernel: Kernel, layout: Layout, a: Rows, b: Rows) -> Values:
    return kernel.aligned(a, b) if layout == "aligned" else kernel.tile(a, b)


def _scaled(factor: object, kernel: Kernel) -> Kernel:
    scaled = Scaled(factor, kernel)  # type: ignore[arg-type]  # checked there
    return scaled.kernel if scaled.factor == 1.0 else scaled


def _product(left: Kernel, right: Kernel) -> Kernel:
    """A product with the multiples in front."""
    factor = 1.0
    parts = []
    for kernel in (left, right):
        if isinstance(kernel, Scaled):
            factor, kernel = factor * kernel.factor, kernel.kernel
        parts.append(kernel)
    return _scaled(factor, Product(tuple(parts)))


def _flat(kind: type[Sum] | type[Product], kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    parts: list[Kernel] = []
    for kernel in kernels:
        parts.extend(kernel.kernels if isinstance(kernel, kind) else (kernel,))
    return tuple(parts)


def _factor_repr(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)


# -- bandwidths and named sets -----------------------------------------------------------------


def median_bandwidth(rows: npt.ArrayLike, *, base: Literal["sq", "l1"] = "sq") -> float:
    """Median heuristic: the median distance between two different rows.

    When it is 0, because more than half of the pairs coincide, the median of the positive
    distances. The order of the rows does not matter, to the last bit.

    Parameters
    ----------
    rows : array_like, shape (n, p)
        The pooled sample, or a subsample of it: all n² distances are held in memory.
    base : {"sq", "l1"}
        Euclidean distances, or sums of absolute differences.

    Returns
    -------
    float

    Examples
    --------
    >>> median_bandwidth([[0.0], [1.0], [3.0]])
    2.0
    >>> median_bandwidth([[0.0], [0.0], [0.0], [0.0], [5.0]])
    5.0
    """
    _check_base(base, ("sq", "l1"))
    points = check_sample(rows, "rows", smallest=2)
    from nosplit._loops import tile_l1, tile_sq  # here, as numba is slow to import

    points = np.ascontiguousarray(points, dtype=np.float64)
    tile = np.empty((len(points), len(points)))
    (tile_sq if base == "sq" else tile_l1)(points, np.ascontiguousarray(points.T), tile)
    # All but the diagonal: every distance twice, which leaves the median as it is.
    pairs = tile.ravel()[1:].reshape(len(points) - 1, len(points) + 1)[:, :-1].ravel()
    median = _median(pairs, root=base == "sq")
    if not math.isfinite(median):
        raise InputError(
            "`rows` must be below about 1e150 in size, got distances that overflow. "
            "Rescale the data first."
        )
    return median


def _median(distances: Values, *, root: bool) -> float:
    """Median of the distances (or of their roots); of the positive ones if that is 0."""
    median = _middle(distances, root=root)
    if median > 0:
        return median
    positive = distances[distances > 0]
    if not positive.size:
        raise InputError(
            "`rows` must hold points that differ for a median distance, got points that all "
            "coincide (or to within 1e-150). Give kernels with bandwidths of your own."
        )
    return _middle(positive, root=root)


def _middle(values: Values, *, root: bool) -> float:
    """Median of the values (or of their roots), which are put into another order."""
    # In place, at one point, and a maximum: several times faster than `np.median`.
    half = len(values) // 2
    values.partition(half)
    upper = values[half]
    lower = values[:half].max() if len(values) % 2 == 0 else upper
    if root:
        lower, upper = np.sqrt(lower), np.sqrt(upper)
    return float(0.5 * lower + 0.5 * upper)


def gaussian_grid(bandwidth: float, factors: Sequence[float] = FACTORS) -> tuple[Gaussian, ...]:
    """Gaussian kernels with the multiples `factors` of a bandwidth.

    Examples
    --------
    >>> gaussian_grid(3.0, (0.5, 2.0))
    (Gaussian(bandwidth=1.5), Gaussian(bandwidth=6.0))
    """
    return tuple(Gaussian(factor * _bandwidth(bandwidth)) for factor in factors)


def laplace_grid(bandwidth: float, factors: Sequence[float] = FACTORS) -> tuple[Laplace, ...]:
    """Laplace kernels with the multiples `factors` of a bandwidth.

    Examples
    --------
    >>> laplace_grid(3.0, (0.5, 2.0))
    (Laplace(bandwidth=1.5), Laplace(bandwidth=6.0))
    """
    return tuple(Laplace(factor * _bandwidth(bandwidth)) for factor in factors)


def paper_kernels(d: int, bandwidth: float) -> tuple[Kernel, ...]:
    """The three base sets of the paper's experiments, d = 1, 2 and 6.

    Examples
    --------
    >>> paper_kernels(2, 1.0)
    (Gaussian(bandwidth=1.0), Linear())
    >>> [kernel.bandwidth for kernel in paper_kernels(6, 1.0)[:5]]
    [0.25, 0.5, 1.0, 2.0, 4.0]
    """
    if d == 1:
        return gaussian_grid(bandwidth, (1.0,))
    if d == 2:
        return (Gaussian(bandwidth), Linear())
    if d == 6:
        return (*gaussian_grid(bandwidth), Linear())
    raise InputError(f"`d` must be 1, 2 or 6, the sizes in the paper, got {d!r}.")


def polynomial_kernels(d: int) -> tuple[Polynomial, ...]:
    """Homogeneous polynomial kernels of degrees 1, …, d (the paper's last experiment).

    Examples
    --------
    >>> polynomial_kernels(2)
    (Polynomial(degree=1, offset=0.0), Polynomial(degree=2, offset=0.0))
    """
    return tuple(Polynomial(degree) for degree in range(1, _positive_int("d", d) + 1))


def default_kernels(bandwidth: float, l1_bandwidth: float) -> tuple[Kernel, ...]:
    """The kernels of a test that names none: Gaussian and Laplace kernels, and a linear one.

    Three bandwidths each, at 1/8, 1/2 and 2 of the median distance: chosen by the study in
    `benchmarks/default_kernels.py`, in which finer grids cost power and coarser ones missed
    differences at small scales.

    Parameters
    ----------
    bandwidth, l1_bandwidth : float
        Medians of the Euclidean and of the L1 distances (`median_bandwidth`).

    Examples
    --------
    >>> len(default_kernels(1.0, 2.0))
    7
    """
    coarse = (0.125, 0.5, 2.0)
    return (*gaussian_grid(bandwidth, coarse), *laplace_grid(l1_bandwidth, coarse), Linear())


# -- checks ------------------------------------------------------------------------------------


def _set(kernel: object, /, **fields: object) -> None:
    """Store checked fields of a frozen dataclass, as plain Python numbers that print plainly."""
    for name, value in fields.items():
        object.__setattr__(kernel, name, value)


def _number(value: object) -> float:
    """A finite real number as a float; NaN, which fails every comparison, for all else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _bandwidth(value: object) -> float:
    bandwidth = _number(value)
    if not bandwidth > 0:
        raise InputError(f"`bandwidth` must be a positive finite number, got {value!r}.")
    if not 1e-150 <= bandwidth <= 1e150:
        raise InputError(
            "`bandwidth` must be between 1e-150 and 1e150, as its square is needed, "
            f"got {value!r}. Rescale the data first."
        )
    return bandwidth


def _positive_factor(value: object) -> float:
    factor = _number(value)
    if not factor > 0:
        raise InputError(
            f"`factor` of a kernel must be a positive finite number, got {value!r}. "
            "`Combination(kernels, weights)` takes weights of any sign."
        )
    return factor


def _positive_int(name: str, value: object) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"`{name}` must be an integer ≥ 1, got {value!r}.")
    return int(value)


def _check_base(base: str, known: tuple[str, ...]) -> None:
    if base not in known:
        names = ", ".join(map(repr, known))
        raise InputError(f"`base` must be one of {names}, got {base!r}.")


def _kernels(kernels: object) -> tuple[Kernel, ...]:
    if not isinstance(kernels, list | tuple) or not kernels:
        raise InputError(f"`kernels` must be a tuple of one or more kernels, got {kernels!r}.")
    return tuple(map(as_kernel, kernels))
