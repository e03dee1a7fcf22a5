"""Hedging between OST and simpler evidence, by randomisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nosplit._types import Array
from nosplit.methods._base import Selection, above_chance, in_deviations
from nosplit.methods.ost import OST

__all__ = ["Adaptive"]


@dataclass(frozen=True)
class Adaptive:
    """Several kinds of evidence on the same random draws; exact over them as a whole (`Exact`).

    OST finds combinations of many kernels, but pays for the search where one kernel, or all of
    them together, say it all. Each draw counts by the harmonic mean of its ranks under OST, under
    the largest and under the mean of the standardised statistics, which keeps most of the power of
    whichever is best, and adds up what they agree on (`benchmarks/choices/hedges.py` compares
    choices).

    Without draws (asymptotic calibration) it is `OST()`.

    Parameters
    ----------
    ost : OST
        The one-sided test.
    """

    ost: OST = OST()

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "adaptive"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply OST to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        return self.ost(tau, cov)

    def evidence(self, tau: Array, cov: Array) -> Array:
        """The kinds of evidence for each draw, (K, F): larger is stronger.

        `tau` is (F, d), and `cov` is (d, d), or (F, d, d) where every draw has its own.
        """
        live, t = np.diagonal(cov, axis1=-2, axis2=-1) > 0, in_deviations(tau, cov)
        largest = np.max(t, axis=-1, where=np.broadcast_to(live, t.shape), initial=-np.inf)
        mean = t.sum(axis=-1) / np.maximum(np.count_nonzero(live, axis=-1), 1)
        learned = np.where(above_chance(t), -self.ost(tau, cov).log_pvalue, 0.0)
        return np.stack([learned, largest, mean])
