"""Two-sample units for samples of different sizes.

A unit holds one row of the smaller sample and c rows of the larger one, with weights w = 1 and
-1/c (which of the two is negative makes no difference to a pair); h = w'Kw on the block of kernel
values. A permutation of the labels inside a unit says which of its s = c + 1 rows has weight 1.

With J = I - 11'/s, the weights are (1 + 1/c) J e, where e is 1 at that row and 0 elsewhere. So
the values of a pair under all its labellings are the entries of (1 + 1/c)(1 + 1/c') J K J', and
exact calibration looks them up.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from itertools import product
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.bank import Bank
from nosplit.cells import Cells, aligned_block, block_bases, block_of, tile_block
from nosplit.flips import BLOCK, Part, block_columns, generator, unwrapped
from nosplit.moments import Moments
from nosplit.order import Order, take
from nosplit.pairing import Aligned, Band, Job, Tile

__all__ = ["MOST_ROWS", "Grouped", "Labels"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Rows of the larger sample in a unit: a share of 1 + 1/16 of the smallest possible variance.
MOST_ROWS = 16
# Blocks of labellings kept for the next tile.
_KEPT = 48


@dataclass(frozen=True, eq=False)
class Grouped:
    """N units of several rows each.

    Parameters
    ----------
    few, many : array, shape (n, p) and (m, p), n < m
        The samples.
    few_order, many_order : Order
        The order in which their rows are dealt to units.
    bank : Bank
        The kernels.
    starts : array of int, shape (n + 1,)
        Where in its order the larger sample's rows of each unit begin.
    units : range
        Which positions are units of this object.
    """

    few: NDArray[Any]
    many: NDArray[Any]
    few_order: Order
    many_order: Order
    bank: Bank
    starts: Index
    units: range

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.units)

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together, on average."""
        rows = self.starts[self.units.stop] - self.starts[self.units.start]
        return 1.0 + float(rows) / self.n_units

    def part(self, units: range) -> Grouped:
        """Some of the units, as units of their own."""
        return replace(self, units=self.units[units.start : units.stop])

    def draws(self, flips: int, rng: np.random.Generator) -> Labels:
        """Random permutations of the labels inside units."""
        return Labels(self, flips, rng)

    @cached_property
    def counts(self) -> Index:
        """Rows in each unit, both samples together."""
        return 1 + np.diff(self.starts[self.units.start : self.units.stop + 1])

    @cached_property
    def size(self) -> int:
        """Rows of a padded unit."""
        return int(self.counts.max())

    def rows(self, unit: int) -> NDArray[Any]:
        """All rows of one unit, for the median heuristic."""
        cell = self._cells(range(unit, unit + 1))
        return cell.rows[0, : cell.counts[0]]

    def cells(self, units: range) -> Cells:
        """Rows of units, which may run past the last one, to the first again."""
        runs = [self._cells(run) for run in unwrapped(units, self.n_units)]
        rows, counts = [c.rows for c in runs], [c.counts for c in runs]
        return Cells(np.concatenate(rows), np.concatenate(counts))[:: units.step]

    def _cells(self, units: range) -> Cells:
        positions, counts = (
            self.units[units.start : units.stop],
            self.counts[units.start : units.stop],
        )
        starts = self.starts[positions.start : positions.stop + 1]
        lone = take(self.few, self.few_order, positions)
        others = take(self.many, self.many_order, range(int(starts[0]), int(starts[-1])))
        place = np.minimum(np.arange(self.size - 1), counts[:, None] - 2)
        others = others[starts[:-1, None] - starts[0] + place]
        return Cells(np.concatenate([lone[:, None], others], axis=1), counts)

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        match job:
            case Aligned(a, b):
                return self._aligned(self.cells(a), self.cells(b))
            case Band(units, R):
                n, both = len(units), self.cells(range(units.start, units.stop + R))
                own = both[:n]
                return np.concatenate(
                    [self._aligned(own, both[r : r + n]) for r in range(1, R + 1)], axis=1
                )
            case Tile(a, b):
                left, right = self.cells(a), self.cells(b)
                K = tile_block(self.bank, left, right)
                wa, wb = _weights(left), _weights(right)
                h = np.einsum("ai,dijab,bj->dab", wa, K, wb, optimize=True)
                return np.asarray(h)

    def _aligned(self, a: Cells, b: Cells) -> Array:
        """Values of aligned units: all combinations of their rows, with the weights' products."""
        bank, (m, s, _) = self.bank, a.rows.shape
        wa, wb = _weights(a), _weights(b)
        weights = (wa.T[:, None, :] * wb.T[None, :, :]).reshape(s * s, m)
        h = np.empty((len(bank), m))
        bank.evaluate(block_bases(bank, a, b), weights, h)
        if bank.linear:
            origin = a.rows[0, 0]
            features = [np.einsum("ts,tsp->tp", w, c.rows - origin) for w, c in ((wa, a), (wb, b))]
            h[bank.linear] = np.einsum("tp,tp->t", *features)
        for u in bank.others:
            K = block_of(bank, u, a, b).reshape(s * s, m)
            h[u] = np.einsum("ct,ct->t", weights, K)
        return h


