"""Distances of rows from the middle: one number of all columns of numbers together.

Squared normal scores of the ranks of all columns, added up. Columns that widen together move it,
where each of them shows little; and where they only go together in how far they are from their
middles, which none of them shows, it varies more, or less.
"""

from __future__ import annotations

import numpy as np

from nosplit._lazy import special
from nosplit._types import Array, Index
from nosplit.kernels.orders import sorted_columns

__all__ = ["COLUMNS", "FEWEST", "STEPS", "distance_axes", "distances_of", "normal_axes", "squares"]

# Steps of one in which distances are counted: their sums are exact, in any order of the columns.
STEPS = 1 << 20
# Values that a column has at least, of which the middle can be told from the ends.
FEWEST = 3
# Columns that are looked at together.
COLUMNS = 64


def normal_axes(share: Array) -> tuple[Array, Array]:
    """Normal scores of values that have these shares of the rows, and their squares.

    Both have mean 0 and variance 1 over the rows, or are 0 (van der Waerden).
    """
    middle = np.cumsum(share) - share / 2.0
    score = special.ndtri(np.clip(middle, 1e-9, 1.0 - 1e-9))
    return _about_mean(score, share), _about_mean(score * score, share)


def _about_mean(values: Array, share: Array) -> Array:
    """Values of mean 0 and variance 1, or 0."""
    values = values - share @ values
    size = np.sqrt(share @ (values * values))
    return np.asarray(values / size if size > 0 else values)


def squares(n: int) -> Array:
    """Squared normal scores of n rows, by twice their rank: the same from either end."""
    twice = np.arange(2 * n + 1)
    share = np.clip(np.minimum(twice, 2 * n - twice) / (2.0 * n), 1e-9, None)
    return np.asarray(special.ndtri(share) ** 2)


def distances_of(rows: Array) -> Array | None:
    """Distances of rows from the middle, in whole steps; None if not even two columns tell.

    They are the same, to the last bit, for rows and columns in any order.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.arange(5.0)
    >>> distances_of(np.stack([ranks, -(ranks**3)], axis=1)).argsort().tolist()[0]
    2
    >>> distances_of(np.stack([ranks, ranks > 2], axis=1)) is None
    True
    """
    known, total, telling = squares(len(rows)), np.zeros(len(rows)), 0
    for start in range(0, rows.shape[1], COLUMNS):
        part = rows[:, start : start + COLUMNS]
        columns = sorted_columns(part)
        values = known[columns.twice]
        values -= values.mean(axis=0)
        size = np.sqrt(np.mean(values * values, axis=0))
        own = (columns.different >= FEWEST) & (size > 0.0)
        steps = np.rint(values * np.divide(STEPS, size, out=np.zeros_like(size), where=own))
        total += columns.back(steps).sum(axis=1)
        telling += int(np.count_nonzero(own))
    return total if telling > 1 else None


def distance_axes(repeats: Index) -> Array:
    """Normal scores of different distances in ascending order, and their squares, (k, 2).

    `repeats` says how many rows have each of them.
    """
    return np.stack(normal_axes(repeats / repeats.sum()), axis=1)
