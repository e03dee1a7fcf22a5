"""Groups of the same size: how many rows each keeps, and with which it is permuted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Index

__all__ = ["MatchedGroups", "match_groups"]

# Sizes that groups are thinned to: 1, 2, 3, 4, 6, 8, 12, 16, 24, … A group keeps at least two
# thirds of its rows.
GROUP_SIZES = np.sort(np.concatenate([2 ** np.arange(40), 3 * 2 ** np.arange(39)]))


@dataclass(frozen=True, eq=False)
class MatchedGroups:
    """Groups of rows that may be permuted, since they are of the same size.

    Attributes
    ----------
    kept : array of bool, shape (N,)
        Rows that are in units.
    block : array of int, shape (N,)
        Block of each row: the units of a block are permuted.
    shared : array of bool, shape (N,)
        Rows of groups that have rows of both samples, whose two means are swapped.
    """

    kept: NDArray[np.bool_]
    block: Index
    shared: NDArray[np.bool_]


def match_groups(
    label: Index,
    group: Index,
    stratum: Index,
    kept: NDArray[np.bool_],
    rng: np.random.Generator,
) -> MatchedGroups:
    """Thin groups at random so that each is permuted with groups of the same size only.

    The mean of ten rows varies less than one row, so groups of all sizes must not be permuted
    together. Each group keeps a random 1, 2, 3, 4, 6, 8, 12, … of its rows. From the largest size
    down, groups of a size that only one sample has are thinned to the next smaller one. A group
    that has rows of both samples keeps as many of either.

    Parameters
    ----------
    label : array of int, shape (N,)
        Sample of each row.
    group, stratum : array of int, shape (N,)
        Group and stratum of each row, from 0.
    kept : array of bool, shape (N,)
        Rows to use; groups are permuted inside strata.
    rng : Generator
        Picks the rows that groups keep.

    Examples
    --------
    >>> label, group = np.repeat([0, 1], [6, 4]), np.array([0] * 4 + [1] * 2 + [2] * 3 + [3])
    >>> every = np.ones(10, bool)
    >>> found = match_groups(label, group, 0 * label, every, np.random.default_rng(0))
    >>> np.bincount(group[found.kept])
    array([3, 1, 3, 1])
    """
    n_groups, n_samples = int(group.max()) + 1, int(label.max()) + 1
    counts = np.zeros((n_samples, n_groups), np.int64)
    np.add.at(counts, (label[kept], group[kept]), 1)
    shared = np.count_nonzero(counts, axis=0) > 1
    size = np.where(shared, np.where(counts > 0, counts, counts.max()).min(axis=0), 0)
    alone = np.flatnonzero((counts.sum(axis=0) > 0) & ~shared)
    sample, own_stratum = np.argmax(counts > 0, axis=0)[alone], np.zeros(n_groups, np.int64)
    own_stratum[group[kept]] = stratum[kept]
    level = np.searchsorted(GROUP_SIZES, counts.sum(axis=0)[alone], side="right") - 1
    for top in range(int(level.max(initial=-1)), -1, -1):
        here = level == top
        there = np.zeros((int(stratum.max()) + 1, n_samples), np.bool_)
        there[own_stratum[alone][here], sample[here]] = True
        matched = np.count_nonzero(there, axis=1) > 1
        level[here & ~matched[own_stratum[alone]]] -= 1
    size[alone] = np.where(level < 0, 0, GROUP_SIZES[level])
    # Rows of each group and sample in random order.
    order = np.lexsort((rng.random(len(label)), label, group, ~kept))
    keys = np.stack([kept[order], group[order], label[order]])
    new = np.append(True, np.any(keys[:, 1:] != keys[:, :-1], axis=0))
    rank = np.empty(len(label), np.int64)
    places = np.arange(len(label))
    rank[order] = places - np.maximum.accumulate(np.where(new, places, 0))
    own_level = np.zeros(n_groups, np.int64)
    own_level[alone] = np.maximum(level, 0)
    block = n_groups + own_stratum * len(GROUP_SIZES) + own_level
    return MatchedGroups(
        kept & (rank < size[group]),
        np.where(shared, np.arange(n_groups), block)[group],
        shared[group],
    )
