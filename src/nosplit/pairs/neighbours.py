"""Rows that arrive sorted, or that depend on one another: a check for one pass over the data.

Values of disjoint pairs are independent if rows are, under the null hypothesis or not. Values of
neighbouring pairs that are correlated show that rows are in some order, or that they are the output
of a chain; and so do pairs of near units whose values are larger, on average, than those of far
ones. A test that takes rows to be independent then rejects too often.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nosplit._support.lazy import special
from nosplit._support.types import Array
from nosplit.errors import Caveat, DependentRowsWarning, InputError
from nosplit.pairs.moments import Moments

__all__ = ["LagOne", "looked_at", "near_and_far"]

FALSE_ALARM = 1e-3
# Of every so many pairs, the first so many are looked at: enough to tell, and of no cost.
PERIOD, RUN = 65_536, 4096


@dataclass(frozen=True, eq=False)
class LagOne:
    """Moments of neighbouring values (h_i, h_{i+1}) of disjoint pairs, for d kernels. They add.

    Parameters
    ----------
    neighbours : Moments
        Of 2d numbers: the values of a pair, and those of the next one.

    Examples
    --------
    >>> rising = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    >>> both = LagOne.of_values(rising) + LagOne.of_values(-rising)
    >>> both.neighbours.n, both.correlations
    (8, array([0.99...]))
    """

    neighbours: Moments

    @classmethod
    def empty(cls, d: int) -> LagOne:
        """Nothing seen yet, d kernels: the identity of addition."""
        return cls(Moments.empty(2 * d))

    @classmethod
    def of_values(cls, values: Array) -> LagOne:
        """Moments of the values (d, M) of disjoint pairs, in the order of the rows."""
        return cls(Moments.from_columns(np.concatenate([values[:, :-1], values[:, 1:]])))

    def __add__(self, other: LagOne) -> LagOne:
        if not isinstance(other, LagOne):
            return NotImplemented
        return LagOne(self.neighbours + other.neighbours)

    @property
    def d(self) -> int:
        """Number of kernels."""
        return len(self.neighbours.mean) // 2

    @property
    def correlations(self) -> Array:
        """Correlation of neighbouring values, for every kernel.

        0 where nothing varies, or by so much that its square overflows.
        """
        d, scatter = self.d, self.neighbours.scatter
        variances = np.diagonal(scatter)
        size = np.sqrt(variances[:d]) * np.sqrt(variances[d:])
        known = (size > 0) & np.isfinite(size)
        product = np.diagonal(scatter, d)
        return np.asarray(np.divide(product, size, out=np.zeros(d), where=known))

    @property
    def beyond_chance(self) -> float | None:
        """The largest correlation, if it is more than chance; None if it is not.

        For independent rows the correlations are normal with variance 1/M; the threshold leaves
        one false alarm in a thousand over all kernels, a few with heavy tails.
        """
        n = self.neighbours.n
        if n < 2:
            return None
        r = float(self.correlations.max())
        return None if r * math.sqrt(n) < -special.ndtri(FALSE_ALARM / self.d) else r

    def caveats(self) -> list[Caveat]:
        """Caveats on rows that look sorted or dependent."""
        r = self.beyond_chance
        if r is None:
            return []
        return _dependent(f"values of neighbouring pairs have a correlation of {r:.2f}")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON."""
        return self.neighbours.to_dict()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LagOne:
        """The inverse of `to_dict`."""
        neighbours = Moments.from_dict(data)
        if len(neighbours.mean) % 2:
            raise InputError(f"`data` must be of 2d numbers, got {len(neighbours.mean)}.")
        return cls(neighbours)


def near_and_far(apart: Moments) -> list[Caveat]:
    """A caveat if units next to one another are more alike, or less, than far ones.

    `apart` are the moments of values of near units less values of far ones: 0 on average for
    independent rows, whether or not the null hypothesis holds.
    """
    n = apart.n
    if n < 2:
        return []
    deviation = np.sqrt(np.diagonal(apart.cov) / n)
    z = np.divide(np.abs(apart.mean), deviation, out=np.zeros(len(deviation)), where=deviation > 0)
    if z.max() < -special.ndtri(FALSE_ALARM / (2 * len(z))):
        return []
    return _dependent(
        f"units next to one another are alike, by {z.max():.0f} standard deviations more than far "
        "ones"
    )


def _dependent(why: str) -> list[Caveat]:
    text = (
        f"The rows look sorted, or as if they depended on one another ({why}), and the test takes "
        "them to be independent: do not rely on its p-value. Shuffle the rows before they are "
        "paired; rows of a chain must be thinned."
    )
    return [(DependentRowsWarning, text)]


def looked_at(pairs: range) -> list[range]:
    """Runs of pairs whose values are looked at: the same whatever the batches they come in.

    Examples
    --------
    >>> looked_at(range(4000, 66_000))
    [range(4000, 4096), range(65536, 66000)]
    """
    starts = range(pairs.start // PERIOD * PERIOD, pairs.stop, PERIOD)
    runs = [range(max(s, pairs.start), min(s + RUN, pairs.stop)) for s in starts]
    return [run for run in runs if run]
