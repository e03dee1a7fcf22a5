"""Default kernels: grids of bandwidths around the median distance, and the sets of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from nosplit._checks import check_sample
from nosplit.errors import InputError
from nosplit.kernels._base import Kernel, Values, check_bandwidth, check_base, positive_int
from nosplit.kernels.families import Gaussian, Laplace, Linear, Polynomial

__all__ = [
    "default_kernels",
    "default_scales",
    "gaussian_grid",
    "laplace_grid",
    "median_bandwidth",
    "paper_kernels",
    "polynomial_kernels",
]

# The local scale of rows is how far this share of the others lies from them. Where it is below a
# sixteenth of the median distance, rows lie in clusters, and the grid goes down by fourths.
LOCAL, FARTHEST_APART, FOURTH = 0.1, 16.0, 4.0
# Rows that are nearer to one another, by their median distance, are equal but for rounding.
TIES = 1e-9

# Values that are many for a median, how many of them tell about where it is, and how far from the
# middle of these it lies at most, or nearly always.
MANY, SOME, AROUND = 8192, 1024, 64


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
    check_base(base, ("sq", "l1"))
    return _median_of(_pairwise(check_sample(rows, "rows", smallest=2), base), root=base == "sq")


def default_scales(rows: npt.ArrayLike) -> tuple[float, float]:
    """Scales of the default grid, of Euclidean and of L1 distances: medians, or fractions of them.

    Between clusters far apart the median says nothing of the scale inside them. It is divided by
    four until the local scale, the median over the rows of the distance within which a tenth of the
    others lie, is no longer far below it.

    Parameters
    ----------
    rows : array_like, shape (n, p)
        The pooled sample, or a subsample of it: all n² distances are held in memory.

    Returns
    -------
    pair of float

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> default_scales(rows) == (median_bandwidth(rows), median_bandwidth(rows, base="l1"))
    True
    >>> rows[::2] += 100.0  # two clusters
    >>> round(default_scales(rows)[0] / median_bandwidth(rows), 4)
    0.0625
    """
    points = check_sample(rows, "rows", smallest=2)
    tile = _pairwise(points, "sq")
    nearest = max(1, int(LOCAL * (len(points) - 1)))
    local = float(np.median(np.sqrt(np.partition(tile, nearest, axis=1)[:, nearest])))
    median, other = _median_of(tile, root=True), _median_of(_pairwise(points, "l1"), root=False)
    fourths = 0
    if local > TIES * median:
        apart = median / (FARTHEST_APART * local)
        fourths = max(0, math.ceil(math.log(apart, FOURTH)))
    return median / FOURTH**fourths, other / FOURTH**fourths


def _pairwise(points: npt.ArrayLike, base: str) -> Values:
    """Distances of all rows, or their squares."""
    from nosplit.backend.numba.bases import tile_l1, tile_sq  # here, as numba is slow to import

    points = np.ascontiguousarray(points, dtype=np.float64)
    tile = np.empty((len(points), len(points)))
    (tile_sq if base == "sq" else tile_l1)(points, np.ascontiguousarray(points.T), tile)
    return tile


def _median_of(tile: Values, *, root: bool) -> float:
    """Median of the distances of different rows (or of their roots)."""
    pairs = np.concatenate([row[i + 1 :] for i, row in enumerate(tile)])
    median = _median(pairs, root=root)
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
    """Median of the values (or of their roots), which may be put into another order."""
    even, half = len(values) % 2 == 0, len(values) // 2
    if len(values) > MANY:
        # Some of them tell about where it is: only what is there has to be put in order.
        some = np.sort(values[:: len(values) // SOME])
        low, high = some[len(some) // 2 + np.array([-AROUND, AROUND])]
        inside = values[(values >= low) & (values <= high)]
        below = np.count_nonzero(values < low)
        if below < half < below + len(inside):
            values, half = inside, half - int(below)
    # In place, at one point, and a maximum: several times faster than `np.median`.
    values.partition(half)
    upper = values[half]
    lower = values[:half].max() if even else upper
    if root:
        lower, upper = np.sqrt(lower), np.sqrt(upper)
    return float(0.5 * lower + 0.5 * upper)


# -- sets of kernels -------------------------------------------------------------------------------

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)


def gaussian_grid(bandwidth: float, factors: Sequence[float] = FACTORS) -> tuple[Gaussian, ...]:
    """Gaussian kernels with the multiples `factors` of a bandwidth.

    Examples
    --------
    >>> gaussian_grid(3.0, (0.5, 2.0))
    (Gaussian(bandwidth=1.5), Gaussian(bandwidth=6.0))
    """
    return tuple(map(Gaussian, np.multiply(factors, check_bandwidth(bandwidth)).tolist()))


def laplace_grid(bandwidth: float, factors: Sequence[float] = FACTORS) -> tuple[Laplace, ...]:
    """Laplace kernels with the multiples `factors` of a bandwidth.

    Examples
    --------
    >>> laplace_grid(3.0, (0.5, 2.0))
    (Laplace(bandwidth=1.5), Laplace(bandwidth=6.0))
    """
    return tuple(map(Laplace, np.multiply(factors, check_bandwidth(bandwidth)).tolist()))


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
