"""Rows that depend on one another: the output of a Markov chain.

Pairs (i, N/2 + i) of a chain that forgets are as good as independent inside, but neighbouring
pairs are not: their values have a long-run covariance other than Cov[h]. Units of several
consecutive rows turn it into the ordinary one: with b rows to a unit, the value of a pair is
b^(-1/2) times the sum of b neighbouring values, and its covariance is that of batch means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from nosplit._support.lazy import special
from nosplit._support.types import Array
from nosplit.errors import (
    Caveat,
    DependentRowsWarning,
    InputError,
    UnsafeAsymptoticsWarning,
)
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.kernels import IMQ, Kernel
from nosplit.kernels.stein import SteinBank
from nosplit.pairs.order import Natural
from nosplit.pairs.pairing import Aligned, Job
from nosplit.pairs.protocols import Draws

__all__ = [
    "Runs",
    "batch_length",
    "chain_units",
    "correlation_times",
    "default_chain_kernels",
    "few_batches",
    "lag_one",
    "looks_like_a_chain",
    "smallest_safe_batches",
]

# Batches this many correlation times long leave about 5 % of the variance out.
BATCH = 10.0
# Pairs of neighbours that estimates of their correlation look at.
MOST_VALUES = 10_000
FALSE_ALARM = 1e-3


@dataclass(frozen=True, eq=False)
class Runs:
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
    def n_units(self) -> int:
        """Number of units, an even one."""
        return 2 * (self.rows.n_units // (2 * self.length))

    @property
    def bank(self) -> SteinBank:
        """The kernels."""
        return self.rows.bank

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit."""
        return float(self.length)

    def part(self, units: range) -> Runs:
        """Some of the units, as units of their own."""
        rows = range(units.start * self.length, units.stop * self.length)
        return replace(self, rows=self.rows.part(rows))

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


def chain_units(rows: SteinUnits) -> Runs:
    """Runs of rows, long enough for their values to be as good as independent."""
    return Runs(rows, batch_length(_first_values(rows), rows.n_units // 2))


def default_chain_kernels(bandwidth: float) -> tuple[Kernel, ...]:
    """Three IMQ kernels: every further one needs many more batches."""
    return tuple(IMQ(factor * bandwidth) for factor in (0.5, 1.0, 2.0))


def batch_length(values: Array, n_pairs: int) -> int:
    """Length of batches for a chain: 10 correlation times, and growing with the sample."""
    length = math.ceil(BATCH * correlation_times(values))
    return min(max(length, round(math.cbrt(n_pairs))), n_pairs // 2)


def correlation_times(values: Array) -> float:
    """Longest integrated correlation time of the kernels, as if each were of first order."""
    rho = float(np.clip(lag_one(values).max(), 0.0, 0.999))
    return (1.0 + rho) / (1.0 - rho)


def lag_one(values: Array) -> Array:
    """Correlation of neighbouring values, for every kernel."""
    centred = values - values.mean(axis=1, keepdims=True)
    variance = np.einsum("dm,dm->d", centred, centred)
    product = np.einsum("dm,dm->d", centred[:, 1:], centred[:, :-1])
    return np.asarray(product / np.where(variance > 0, variance, 1.0))


def _first_values(rows: SteinUnits) -> Array:
    """Values of the first of the pairs (i, N/2 + i), in the order of the rows, (d, M)."""
    half = rows.n_units // 2
    m = min(half, MOST_VALUES)
    return rows.values(Aligned(range(m), range(half, half + m)))


def smallest_safe_batches(d: int) -> int:
    """Batches from which Σ̂ is good enough for d kernels (docs/measured/goodness_of_fit.md)."""
    return 32 * d * d


def few_batches(n_batches: int, d: int) -> list[Caveat]:
    """What to say of a chain that is short for its correlation and its kernels."""
    if n_batches >= smallest_safe_batches(d):
        return []
    text = (
        f"The chain is as good as {n_batches} independent pairs, few for {d} kernels (at least "
        f"{smallest_safe_batches(d)} are safe): run it longer, or use fewer kernels."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def looks_like_a_chain(rows: SteinUnits) -> list[Caveat]:
    """What to say of rows whose values, on disjoint pairs and in order, are correlated.

    For independent rows the correlations are normal with variance 1/M; the threshold leaves one
    false alarm in a thousand over all kernels.
    """
    values = _first_values(replace(rows, order=Natural()))
    r, m = float(lag_one(values).max()), values.shape[1]
    if r * math.sqrt(m) < -special.ndtri(FALSE_ALARM / len(values)):
        return []
    thin = math.ceil(math.log(0.05) / math.log(min(r, 0.999)))
    text = (
        f"The rows look like the output of a chain (neighbouring values have a correlation of "
        f"{r:.2f}), and the test takes them to be independent. Use dependent=True, or thin={thin} "
        "and look again. Independent rows that were sorted should be shuffled before the call."
    )
    return [(DependentRowsWarning, text)]
