"""Designs: the rows that make an atom, and the atoms that are permuted.

A unit is a row, a group of rows that belong together, or a block of consecutive rows. Units lie in
blocks: strata, groups of one size, groups that have rows of both samples, or all of them. Under the
null hypothesis all permutations of the labels inside a block are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._text import conjoined, listed
from nosplit._types import Array, Index
from nosplit.core.exchange import Exchange, labels, signs
from nosplit.core.gram import Gram
from nosplit.data.groups import MatchedGroups, match_groups
from nosplit.data.labels import RowLabels
from nosplit.data.series import block_labels, block_length
from nosplit.errors import InputError
from nosplit.inference.questions import Exchanged

__all__ = [
    "Design",
    "NothingToPermute",
    "Units",
    "design_of",
    "exchange_of",
    "paired_design",
    "plain_design",
    "series_design",
    "signed_design",
]

# Rows of each sample up to which labels of all rows are permuted. Beyond, rows of samples of one
# size are paired at random and swapped, which takes a quarter of the products.
MAX_LABELLED = 50
# Rows of atoms whose kernel values are made at once: a tile of a few megabytes for each kernel.
MAX_ROWS_AT_ONCE = 1024


class NothingToPermute(InputError):
    """No rows of two samples may be permuted."""


@dataclass(frozen=True, eq=False)
class Design:
    """Rows of samples, one after the other, as units in blocks.

    Attributes
    ----------
    unit : array of int, shape (N,)
        The unit of each row; -1 for rows left out.
    starts : array of int, shape (B + 1,)
        Where the units of each block begin.
    counts : array of int, shape (B, G)
        Units of each sample in each block, in the order of the samples.
    means : bool
        Whether units are groups of rows, which count by the mean of their rows.
    said : Exchanged or None
        What is permuted under the null hypothesis, if a caller declared it.
    """

    unit: Index
    starts: Index
    counts: Index
    means: bool
    said: Exchanged | None

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.starts[-1])

    @property
    def n_atoms(self) -> int:
        """Number of atoms: of units, or of pairs of them that are swapped."""
        return self.n_units // 2 if self.in_pairs else self.n_units

    @property
    def in_pairs(self) -> bool:
        """Whether every block has one unit of either of two samples."""
        return self.counts.shape[1] == 2 and bool(np.all(self.counts == 1))

    def named(self, name: str) -> Design:
        """The same design, described with the name of the column of its labels."""
        return self if self.said is None else replace(self, said=replace(self.said, name=name))

    @property
    def dealt(self) -> NDArray[np.bool_]:
        """Mask of the rows that are in units."""
        return np.asarray(self.unit >= 0)

    @property
    def n_used(self) -> int:
        """Rows that are in units."""
        return int(np.count_nonzero(self.dealt))


@dataclass(frozen=True, eq=False)
class _Keys:
    """Rows with numbers of their strata and of their groups."""

    label: Index
    stratum: Index
    group: Index
    kept: NDArray[np.bool_] = field(repr=False)

    @property
    def several(self) -> bool:
        """Whether there are more than two samples."""
        return int(self.label.max()) > 1

    def there(self, code: Index, count: int, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which samples have rows of each label, (samples, count)."""
        found = np.zeros((int(self.label.max()) + 1, count), np.bool_)
        found[self.label[kept], code[kept]] = True
        return found


def design_of(
    sizes: Sequence[int],
    strata: RowLabels | None,
    groups: RowLabels | None,
    rng: np.random.Generator,
) -> Design:
    """Make the design of samples of these sizes from their labels.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each sample.
    strata : RowLabels, optional
        Rows are permuted inside strata only.
    groups : RowLabels, optional
        Rows of a group stay together. Groups are thinned at random, so that each is permuted with
        groups of the same size; in groups that have rows of several samples these change places.
    rng : Generator
        Picks the rows that groups keep.
    """
    label = np.repeat(np.arange(len(sizes)), sizes)
    stratum = np.zeros(len(label), np.int64) if strata is None else strata.codes
    kept = np.ones(len(label), np.bool_)
    for own in (strata, groups):
        if own is not None:
            kept &= own.codes >= 0
    if groups is None:
        return _design_of_rows(_Keys(label, stratum, np.arange(len(label)), kept), strata)
    _check_inside(groups, strata)
    return _of_groups(_Keys(label, stratum, groups.codes, kept), strata, groups, rng)


