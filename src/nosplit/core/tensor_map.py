"""An observation (x, y) → numbers whose products show dependence.

A product k(x, x') l(y, y') of kernels that are mixtures of waves is a mixture of products of waves:
the mean over frequencies (ω, η) of Re e^{iω'(x - x')} e^{iη'(y - y')}. A pair of frequencies gives
one complex number for x and one for y; their product, centred in small units of observations, is
what cells sum. Linear kernels give coordinates instead of waves, others their values at landmarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.core.feature_map import STEP, spread_of
from nosplit.kernels import Kernel, Linear, OnColumns
from nosplit.kernels.frequencies import (
    frequencies_of,
    has_frequencies,
    projected,
    turns_by_spread,
)
from nosplit.kernels.orders import column_order
from nosplit.kernels.tensor import Tensor

__all__ = ["Factor", "TensorMap", "fit_tensor_map", "linear_columns"]

# Spreads of a column, or sizes of a kernel, beyond which a value counts as this far.
FAR = 512.0
# Products of columns of two linear kernels, in multiples of the frequencies of a kernel.
OUTER = 4


@dataclass(frozen=True, eq=False)
class Factor:
    """The numbers of one variable for some pairs: waves, coordinates or values at landmarks.

    Attributes
    ----------
    turns, phases : array, shape (p, F)
        As in `Frequencies`, for waves; 0 for others.
    projections : array, shape (p, F)
        Weights of the columns, in spreads, for linear kernels; 0 for others.
    weights : array, shape (F,)
        The squares of what the numbers count.
    kernel : Kernel or None
        One that is evaluated at landmarks.
    """

    turns: Array
    phases: NDArray[np.uint32]
    projections: Array
    weights: Array
    kernel: Kernel | None = None

    @property
    def real(self) -> bool:
        """Whether the numbers are real, those of waves not being so."""
        return self.kernel is not None or bool(self.projections.any())

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, which: Index) -> Factor:
        return Factor(
            self.turns[:, which],
            self.phases[:, which],
            self.projections[:, which],
            self.weights[which],
            self.kernel,
        )


def _drawn_waves(kernel: Kernel, places: Index, count: int, rng: np.random.Generator) -> Factor:
    drawn = frequencies_of(kernel, places, count, rng)
    return Factor(drawn.turns, drawn.phases, np.zeros(drawn.turns.shape), drawn.weights)


def _landmark_values(projections: Array, weights: Array, kernel: Kernel | None = None) -> Factor:
    none = np.zeros(projections.shape)
    return Factor(none, none.astype(np.uint32), projections, weights, kernel)


@dataclass(frozen=True, eq=False)
class SketchVariable:
    """A variable as its pilot rows show it.

    Attributes
    ----------
    center, spread : array, shape (p,)
        Of each column.
    landmarks : array, shape (L, p)
        Pilot rows, for kernels that are neither linear nor mixtures of waves.
    order : array of int, shape (p,)
        The columns in the order in which frequencies and directions are drawn for them. It goes
        with the columns, wherever they stand.
    """

    center: Array
    spread: Array
    landmarks: Array
    order: Index

    @cached_property
    def places(self) -> Index:
        """Place of each column in the order, (p,)."""
        return np.argsort(self.order)

    @property
    def p(self) -> int:
        """Number of columns."""
        return len(self.center)

    def linear(self, columns: Sequence[int], count: int, rng: np.random.Generator) -> Factor:
        """Coordinates in turn, or random directions where there are more columns than numbers."""
        k, chosen = len(columns), [j for j in self.order.tolist() if j in columns]
        along = np.zeros((self.p, count))
        if k <= count:
            along[np.array(chosen)[np.arange(count) % k], np.arange(count)] = np.sqrt(k)
        else:
            along[chosen] = rng.standard_normal((k, count))
        return self.projected(along, 1.0 / count)

    def projected(self, along: Array, weight: float) -> Factor:
        """Numbers v'x for directions v, (p, F), divided by their size in spreads."""
        scaled = along * self.spread[:, None]
        size = np.sqrt(np.sum(scaled * scaled, axis=0))
        return _landmark_values(scaled / size, weight * size * size)

    def factor(self, kernel: Kernel, count: int, rng: np.random.Generator) -> Factor:
        """About so many numbers for a kernel."""
        if has_frequencies(kernel):
            return _drawn_waves(kernel, self.places, count, rng)
        columns = linear_columns(kernel, self.p)
        if columns is not None:
            return self.linear(columns, count, rng)
        count = min(count, len(self.landmarks))
        scale = self.scale(kernel)
        return _landmark_values(
            np.zeros((self.p, count)), np.full(count, scale * scale / count), kernel
        )

    def scale(self, kernel: Kernel) -> float:
        """The size of a kernel on the landmarks."""
        size = float(np.median(np.abs(np.diagonal(kernel.tile(self.landmarks, self.landmarks)))))
        return size if size > 0 and np.isfinite(size) else 1.0


