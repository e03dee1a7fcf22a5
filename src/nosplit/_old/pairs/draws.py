"""Random draws under which the null law does not change: sign flips and label permutations.

Draw 0 is always the observed data. Draws are made a block of units at a time from a counter-based
generator, so that any part can be had at any time, by any worker, without keeping the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import new_key
from nosplit._types import Array, Index
from nosplit.core.gram import signed_sums
from nosplit.core.moments import Moments, column_moments
from nosplit.core.order import unwrapped
from nosplit.core.pairings import Aligned, Band, Job, Tile
from nosplit.families.paired import Paired

__all__ = [
    "BLOCK",
    "FEW_LABELS",
    "MOST_DEALT",
    "SMALLEST_TILE",
    "Part",
    "SignDraws",
    "Signs",
    "SwappedPairs",
    "block_columns",
    "generator",
    "picked_patterns",
    "signed_part",
]

# Cells of both samples of a sketch together. And how many times as many units as labels of one kind
# there are where those are added up one by one: matrix products add ten numbers, most of them 0, in
# the time of one.
MOST_DEALT, FEW_LABELS = 4000, 10
BLOCK = 128  # units drawn at once
SMALLEST_TILE = 32  # units in a tile of a band
_KEPT = 48  # blocks kept for the next tile
FEW_PATTERNS = 20  # times the draws: with fewer patterns than that, none is drawn twice


@dataclass(frozen=True, eq=False)
class Part:
    """The sums of some pairs that exact calibration needs.

    Attributes
    ----------
    moments : Moments
        Of the observed values.
    sums : array, shape (F, d)
        Sum of the values under each draw, the observed one first.
    second : array, shape (d, d)
        Sum of their products u v, averaged over the draws that could have been.
    """

    moments: Moments
    sums: Array
    second: Array

    def __add__(self, other: Part) -> Part:
        return Part(
            self.moments + other.moments, self.sums + other.sums, self.second + other.second
        )


def block_columns(draw: Callable[[int], NDArray[Any]], units: range, among: range) -> NDArray[Any]:
    """Columns of a matrix of draws, put together from the blocks they lie in.

    `units` are counted from the first of those they are `among`, and round again after the last.
    """
    parts = []
    for run in unwrapped(units, len(among)):
        places = among[run.start : run.stop]
        for block in range(places.start // BLOCK, -(-places.stop // BLOCK)):
            first = block * BLOCK
            parts.append(draw(block)[:, max(places.start - first, 0) : places.stop - first])
    columns = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return columns[:, :: units.step]


def generator(key: int, block: int) -> np.random.Generator:
    """The generator of one block of units."""
    return np.random.Generator(np.random.Philox(key=np.array([key, block], dtype=np.uint64)))


def picked_patterns(number: int, flips: int, rng: np.random.Generator) -> Index | None:
    """Numbers of the patterns to use, 0 (the observed one) first; None where there are many.

    All of them if that is no more than asked for; below 20 times as many, different ones.

    Examples
    --------
    >>> picked_patterns(4, 19, np.random.default_rng(0))
    array([0, 1, 2, 3])
    >>> len(set(picked_patterns(64, 19, np.random.default_rng(0))))
    20
    """
    if number <= flips + 1:
        return np.arange(number, dtype=np.int64)
    if number >= FEW_PATTERNS * flips:
        return None
    others = 1 + rng.choice(number - 1, size=flips, replace=False)
    return np.concatenate([[0], others]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs ε ∈ {±1} for N units: all patterns if there are no more than asked for.

    Only products of two signs matter: ε and -ε are one pattern. Where there are not many times as
    many, each is drawn at most once, so that the level given the seed is near that over all seeds.

    Parameters
    ----------
    n_units : int
        Number of units N.
    flips : int
        Number of random draws besides the observed one.
    rng : Generator
        Source of the key.
    """

    n_units: int
    flips: int
    rng: np.random.Generator
    exhaustive: bool = field(init=False)
    units: range = field(init=False)
    key: int | None = field(init=False)
    _block: Callable[[int], NDArray[np.float32]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        free = self.n_units - 1
        numbers = picked_patterns(2**free, self.flips, self.rng) if free < 63 else None
        exhaustive = numbers is not None and len(numbers) == 2**free
        key = new_key(self.rng)

        def draw(block: int) -> NDArray[np.float32]:
            return self._random(key, block) if numbers is None else self._patterns(numbers)

        object.__setattr__(self, "exhaustive", exhaustive)
        object.__setattr__(self, "key", key if numbers is None else None)
        object.__setattr__(self, "units", range(self.n_units))
        object.__setattr__(self, "_block", lru_cache(_KEPT)(draw))

    @property
    def relabellings(self) -> float:
        """Patterns that may differ in their statistics."""
        return 2.0 ** min(self.n_units - 1, 1000)

    def _patterns(self, numbers: Index) -> NDArray[np.float32]:
        """The sign patterns of these numbers; that of 0 is +1 throughout."""
        bits = numbers[:, None] >> np.arange(self.n_units)
        return (1 - 2 * (bits & 1)).astype(np.float32)

    def _random(self, key: int, block: int) -> NDArray[np.float32]:
        signs = np.ones((self.flips + 1, BLOCK), np.float32)
        signs[1:] -= 2 * np.unpackbits(self.bits(key, block), axis=1)
        return signs

    def bits(self, key: int, block: int) -> NDArray[np.uint8]:
        """Random signs of a block of units, eight to a byte, without those of the observed draw."""
        raw = np.frombuffer(generator(key, block).bytes(self.flips * BLOCK // 8), dtype=np.uint8)
        return raw.reshape(self.flips, -1)

    def columns(self, units: range) -> NDArray[np.float32]:
        """Signs of the given units, (F, T)."""
        return block_columns(self._block, units, self.units)

    def of(self, units: range) -> Signs:
        """The same draws, for some of the units."""
        part = copy(self)
        object.__setattr__(part, "units", self.units[units.start : units.stop])
        return part


def signed_part(values: Array, job: Job, signs: Signs) -> Part:
    """Sums of ε_a ε_b h(a, b) over the pairs of a job, for all draws, as matrix products."""
    if isinstance(job, Tile):
        return _signed_tile(values, job, signs)
    moments = Moments.from_columns(values)
    if isinstance(job, Aligned):
        sums = (signs.columns(job.a) * signs.columns(job.b)) @ values.T
    else:
        sums = _signed_band(values, job, signs)
    return Part(moments, sums, moments.n * moments.second_moment)


def _signed_band(values: Array, job: Band, signs: Signs) -> Array:
    """A band is a row of small tiles, each (n, n + R) with R values in a row of it.

    The zeros cost less than leaving them out: a matrix product does a number a cycle, sixteen
    times what anything else here does.
    """
    N, R, d = len(job.units), job.R, len(values)
    E = signs.columns(range(job.units.start, job.units.stop + R)).astype(np.float64)
    lags = values.reshape(d, R, N).transpose(0, 2, 1)
    side = max(R, SMALLEST_TILE)
    sums = np.zeros((len(E), d))
    rows = np.arange(side)[:, None]
    H = np.zeros((d, side, side + R - 1))
    for start in range(0, N, side):
        n = min(side, N - start)
        H[:, rows[:n], rows[:n] + np.arange(R)] = lags[:, start : start + n]
        Ea, Eb = E[:, start : start + n], E[:, start + 1 : start + n + R]
        for u in range(d):
            sums[:, u] += np.einsum("fj,fj->f", Ea @ H[u, :n, : n + R - 1], Eb)
    return sums


def _signed_tile(values: Array, job: Tile, signs: Signs) -> Part:
    moments, once = column_moments(values, job), job.a == job.b
    Ea = signs.columns(job.a)
    Eb = Ea if once else signs.columns(job.b)
    values = np.triu(values, 1) if once else values
    sums = np.stack([signed_sums(Ea, H, [Eb], upper=once)[0] for H in values], axis=1)
    return Part(moments, sums, moments.n * moments.second_moment)


@dataclass(frozen=True, eq=False)
class SignDraws:
    """Random signs of units: what swapping x and y does to two-sample units of one row each."""

    units: SwappedPairs
    signs: Signs

    @property
    def relabellings(self) -> float:
        """Patterns that may differ in their statistics."""
        return self.signs.relabellings

    def of(self, units: range) -> SignDraws:
        """The same draws, for some of the units."""
        return SignDraws(self.units.part(units), self.signs.of(units))

    def part(self, job: Job) -> Part:
        """Sums of the signed values over the pairs of a job, for all draws."""
        return signed_part(self.units.values(job), job, self.signs)


@dataclass(frozen=True, eq=False)
class SwappedPairs(Paired):
    """Two-sample units under random swaps of x and y, which change the sign of their Ψ."""

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random swaps of x and y inside units."""
        return SignDraws(self, Signs(self.n_units, flips, rng))
