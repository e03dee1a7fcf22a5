"""Eigenbases: leading eigenvectors of kernels on pooled rows, as features of any row (Nyström)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nosplit._types import Array, Index
from nosplit.errors import InputError
from nosplit.kernels._base import Kernel, Rows
from nosplit.kernels.families import Gaussian
from nosplit.kernels.frequencies import projected

__all__ = [
    "Eigenbasis",
    "column_spreads",
    "default_eigenbases",
    "fit_eigenbasis",
    "gains_of",
    "leading_count",
    "n_landmarks",
    "spread_out",
    "widths_of",
]

# Rows that span a kernel's features, and rows that bandwidths are taken from.
LANDMARKS, SCALE_ROWS = 300, 500
# Eigenvectors that are kept: a third of the rows of a sample, and no more than so many.
SHARE, RANK = 1 / 3, 200
# Of a kernel's diagonal, where landmarks (nearly) coincide.
JITTER = 1e-9
# Eigenvalues this close, relative to their size, are taken to be equal.
SAME = 1e-6
# Regularisations of the default kernels, each with the share of the eigenvectors it is used on.
FAMILY = ((1e-1, 1.0), (1e-2, 1.0), (1e-3, 1.0), (1e-3, 0.5))
# The local scale of rows is how far this share of the others lies from them.
LOCAL = 0.10
# Ratio of the widest to the narrowest column from which columns are also compared on one scale.
UNEVEN = 10.0
# Values beyond this are taken for it: their squares are still numbers.
FARTHEST = 1e140


@dataclass(frozen=True, eq=False)
class Eigenbasis:
    """Leading eigenvectors of a kernel on pooled rows, as features of any row.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    landmarks : array, shape (L, p)
        Rows that span it.
    turn : array, shape (L, R)
        From kernel values at the landmarks to features.
    centre : array, shape (R,)
        What is taken off, so that features have mean 0 over the pooled rows.
    eigenvalues : array, shape (R,)
        Sums of squared features over the pooled rows, largest first.
    scales : array, shape (p,)
        Columns are divided by these first.
    """

    kernel: Kernel
    landmarks: Rows
    turn: Array
    centre: Array
    eigenvalues: Array
    scales: Array

    def features(self, rows: Rows) -> Array:
        """Features of rows, (n, R)."""
        scaled = np.asarray(rows / self.scales)
        return np.asarray(
            projected(self.kernel.tile(scaled, self.landmarks), self.turn) - self.centre
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Eigenbasis):
            return NotImplemented
        arrays = ("landmarks", "turn", "centre", "eigenvalues", "scales")
        same = (np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)
        return bool(self.kernel == other.kernel) and all(same)

    __hash__ = None  # type: ignore[assignment]  # arrays

    def gains(self, family: Sequence[tuple[float, float]] = FAMILY) -> Array:
        """Weights of squared features, (R, d), for pairs of regularisation and share of the R."""
        return gains_of(self.eigenvalues, family)


def gains_of(eigenvalues: Array, family: Sequence[tuple[float, float]]) -> Array:
    """Weights of squared features of these eigenvalues, as `Eigenbasis.gains` gives them."""
    largest = eigenvalues[0]
    columns = [
        (eigenvalues >= _least_of(eigenvalues, share)) * largest / (eigenvalues + gamma * largest)
        for gamma, share in family
    ]
    return np.stack(columns, axis=1)


def _least_of(eigenvalues: Array, share: float) -> float:
    """The smallest of a share of eigenvalues; those that are equal but for rounding go with it."""
    last = min(len(eigenvalues), max(2, int(np.ceil(share * len(eigenvalues))))) - 1
    return float(eigenvalues[last]) * (1.0 - SAME)


def leading_count(eigenvalues: Array, most: int) -> int:
    """Count of leading eigenvalues: `most`, or fewer if one that is left out equals some of them.

    Eigenvectors of equal eigenvalues are any basis of their space, so that part of them would
    depend on rounding. Where the first of them are all equal, all that are equal are kept.
    """
    if most >= len(eigenvalues):
        return len(eigenvalues)
    above = int(np.count_nonzero(eigenvalues[:most] > eigenvalues[most] * (1.0 + SAME)))
    return above or int(np.count_nonzero(eigenvalues >= eigenvalues[most] * (1.0 - SAME)))


def spread_out(n: int, most: int) -> Index:
    """Places among n, no more than so many, spread over all of them."""
    count = min(n, most)
    return np.asarray((np.arange(count) * n) // count)


def fit_eigenbasis(
    kernel: Kernel,
    rows: Rows,
    marks: Index,
    *,
    values: Array | None = None,
    scales: Array | None = None,
) -> Eigenbasis:
    """Leading eigenvectors of a kernel on pooled rows, as far as landmarks span it (Nyström).

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array, shape (n, p)
        Pooled rows of both samples, divided by `scales`.
    marks : array of int
        Which of them are landmarks.
    values : array, shape (n, L), optional
        Values of the kernel at the landmarks, where they are known.
    scales : array, shape (p,), optional
        What columns were divided by.
    """
    import scipy.linalg as sla  # here, as it is slow to import

    K = kernel.tile(rows, rows[marks]) if values is None else values
    core = K[marks]
    core = (core + core.T) / 2.0
    core[np.diag_indices(len(core))] += JITTER * np.trace(core) / len(core)
    try:
        factor = sla.cholesky(core, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise InputError(f"`kernel` must be positive definite, got {kernel!r}.") from None
    # A product with the inverse factor: several times faster than a triangular solution, and the
    # jitter keeps its condition below 1e5.
    inverse, _ = sla.lapack.dtrtri(factor, lower=1)
    features = K @ inverse.T
    mean = features.mean(axis=0)
    moment = features.T @ features - len(K) * np.outer(mean, mean)
    eigenvalues, vectors = sla.eigh(moment, driver="evd", check_finite=False)
    rank = max(2, min(int(SHARE * (len(K) // 2)), RANK, len(eigenvalues)))
    rank = leading_count(eigenvalues[::-1], rank)
    eigenvalues, vectors = eigenvalues[::-1][:rank], vectors[:, ::-1][:, :rank]
    keep = eigenvalues > max(1e-7 * eigenvalues[0], np.finfo(float).tiny)
    keep[0] = True
    turn = np.ascontiguousarray(inverse.T @ vectors[:, keep])
    ones = np.ones(rows.shape[1]) if scales is None else scales
    largest = np.maximum(eigenvalues[keep], np.finfo(float).tiny)
    return Eigenbasis(kernel, rows[marks], turn, mean @ vectors[:, keep], largest, ones)


def default_eigenbases(rows: Array) -> list[tuple[Eigenbasis, Array]]:
    """The eigenbases of a test that names no kernels, each with the features of the rows.

    Gaussian kernels at half the median distance and at the local scale. Columns of very different
    spreads: the local scale of rows as they are and of rows whose columns have one scale, so that
    no column drowns the others and none is blown up unseen.

    Parameters
    ----------
    rows : array, shape (n, p)
        Pooled rows, in the order of `sorted_rows`.
    """
    spreads = column_spreads(rows)
    live = np.ptp(rows, axis=0) > 0
    if not live.any():
        return []
    uneven = spreads[live].max() / UNEVEN > spreads[live].min()
    if not uneven:
        return _bases_of_scale(rows, np.ones(rows.shape[1]), medians=True)
    plain = _bases_of_scale(rows, np.ones(rows.shape[1]), medians=False)
    return plain + _bases_of_scale(rows, spreads, medians=False)


def column_spreads(rows: Array) -> Array:
    """Interquartile range of each column over 1.349; its standard deviation where that is 0."""
    size = np.max(np.abs(rows), axis=0)
    size = np.where(size > 0, size, 1.0)
    rows = rows / size  # squares neither overflow nor vanish
    low, high = np.quantile(rows, [0.25, 0.75], axis=0)
    spread = (high - low) / 1.349
    spread = size * np.where(spread > 0, spread, rows.std(axis=0))
    return np.asarray(np.where(spread > 0, spread, 1.0))


def _bases_of_scale(rows: Array, scales: Array, *, medians: bool) -> list[tuple[Eigenbasis, Array]]:
    """Bases of rows whose columns are divided by some scales."""
    with np.errstate(over="ignore"):
        scaled = np.ascontiguousarray(np.clip(rows / scales, -FARTHEST, FARTHEST))
    n = len(rows)
    marks, some = spread_out(n, n_landmarks(n)), spread_out(n, SCALE_ROWS)
    sq = _squared_distances(scaled, scaled[marks])
    found = []
    for width in widths_of(np.sqrt(sq[some].T), medians=medians):
        kernel = Gaussian(width)
        with np.errstate(over="ignore"):  # far apart: 0
            K = kernel.profile(sq)
        basis = fit_eigenbasis(kernel, scaled, marks, values=K, scales=scales)
        found.append((basis, np.asarray(K @ basis.turn - basis.centre)))
    return found


def widths_of(distances: Array, *, medians: bool) -> list[float]:
    """Bandwidths from distances of landmarks and rows, (L, rows)."""
    widths = [_local_scale(distances)]
    return [*widths, 0.5 * _positive_quantile(distances, 0.5)] if medians else widths


def n_landmarks(n: int) -> int:
    """Landmarks of n pooled rows."""
    return min(n, LANDMARKS, max(n // 4, 60))


def _squared_distances(a: Array, b: Array) -> Array:
    from nosplit.kernels.bank import Bank  # a user of this package, and one of its rooms

    bank, shape = Bank((Gaussian(1.0),)), (len(a), len(b))
    bases = bank.empty_bases(1, shape[0] * shape[1])
    bank.tile_bases(a, b, [q.reshape(shape) if q.size else q for q in bases])
    return np.maximum(bases[0].reshape(shape), 0.0)


def _local_scale(distances: Array) -> float:
    """Median over landmarks of the distance within which a tenth of the rows lie.

    Far clusters: the width of a cluster, where the median is the gap between them. Many columns:
    near the median, where an eighth of it would make every row a stranger to every other.
    """
    place = min(max(2, int(LOCAL * distances.shape[1])), distances.shape[1] - 1)
    value = float(np.median(np.partition(distances, place, axis=1)[:, place]))
    return value if value > 0 else _positive_quantile(distances, LOCAL)


def _positive_quantile(distances: Array, q: float) -> float:
    """The quantile; that of the positive distances where it is 0 (tied rows)."""
    value = float(np.quantile(distances, q))
    if value > 0:
        return value
    positive = distances[distances > 0]
    return float(np.quantile(positive, q)) if positive.size else 1.0
