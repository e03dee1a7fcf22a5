"""Rows that depend on one another: the output of a Markov chain.

Blocks of consecutive rows, several correlation times long, are as good as independent. By default
they are the units: Ψ of a block is the sum of its rows' over √b, all pairs of blocks are looked
at, and blocks get random signs (the wild bootstrap of blocks). Rows that hardly differ from the
last one add cost and no knowledge, so that rows are thinned inside blocks.

The closed form looks at the pairs (i, N/2 + i), which are as good as independent inside.
Neighbouring pairs are not: their values have a long-run covariance other than Cov[h]. Units of
several consecutive rows turn it into the ordinary one: the value of a pair of units is b^(-1/2)
times the sum of b neighbouring values, and its covariance is that of batch means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nosplit._support.types import Array
from nosplit.errors import (
    Caveat,
    DependentRowsWarning,
    InputError,
    UnsafeAsymptoticsWarning,
)
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.kernels import IMQ, Kernel
from nosplit.kernels.derived.stein import SteinBank
from nosplit.pairs.dealing import Natural
from nosplit.pairs.draws import SignDraws, Signs
from nosplit.pairs.neighbours import LagOne
from nosplit.pairs.pairing import Aligned, Job, Tile
from nosplit.pairs.protocols import Draws

__all__ = [
    "ChainBlocks",
    "Runs",
    "batch_length",
    "chain_blocks",
    "chain_units",
    "correlation_times",
    "default_chain_kernels",
    "few_batches",
    "few_blocks",
    "looks_like_a_chain",
    "smallest_safe_batches",
]

# Batches this many correlation times long leave about 5 % of the variance out.
BATCH = 10.0
# Blocks with signs of their own, in correlation times: shorter, for more of them; how many are
# enough; and how they grow with a chain that has more.
BLOCK, SMALLEST_BLOCKS, MANY_BLOCKS, LENGTHENING = 6.0, 50, 60, 0.4
# Rows of a block for each correlation time: closer ones say nothing new.
ROWS_PER_TIME = 3.0
# Pairs of neighbours that estimates of their correlation look at.
MOST_VALUES = 10_000


@dataclass(frozen=True, eq=False)
class _Consecutive:
    """Units of `length` consecutive rows; what is left over at the end stays out.

    Parameters
    ----------
    rows : SteinUnits
        Units of one row each, in the order of the chain.
    length : int
        Rows in a unit.
    """

    rows: SteinUnits
    length: int

    @property
    def bank(self) -> SteinBank:
        """The kernels."""
        return self.rows.bank

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit."""
        return float(self.length)

    def part(self, units: range) -> Self:
        """Some of the units, as units of their own."""
        rows = range(units.start * self.length, units.stop * self.length)
        return replace(self, rows=self.rows.part(rows))


