"""Independence units: HSIC (Gretton et al. 2007).

A unit holds q observations (x, y), with the cross-covariance of their features

    Ψ = (q - 1)⁻¹ Σ (φ(x_i) - φ̄) ⊗ (ψ(y_i) - ψ̄),

which has mean zero when x and y are independent. Two units give h = (q - 1)⁻² ⟨JKJ, JLJ⟩ on their
blocks of kernel values K = k(x_i, x'_j) and L = l(y_i, y'_j), J = I - 11'/q.

Permuting y inside a unit changes no distribution under independence. Random draws take the q
cyclic shifts among those permutations: a pair of units then has q² values in all, which are
computed once and looked up, and power is that of all permutations
(benchmarks/choices/independence_unit_size.py).
hh' averaged over all permutations of both units, (q - 1)⁻⁶ ⟨JK_uJ, JK_vJ⟩ ⟨JL_uJ, JL_vJ⟩, is
unchanged by any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.families.cells import Cells, aligned_block, tile_block
from nosplit._old.pairs.draws import unwrapped
from nosplit._old.pairs.labellings import Labels, Tables, pairs_of
from nosplit._types import Array, Index
from nosplit.core.order import Order, UnitRange, take
from nosplit.core.pairings import Aligned, Band, Job, Tile
from nosplit.errors import InputError
from nosplit.kernels.tensor import TensorBank

__all__ = ["CentredBlocks", "HsicUnits", "check_unit_size"]

LARGEST_UNIT = 64


def check_unit_size(unit_size: Any) -> int:
    """Observations to a unit."""
    whole = isinstance(unit_size, (int, np.integer)) and not isinstance(unit_size, bool)
    if not whole or not 2 <= unit_size <= LARGEST_UNIT:
        raise InputError(f"`unit_size` must be an int from 2 to {LARGEST_UNIT}, got {unit_size!r}.")
    return int(unit_size)


@dataclass(frozen=True, eq=False)
class CentredBlocks:
    """Centred blocks of kernel values of M pairs of units, scaled by √((a - 1)(b - 1)).

    Attributes
    ----------
    K, L : array, shape (d, M, s, s)
        Of the kernels on x and on y.
    counts : pair of arrays of int, shape (M,)
        Rows of the two units of each pair.
    """

    K: Array
    L: Array
    counts: tuple[Index, Index]

    @property
    def flat(self) -> tuple[Array, Array]:
        """Both, (d, M, s²)."""
        return self.K.reshape(*self.K.shape[:2], -1), self.L.reshape(*self.L.shape[:2], -1)


@dataclass(frozen=True, eq=False)
class HsicUnits(UnitRange):
    """N units of about q observations each.

    Parameters
    ----------
    x, y : array, shape (n, p) and (n, r)
        The observations.
    order : Order
        The order in which they are dealt to units.
    bank : TensorBank
        The kernels.
    starts : array of int, shape (N + 1,)
        Where in that order each unit begins.
    units : range
        Which positions are units of this object.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    order: Order
    bank: TensorBank
    starts: Index
    units: range

    @property
    def rows_per_unit(self) -> float:
        """Observations in a unit, on average."""
        return float(self.counts.mean())

    @cached_property
    def counts(self) -> Index:
        """Observations in each unit."""
        return np.diff(self.starts[self.units.start : self.units.stop + 1])

    @cached_property
    def size(self) -> int:
        """Rows of a padded unit."""
        return int(self.counts.max())

    def draws(self, flips: int, rng: np.random.Generator) -> Labels:
        """Random shifts of y inside units."""
        return Labels(self, flips, rng)

    def rows(self, unit: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """All rows of one unit, of x and of y, for the median heuristic."""
        x, y = self._cells(range(unit, unit + 1))
        return x.rows[0, : x.counts[0]], y.rows[0, : y.counts[0]]

    def cells(self, units: range) -> tuple[Cells, Cells]:
        """Rows of x and of y of units, which may run past the last one, to the first again."""
        runs = [self._cells(run) for run in unwrapped(units, self.n_units)]
        x, y = (
            Cells(np.concatenate([c.rows for c in side]), np.concatenate([c.counts for c in side]))
            for side in zip(*runs, strict=True)
        )
        return x[:: units.step], y[:: units.step]

    def _cells(self, units: range) -> tuple[Cells, Cells]:
        first, last = self.units[units.start], self.units[units.stop - 1] + 1
        starts, counts = self.starts[first : last + 1], self.counts[units.start : units.stop]
        positions = range(int(starts[0]), int(starts[-1]))
        place = np.minimum(np.arange(self.size), counts[:, None] - 1)
        place += (starts[:-1] - starts[0])[:, None]
        x, y = (take(sample, self.order, positions)[place] for sample in (self.x, self.y))
        return Cells(x, counts), Cells(y, counts)

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        match job:
            case Aligned(a, b):
                return self._values(self.blocks(a, b, *pairs_of(a, b, tile=False), tile=False))
            case Band(units, R):
                lags = [range(units.start + r, units.stop + r) for r in range(1, R + 1)]
                return np.concatenate([self.values(Aligned(units, b)) for b in lags], axis=1)
            case Tile(a, b):
                i, j = np.indices((len(a), len(b))).reshape(2, -1)
                h = self._values(self.blocks(a, b, i, j, tile=True))
                return h.reshape(len(h), len(a), len(b))

    def _values(self, blocks: CentredBlocks) -> Array:
        from nosplit.backend.numba.cells import values

        h = np.empty((len(self.bank), blocks.K.shape[1]))
        values(*blocks.flat, *self.bank.places, h)
        return h

    def tables(self, a: range, b: range, *, tile: bool) -> Tables:
        """Values of pairs of units under all shifts of y inside them."""
        from nosplit.backend.numba.cells import average, under_shifts

        i, j = pairs_of(a, b, tile=tile)
        blocks, places, d = self.blocks(a, b, i, j, tile=tile), self.bank.places, len(self.bank)
        shifted, second = np.empty((len(i), self.size, self.size, d)), np.empty((d, d))
        under_shifts(blocks.flat[0], blocks.L, *places, *blocks.counts, shifted)
        average(*blocks.flat, *blocks.counts, *places, second)
        return Tables(shifted, i, j, second)

    def blocks(self, a: range, b: range, i: Index, j: Index, *, tile: bool) -> CentredBlocks:
        """Centred blocks of the pairs (a[i], b[j])."""
        from nosplit.backend.numba.cells import centre

        left, right = self.cells(a), self.cells(b)
        counts = left[0].counts[i], right[0].counts[j]
        pair = []
        for bank, one, other in zip(self.bank.factors, left, right, strict=True):
            if tile:
                pair.append(tile_block(bank, one, other, i, j))
            else:
                pair.append(aligned_block(bank, one, other))
            centre(pair[-1], *counts)
        return CentredBlocks(pair[0], pair[1], counts)
