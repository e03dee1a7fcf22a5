"""Caveats: what to know before relying on a result."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array
from nosplit.errors import (
    Caveat,
    DependentRowsWarning,
    DroppedKernelWarning,
    InputError,
    NearCopyWarning,
    UnsafeAsymptoticsWarning,
)
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.outcome import Outcome
from nosplit.methods.normal.whitening import Whitening
from nosplit.pairs.pairing import Blocks, Pairing, Window

__all__ = [
    "EXACTLY",
    "SMALLEST_PAIRS",
    "dropped",
    "few_effective",
    "few_effective_rows",
    "few_pairs",
    "few_rows",
    "fewest_pairs",
    "kernel_numbers",
    "near_copies",
    "safe_when_unequal",
    "safe_window",
    "small_test_part",
    "smallest_effective",
    "smallest_safe_pairs",
    "smallest_safe_rows",
    "stein_caveats",
    "too_alike",
    "trusted",
    "unequal_caveats",
    "unsafe",
    "width",
]

# Pairs a kernel from which the closed form is called safe for Stein values. They are skewed, those
# of two samples are not: more are needed than there (docs/measured/goodness_of_fit.md).
SMALLEST_PAIRS = 500
# What to do where the normal approximation is poor: with the data, and without it.
EXACTLY, MORE = "calibration='exact'", "more rows"
SIMULATED = "Give a model that can sample, with calibration='simulate'."


def safe_window(n_units: int) -> int:
    """The widest window for which the normal approximation is trusted: √N / 5.

    Wider ones are skewed: the level drifts to .06-.075 at √N / 2
    (docs/measured/safe_asymptotics.md).
    """
    return max(1, math.isqrt(n_units) // 5)


def width(pairing: Pairing) -> int:
    """Pairs that a unit takes part in, halved: R for a window."""
    match pairing:
        case Window(R):
            return R
        case Blocks(size):
            return size // 2
    return 1


def smallest_safe_pairs(d: int) -> int:
    """The fewest pairs for which d kernels are trusted with the normal approximation: 50 d.

    With fewer the error of Σ̂ shows: .06 at 36 d, .12 at 7 d (docs/measured/safe_asymptotics.md).
    """
    return 50 * d


def fewest_pairs(d: int) -> int:
    """The fewest pairs with which d kernels are tested by the normal approximation at all: 2 d.

    With fewer Σ̂ says next to nothing of its smallest variances: at 1.5 d half of samples of one law
    and more are rejected, with p down to 1e-60.
    """
    return 2 * d


def smallest_safe_rows(d: int) -> int:
    """The fewest rows of d values of any law for which the mean's error is trusted: 150 + 50 d.

    With fewer a long tail may have been missed, and no statistic of the rows would show it.
    """
    return 150 + 50 * d


def few_rows(n: int, d: int, *, allowed_for: bool = False) -> list[Caveat]:
    """Too few rows of values of any law; far too few are an error."""
    if n <= d:
        raise InputError(
            f"{n} rows are too few for a test of {d} means, which needs more than {d}. Use more "
            "rows or fewer columns, or symmetric=True if rows have the law of their negatives "
            "under the null."
        )
    if n >= smallest_safe_rows(d):
        return []
    then = "p allows for some of that" if allowed_for else "p may be far too small then"
    text = (
        f"{n} rows are few for a test of {d} means (at least {smallest_safe_rows(d)} are safe): a "
        f"long tail may not have been seen yet, and {then}. Use more rows, or symmetric=True if "
        "rows have the law of their negatives under the null."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def safe_when_unequal(n_units: int, n_pairs: int, d: int) -> bool:
    """Whether samples of different sizes are trusted with the normal approximation.

    Pair values are then skewed for skewed data: .06-.09 below 500 units with 16 rows of one
    sample for one of the other (docs/measured/safe_asymptotics.md).
    """
    return n_units >= 500 and n_pairs >= 2 * smallest_safe_pairs(d)


def smallest_effective(d: int) -> int:
    """Effective pairs of every kernel from which closed forms are trusted where values are skewed.

    Below, values that were not seen yet decide the level: .12 at 35 with one kernel, .13 at 50
    with seven (docs/measured/safe_asymptotics.md).
    """
    return 50 + 10 * d


def trusted(effective: Array) -> bool:
    """Whether enough pairs carry every kernel."""
    return bool(np.all(effective >= smallest_effective(len(effective))))


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


def dropped(cov: Array) -> list[Caveat]:
    """Kernels that have no variance."""
    dead = np.diagonal(cov) == 0
    if not dead.any():
        return []
    text = f"Kernels without variance were dropped: number {kernel_numbers(dead)}."
    return [(DroppedKernelWarning, text)]


def too_alike(outcome: Outcome) -> list[Caveat]:
    """Statistics that are all below zero, and yet small p-values: samples that are too alike."""
    drawn = outcome.flips
    found = outcome.selection.log_pvalue if drawn is None else drawn.log_sf(drawn.values[0])
    if np.any(outcome.tau > 0) or float(found) > math.log(0.05):
        return []
    text = (
        "Every kernel's statistic is below zero: the small p-value is no evidence of what is "
        "looked for. Rows that are not independent do this, such as samples that share rows."
    )
    return [(DependentRowsWarning, text)]


def near_copies(cov: Array) -> list[Caveat]:
    """Kernels whose values are nearly the same."""
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
    """Too few pairs for the normal approximation; far too few are an error."""
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
    """Too few pairs, or too many for each unit, for the normal approximation."""
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
    """A split whose test part is small for the normal approximation of its one statistic."""
    n_pairs, safe = pairing.n_pairs(n_units), safe_window(n_units)
    if n_pairs >= smallest_safe_pairs(1) and width(pairing) <= safe:
        return []
    text = (
        f"The part that the split tests with is small for the normal approximation ({n_units} "
        f"units, {n_pairs} pairs; {smallest_safe_pairs(1)} pairs in a window of {safe} are safe): "
        f"use {EXACTLY}, or learn on less."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def unequal_caveats(outcome: Outcome, n_units: int, remedy: str = EXACTLY) -> list[Caveat]:
    """Warn of closed forms that are not safe for samples of different sizes."""
    n_pairs, d = outcome.n_pairs, len(outcome.tau)
    if outcome.calibration != ASYMPTOTIC or safe_when_unequal(n_units, n_pairs, d):
        return []
    text = (
        f"{n_units} units and {n_pairs} pairs are few for the normal approximation with samples "
        f"of different sizes, if the data is skewed: use {remedy}."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def smallest_effective_rows(n: int) -> float:
    """Effective rows from which n rows are trusted with random signs, or the closed form.

    Normal rows are as good as n / 2; the level is .09 at n / 18 (docs/measured/goodness_of_fit.md).
    """
    return min(max(n / 5.0, 15.0), 100.0)


def few_effective_rows(effective: float, n: int, remedy: str = SIMULATED) -> list[Caveat]:
    """Rows of which few carry the statistic, so that random signs do not show its law."""
    if effective >= smallest_effective_rows(n):
        return []
    text = (
        f"As few as {effective:.3g} of {n} rows carry the statistic: the score has heavy tails at "
        f"these rows, and neither random signs nor the closed form are to be trusted. {remedy}"
    )
    return [(UnsafeAsymptoticsWarning, text)]


def stein_caveats(outcome: Outcome, p: int = 0) -> list[Caveat]:
    """Warn of too few pairs for the closed form, unless a warning says so already.

    The more columns, the more pairs: values of several kernels are then nearly copies, and what
    tells them apart is skewed. 500 (1 + √p) for each kernel, measured at p = 5, 10 and 50.
    """
    needed = round(SMALLEST_PAIRS * (1.0 + math.sqrt(p)) * len(outcome.tau))
    said = any(category is UnsafeAsymptoticsWarning for category, _ in outcome.caveats)
    if said or outcome.calibration != ASYMPTOTIC or outcome.n_pairs >= needed:
        return []
    text = (
        f"{outcome.n_pairs} pairs are few for the normal approximation of {len(outcome.tau)} Stein "
        f"statistics (at least {needed} are safe): use calibration='wild' or 'simulate', or more "
        "pairs."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def kernel_numbers(which: NDArray[np.bool_]) -> str:
    """List the numbers of some kernels."""
    return ", ".join(str(i) for i in np.flatnonzero(which))