def series_design(sizes: Sequence[int], length: int | None) -> Design:
    """Make the design of samples in time order: blocks of rows are permuted.

    `length` is None if no block is longer than the dependence; each sample is then one block.
    """
    if length is None:
        said = "no block of rows is longer than the dependence between rows"
        counts, label = np.ones((1, len(sizes)), np.int64), np.repeat(np.arange(len(sizes)), sizes)
        exchanged = Exchanged("series", said, "blocks")
        return Design(label, np.array([0, len(sizes)]), counts, True, exchanged)
    unit, blocks = block_labels(sizes, length), [n // length for n in sizes]
    if min(blocks) < 1:
        which = "either sample" if len(sizes) == 2 else "any sample"
        raise InputError(
            f"`series` must be at most the rows of {which}, got blocks of {length:,} rows "
            f"for {_numbers(sizes)} rows."
        )
    said = f"blocks of {length:,} rows are permuted between the samples ({_numbers(blocks)})"
    left = int(np.count_nonzero(unit < 0))
    if left:
        said += f"; {left:,} rows beyond the last whole block left out"
    exchanged = Exchanged("series", said, "blocks", length)
    return Design(unit, np.array([0, sum(blocks)]), np.array([blocks]), True, exchanged)


def _design_of_rows(keys: _Keys, strata: RowLabels | None) -> Design:
    """Permute single rows inside strata."""
    assert strata is not None
    both, words = _in_both(keys, keys.stratum, strata)
    kept = keys.kept & both[keys.stratum]
    unit, starts, counts = _numbered_units(keys.stratum, keys.label, np.arange(len(kept)), kept)
    many = len(counts)
    said = f"rows are permuted inside {_number_of(many, 'stratum', 'strata')}"
    return Design(unit, starts, counts, False, Exchanged("strata", said + words, "rows", many))


def _of_groups(
    keys: _Keys, strata: RowLabels | None, groups: RowLabels, rng: np.random.Generator
) -> Design:
    """Permute whole groups of the same size; swap the two parts of those with both samples."""
    stratum = np.maximum(keys.stratum, 0)
    group = np.maximum(keys.group, 0)
    matched = match_groups(keys.label, group, stratum, keys.kept, rng)
    if not matched.kept.any():
        raise NothingToPermute(
            _no_groups(keys.there(keys.group, len(groups.names), keys.kept), strata)
        )
    unit, starts, counts = _numbered_units(matched.block, keys.label, keys.group, matched.kept)
    said = _said_of_groups(keys, matched, strata, groups)
    kind = "groups" if strata is None else "strata"
    inside = keys.group if strata is None else keys.stratum
    count = len(np.unique(inside[matched.kept]))
    shared = len(np.unique(keys.group[matched.kept & matched.shared]))
    exchanged = Exchanged(kind, said, "groups", count, shared=shared)
    return Design(unit, starts, counts, True, exchanged)


def _numbered_units(
    block: Index, label: Index, member: Index, kept: NDArray[np.bool_]
) -> tuple[Index, Index, Index]:
    """Units of rows, block by block, those of x first; where blocks begin; units of each sample."""
    order = np.flatnonzero(kept)
    order = order[np.lexsort((member[order], label[order], block[order]))]
    b, side, who = block[order], label[order], member[order]
    new_block = np.concatenate([[True], b[1:] != b[:-1]])
    new = new_block | np.concatenate([[True], (side[1:] != side[:-1]) | (who[1:] != who[:-1])])
    number = np.cumsum(new) - 1
    unit = np.full(len(kept), -1, np.int64)
    unit[order] = number
    starts = np.append(number[new_block], number[-1] + 1)
    each = side[np.flatnonzero(new)][:, None] == np.arange(int(label.max()) + 1)
    counts = np.add.reduceat(each.astype(np.int64), starts[:-1])
    return unit, starts, counts


def _in_both(keys: _Keys, code: Index, labels: RowLabels) -> tuple[NDArray[np.bool_], str]:
    """Find the strata with rows of two samples or more; and words on the others."""
    there = keys.there(code, len(labels.names), keys.kept)
    both = np.count_nonzero(there, axis=0) > 1
    if not both.any() and keys.several:
        raise NothingToPermute(
            "`strata` must have rows of two samples or more in at least one stratum, but every "
            "stratum has rows of one sample only."
        )
    if not both.any():
        raise NothingToPermute(
            "`strata` must have rows of both samples in at least one stratum, but x has only "
            f"{listed(labels.said(there[0]))} and y only {listed(labels.said(there[1]))}."
        )
    alone = np.logical_or.reduce(there) & ~both
    if not alone.any():
        return both, ""
    rows = int(np.count_nonzero(keys.kept & alone[code]))
    return both, (
        f"; {_number_of(int(alone.sum()), 'stratum', 'strata')} of one sample only left out, "
        f"{rows:,} rows: {listed(labels.said(alone))}"
    )


def _said_of_groups(
    keys: _Keys, matched: MatchedGroups, strata: RowLabels | None, groups: RowLabels
) -> str:
    parts = []
    swapped, permuted = matched.kept & matched.shared, matched.kept & ~matched.shared
    if swapped.any():
        count = _number_of(len(np.unique(keys.group[swapped])), "group", "groups")
        what = "the means of samples are permuted" if keys.several else "x and y are swapped"
        parts.append(f"{what} inside {count}")
    if permuted.any():
        many = keys.there(keys.group, len(groups.names), permuted).sum(axis=1).tolist()
        inside = "" if strata is None else ", inside strata"
        said = f"{sum(many):,} groups of the same size are permuted ({_numbers(many)})"
        parts.append(f"{said}{inside}")
    lost = keys.kept & ~matched.kept
    if lost.any():
        alone = np.ones(len(groups.names), np.bool_)
        alone[keys.group[matched.kept]] = False
        alone[np.setdiff1d(np.arange(len(alone)), keys.group[lost])] = False
        rows = _number_of(int(lost.sum()), "row", "rows")
        text = f"{rows} left out so that sizes are equal"
        if alone.any():
            names = listed(groups.said(alone))
            text += f", all of {_number_of(int(alone.sum()), 'group', 'groups')}: {names}"
        parts.append(text)
    return "; ".join(parts)


def _check_inside(groups: RowLabels, strata: RowLabels | None) -> None:
    """Check that no group has rows in two strata: it could be permuted in neither."""
    if strata is None:
        return
    some = (groups.codes >= 0) & (strata.codes >= 0)
    pairs = np.unique(np.stack([groups.codes[some], strata.codes[some]]), axis=1)
    twice = pairs[0][1:][pairs[0][1:] == pairs[0][:-1]]
    if len(twice):
        raise InputError(
            "`groups` must each lie in one stratum, but rows of group "
            f"{groups.names[twice[0]]!r} are in several."
        )


def _no_groups(there: NDArray[np.bool_], strata: RowLabels | None) -> str:
    many = there.sum(axis=1).tolist()
    inside = "" if strata is None else " in any stratum"
    if len(many) > 2:
        return (
            "`groups` must be in several samples, but no group has rows of two, and not two "
            f"samples have groups{inside}: got {_numbers(many)} in the samples."
        )
    a, b = many
    return (
        "`groups` must be in both samples, but no group has rows of both, and not both samples "
        f"have groups{inside}: got {a} in x and {b} in y."
    )


def _numbers(values: Sequence[int]) -> str:
    return conjoined([f"{value:,}" for value in values])


def _number_of(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


# -- atoms -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Units:
    """Atoms as linear combinations of rows.

    Attributes
    ----------
    row : array of int, shape (K,)
        The rows of all atoms, one atom after the other.
    coef : array, shape (K,)
        Coefficient of each.
    start : array of int, shape (A + 1,)
        Positions at which atoms begin.
    """

    row: Index
    coef: Array
    start: Index

    @property
    def n(self) -> int:
        """Number of atoms."""
        return len(self.start) - 1

    @cached_property
    def single(self) -> bool:
        """Whether every atom is a row."""
        return len(self.row) == self.n and bool(np.all(self.coef == 1.0))

    @cached_property
    def differences(self) -> bool:
        """Whether every atom is a row of x less a row of y."""
        return len(self.row) == 2 * self.n and bool(np.all(self.coef == np.tile([1, -1], self.n)))

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Make numbers of atoms from numbers of rows."""
        if self.single:
            return values[self.row]
        if self.differences:
            return np.asarray(values[self.row[::2]] - values[self.row[1::2]])
        weighted = values[self.row] * self.coef[:, None]
        return np.asarray(np.add.reduceat(weighted, self.start[:-1], axis=0))

    def gram(self, d: int, tile_of_rows: Callable[[slice, slice], Array]) -> Gram:
        """Make the form of d kernels on atoms from tiles of their rows, in the order of `row`."""
        if self.single:
            return Gram(self.n, d, lambda a, b: tile_of_rows(*map(_as_slice, (a, b))))

        def tile(a: range, b: range) -> Array:
            found = np.empty((d, len(a), len(b)))
            for i in self._pieces(a):
                for j in self._pieces(b):
                    left, right = (slice(self.start[r.start], self.start[r.stop]) for r in (i, j))
                    K = tile_of_rows(left, right)
                    K *= self.coef[left][:, None] * self.coef[right]
                    K = np.add.reduceat(K, self.start[i.start : i.stop] - left.start, axis=1)
                    K = np.add.reduceat(K, self.start[j.start : j.stop] - right.start, axis=2)
                    found[:, _as_slice(i, a.start), _as_slice(j, b.start)] = K
            return found

        return Gram(self.n, d, tile)

    def _pieces(self, atoms: range) -> list[range]:
        """Atoms of few rows together, some after others: values of their rows fit the memory."""
        rows = int(self.start[atoms.stop] - self.start[atoms.start])
        step = max(1, MAX_ROWS_AT_ONCE * len(atoms) // max(rows, 1))
        return [range(i, min(i + step, atoms.stop)) for i in range(atoms.start, atoms.stop, step)]


def _as_slice(atoms: range, first: int = 0) -> slice:
    return slice(atoms.start - first, atoms.stop - first)


def signed_design(
    x: Array, groups: RowLabels | None, series: bool | int, name: str = ""
) -> tuple[Units, Exchanged | None]:
    """Make the units of rows that have a random sign each, and describe them if they are no rows.

    Units are groups, called by the `name` of their column, or blocks of consecutive rows of a
    series: the sums of their rows, whatever their sizes.
    """
    n = len(x)
    if groups is not None:
        units = _sums_of(groups.codes)
        said = _number_of(units.n, "group has a random sign", "groups have random signs")
        return units, Exchanged("groups", said, "groups", units.n, name)
    if series is False:
        return _sums_of(np.arange(n)), None
    length = block_length(x) if series is True else int(series)
    if length is None:
        said = "no block of rows is longer than the dependence between rows"
        return _sums_of(np.zeros(n, np.int64)), Exchanged("series", said, "blocks")
    if n // length < 2:
        raise InputError(
            f"`series` must be at most half the number of rows, got blocks of {length:,} rows for "
            f"{n:,} rows."
        )
    units = _sums_of(block_labels((n,), length))
    said = f"blocks of {length:,} rows have random signs ({units.n:,} blocks)"
    left = n - len(units.row)
    said += f"; {left:,} rows beyond the last whole block left out" if left else ""
    return units, Exchanged("series", said, "blocks", length)


def _sums_of(label: Index) -> Units:
    """Make atoms of the sums of rows with the same label; those labelled -1 are left out.

    Sums are over the root of the mean number of rows, so that they vary as single rows do.
    """
    (row,) = np.nonzero(label >= 0)
    row = row[np.argsort(label[row], kind="stable")]
    new = np.flatnonzero(np.diff(label[row], prepend=-1))
    return Units(row, np.full(len(row), np.sqrt(len(new) / len(row))), np.append(new, len(row)))


def plain_design(
    sizes: Sequence[int], rng: np.random.Generator | None, most: int | None = None
) -> Design:
    """Make the design of samples of independent rows; without `rng`, two are paired in order.

    If there are more than `most` rows, larger samples keep some of theirs, picked at random, and
    as many each.
    """
    n = sizes[0]
    if len(sizes) == 2 and n == sizes[1] > MAX_LABELLED:
        if rng is None:
            return _swaps(np.arange(n), np.arange(n), 1, None)
        return _swaps(rng.permutation(n), rng.permutation(n), 1, None)
    label = np.repeat(np.arange(len(sizes)), sizes)
    kept = np.ones(len(label), np.bool_)
    if most is not None and len(label) > most:
        ascending = np.sort(sizes)
        shares = (most - np.cumsum(ascending) + ascending) // np.arange(len(sizes), 0, -1)
        share = max(int(shares[shares < ascending][0]), int(ascending[0]))
        picked = np.random.default_rng(0) if rng is None else rng
        for g, size in enumerate(sizes):
            if size > share:
                kept[np.flatnonzero(label == g)[picked.permutation(size)[share:]]] = False
    unit = np.where(kept, np.cumsum(kept) - 1, -1)
    counts = np.bincount(label[kept], minlength=len(sizes))[None]
    return Design(unit, np.array([0, np.count_nonzero(kept)]), counts, False, None)


def paired_design(n: int, length: int | None = 1) -> Design:
    """Make the design of n pairs: x and y are swapped, `length` consecutive pairs together.

    `length` is None if no block is longer than the dependence; all pairs are then one block.
    """
    length = n if length is None else min(length, n)
    words = f"x and y are swapped inside {n // length * length:,} pairs"
    said = Exchanged("pairs", words, "pairs", n)
    if length > 1:
        words += f", {length:,} consecutive ones together"
        said = Exchanged("series", words, "blocks", length)
    return _swaps(np.arange(n), np.arange(n), length, said)


def _swaps(i: Index, j: Index, length: int, said: Exchanged | None) -> Design:
    """Swap rows i of x and j of y, some consecutive pairs together; the last may be left out."""
    n = len(i)
    block = np.arange(n) // length
    kept = block < n // length
    unit = np.full(2 * n, -1, np.int64)
    unit[i[kept]], unit[n + j[kept]] = 2 * block[kept], 2 * block[kept] + 1
    blocks = n // length
    counts = np.ones((blocks, 2), np.int64)
    return Design(unit, 2 * np.arange(blocks + 1), counts, length > 1, said)


def exchange_of(design: Design, label: Index, n_resamples: int, key: int) -> tuple[Units, Exchange]:
    """Make the atoms of a design, and the permutations of their labels.

    Parameters
    ----------
    design : Design
        Rows in units in blocks, in an order that depends on no label.
    label : array of int, shape (N,)
        Sample of each row.
    n_resamples : int
        Random draws besides the data.
    key : int
        Picks the draws.
    """
    (row,) = np.nonzero(design.unit >= 0)
    unit = design.unit[row]
    first = np.full(design.n_units, len(label), np.int64)
    np.minimum.at(first, unit, row)
    block = np.searchsorted(design.starts, unit, side="right") - 1
    order = np.lexsort((row, first[unit], block))
    row, unit, block = row[order], unit[order], block[order]
    new = np.concatenate([[True], unit[1:] != unit[:-1]])
    start = np.append(np.flatnonzero(new), len(row))
    sizes = np.diff(start)
    label, atom_block = label[row[start[:-1]]], block[start[:-1]]
    if design.in_pairs:
        # One unit of x and one of y in every block: their difference, with a sign.
        order = np.argsort(2 * atom_block + label, kind="stable")
        parts = np.split(np.arange(len(row)), start[1:-1])
        taken = np.concatenate([parts[a] for a in order])
        sign = np.repeat((1.0 - 2.0 * label)[order] / sizes[order], sizes[order])
        both = sizes[order].reshape(-1, 2).sum(axis=1)
        units = Units(row[taken], sign, np.concatenate([[0], np.cumsum(both)]))
        return units, signs(units.n, n_resamples, key)
    units = Units(row, 1.0 / np.repeat(sizes, sizes), start)
    return units, labels(label, atom_block, n_resamples, key)
