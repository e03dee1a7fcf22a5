"""Which columns carry the difference between two samples.

All rows of both samples are shuffled together once: Z are the rows as they are, Z° the shuffled
ones, in which nothing tells the samples apart. Every column is then moved between the two:

- *lost*: what the learned statistic loses when the column's values come from Z°, all other columns
  from Z. A column that says nothing new loses nothing; neither does a column whose message
  another one repeats.
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._pairs import Means, RowPairs, row_pairs
from nosplit.bank import Bank

__all__ = ["ColumnEffect", "attribute"]

Array = NDArray[np.float64]
Group = Sequence[int]
Both = tuple[NDArray[Any], NDArray[Any]]

# Nominal seconds of one core for all columns together.
SECONDS = 1.0
FEWEST_PAIRS, MOST_PAIRS = 2000, 500_000
MOST_SHUFFLES = 4


class ColumnEffect(NamedTuple):
    """How much of the learned statistic a column carries.

    `lost`, `alone` and `carried`, their mean, are in the units of `Effect.learned`; `error` is the
    standard error of `carried` for given weights. `share` is `carried` relative to the whole. The
    shares of all columns need not add to 1: columns that say the same each carry it.
    """

    name: str
    share: float
    carried: float
    error: float
    lost: float
    alone: float


def attribute(
    x: NDArray[Any],
    y: NDArray[Any],
    bank: Bank,
    weights: Array,
    columns: dict[str, Group],
    rng: np.random.Generator,
) -> tuple[ColumnEffect, ...]:
    """How much of the combination's statistic each column carries; rows are in random order."""
    pairs, shuffles = _room(x, y, bank, len(columns))
    x, y = x[: pairs.n_units], y[: pairs.n_units]
    scores = [_Scores.draw((x, y), pairs, bank, weights, rng) for _ in range(shuffles)]
    whole = Means.of(scores[0].whole, pairs)
    one = np.ones(1)
    # Where the whole is within its own error, that error stands in for it.
    total = max(whole.signal(one), whole.error(one))
    found = []
    for name, group in columns.items():
        values = np.mean([score.moved(group) for score in scores], axis=0)
        means, half = Means.of(values, pairs), np.array([0.5, 0.5])
        carried = means.signal(half)
        share = carried / total if total > 0 else 0.0
        lost, alone = map(float, means.mean)
        found.append(ColumnEffect(name, share, carried, means.error(half), lost, alone))
    return tuple(found)


def _room(x: NDArray[Any], y: NDArray[Any], bank: Bank, columns: int) -> tuple[RowPairs, int]:
    """Pairs and shuffles for the nominal time; all rows of a small sample, several times."""
    width, n_units = x.shape[1], min(len(x), len(y))
    others = len(bank.others)
    ns = 40.0 + 2.0 * width + 5.0 * len(bank) + others * (400.0 + 20.0 * width)
    wanted = SECONDS * 1e9 / ns / (2 * columns + 2)
    pairs = row_pairs(n_units, int(np.clip(wanted, FEWEST_PAIRS, MOST_PAIRS)))
    return pairs, int(np.clip(wanted // pairs.n_pairs, 1, MOST_SHUFFLES))


@dataclass(frozen=True, eq=False)
class _Scores:
    """Values of the combination with columns moved between rows and shuffled rows."""

    rows: Both
    shuffled: Both
    pairs: RowPairs
    bank: Bank
    weights: Array

    @classmethod
    def draw(
        cls, rows: Both, pairs: RowPairs, bank: Bank, weights: Array, rng: np.random.Generator
    ) -> _Scores:
        """Shuffle all rows together."""
        pool = np.concatenate(rows)[rng.permutation(2 * pairs.n_units)]
        shuffled = pool[: pairs.n_units], pool[pairs.n_units :]
        return cls(rows, shuffled, pairs, bank, weights)

    def _values(self, rows: Both) -> Array:
        return self.pairs.values(*rows, self.bank, self.weights[None])

    @cached_property
    def whole(self) -> Array:
        """Values of the rows as they are, (1, m)."""
        return self._values(self.rows)

    @cached_property
    def none(self) -> Array:
        """Values of the shuffled rows, (1, m)."""
        return self._values(self.shuffled)

    def moved(self, group: Group) -> Array:
        """What a group of columns loses and what it gains alone, (2, m)."""
        without = self._values(_with_columns(self.rows, self.shuffled, group))
        alone = self._values(_with_columns(self.shuffled, self.rows, group))
        return np.concatenate([self.whole - without, alone - self.none])


def _with_columns(rows: Both, source: Both, group: Group) -> Both:
    """Copies of two samples with some columns from elsewhere."""
    x, y = (sample.copy() for sample in rows)
    for target, origin in zip((x, y), source, strict=True):
        target[:, list(group)] = origin[:, list(group)]
    return x, y
