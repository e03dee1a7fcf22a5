"""The plan of a test, with its cost."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from nosplit._old.inference.planning.costs import Sizes
from nosplit.core.pairings import Complete, Pairing, Sketch, pairing_name
from nosplit.inference.calibrations import ASYMPTOTIC, Exact

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """The plan of a test.

    Attributes
    ----------
    pairing : Pairing
        Which pairs of units are looked at.
    calibration : Exact or "asymptotic"
        How the p-value is found.
    n_units, n_pairs : int
        Number of units and of pairs.
    nominal_seconds : float
        Cost by the fixed model, on one core; what `budget` is compared with.
    reason : str
        Why, in one sentence.
    sizes : Sizes
        What the cost depends on.
    """

    pairing: Pairing
    calibration: Exact | str
    n_units: int
    n_pairs: int
    nominal_seconds: float
    reason: str
    sizes: Sizes

    @property
    def pairs(self) -> str:
        """Short name of the pairing."""
        return pairing_name(self.pairing)

    @property
    def n_resamples(self) -> int:
        """Number of permutations, or of other resamples; 0 for asymptotic calibration."""
        return self.calibration.n_resamples if isinstance(self.calibration, Exact) else 0

    @property
    def sketch(self) -> Sketch:
        """The pairs of a plan that is known to be a sketch."""
        if not isinstance(self.pairing, Sketch):
            raise TypeError(f"{self.pairing!r} is no sketch.")
        return self.pairing

    def estimated_seconds(self) -> float:
        """Seconds this would take here on one core, from a short measurement of this machine."""
        return self.sizes.whole * self.nominal_seconds * _machine_factor()

    def __str__(self) -> str:
        how = (
            f"{self.sizes.draws_are} ({self.n_resamples:,} draws)"
            if self.n_resamples
            else ASYMPTOTIC
        )
        if isinstance(self.pairing, Sketch):
            return (
                f"sketch of all pairs, {how} calibration: {self.n_pairs:,} pairs of "
                f"{self.sizes.pairs_of} in about {self.sizes.cells(self.pairing):,} cells, "
                f"{self.pairing.frequencies} frequencies a kernel, "
                f"nominally {self.nominal_seconds:.2g} s of one core.\n{self.reason}"
            )
        return (
            f"{self.pairs} pairs, {how} calibration: {self.n_pairs:,} pairs of "
            f"{self.n_units:,} units, nominally {self.nominal_seconds:.2g} s of one core.\n"
            f"{self.reason}"
        )


def _machine_factor() -> float:
    """Measured over nominal time of a small test: how much slower than nominal this machine is."""
    from nosplit._old.pairs.draws import SwappedPairs
    from nosplit._old.pairs.loop import accumulate_draws
    from nosplit.core.order import Natural
    from nosplit.kernels import default_kernels
    from nosplit.kernels.bank import Bank

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 400, 4))
    kernels = default_kernels(2.0, 4.0)
    units = SwappedPairs(x, y, Natural(), Natural(), Bank(kernels), range(400))
    nominal = Sizes(400, 400, 4, len(kernels), 2).seconds(Complete(), 199)
    best = math.inf
    for _ in range(3):
        draws = units.draws(199, np.random.default_rng(0))
        start = time.process_time()
        accumulate_draws(units, Complete(), draws, workers=1)
        best = min(best, time.process_time() - start)
    return best / nominal
