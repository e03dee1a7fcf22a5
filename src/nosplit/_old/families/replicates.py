"""Samples of a model, of the same size as the data: what simulation compares the data with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._old.families.fitting import (
    SteinKernels,
    are_given,
    fit_stein_bank,
    stein_kernels,
)
from nosplit._old.families.goodness_of_fit import SteinUnits
from nosplit._old.pairs.loop import in_runs
from nosplit._types import Array
from nosplit.core.order import Natural
from nosplit.core.pairings import Complete, Pairing, Sketch
from nosplit.families.paired import MEDIAN_ROWS
from nosplit.kernels import median_bandwidth
from nosplit.kernels.stein import SteinBank

__all__ = ["SteinSamples"]

# Samples whose pairs are looked at in one job.
AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class SteinSamples:
    """Samples of n rows, with their scores, each with kernels of its own.

    Parameters
    ----------
    x, scores : array, shape (R, n, p)
        The rows and their scores.
    kernels : SteinKernels
        As they were asked for.
    """

    x: Array
    scores: Array
    kernels: SteinKernels

    def __len__(self) -> int:
        return len(self.x)

    @property
    def n_units(self) -> int:
        """Units of every sample: its rows."""
        return int(self.x.shape[1])

    def first(self, count: int) -> SteinSamples:
        """So many of the samples, if there are so many."""
        return SteinSamples(self.x[:count], self.scores[:count], self.kernels)

    def units(self, r: int) -> SteinUnits:
        """The units of a sample."""
        x = self.x[r]
        return SteinUnits(
            x, self.scores[r], Natural(), fit_stein_bank(self.kernels, x), range(len(x))
        )

    def all_at_once(self, pairing: Pairing) -> bool:
        """Whether `moments` are those of its pairs: all pairs of few rows, kernels as given."""
        every = isinstance(pairing, Complete) and not isinstance(pairing, Sketch)
        known = self.kernels is None or are_given(self.kernels)
        return every and known and self.n_units <= MEDIAN_ROWS

    def moments(self, workers: int) -> tuple[Array, Array]:
        """Means, (R, d), and scatters, (R, d, d), of the values of all pairs of every sample."""
        from nosplit.backend.numba.stein import sample_moments

        bank = SteinBank(stein_kernels(self.kernels, 1.0))
        own, R, d = self.kernels is None, len(self), len(bank)
        medians, means, scatters = np.ones(R), np.empty((R, d)), np.empty((R, d, d))

        def some(run: slice) -> None:
            found = (self.x[run], self.scores[run], medians[run], means[run], scatters[run])
            sample_moments(bank.program, own, *found)

        in_runs(some, R, AT_ONCE, workers)
        for r in np.flatnonzero(~((medians > 0.0) & np.isfinite(medians))):
            median_bandwidth(self.x[r])  # says what is wrong
        return means, scatters