def _weights(cells: Cells) -> Array:
    """1, -1/c and 0 for padding, (T, s)."""
    weights = np.where(cells.present, -1.0 / (cells.counts[:, None] - 1), 0.0)
    weights[:, 0] = 1.0
    return weights


@dataclass(frozen=True, eq=False)
class Labels:
    """Permutations of the labels inside each unit: which of its rows is the lone one.

    All labellings are used if there are no more than asked for.

    Parameters
    ----------
    units : Grouped
        The units.
    flips : int
        Number of random draws besides the observed one.
    rng : Generator
        Source of the key.
    """

    units: Grouped
    flips: int
    rng: np.random.Generator
    exhaustive: bool = field(init=False)
    among: range = field(init=False)
    _block: Callable[[int], NDArray[np.uint8]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key = int(self.rng.integers(2**63))
        counts = self.units.counts
        exhaustive = float(np.log(counts).sum()) <= np.log(self.flips + 1.0) + 1e-9

        def every(block: int) -> NDArray[np.uint8]:
            return np.array(list(product(*map(range, counts))), dtype=np.uint8)

        def random(block: int) -> NDArray[np.uint8]:
            high = counts[block * BLOCK : (block + 1) * BLOCK]
            size = (self.flips + 1, len(high))
            places = generator(key, block).integers(high, size=size, dtype=np.uint8)
            places[0] = 0
            return places

        object.__setattr__(self, "exhaustive", exhaustive)
        object.__setattr__(self, "among", range(len(counts)))
        object.__setattr__(self, "_block", lru_cache(_KEPT)(every if exhaustive else random))

    def of(self, units: range) -> Labels:
        """The same draws, for some of the units."""
        part = copy(self)
        object.__setattr__(part, "units", self.units.part(units))
        object.__setattr__(part, "among", self.among[units.start : units.stop])
        return part

    def columns(self, units: range) -> NDArray[np.uint8]:
        """Which row of the given units is the lone one, (F, T); 0 as observed."""
        return block_columns(self._block, units, self.among)

    def part(self, job: Job) -> Part:
        """Sums over the pairs of a job under all draws, and the average of hh'."""
        match job:
            case Aligned(a, b):
                return self._aligned(a, b)
            case Band(units, R):
                lags = (range(units.start + r, units.stop + r) for r in range(1, R + 1))
                return reduce(add, (self._aligned(units, lag) for lag in lags))
            case Tile(a, b):
                return self._tile(a, b)

    def _aligned(self, a: range, b: range) -> Part:
        left, right = self.units.cells(a), self.units.cells(b)
        every = np.arange(len(a))
        return self._looked_up(aligned_block(self.units.bank, left, right), a, b, every, every)

    def _tile(self, a: range, b: range) -> Part:
        K = tile_block(self.units.bank, self.units.cells(a), self.units.cells(b))
        i, j = np.indices((len(a), len(b))).reshape(2, -1) if a != b else np.triu_indices(len(a), 1)
        return self._looked_up(K[..., i, j], a, b, i, j)

    def _looked_up(self, K: Array, a: range, b: range, i: Index, j: Index) -> Part:
        """Part of the pairs (a[i], b[j]), from their kernel values (d, s, s, M)."""
        from nosplit._labels import look_up, under_labels

        counts = [
            self.units.counts[np.array(r)[c] % self.units.n_units] for r, c in ((a, i), (b, j))
        ]
        table = np.empty(K.shape[::-1])
        under_labels(K, *counts, table)
        left, right = self.columns(a), self.columns(b)
        sums = np.zeros((len(left), len(K)))
        look_up(table, i, j, left, right, sums)
        moments = Moments.from_columns(np.ascontiguousarray(table[:, 0, 0].T))
        # The average over labellings is that over the entries of a pair's table.
        table /= np.sqrt(counts[0] * counts[1])[:, None, None, None]
        flat = table.reshape(-1, len(K))
        return Part(moments, sums, flat.T @ flat)
