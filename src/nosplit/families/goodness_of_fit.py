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
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.errors import InputError
from nosplit.kernels import IMQ, Kernel, gaussian_grid
from nosplit.kernels.bank import GAUSSIAN, IMQ_, MATERN32, MATERN52, SQUARED, Bank
from nosplit.pairs.draws import SignDraws, Signs, unwrapped
from nosplit.pairs.order import Order
from nosplit.pairs.pairing import Aligned, Band, Job, Tile

__all__ = ["SteinBank", "SteinUnits", "default_stein_kernels"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

DIFFERENTIABLE = (GAUSSIAN, IMQ_, MATERN32, MATERN52)
FACTORS = (0.5, 1.0, 2.0)


def default_stein_kernels(bandwidth: float) -> tuple[Kernel, ...]:
    """An IMQ kernel and three Gaussian ones around a bandwidth.

    The IMQ kernel sees what does not converge; the Gaussian ones add power. More kernels add
    little and cost the wild bootstrap its level at small n (docs/goodness_of_fit.md).

    Examples
    --------
    >>> default_stein_kernels(1.0)[:2]
    (IMQ(bandwidth=1.0, exponent=-0.5), Gaussian(bandwidth=0.5))
    """
    return (IMQ(bandwidth), *gaussian_grid(bandwidth, FACTORS))


@dataclass(frozen=True)
class SteinBank:
    """The Stein kernels of a test.

    Parameters
    ----------
    kernels : sequence of Kernel
        The radial kernels they are made of.

    Examples
    --------
    >>> len(SteinBank((IMQ(1.0), IMQ(2.0))))
    2
    """

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        known = {o.kernel for o in Bank(self.kernels).operations if o.kind in DIFFERENTIABLE}
        for i, kernel in enumerate(self.kernels):
            if i not in known:
                raise InputError(
                    "`kernels` of a Stein test must be Gaussian, IMQ or Matern with nu = 1.5 or "
                    f"2.5, which are radial and twice differentiable, got {kernel!r}."
                )

    def __len__(self) -> int:
        return len(self.kernels)

    @cached_property
    def program(self) -> tuple[NDArray[Any], ...]:
        """What `_stein.evaluate` takes: kinds, scales, exponents, squarings, rows."""
        bank = Bank(self.kernels)
        kinds, _, times, exponents, rows = bank.program
        squarings = np.where(kinds == SQUARED, times, 0.0).astype(np.int64)
        true_kinds = np.array([o.kind for o in bank.operations], dtype=np.int64)
        scales = np.array([o.p1 for o in bank.operations])
        return true_kinds, scales, exponents, squarings, rows

    def evaluate(self, bases: Array, p: int) -> Array:
        """Values (d, M) from D, G and C, (3, M)."""
        from nosplit._support.loops.stein import evaluate

        h = np.empty((len(self), bases.shape[1]))
        evaluate(*self.program, p, *bases, h)
        return h


@dataclass(frozen=True, eq=False)
class SteinUnits:
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
    def n_units(self) -> int:
        """Number of units."""
        return len(self.units)

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit."""
        return 1.0

    def part(self, units: range) -> SteinUnits:
        """Some of the units, as units of their own."""
        return replace(self, units=self.units[units.start : units.stop])

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
        from nosplit._support.loops.stein import aligned_bases

        bases = np.empty((3, len(a)))
        aligned_bases(self.x, self.scores, np.ascontiguousarray(a), np.ascontiguousarray(b), *bases)
        return self.bank.evaluate(bases, self.x.shape[1])

    def _tile(self, a: Index, b: Index) -> Array:
        from nosplit._support.loops.stein import tile_bases

        bases = np.empty((3, len(a), len(b)))
        right = (np.ascontiguousarray(rows[b].T) for rows in (self.x, self.scores))
        tile_bases(self.x[a], self.scores[a], *right, *bases)
        h = self.bank.evaluate(bases.reshape(3, -1), self.x.shape[1])
        return h.reshape(len(self.bank), len(a), len(b))
