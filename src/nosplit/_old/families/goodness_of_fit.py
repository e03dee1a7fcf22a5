"""Goodness-of-fit units: kernelized Stein discrepancy (Chwialkowski et al. 2016, Liu et al. 2016).

A unit is a row x with its score s = ∇ log q(x) under the model. A radial kernel k(x, x') = f(D),
D = ‖x - x'‖², turns two of them into the Stein kernel

    u(x, x') = ⟨s, s'⟩ k + ⟨s, ∇_x' k⟩ + ⟨s', ∇_x k⟩ + tr ∇_x ∇_x' k
             = G f - 2 (C + p) f' - 4 D f''

with G = ⟨s, s'⟩ and C = ⟨s - s', x - x'⟩. Its mean over x' ~ q is zero for every x. The base
kernels may be Gaussian, inverse multiquadric (IMQ) or Matérn with nu = 3/2 or 5/2. IMQ kernels
with an exponent in (-1, 0) detect samples that do not converge to the model, which the others
need not (Gorham and Mackey 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nosplit._old.pairs.draws import SignDraws, Signs, unwrapped
from nosplit._types import Array, Index
from nosplit.core.order import Order, UnitRange
from nosplit.core.pairings import Aligned, Band, Job, Tile
from nosplit.errors import InputError
from nosplit.kernels.stein import SteinBank

__all__ = ["SteinBlocks", "SteinUnits"]

# Rows that the check on their own values looks at.
MOST_ROWS = 20_000
# Stein values of rows that are computed together for blocks: 8 MB for each kernel.
VALUES_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class SteinUnits(UnitRange):
    """N units of one row each, with its score.

    Parameters
    ----------
    x, scores : array, shape (n, p)
        The rows and their scores.
    order : Order
        Row of each unit.
    bank : SteinBank
        The kernels.
    units : range
        Which positions are units of this object.
    """

    x: Array
    scores: Array
    order: Order
    bank: SteinBank
    units: range

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit."""
        return 1.0

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random signs: the wild bootstrap, which is exact only in the limit."""
        return SignDraws(self, Signs(self.n_units, flips, rng))

    def index(self, units: range) -> Index:
        """Row of each of the units, which may run past the last one, to the first again."""
        runs = (self.units[run.start : run.stop] for run in unwrapped(units, self.n_units))
        return np.concatenate([self.order.rows(run) for run in runs])[:: units.step]

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        match job:
            case Aligned(a, b):
                return self.aligned(self.index(a), self.index(b))
            case Band(units, R):
                n, rows = len(units), self.index(range(units.start, units.stop + R))
                lags = [self.aligned(rows[:n], rows[r : r + n]) for r in range(1, R + 1)]
                return np.concatenate(lags, axis=1)
            case Tile(a, b):
                return self._tile(self.index(a), self.index(b))

    def aligned(self, a: Index, b: Index) -> Array:
        """Values (d, M) of the rows a with the rows b."""
        from nosplit.backend.numba.stein import aligned_bases

        bases = np.empty((3, len(a)))
        aligned_bases(self.x, self.scores, np.ascontiguousarray(a), np.ascontiguousarray(b), *bases)
        return self.bank.evaluate(bases, self.x.shape[1])

    def effective_rows(self) -> float:
        """Rows that carry Σ u(x, x), for the kernel with the fewest: (Σ u)² / Σ u².

        u(x, x) = ‖Ψ(x)‖². Random signs need its mean to be that of many rows; where the score has
        no finite variance under the model, a few rows next to an end of its support are all of it.
        """
        count = min(self.n_units, MOST_ROWS)
        rows = self.index(range(self.n_units))[np.arange(count) * self.n_units // count]
        u = self.aligned(rows, rows)
        top = np.max(u, axis=1)
        some = (top > 0) & np.isfinite(top)  # others are dropped, or refused
        if not some.any():
            return float(self.n_units)
        u = u[some] / top[some, None]
        share = u.sum(axis=1) ** 2 / np.einsum("dm,dm->d", u, u) / count
        return float(share.min()) * self.n_units

    def _tile(self, a: Index, b: Index) -> Array:
        from nosplit.backend.numba.stein import tile_bases

        bases = np.empty((3, len(a), len(b)))
        right = (np.ascontiguousarray(rows[b].T) for rows in (self.x, self.scores))
        tile_bases(self.x[a], self.scores[a], *right, *bases)
        h = self.bank.evaluate(bases.reshape(3, -1), self.x.shape[1])
        return h.reshape(len(self.bank), len(a), len(b))


@dataclass(frozen=True, eq=False)
class SteinBlocks:
    """Units of consecutive rows in time order; rows beyond the last whole block are left out.

    Ψ of a block of b rows is the sum of the rows' Ψ over √b. Blocks that are longer than the
    dependence between rows are nearly independent, so that each has a random sign.

    Parameters
    ----------
    rows : SteinUnits
        Units of one row each, in time order.
    length : int
        Rows of a block.
    together : bool
        Whether all blocks share one sign, because none is longer than the dependence.
    """

    rows: SteinUnits
    length: int
    together: bool = False

    @property
    def bank(self) -> SteinBank:
        """The kernels."""
        return self.rows.bank

    @property
    def rows_per_unit(self) -> float:
        """Rows of a block."""
        return float(self.length)

    @property
    def n_units(self) -> int:
        """Number of blocks."""
        return self.rows.n_units // self.length

    def part(self, units: range) -> SteinBlocks:
        """Some of the blocks, as units of their own."""
        rows = range(units.start * self.length, units.stop * self.length)
        return replace(self, rows=self.rows.part(rows))

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random signs of blocks: the wild bootstrap, which is exact only in the limit."""
        n = self.n_units
        return SignDraws(self, Signs(n, flips, rng, block=n if self.together else 1))

    def values(self, job: Job) -> Array:
        """Values of all pairs of blocks of a tile, (d, A, B)."""
        if not isinstance(job, Tile):
            raise InputError('`pairs` of blocks of rows must be "complete".')
        b = self.length
        h = np.zeros((len(self.bank), len(job.a), len(job.b)))
        others = range(job.b.start * b, job.b.stop * b)
        step = max(1, VALUES_AT_ONCE // len(others))
        for i, block in enumerate(job.a):
            for first in range(block * b, block * b + b, step):
                own = range(first, min(first + step, block * b + b))
                values = self.rows.values(Tile(own, others))
                h[:, i] += values.reshape(len(h), len(own), -1, b).sum(axis=(1, 3)) / b
        return h
