"""Sums over all rows → the size of a difference, and the witness function anywhere.

Features φ_u of a kernel make it an inner product. Rows are dealt at random to cells, and cells of x
and of y to units, so that D_i = mean φ(x) - mean φ(y) over the rows of unit i: all pairs of units
see all pairs of rows but those inside a unit, and the witness function at z is ⟨φ(z), mean D⟩.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.pair_means import Means
from nosplit._old.sketch.dealing import Layout
from nosplit._old.sketch.maps import SketchMap, fit_map
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Array, Index
from nosplit.core.feature_map import STEP
from nosplit.kernels import Kernel
from nosplit.kernels.frequencies import projected
from nosplit.kernels.recipes import as_recipe

__all__ = ["CellWitness", "UnitCells", "map_for", "noise_of_cells", "noise_of_rows"]

# Frequencies of a kernel, and pilot rows of either sample that scales are taken from.
FREQUENCIES, PILOT = 64, 1000
# Rows whose features are held at a time, and units whose pairs are looked at together.
ROWS, UNITS = 1024, 64


def map_for(
    kernels: Sequence[Kernel], x: NDArray[Any], y: NDArray[Any], rng: np.random.Generator
) -> SketchMap:
    """Features of the kernels of a result; of columns by themselves there are none."""
    rows = np.concatenate([x[:PILOT], y[:PILOT]])
    fitted = fit_map(
        rows,
        as_recipe(tuple(kernels)),
        categorical=(),
        frequencies=FREQUENCIES,
        cells=1,
        key=int(rng.integers(2**63)),
    )
    return replace(fitted, bins=(), pairs=np.empty((0, 2), np.int64))


@dataclass(frozen=True, eq=False)
class CellWitness:
    """A witness function as weights of features.

    Attributes
    ----------
    map : SketchMap
        The features.
    weights : array, shape (D,)
        What the number of each feature, in steps, adds.
    """

    map: SketchMap
    weights: Array

    def __call__(self, rows: NDArray[Any]) -> Array:
        """The function at rows of numbers, not centred."""
        parts = [self._block(rows[i : i + ROWS]) for i in range(0, len(rows), ROWS)]
        return np.concatenate([np.empty(0), *parts])

    def _block(self, rows: NDArray[Any]) -> Array:
        from nosplit.backend.numba.sketch import add_phases, standardised_rows, wave_values

        sketch, n = self.map, len(rows)
        F = sketch.n_waves
        scaled = np.empty((n, sketch.p), np.float32)
        standardised_rows(rows, sketch.order, sketch.center, sketch.scale, scaled)
        turns = projected(scaled, sketch.turns)
        if len(sketch.hashed):
            hashed = sketch.hashed
            add_phases(rows, hashed, sketch.places[hashed], sketch.phases, turns)
        found = np.empty(n)
        wave_values(turns, F, self._waves[:F], self._waves[F:], found)
        at = 2 * F + len(sketch.coordinates)
        linear = STEP * self.weights[2 * F : at]
        columns = sketch.places[sketch.coordinates]
        found += scaled[:, columns].astype(np.float64) @ linear
        if sketch.others:
            found += sketch.at_landmarks(np.asarray(rows, np.float64)) @ self.weights[at:]
        return found

    @cached_property
    def _waves(self) -> NDArray[np.float32]:
        return np.asarray(STEP * self.weights[: 2 * self.map.n_waves], np.float32)


@dataclass(frozen=True, eq=False)
class UnitCells:
    """Units of cells of both samples: means of features over their rows.

    Attributes
    ----------
    map : SketchMap
        The features.
    x, y : array, shape (N, D)
        Their means, in steps.
    rows : float
        Rows of either sample that tell as much as a unit does.
    counts : pair of int
        Rows of either sample, in all units.
    """

    map: SketchMap
    x: Array
    y: Array
    rows: float
    counts: tuple[int, int]

    @classmethod
    def of(cls, sketch: SketchMap, layout: Layout, x: CellSums, y: CellSums) -> UnitCells:
        """Deal the cells of the larger sample evenly to those of the smaller one."""
        n_units = min(layout.x.cells, layout.y.cells)
        means = [_dealt(sums.features, n_units) / layout.c for sums in (x, y)]
        sizes = [deal.cells / n_units for deal in (layout.x, layout.y)]
        rows = layout.c * 2.0 / sum(1.0 / size for size in sizes)
        counts = layout.x.n_dealt, layout.y.n_dealt
        return cls(sketch, means[0], means[1], rows, counts)

    def half(self, i: int) -> UnitCells:
        """Units of even or of odd numbers."""
        counts = self.counts[0] // 2, self.counts[1] // 2
        return replace(self, x=self.x[i::2], y=self.y[i::2], counts=counts)

    def half_of(self, cells: Index) -> Index:
        """Number of the half that the rows of some cells are in."""
        return np.asarray(cells % len(self.x) % 2)

    def means(self, noise: Array) -> Means:
        """Means of the values of pairs of rows, with the noise of one pair that rows have.

        Where cells have the noise of the means of their rows, errors are those of the units.
        """
        found = _means(self.map, self.x - self.y)
        seen = round(self.rows**2 * found.n_pairs)
        return Means(found.mean, noise, found.shared, seen)

    def witness(self, weights: Array) -> CellWitness:
        """The witness function of a combination of the kernels."""
        gap = (self.x - self.y).mean(axis=0)
        return CellWitness(self.map, _inner(self.map, weights, gap))

    def mean_witness(self, function: CellWitness) -> tuple[float, float]:
        """Means of a witness function over all rows of either sample."""
        x, y = (float(side.mean(axis=0) @ function.weights) for side in (self.x, self.y))
        return x, y

    def own_values(self, rows: NDArray[Any], weights: Array) -> Array:
        """Values k(row, row) of a combination of the kernels."""
        found = np.zeros(len(rows))
        for start in range(0, len(rows), ROWS):
            part = slice(start, start + ROWS)
            features = _row_features(self.map, rows[part])
            for (where, steps), weight in zip(self.map.features, weights, strict=True):
                found[part] += weight * ((features[:, where] * steps) ** 2).sum(axis=1)
        return found

    def at_own_rows(self, x: NDArray[Any], y: NDArray[Any], weights: Array) -> tuple[Array, Array]:
        """The witness function at some rows, each left out of its own sample's mean."""
        function, found = self.witness(weights), []
        for side, rows, sign in ((0, x, 1.0), (1, y, -1.0)):
            means = (self.x, self.y)[side].mean(axis=0)
            alike = CellWitness(self.map, _inner(self.map, weights, means))(rows)
            own = self.own_values(rows, weights)
            found.append(function(rows) + sign * (alike - own) / (self.counts[side] - 1))
        return found[0], found[1]


