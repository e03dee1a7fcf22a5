"""Attribute the difference between two samples to columns.

All rows of both samples are shuffled together once: Z are the rows as they are, Z° the shuffled
ones, in which nothing tells the samples apart. Every column is then moved between the two:

- *lost*: what the learned statistic loses when the column's values come from Z°, all other columns
  from Z. A column that says nothing loses nothing, and one whose message another repeats loses
  less than it would without the other.
- *alone*: what the learned statistic gains when the column's values come from Z, all others from
  Z°. It is the column's own marginal difference; a change of a correlation shows nothing here,
  and both columns of the correlation lose all of it above.

A column *carries* the mean of the two. That is the mean of its first and last step in an order of
the columns; it is its Shapley value where columns act alone or in pairs. (Averages over all
orders cost more and say little more.) Leaving a column out instead would change the distances
between rows, which the bandwidths were made for; shuffled values have the scale of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.column_swaps import Sums, can_update
from nosplit._old.describe.pair_means import Means, RowPairs, nominal_ns, row_pairs
from nosplit._types import Array
from nosplit.kernels.bank import Bank

__all__ = ["ColumnEffect", "attribute"]

Group = Sequence[int]
Both = tuple[NDArray[Any], NDArray[Any]]

# Nominal seconds of one core for all columns together.
SECONDS = 1.0
FEWEST_PAIRS, MOST_PAIRS = 2000, 500_000
MOST_SHUFFLES = 4


class ColumnEffect(NamedTuple):
    """The share of the learned statistic that a column carries.

    `lost`, `alone` and `carried`, their mean, are in the units of `Effect.learned`. `share` is
    `carried` relative to the whole, and `error` the standard error of that ratio for given weights.
    The shares of all columns need not add to 1: columns that matter only together, or that say
    the same, are counted in each. Of a sample that is a profile there are no rows to move columns
    in: `lost` is None, and `carried` is `alone`.
    """

    name: str
    share: float
    error: float
    carried: float
    lost: float | None
    alone: float

    @property
    def percent(self) -> int:
        """The share in percent, from 0 to 100: what is beyond is noise."""
        return round(100.0 * min(max(self.share, 0.0), 1.0))

    @property
    def low(self) -> float:
        """The share less its standard error: what it is ranked by, so that noise comes last."""
        return self.share - self.error


def attribute(
    x: NDArray[Any],
    y: NDArray[Any],
    bank: Bank,
    weights: Array,
    columns: dict[str, Group],
    rng: np.random.Generator,
) -> tuple[tuple[ColumnEffect, ...], int]:
    """Share of the combination's statistic that each column carries, and of how many rows.

    Rows are in random order.
    """
    pairs, shuffles = _room(x, y, bank, len(columns))
    looked_at = 2 * pairs.n_units
    rows = np.array(x[: pairs.n_units]), np.array(y[: pairs.n_units])
    kind = _WideShuffle if can_update(bank, x.shape[1]) else _Shuffle
    draws = [kind.draw(rows, pairs, bank, weights, rng) for _ in range(shuffles)]
    if len(columns) == 1:  # it carries all there is
        means = Means.of(draws[0].whole, pairs)
        (name,), (mean,) = columns, map(float, means.mean)
        return (ColumnEffect(name, 1.0, 0.0, means.signal(np.ones(1)), mean, mean),), looked_at
    found = []
    for name, group in columns.items():
        moved = np.mean([draw.moved(group) for draw in draws], axis=0)
        means = Means.of(np.concatenate([draws[0].whole, moved]), pairs)
        found.append(_attributed(name, means))
    return tuple(found), looked_at


def _attributed(name: str, means: Means) -> ColumnEffect:
    """The effect, from the means of the whole, of what is lost, and of what is gained alone."""
    whole, carried = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.5, 0.5])
    # Where the whole is within its own error, that error stands in for it.
    total = max(means.signal(whole), means.error(whole))
    share = means.signal(carried) / total if total > 0 else 0.0
    error = means.error(carried - share * whole) / total if total > 0 else 0.0
    _, lost, alone = map(float, means.mean)
    return ColumnEffect(name, share, error, means.signal(carried), lost, alone)


def _room(x: NDArray[Any], y: NDArray[Any], bank: Bank, columns: int) -> tuple[RowPairs, int]:
    """Pairs and shuffles for the nominal time; all rows of a small sample, several times."""
    width, n_units = x.shape[1], min(len(x), len(y))
    wide = can_update(bank, width)
    ns = 300.0 + 10.0 * len(bank) if wide else nominal_ns(bank, width)
    wanted = SECONDS * 1e9 / ns / (2 * columns + 2)
    pairs = row_pairs(n_units, int(np.clip(wanted, FEWEST_PAIRS, MOST_PAIRS)))
    return pairs, int(np.clip(wanted // pairs.n_pairs, 1, MOST_SHUFFLES))


@dataclass(frozen=True, eq=False)
class _Shuffle:
    """Rows and shuffled rows, and the values of the learned statistic of either, (1, m)."""

    rows: Both
    shuffled: Both
    pairs: RowPairs
    bank: Bank
    weights: Array

    @classmethod
    def draw(
        cls, rows: Both, pairs: RowPairs, bank: Bank, weights: Array, rng: np.random.Generator
    ) -> Self:
        """Shuffle all rows together."""
        n = len(rows[0])
        pool = np.concatenate(rows)[rng.permutation(2 * n)]
        new = cls(rows, (pool[:n], pool[n:]), pairs, bank, weights)
        new.whole, new.none  # noqa: B018 - before any column changes its place
        return new

    @cached_property
    def whole(self) -> Array:
        """Values of the rows as they are."""
        return self._values(self.rows)

    @cached_property
    def none(self) -> Array:
        """Values of the shuffled rows."""
        return self._values(self.shuffled)

    def _values(self, rows: Both) -> Array:
        return self.pairs.values(*rows, self.bank, self.weights[None])

    def moved(self, group: Group) -> Array:
        """Loss without a group of columns, and gain by it alone, (2, m)."""
        without, alone = self._exchanged(group)
        return np.concatenate([self.whole - without, alone - self.none])

    def _exchanged(self, group: Group) -> tuple[Array, Array]:
        """Values of the rows and of the shuffled rows after an exchange of columns."""
        _exchange(self.rows, self.shuffled, group)
        values = self._values(self.rows), self._values(self.shuffled)
        _exchange(self.rows, self.shuffled, group)
        return values


class _WideShuffle(_Shuffle):
    """The same for wide rows."""

    @cached_property
    def sums(self) -> tuple[Sums, Sums]:
        """Sums over all columns."""
        return self._sums(None)

    def _sums(self, columns: Group | None) -> tuple[Sums, Sums]:
        rows, shuffled = (
            Sums.of(both, self.pairs, self.bank, columns) for both in (self.rows, self.shuffled)
        )
        return rows, shuffled

    def _exchanged(self, group: Group) -> tuple[Array, Array]:
        own, other = self._sums(group)
        rows, shuffled = self.sums
        without, alone = rows.exchanged(own, other), shuffled.exchanged(other, own)
        return without.values(self.weights)[None], alone.values(self.weights)[None]


def _exchange(rows: Both, others: Both, group: Group) -> None:
    """Exchange some columns of two samples with those of two others."""
    for one, other in zip(rows, others, strict=True):
        for i in group:
            one[:, i], other[:, i] = other[:, i].copy(), one[:, i].copy()
