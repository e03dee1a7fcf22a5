"""Exchanges under the null hypothesis: which cells change places.

Two cells of the same number of rows may change places. With as many cells of x as of y they are
swapped in pairs, by signs; otherwise the labels of all cells are permuted, or those inside each of
many groups of cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.draws import FEW_LABELS
from nosplit._old.sketch.units import Array32, CellUnits, whole_units
from nosplit._types import Array

__all__ = ["DRAWS", "CellDraws", "Slots", "Swaps", "chunks_of"]

# Draws computed at once.
DRAWS = 512


class CellDraws(Protocol):
    """Draws: what the null hypothesis lets happen to cells, as products with weights.

    A cell has as many rows in the matrix that weights are multiplied with as it may look, `looks`:
    one where it keeps its number and changes its sign or its label, several where a draw picks
    one of them.
    """

    @property
    def n_units(self) -> int:
        """Number of cells, or of pairs of them."""
        ...

    @property
    def looks(self) -> int:
        """Rows of the matrix that belong to one unit."""
        ...

    @property
    def spread(self) -> float:
        """Mean square of the weight of a row, less what all have in common."""
        ...

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        ...

    def weights(self, first: int, count: int) -> Array32:
        """Weights of all rows under some draws."""
        ...

    def sums(self, weights: Array32, units: CellUnits) -> Array:
        """Sums of weighted rows, less their mean over all draws."""
        ...

    def about_mean(self, units: Array) -> Array:
        """Rows about what no draw moves."""
        ...

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of rows along some directions."""
        ...


def chunks_of(flips: int) -> Iterator[tuple[int, int]]:
    """Number and size of each chunk of so many draws, the observed one included."""
    return ((i, min(DRAWS, flips + 1 - i)) for i in range(0, flips + 1, DRAWS))


