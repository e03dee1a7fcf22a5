"""The effective number of pairs of every kernel: those that carry its statistic.

A sum of m values is near normal only if many of them matter. With n_eff = (Σ h²)² / Σ h⁴, a
kernel that is zero for most pairs (a rare category, a column that is nearly always 0) has few,
whatever m is.

The moments are averages over all labellings of the two units of a pair, not those of the observed
one. With c rows of one sample to one of the other, pairs in which the smaller sample drew a rare
level have values c and c² times as large as the rest, and are few: the observed values may hold
none of them, the average always does. It is unchanged by relabelling too, so that a choice which
rests on it leaves an exact test exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from nosplit._old.pairs.labellings import Tables
from nosplit._old.pairs.protocols import Units
from nosplit._types import Array, Index
from nosplit.core.pairings import Pairing

__all__ = ["effective_pairs"]

# Pairs that the estimate looks at, and how many of them at once (a pair's table has s² d numbers).
MOST_PAIRS, AT_ONCE = 4096, 256


@runtime_checkable
class Tabled(Units, Protocol):
    """Units that give the values of their pairs under all labellings."""

    @property
    def counts(self) -> Index:
        """Number of labellings of each unit."""
        ...

    def tables(self, a: range, b: range, *, tile: bool) -> Tables:
        """Values of the pairs (a[i], b[i]) under all their labellings."""
        ...


@np.errstate(over="ignore", invalid="ignore")  # as in `accumulate`: found in the total
def effective_pairs(units: Units, pairing: Pairing, most: int = MOST_PAIRS) -> Array | None:
    """Effective number of the pairs of a pairing, for every kernel, (d,).

    It is estimated from about `most` pairs; 0 for a kernel that is 0 on all of those. None for
    units whose values have the law of their negatives under the null (one row of each sample):
    there the closed form errs on the safe side when few pairs carry it.
    """
    if not isinstance(units, Tabled):
        return None
    scale: Array | None = None
    second, fourth, seen = np.zeros(1), np.zeros(1), 0
    for a, lag in _runs(units.n_units, most):
        tables = units.tables(a, range(a.start + lag, a.stop + lag), tile=False)
        if scale is None:  # for fourth powers that neither overflow nor underflow
            top = np.max(np.abs(tables.values), axis=(0, 1, 2))
            scale = np.where(top > 0, top, 1.0)
        around = units.counts.take(range(lag + a.start, lag + a.stop), mode="wrap")
        # What lies beyond a unit's labellings is 0, and does not count.
        each = 1.0 / (units.counts[a.start : a.stop] * around)
        power = (tables.values / scale).reshape(len(a), -1, len(scale))
        power *= power
        second = second + each @ power.sum(axis=1)
        power *= power
        fourth = fourth + each @ power.sum(axis=1)
        seen += len(a)
    live = fourth > 0
    share = np.where(live, second**2 / np.where(live, fourth, 1.0), 0.0) / seen
    return np.asarray(pairing.n_pairs(units.n_units) * share)


def _runs(n_units: int, most: int) -> Iterator[tuple[range, int]]:
    """Runs of units and distances r: the pairs (i, i + r mod N) that the estimate looks at.

    All units at several distances where they are few; where they are many, runs spread over them.
    """
    size = min(AT_ONCE, n_units, most)
    runs = min(most // size, -(-n_units // size))
    lags = max(1, min(most // n_units, (n_units - 1) // 2))
    starts = [k * n_units // runs for k in range(runs)]
    for lag in range(1, lags + 1):
        for start, stop in zip(starts, [*starts[1:], n_units], strict=True):
            yield range(start, min(stop, start + size)), lag
