"""Exact p-values of many columns, with many draws only where they are needed.

Holm's correction of k p-values at level α needs some that are much smaller than α / k, and so many
draws. A column that draws have matched often enough needs no more of them, and its p-value is
exact all the same (Besag and Clifford): p = (g + 1) / (M + 1) after the first stage of M draws of
which g ≥ `ENOUGH` are at least as extreme as the data, or after the last. For t between the
smallest p-values of two stages, {p ≤ t} lies in {(g + 1) / (M + 1) ≤ t} for the M of one of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nosplit._support.types import Array, Index
from nosplit.methods.normal.laws import counted_from

__all__ = ["enough_draws", "sequential_pvalues"]

# Draws at least as extreme as the data, after which a column gets no more.
ENOUGH = 50
# How many times as many draws the next stage has, all before it included.
FACTOR = 8
# Draws for a level, in units of columns over the level.
DRAWS = 20

# From columns and the numbers of the first draw and of that after the last: how many of these
# draws are at least as extreme as the data, for each of the columns.
Extreme = Callable[[Index, int, int], Index]


def enough_draws(columns: int, alpha: float) -> int:
    """Draws that Holm's correction of so many columns needs."""
    return int(np.ceil(DRAWS * columns / alpha))


def sequential_pvalues(scores: Array, extreme: Extreme, most: int) -> tuple[Array, Index]:
    """P-values of all columns, and the draws that each is made of.

    Parameters
    ----------
    scores : array, shape (F, k)
        Scores of all columns under the first draws, the observed one first.
    extreme : callable
        Counts draws beyond these.
    most : int
        Draws at the most; at least those in `scores` are used.
    """
    done = len(scores) - 1
    counts = np.count_nonzero(scores[1:] >= counted_from(scores[0]), axis=0)
    draws = np.full(len(counts), done)
    while done < most and len(few := np.flatnonzero(counts < ENOUGH)):
        stop = min(FACTOR * (done + 1) - 1, most)
        counts[few] += extreme(few, done + 1, stop + 1)
        draws[few] = done = stop
    return (counts + 1) / (draws + 1), draws
