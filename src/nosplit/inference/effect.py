"""Separation: balanced accuracy of the best rule that sees one column.

A rule assigns each bin of a column to one of two samples. It is learned on four folds of the units
and judged on the fifth, so that without a difference its mean is one half at any sample size.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._types import Array, Index

__all__ = [
    "FOLDS",
    "LEVEL",
    "Correlation",
    "DealtRows",
    "DealtSamples",
    "Separation",
    "bins_of_both",
    "bins_of_group",
    "bins_of_values",
    "coarser_bins",
    "deal_rows",
    "folds_of_units",
    "largest_of",
    "plain_separation",
    "separation_of_counts",
    "separations_of_both",
    "separations_of_rows",
]

FOLDS = 5
# Level of confidence intervals.
LEVEL = 0.95
# Bins of a column of numbers, rows in each, and the share of rows of a value with its own bin.
MOST_BINS, ROWS_A_BIN, OWN_SHARE = 32, 25, 0.01
# Values, and columns, that are binned at once.
VALUES_AT_ONCE, MAX_COLUMNS = 1 << 21, 256
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
        """Adjust the interval for an estimate that is the largest of several."""
        return replace(self, looks=self.looks * looks)


@dataclass(frozen=True)
class Correlation:
    """The rank correlation of two columns, with an interval.

    Attributes
    ----------
    value : float
        The correlation of the ranks.
    low, high : float
        The ends of its 95 % interval, adjusted for all pairs of columns (Fisher's transformation,
        with the variance of Bonett and Wright).
    absent : bool
        Whether the rows, taken as independent, show no correlation at level .05. If they depend on
        each other all the same, the relation is not monotone.
    """

    value: float
    low: float
    high: float
    absent: bool

    @classmethod
    def of(cls, value: float, rows: int, units: int, tested: int = 1) -> Correlation:
        """Find the interval of a rank correlation of rows in independent units, one of some."""
        z = -float(special.ndtri(0.025 / tested))
        each, error = (
            math.sqrt((1.0 + value * value / 2.0) / max(n - 3.0, 1.0)) for n in (rows, units)
        )
        middle = math.atanh(min(max(value, -0.999999), 0.999999))
        low, high = math.tanh(middle - z * error), math.tanh(middle + z * error)
        return cls(value, low, high, abs(middle) < 1.96 * each)

    @property
    def words(self) -> tuple[str, str]:
        """The correlation, and its interval."""
        to = "–" if self.low >= 0.0 else " to "
        value, interval = f"{self.value:.2f}", f"({self.low:.2f}{to}{self.high:.2f})"
        return value.replace("-", "−"), interval.replace("-", "−")


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
    found = _Rules.of((counts / rows[:, :, None])[None], _balanced(*rows))
    return None if found is None else found.separations((1.0 / rows)[None])[0]


def _balanced(n: Array, m: Array) -> Array:
    """Weights of comparisons of n with m rows: the inverse variance of a difference of means."""
    return np.asarray(n * m / np.maximum(n + m, 1e-300))


def _variance_of_mean(n: Any, mean: Any, square: Any) -> Any:
    """Variance of the mean of n scores from -1 to 1, with their mean and mean square.

    Laplace's rule adds a score of -1 and one of 1, so that it is not 0 if all are alike.
    """
    return ((n * square + 2.0) / (n + 2.0) - (n * mean / (n + 2.0)) ** 2) / n


class _Rules(NamedTuple):
    """Rules of some columns, learned on all folds but one.

    Attributes
    ----------
    shares : array, shape (C, 2, K, B)
        Shares of the bins of each column in each fold of either sample.
    weights : array, shape (K,)
        Weights of the folds, which add up to 1.
    signs : array, shape (C, K, B)
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
        apart = weights[:, None] * (shares[:, 1] - shares[:, 0])
        rest = apart.sum(axis=1, keepdims=True) - apart
        return cls(shares, weights, np.sign(np.where(np.abs(rest) > ROUNDING, rest, 0.0)))

    def separations(self, noise: Array) -> list[Separation]:
        """Balanced accuracies, their standard errors, and the degrees of freedom of these.

        Shares of a fold vary as those of 1 / `noise` independent rows, (C or 1, 2, K).
        """
        gap = (self.signs * (self.shares[:, 1] - self.shares[:, 0])).sum(axis=2)
        n = 1.0 / (noise @ self.weights**2)
        scores = ((s[:, None] * self.shares).sum(axis=3) for s in (self.signs, self.signs**2))
        own = _variance_of_mean(n, *(score @ self.weights for score in scores))
        freedom = own.sum(axis=1) ** 2 / (own**2 / np.maximum(n - 1.0, 1.0)).sum(axis=1)
        error = 0.25 * np.sqrt(own.sum(axis=1) + self._covariance(noise))
        value = 0.5 + 0.25 * gap @ self.weights
        found = np.stack([value, error, freedom], axis=1).tolist()
        return [Separation(*numbers) for numbers in found]

    def _covariance(self, noise: Array) -> Array:
        """Covariance of all pairs of different folds, which teach one another, (C,).

        For folds k and l, R is the difference of shares in all other folds, and D_k, D_l are
        normal with mean 0. The rule for k is the sign of R + D_l, that for l the sign of R + D_k.
        Given R, the mean of sign(R + D_l) D_l is 2 φ(R / σ_l) σ_l. Without a difference of the
        samples the estimate is unbiased; with a large one it is 0, as all rules agree.
        """
        p = self.weights @ self.shares.mean(axis=1)
        varies = (p > ROUNDING) & (p < 1.0 - ROUNDING)
        p = np.where(varies, p, 0.0)
        spread = np.where(varies, np.sqrt(p * (1.0 - p)), 1.0)
        apart = self.weights[:, None] * (self.shares[:, 1] - self.shares[:, 0])
        total, size = apart.sum(axis=1), self.weights * np.sqrt(noise.sum(axis=1))
        found = np.zeros(len(p))
        for k, m in combinations(range(len(self.weights)), 2):
            rest = -0.5 * ((total - apart[:, k] - apart[:, m]) / spread) ** 2
            one, other = (varies * np.exp(rest / size[:, [f]] ** 2) / spread for f in (k, m))
            # Covariances of shares are p (1 - p) and -p p'.
            both = (one * other * (spread**4 - p**4)).sum(axis=1)
            both += (one * p**2).sum(axis=1) * (other * p**2).sum(axis=1)
            found += size[:, k] * size[:, m] * both
        return 4.0 / np.pi * found


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

    def separations(self, bins: NDArray[np.integer], n_bins: int) -> list[Separation | None]:
        """Estimate the separation of columns, by the bins of their rows, (C, N)."""
        from nosplit.backend.numba.columns import sums_in_bins

        sums = np.zeros((len(bins), 2 * FOLDS, n_bins))
        sums_in_bins(np.ascontiguousarray(bins, np.int32), self.place, self.weights, sums)
        shares = sums.reshape(-1, 2, FOLDS, n_bins)
        live = self.folds > 0
        found = _Rules.of(shares[:, :, live], self.folds[live])
        if found is None:
            return [None] * len(bins)
        squares = np.bincount(self.place, self.weights**2, 2 * FOLDS)
        noise = np.asarray(squares, np.float64).reshape(1, 2, FOLDS)
        if self.unit is not None:
            signs = np.zeros((len(bins), FOLDS, n_bins))
            signs[:, live] = found.signs
            own = (signs[c, self.place % FOLDS, column] for c, column in enumerate(bins))
            noise = noise * np.stack([self._inflation(scores) for scores in own])[:, :, None]
        return list(found.separations(noise[:, :, live]))

    def separation(self, bins: Index, n_bins: int) -> Separation | None:
        """Estimate the separation of one column by bins of the rows."""
        return self.separations(bins[None], n_bins)[0]

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
                ratio = (sums @ sums) / rows * len(sums) / (len(sums) - 1)
                found[side] = ratio if ratio > ROUNDING else 1.0  # few units may all be alike
        return found


