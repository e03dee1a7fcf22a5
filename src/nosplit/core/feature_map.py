"""Explicit numbers of rows: ranks, bins, pairs of columns, distances from the middle, waves.

They are fitted on pooled rows and see no labels, so that no permutation changes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from nosplit._types import Array
from nosplit.core.bins import RankedColumns, normal_scores
from nosplit.errors import InputError
from nosplit.kernels.frequencies import Frequencies
from nosplit.kernels.orders import sorted_columns

__all__ = [
    "STEP",
    "ColumnPairs",
    "pairs_of_columns",
    "radii",
    "shuffled",
    "spread_of",
    "wave_values",
]

# Frequencies of either column of a pair: squares of products up to each of them are statistics.
SCALES = (1, 2, 4, 8, 16)
# Products of all pairs of columns, and columns whose pairs are compared: their cost is about that
# of the kernels.
MAX_PRODUCTS, MAX_PAIR_COLUMNS = 1024, 20
# Columns of the reference for signed scores.
N_REFERENCE = 32
# Steps of one in which distances are counted: exact sums, in any order of the columns.
STEPS = float(1 << 20)
# Integer steps of a unit: of a wave's amplitude, of a column's spread, of a landmark's scale.
STEP = 1 << 20
# A spread below which there is no number of spreads to a unit.
SMALLEST = 1e-300


def shuffled(scores: Array, key: int) -> Array:
    """Shuffle scores, (n, 32): columns that depend on no data."""
    rng = np.random.Generator(np.random.Philox(key=np.array([key, len(scores)], np.uint64)))
    return np.asarray(rng.permuted(np.tile(scores, (N_REFERENCE, 1)), axis=1).T)


def radii(scores: Array) -> Array | None:
    """Normal scores of distances from the middle, and their squares, (n, 2).

    A distance is the sum of the squared normal scores of all columns. None for a single column.
    """
    if scores.shape[1] < 2:
        return None
    squares = scores * scores
    squares -= squares.mean(axis=0)
    squares /= np.sqrt(np.mean(squares * squares, axis=0))
    total = np.rint(squares * STEPS).sum(axis=1)
    columns = sorted_columns(total[:, None])
    score = columns.back(normal_scores(len(total))[columns.twice])
    both = np.concatenate([score, score * score], axis=1)
    both -= both.mean(axis=0)
    size = np.sqrt(np.mean(both * both, axis=0))
    return np.asarray(both / np.where(size > 0, size, 1.0))


class ColumnPairs(NamedTuple):
    """Products of waves of the ranks of two columns.

    Attributes
    ----------
    values : array, shape (n, pairs · J²)
        The products.
    gains : array, shape (J², S)
        For each of S scales, the products up to it (dyadic squares).
    columns : sequence of pair of int
        The two columns of each pair.
    """

    values: Array
    gains: Array
    columns: Sequence[tuple[int, int]]


def pairs_of_columns(columns: RankedColumns, owners: Sequence[int]) -> ColumnPairs | None:
    """Make products of waves of all pairs of columns; None if there are too many columns.

    Numbers have cosines of their ranks, √2 cos(πku); categories have random signs. Columns that
    are made of the same column of a table are no pair.
    """
    varying = np.flatnonzero(np.count_nonzero(columns.counts, axis=1) > 1).tolist()
    if len({owners[j] for j in varying}) > MAX_PAIR_COLUMNS:
        return None
    pairs = [(j, k) for j, k in combinations(varying, 2) if owners[j] != owners[k]]
    if not pairs:
        return None
    J = max(s for s in SCALES if s == 1 or s * s * len(pairs) <= MAX_PRODUCTS)
    number, place = np.arange(1, J + 1), {int(j): i for i, j in enumerate(columns.scored)}
    shares, waves = columns.shares, {}
    for j in varying:
        if j in place:
            u = shares[:, place[j]]
            waves[j] = np.sqrt(2.0) * np.cos(np.pi * u[:, None] * number)
        else:
            signs = np.random.default_rng(7).choice([-1.0, 1.0], (columns.counts.shape[1], J))
            waves[j] = signs[columns.code[:, j]]
    products = [(waves[j][:, :, None] * waves[k][:, None, :]).reshape(-1, J * J) for j, k in pairs]
    finer = np.maximum.outer(number, number).ravel()
    gains = np.stack([finer <= s for s in SCALES if s <= J], axis=1).astype(np.float64)
    named = [(int(owners[j]), int(owners[k])) for j, k in pairs]
    return ColumnPairs(np.concatenate(products, axis=1), gains, named)


def wave_values(rows: Array, drawn: Frequencies) -> Array:
    """Random Fourier features of rows, (n, 2W): cosines and sines of drawn frequencies."""
    turns = rows @ drawn.turns
    for j in np.flatnonzero(drawn.phases.any(axis=1)):
        bits = np.ascontiguousarray(rows[:, j]).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        odd = (mixed >> np.uint64(32)) | np.uint64(1)
        parts = odd[:, None] * drawn.phases[j].astype(np.uint64) & np.uint64(0xFFFFFFFF)
        turns = turns + parts.astype(np.float64) / 2.0**32
    angle, root = 2.0 * np.pi * turns, np.sqrt(drawn.weights)
    return np.concatenate([root * np.cos(angle), root * np.sin(angle)], axis=1)


@np.errstate(over="ignore", invalid="ignore")  # found in the spread
def spread_of(column: Array) -> tuple[float, float]:
    """Median and spread; the spread is 1 for a column that does not vary, or by next to nothing."""
    low, middle, high = np.quantile(column, [0.25, 0.5, 0.75])
    spread = (high - low) / 1.349
    if not spread > 1e-9 * np.std(column):
        spread = np.std(column)
    if not np.isfinite(spread):
        raise InputError(
            "`x` and `y` must be below about 1e150 in size, got values whose spread overflows. "
            "Rescale the data first."
        )
    return float(middle), float(spread) if spread > SMALLEST else 1.0
