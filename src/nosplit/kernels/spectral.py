"""Kernels with flattened spectra: directions in which rows vary little count as much as others.

The centred kernel matrix of pooled rows is UΛU'. A spectral kernel replaces it by
UΛ/(Λ + γλ_max)U', on the leading eigenvectors only: small ones are noise, which flattening would
make as loud as the rest. Nothing here looks at labels, so exact calibration stays exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.kernels._base import Kernel, Layout, Rows, Values, finite, set_fields
from nosplit.kernels.algebra import Algebra, Product, Scaled, Sum, as_kernel
from nosplit.kernels.eigenbases import (
    LANDMARKS,
    Eigenbasis,
    fit_eigenbasis,
    spread_out,
)
from nosplit.kernels.frequencies import projected
from nosplit.kernels.on_columns import Mixed, OnColumns
from nosplit.kernels.orders import sorted_rows

__all__ = ["FittedSpectral", "Spectral", "fitted_kernel", "needs_fitting"]


@dataclass(frozen=True, repr=False)
class Spectral(Algebra):
    """A kernel whose spectrum is flattened on the pooled rows of a test.

    Tests fit it before they use it, on rows of both samples and without looking at which a row is
    from, so that exact calibration stays exact: two-sample tests, with or without a design,
    sketches and streams, and independence tests, each variable by itself. It may be part of sums,
    products and kernels on columns. On rows of your own, `fit` makes a kernel of any rows.

    Parameters
    ----------
    kernel : Kernel
        What makes two rows alike.
    regularisation : float
        γ > 0: eigenvalues λ become λ/(λ + γλ_max). The smaller, the flatter.

    Examples
    --------
    >>> import numpy as np
    >>> from nosplit.kernels import Gaussian
    >>> kernel = Spectral(Gaussian(1.2), 1e-3)
    >>> kernel
    Spectral(Gaussian(1.2), 1e-3)
    >>> rows = np.random.default_rng(0).normal(size=(40, 2))
    >>> kernel.fit(rows).tile(rows[:3], rows).shape
    (3, 40)
    """

    kernel: Kernel
    regularisation: float = 1e-2

    def __post_init__(self) -> None:
        gamma = finite(self.regularisation)
        if not gamma > 0:
            raise InputError(
                f"`regularisation` must be a positive finite number, got {self.regularisation!r}."
            )
        kernel = as_kernel(self.kernel)
        if isinstance(kernel, Spectral):
            raise InputError(f"`kernel` must not be spectral itself, got {kernel!r}.")
        set_fields(self, kernel=kernel, regularisation=gamma)

    def fit(self, rows: npt.ArrayLike) -> FittedSpectral:
        """The kernel of pooled rows, whose order does not matter."""
        pooled, _ = sorted_rows(np.asarray(rows, dtype=np.float64))
        marks = spread_out(len(pooled), LANDMARKS)
        basis = fit_eigenbasis(self.kernel, pooled, marks)
        return FittedSpectral(self.kernel, self.regularisation, basis)

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        raise InputError(
            f"{self!r} is not fitted: tests fit it on the rows they compare. To evaluate it "
            "yourself, use `Spectral(...).fit(rows)`."
        )

    def __repr__(self) -> str:
        inner = repr(self.kernel).replace("bandwidth=", "")
        return f"Spectral({inner}, {_short_number(self.regularisation)})"


def _short_number(value: float) -> str:
    """A number to its last digit; as 1e-3 rather than 0.001 where it is small."""
    return (
        repr(value) if value >= 0.01 else np.format_float_scientific(value, trim="-", exp_digits=1)
    )


@dataclass(frozen=True, repr=False)
class FittedSpectral(Spectral):
    """A spectral kernel that was fitted: one of new rows, too; made by `Spectral.fit`."""

    basis: Eigenbasis | None = field(default=None, hash=False)

    def fit(self, rows: npt.ArrayLike) -> FittedSpectral:
        """The kernel itself, which was fitted before."""
        return self

    def features(self, rows: Rows) -> Array:
        """Numbers of rows, (n, R), whose inner products are the kernel."""
        if self.basis is None:
            raise InputError(f"{self!r} must come from `Spectral.fit`, got no eigenvectors.")
        gains = self.basis.gains([(self.regularisation, 1.0)])[:, 0]
        return np.asarray(self.basis.features(rows) * np.sqrt(gains))

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        if layout == "tile":
            return np.asarray(projected(self.features(a), self.features(b).T))
        return np.asarray(np.einsum("ij,ij->i", self._once(a), self._once(b)))

    def _once(self, rows: Rows) -> Array:
        """Features of rows of which many are alike: pairs name the same row again and again."""
        ordered, place = sorted_rows(np.asarray(rows))
        different, which = np.unique(place, return_inverse=True)
        return self.features(ordered[different])[which]


def needs_fitting(kernel: Kernel) -> bool:
    """Whether a kernel is spectral, or has a part that is, and was not fitted."""
    match kernel:
        case Spectral():
            return not isinstance(kernel, FittedSpectral)
        case OnColumns(inner) | Scaled(_, inner):
            return needs_fitting(inner)
        case Sum(parts) | Product(parts):
            return any(map(needs_fitting, parts))
        case Mixed(numbers, categories):
            return needs_fitting(numbers) or needs_fitting(categories)
    return False


def fitted_kernel(kernel: Kernel, rows: Rows) -> Kernel:
    """A kernel whose spectral parts are fitted on pooled rows; others as they are."""
    if not needs_fitting(kernel):
        return kernel
    match kernel:
        case Spectral():
            return kernel.fit(rows)
        case OnColumns(inner):
            return replace(kernel, kernel=fitted_kernel(inner, kernel.pick(rows)))
        case Scaled(_, inner):
            return replace(kernel, kernel=fitted_kernel(inner, rows))
        case Sum(parts) | Product(parts):
            return replace(kernel, kernels=tuple(fitted_kernel(part, rows) for part in parts))
        case Mixed(numbers, categories):
            both = (fitted_kernel(part, rows) for part in (numbers, categories))
            return Mixed(*both)  # type: ignore[arg-type]  # kernels on columns, as they were
    return kernel