class DealtSamples(NamedTuple):
    """Rows of several samples in folds: those of each, and of all others, by its name."""

    each: Sequence[DealtRows]
    names: Sequence[str]

    @classmethod
    def of(
        cls,
        label: Index,
        names: Sequence[str],
        unit: Index | None = None,
        block: Index | None = None,
    ) -> DealtSamples:
        """Deal rows to folds by unit, and compare them inside blocks: see `deal_rows`."""
        return cls([deal_rows(label == k, unit, block) for k in range(len(names))], names)

    def separations(self, bins: NDArray[np.integer], n_bins: int) -> list[Separation | None]:
        """Estimate the separation of columns, for the best of the samples from the others."""
        columns = zip(*(own.separations(bins, n_bins) for own in self.each), strict=True)
        bests = map(largest_of, columns)
        return [best and replace(best[1], sample=self.names[best[0]]) for best in bests]

    def separation(self, bins: Index, n_bins: int) -> Separation | None:
        """Estimate the separation of one column by bins of the rows."""
        return self.separations(bins[None], n_bins)[0]


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
    fold, blocks = folds_of_units(y, which, inside, FOLDS, 0), int(inside.max()) + 1
    at = (inside * FOLDS + fold) * 2 + y
    rows = np.bincount(at, minlength=2 * FOLDS * blocks).reshape(-1, FOLDS, 2).astype(float)
    matched = _balanced(rows[..., 0], rows[..., 1])
    folds = matched.sum(axis=0)
    each = matched / np.where(folds > 0, folds, 1.0)
    weights = (each[..., None] / np.maximum(rows, 1.0)).ravel()[at]
    return DealtRows(fold + FOLDS * y, weights, folds, unit)


