"""Units of several observations, for the paper's estimates of HSIC (Gretton et al. 2007).

A unit holds q observations (x, y), with the cross-covariance of their features

    Ψ = (q - 1)⁻¹ Σ (φ(x_i) - φ̄) ⊗ (ψ(y_i) - ψ̄),

which has mean zero when x and y are independent. Two units give h = (q - 1)⁻² ⟨JKJ, JLJ⟩ on their
blocks of kernel values K = k(x_i, x'_j) and L = l(y_i, y'_j), J = I - 11'/q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.core.moments import Moments, Step, add_up, column_moments
from nosplit.core.order import Natural, Order, UnitRange, shuffled, take, unwrapped
from nosplit.core.pairings import Aligned, Band, Job, Pairing, Tile, units_in_pairs
from nosplit.families.paired import MEDIAN_ROWS
from nosplit.kernels import Parts
from nosplit.kernels.bank import Bank, middle
from nosplit.kernels.tensor import Tensor, TensorBank, TensorKernels, tensors_for

__all__ = ["UNIT_SIZE", "HsicUnits", "fit_tensors", "hsic_units"]

# Observations to a unit, about: smaller ones lose power, of larger ones pairs cost more
# (docs/measured/independence.md).
UNIT_SIZE = 8
# Kernel values in a job, which fill a core's second cache.
JOB = 32768
# Pairs of which effective numbers are estimated, and how many of them at once.
MAX_PAIRS, AT_ONCE = 4096, 256


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

    def used(self, pairing: Pairing) -> tuple[int, ...]:
        """Observations in the units that are in pairs."""
        return (int(self.counts[: units_in_pairs(pairing, self.n_units)].sum()),)

    @cached_property
    def counts(self) -> Index:
        """Observations in each unit."""
        return np.diff(self.starts[self.units.start : self.units.stop + 1])

    @cached_property
    def size(self) -> int:
        """Rows of a padded unit."""
        return int(self.counts.max())

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
                return self.aligned(a, b)
            case Band(units, R):
                lags = [range(units.start + r, units.stop + r) for r in range(1, R + 1)]
                return np.concatenate([self.values(Aligned(units, b)) for b in lags], axis=1)
            case Tile(a, b):
                i, j = np.indices((len(a), len(b))).reshape(2, -1)
                h = self._values(self.blocks(a, b, i, j, tile=True))
                return h.reshape(len(h), len(a), len(b))

    def aligned(self, a: range, b: range, shift: int = 0) -> Array:
        """Values of the pairs (a[i], b[i]), y of b in a cyclic order, (d, M)."""
        every = np.arange(len(a))
        return self._values(self.blocks(a, b, every, every, tile=False, shift=shift))

    def total(self, pairing: Pairing, workers: int | None, step: Step | None = None) -> Moments:
        """Add up the moments of the values of all pairs."""
        size = max(JOB // 32, round(JOB / (self.rows_per_unit / 2.0) ** 2))
        jobs = pairing.jobs(self.n_units, size)
        return add_up(lambda job: column_moments(self.values(job), job), jobs, workers, step)

    def effective(self, pairing: Pairing, most: int = MAX_PAIRS) -> Array:
        """Estimate the number of pairs that carry the statistic of each kernel, (d,).

        A sum of m values is near normal only if many of them matter: n_eff = (Σ h²)² / Σ h⁴. The
        sums go over all cyclic orders of y inside a unit, since the observed values may hold none
        of the rare ones. They are estimated from about `most` pairs.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # found in the total
            scale: Array | None = None
            second, fourth, seen = np.zeros(1), np.zeros(1), 0
            for a, lag in _runs(self.n_units, most):
                b = range(a.start + lag, a.stop + lag)
                h = np.concatenate([self.aligned(a, b, s) for s in range(self.size)], axis=1)
                if scale is None:  # for fourth powers that neither overflow nor underflow
                    top = np.max(np.abs(h), axis=1)
                    scale = np.where(top > 0, top, 1.0)
                squares = (h / scale[:, None]) ** 2
                second = second + squares.sum(axis=1)
                fourth = fourth + (squares * squares).sum(axis=1)
                seen += h.shape[1]
            live = fourth > 0
            share = np.where(live, second**2 / np.where(live, fourth, 1.0), 0.0) / seen
        return np.asarray(pairing.n_pairs(self.n_units) * share)

    def _values(self, blocks: CentredBlocks) -> Array:
        from nosplit.backend.numba.cells import values

        h = np.empty((len(self.bank), blocks.K.shape[1]))
        values(*blocks.flat, *self.bank.places, h)
        return h

    def blocks(
        self, a: range, b: range, i: Index, j: Index, *, tile: bool, shift: int = 0
    ) -> CentredBlocks:
        """Centred blocks of the pairs (a[i], b[j])."""
        from nosplit.backend.numba.cells import centre

        left, right = self.cells(a), self.cells(b)
        if shift:
            right = right[0], right[1].rolled(shift)
        counts = left[0].counts[i], right[0].counts[j]
        pair = []
        for bank, one, other in zip(self.bank.factors, left, right, strict=True):
            if tile:
                pair.append(tile_block(bank, one, other, i, j))
            else:
                pair.append(aligned_block(bank, one, other))
            centre(pair[-1], *counts)
        return CentredBlocks(pair[0], pair[1], counts)


