"""Designs of two variables observed together: the rows of y that are permuted, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._text import listed, number_of
from nosplit._types import Index
from nosplit.core.exchange import Permutations
from nosplit.data.labels import RowLabels
from nosplit.errors import InputError
from nosplit.families.hsic_units import UNIT_SIZE
from nosplit.inference.questions import Exchanged

__all__ = ["RowDesign", "row_design", "unit_starts"]


class RowDesign(NamedTuple):
    """Rows that are used, in blocks inside which y is permuted.

    Attributes
    ----------
    rows : array of int, shape (n,)
        The rows, block by block.
    block : array of int, shape (n,)
        Block of each.
    length : int or array of int, shape (n,)
        Consecutive rows that are permuted together.
    said : Exchanged or None
        What is permuted under the null hypothesis, if a caller declared it.
    """

    rows: Index
    block: Index
    length: int | Index
    said: Exchanged | None

    @property
    def n_units(self) -> int:
        """Number of units that are permuted."""
        return int(np.round(np.sum(1.0 / np.broadcast_to(self.length, len(self.rows)))))

    def named(self, name: str) -> RowDesign:
        """The same design, described with the name of the column of its labels."""
        return self if self.said is None else self._replace(said=replace(self.said, name=name))

    def permutations(self, n_resamples: int, key: int) -> Permutations:
        """Permutations of the rows of y."""
        return Permutations(self.block, n_resamples, key, self.length)


def row_design(
    n: int, strata: RowLabels | None, groups: RowLabels | None, length: int | None = 1
) -> RowDesign:
    """Make the design of n rows: y is permuted inside strata, in whole groups or in blocks.

    Parameters
    ----------
    n : int
        Rows of both variables.
    strata : RowLabels, optional
        Rows are permuted inside strata only. Strata of one row are left out.
    groups : RowLabels, optional
        The rows of a group stay together, and change places with those of a group of the same size.
    length : int or None
        Consecutive rows that are permuted together; None for all.
    """
    if strata is None and groups is None:
        run = n if length is None else min(length, n)
        rows = np.arange(n // run * run)
        said = None
        if length != 1:
            words = f"blocks of {run:,} rows of y are permuted"
            said = Exchanged("series", words, "blocks", run)
        return RowDesign(rows, 0 * rows, run, said)
    kept = np.ones(n, np.bool_)
    for own in (strata, groups):
        if own is not None:
            kept &= own.codes >= 0
    stratum = np.zeros(n, np.int64) if strata is None else strata.codes
    if groups is None:
        assert strata is not None
        return _strata_design(strata, kept)
    group, place = np.unique(groups.codes, return_inverse=True)
    size = np.bincount(place, weights=kept, minlength=len(group)).astype(np.int64)[place]
    # A block is a stratum with groups of one size; one that holds a single group is left out.
    rows = np.flatnonzero(kept)
    rows = rows[np.lexsort((rows, place[rows], size[rows], stratum[rows]))]
    keys = np.stack([stratum[rows], size[rows]])
    new = np.append(True, np.any(keys[:, 1:] != keys[:, :-1], axis=0))
    block = np.cumsum(new) - 1
    shared = np.bincount(block)[block] > size[rows]
    if not shared.any():
        raise InputError(
            "`groups` must have equally many rows in at least two groups, of which y can change "
            f"places, got {listed([f'{s}' for s in np.unique(size[kept])])} rows."
        )
    rows, block = rows[shared], block[shared]
    count = len(np.unique(place[rows]))
    words = f"y is permuted between {number_of(count, 'group', 'groups')} of the same size"
    words += ", inside strata" if strata is not None else ""
    kind = "groups" if strata is None else "strata"
    count = count if strata is None else len(np.unique(stratum[rows]))
    return RowDesign(rows, block, size[rows], Exchanged(kind, words, "groups", count))


def _strata_design(strata: RowLabels, kept: NDArray[np.bool_]) -> RowDesign:
    counts = np.bincount(strata.codes[kept], minlength=len(strata.names))
    alone = counts == 1
    rows = np.flatnonzero(kept & ~alone[strata.codes])
    if not len(rows):
        raise InputError(
            "`strata` must have several observations in at least one stratum, got "
            f"{number_of(len(counts), 'stratum', 'strata')} of one."
        )
    rows = rows[np.argsort(strata.codes[rows], kind="stable")]
    many = int(np.count_nonzero(counts > 1))
    words = f"y is permuted inside {number_of(many, 'stratum', 'strata')}"
    if alone.any():
        words += f"; {int(alone.sum()):,} of one observation left out: "
        words += listed(strata.said(alone))
    said = Exchanged("strata", words, count=many)
    return RowDesign(rows, strata.codes[rows], 1, said)


def unit_starts(block: Index) -> Index:
    """Places at which units of about eight rows begin, each inside a block, and their end."""
    ends = np.append(np.flatnonzero(np.diff(block)) + 1, len(block))
    starts: list[Index] = []
    for first, last in zip([0, *ends[:-1]], ends, strict=True):
        size = int(last - first)
        units = max(1, min(round(size / UNIT_SIZE), size // 2))
        starts.append(first + np.arange(units) * size // units)
    return np.append(np.concatenate(starts), len(block))
