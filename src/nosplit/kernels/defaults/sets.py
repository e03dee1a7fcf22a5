"""Sets of base kernels: grids of bandwidths, the paper's, the default."""

from __future__ import annotations

from collections.abc import Sequence

from nosplit.errors import InputError
from nosplit.kernels._base import Kernel, check_bandwidth, positive_int
from nosplit.kernels.families import Gaussian, Laplace, Linear, Polynomial

__all__ = [
    "default_kernels",
    "gaussian_grid",
    "laplace_grid",
    "paper_kernels",
    "polynomial_kernels",
]

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)


def gaussian_grid(bandwidth: float, factors: Sequence[float] = FACTORS) -> tuple[Gaussian, ...]:
    """Gaussian kernels with the multiples `factors` of a bandwidth.

    Examples
    --------
    >>> gaussian_grid(3.0, (0.5, 2.0))
    (Gaussian(bandwidth=1.5), Gaussian(bandwidth=6.0))
    """
    return tuple(Gaussian(factor * check_bandwidth(bandwidth)) for factor in factors)


def laplace_grid(bandwidth: float, factors: Sequence[float] = FACTORS) -> tuple[Laplace, ...]:
    """Laplace kernels with the multiples `factors` of a bandwidth.

    Examples
    --------
    >>> laplace_grid(3.0, (0.5, 2.0))
    (Laplace(bandwidth=1.5), Laplace(bandwidth=6.0))
    """
    return tuple(Laplace(factor * check_bandwidth(bandwidth)) for factor in factors)


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
    return tuple(Polynomial(degree) for degree in range(1, positive_int("d", d) + 1))


def default_kernels(bandwidth: float, l1_bandwidth: float) -> tuple[Kernel, ...]:
    """The kernels of a test that names none: Gaussian and Laplace kernels, and a linear one.

    Three bandwidths each, at 1/8, 1/2 and 2 of the median distance: chosen by the study in
    `benchmarks/choices/default_kernels.py`, in which finer grids cost power and coarser ones missed
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