@dataclass(frozen=True, eq=False)
class VariableWaves:
    """All numbers of one variable."""

    variable: SketchVariable
    factors: tuple[Factor, ...]

    def __len__(self) -> int:
        return sum(map(len, self.factors))

    @cached_property
    def turns(self) -> NDArray[np.float32]:
        """Turns for a spread of each column, (p, W)."""
        turns = np.concatenate([f.turns for f in self.factors], axis=1)
        return turns_by_spread(turns, self.variable.spread)

    @cached_property
    def phases(self) -> tuple[Index, NDArray[np.uint32]]:
        """Columns whose values have phases, and the multipliers of their hashes."""
        phases = np.concatenate([f.phases for f in self.factors], axis=1)
        columns = np.flatnonzero(phases.any(axis=1))
        return columns, np.ascontiguousarray(phases[columns])

    def numbers(self, rows: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Real and imaginary parts of the numbers of rows, (n, W)."""
        spreads = (rows - self.variable.center) / self.variable.spread
        # Sums over columns go in an order of their own, wherever these stand.
        order = self.variable.order
        scaled = np.asarray(np.clip(spreads, -FAR, FAR), dtype=np.float32)[:, order]
        turns = projected(scaled, self.turns[order])
        columns, multipliers = self.phases
        if len(columns):
            from nosplit.backend.numba.sketch import add_phases

            add_phases(rows, columns, self.variable.places[columns], multipliers, turns)
        turns -= np.rint(turns)
        turns *= np.float32(2.0 * np.pi)
        real, imaginary = np.cos(turns), np.sin(turns)
        start = 0
        for factor in self.factors:
            where = slice(start, start + len(factor))
            start = where.stop
            if factor.real:
                real[:, where], imaginary[:, where] = self._values(factor, rows, scaled), 0.0
        return real, imaginary

    def _values(self, factor: Factor, rows: NDArray[Any], scaled: NDArray[np.float32]) -> Array:
        """Numbers that are no waves, of rows and of their columns in order, in spreads."""
        if factor.kernel is None:
            onto = factor.projections[self.variable.order]
            values = projected(scaled.astype(np.float64), onto)
        else:
            landmarks = self.variable.landmarks[: len(factor)]
            values = factor.kernel.tile(rows, landmarks) / self.variable.scale(factor.kernel)
        return np.asarray(np.clip(values, -FAR, FAR))


@dataclass(frozen=True, eq=False)
class TensorMap:
    """The map of a sketch of observations, made of pilot ones.

    Attributes
    ----------
    kernels : tuple of Tensor
        The base kernels, with their bandwidths.
    x, y : SketchVariable
        What is known of either variable.
    frequencies : int
        Pairs of frequencies of a kernel.
    key : int
        Picks the frequencies.
    """

    kernels: tuple[Tensor, ...]
    x: SketchVariable
    y: SketchVariable
    frequencies: int
    key: int

    @cached_property
    def factors(self) -> list[tuple[Factor, Factor]]:
        """The numbers of x and of y of each kernel, as many of either."""
        found = []
        for u, tensor in enumerate(self.kernels):
            rng = np.random.Generator(np.random.Philox(key=np.array([self.key, u], np.uint64)))
            found.append(self._outer(tensor) or self._pairs(tensor, rng))
        return found

    def _outer(self, tensor: Tensor) -> tuple[Factor, Factor] | None:
        """All products of columns of two linear kernels, if they are not too many."""
        x, y = linear_columns(tensor.x, self.x.p), linear_columns(tensor.y, self.y.p)
        if x is None or y is None or len(x) * len(y) > OUTER * self.frequencies:
            return None
        pairs = np.stack(np.meshgrid(x, y, indexing="ij")).reshape(2, -1)
        both = self.x.projected(np.eye(self.x.p)[:, pairs[0]], 1.0)
        # Products count as many times as there are: here each is a term, not one of a sample.
        return both, self.y.projected(np.eye(self.y.p)[:, pairs[1]], 1.0 / pairs.shape[1])

    def _pairs(self, tensor: Tensor, rng: np.random.Generator) -> tuple[Factor, Factor]:
        """Numbers of the two kernels, paired at random: terms of sums all meet one another."""
        x = self.x.factor(tensor.x, self.frequencies, rng)
        y = self.y.factor(tensor.y, self.frequencies, rng)
        count = min(len(x), len(y))
        return _some(x, count, rng), _some(y, count, rng)

    @cached_property
    def sides(self) -> tuple[VariableWaves, VariableWaves]:
        """All numbers of x, and all of y."""
        x, y = zip(*self.factors, strict=True)
        return VariableWaves(self.x, x), VariableWaves(self.y, y)

    @property
    def n_pairs(self) -> int:
        """Pairs of numbers of x and of y."""
        return len(self.sides[0])

    @cached_property
    def features(self) -> list[tuple[Index, Array]]:
        """For each kernel, the places of its numbers in a cell, and the value of a step of each."""
        W, found, start = self.n_pairs, [], 0
        for x, y in self.factors:
            where = np.arange(start, start + len(x))
            start += len(x)
            steps = np.sqrt(x.weights * y.weights * len(x))
            if not (x.real and y.real):
                where, steps = np.concatenate([where, W + where]), np.tile(steps, 2)
            found.append((where, steps / STEP))
        return found


def _some(factor: Factor, count: int, rng: np.random.Generator) -> Factor:
    """Pick so many of the numbers at random; they have the weight of all."""
    if factor.kernel is not None:  # landmarks have a place
        return factor[np.arange(count)]
    chosen = factor[rng.permutation(len(factor))[:count]]
    whole = factor.weights.sum() / chosen.weights.sum()
    return replace(chosen, weights=chosen.weights * whole)


def fit_tensor_map(
    x: NDArray[Any],
    y: NDArray[Any],
    kernels: tuple[Tensor, ...],
    *,
    frequencies: int,
    key: int,
) -> TensorMap:
    """Make the map of a sketch of pilot observations.

    Parameters
    ----------
    x, y : array, shape (n, p) and (n, r)
        Pilot rows, which are in no cell.
    kernels : tuple of Tensor
        The base kernels, with their bandwidths.
    frequencies : int
        Pairs of frequencies of a kernel.
    key : int
        Picks the frequencies.
    """
    sides = []
    for rows in (x, y):
        rows = np.asarray(rows, dtype=np.float64)
        center, spread = np.array([spread_of(column) for column in rows.T]).T
        landmarks = rows[:: -(-len(rows) // frequencies)]
        sides.append(SketchVariable(center, spread, landmarks, column_order(rows)))
    return TensorMap(kernels, sides[0], sides[1], frequencies, key)


def linear_columns(kernel: Kernel, p: int) -> tuple[int, ...] | None:
    """Columns of a linear kernel; None for others."""
    match kernel:
        case Linear():
            return tuple(range(p))
        case OnColumns(Linear(), columns):
            return columns
    return None