def _inner(sketch: SketchMap, weights: Array, means: Array) -> Array:
    """Weights of features for the mean of k(row, ·) over rows with given means of features."""
    found = np.zeros(len(means))
    for (where, steps), weight in zip(sketch.features, weights, strict=True):
        found[where] += weight * steps**2 * means[where]
    return found


def _dealt(sums: NDArray[np.int64], n_units: int) -> Array:
    """Means of the sums of the cells of each unit: cell i is in unit i mod N."""
    total, count = np.zeros((n_units, sums.shape[1])), np.zeros((n_units, 1))
    for start in range(0, len(sums), n_units):
        part = sums[start : start + n_units]
        total[: len(part)] += part
        count[: len(part)] += 1.0
    return np.asarray(total / count)


def noise_of_rows(sketch: SketchMap, x: NDArray[Any], y: NDArray[Any]) -> Array:
    """Covariance of the values of pairs of units that are one row of either sample."""
    gaps = _row_features(sketch, x) - _row_features(sketch, y)
    return _means(sketch, gaps.astype(np.float64)).cov


def noise_of_cells(sketch: SketchMap, x: CellSums, y: CellSums, c: int) -> Array:
    """The same from cells of c rows, where rows are not known.

    The gap of a unit of one row each is D = μ + ε, so that a pair has the value ⟨D, D'⟩ with the
    covariance 2 μᵀSμ + tr(SS), S being that of ε; means over the c rows of a cell have S/c.
    """
    n = min(len(x.features), len(y.features))
    gaps = (x.features[:n] - y.features[:n]) / c
    mean = gaps.mean(axis=0)
    rest = (gaps - mean) * np.sqrt(c * n / (n - 1.0))  # with the noise of rows
    along = [(rest[:, where] * steps) @ (mean[where] * steps) for where, steps in sketch.features]
    linear = 2.0 * np.stack(along) @ np.stack(along).T / n
    return np.asarray(_means(sketch, rest).cov + linear)


def _row_features(sketch: SketchMap, rows: NDArray[Any]) -> NDArray[np.int64]:
    """The features of rows, in steps: cells of one row."""
    sums = CellSums.empty(sketch, len(rows))
    sums.add(sketch, rows, np.arange(len(rows), dtype=np.int32))
    return sums.features


def _means(sketch: SketchMap, gaps: Array) -> Means:
    """Means of ⟨D_i, D_j⟩ over all pairs of units, some units at a time."""
    d, n = len(sketch.features), len(gaps)
    parts = [gaps[:, where] * steps for where, steps in sketch.features]
    total, second, sums = np.zeros(d), np.zeros((d, d)), np.zeros((d, n))
    for start in range(0, n, UNITS):
        values = np.stack([part[start : start + UNITS] @ part.T for part in parts])
        units = np.arange(values.shape[1])
        values[:, units, start + units] = 0.0  # a unit makes no pair with itself
        sums[:, start : start + UNITS] = values.sum(axis=2)
        flat = values.reshape(d, -1)
        total += flat.sum(axis=1)
        second += flat @ flat.T
    m = n * (n - 1) // 2
    mean = total / 2.0 / m  # every pair was seen from both of its units
    scatter = second / 2.0 - m * np.outer(mean, mean)
    return Means.put_together(mean, scatter, sums - (n - 1) * mean[:, None], m)
