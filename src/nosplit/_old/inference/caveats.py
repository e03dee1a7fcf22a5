"""Caveats: what to know before relying on a result."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nosplit._old.inference.outcome import Outcome
from nosplit._types import Array
from nosplit.errors import Caveat, UnsafeAsymptoticsWarning
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.caveats import EXACTLY, kernel_numbers

__all__ = [
    "MORE",
    "SMALLEST_PAIRS",
    "few_effective",
    "few_effective_rows",
    "smallest_effective",
    "stein_caveats",
]

# Pairs a kernel from which the closed form is called safe for Stein values. They are skewed, those
# of two samples are not: more are needed than there (docs/measured/goodness_of_fit.md).
SMALLEST_PAIRS = 500
# What to do where the normal approximation is poor, without the data.
MORE = "more rows"
SIMULATED = "Give a model that can sample, with calibration='simulate'."


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
