"""Draws for units with a few equally likely labellings each.

A pair of units then has a small table of values, one for each pair of their labellings, and a
random draw of all labellings only looks values up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import add
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import new_key
from nosplit._old.pairs.draws import (
    BLOCK,
    FEW_PATTERNS,
    Part,
    block_columns,
    generator,
    picked_patterns,
)
from nosplit._types import Array, Index
from nosplit.core.moments import Moments
from nosplit.core.pairings import Aligned, Band, Job, Tile

__all__ = ["Labelled", "Labels", "Tables", "pairs_of"]

# Blocks of labellings kept for the next tile.
_KEPT = 48


@dataclass(frozen=True, eq=False)
class Tables:
    """Values of M pairs of units under all their labellings.

    Attributes
    ----------
    values : array, shape (M, s, s, d)
        Entry 0, 0 of each pair is the observed one; what lies beyond a unit's labellings is 0.
    i, j : array of int, shape (M,)
        Which of the two runs of units the pairs are made of.
    second : array, shape (d, d)
        Products of the values, averaged over labellings and summed over pairs.
    """

    values: Array
    i: Index
    j: Index
    second: Array


class Labelled(Protocol):
    """Units that can be labelled in a few ways."""

    @property
    def counts(self) -> Index:
        """Number of labellings of each unit."""
        ...

    def part(self, units: range) -> Labelled:
        """Some of the units, as units of their own."""
        ...

    def tables(self, a: range, b: range, *, tile: bool) -> Tables:
        """Values of the pairs (a[i], b[i]), or of all pairs, under all their labellings."""
        ...


def pairs_of(a: range, b: range, *, tile: bool) -> tuple[Index, Index]:
    """The pairs (a[i], b[i]) or, for a tile, all of them, each once."""
    if not tile:
        return np.arange(len(a)), np.arange(len(b))
    if a == b:
        return np.triu_indices(len(a), 1)
    i, j = np.indices((len(a), len(b))).reshape(2, -1)
    return i, j


@dataclass(frozen=True, eq=False)
class Labels:
    """A random labelling of every unit; all labellings if there are no more than asked for.

    Where there are not many times as many, each is drawn at most once.

    Parameters
    ----------
    units : Labelled
        The units.
    flips : int
        Number of random draws besides the observed one.
    rng : Generator
        Source of the key.
    """

    units: Labelled
    flips: int
    rng: np.random.Generator
    exhaustive: bool = field(init=False)
    among: range = field(init=False)
    _block: Callable[[int], NDArray[np.uint8]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key = new_key(self.rng)
        counts = self.units.counts
        few = float(np.log(counts).sum()) < np.log(float(FEW_PATTERNS * (self.flips + 1)))
        number = int(np.prod(counts)) if few else 0
        numbers = picked_patterns(number, self.flips, self.rng) if few else None

        def draw(block: int) -> NDArray[np.uint8]:
            if numbers is not None:
                return np.stack(np.unravel_index(numbers, tuple(counts)), axis=1).astype(np.uint8)
            high = counts[block * BLOCK : (block + 1) * BLOCK]
            size = (self.flips + 1, len(high))
            places = generator(key, block).integers(high, size=size, dtype=np.uint8)
            places[0] = 0
            return places

        exhaustive = numbers is not None and len(numbers) == number
        object.__setattr__(self, "exhaustive", exhaustive)
        object.__setattr__(self, "among", range(len(counts)))
        object.__setattr__(self, "_block", lru_cache(_KEPT)(draw))

    @property
    def relabellings(self) -> float:
        """Labellings that may differ in their statistics: two swaps of all units do not."""
        counts = self.units.counts
        every = math.exp2(min(float(np.log2(counts).sum()), 1000.0))
        return every / 2.0 if np.all(counts == 2) else every

    def of(self, units: range) -> Labels:
        """The same draws, for some of the units."""
        part = copy(self)
        object.__setattr__(part, "units", self.units.part(units))
        object.__setattr__(part, "among", self.among[units.start : units.stop])
        return part

    def columns(self, units: range) -> NDArray[np.uint8]:
        """Labellings of the given units, (F, T); 0 is the observed one."""
        return block_columns(self._block, units, self.among)

    def part(self, job: Job) -> Part:
        """Sums over the pairs of a job under all draws, and the average of hh'."""
        match job:
            case Aligned(a, b):
                return self._part(a, b, tile=False)
            case Band(units, R):
                lags = (range(units.start + r, units.stop + r) for r in range(1, R + 1))
                return reduce(add, (self._part(units, lag, tile=False) for lag in lags))
            case Tile(a, b):
                return self._part(a, b, tile=True)

    def _part(self, a: range, b: range, *, tile: bool) -> Part:
        from nosplit.backend.numba.cells import look_up

        tables = self.units.tables(a, b, tile=tile)
        left, right = self.columns(a), self.columns(b)
        sums = np.zeros((len(left), tables.values.shape[3]))
        look_up(tables.values, tables.i, tables.j, left, right, sums)
        observed = np.ascontiguousarray(tables.values[:, 0, 0].T)
        return Part(Moments.from_columns(observed), sums, tables.second)
