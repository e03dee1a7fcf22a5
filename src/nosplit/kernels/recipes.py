"""Values of `kernels=`: kernels, the name of a set, or a function of the data's scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import resolve
from nosplit._types import Index
from nosplit.errors import InputError
from nosplit.kernels import (
    Combination,
    Delta,
    Kernel,
    Mixed,
    OnColumns,
    Product,
    ProfileKernel,
    Scaled,
    Spectral,
    Sum,
    as_kernel,
    default_kernels,
    median_bandwidth,
    paper_kernels,
)
from nosplit.kernels.defaults import default_scales
from nosplit.kernels.spectral import fitted_kernel, needs_fitting

__all__ = [
    "KERNEL_SETS",
    "Kernels",
    "Recipe",
    "as_recipe",
    "asked_for",
    "called",
    "check_looks_at",
    "check_own_kernel",
]

Kernels = Kernel | Sequence[Kernel] | Callable[[float, float], Sequence[Kernel]] | str | None

KERNEL_SETS: dict[str, Callable[[float, float], Sequence[Kernel]]] = {
    "default": default_kernels,
    "paper1": lambda bandwidth, _: paper_kernels(1, bandwidth),
    "paper2": lambda bandwidth, _: paper_kernels(2, bandwidth),
    "paper6": lambda bandwidth, _: paper_kernels(6, bandwidth),
}


@dataclass(frozen=True)
class Recipe:
    """Kernels as a function of two median distances, L2 and L1; `given` ones ignore them.

    The distances are those of some `columns` only, where there are categories too. A `default`
    recipe is that of a test that names no kernels: such a test looks at more than kernels.
    """

    make: Callable[[float, float], Any]
    given: bool = False
    columns: tuple[int, ...] | None = None
    default: bool = False

    def fit(self, rows: NDArray[Any], order: Index | None = None) -> tuple[Kernel, ...]:
        """The kernels for data of which these are some rows, in whatever order.

        Distances are summed over columns in the given order, that in which they come by default.
        """
        return tuple(fitted_kernel(kernel, rows) for kernel in self._of_scale(rows, order))

    def _of_scale(self, rows: NDArray[Any], order: Index | None) -> tuple[Kernel, ...]:
        if self.given or self.columns == ():
            return self.build()
        if order is not None or self.columns is not None:
            rows = rows[:, self._looked_at(order)]
        if self.columns is not None and np.all(rows == rows[0]):
            return self.build()  # the rest of the rows may differ: scaled, 1 is as good as any
        if self.default:
            return self.build(*default_scales(rows))
        return self.build(median_bandwidth(rows), median_bandwidth(rows, base="l1"))

    def _looked_at(self, order: Index | None) -> Sequence[int]:
        """Columns that distances are of, in order."""
        if order is None:
            return self.columns or ()
        return [j for j in order.tolist() if self.columns is None or j in self.columns]

    def of_rare(self, rows: NDArray[Any]) -> Recipe:
        """The same, at a scale of 1 if the rows looked at are all alike where others are not."""
        return replace(self, given=True) if np.all(rows == rows[0]) else self

    @property
    def looks_at_rows(self) -> bool:
        """Whether kernels are other ones for other rows."""
        return not self.given or any(map(needs_fitting, self.build()))

    def build(self, bandwidth: float = 1.0, l1_bandwidth: float = 1.0) -> tuple[Kernel, ...]:
        """The kernels for data of this scale."""
        if self.default:  # ours, which does not fail
            return tuple(self.make(bandwidth, l1_bandwidth))
        return _listed_kernels(called(self.make, bandwidth, l1_bandwidth))


def called(make: Callable[..., Any], *medians: float) -> Any:
    """Call a function that makes kernels; replace its errors by one about `kernels`."""
    try:
        return make(*medians)
    except InputError:
        raise
    except Exception as error:
        takes = "the median L2 and L1 distances" if len(medians) == 2 else "the median distance"
        raise InputError(
            f"`kernels` as a function must take {takes} and return kernels, but it failed: "
            f"{error!r}. To use a function as a kernel, put it in a list."
        ) from error


def asked_for(kernels: Kernels) -> Kernels:
    """Kernels that a caller names; None where that is "default"."""
    return None if isinstance(kernels, str) and kernels == "default" else kernels


def as_recipe(kernels: Kernels) -> Recipe:
    """The recipe that an argument `kernels` stands for.

    Examples
    --------
    >>> as_recipe("paper2").build(3.0)
    (Gaussian(bandwidth=3.0), Linear())
    """
    if kernels is None or isinstance(kernels, str):
        name = kernels or "default"
        return Recipe(resolve(name, KERNEL_SETS, "kernels"), default=name == "default")
    # A class has the attributes of its instances, so it would pass for a kernel.
    if callable(kernels) and not isinstance(kernels, Kernel | type):
        return Recipe(kernels)
    given = _listed_kernels(kernels)
    return Recipe(lambda *_: given, given=True)


def _listed_kernels(kernels: Any) -> tuple[Kernel, ...]:
    if isinstance(kernels, Kernel):
        return (as_kernel(kernels),)
    if isinstance(kernels, str) or not hasattr(kernels, "__iter__"):
        raise InputError(
            f"`kernels` must be a kernel, a sequence of kernels or a name, got {kernels!r}."
        )
    built = tuple(as_kernel(kernel) for kernel in kernels)
    if not built:
        raise InputError("`kernels` must have at least one kernel, got none.")
    return built


def check_looks_at(kernel: Kernel, categorical: tuple[int, ...]) -> None:
    """Check that no kernel for numbers looks at codes of categories."""
    match kernel:
        case OnColumns(inner, columns):
            if set(columns) & set(categorical):
                check_looks_at(inner, categorical)
        case Sum(parts) | Product(parts) | Combination(parts):
            for part in parts:
                check_looks_at(part, categorical)
        case Mixed(numbers, categories):
            check_looks_at(numbers, categorical)
            check_looks_at(categories, categorical)
        case Scaled(_, inner) | Spectral(inner):
            check_looks_at(inner, categorical)
        case ProfileKernel() if not isinstance(kernel, Delta):
            raise InputError(
                f"`kernels` must not compare categories as if they were numbers, got {kernel!r} "
                f"where columns {', '.join(map(str, categorical))} are categories. Use "
                "`OnColumns(kernel, columns)` of nosplit.kernels, leave those columns out with "
                "exclude=, or give no kernels."
            )


def check_own_kernel(kernel: Kernel, a: NDArray[Any], b: NDArray[Any]) -> None:
    """Try a kernel that is not built in on a few rows: shapes, real values, symmetry."""
    if isinstance(kernel, ProfileKernel):
        return
    with np.errstate(all="ignore"):  # overflow is found later, where it matters
        tile = _checked_values(kernel, "tile", (a, b), (len(a), len(b)))
        turned = _checked_values(kernel, "tile", (b, a), (len(b), len(a))).T
        n = min(len(a), len(b))
        aligned = _checked_values(kernel, "aligned", (a[:n], b[:n]), (n,))
    if not _nearly_equal(tile, turned):
        raise InputError(f"`kernels` must be symmetric, got k(a, b) ≠ k(b, a) from {kernel!r}.")
    if not _nearly_equal(aligned, np.diagonal(tile[:n, :n])):
        raise InputError(
            f"`kernels` must have an `aligned` that is the diagonal of `tile`, got other values "
            f"from {kernel!r}."
        )


def _checked_values(
    kernel: Kernel, layout: str, rows: tuple[NDArray[Any], NDArray[Any]], shape: tuple[int, ...]
) -> NDArray[Any]:
    values = np.asarray(getattr(kernel, layout)(*rows))
    if values.shape != shape or values.dtype.kind not in "fiub":
        raise InputError(
            f"`kernels` must return real numbers of shape {shape} from `{layout}` for rows of "
            f"shapes {rows[0].shape} and {rows[1].shape}, got {values.dtype} of shape "
            f"{values.shape} from {kernel!r}."
        )
    return values


def _nearly_equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    size = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-6 * size, equal_nan=True))