def folds_of_units(
    y: NDArray[np.bool_], unit: Index, block: Index, folds: int, key: int | None
) -> Index:
    """Deal units to folds, and return the fold of each row.

    Blocks with at least as many units of either sample as there are folds have units of both in
    each fold; smaller blocks are dealt whole. Without a `key`, folds follow the order of rows.
    Units and blocks are numbered from 0.
    """
    first = np.unique(unit, return_index=True)[1]
    inside = block[first]
    cell = 2 * inside + y[first]
    units = np.bincount(cell, minlength=2 * int(block.max() + 1))
    large = units.reshape(-1, 2).min(axis=1) >= folds
    rank = _ranks_in_cells(cell, units, key)
    whole = _ranks_in_cells(np.zeros(len(large), np.int64), np.array([len(large)]), key)[inside]
    if key is None:
        found = np.where(large[inside], rank * folds // units[cell], whole * folds // len(large))
    else:
        found = np.where(large[inside], rank, whole) % folds
    return np.asarray(found[unit])


def _ranks_in_cells(cell: Index, sizes: Index, key: int | None) -> Index:
    """Ranks inside cells; if random, in an order that is the same for cells of the same size."""
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.argsort(cell, kind="stable")
    if key is not None:
        keys = np.random.default_rng(key).random(int(sizes.max()))[np.arange(len(cell)) - first]
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
        edges = _edges(np.sort(there))
        place, n_bins = np.searchsorted(edges, there), len(edges) + 1
    if missing is None:
        return place, n_bins
    whole = np.full(len(values), n_bins)
    whole[~missing] = place
    return whole, n_bins + 1


def _edges(ordered: Array) -> Array:
    """Upper edges of bins: quantiles, and both sides of values that many rows share."""
    n = len(ordered)
    if n == 0:
        return ordered
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    rows = np.diff(np.append(starts, n))
    places, least = _edge_places(n)
    own = ordered[starts[rows >= least]]
    return np.unique(np.concatenate([ordered[places], own, np.nextafter(own, -np.inf)]))


def _edge_places(n: int) -> tuple[Index, float]:
    """Places of quantiles among n sorted rows, and rows of a value with its own bin."""
    # An even number, so that two samples of one size that do not overlap share no bin.
    count = min(max(2, n // ROWS_A_BIN) // 2 * 2, MOST_BINS)
    places = np.ceil(n * np.arange(1, count) / count).astype(np.int64) - 1
    return places, min(n / 2, max(ROWS_A_BIN, OWN_SHARE * n))


def separations_of_rows(
    rows: NDArray[Any],
    dealt: DealtRows | DealtSamples,
    groups: Sequence[Sequence[int]],
    categorical: Collection[int] = (),
) -> list[Separation | None]:
    """Estimate the separation of each column.

    Parameters
    ----------
    rows : array, shape (N, width)
        Rows of all samples.
    dealt : DealtRows or DealtSamples
        Their folds.
    groups : sequence
        For each column, the columns of the rows that it is made of: its values, and whether they
        are missing.
    categorical : collection of int
        Columns of the rows that hold categories.
    """
    found: list[Separation | None] = []
    step = max(1, min(VALUES_AT_ONCE // len(rows), MAX_COLUMNS))
    for first in range(0, len(groups), step):
        some = groups[first : first + step]
        found += dealt.separations(*bins_of_groups(rows, some, categorical))
    return found


def bins_of_groups(
    rows: NDArray[Any], groups: Sequence[Sequence[int]], categorical: Collection[int]
) -> tuple[Index, int]:
    """The bins of rows by some columns, (C, N), and the largest number of bins of a column."""
    from nosplit.backend.numba.columns import bins_by_quantiles

    bins, widest = np.empty((len(groups), len(rows)), np.int64), 1
    plain = [k for k, own in enumerate(groups) if len(own) == 1 and own[0] not in categorical]
    if plain:
        values = np.array(rows[:, [groups[k][0] for k in plain]].T, np.float64, order="C")
        at, least = _edge_places(len(rows))
        code = np.empty(values.shape, np.int64)
        widest = bins_by_quantiles(values, np.argsort(values, axis=1), at, least, code)
        bins[plain] = code
    for k in set(range(len(groups))).difference(plain):
        bins[k], count = bins_of_group(rows, groups[k], categorical)
        widest = max(widest, count)
    return bins, widest


def bins_of_group(
    rows: NDArray[Any], group: Sequence[int], categorical: Collection[int]
) -> tuple[Index, int]:
    """The bin of each row by a column, made of values and maybe of where they are missing."""
    missing = rows[:, group[1]] == 1.0 if len(group) > 1 else None
    values = np.asarray(rows[:, group[0]], np.float64)
    return bins_of_values(values, group[0] in categorical, missing)


def bins_of_both(
    rows: NDArray[Any], groups: Sequence[Sequence[int]], categorical: Collection[int]
) -> tuple[Index, int]:
    """The bin of each row by two columns together: a grid of about 25 rows a bin."""
    most = int(np.clip(math.isqrt(len(rows) // ROWS_A_BIN), 2, MOST_BINS))
    place, total = np.zeros(len(rows), np.int64), 1
    for group in groups:
        bins, count = bins_of_group(rows, group, categorical)
        if count > most:  # numbers: neighbours together; categories: the rare ones
            rare = group[0] in categorical
            bins = np.minimum(bins, most - 1) if rare else bins * most // count
        place, total = place * most + bins, total * most
    return place, total


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