@dataclass(frozen=True)
class Swaps:
    """Draws that swap pairs of cells by signs, or permute all labels.

    Labels are permuted where numbers of cells differ, or where `labels` says so.
    """

    n_x: int
    n_y: int
    flips: int
    key: int
    labels: bool = field(default=False, kw_only=True)

    @property
    def paired(self) -> bool:
        """Whether cells are swapped in pairs."""
        return self.n_x == self.n_y and not self.labels

    @property
    def n_units(self) -> int:
        """Rows of the matrix that draws are multiplied with."""
        return self.n_x if self.paired else self.n_x + self.n_y

    @property
    def looks(self) -> int:
        """Rows of the matrix that belong to one unit."""
        return 1

    def units(self, x: NDArray[Any], y: NDArray[Any]) -> CellUnits:
        """Units as draws are multiplied with them: differences of pairs, or cells about their mean.

        Under no draw does their rounding change.
        """
        if self.paired:
            values = np.subtract(x, y, dtype=np.float64)
        else:
            values = np.concatenate([x, y]).astype(np.float64)
            values -= np.rint(values.mean(axis=0))
        return whole_units(values, self.n_units)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Number and size of each chunk of draws, the observed one included."""
        return chunks_of(self.flips)

    def weights(self, first: int, count: int) -> Array32:
        """Weights of units under some draws, (count, n_units): ±1, or 1 for cells labelled x."""
        if self.paired:
            signs = np.unpackbits(self.bits(first, count), axis=1)[:, : self.n_units]
            weights = np.float32(1.0) - np.float32(2.0) * signs
        else:
            from nosplit.backend.numba.dealing import chosen

            key = np.array([self.key, first], dtype=np.uint64)
            rng = np.random.Generator(np.random.Philox(key=key))
            weights = np.zeros((count, self.n_units), np.float32)
            chosen(rng.random((count, self.n_x)), weights)
        if first == 0:
            weights[0] = 1.0 if self.paired else np.arange(self.n_units) < self.n_x
        return weights

    def bits(self, first: int, count: int) -> NDArray[np.uint8]:
        """Signs of units under a chunk of draws, eight to a byte: 1 for those that are negative.

        Those of the observed draw are random here, too.
        """
        key = np.array([self.key, first], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        found = np.frombuffer(rng.bytes(count * -(-self.n_units // 8)), dtype=np.uint8)
        return found.reshape(count, -1)

    @property
    def spread(self) -> float:
        """Mean square of a unit's weight, less what all have in common."""
        share = self.n_x / (self.n_x + self.n_y)
        return 1.0 if self.paired else share * (1.0 - share)

    def sums(self, weights: Array32, units: CellUnits) -> Array:
        """Sums of weighted units, less their mean over all draws."""
        if self.paired:
            return np.asarray(weights @ units.values, dtype=np.float64)
        total: Array = units.values.sum(axis=0, dtype=float)
        return self._labelled(weights, units.values, total) - self.n_x / self.n_units * total

    def _labelled(self, weights: Array32, values: Array32, total: Array) -> Array:
        """Sums of the units that are labelled x: few are added up, or few taken from all."""
        if FEW_LABELS * min(self.n_x, self.n_y) > self.n_units:
            return np.asarray(weights @ values, dtype=np.float64)
        from nosplit.backend.numba.dealing import marked_sums

        few, sums = self.n_x < self.n_y, np.empty((len(weights), len(total)), np.float32)
        marked_sums(weights, np.float32(few), values, sums)
        return sums.astype(np.float64) if few else total - sums

    def about_mean(self, units: Array) -> Array:
        """Units about what no draw moves: 0 for differences, their mean for cells."""
        return units if self.paired else units - units.mean(axis=0)

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of units along some directions."""
        centred = self.about_mean(along)
        share = 1.0 if self.paired else self.n_units / (self.n_units - 1) * self.spread
        return share * np.asarray(np.einsum("ik,ik->k", centred, centred))


@dataclass(frozen=True)
class Slots(Swaps):
    """Labels are permuted inside groups: each has as many cells of x, and as many of y.

    The cells of x come first, those of a group one after the other, then those of y. Cells may be
    of different sizes in different groups.
    """

    groups: int = 1

    @property
    def paired(self) -> bool:
        """Cells are labelled, not swapped by signs."""
        return False

    @property
    def per_group(self) -> tuple[int, int]:
        """Cells of x and of y in a group."""
        return self.n_x // self.groups, self.n_y // self.groups

    def units(self, x: NDArray[Any], y: NDArray[Any]) -> CellUnits:
        """All cells about the mean of their group."""
        values = np.concatenate([x, y]).astype(np.float64)
        values -= np.rint(values - self.about_mean(values))
        return whole_units(values, self.n_units)

    def weights(self, first: int, count: int) -> Array32:
        """Weights of units under some draws: 1 for cells labelled x."""
        key = np.array([self.key, first], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        a, b = self.per_group
        places = rng.random((count, self.groups, a + b)).argsort(axis=2).argsort(axis=2)
        labelled = (places < a).astype(np.float32)
        if first == 0:
            labelled[0] = np.arange(a + b) < a
        sides = labelled[:, :, :a], labelled[:, :, a:]
        return np.concatenate([side.reshape(count, -1) for side in sides], axis=1)

    @property
    def spread(self) -> float:
        """Variance of a sum of labelled units of a group, over the sum of their squares."""
        a, b = self.per_group
        return a * b / ((a + b) * (a + b - 1))

    def about_mean(self, units: Array) -> Array:
        """Units about the mean of their group."""
        a, b = self.per_group
        x = units[: self.n_x].reshape(self.groups, a, -1)
        y = units[self.n_x :].reshape(self.groups, b, -1)
        mean = (x.sum(axis=1, keepdims=True) + y.sum(axis=1, keepdims=True)) / (a + b)
        parts = [(side - mean).reshape(-1, units.shape[1]) for side in (x, y)]
        return np.concatenate(parts)

    def mean_square(self, along: Array) -> Array:
        """Mean over all draws of squared sums, of units along some directions."""
        centred = self.about_mean(along)
        return self.spread * np.asarray(np.einsum("ik,ik->k", centred, centred))
