"""Permutation p-values: rank the evidence of the data among that of its permutations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.methods.laws import counted_from

__all__ = [
    "benjamini_hochberg",
    "combine_ranks",
    "holm",
    "own_pvalues",
    "ranks",
    "step_down",
]


def ranks(values: Array) -> NDArray[np.int_]:
    """Number of draws with at least this much evidence, within the tolerance for ties."""
    order = np.argsort(values)
    ascending, found = values[order], np.empty(len(values), np.int64)
    found[order] = len(values) - np.searchsorted(ascending, counted_from(ascending), side="left")
    return found


def combine_ranks(kinds: Sequence[Array]) -> Array:
    """Combine kinds of evidence under all draws, (F,) each, by the harmonic mean of their ranks.

    Returns -log of the share of draws whose mean is at least as extreme; ties count against
    rejection. The rank of the data among its draws is exact whatever is combined.
    """
    # Terms in the order of their size: other kinds with the same terms have the same sum, to the
    # last bit.
    terms = np.sort([len(kind) / ranks(kind) for kind in kinds], axis=0)
    joined = terms.sum(axis=0)
    return np.asarray(-np.log(ranks(joined) / len(joined)))


def own_pvalues(evidence: NDArray[Any]) -> Array:
    """P-value of each column of evidence under all draws, (F, s), by itself."""
    return np.asarray(np.mean(evidence >= counted_from(evidence[0]), axis=0))


def step_down(evidence: NDArray[Any]) -> Array:
    """P-values of columns of evidence, (F, s), adjusted for all of them (Westfall and Young).

    The largest is compared with the largest under each draw, the next with the largest of those
    that remain. The evidence must be comparable between columns.
    """
    order = np.argsort(evidence[0], kind="stable")
    limits, largest = counted_from(evidence[0]), np.full(len(evidence), -np.inf)
    at_least = np.empty(len(order))
    for place in order:  # the largest of each column and those with less evidence
        np.maximum(largest, evidence[:, place], out=largest)
        at_least[place] = np.count_nonzero(largest >= limits[place])
    adjusted = np.empty(len(order))
    adjusted[order[::-1]] = np.maximum.accumulate(at_least[order[::-1]] / len(evidence))
    return adjusted


def holm(pvalues: Array) -> Array:
    """P-values adjusted by Holm: family-wise, whatever the dependence.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * pvalues[order]), 1.0)
    return adjusted


def benjamini_hochberg(pvalues: Array) -> Array:
    """P-values adjusted by Benjamini and Hochberg: the rate of false discoveries.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(pvalues, kind="stable")[::-1]
    factors = len(pvalues) / np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum.accumulate(np.minimum(factors * pvalues[order], 1.0))
    return adjusted
