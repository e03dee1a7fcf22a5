"""Accuracy: balanced accuracy of rules that see all columns together.

A rule gives each row a score and assigns it to a sample by a threshold. Both are learned on one
half of the rows and judged on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.inference.effect import (
    Separation,
    bins_of_group,
    largest_of,
)

__all__ = ["accuracy_of"]

Both = tuple[NDArray[Any], NDArray[Any]]


def accuracy_of(
    held: Sequence[Both],
    functions: Sequence[Callable[[NDArray[Any]], Array]],
    groups: Mapping[str, Sequence[int]],
    categorical: Collection[int],
    few: int | None = None,
) -> Separation | None:
    """Estimate how accurately all columns together assign rows to samples; None for one column.

    The better of two rules counts: the learned witness function, and the sum of what each column
    says by itself. Its interval is adjusted for both.

    Parameters
    ----------
    held : sequence of pairs of arrays
        Rows of x and of y in either half.
    functions : sequence of callable
        For each half, the witness function that was learned on the other.
    groups : mapping
        For each column, the columns of the rows that it is made of.
    categorical : collection of int
        Columns of the rows that hold categories.
    few : int, optional
        Rows of each half at which the witness functions are evaluated; all by default.
    """
    if len(groups) < 2:
        return None
    sides = [(held[1 - i], held[i]) for i in (0, 1)]
    witness = [
        [function(sample[:few]) for sample in (*learned, *judged)]
        for function, (learned, judged) in zip(functions, sides, strict=True)
    ]
    summed = [_summed(*side, groups.values(), categorical) for side in sides]
    best = largest_of(_judged(scores) for scores in (witness, summed))
    return best and best[1]


def _judged(halves: Sequence[Sequence[Array]]) -> Separation:
    """Mean accuracy of both halves, with an error that holds however they depend.

    Scores are those of the learned rows of x and of y, then of the judged ones. The threshold is
    the middle between the means of the learned ones, and the side of y that of its mean.
    """
    found = []
    for learned_x, learned_y, x, y in halves:
        if learned_x.mean() > learned_y.mean():
            learned_x, learned_y, x, y = -learned_x, -learned_y, -x, -y
        threshold = 0.5 * (learned_x.mean() + learned_y.mean())
        right = [np.mean(x < threshold) + 0.5 * np.mean(x == threshold)]
        right.append(np.mean(y > threshold) + 0.5 * np.mean(y == threshold))
        # Laplace's rule, so that the error is not 0 if all rows are assigned right.
        each = [
            ((n * p + 1.0) / (n + 2.0), n) for p, n in zip(right, map(len, (x, y)), strict=True)
        ]
        error = 0.5 * np.sqrt(sum(p * (1.0 - p) / n for p, n in each))
        found.append((0.5 * sum(right), error))
    value, error = np.mean(found, axis=0)
    return Separation(float(value), float(error))


def _summed(
    learned: Both, held: Both, groups: Collection[Sequence[int]], categorical: Collection[int]
) -> list[Array]:
    """Sums over columns of logarithms of ratios of shares of their bins, of all four parts.

    They are shrunk by the share of χ² that chance explains, so that columns without a difference
    add little.
    """
    rows = np.concatenate([*learned, *held])
    cuts = np.cumsum([len(part) for part in (*learned, *held)])
    total = np.zeros(len(rows))
    for group in groups:
        used, place = np.unique(bins_of_group(rows, group, categorical)[0], return_inverse=True)
        n_bins = len(used)
        first, second, _ = np.split(place.ravel(), cuts[:2])
        counts = np.stack([np.bincount(own, minlength=n_bins) for own in (first, second)])
        sizes = counts.sum(axis=1, keepdims=True)
        ratio = np.diff(np.log((counts + 1.0) / (sizes + n_bins)), axis=0)[0]
        gap, pooled = np.diff(counts / sizes, axis=0)[0], counts.sum(axis=0) / sizes.sum()
        chi2 = (gap**2 / np.where(pooled > 0, pooled, 1.0)).sum() / (1.0 / sizes).sum()
        total += ratio[place.ravel()] * max(0.0, 1.0 - (n_bins - 1) / max(chi2, 1e-300))
    return np.split(total, cuts[:3])
