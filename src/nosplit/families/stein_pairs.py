"""The paper's estimates for goodness of fit: pairs of rows with their scores, and closed forms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nosplit._types import Array, Index
from nosplit.core.moments import Moments, Step, add_up, column_moments
from nosplit.core.order import Natural, Order, UnitRange, shuffled
from nosplit.core.pairings import Aligned, Band, Job, Pairing, Tile, units_in_pairs
from nosplit.data.scored import ScoredRows
from nosplit.errors import UnsafeAsymptoticsWarning
from nosplit.families.paired import FOLDED_PAIRS, PairEstimate, estimate
from nosplit.families.stein import effective_rows
from nosplit.inference.caveats import few_effective_rows, few_stein_pairs
from nosplit.kernels.stein import SteinBank, SteinKernels, fit_stein_bank
from nosplit.methods import Method

__all__ = ["SteinUnits", "estimate_fit"]


def estimate_fit(
    rows: ScoredRows,
    kernels: SteinKernels,
    pairing: Pairing,
    method: Method | None,
    rng: np.random.Generator | None,
    workers: int | None = None,
) -> PairEstimate:
    """Test rows by the closed form of a method on pairs of them.

    Parameters
    ----------
    rows : ScoredRows
        The rows and their scores.
    kernels : SteinKernels
        As they were asked for.
    pairing : Pairing
        Linear or adjacent pairs, a window or blocks.
    method : Method or None
        None is OST.
    rng : Generator or None
        Shuffles the rows; None keeps their order.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    """
    n, p = rows.x.shape
    bank = fit_stein_bank(kernels, rows.x)
    order = Natural() if rng is None else shuffled(n, rng)
    units = SteinUnits(*rows, order, bank, range(n))
    found = estimate(
        units, pairing, method, sizes=(units_in_pairs(pairing, n),), default=kernels is None,
        workers=workers,
    )  # fmt: skip
    caveats = [*found.caveats, *few_effective_rows(effective_rows(rows, bank), n)]
    if not any(category is UnsafeAsymptoticsWarning for category, _ in caveats):
        caveats += few_stein_pairs(found.n_pairs, len(bank), p)
    return replace(found, caveats=tuple(caveats))


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

    def index(self, units: range) -> Index:
        """Row of each of the units, which may run past the last one, to the first again."""
        n = self.n_units
        wraps = units.step == 1 and units.stop > n
        runs = [range(units.start, n), range(units.stop - n)] if wraps else [units]
        places = (self.units[run.start : run.stop : run.step] for run in runs)
        return np.concatenate([self.order.rows(run) for run in places])

    def total(self, pairing: Pairing, workers: int | None, step: Step | None = None) -> Moments:
        """Add up the moments of the values of all pairs."""

        def moments(job: Job) -> Moments:
            return column_moments(self.values(job), job)

        return add_up(moments, pairing.jobs(self.n_units, FOLDED_PAIRS), workers, step)

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        match job:
            case Aligned(a, b):
                return self._aligned(self.index(a), self.index(b))
            case Band(units, R):
                n, rows = len(units), self.index(range(units.start, units.stop + R))
                lags = [self._aligned(rows[:n], rows[r : r + n]) for r in range(1, R + 1)]
                return np.concatenate(lags, axis=1)
            case Tile(a, b):
                places = map(self.index, (a, b))
                return self.bank.tile(*((self.x[at], self.scores[at]) for at in places))

    def _aligned(self, a: Index, b: Index) -> Array:
        return self.bank.aligned(self.x, self.scores, a, b)
