"""Separation: balanced accuracy of the best rule that sees one column.

A rule assigns each bin of a column to one of two samples. It is learned on four folds of the units
and judged on the fifth, so that without a difference its mean is one half at any sample size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._support.lazy import special
from nosplit._support.types import Array, Index

__all__ = [
    "FOLDS",
    "LEVEL",
    "DealtRows",
    "Separation",
    "bins_of_group",
    "bins_of_values",
    "coarser_bins",
    "deal_rows",
    "largest_of",
    "plain_separation",
    "separation_of_counts",
    "separations_of_both",
    "separations_of_rows",
    "separations_of_samples",
]

FOLDS = 5
# Level of confidence intervals.
LEVEL = 0.95
# Bins of a column of numbers, rows in each, and the share of rows of a value with its own bin.
MOST_BINS, ROWS_A_BIN, OWN_SHARE = 32, 25, 0.01
# A difference of shares that is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Separation:
    """Balanced accuracy of the best rule on one column, with a confidence interval.

    Attributes
    ----------
    value : float
        The cross-fitted estimate; 0.5 is chance. It is not cut, so it may be below 0.5. In paired
        samples of numbers, the share of pairs in which y is larger (`paired`).
    error, freedom : float
        Its standard error, and the degrees of freedom of that (Welch).
    looks : int
        Number of estimates of which it is the largest; the interval is adjusted for them.
    paired : bool
        Whether it is the share of pairs in which y is larger.
    sample : str or None
        Of several samples, the one that differs most from the others.
    """

    value: float
    error: float
    freedom: float = np.inf
    looks: int = 1
    paired: bool = False
    sample: str | None = None

    @property
    def size(self) -> float:
        """Accuracy of the better rule, at least 0.5."""
        return max(self.value, 1.0 - self.value if self.paired else 0.5)

    @property
    def better(self) -> Separation:
        """The rule or its opposite, whichever is right more often."""
        return replace(self, value=self.size) if self.paired else self

    @property
    def low(self) -> float:
        """Lower end of the interval, not cut."""
        return self.value - self._margin

    @property
    def high(self) -> float:
        """Upper end of the interval, not cut."""
        return self.value + self._margin

    @property
    def _margin(self) -> float:
        missed = (1.0 - LEVEL) / 2.0 / self.looks
        return self.error * float(special.stdtrit(self.freedom, 1.0 - missed))

    @property
    def shown(self) -> tuple[float, float, float]:
        """The estimate and its interval, cut to the values that an accuracy can have."""
        least = 0.0 if self.paired else 0.5
        value, low, high = np.clip([self.value, self.low, self.high], least, 1.0).tolist()
        return value, low, high

    @property
    def words(self) -> str:
        """The estimate and its interval in percent.

        Examples
        --------
        >>> Separation(0.56, 0.012).words, Separation(0.49, 0.012).words
        ('56 % (54–58)', '50 % (50–51)')
        """
        value, low, high = (100.0 * number for number in self.shown)
        return f"{value:.0f} % ({low:.0f}–{high:.0f})"

    def of(self, looks: int) -> Separation:
        """The same as the largest of so many estimates."""
        return replace(self, looks=self.looks * looks)


def largest_of(found: Iterable[Separation | None]) -> tuple[int, Separation] | None:
    """The position of the largest separation, and that with an interval adjusted for all."""
    known = [(j, own) for j, own in enumerate(found) if own is not None]
    if not known:
        return None
    place, best = max(known, key=lambda item: (item[1].size, item[1].value))
    return place, best.of(len(known))


def plain_separation(found: Separation | None) -> dict[str, Any]:
    """A separation as plain values for JSON."""
    numbers = (None, None, None) if found is None else found.shown
    share = found.value if found is not None and found.paired else None
    keys = ("separation", "separation_low", "separation_high")
    return {**dict(zip(keys, numbers, strict=True)), "share_larger": share}


# -- from counts of bins ---------------------------------------------------------------------------


def separation_of_counts(counts: Array) -> Separation | None:
    """Estimate a separation from rows of both samples in each fold and bin, (2, folds, bins)."""
    rows = counts.sum(axis=2)
    live = rows.min(axis=0) > 0
    counts, rows = counts[:, live], rows[:, live]
    found = _Rules.of(counts / rows[:, :, None], _balanced(*rows))
    return None if found is None else Separation(*found.estimate(1.0 / rows))


def _balanced(n: Array, m: Array) -> Array:
    """Weights of comparisons of n with m rows: the inverse variance of a difference of means."""
    return np.asarray(n * m / np.maximum(n + m, 1e-300))


def _variance_of_mean(n: Any, mean: Any, square: Any) -> Any:
    """Variance of the mean of n scores from -1 to 1, with their mean and mean square.

    Laplace's rule adds a score of -1 and one of 1, so that it is not 0 if all are alike.
    """
    return ((n * square + 2.0) / (n + 2.0) - (n * mean / (n + 2.0)) ** 2) / n


class _Rules(NamedTuple):
    """Rules learned on all folds but one.

    Attributes
    ----------
    shares : array, shape (2, K, B)
        Shares of the bins in each fold of either sample.
    weights : array, shape (K,)
        Weights of the folds, which add up to 1.
    signs : array, shape (K, B)
        The rule for each fold: 1 for y, -1 for x, 0 for a tie.
    """

    shares: Array
    weights: Array
    signs: Array

    @classmethod
    def of(cls, shares: Array, weights: Array) -> _Rules | None:
        """Learn the rules; None if there are no two folds."""
        if len(weights) < 2:
            return None
        weights = weights / weights.sum()
        apart = weights[:, None] * (shares[1] - shares[0])
        rest = apart.sum(axis=0) - apart
        return cls(shares, weights, np.sign(np.where(np.abs(rest) > ROUNDING, rest, 0.0)))

    def estimate(self, noise: Array) -> tuple[float, float, float]:
        """Balanced accuracy, its standard error, and the degrees of freedom of that.

        Shares of a fold vary as those of 1 / `noise` independent rows, (2, K).
        """
        gap = (self.signs * (self.shares[1] - self.shares[0])).sum(axis=1)
        n = 1.0 / (noise @ self.weights**2)
        scores = self.signs, self.signs**2
        own = _variance_of_mean(n, *((s * self.shares).sum(axis=2) @ self.weights for s in scores))
        freedom = own.sum() ** 2 / (own**2 / np.maximum(n - 1.0, 1.0)).sum()
        error = 0.25 * np.sqrt(own.sum() + self._covariance(noise))
        return 0.5 + 0.25 * float(self.weights @ gap), float(error), float(freedom)

    def _covariance(self, noise: Array) -> float:
        """Covariance of all pairs of different folds, which teach one another.

        For folds k and l, R is the difference of shares in all other folds, and D_k, D_l are
        normal with mean 0. The rule for k is the sign of R + D_l, that for l the sign of R + D_k.
        Given R, the mean of sign(R + D_l) D_l is 2 φ(R / σ_l) σ_l. Without a difference of the
        samples the estimate is unbiased; with a large one it is 0, as all rules agree.
        """
        p = self.shares.mean(axis=0).T @ self.weights
        varies = (p > ROUNDING) & (p < 1.0 - ROUNDING)
        p, apart = p[varies], self.weights[:, None] * (self.shares[1] - self.shares[0])[:, varies]
        spread = np.sqrt(p * (1.0 - p))
        rate = np.sqrt(noise.sum(axis=0))
        pairs = np.triu_indices(len(rate), 1)
        rest = (apart.sum(axis=0) - apart[pairs[0]] - apart[pairs[1]]) / spread
        size = self.weights * rate
        one, other = (
            np.sqrt(2.0 / np.pi) * np.exp(-0.5 * (rest / size[f, None]) ** 2) / spread
            for f in pairs
        )
        # Covariances of shares are p (1 - p) and -p p'.
        both = (one * other) @ (spread**4 - p**4) + (one @ p**2) * (other @ p**2)
        return 2.0 * float((size[pairs[0]] * size[pairs[1]]) @ both)


def coarser_bins(counts: Array) -> Array:
    """Join bins of numbers to about 32, (2, folds, bins); those with 1 % of the rows stay."""
    rows = counts.sum(axis=(0, 1))
    n = max(float(rows.sum()), 1.0)
    own = rows >= OWN_SHARE * n
    part = np.floor(MOST_BINS * (np.cumsum(rows) - rows / 2.0) / n)
    new = own | np.append(True, own[:-1] | (part[1:] != part[:-1]))
    return np.asarray(np.add.reduceat(counts, np.flatnonzero(new), axis=2))


# -- from rows -------------------------------------------------------------------------------------


class DealtRows(NamedTuple):
    """Rows of both samples in folds.

    Attributes
    ----------
    place : array of int, shape (N,)
        Fold of each row, or FOLDS more if it is one of y.
    weights : array, shape (N,)
        Weights of rows, which add up to 1 in each fold of a sample.
    folds : array, shape (K,)
        Weights of the folds.
    unit : array of int, or None
        The unit of each row; None if every row is one.
    """

    place: Index
    weights: Array
    folds: Array
    unit: Index | None

    def separation(self, bins: Index, n_bins: int) -> Separation | None:
        """Estimate the separation by bins of the rows."""
        at, size = self.place * n_bins + bins, 2 * FOLDS * n_bins
        sums = np.asarray(np.bincount(at, self.weights, size), np.float64)
        shares = sums.reshape(2, FOLDS, n_bins)
        live = self.folds > 0
        found = _Rules.of(shares[:, live], self.folds[live])
        if found is None:
            return None
        squares = np.bincount(self.place, self.weights**2, 2 * FOLDS)
        noise = np.asarray(squares, np.float64).reshape(2, FOLDS)
        if self.unit is not None:
            signs = np.zeros((FOLDS, n_bins))
            signs[live] = found.signs
            noise = noise * self._inflation(signs[self.place % FOLDS, bins])[:, None]
        return Separation(*found.estimate(noise[:, live]))

    def _inflation(self, scores: Array) -> Array:
        """Variance of sums over units, relative to that of as many independent rows."""
        assert self.unit is not None
        weights = self.weights * self.folds[self.place % FOLDS]
        found = np.ones(2)
        for side, own in enumerate((self.place < FOLDS, self.place >= FOLDS)):
            rest = scores[own] - np.average(scores[own], weights=weights[own])
            rows = float((weights[own] * rest) @ (weights[own] * rest))
            unit = np.unique(self.unit[own], return_inverse=True)[1].ravel()
            sums = np.bincount(unit, weights[own] * rest)
            if rows > 0 and len(sums) > 1:
                found[side] = (sums @ sums) / rows * len(sums) / (len(sums) - 1)
        return found


def deal_rows(
    y: NDArray[np.bool_], unit: Index | None = None, block: Index | None = None
) -> DealtRows:
    """Deal rows to folds by unit, and compare them inside blocks.

    Blocks with at least five units of either sample have units in all folds; smaller ones, such as
    pairs, are dealt whole. Weights of comparisons in a block are their inverse variances.

    Parameters
    ----------
    y : array of bool, shape (N,)
        Whether a row belongs to y.
    unit : array of int, optional
        The unit of each row; every row is one by default.
    block : array of int, optional
        The block of each row; one for all by default.
    """
    N = len(y)
    which = np.arange(N) if unit is None else np.unique(unit, return_inverse=True)[1].ravel()
    inside = np.zeros(N, np.int64)
    if block is not None:
        inside = np.unique(block, return_inverse=True)[1].ravel()
    first = np.unique(which, return_index=True)[1]
    cell = 2 * inside[first] + y[first]
    units = np.bincount(cell, minlength=2 * int(inside.max() + 1))
    large = units.reshape(-1, 2).min(axis=1) >= FOLDS
    rank = _ranks_in_cells(cell, units)
    whole = _ranks_in_cells(np.zeros(len(large), np.int64), np.array([len(large)]))
    fold = np.where(large[inside[first]], rank, whole[inside[first]])[which] % FOLDS
    at = (inside * FOLDS + fold) * 2 + y
    rows = np.bincount(at, minlength=2 * FOLDS * len(large)).reshape(-1, FOLDS, 2).astype(float)
    matched = _balanced(rows[..., 0], rows[..., 1])
    folds = matched.sum(axis=0)
    each = matched / np.where(folds > 0, folds, 1.0)
    weights = (each[..., None] / np.maximum(rows, 1.0)).ravel()[at]
    return DealtRows(fold + FOLDS * y, weights, folds, unit)


def _ranks_in_cells(cell: Index, sizes: Index) -> Index:
    """Ranks inside cells, in an order that is random, and the same for cells of the same size."""
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.argsort(cell, kind="stable")
    keys = np.random.default_rng(0).random(int(sizes.max()))[np.arange(len(cell)) - first]
    order = order[np.lexsort((keys, cell[order]))]
    rank = np.empty(len(cell), np.int64)
    rank[order] = np.arange(len(cell)) - first
    return rank


def bins_of_values(
    values: Array, categories: bool, missing: NDArray[np.bool_] | None = None
) -> tuple[Index, int]:
    """The bin of each value, and the number of bins.

    Numbers have up to 32 bins by pooled quantiles, of at least 25 rows each, and one for each value
    with 1 % of the rows or more. Categories have a bin each if 25 rows a bin allow it, the most
    frequent first; all others share one. Missing values have a bin of their own.
    """
    there = values if missing is None else values[~missing]
    most = max(2, len(there) // ROWS_A_BIN)
    if categories:
        found, code, rows = np.unique(there, return_inverse=True, return_counts=True)
        rank = np.empty(len(found), np.int64)
        rank[np.argsort(-rows, kind="stable")] = np.arange(len(found))
        place, n_bins = np.minimum(rank[code.ravel()], most), most + 1
    else:
        # An even number, so that two samples of one size that do not overlap share no bin.
        edges = _edges(np.sort(there), min(most // 2 * 2, MOST_BINS))
        place, n_bins = np.searchsorted(edges, there), len(edges) + 1
    if missing is None:
        return place, n_bins
    whole = np.full(len(values), n_bins)
    whole[~missing] = place
    return whole, n_bins + 1


def _edges(ordered: Array, count: int) -> Array:
    """Upper edges of bins: quantiles, and both sides of values that many rows share."""
    n = len(ordered)
    if n == 0:
        return ordered
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    rows = np.diff(np.append(starts, n))
    own = ordered[starts[rows >= min(n / 2, max(ROWS_A_BIN, OWN_SHARE * n))]]
    middle = ordered[np.ceil(n * np.arange(1, count) / count).astype(np.int64) - 1]
    return np.unique(np.concatenate([middle, own, np.nextafter(own, -np.inf)]))


def separations_of_rows(
    rows: NDArray[Any],
    dealt: DealtRows,
    groups: Iterable[Sequence[int]],
    categorical: Collection[int] = (),
) -> list[Separation | None]:
    """Estimate the separation of each column.

    Parameters
    ----------
    rows : array, shape (N, width)
        Rows of x and of y.
    dealt : DealtRows
        Their folds.
    groups : sequence
        For each column, the columns of the rows that it is made of: its values, and whether they
        are missing.
    categorical : collection of int
        Columns of the rows that hold categories.
    """
    return [dealt.separation(*bins_of_group(rows, own, categorical)) for own in groups]


def bins_of_group(
    rows: NDArray[Any], group: Sequence[int], categorical: Collection[int]
) -> tuple[Index, int]:
    """The bin of each row by a column, made of values and maybe of where they are missing."""
    missing = rows[:, group[1]] == 1.0 if len(group) > 1 else None
    values = np.asarray(rows[:, group[0]], np.float64)
    return bins_of_values(values, group[0] in categorical, missing)


def separations_of_both(
    x: NDArray[Any],
    y: NDArray[Any],
    groups: Sequence[Sequence[int]],
    categorical: Collection[int] = (),
    *,
    paired: bool = False,
    block: int = 1,
) -> list[Separation | None]:
    """Estimate the separation of each column of two samples of independent rows, or of pairs.

    `block` is the number of consecutive pairs that depend on one another.
    """
    if paired:
        return _separations_of_pairs(x, y, groups, categorical, block)
    dealt = deal_rows(np.repeat([False, True], [len(x), len(y)]))
    return separations_of_rows(np.concatenate([x, y]), dealt, groups, categorical)


def separations_of_samples(
    samples: Sequence[NDArray[Any]],
    names: Sequence[str],
    groups: Sequence[Sequence[int]],
    categorical: Collection[int] = (),
) -> list[Separation | None]:
    """Estimate the separation of each column: for the best of several samples, from the others."""
    rows, of = np.concatenate(samples), np.repeat(np.arange(len(samples)), [*map(len, samples)])
    dealt = [deal_rows(of == k) for k in range(len(samples))]
    found: list[Separation | None] = []
    for group in groups:
        bins = bins_of_group(rows, group, categorical)
        best = largest_of(own.separation(*bins) for own in dealt)
        found.append(best and replace(best[1], sample=names[best[0]]))
    return found


def _separations_of_pairs(
    x: NDArray[Any],
    y: NDArray[Any],
    groups: Iterable[Sequence[int]],
    categorical: Collection[int],
    block: int,
) -> list[Separation | None]:
    """Estimate the share of pairs in which y is larger, for each column; separate categories."""
    n = len(x)
    rows, unit = np.concatenate([x, y]), np.arange(n) // block
    dealt = deal_rows(np.repeat([False, True], n), np.tile(unit, 2) + np.repeat([0, n], n))
    found: list[Separation | None] = []
    for group in groups:
        if group[0] in categorical:
            found.append(dealt.separation(*bins_of_group(rows, group, categorical)))
            continue
        kept = np.ones(n, np.bool_)
        if len(group) > 1:
            kept = (x[:, group[1]] != 1.0) & (y[:, group[1]] != 1.0)
        found.append(_share_larger(np.sign(y[kept, group[0]] - x[kept, group[0]]), unit[kept]))
    return found


def _share_larger(signs: Array, unit: Index) -> Separation | None:
    """Share of pairs in which y is larger, ties counted half."""
    n, sums = len(signs), np.bincount(unit)
    units = np.count_nonzero(sums)
    if units < FOLDS:
        return None
    mean = float(signs.mean())
    variance = float(_variance_of_mean(n, mean, float((signs**2).mean())))
    if sums.max() > 1:
        rest = np.bincount(unit, signs - mean)
        variance = max(variance, float(rest @ rest) / n**2)
    return Separation(0.5 + 0.5 * mean, 0.5 * variance**0.5, float(units - 1), paired=True)
