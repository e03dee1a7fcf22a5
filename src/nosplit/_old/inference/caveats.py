"""Caveats: what to know before relying on a result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.errors import Caveat, UnsafeAsymptoticsWarning
from nosplit.inference.caveats import EXACTLY, kernel_numbers

__all__ = [
    "MORE",
    "few_effective",
    "smallest_effective",
]

# What to do where the normal approximation is poor, without the data.
MORE = "more rows"


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
