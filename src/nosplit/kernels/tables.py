"""Default kernels for tables: numbers, categories, and both together."""

from __future__ import annotations

from collections.abc import Sequence

from nosplit.kernels._base import Kernel
from nosplit.kernels.columns import Agreement, OnColumns
from nosplit.kernels.families import Delta

__all__ = ["category_kernels", "table_kernels"]

Labels = tuple[str, str]


def table_kernels(
    kernels: Sequence[Kernel],
    numeric: Sequence[int],
    categorical: Sequence[int],
    labels: Labels = ("numbers", "categories"),
) -> tuple[Kernel, ...]:
    """Kernels for rows of numbers and categories.

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels for the numbers.
    numeric, categorical : sequence of int
        Positions of the columns of either kind.
    labels : pair of str
        What to call these columns where kernels are printed.

    Returns
    -------
    tuple of Kernel
        The kernels on the numbers, those on the categories, and products of both, which see what
        numbers and categories have to do with each other.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian
    >>> for kernel in table_kernels([Gaussian(1.0)], (0, 1), (2,)):
    ...     print(kernel)
    Gaussian(bandwidth=1.0) on numbers
    Agreement() on categories
    Gaussian(bandwidth=1.0) on numbers * Agreement() on categories
    """
    numbers = [OnColumns(k, tuple(numeric), labels[0]) for k in kernels] if numeric else []
    categories = category_kernels(categorical, labels[1]) if categorical else ()
    products = [k * categories[0] for k in numbers[:3]] if categories else []
    return (*numbers, *categories, *products)


def category_kernels(columns: Sequence[int], label: str = "categories") -> tuple[Kernel, ...]:
    """Kernels for rows of categories: columns that agree, one by one and all together."""
    share = OnColumns(Agreement(), tuple(columns), label)
    return (share, OnColumns(Delta(), tuple(columns), label)) if len(columns) > 1 else (share,)
