"""Kernels with flattened spectra: directions in which rows vary little count as much as others.

The centred kernel matrix of pooled rows is UΛU'. A spectral kernel replaces it by
UΛ/(Λ + γλ_max)U', on the leading eigenvectors only: small ones are noise, which flattening would
make as loud as the rest. Nothing here looks at labels, so exact calibration stays exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nosplit._support.types import Array, Index
from nosplit.errors import InputError
from nosplit.kernels._base import Kernel, Layout, Rows, Values, finite, set_fields
from nosplit.kernels.algebra import Algebra, Product, Scaled, Sum, as_kernel
from nosplit.kernels.families import Gaussian
from nosplit.kernels.on_columns import Mixed, OnColumns

__all__ = [
    "Eigenbasis",
    "FittedSpectral",
    "Spectral",
    "default_eigenbases",
    "fit_eigenbasis",
    "fitted_kernel",
    "needs_fitting",
    "sorted_rows",
]

# Rows that span a kernel's features, and rows that bandwidths are taken from.
LANDMARKS, SCALE_ROWS = 300, 500
# Eigenvectors that are kept: a third of the rows of a sample, and no more than so many.
SHARE, RANK = 1 / 3, 200
# Of a kernel's diagonal, where landmarks (nearly) coincide.
JITTER = 1e-9
# Regularisations of the default kernels, each with the share of the eigenvectors it is used on.
FAMILY = ((1e-1, 1.0), (1e-2, 1.0), (1e-3, 1.0), (1e-3, 0.5))
# The local scale of rows is how far this share of the others lies from them.
LOCAL = 0.10
# Ratio of the widest to the narrowest column from which columns are also compared on one scale.
UNEVEN = 10.0
# Values beyond this are taken for it: their squares are still numbers.
FARTHEST = 1e140


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
        return f"Spectral({inner}, {_short(self.regularisation)})"


def _short(value: float) -> str:
    """A number to its last digit; as 1e-3 rather than 0.001 where it is small."""
    return (
        repr(value) if value >= 0.01 else np.format_float_scientific(value, trim="-", exp_digits=1)
    )


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
        return np.asarray(self.kernel.tile(scaled, self.landmarks) @ self.turn - self.centre)

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
    place, largest = np.arange(len(eigenvalues)), eigenvalues[0]
    columns = [
        (place < max(2, share * len(place))) * largest / (eigenvalues + gamma * largest)
        for gamma, share in family
    ]
    return np.stack(columns, axis=1)


@dataclass(frozen=True, repr=False)
class FittedSpectral(Spectral):
    """A spectral kernel that was fitted: one of new rows, too; made by `Spectral.fit`."""

    basis: Eigenbasis | None = field(default=None, hash=False)

    def fit(self, rows: npt.ArrayLike) -> FittedSpectral:
        """Itself: it was fitted before."""
        return self

    def features(self, rows: Rows) -> Array:
        """Numbers of rows, (n, R), whose inner products are the kernel."""
        if self.basis is None:
            raise InputError(f"{self!r} must come from `Spectral.fit`, got no eigenvectors.")
        gains = self.basis.gains([(self.regularisation, 1.0)])[:, 0]
        return np.asarray(self.basis.features(rows) * np.sqrt(gains))

    def _evaluate(self, layout: Layout, a: Rows, b: Rows) -> Values:
        if layout == "tile":
            return np.asarray(self.features(a) @ self.features(b).T)
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


# -- fitting -----------------------------------------------------------------------------------


def sorted_rows(rows: Array) -> tuple[Array, Index]:
    """Rows in an order of their own, and the place of each of the given rows in it.

    Equal rows have the same place. What is made of the sorted rows is therefore the same, to the
    last bit, whichever sample a row is from.
    """
    order = np.argsort(rows[:, 0], kind="stable")
    first = rows[order, 0]
    if rows.shape[1] > 1 and np.any(first[1:] == first[:-1]):
        order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
    return ordered, place


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
    eigenvalues, vectors = eigenvalues[::-1][:rank], vectors[:, ::-1][:, :rank]
    keep = eigenvalues > max(1e-7 * eigenvalues[0], np.finfo(float).tiny)
    keep[0] = True
    turn = np.ascontiguousarray(inverse.T @ vectors[:, keep])
    ones = np.ones(rows.shape[1]) if scales is None else scales
    largest = np.maximum(eigenvalues[keep], np.finfo(float).tiny)
    return Eigenbasis(kernel, rows[marks], turn, mean @ vectors[:, keep], largest, ones)


# -- the default -------------------------------------------------------------------------------


def default_eigenbases(rows: Array) -> list[tuple[Eigenbasis, Array]]:
    """The eigenbases of a test that names no kernels, each with the features of the rows.

    Gaussian kernels at half the median distance and at the local scale. Columns of very different
    spreads: the local scale of rows as they are and of rows whose columns have one scale, so that
    no column drowns the others and none is blown up unseen.

    Parameters
    ----------
    rows : array, shape (n, p)
        Pooled rows, as `sorted_rows` gives them.
    """
    spreads = column_spreads(rows)
    live = np.ptp(rows, axis=0) > 0
    if not live.any():
        return []
    uneven = spreads[live].max() > UNEVEN * spreads[live].min()
    if not uneven:
        return _of_scale(rows, np.ones(rows.shape[1]), medians=True)
    plain = _of_scale(rows, np.ones(rows.shape[1]), medians=False)
    return plain + _of_scale(rows, spreads, medians=False)


def column_spreads(rows: Array) -> Array:
    """Interquartile range of each column over 1.349; its standard deviation where that is 0."""
    size = np.max(np.abs(rows), axis=0)
    size = np.where(size > 0, size, 1.0)
    rows = rows / size  # squares neither overflow nor vanish
    low, high = np.quantile(rows, [0.25, 0.75], axis=0)
    spread = (high - low) / 1.349
    spread = size * np.where(spread > 0, spread, rows.std(axis=0))
    return np.asarray(np.where(spread > 0, spread, 1.0))


def _of_scale(rows: Array, scales: Array, *, medians: bool) -> list[tuple[Eigenbasis, Array]]:
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
