"""Random draws under which the null law does not change: sign flips and label permutations.

Draw 0 is always the observed data. Draws are made a block of units at a time from a counter-based
generator, so that any part can be had at any time, by any worker, without keeping the whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.moments import Moments
from nosplit.pairing import Aligned, Band, Job, Tile

__all__ = ["Part", "Signs", "block_columns", "enumerated", "signed_part"]

Array = NDArray[np.float64]

BLOCK = 128  # units drawn at once
_KEPT = 48  # blocks kept for the next tile


@dataclass(frozen=True, eq=False)
class Part:
    """What exact calibration takes from some pairs.

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


def block_columns(draw: Callable[[int], Array], units: range, n_units: int) -> Array:
    """Columns of a matrix of draws, put together from the blocks they lie in (unit N is unit 0)."""
    parts = []
    for start, stop in _unwrapped(units, n_units):
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            first = block * BLOCK
            parts.append(draw(block)[:, max(start - first, 0) : stop - first])
    columns = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return columns[:, :: units.step]


def _unwrapped(units: range, n: int) -> list[tuple[int, int]]:
    stop = units[-1] + 1
    if stop <= n:
        return [(units.start, stop)]
    return [(units.start, n), (0, stop - n)]


def generator(key: int, block: int) -> np.random.Generator:
    """The generator of one block of units."""
    return np.random.Generator(np.random.Philox(key=np.array([key, block], dtype=np.uint64)))


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs ε ∈ {±1} for N units: all 2^N patterns if that is no more than asked for.

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
    _block: Callable[[int], Array] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        exhaustive = self.n_units < 63 and 2**self.n_units <= self.flips + 1
        key = int(self.rng.integers(2**63))
        draw = self._pattern if exhaustive else (lambda block: self._random(key, block))
        object.__setattr__(self, "exhaustive", exhaustive)
        object.__setattr__(self, "_block", lru_cache(_KEPT)(draw))

    def _pattern(self, block: int) -> Array:
        """All sign patterns; the first is +1 throughout."""
        numbers = np.arange(2**self.n_units)[:, None] >> np.arange(self.n_units)
        return 1.0 - 2.0 * (numbers & 1)

    def _random(self, key: int, block: int) -> Array:
        raw = np.frombuffer(generator(key, block).bytes(self.flips * BLOCK // 8), dtype=np.uint8)
        signs = np.empty((self.flips + 1, BLOCK))
        signs[0] = 1.0
        bits = np.unpackbits(raw).reshape(self.flips, BLOCK)
        np.subtract(1.0, 2.0 * bits, out=signs[1:])
        return signs

    def columns(self, units: range) -> Array:
        """Signs of the given units, (F, T)."""
        return block_columns(self._block, units, self.n_units)


def enumerated(choices: list[list[Any]], most: int) -> list[tuple[Any, ...]] | None:
    """All ways to choose one entry of each list, or None if there are more than `most`."""
    total = 1
    for options in choices:
        total *= len(options)
        if total > most:
            return None
    return list(itertools.product(*choices))


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
    n = len(job.units)
    E = signs.columns(range(job.units.start, job.units.stop + job.R))
    own = np.ascontiguousarray(E[:, :n])
    lags = values.reshape(len(values), job.R, n)
    return sum((own * E[:, r + 1 : r + 1 + n]) @ lags[:, r].T for r in range(job.R))


def _signed_tile(values: Array, job: Tile, signs: Signs) -> Part:
    moments = Moments.from_columns(tile_columns(values, job))
    if job.a == job.b:
        values = np.triu(values, 1)
    Ea, Eb = signs.columns(job.a), signs.columns(job.b)
    sums = np.stack([np.einsum("fj,fj->f", Ea @ H, Eb) for H in values], axis=1)
    return Part(moments, sums, moments.n * moments.second_moment)


def tile_columns(values: Array, job: Tile) -> Array:
    """Values (d, A, B) of a tile as columns (d, M), each pair once."""
    if job.a == job.b:
        rows, columns = np.triu_indices(len(job.a), 1)
        return np.ascontiguousarray(values[:, rows, columns])
    return values.reshape(len(values), -1)
