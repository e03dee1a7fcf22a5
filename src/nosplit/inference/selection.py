"""The finding of a test by permutations or samples, and the kernels that it selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from nosplit._types import Array
from nosplit.core.exchange import Exchange
from nosplit.errors import Caveat, DroppedKernelWarning
from nosplit.inference.calibrations import EXACT
from nosplit.inference.caveats import dropped, too_alike
from nosplit.inference.evidence import Finding
from nosplit.inference.result import KernelSelection
from nosplit.methods import Method, Selection, Wald

__all__ = ["Found", "found_by", "selected", "selection_of"]

NOTHING_VARIES = (
    "No permutation changes any statistic, so p is 1: the data is constant or nearly so, or no "
    "kernel's bandwidth fits the data's scale."
)


@dataclass(frozen=True, eq=False)
class Found:
    """The finding of a test, and what a result says of its units.

    Attributes
    ----------
    finding : Finding
        The evidence, combined and by kind.
    kernels : tuple
        The kernels; empty if only columns were tested.
    n_units : int
        Units, all pairs of which were compared.
    scale : float
        Factor of the statistics: with it they are τ, √m times the mean over m pairs.
    n_permutations : float
        Permutations that may differ in their statistics; infinite if p-values come from elsewhere.
    calibration : str
        How the p-value was computed.
    pairs : sequence of pair of int
        Pairs of columns that were compared.
    caveats : sequence of Caveat
        What to know before relying on it.
    """

    finding: Finding
    kernels: tuple[Any, ...]
    n_units: int
    scale: float = 1.0
    n_permutations: float = inf
    calibration: str = EXACT
    pairs: Sequence[tuple[int, int]] = ()
    caveats: Sequence[Caveat] = ()


def found_by(
    exchange: Exchange,
    finding: Finding,
    kernels: tuple[Any, ...] = (),
    pairs: Sequence[tuple[int, int]] = (),
) -> Found:
    """Make the finding of a test that permuted labels or drew signs.

    τ of several samples is √2 Σ n ‖mean - mean of all‖² over the samples, less its mean over all
    permutations: for two samples, √m times the mean over m pairs of units is the same number.
    """
    units = float(exchange.n_atoms)  # of one row of each sample, or as many as say as much
    if exchange.label is not None:
        units = 2.0 * float(np.sum(exchange.share[0] * (1.0 - exchange.share[0])))
    scale = float(4.0 / np.sqrt(max(units * (units - 1.0) / 2.0, 1.0)))
    if len(exchange.share) > 1:
        scale = float(np.sqrt(8.0))
    n_permutations = exchange.n_permutations
    return Found(finding, kernels, exchange.n_atoms, scale, n_permutations, pairs=pairs)


def selection_of(found: Found, method: Method, named: bool) -> tuple[KernelSelection, list[Caveat]]:
    """Select a combination of the kernels on the data, and list what to know of it.

    Kernels that were `named` and do not vary are listed.
    """
    kernels = found.finding.kernels
    assert kernels is not None
    tau, cov = found.scale * kernels.tau[0], found.scale**2 * kernels.cov
    if not kernels.tau.any():
        constant = found.n_permutations > 1 and not found.finding.evidence.any()
        none = np.zeros_like(tau)
        said: list[Caveat] = [(DroppedKernelWarning, NOTHING_VARIES)] if constant else []
        return KernelSelection(found.kernels, none, cov, none, (), 0, None), said
    picked = method(tau, cov)
    caveats = dropped(cov) if named else []
    if isinstance(method, Wald):
        caveats += too_alike(tau, float(np.log(found.finding.pvalue)))
    return selected(found.kernels, tau, cov, picked), caveats


def selected(
    kernels: tuple[Any, ...], tau: Array, cov: Array, picked: Selection
) -> KernelSelection:
    """Describe what a method selected."""
    return KernelSelection(
        kernels, tau, cov, picked.weights, picked.kept, int(picked.dof), picked.lower_end
    )