@dataclass(frozen=True, eq=False)
class Runs(_Consecutive):
    """Units for the closed form, which sees them in pairs that are far apart."""

    @property
    def n_units(self) -> int:
        """Number of units, an even one."""
        return 2 * (self.rows.n_units // (2 * self.length))

    def draws(self, flips: int, rng: np.random.Generator) -> Draws:
        """Refuse: signs of their own would break the dependence up."""
        raise InputError('`calibration` of a chain must be "asymptotic".')

    def values(self, job: Job) -> Array:
        """Values of aligned pairs of units, (d, M)."""
        if not isinstance(job, Aligned):
            raise InputError('`pairs` of rows that depend on one another must be "linear".')
        b = self.length
        a, c = (self.rows.index(range(u.start * b, u.stop * b)) for u in (job.a, job.b))
        h = self.rows.aligned(a, c)
        return np.asarray(h.reshape(len(h), -1, b).sum(axis=2) / math.sqrt(b))


@dataclass(frozen=True, eq=False)
class ChainBlocks(_Consecutive):
    """Units with signs of their own.

    Parameters
    ----------
    rows, length
        As for all units of consecutive rows.
    thinned : int
        Of how many rows of the chain each of these is one.
    """

    thinned: int

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.rows.n_units // self.length

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random signs of blocks: the wild bootstrap, which is exact only in the limit."""
        return SignDraws(self, Signs(self.n_units, flips, rng))

    def values(self, job: Job) -> Array:
        """Values of all pairs of units of a tile, (d, A, B)."""
        if not isinstance(job, Tile):
            raise InputError('`pairs` of blocks of a chain must be "complete".')
        b = self.length
        h = np.empty((len(self.bank), len(job.a), len(job.b)))
        for i, u in enumerate(job.a):
            # A unit at a time: its rows against all those of b are many values already.
            own, others = range(u * b, u * b + b), range(job.b.start * b, job.b.stop * b)
            block = self.rows.values(Tile(own, others))
            h[:, i] = block.reshape(len(h), b, -1, b).sum(axis=(1, 3)) / b
        return h


def chain_blocks(rows: SteinUnits, most_rows: int) -> ChainBlocks:
    """Blocks of a chain of at most `most_rows` rows in all, six correlation times long or more.

    Neighbouring blocks depend on one another, by less the longer they are: at six times a twelfth
    of the variance is left out. Where there are many, they are longer.
    """
    n, time = rows.n_units, _longest_time(rows)
    thinned = min(max(1, int(time / ROWS_PER_TIME), -(-n // most_rows)), max(1, n // 4))
    times = n / time
    length = math.ceil(max(BLOCK, min(times / MANY_BLOCKS, times**LENGTHENING)) * time / thinned)
    kept = np.arange(0, n, thinned)
    some = SteinUnits(
        np.ascontiguousarray(rows.x[kept]),
        np.ascontiguousarray(rows.scores[kept]),
        Natural(),
        rows.bank,
        range(len(kept)),
    )
    return ChainBlocks(some, min(length, len(kept) // 2), thinned)


def chain_units(rows: SteinUnits) -> Runs:
    """Runs of rows, long enough for their values to be as good as independent."""
    return Runs(rows, batch_length(_first_values(rows), rows.n_units // 2, _longest_time(rows)))


def _longest_time(rows: SteinUnits) -> float:
    """Longest correlation time of the chain: of the kernels' values and of the score's columns.

    A slow coordinate among fast ones hardly shows in values of a kernel of all coordinates.
    """
    scores = rows.scores[rows.index(range(rows.n_units))].T
    return max(correlation_times(_first_values(rows)), correlation_times(scores))


def default_chain_kernels(bandwidth: float) -> tuple[Kernel, ...]:
    """Three IMQ kernels: every further one needs many more batches."""
    return tuple(IMQ(factor * bandwidth) for factor in (0.5, 1.0, 2.0))


def batch_length(values: Array, n_pairs: int, time: float = 1.0) -> int:
    """Length of batches for a chain: 10 correlation times, and growing with the sample."""
    length = math.ceil(BATCH * max(time, correlation_times(values)))
    return min(max(length, round(math.cbrt(n_pairs))), n_pairs // 2)


def correlation_times(values: Array) -> float:
    """Longest integrated correlation time 1 + 2 Σ ρ_k of some series (d, M).

    By Geyer's (1992) initial monotone sequence: sums of two neighbouring autocorrelations are
    positive and fall for a reversible chain; from where the estimates do not, they are noise.

    Examples
    --------
    >>> steps = np.random.default_rng(0).normal(size=(1, 5000))
    >>> correlation_times(steps) < 1.2
    True
    """
    return max(_initial_sequence(rho) for rho in _autocorrelations(values))


def _initial_sequence(rho: Array) -> float:
    pairs = rho[: len(rho) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = pairs[: negative[0]] if len(negative) else pairs
    return max(1.0, 2.0 * float(np.minimum.accumulate(pairs).sum()) - 1.0) if len(pairs) else 1.0


def _autocorrelations(values: Array) -> Array:
    """Autocorrelations at all lags below M / 2, of every series that varies."""
    with np.errstate(over="ignore", invalid="ignore"):  # refused where kernels are summed
        centred = values - values.mean(axis=1, keepdims=True)
        size = np.max(np.abs(centred), axis=1)
    varies = (size > 0) & np.isfinite(size)
    centred = centred[varies] / size[varies, None]
    if not len(centred):
        return np.ones((1, 1))
    m = values.shape[1]
    spectrum = np.abs(np.fft.rfft(centred, 2 * m, axis=1)) ** 2
    sums = np.fft.irfft(spectrum, 2 * m, axis=1)[:, : max(1, m // 2)]
    return np.asarray(sums / sums[:, :1])


def _first_values(rows: SteinUnits) -> Array:
    """Values of the first of the pairs (i, N/2 + i), in the order of the rows, (d, M)."""
    half = rows.n_units // 2
    m = min(half, MOST_VALUES)
    return rows.values(Aligned(range(m), range(half, half + m)))


def smallest_safe_batches(d: int) -> int:
    """Batches from which Σ̂ is good enough for d kernels (docs/measured/goodness_of_fit.md)."""
    return 32 * d * d


def few_batches(n_batches: int, d: int) -> list[Caveat]:
    """Caveats on a chain that is short for its correlation and its kernels."""
    if n_batches >= smallest_safe_batches(d):
        return []
    text = (
        f"The chain is as good as {n_batches} independent pairs, few for {d} kernels (at least "
        f"{smallest_safe_batches(d)} are safe): run it longer, or use fewer kernels."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def few_blocks(n_blocks: int) -> list[Caveat]:
    """Caveats on a chain that is short for its correlation."""
    if n_blocks >= SMALLEST_BLOCKS:
        return []
    text = (
        f"The chain is as good as {n_blocks} independent blocks of rows, few for random signs (at "
        f"least {SMALLEST_BLOCKS} are safe): run it longer."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def looks_like_a_chain(rows: SteinUnits) -> list[Caveat]:
    """Caveats on rows whose values, on disjoint pairs and in order, are correlated."""
    values = _first_values(replace(rows, order=Natural()))
    r = LagOne.of_values(values).beyond_chance
    if r is None:
        return []
    thin = math.ceil(2.0 * correlation_times(values))
    text = (
        f"The rows look like the output of a chain (neighbouring values have a correlation of "
        f"{r:.2f}), and the test takes them to be independent. Use dependent=True, or thin={thin} "
        "and look again. Independent rows that were sorted should be shuffled before the call."
    )
    return [(DependentRowsWarning, text)]
