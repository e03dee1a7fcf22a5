"""Weights and witness functions, learned on all cells and on either half of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._old.describe.effect import (
    Estimate,
    KernelEffect,
    crossed,
    kernel_effects,
    learn,
    learner,
    ratio,
    scaled_weights,
)
from nosplit._old.describe.large.cells import CellWitness, UnitCells
from nosplit._old.describe.pair_means import Means
from nosplit._types import Array
from nosplit.inference.result import TestResult, kernel_label
from nosplit.kernels import Combination

__all__ = ["Learned"]


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights and witness functions of cells of two samples.

    Attributes
    ----------
    units : UnitCells
        The cells.
    whole : Means
        Means of the values of pairs.
    weights : array
        Those of the kernels, learned on all cells.
    function : CellWitness
        The witness function of these.
    crossed : pair of float
        The signal with weights of one half on the other, and its error.
    functions : pair of CellWitness
        Witness functions of either half.
    means : pair of pairs of float
        Means of each of these over the rows of x and of y in the other half.
    """

    units: UnitCells
    whole: Means
    weights: Array
    function: CellWitness
    crossed: Estimate
    functions: tuple[CellWitness, CellWitness]
    means: tuple[tuple[float, float], tuple[float, float]]

    @classmethod
    def of(cls, res: TestResult, units: UnitCells, noise: Array) -> Learned:
        """Learn again: features may be others than those of the test.

        `noise` is the covariance of the values of a pair of rows.
        """
        whole = units.means(noise)
        weights = _learned_weights(res, whole)
        halves = units.half(0), units.half(1)
        each = [half.means(noise) for half in halves]
        beta = [_learned_weights(res, means) for means in each]
        first, second = (half.witness(w) for half, w in zip(halves, beta, strict=True))
        return cls(
            units,
            whole,
            weights,
            units.witness(weights),
            crossed(each, beta),
            (first, second),
            (halves[1].mean_witness(first), halves[0].mean_witness(second)),
        )

    @property
    def level(self) -> float:
        """The witness function midway between its means over the samples."""
        return sum(self.units.mean_witness(self.function)) / 2.0

    @property
    def total(self) -> float:
        """The learned statistic, from means over rows that were not learned from."""
        return float(np.mean([x - y for x, y in self.means]))

    @property
    def learned(self) -> Estimate:
        """The signal as learned, and its error."""
        return ratio(self.whole, self.weights)

    @property
    def kernel(self) -> Combination:
        """The learned kernel."""
        return Combination(self.units.map.kernels, tuple(map(float, self.weights)))

    @property
    def kernels(self) -> tuple[KernelEffect, ...]:
        """MMD² of each of its parts."""
        return kernel_effects(self.whole, [kernel_label(k) for k in self.units.map.kernels])


def _learned_weights(res: TestResult, means: Means) -> Array:
    """Weights for a noise of 1."""
    found = learn(means, learner(res.how.method), scaled_weights(res, means.noise))
    return np.asarray(found / means.noise(found))
