"""P-values adjusted for how many there are."""

from __future__ import annotations

import numpy as np

from nosplit._support.types import Array

__all__ = ["benjamini_hochberg", "holm"]


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
