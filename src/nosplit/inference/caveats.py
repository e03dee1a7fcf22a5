"""Caveats: what to know before relying on a result."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit._warn import warn
from nosplit.core.pairings import Blocks, Pairing, Window
from nosplit.errors import (
    Caveat,
    DependentRowsWarning,
    DroppedKernelWarning,
    InputError,
    NearCopyWarning,
    UnsafeAsymptoticsWarning,
)
from nosplit.methods.whitening import Whitening

__all__ = [
    "EXACTLY",
    "dropped",
    "few_pairs",
    "fewest_pairs",
    "issued",
    "kernel_numbers",
    "near_copies",
    "safe_window",
    "small_test_part",
    "smallest_safe_pairs",
    "too_alike",
    "unsafe",
    "width",
]

# What to do if the normal approximation is poor.
EXACTLY = "calibration='exact'"


def safe_window(n_units: int) -> int:
    """Widest window for which the normal approximation is trusted: √N / 5.

    Wider ones are skewed: the level drifts to .06-.075 at √N / 2
    (docs/measured/safe_asymptotics.md).
    """
    return max(1, math.isqrt(n_units) // 5)


def width(pairing: Pairing) -> int:
    """Half the pairs that a unit takes part in: R for a window."""
    match pairing:
        case Window(R):
            return R
        case Blocks(size):
            return size // 2
    return 1


def smallest_safe_pairs(d: int) -> int:
    """Fewest pairs for which the normal approximation of d kernels is trusted: 50 d.

    With fewer, the error of Σ̂ shows: .06 at 36 d, .12 at 7 d (docs/measured/safe_asymptotics.md).
    """
    return 50 * d


def fewest_pairs(d: int) -> int:
    """Fewest pairs for which d kernels are tested by the normal approximation at all: 2 d.

    At 1.5 d, half of all tests of samples of one distribution reject, with p down to 1e-60: the
    smallest variances of Σ̂ are far too small.
    """
    return 2 * d


def issued(caveats: Iterable[Caveat]) -> tuple[str, ...]:
    """Issue caveats as warnings, and return their texts for a result.

    Those on dependent rows are only returned: nobody's test suite should fail by a check.
    """
    caveats = tuple(caveats)
    for category, text in caveats:
        if category is not DependentRowsWarning:
            warn(text, category)
    return tuple(f"{category.__name__}: {text}" for category, text in caveats)


def dropped(cov: Array) -> list[Caveat]:
    """Warn of kernels without variance."""
    dead = np.diagonal(cov) == 0
    if not dead.any():
        return []
    text = f"Kernels without variance were dropped: number {kernel_numbers(dead)}."
    return [(DroppedKernelWarning, text)]


def near_copies(cov: Array) -> list[Caveat]:
    """Warn of kernels whose values are nearly the same."""
    sd = np.sqrt(np.diagonal(cov))
    safe = np.where(sd > 0, sd, 1.0)
    distance = 1.0 - cov / safe[:, None] / safe
    close = np.argwhere(np.triu((distance < 1e-3) & (distance > Whitening().rcond), 1))
    if not len(close):
        return []
    names = ", ".join(f"{i} and {j}" for i, j in close)
    text = (
        f"Kernels are nearly copies of one another (numbers {names}): the p-value reacts to "
        "rounding. Drop one of each pair."
    )
    return [(NearCopyWarning, text)]


def few_pairs(n_pairs: int, d: int, remedy: str = EXACTLY) -> list[Caveat]:
    """Warn of too few pairs for the normal approximation; refuse far too few."""
    if n_pairs < fewest_pairs(d):
        raise InputError(
            f"{n_pairs} pairs are too few for asymptotic calibration with {d} kernels, which needs "
            f"at least {fewest_pairs(d)}. Use {remedy}, more pairs or fewer kernels."
        )
    if n_pairs >= smallest_safe_pairs(d):
        return []
    text = (
        f"{n_pairs} pairs are few for the normal approximation with {d} kernels (at least "
        f"{smallest_safe_pairs(d)} are safe): use {remedy} or fewer kernels."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def unsafe(
    pairing: Pairing, n_units: int, n_pairs: int, d: int, remedy: str = EXACTLY
) -> list[Caveat]:
    """Warn of too few pairs, or too many for each unit, for the normal approximation."""
    caveats = few_pairs(n_pairs, d, remedy)
    safe = safe_window(n_units)
    if width(pairing) > safe:
        text = (
            f"{n_units} units are few for the normal approximation with so many pairs each: a "
            f"window of {safe} is the widest that is safe. Use {remedy} or fewer pairs."
        )
        caveats.append((UnsafeAsymptoticsWarning, text))
    return caveats


def small_test_part(pairing: Pairing, n_units: int) -> list[Caveat]:
    """Warn of a split whose test part is small for the normal approximation."""
    n_pairs, safe = pairing.n_pairs(n_units), safe_window(n_units)
    if n_pairs >= smallest_safe_pairs(1) and width(pairing) <= safe:
        return []
    text = (
        f"The part that the split tests with is small for the normal approximation ({n_units} "
        f"units, {n_pairs} pairs; {smallest_safe_pairs(1)} pairs in a window of {safe} are safe): "
        'use method="ost", which tests on all of the data, or learn on less.'
    )
    return [(UnsafeAsymptoticsWarning, text)]


def too_alike(tau: Array, log_pvalue: float) -> list[Caveat]:
    """Warn of a small p-value if all statistics are below zero: samples more alike than chance."""
    if np.any(tau > 0) or log_pvalue > math.log(0.05):
        return []
    text = (
        "Every kernel's statistic is below zero: the small p-value is no evidence of a difference "
        "or a dependence. Rows that are not independent do this, such as samples that share rows."
    )
    return [(DependentRowsWarning, text)]


def kernel_numbers(which: NDArray[np.bool_]) -> str:
    """List the numbers of some kernels."""
    return ", ".join(str(i) for i in np.flatnonzero(which))
