"""A row and its score → numbers that have mean zero under the model: Stein features.

For a smooth function φ and a direction v, v'(∇φ(x) + φ(x) s(x)) has mean zero under the model of
score s. With φ = cos ω'x and sin ω'x, ω from the mixture that a kernel is, and E vv' = I, the inner
products of these numbers have the Stein kernel as their mean. Further functions are of low order: a
constant, bounded coordinates and their squares, so that means, spreads and correlations show
whatever the kernels look at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.core.feature_map import STEP, spread_of
from nosplit.kernels.frequencies import Frequencies, frequencies_of, projected, turns_by_spread
from nosplit.kernels.orders import column_order
from nosplit.kernels.stein import BoundedLinear, Constant

__all__ = ["BLOCK", "FAR", "SteinMap", "SteinSums", "fit_stein_map"]

# Frequencies of a column by itself, in radians a spread, and of all columns together.
COLUMN_WAVES, ALL_COLUMN_WAVES = (1.0, 2.0, 4.0, 0.5, 3.0, 6.0, 1.5, 8.0), 512
# Pairs of columns of which one is multiplied by the score of the other.
MOST_PAIRS = 256
# Rows whose numbers are in the cache together.
BLOCK = 512
# Numbers beyond so many times their size count as this far: sums then never overflow.
FAR = 2.0**20


@dataclass(frozen=True, eq=False)
class SteinMap:
    """The map of a sketch of rows and scores, made of pilot rows.

    Attributes
    ----------
    kernels : tuple
        The base kernels: mixtures of waves, `Constant` and `BoundedLinear`.
    center, spread : array, shape (p,)
        Of each column.
    frequencies : int
        Frequencies of a kernel, each with a direction of its own.
    key : int
        Picks frequencies and directions.
    scales : array, shape (D,)
        The size of each number, of which the steps are parts.
    order : array of int, shape (p,)
        The columns in the order in which frequencies and directions are drawn for them. It goes
        with the columns, wherever they stand.
    """

    kernels: tuple[Any, ...]
    center: Array
    spread: Array
    frequencies: int
    key: int
    scales: Array
    order: Index

    @property
    def p(self) -> int:
        """Columns of a row."""
        return len(self.center)

    @cached_property
    def places(self) -> Index:
        """Place of each column in the order, (p,)."""
        return np.argsort(self.order)

    # -- waves -------------------------------------------------------------------------------

    @cached_property
    def drawn(self) -> dict[int, tuple[Frequencies, Array]]:
        """Frequencies and directions, (p, F), of each kernel that has some, by its number."""
        found = {}
        for u, kernel in enumerate(self.kernels):
            if not isinstance(kernel, Constant | BoundedLinear):
                rng = self._generator(u)
                drawn = frequencies_of(kernel, self.places, self.frequencies, rng)
                found[u] = drawn, _directions(self.p, len(drawn), rng)[self.places]
        return found

    def _generator(self, u: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=np.array([self.key, u], np.uint64)))

    @cached_property
    def column_waves(self) -> Array:
        """Radians a spread of the waves of each column by itself."""
        count = int(np.clip(ALL_COLUMN_WAVES // self.p, 1, len(COLUMN_WAVES)))
        return np.array(COLUMN_WAVES[:count])

    @cached_property
    def _waves(self) -> tuple[Array, Array]:
        """Turns for a unit of each column, and directions, (p, W)."""
        own = np.repeat(np.arange(self.p), len(self.column_waves))
        at = own, np.arange(len(own))
        turns, along = np.zeros((2, self.p, len(own)))
        turns[at] = np.tile(self.column_waves, self.p) / (2.0 * np.pi * self.spread[own])
        along[at] = self.spread[own]
        pairs = [(drawn.turns, v) for drawn, v in self.drawn.values()] + [(turns, along)]
        first, second = (np.concatenate(side, axis=1) for side in zip(*pairs, strict=True))
        return first, second

    @cached_property
    def turns(self) -> NDArray[np.float32]:
        """Turns for a spread of each column, (p, W)."""
        return turns_by_spread(self._waves[0], self.spread)

    @cached_property
    def directions(self) -> Array:
        """Directions v of all waves, (p, W)."""
        return np.ascontiguousarray(self._waves[1])

    @cached_property
    def slopes(self) -> Array:
        """The derivatives v'ω of the waves' angles along their directions, (W,)."""
        turns, along = self._waves
        return np.asarray(2.0 * np.pi * np.sum(turns * along, axis=0))

    @property
    def n_waves(self) -> int:
        """Waves of all kernels and of all columns."""
        return len(self.slopes)

    # -- functions of low order --------------------------------------------------------------

    @cached_property
    def pairs(self) -> tuple[Index, Index]:
        """Columns k and j ≠ k of the functions r(x_k), taken in the direction of x_j."""
        j, k = np.nonzero(~np.eye(self.p, dtype=np.bool_))
        if len(j) > MOST_PAIRS:
            chosen = self._generator(len(self.kernels)).choice(len(j), MOST_PAIRS, replace=False)
            j, k = self.order[j[chosen]], self.order[k[chosen]]
        return k, j

    def low_orders(self, rows: Array, scores: Array) -> Array:
        """Stein features of 1, of bounded coordinates and of their squares, (n, 3p + pairs)."""
        z, s = (rows - self.center) / self.spread, scores * self.spread
        r, slope = BoundedLinear().bounded(z)
        (k, j), p = self.pairs, self.p
        found = np.empty((len(s), 3 * p + len(k)))
        found[:, :p], found[:, p : 2 * p] = s, slope + r * s
        found[:, 2 * p : 3 * p] = 2.0 * r * slope + r * r * s
        np.multiply(r.take(k, axis=1), s.take(j, axis=1), out=found[:, 3 * p :])
        return found

    # -- the numbers of a cell ---------------------------------------------------------------

    @property
    def n_numbers(self) -> int:
        """Numbers of a cell."""
        return 2 * self.n_waves + 3 * self.p + len(self.pairs[0])

    def values(self, rows: Array, scores: Array) -> Array:
        """The numbers of each row as they are, (n, D): what sums are made of, before rounding."""
        angles = (rows - self.center) @ (2.0 * np.pi * self._waves[0])
        along, cosine, sine = scores @ self.directions, np.cos(angles), np.sin(angles)
        waves = along * cosine - self.slopes * sine, along * sine + self.slopes * cosine
        return np.concatenate([*waves, self.low_orders(rows, scores)], axis=1)

    @cached_property
    def features(self) -> list[tuple[Index, Array]]:
        """For each kernel, the places of its numbers in a cell, and the value of a step of each."""
        W, found, start = self.n_waves, [], 0
        low = 2 * W + np.arange(self.n_numbers - 2 * W)
        for u, kernel in enumerate(self.kernels):
            if u in self.drawn:
                drawn = self.drawn[u][0]
                where = np.arange(start, start + len(drawn))
                where, size = np.concatenate([where, W + where]), np.tile(drawn.weights, 2) ** 0.5
                start += len(drawn)
            else:
                constant = isinstance(kernel, Constant)
                where = low[: self.p] if constant else np.delete(low[self.p :], _squares(self.p))
                size = np.ones(len(where))
            found.append((where, size * self.scales[where] / STEP))
        return found

    @cached_property
    def of_columns(self) -> list[list[Index]]:
        """For each column, the places of its three numbers of low order, and of its waves."""
        W, k = self.n_waves, len(self.column_waves)
        found = []
        for j in range(self.p):
            low = 2 * W + j + self.p * np.arange(3)
            waves = W - k * (self.p - j) + np.arange(k)
            found.append([*low[:, None], np.concatenate([waves, W + waves])])
        return found

    @cached_property
    def of_pairs(self) -> list[Index]:
        """For each pair of columns, the places of its numbers."""
        first = 2 * self.n_waves + 3 * self.p
        low, high = np.sort(np.stack(self.pairs), axis=0)
        pair = low * self.p + high
        return [first + np.flatnonzero(pair == one) for one in np.unique(pair)]


def _squares(p: int) -> Index:
    """Places of the squares among the numbers of low order from the second kind on."""
    return np.arange(p, 2 * p)


def _directions(p: int, count: int, rng: np.random.Generator) -> Array:
    """Directions v, (p, count): frames of orthogonal ones of length √p, so that E vv' = I."""
    frames = rng.standard_normal((-(-count // p), p, p))
    vectors = np.linalg.qr(frames)[0].transpose(1, 0, 2).reshape(p, -1)[:, :count]
    return np.asarray(np.sqrt(p) * vectors)


def fit_stein_map(
    rows: Array, scores: Array, kernels: tuple[Any, ...], *, frequencies: int, key: int
) -> SteinMap:
    """Make the map of a sketch of pilot rows and their scores.

    Parameters
    ----------
    rows, scores : array, shape (n, p)
        Pilot rows, which are in no cell, and ∇ log q there.
    kernels : tuple
        The base kernels, with their bandwidths.
    frequencies : int
        Frequencies of a kernel.
    key : int
        Picks frequencies and directions.
    """
    center, spread = np.array([spread_of(column) for column in rows.T]).T
    order = column_order(rows)
    sketch = SteinMap(kernels, center, spread, frequencies, key, np.ones(0), order)
    values = sketch.values(rows, scores)
    sizes = np.sqrt(np.mean(values * values, axis=0))
    usable = np.isfinite(sizes) & (sizes > 0)
    return replace(sketch, scales=np.where(usable, sizes, 1.0))


@dataclass(frozen=True, eq=False)
class SteinSums:
    """The sketch of a sample and its scores: integers, so that sketches of parts add exactly.

    Attributes
    ----------
    numbers : array of int64, shape (C, D)
        Sums of Stein features over the rows of each cell, in steps.
    """

    numbers: NDArray[np.int64]

    @classmethod
    def empty(cls, sketch: SteinMap, cells: int) -> SteinSums:
        """The sketch of no rows."""
        return cls(np.zeros((cells, sketch.n_numbers), np.int64))

    def __add__(self, other: SteinSums) -> SteinSums:
        return SteinSums(self.numbers + other.numbers)

    def __iadd__(self, other: SteinSums) -> SteinSums:
        self.numbers.__iadd__(other.numbers)
        return self

    def add(self, sketch: SteinMap, rows: Array, scores: Array, cells: NDArray[Any]) -> None:
        """Add rows to their cells; rows of cells beyond the last are passed over."""
        order = np.flatnonzero(cells < len(self.numbers))
        for start in range(0, len(order), BLOCK):
            part = order[start : start + BLOCK]
            self._add(sketch, rows[part], scores[part], cells[part])

    def _add(self, sketch: SteinMap, rows: Array, scores: Array, cells: NDArray[Any]) -> None:
        from nosplit.backend.numba.families import add_rounded, add_stein_waves

        gains = STEP / sketch.scales
        scaled = np.clip((rows - sketch.center) / sketch.spread, -FAR, FAR)
        # Sums over columns go in an order of their own, wherever these stand.
        order = sketch.order
        turns = projected(scaled.astype(np.float32)[:, order], sketch.turns[order])
        along = projected(scores.astype(np.float64)[:, order], sketch.directions[order])
        angles = np.float32(2.0 * np.pi) * (turns - np.rint(turns))
        waves, room = (np.cos(angles), np.sin(angles)), STEP * FAR
        add_stein_waves(*waves, along, sketch.slopes, gains, cells, room, self.numbers)
        low = sketch.low_orders(rows, scores)
        add_rounded(low, gains[-low.shape[1] :], cells, room, 2 * sketch.n_waves, self.numbers)
