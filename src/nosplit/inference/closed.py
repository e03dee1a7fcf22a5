"""Closed forms: moments of pairs → the selection of a method, with its caveats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.core.statistics import NOT_FINITE
from nosplit.errors import (
    Caveat,
    DroppedKernelWarning,
    InputError,
    NonFiniteError,
    NotATestWarning,
)
from nosplit.inference.caveats import dropped, kernel_numbers, near_copies
from nosplit.methods import Method, Naive, Selection

__all__ = [
    "NO_EVIDENCE",
    "ClosedForm",
    "check_values",
    "closed_form",
    "nothing_selected",
]

# All values are 0.
NO_EVIDENCE = (
    "The values of all pairs are 0, so p is 1: the data is constant or nearly so, there are "
    "too few pairs, or no kernel's bandwidth fits the data's scale."
)


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The selection of a method, from the moments of all pairs."""

    selection: Selection
    total: Moments
    caveats: tuple[Caveat, ...]


@np.errstate(over="ignore", invalid="ignore")  # found in the total
def closed_form(method: Method, parts: Sequence[Moments]) -> ClosedForm:
    """Apply the closed form of a method.

    Parameters
    ----------
    method : Method
        The method.
    parts : sequence of Moments
        Of all pairs, or of the two parts of a split.
    """
    total = reduce(add, parts)
    if not np.any(total.cov) and not np.any(total.mean):
        nothing = nothing_selected(len(total.mean))
        return ClosedForm(nothing, total, ((DroppedKernelWarning, NO_EVIDENCE),))
    check_values(total, total.cov)
    tau = parts[0].tau if len(parts) == 1 else np.stack([part.tau for part in parts])
    caveats = dropped(total.cov) + near_copies(total.cov)
    if isinstance(method, Naive):
        text = "`naive` does not control the level: its p-values are too small."
        caveats.append((NotATestWarning, text))
    return ClosedForm(method(tau, total.cov), total, tuple(caveats))


def nothing_selected(d: int) -> Selection:
    """Return the selection if no kernel shows anything: p = 1."""
    zero, none = np.zeros(()), np.zeros(d)
    return Selection(zero, zero, none, none > 0, np.zeros((), dtype=int), zero)


def check_values(total: Moments, cov: Array) -> None:
    """Check that the pairs' values have a covariance matrix that a test can use."""
    if not (np.isfinite(total.mean).all() and np.isfinite(cov).all()):
        raise NonFiniteError(NOT_FINITE)
    dead = np.diagonal(cov) == 0
    if dead.all():
        raise InputError(
            "The values of all pairs are the same: the data is constant, there are too few pairs, "
            "or no kernel's bandwidth fits the data's scale."
        )
    if np.any(dead & (total.mean != 0)) or np.any(cov[dead]):
        raise InputError(
            f"The values of kernel number {kernel_numbers(dead)} are the same for all pairs, or "
            "too small to be squared. Rescale the data, drop the kernel, or use "
            "calibration='exact'."
        )
