"""Random labels of units: inside blocks for two samples, among all units for several.

A statistic is the squared length of a sum of features, weighted by labels, less its mean over all
draws. With labels 0 and 1 less the share of x in the block as weights, a block of n and m units
counts nm / (n + m) times the difference of its means, as in the test of Cochran, Mantel and
Haenszel; two units in a block are a pair whose sign is flipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.swaps import chunks_of
from nosplit._old.sketch.units import Array32, CellUnits, exact_units
from nosplit._types import Array, Index

__all__ = ["BlockDraws", "SampleDraws"]

# Up to so many blocks it is asked whether all ways to deal labels are few enough to be listed.
FEW_BLOCKS = 24


def _block_generator(key: int, first: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=np.array([key, first], dtype=np.uint64)))


@dataclass(frozen=True, eq=False)
class BlockDraws:
    """Labels of two samples, permuted inside blocks.

    Parameters
    ----------
    starts : array of int, shape (B + 1,)
        Where the units of each block begin.
    counts : array of int, shape (B,)
        Units of x in each block, which come first in it.
    wanted : int
        Number of random draws; all labellings instead if there are no more.
    key : int
        Picks the draws.
    """

    starts: Index
    counts: Index
    wanted: int
    key: int

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.starts[-1])

    @property
    def looks(self) -> int:
        """Rows of the matrix that belong to one unit."""
        return 1

    @property
    def spread(self) -> float:
        """Mean square of a weight: `about_mean` has it in it already, as blocks differ in it."""
        return 1.0

    @cached_property
    def sizes(self) -> Index:
        """Units of each block."""
        return np.diff(self.starts)

    @cached_property
    def shares(self) -> Array:
        """Share of x in the block of each unit."""
        return np.repeat(self.counts / self.sizes, self.sizes)

    @cached_property
    def variances(self) -> Array:
        """Variance of the label of each unit, times what labels of a block have in common."""
        share = self.counts / self.sizes
        return np.repeat(share * (1.0 - share) * self.sizes / (self.sizes - 1.0), self.sizes)

    @cached_property
    def even(self) -> bool:
        """Whether every block has as many units of x as of y, so that samples may change names."""
        return bool(np.all(2 * self.counts == self.sizes))

    @cached_property
    def relabellings(self) -> float:
        """Labellings that may differ in their statistics: of mirrored ones, one."""
        log = sum(
            math.lgamma(n + 1) - math.lgamma(a + 1) - math.lgamma(n - a + 1)
            for n, a in zip(self.sizes.tolist(), self.counts.tolist(), strict=True)
        )
        return (0.5 if self.even else 1.0) * round(math.exp(log)) if log < 30.0 else math.inf

    def _named(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Call the sample of unit 0 x under every draw, where either may be, so that ties tie."""
        if self.even:
            mirrored = labels[:, 0] == 0
            labels[mirrored] = 1 - labels[mirrored]
        return labels

    @cached_property
    def every(self) -> NDArray[np.int8] | None:
        """All labellings, the observed one first, if there are no more than draws; else None."""
        both = list(zip(self.sizes.tolist(), self.counts.tolist(), strict=True))
        if len(both) > FEW_BLOCKS or prod(comb(n, a) for n, a in both) > self.wanted + 1:
            return None
        ways = [np.array(list(combinations(range(n), a))) for n, a in both]
        picked = np.indices([len(way) for way in ways]).reshape(len(ways), -1)
        labels = np.zeros((picked.shape[1], self.n_units), np.int8)
        for start, way, number in zip(self.starts, ways, picked, strict=False):
            np.put_along_axis(labels, start + way[number], 1, axis=1)
        return self._named(labels)

    @property
    def flips(self) -> int:
        """Draws besides the observed one."""
        return self.wanted if self.every is None else len(self.every) - 1

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        return chunks_of(self.flips)

    def weights(self, first: int, count: int) -> Array32:
        """1 for units labelled x and 0 for others under some draws, (count, U)."""
        if self.every is not None:
            return self.every[first : first + count].astype(np.float32)
        from nosplit.backend.numba.dealing import chosen_inside

        weights = np.zeros((count, self.n_units), np.float32)
        uniform = _block_generator(self.key, first).random((count, int(self.counts.sum())))
        chosen_inside(uniform, self.starts, self.counts, len(self.counts), weights)
        if first == 0:
            place = np.arange(self.n_units) - np.repeat(self.starts[:-1], self.sizes)
            weights[0] = place < np.repeat(self.counts, self.sizes)
        return np.asarray(self._named(weights))

    def centred(self, values: Array) -> Array:
        """Units about the mean of their block, which no draw moves."""
        sums = np.add.reduceat(values, self.starts[:-1], axis=0)
        return np.asarray(values - np.repeat(sums / self.sizes[:, None], self.sizes, axis=0))

    def units(self, values: NDArray[Any]) -> CellUnits:
        """Units as draws are multiplied with them."""
        return exact_units(self.centred(np.asarray(values, dtype=np.float64)))

    def sums(self, weights: Array32, units: CellUnits) -> Array:
        """Sums of the units labelled x, less their mean over all draws."""
        sums: Array = (weights @ units.values).astype(np.float64)
        return np.asarray(sums - self.shares @ units.values)

    def about_mean(self, units: Array) -> Array:
        """Units about the mean of their block, times the spread of their labels."""
        return np.sqrt(self.variances)[:, None] * self.centred(units)

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of units along some directions."""
        centred = self.about_mean(along)
        return np.asarray(np.einsum("ik,ik->k", centred, centred))


@dataclass(frozen=True, eq=False)
class SampleDraws:
    """Labels of several samples, permuted among all units.

    Squares of the sums of the samples are divided by their sizes and added, which makes n_k times
    the squared distance of each sample's mean from the mean of all.

    Parameters
    ----------
    sizes : array of int, shape (K,)
        Units of each sample, one after the other.
    wanted : int
        Number of random draws; all labellings instead if there are no more.
    key : int
        Picks the draws.
    """

    sizes: Index
    wanted: int
    key: int

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.sizes.sum())

    @property
    def looks(self) -> int:
        """Rows of the matrix that belong to one unit."""
        return 1

    @property
    def relabellings(self) -> float:
        """Labellings that may differ in their statistics: samples of one size may change names."""
        n = self.n_units
        log = math.lgamma(n + 1) - sum(math.lgamma(k + 1) for k in self.sizes.tolist())
        log -= sum(math.lgamma(k + 1) for k in np.bincount(self.sizes).tolist())
        return round(math.exp(log)) if log < 30.0 else math.inf

    @cached_property
    def every(self) -> NDArray[np.int16] | None:
        """All labellings, the observed one first, if there are no more than draws; else None."""
        n, last = self.n_units, len(self.sizes) - 1
        left = n - np.cumsum(self.sizes)
        ways = [comb(int(rest + own), int(own)) for rest, own in zip(left, self.sizes, strict=True)]
        if prod(ways) > self.wanted + 1:
            return None
        labels = np.full((1, n), last, np.int16)
        for k, own in enumerate(self.sizes[:-1].tolist()):
            free = np.array([np.flatnonzero(row == last) for row in labels])
            picked = np.array(list(combinations(range(free.shape[1]), own)))
            places = free[:, picked].reshape(-1, own)
            labels = np.repeat(labels, len(picked), axis=0)
            np.put_along_axis(labels, places, k, axis=1)
        return self._named(labels)

    @property
    def flips(self) -> int:
        """Draws besides the observed one."""
        return self.wanted if self.every is None else len(self.every) - 1

    def _named(self, labels: NDArray[np.int16]) -> NDArray[np.int16]:
        """Number samples of one size in the order of their first units, so that ties tie."""
        first = np.stack([(labels == k).argmax(axis=1) for k in range(len(self.sizes))], axis=1)
        number = np.empty(first.shape, np.int16)
        for size in np.unique(self.sizes):
            alike = np.flatnonzero(self.sizes == size)
            number[:, alike] = alike[first[:, alike].argsort(axis=1).argsort(axis=1)]
        return np.take_along_axis(number, labels, axis=1)

    @property
    def spread(self) -> float:
        """Standard deviation, over draws, of the weight that a pair of units has."""
        return float(np.sqrt(len(self.sizes) - 1.0) / (self.n_units - 1.0))

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        return chunks_of(self.flips)

    def weights(self, first: int, count: int) -> NDArray[Any]:
        """Samples of all units under some draws, (count, U)."""
        if self.every is not None:
            return self.every[first : first + count]
        labels = np.repeat(np.arange(len(self.sizes), dtype=np.int16), self.sizes)
        drawn = np.tile(labels, (count, 1))
        rows = slice(1, None) if first == 0 else slice(None)
        drawn[rows] = _block_generator(self.key, first).permuted(drawn[rows], axis=1)
        return self._named(drawn)

    def units(self, values: NDArray[Any]) -> CellUnits:
        """Units as draws are multiplied with them: about their mean."""
        return exact_units(self.about_mean(np.asarray(values, dtype=np.float64)))

    def sums(self, weights: NDArray[Any], units: CellUnits) -> Array:
        """Sums of the units of each sample over the root of its size, (count, K, D)."""
        from nosplit.backend.numba.dealing import sums_by_sample

        K, D = len(self.sizes), units.values.shape[1]
        sums = np.zeros((len(weights), K, D), np.float32)
        sums_by_sample(weights, units.values, len(units.values), D, sums)
        mean = units.values.mean(axis=0, dtype=np.float64)
        return np.asarray((sums - self.sizes[:, None] * mean) / np.sqrt(self.sizes)[:, None])

    def about_mean(self, units: Array) -> Array:
        """Units about their mean, which no draw moves."""
        return np.asarray(units - units.mean(axis=0))

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of what squares of sums add up to."""
        centred = self.about_mean(along)
        share = (len(self.sizes) - 1.0) / (self.n_units - 1.0)
        return share * np.asarray(np.einsum("ik,ik->k", centred, centred))
