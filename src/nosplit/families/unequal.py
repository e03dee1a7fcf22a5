"""Two-sample units for samples of different sizes.

A unit holds one row of the smaller sample and c rows of the larger one, with weights w = 1 and
-1/c (which of the two is negative makes no difference to a pair); h = w'Kw on the block of kernel
values. A permutation of the labels inside a unit says which of its s = c + 1 rows has weight 1.

With J = I - 11'/s, the weights are (1 + 1/c) J e, where e is 1 at that row and 0 elsewhere. So
the values of a pair under all its labellings are the entries of (1 + 1/c)(1 + 1/c') J K J', and
exact calibration looks them up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index
from nosplit.families.cells import Cells, aligned_block, tile_block
from nosplit.kernels.bank import Bank
from nosplit.pairs.dealing import Order, UnitRange, take
from nosplit.pairs.draws import unwrapped
from nosplit.pairs.labellings import Labels, Tables, pairs_of
from nosplit.pairs.pairing import Aligned, Band, Job, Tile

__all__ = ["Grouped"]


@dataclass(frozen=True, eq=False)
class Grouped(UnitRange):
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
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together, on average."""
        rows = self.starts[self.units.stop] - self.starts[self.units.start]
        return 1.0 + float(rows) / self.n_units

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
                i, j = np.indices((len(a), len(b))).reshape(2, -1)
                K = tile_block(self.bank, left, right, i, j)
                weights = np.einsum("mi,mj->mij", _cell_weights(left)[i], _cell_weights(right)[j])
                h = np.einsum("dmij,mij->dm", K, weights)
                return np.asarray(h.reshape(len(h), len(a), len(b)))

    def tables(self, a: range, b: range, *, tile: bool) -> Tables:
        """Values of pairs of units under all their labellings."""
        from nosplit._support.loops.cells import under_labels

        i, j = pairs_of(a, b, tile=tile)
        left, right = self.cells(a), self.cells(b)
        if tile:
            K = tile_block(self.bank, left, right, i, j)
        else:
            K = aligned_block(self.bank, left, right)
        counts = left.counts[i], right.counts[j]
        values = np.empty((*K.shape[1:], len(K)))
        under_labels(K, *counts, values)
        # The average over labellings is that over the entries of a pair's table.
        flat = values / np.sqrt(counts[0] * counts[1])[:, None, None, None]
        flat = flat.reshape(-1, len(K))
        return Tables(values, i, j, flat.T @ flat)

    def _aligned(self, a: Cells, b: Cells) -> Array:
        """Values of aligned units: w'Kw' on their blocks of kernel values."""
        K = aligned_block(self.bank, a, b)
        half = (K @ _cell_weights(b)[:, :, None])[..., 0]
        return np.asarray(np.einsum("dti,ti->dt", half, _cell_weights(a)))


def _cell_weights(cells: Cells) -> Array:
    """1, -1/c and 0 for padding, (T, s)."""
    weights = np.where(cells.present, -1.0 / (cells.counts[:, None] - 1), 0.0)
    weights[:, 0] = 1.0
    return weights
