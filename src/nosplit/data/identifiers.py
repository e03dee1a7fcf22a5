"""Columns that repeat as identifiers do: of users, machines, patients, or other groups of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nosplit._types import Array

__all__ = ["repeats_as_identifier"]


def repeats_as_identifier(samples: Sequence[Array], *, text: bool) -> bool:
    """Whether a column repeats in every sample as an identifier of groups of rows would.

    In each sample most values have several rows, and there are more values than rows per value.
    Samples share no value, as they share no group; text may be shared, if there are more values
    than the squared number of rows per value.

    Parameters
    ----------
    samples : array
        The values of each sample; text as codes.
    text : bool
        Whether values are text or categories, and not whole numbers.

    Examples
    --------
    >>> users = np.repeat(np.arange(40.0), 5)
    >>> repeats_as_identifier([users, users + 40], text=False)
    True
    >>> repeats_as_identifier([users, users], text=False)  # counts are alike in both samples
    False
    >>> repeats_as_identifier([users % 4, users % 4], text=True)
    False
    """
    found = []
    for values in samples:
        present = values[~np.isnan(values)]
        if not text and np.any(present != np.rint(present)):
            return False
        levels, counts = np.unique(present, return_counts=True)
        if len(levels) ** 2 <= len(present) or 2 * np.count_nonzero(counts > 1) <= len(levels):
            return False
        found.append((levels, len(present)))
    if len(np.unique(np.concatenate([own for own, _ in found]))) == sum(len(f[0]) for f in found):
        return True
    return text and all(len(levels) ** 3 > n * n for levels, n in found)
