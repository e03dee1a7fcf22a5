"""Kernels made of kernels: sums, products, multiples; functions as kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Number
from typing import Any, ClassVar

import numpy as np

from nosplit.errors import InputError
from nosplit.kernels._base import (
    Base,
    Evaluated,
    Kernel,
    Layout,
    Rows,
    Values,
    check_aligned,
    check_kernel_rows,
    finite,
    layout_base,
    row_blocks,
    set_fields,
)

__all__ = [
    "Algebra",
    "FunctionKernel",
    "Product",
    "ProfileKernel",
    "Scaled",
    "Sum",
    "all_values",
    "as_kernel",
    "as_kernels",
]


class Algebra(Evaluated):
    """Sums, products and positive multiples by operators; positive definite kernels stay so."""

    __array_ufunc__ = None  # so that np.float64(2) * kernel asks the kernel

    def __add__(self, other: object) -> Sum:
        return Sum((self, as_kernel(other)))

    def __radd__(self, other: object) -> Sum:
        return Sum((as_kernel(other), self))

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Number):
            return _times_factor(other, self)
        return _product_of(self, as_kernel(other))

    def __rmul__(self, other: object) -> Kernel:
        if isinstance(other, Number):
            return _times_factor(other, self)
        return _product_of(as_kernel(other), self)


class ProfileKernel(Algebra):
    """A kernel that is a function (`profile`) of one base quantity (`base`)."""

    base: ClassVar[Base]

    @abstractmethod
    def profile(self, q: Values) -> Values:
        """Kernel values of base quantities, element by element, as a new array."""

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.profile(layout_base(self.base, layout, a, b))


@dataclass(frozen=True, repr=False)
class FunctionKernel(Algebra):
    """A plain function of two broadcastable (…, p) arrays as a kernel; made by `as_kernel`."""

    function: Callable[[Any, Any], Any]

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        if layout == "aligned":
            a, b = check_aligned(a, b)
            return self._call(a, b, (len(a),))
        a, b = check_kernel_rows(a, b)
        out = np.empty((len(a), len(b)))
        for rows in row_blocks(len(a), b.size):
            out[rows] = self._call(a[rows, None, :], b[None, :, :], out[rows].shape)
        return out

    def _call(self, a: Rows, b: Rows, shape: tuple[int, ...]) -> Values:
        values = np.asarray(self.function(a, b))
        if values.dtype.kind not in "fiub":
            raise InputError(f"`{self._name}` must return real numbers, got {values.dtype}.")
        values = values.astype(np.float64, copy=False)
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
    >>> from nosplit.kernels import Gaussian
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


def as_kernels(kernels: object) -> tuple[Kernel, ...]:
    """One or more kernels, each by `as_kernel`."""
    if not isinstance(kernels, list | tuple) or not kernels:
        raise InputError(f"`kernels` must be a tuple of one or more kernels, got {kernels!r}.")
    return tuple(map(as_kernel, kernels))


@dataclass(frozen=True, repr=False)
class _Several(Algebra):
    """An operation on the values of several kernels; nested ones are flattened."""

    kernels: tuple[Kernel, ...]
    operation: ClassVar[np.ufunc]

    def __post_init__(self) -> None:
        parts: list[Kernel] = []
        for kernel in as_kernels(self.kernels):
            parts.extend(kernel.kernels if isinstance(kernel, type(self)) else (kernel,))
        set_fields(self, kernels=tuple(parts))

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return reduce(self.operation, all_values(self.kernels, layout, a, b))


@dataclass(frozen=True, repr=False)
class Sum(_Several):
    """k₁ + k₂ + …, made by `+`.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian, Linear
    >>> Gaussian(1.0) + 2.0 * Linear()
    Gaussian(bandwidth=1.0) + 2.0 * Linear()
    """

    operation: ClassVar[np.ufunc] = np.add

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


@dataclass(frozen=True, repr=False)
class Product(_Several):
    """k₁ · k₂ · …, made by `*`.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian, Laplace, Linear
    >>> (2.0 * Gaussian(1.0)) * (Linear() + Laplace(1.0))
    2.0 * Gaussian(bandwidth=1.0) * (Linear() + Laplace(bandwidth=1.0))
    """

    operation: ClassVar[np.ufunc] = np.multiply

    def __repr__(self) -> str:
        return " * ".join(map(_factor_repr, self.kernels))


@dataclass(frozen=True, repr=False)
class Scaled(Algebra):
    """factor · k with factor > 0, made by `*`.

    Examples
    --------
    >>> from nosplit.kernels import Linear
    >>> 2.0 * (Linear() * 3.0)
    6.0 * Linear()
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        factor, kernel = _positive_factor(self.factor), as_kernel(self.kernel)
        if isinstance(kernel, Scaled):
            factor, kernel = _positive_factor(factor * kernel.factor), kernel.kernel
        set_fields(self, factor=factor, kernel=kernel)

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        return self.factor * _kernel_values(self.kernel, layout, a, b)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_factor_repr(self.kernel)}"


def all_values(kernels: Sequence[Kernel], layout: Layout, a: Rows, b: Rows) -> Iterator[Values]:
    """The values of each kernel in turn, every base quantity computed once."""
    found: dict[Base, Values] = {}
    for kernel in kernels:
        if not isinstance(kernel, ProfileKernel):
            yield _kernel_values(kernel, layout, a, b)
            continue
        if kernel.base not in found:
            found[kernel.base] = layout_base(kernel.base, layout, a, b)
        yield kernel.profile(found[kernel.base])


def _kernel_values(kernel: Kernel, layout: Layout, a: Rows, b: Rows) -> Values:
    return kernel.aligned(a, b) if layout == "aligned" else kernel.tile(a, b)


def _times_factor(factor: object, kernel: Kernel) -> Kernel:
    scaled = Scaled(factor, kernel)  # type: ignore[arg-type]  # checked there
    return scaled.kernel if scaled.factor == 1.0 else scaled


def _product_of(left: Kernel, right: Kernel) -> Kernel:
    """A product with the multiples in front."""
    factor = 1.0
    parts = []
    for kernel in (left, right):
        if isinstance(kernel, Scaled):
            factor, kernel = factor * kernel.factor, kernel.kernel
        parts.append(kernel)
    return _times_factor(factor, Product(tuple(parts)))


def _factor_repr(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)


def _positive_factor(value: object) -> float:
    factor = finite(value)
    if not factor > 0:
        raise InputError(
            f"`factor` of a kernel must be a positive finite number, got {value!r}. "
            "`Combination(kernels, weights)` takes weights of any sign."
        )
    return factor
