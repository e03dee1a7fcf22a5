"""What one block of units gives to the test, wherever it is worked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array
from nosplit.engines.clusters.layout import Block, Reach
from nosplit.errors import InputError
from nosplit.families.two_sample import Paired
from nosplit.families.unequal import Grouped
from nosplit.kernels.bank import Bank
from nosplit.pairs.dealing import Dealing
from nosplit.pairs.loop import accumulate
from nosplit.pairs.moments import Moments
from nosplit.pairs.neighbours import LagOne, looked_at
from nosplit.pairs.order import Natural
from nosplit.pairs.pairing import Aligned, Pairing, Window

__all__ = ["FAN_IN", "Part", "Task", "changed", "check_rows", "units_of"]

# Parts that are added in one place.
FAN_IN = 16


@dataclass(frozen=True, eq=False)
class Part:
    """Moments of some of the pairs, and of their neighbours. Parts add."""

    moments: Moments
    lags: LagOne

    def __add__(self, other: Part) -> Part:
        return Part(self.moments + other.moments, self.lags + other.lags)

    @classmethod
    def total(cls, parts: Sequence[Part]) -> Part:
        """The sum, in the order of the parts."""
        return reduce(add, parts)

    def to_bytes(self) -> bytes:
        """The numbers, one after another."""
        numbers = [
            np.concatenate([[m.n], m.mean, m.scatter.ravel()])
            for m in (self.moments, self.lags.neighbours)
        ]
        return np.concatenate(numbers).tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, d: int) -> Part:
        """The inverse of `to_bytes`, for d kernels."""
        numbers = np.frombuffer(data)
        cut = 1 + d + d * d
        return cls(_moments(numbers[:cut], d), LagOne(_moments(numbers[cut:], 2 * d)))


def _moments(numbers: Array, d: int) -> Moments:
    return Moments(int(numbers[0]), numbers[1 : d + 1], numbers[d + 1 :].reshape(d, d))


@dataclass(frozen=True, eq=False)
class Task:
    """What all blocks have in common: sizes, pairs and kernels."""

    samples: Dealing
    pairing: Pairing
    bank: Bank

    def part(self, x: NDArray[Any], y: NDArray[Any], block: Block) -> Part:
        """What a block gives, from its rows of x and y in their order.

        One thread does it: a cluster has its own.
        """
        units = units_of(x, y, self.samples, block.runs, self.bank)
        pairing = self.pairing
        if isinstance(pairing, Window):
            pairing = Reach(len(block.units), pairing.R)
        return Part(accumulate(units, pairing, workers=1), _lags(units, block, len(self.bank)))


def units_of(
    x: NDArray[Any], y: NDArray[Any], samples: Dealing, runs: Sequence[range], bank: Bank
) -> Paired | Grouped:
    """Units of some runs of units, from their rows."""
    counts = np.concatenate([np.diff(samples.starts(run)) for run in runs])
    n, order = len(counts), Natural()
    few, many = (x, y) if samples.n <= samples.m else (y, x)
    if (len(few), len(many)) != (n, int(counts.sum())):
        raise changed(f"got {len(few):,} and {len(many):,} where {n:,} and {counts.sum():,} were")
    if samples.n == samples.m:
        return Paired(x, y, order, order, bank, range(n))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Grouped(few, many, order, order, bank, starts, range(n))


@np.errstate(over="ignore", invalid="ignore")  # as in `accumulate`: found in the total
def _lags(units: Paired | Grouped, block: Block, d: int) -> LagOne:
    """Of some neighbouring pairs (2i, 2i + 1) of a block, whatever its pairing."""
    first, found = block.units.start, LagOne.empty(d)
    for run in looked_at(range(-(-first // 2), block.units.stop // 2)):
        start, stop = 2 * run.start - first, 2 * run.stop - first
        values = units.values(Aligned(range(start, stop, 2), range(start + 1, stop, 2)))
        found += LagOne.of_values(values)
    return found


def changed(what: str) -> InputError:
    """The error for samples that are not the same each time they are read."""
    return InputError(
        f"`x` and `y` must have the same rows each time they are read, {what} to come. Read them "
        "from files, or keep them first: x = x.persist() on Dask, x = x.cache() on Spark."
    )


def check_rows(rows: NDArray[Any], name: str, first: int) -> NDArray[Any]:
    """Check that rows are finite; what is not is named by its place among all rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(np.sum(rows, dtype=np.float64))
    if suspicious and not np.isfinite(rows).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
        raise InputError(
            f"`{name}` must be finite, got {rows[row, column]} in row {first + row}, column "
            f"{column}. Remove or fill in such rows first."
        )
    return rows
