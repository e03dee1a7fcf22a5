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
    "few_effective",
    "few_effective_rows",
    "few_pairs",
    "few_signs",
    "few_stein_pairs",
    "fewest_pairs",
    "issued",
    "kernel_numbers",
    "near_copies",
    "safe_signs",
    "safe_window",
    "small_test_part",
    "smallest_safe_pairs",
    "too_alike",
    "unsafe",
    "width",
]

# What to do if the normal approximation is poor.
EXACTLY = "calibration='exact'"
# Pairs a kernel from which the closed form is called safe for Stein values. They are skewed, those
# of two samples are not: more are needed than there (docs/measured/goodness_of_fit.md).
SMALLEST_STEIN_PAIRS = 500
SIMULATED = "A model that can be sampled gives an exact test."
# Units from which the level of the wild bootstrap is called safe: for one kernel or two; for more
# of them, with so many columns, one more for each further column, and at the most
# (docs/measured/goodness_of_fit.md).
FEW_KERNELS, SMALLEST_WILD, FEW_COLUMNS, SEVERAL_KERNELS, MOST_WILD = 2, 20, 10, 50, 100


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


def smallest_effective(d: int) -> int:
    """Effective pairs of every kernel from which closed forms are trusted where values are skewed.

    Below, values that were not seen yet decide the level: .12 at 35 with one kernel, .13 at 50
    with seven (docs/measured/safe_asymptotics.md).
    """
    return 50 + 10 * d


def few_effective(effective: Array, live: NDArray[np.bool_], remedy: str = EXACTLY) -> list[Caveat]:
    """Kernels, of those that have a variance, that only few pairs carry."""
    needed = smallest_effective(len(effective))
    few = live & (effective < needed)
    if not few.any():
        return []
    text = (
        f"As few as {effective[few].min():.0f} pairs carry a kernel's value, as far as the normal "
        f"approximation goes (numbers {kernel_numbers(few)}; at least {needed} are safe): values "
        f"are rare, or tails are heavy. Use {remedy}."
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


# -- goodness of fit -------------------------------------------------------------------------------


def _smallest_effective_rows(n: int) -> float:
    """Effective rows from which n rows are trusted with random signs, or the closed form.

    Normal rows are as good as n / 2; the level is .09 at n / 18 (docs/measured/goodness_of_fit.md).
    """
    return min(max(n / 5.0, 15.0), 100.0)


def few_effective_rows(effective: float, n: int, *, sampled: bool = True) -> list[Caveat]:
    """Warn of few rows that carry the statistic: neither signs nor closed forms show its law.

    `sampled` says whether samples of a model would be an exact test.
    """
    if effective >= _smallest_effective_rows(n):
        return []
    advice = SIMULATED if sampled else "Transform the data and the model."
    text = f"{effective:.0f} of {n:,} rows carry the statistic, so p is uncertain. {advice}"
    return [(UnsafeAsymptoticsWarning, text)]


def safe_signs(d: int, p: int) -> int:
    """Return the units from which random signs keep the level, for d kernels and p columns."""
    if d <= FEW_KERNELS:
        return SMALLEST_WILD
    more = min(p, FEW_COLUMNS) * (SEVERAL_KERNELS - SMALLEST_WILD) // FEW_COLUMNS
    return min(SMALLEST_WILD + more + max(0, p - FEW_COLUMNS), MOST_WILD)


def few_signs(n: int, d: int, p: int, what: str) -> list[Caveat]:
    """Warn of few rows, groups or blocks for random signs; one alone is too little data anyway."""
    safe = safe_signs(d, p)
    if n >= safe or n == 1:
        return []
    advice = SIMULATED if what == "rows" else "Use a longer sample."
    text = f"{n} {what} are few for random signs (at least {safe} are safe), so p may be too small."
    return [(UnsafeAsymptoticsWarning, f"{text} {advice}")]


def few_stein_pairs(n_pairs: int, d: int, p: int) -> list[Caveat]:
    """Warn of too few pairs for the closed form of d Stein statistics of p columns.

    Values of several kernels are nearly copies if there are many columns, and what separates them
    is skewed. 500 (1 + √p) pairs for each kernel, measured at p = 5, 10 and 50.
    """
    needed = round(SMALLEST_STEIN_PAIRS * (1.0 + math.sqrt(p)) * d)
    if n_pairs >= needed:
        return []
    text = (
        f"{n_pairs} pairs are few for the normal approximation of {d} Stein statistics (at least "
        f"{needed} are safe): use calibration='wild' or 'simulate', or more pairs."
    )
    return [(UnsafeAsymptoticsWarning, text)]
