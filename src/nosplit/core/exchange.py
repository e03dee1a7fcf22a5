"""Permutations as weights: which atoms are exchangeable, and their weights under every draw.

An atom is what carries a weight: a row, a difference of two rows, a mean of rows, the sum of a
cell. A draw permutes labels of atoms inside blocks, or draws a sign for each; for independence it
is an order of the rows of y. Draw 0 is the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import factorial, inf, lgamma, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index

__all__ = ["DRAWS_AT_ONCE", "Exchange", "Permutations", "Weights", "labels", "signs", "states"]

Weights = NDArray[np.float32]

# Draws that share a key, so that p-values depend on no number of workers.
DRAWS_AT_ONCE = 512
# Atoms for each one of a rare label from which the sum of those is found by itself: a product does
# about as many numbers at a time.
RARE = 8
# Weights of several labels that are kept; more are made from labels for each form.
MAX_KEPT = 1 << 26
# Blocks, or signs, of which all permutations may be listed.
MAX_BLOCKS_LISTED, MAX_SIGNS_LISTED = 64, 24


@dataclass(frozen=True, eq=False)
class _Again:
    """Weights that are made again whenever they are needed."""

    make: Callable[[], Iterator[Weights]]

    def __iter__(self) -> Iterator[Weights]:
        return self.make()


@dataclass(frozen=True, eq=False)
class Exchange:
    """Atoms whose labels are permuted inside blocks, or whose signs are drawn.

    All permutations are listed if they are no more than `n_resamples` + 1; otherwise
    `n_resamples` of them are drawn from counter-based generators, in chunks of `DRAWS_AT_ONCE`.

    Parameters
    ----------
    label : array of int, shape (A,), or None
        Observed label of each atom, from 0; None for signs.
    block : array of int, shape (A,)
        Block of each atom. Atoms of a block follow one another.
    n_resamples : int
        Random draws besides the data.
    key : int
        Picks the draws.
    """

    label: Index | None
    block: Index
    n_resamples: int
    key: int

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return len(self.block)

    @cached_property
    def starts(self) -> Index:
        """Positions at which blocks begin, and the number of atoms."""
        new = np.flatnonzero(np.diff(self.block)) + 1
        return np.concatenate([[0], new, [self.n_atoms]])

    @cached_property
    def sizes(self) -> Index:
        """Number of atoms in the block of each atom."""
        sizes = np.diff(self.starts)
        return np.repeat(sizes, sizes)

    @cached_property
    def counts(self) -> Index:
        """Atoms of each label in each block, (blocks, labels)."""
        assert self.label is not None
        each = np.arange(int(self.label.max()) + 1) == self.label[:, None]
        return np.add.reduceat(each.astype(np.int64), self.starts[:-1], axis=0)

    @cached_property
    def share(self) -> Array:
        """Mean weight of each atom over all permutations, (contrasts, A).

        A contrast weighs atoms of one label against all others. Two labels have one contrast,
        several have one each.
        """
        if self.label is None:
            return np.zeros((1, self.n_atoms))
        sizes = np.diff(self.starts)
        shares = np.repeat(self.counts / sizes[:, None], sizes, axis=0).T
        return shares[:1] if len(shares) == 2 else shares

    @cached_property
    def scale(self) -> Array:
        """Factor of the squares of each contrast: for several labels, 1 over their atoms."""
        if len(self.share) == 1:
            return np.ones(1)
        return np.asarray(1.0 / self.counts.sum(axis=0))

    @cached_property
    def even(self) -> bool:
        """Whether weights are 1 and -1, so that mirrored permutations tie exactly."""
        return self.label is None or (len(self.share) == 1 and bool(np.all(self.share == 0.5)))

    @cached_property
    def variance(self) -> Array:
        """Variance v of each weight: the covariance in a block of s atoms is v (I - 11'/s)."""
        if self.label is None:
            return np.ones(self.n_atoms)
        each = self.share * (1.0 - self.share) * self.sizes / np.maximum(self.sizes - 1.0, 1.0)
        return np.asarray(self.scale @ each)

    def centred(self, values: Array) -> Array:
        """Subtract from each atom the mean of its block, which no permutation changes."""
        if self.label is None:
            return values
        if len(self.starts) == 2:
            return np.asarray(values - values.mean(axis=0))
        means = np.add.reduceat(values, self.starts[:-1], axis=0) / np.diff(self.starts)[:, None]
        return np.asarray(values - np.repeat(means, np.diff(self.starts), axis=0))

    @cached_property
    def n_permutations(self) -> float:
        """Number of permutations whose statistics may differ: of mirrored ones, one counts.

        Infinite if it is beyond 1e12.
        """
        if self.label is None:
            return 2.0 ** (self.n_atoms - 1) if self.n_atoms <= 40 else inf
        log = sum(lgamma(s + 1) for s in np.diff(self.starts))
        log -= sum(lgamma(c + 1) for c in self.counts.ravel())
        if log > 28.0:
            return inf
        ways = prod(_arrangements_of(own) for own in self.counts.tolist())
        return ways / prod(factorial(len(alike)) for alike in self._alike)

    @cached_property
    def _alike(self) -> list[Index]:
        """Labels that have as many atoms in every block, and may change their names."""
        _, kind = np.unique(self.counts, axis=1, return_inverse=True)
        return [np.flatnonzero(kind.ravel() == own) for own in range(int(kind.max()) + 1)]

    @cached_property
    def _every(self) -> Weights | None:
        """Weights under all permutations, the data first; None if there are more than asked for."""
        if self.label is None:
            n = self.n_atoms
            if n > MAX_SIGNS_LISTED or 2 ** (n - 1) > self.n_resamples + 1:
                return None
            bits = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
            return (1.0 - 2.0 * bits)[:, None].astype(np.float32)
        if len(self.counts) > MAX_BLOCKS_LISTED:
            return None
        if prod(_arrangements_of(own) for own in self.counts.tolist()) > self.n_resamples + 1:
            return None
        blocks = np.split(self.label, self.starts[1:-1])
        lists = [np.array(list(_arrangements(own))) for own in blocks]
        at = np.indices([len(own) for own in lists]).reshape(len(lists), -1)
        parts = [own[i] for own, i in zip(lists, at, strict=True)]
        label = np.concatenate(parts, axis=1)
        return self._weights_of(self._renamed(label) if len(self.share) > 1 else label)

    def _weights_of(self, label: NDArray[Any]) -> Weights:
        """Weights of labels, (draws, contrasts, A)."""
        which = range(len(self.share))
        weights = np.stack([label == g for g in which], axis=1).astype(np.float32)
        return 2.0 * weights - 1.0 if self.even else weights

    @property
    def exhaustive(self) -> bool:
        """Whether all permutations are listed."""
        return self._every is not None

    @property
    def n_draws(self) -> int:
        """Number of draws, the data among them."""
        return self.n_resamples + 1 if self._every is None else len(self._every)

    def _renamed(self, label: NDArray[Any]) -> Index:
        """Name labels that are alike by a hash of their atoms: the same division ties exactly."""
        # Draws have the keys of multiples of 512.
        marks = self._generator(1).integers(0, 1 << 32, self.n_atoms).astype(np.float64)
        names = np.tile(np.arange(len(self.share)), (len(label), 1))
        for alike in self._alike:
            sums = np.stack([(label == g) @ marks for g in alike], axis=1).astype(np.uint64)
            order = (sums * np.uint64(0x9E3779B97F4A7C15)).argsort(axis=1)
            names[:, alike] = alike[order.argsort(axis=1)]
        return np.asarray(np.take_along_axis(names, label, axis=1))

    @cached_property
    def chunks(self) -> Iterable[Weights]:
        """Weights of all atoms under all draws, (draws, contrasts, A), some draws at a time."""
        contrasts = len(self.share)
        if contrasts > 1 and contrasts * self._labels.size > MAX_KEPT:
            return _Again(self.drawn)
        return list(self.drawn())

    @cached_property
    def _labels(self) -> NDArray[np.int16]:
        """Several labels of all atoms under all draws, (F, A)."""
        assert self.label is not None
        if self._every is not None:
            return np.asarray(self._every.argmax(axis=1), np.int16)
        found = np.tile(self.label.astype(np.int16), (self.n_draws, 1))
        for first in range(0, self.n_draws, DRAWS_AT_ONCE):
            rng, own = self._generator(first), found[first : first + DRAWS_AT_ONCE]
            for a, b in zip(self.starts[:-1], self.starts[1:], strict=True):
                own[:, a:b] = rng.permuted(own[:, a:b], axis=1)
            if first == 0:
                own[0] = self.label
            own[:] = self._renamed(own)
        return found

    def labels_of_draws(self) -> Iterator[NDArray[np.int16]]:
        """Several labels of all atoms under all draws, (draws, A), some draws at a time."""
        for first in range(0, self.n_draws, DRAWS_AT_ONCE):
            yield self._labels[first : first + DRAWS_AT_ONCE]

    def part(self, g: int, atoms: range) -> Weights:
        """Weights of some atoms in a contrast under all draws, (F, a)."""
        some = slice(atoms.start, atoms.stop)
        if len(self.share) > 1:
            return np.asarray(self._labels[:, some] == g, np.float32)
        return np.concatenate([weights[:, g, some] for weights in self.chunks])

    @cached_property
    def picked(self) -> tuple[int, Index] | None:
        """The rarer label and its atoms under every draw, (F, k); None unless it is rare."""
        if self.label is None or self.even or len(self.share) > 1:
            return None
        counts = self.counts.sum(axis=0)
        rare = int(np.argmin(counts))
        if RARE * counts[rare] > counts.sum():
            return None
        marked = (np.nonzero(own[:, 0] == 1 - rare)[1] for own in self.drawn())
        return rare, np.concatenate([own.reshape(-1, counts[rare]) for own in marked])

    def drawn(self) -> Iterator[Weights]:
        """Yield the weights of all atoms as `chunks` has them, without keeping them."""
        most = DRAWS_AT_ONCE
        if len(self.share) > 1:
            most = max(1, min(most, MAX_KEPT // (4 * len(self.share) * self.n_atoms)))
        for first in range(0, self.n_draws, most):
            yield self._weights(first, min(most, self.n_draws - first))

    def _generator(self, first: int) -> np.random.Generator:
        key = np.array([self.key, first], np.uint64)
        return np.random.Generator(np.random.Philox(key=key))

    def _weights(self, first: int, count: int) -> Weights:
        """Weights under some draws, (count, contrasts, A); `first` is a multiple of 512."""
        if self._every is not None:
            return self._every[first : first + count]
        if len(self.share) > 1:
            return self._weights_of(self._labels[first : first + count])
        rng = self._generator(first)
        if self.label is None:
            weights = _signs(rng, count, self.n_atoms)
            observed = np.ones((1, 1, self.n_atoms), np.float32)
        else:
            weights = self._labelled(rng, count)
            observed = self._weights_of(self.label[None])
        if first == 0:
            weights[0] = observed[0]
        return weights

    def _labelled(self, rng: np.random.Generator, count: int) -> Weights:
        assert self.label is not None
        from nosplit.backend.numba.dealing import chosen_inside

        # The rarer label is drawn, and marked.
        rare = int(self.counts[:, 1].sum() < self.counts[:, 0].sum())
        own = np.ascontiguousarray(self.counts[:, rare])
        marked = np.zeros((count, self.n_atoms), np.float32)
        chosen_inside(rng.random((count, int(own.sum()))), self.starts, own, len(own), marked)
        if rare:
            np.subtract(1.0, marked, out=marked)
        if self.even:
            marked *= 2.0
            marked -= 1.0
        return marked[:, None]


def _signs(rng: np.random.Generator, count: int, n: int) -> Weights:
    raw = np.frombuffer(rng.bytes(count * -(-n // 8)), np.uint8).reshape(count, -1)
    bits = np.unpackbits(raw, axis=1)[:, None, :n]
    return np.float32(1.0) - np.float32(2.0) * bits


def _arrangements_of(counts: list[int]) -> int:
    """Number of different orders of labels of these counts."""
    return factorial(sum(counts)) // prod(map(factorial, counts))


def _arrangements(label: Index) -> Iterator[Index]:
    """All different orders of the labels of a block, as they are first."""
    n = len(label)

    def fill(free: tuple[int, ...], left: list[tuple[int, int]]) -> Iterator[dict[int, int]]:
        if not left:
            yield {}
            return
        (g, count), rest = left[0], left[1:]
        for own in combinations(free, count):
            others = tuple(i for i in free if i not in own)
            for more in fill(others, rest):
                yield {**dict.fromkeys(own, g), **more}

    yield label
    for found in fill(tuple(range(n)), list(enumerate(np.bincount(label).tolist()))):
        order = np.array([found[i] for i in range(n)])
        if not np.array_equal(order, label):
            yield order


def signs(n: int, n_resamples: int, key: int) -> Exchange:
    """Draw a sign for each of n atoms: swaps inside pairs, or the wild bootstrap."""
    return Exchange(None, np.arange(n), n_resamples, key)


def labels(label: Index, block: Index, n_resamples: int, key: int) -> Exchange:
    """Permute labels of atoms inside blocks: of two or more samples."""
    return Exchange(np.asarray(label), np.asarray(block), n_resamples, key)


def states(sizes: Index, n_resamples: int, key: int) -> Exchange:
    """Pick one atom of each of some blocks; the first of each is observed."""
    label = np.ones(int(sizes.sum()), np.int64)
    label[np.cumsum(sizes) - sizes] = 0
    return Exchange(label, np.repeat(np.arange(len(sizes)), sizes), n_resamples, key)


@dataclass(frozen=True, eq=False)
class Permutations:
    """Orders of the rows of y against those of x: units of rows are permuted inside blocks.

    All permutations are listed if they are no more than `n_resamples` + 1; otherwise they are drawn
    as those of an `Exchange`.

    Parameters
    ----------
    block : array of int, shape (n,)
        Block of each row. Rows of a block follow one another.
    n_resamples : int
        Random draws besides the data.
    key : int
        Picks the draws.
    length : int or array of int, shape (n,)
        Consecutive rows of a unit; the same in a block, a divisor of the number of its rows.
    """

    block: Index
    n_resamples: int
    key: int
    length: int | Index = 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.block)

    @cached_property
    def _blocks(self) -> Exchange:
        """The blocks of rows, as those of atoms without labels."""
        return Exchange(np.zeros(self.n_rows, np.int64), self.block, 0, 0)

    @cached_property
    def _lengths(self) -> Index:
        """Rows of a unit of each block."""
        return np.broadcast_to(self.length, self.n_rows)[self._blocks.starts[:-1]]

    @cached_property
    def units(self) -> Index:
        """Number of units in each block."""
        return np.asarray(np.diff(self._blocks.starts) // self._lengths)

    def centred(self, values: Array) -> Array:
        """Subtract from each row the mean of its block, which no permutation changes."""
        return self._blocks.centred(values)

    @cached_property
    def n_permutations(self) -> float:
        """Number of permutations. Infinite if it is beyond 1e12."""
        log = sum(lgamma(u + 1) for u in self.units)
        return inf if log > 28.0 else float(prod(factorial(int(u)) for u in self.units))

    @property
    def n_draws(self) -> int:
        """Number of draws, the data among them."""
        return int(min(self.n_permutations, self.n_resamples + 1))

    @cached_property
    def orders(self) -> Index:
        """Row of y that meets each row of x under every draw, (F, n), the data first."""
        lengths = np.repeat(self._lengths, self.units)
        starts = np.cumsum(lengths) - lengths
        offset = np.arange(self.n_rows) - np.repeat(starts, lengths)
        moved = self._listed() if self.n_draws == self.n_permutations else self._drawn()
        return np.asarray(np.repeat(starts[moved], lengths, axis=1) + offset)

    def _listed(self) -> Index:
        """All orders of the units, (F, units)."""
        lists = [np.array(list(permutations(range(u)))) for u in self.units]
        at = np.indices([len(own) for own in lists]).reshape(len(lists), -1)
        first = np.cumsum(self.units) - self.units
        parts = zip(lists, at, first, strict=True)
        return np.concatenate([own[i] + start for own, i, start in parts], axis=1)

    def _drawn(self) -> Index:
        """Random orders of the units, (F, units), the data first."""
        block, parts = np.repeat(np.arange(len(self.units)), self.units), []
        for first in range(0, self.n_draws, DRAWS_AT_ONCE):
            rng = np.random.Generator(np.random.Philox(key=np.array([self.key, first], np.uint64)))
            count = min(DRAWS_AT_ONCE, self.n_draws - first)
            parts.append(np.argsort(block + rng.random((count, len(block))), axis=1))
        parts[0][0] = np.arange(len(block))
        return np.concatenate(parts)