def hsic_units(
    x: NDArray[Any],
    y: NDArray[Any],
    kernels: TensorKernels,
    discrete: tuple[bool | Parts, bool | Parts],
    rng: np.random.Generator | None,
) -> HsicUnits:
    """Deal observations to units, in random order if there is a generator, and fit kernels."""
    n = len(x)
    N = max(2, min(round(n / UNIT_SIZE), n // 2))
    order = Natural() if rng is None else shuffled(n, rng)
    units = HsicUnits(x, y, order, TensorBank(()), np.arange(N + 1) * n // N, range(N))
    return replace(units, bank=TensorBank(fit_tensors(kernels, units, discrete)))


def fit_tensors(
    kernels: TensorKernels, units: HsicUnits, discrete: tuple[bool | Parts, bool | Parts]
) -> tuple[Tensor, ...]:
    """Fit kernels to rows of whole units, spread over all of them."""
    count = max(2, min(units.n_units, int(MEDIAN_ROWS / units.rows_per_unit)))
    chosen = np.arange(count) * units.n_units // count
    x, y = (np.concatenate(side) for side in zip(*map(units.rows, chosen.tolist()), strict=True))
    return tensors_for(kernels, x, y, discrete)


def _runs(n_units: int, most: int) -> Iterator[tuple[range, int]]:
    """Runs of units and distances r: the pairs (i, i + r mod N) that an estimate looks at.

    All units at several distances if they are few; if they are many, runs spread over them.
    """
    size = min(AT_ONCE, n_units, most)
    runs = min(most // size, -(-n_units // size))
    lags = max(1, min(most // n_units, (n_units - 1) // 2))
    starts = [k * n_units // runs for k in range(runs)]
    for lag in range(1, lags + 1):
        for start, stop in zip(starts, [*starts[1:], n_units], strict=True):
            yield range(start, min(stop, start + size)), lag


# -- rows of units ---------------------------------------------------------------------------------


# Units that the middle of all rows is found from, about.
SOME_UNITS = 16


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of T units, padded to s rows each by repeating the last.

    Attributes
    ----------
    rows : array, shape (T, s, p)
        The rows.
    counts : array, shape (T,)
        Rows of each unit that are not padding.
    """

    rows: NDArray[Any]
    counts: Index

    def __getitem__(self, which: slice) -> Cells:
        return Cells(self.rows[which], self.counts[which])

    @property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the rows that are not padding, (T, s)."""
        return np.arange(self.rows.shape[1]) < self.counts[:, None]

    def rolled(self, shift: int) -> Cells:
        """The rows of each unit in a cyclic order."""
        place = (np.arange(self.rows.shape[1]) + shift) % self.counts[:, None]
        return Cells(np.take_along_axis(self.rows, place[:, :, None], axis=1), self.counts)

    def some(self) -> NDArray[Any]:
        """All rows of a few units, without padding: no permutation inside units changes them."""
        step = max(1, len(self.rows) // SOME_UNITS)
        return np.asarray(self.rows[::step][self.present[::step]])


def aligned_block(bank: Bank, a: Cells, b: Cells) -> Array:
    """Kernel values of all combinations of rows of aligned units, (d, T, s, s).

    The linear kernel is that of rows moved by a constant, which centring undoes.
    """
    m, s, _ = a.rows.shape
    K = np.empty((len(bank), m, s, s))
    if bank.operations:
        from nosplit.backend.numba.cells import cell_bases

        bases = bank.empty_bases(1, m * s * s)
        left, right = (np.ascontiguousarray(c.rows) for c in (a, b))
        cell_bases(left, right, bank.want, *(q[0] for q in bases))
        bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
    if bank.linear:
        origin = middle(a.some(), b.some())
        K[bank.linear] = (a.rows - origin) @ (b.rows - origin).transpose(0, 2, 1)
    if bank.others:
        # All combinations of rows in one call: (T, s, s) of each.
        left = np.repeat(a.rows, s, axis=1).reshape(m * s * s, -1)
        right = np.tile(b.rows, (1, s, 1)).reshape(m * s * s, -1)
        for u, (k,) in bank.called("aligned", ((left, right),)):
            K[u] = k.reshape(m, s, s)
    return K


def tile_block(bank: Bank, a: Cells, b: Cells, i: Index, j: Index) -> Array:
    """Kernel values of all combinations of rows of the units a[i] and b[j], (d, M, s, s).

    All rows of a meet all rows of b first, by matrix products where they are wide.
    """
    s, p = a.rows.shape[1:]
    left, right = a.rows.reshape(-1, p), b.rows.reshape(-1, p)
    shape = (len(left), len(right))
    K = np.empty((len(bank), *shape))
    if bank.operations:
        bases = bank.empty_bases(1, shape[0] * shape[1])
        tile = [q.reshape(shape) if q.size else q for q in bases]
        bank.tile_bases(left, right, tile, bank.centre(left, right))
        bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
    if bank.linear:
        origin = middle(a.some(), b.some())
        K[bank.linear] = (left - origin) @ (right - origin).T
    for u, (k,) in bank.called("tile", ((left, right),)):
        K[u] = k
    whole = K.reshape(len(bank), len(a.rows), s, len(b.rows), s).transpose(0, 1, 3, 2, 4)
    return whole[:, i, j]
