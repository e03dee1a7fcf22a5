"""Two-sample units: MMD.

Equal sizes: a unit is a pair (x, y) with Ψ = φ(x) - φ(y), and two units give
h = k(x, x') + k(y, y') - k(x, y') - k(y, x'). Swapping x and y of a unit changes the sign of its Ψ.

Unequal sizes: see `unequal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from nosplit._support.types import Array, Index
from nosplit.families.unequal import Grouped
from nosplit.kernels.bank import Bank
from nosplit.pairs.dealing import MOST_ROWS, Dealing, Natural, Order, UnitRange, take
from nosplit.pairs.draws import SignDraws, Signs, column_moments
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Aligned, Band, Job, Tile

__all__ = ["MOST_ROWS", "Grouped", "Paired", "two_sample_units"]

SIGNS = np.array([[1.0], [1.0], [-1.0], [-1.0]])
# Pairs whose base quantities are found together: what a core's second cache holds.
AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Paired(UnitRange):
    """N units of one row each of x and y.

    Parameters
    ----------
    x, y : array, shape (n, p)
        The samples.
    x_order, y_order : Order
        Row of each sample in each unit.
    bank : Bank
        The kernels.
    units : range
        Which positions are units of this object.
    block : int
        Units that follow one another and are swapped together, where rows depend on those before.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    x_order: Order
    y_order: Order
    bank: Bank
    units: range
    block: int = 1

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together."""
        return 2.0

    def rows(self, unit: int) -> NDArray[Any]:
        """All rows of one unit, for the median heuristic."""
        return np.concatenate(self._rows(range(unit, unit + 1)))

    def _rows(self, units: range) -> tuple[NDArray[Any], NDArray[Any]]:
        positions = self.units[units.start : units.stop : units.step]
        return take(self.x, self.x_order, positions), take(self.y, self.y_order, positions)

    @property
    def ordered(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows of x and of y, unit by unit."""
        return self._rows(range(self.n_units))

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random swaps of x and y inside units."""
        return SignDraws(self, Signs(self.n_units, flips, rng, block=self.block))

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        if isinstance(job, Tile):
            return self._tile(*self._rows(job.a), *self._rows(job.b))
        return self._aligned(job)

    def _index(self, job: Aligned | Band) -> Index:
        """Rows of x in a and in b, of y in a and in b, of the pairs of a job; a band lag by lag."""
        if isinstance(job, Aligned):
            parts = (self._places(job.a), self._places(job.b))
            return np.stack([parts[0][0], parts[1][0], parts[0][1], parts[1][1]])
        n, stop = len(job.units), job.units.stop + job.R
        i, j = self._places(range(job.units.start, min(stop, self.n_units)))
        if stop > self.n_units:
            first = self._places(range(stop - self.n_units))
            i, j = np.concatenate([i, first[0]]), np.concatenate([j, first[1]])
        ib, jb = (sliding_window_view(rows, n)[1:].ravel() for rows in (i, j))
        return np.stack([np.tile(i[:n], job.R), ib, np.tile(j[:n], job.R), jb])

    def _places(self, units: range) -> tuple[Index, Index]:
        """Rows of x and of y in each of the units."""
        positions = self.units[units.start : units.stop : units.step]
        return self.x_order.rows(positions), self.y_order.rows(positions)

    def _aligned(self, job: Aligned | Band) -> Array:
        """Values of pairs that are not a tile."""
        bank, m, index = self.bank, job.n_pairs, self._index(job)
        h = np.empty((len(bank), m))
        if bank.operations or bank.linear:
            for start in range(0, m, AT_ONCE):
                self._fill_some(index[:, start : start + AT_ONCE], h, start)
        if bank.others:
            ia, ib, ja, jb = index
            xa, xb, ya, yb = self.x[ia], self.x[ib], self.y[ja], self.y[jb]
            pairs = (xa, xb), (xa, yb), (ya, yb), (ya, xb)
            for u, k in bank.called("aligned", pairs):
                h[u] = (k[0] - k[1]) + (k[2] - k[3])
        return h

    def _fill_some(self, index: Index, h: Array, start: int) -> None:
        """Values of some pairs by the compiled loops, into h from column `start` on."""
        from nosplit._support.loops.bases import touch, two_sample_bases

        bank, m, (ia, ib, ja, jb) = self.bank, index.shape[1], index
        (sq, l1, dot), cross = bank.empty_bases(4, m), np.empty(m)
        if self._scattered:
            for sample, rows in ((self.x, ia), (self.x, ib), (self.y, ja), (self.y, jb)):
                touch(sample, rows)
        want, linear = bank.want, bool(bank.linear)
        two_sample_bases(self.x, ia, ib, self.y, ja, jb, want, linear, sq, l1, dot, cross)
        bank.evaluate((sq, l1, dot), SIGNS, h, start, m)
        if not np.isfinite(sq.sum() + l1.sum()):  # a bounded kernel would hide it
            h[:, start] = np.nan
        h[bank.linear, start : start + m] = cross

    @property
    def _scattered(self) -> bool:
        """Whether rows are taken in another order than they lie in."""
        return not Natural() == self.x_order == self.y_order

    def _compiled(self, job: Aligned | Band) -> tuple[Any, ...]:
        """Arguments of the compiled loops."""
        from nosplit._support.loops.values import two_sample_room

        bank, scattered = self.bank, self._scattered
        if isinstance(job, Band) or scattered:
            index, listed = self._index(job), True
        else:
            index, listed = self._progressions(job), False
        where = self.x, self.y, index, listed, scattered
        return *where, bank.want, bank.linear_rows, bank.program, two_sample_room()

    def _progressions(self, job: Aligned) -> Index:
        """First rows and steps of rows as they come, in the order of `_index`."""
        a, b = ([self.units[u.start], u.step * self.units.step] for u in (job.a, job.b))
        return np.array([a, b, a, b], dtype=np.int64)

    def moments(self, job: Job) -> Moments:
        """Moments of the values of a job, without keeping the values where that is possible."""
        if isinstance(job, Tile) or self.bank.others:
            return column_moments(self.values(job), job)
        from nosplit._support.loops.values import two_sample_moments

        d = len(self.bank)
        mean, total = np.empty(d), np.empty((d, d))
        two_sample_moments(*self._compiled(job), mean, total, job.n_pairs)
        return Moments(job.n_pairs, mean, total)

    def _tile(
        self, xa: NDArray[Any], ya: NDArray[Any], xb: NDArray[Any], yb: NDArray[Any]
    ) -> Array:
        bank, shape = self.bank, (len(xa), len(xb))
        h = np.empty((len(bank), *shape))
        if bank.operations:
            bases, centre = bank.empty_bases(4, shape[0] * shape[1]), bank.centre(xa, ya, xb, yb)
            for c, (a, b) in enumerate(((xa, xb), (ya, yb), (xa, yb), (ya, xb))):
                tile = [q[c].reshape(shape) if q.size else q for q in bases]
                bank.tile_bases(a, b, tile, centre)
            bank.evaluate(bases, SIGNS, h.reshape(len(bank), -1))
        if bank.linear:
            left, right = (np.subtract(u, v, dtype=np.float64) for u, v in ((xa, ya), (xb, yb)))
            h[bank.linear] = left @ right.T
        for u, k in bank.called("tile", ((xa, xb), (xa, yb), (ya, yb), (ya, xb))):
            h[u] = (k[0] - k[1]) + (k[2] - k[3])
        return h


def two_sample_units(
    x: NDArray[Any], y: NDArray[Any], x_order: Order, y_order: Order, bank: Bank
) -> Paired | Grouped:
    """N = min(n, m) units; the larger sample is dealt out evenly, at most 16 rows to a unit."""
    n, m = len(x), len(y)
    if n == m:
        return Paired(x, y, x_order, y_order, bank, range(n))
    if n > m:
        return two_sample_units(y, x, y_order, x_order, bank)
    starts = Dealing(n, m).starts(range(n))
    return Grouped(x, y, x_order, y_order, bank, starts, range(n))
