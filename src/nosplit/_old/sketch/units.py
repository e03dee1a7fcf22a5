"""Numbers of cells in whole steps, and ways to look at sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array

__all__ = ["EXACT", "Array32", "CellUnits", "Lens", "exact_units", "lenses_in_turn", "whole_units"]

Array32 = NDArray[np.float32]

# Integers up to here are exact in float32, sums of them too.
EXACT = 1 << 24


@dataclass(frozen=True, eq=False)
class Lens:
    """One way to look at the sum of features: kernels that are quadratic forms of the same numbers.

    Attributes
    ----------
    where : array of int, or slice
        Places of the numbers in a cell.
    axes : array, shape (len(where), k) or (len(where),)
        Directions in which they are looked at; one number each for the numbers as they are.
    gains : array, shape (k, s)
        Weights of the squares along these directions, a column for each of s kernels.
    shows : tuple of str
        What its statistics show of a column, where that is told apart.
    """

    where: NDArray[np.int64] | slice
    axes: Array
    gains: Array
    shows: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of what its statistics show; empty where that is not told apart."""
        return self.shows or ("",) * self.gains.shape[1]

    def along(self, numbers: NDArray[Any]) -> Array:
        """Numbers of cells, or sums of them, along the axes."""
        own = numbers[..., self.where].astype(np.float64, copy=False)
        return own * self.axes if self.axes.ndim == 1 else np.asarray(own @ self.axes)


def lenses_in_turn(steps: Array, gains: Sequence[Array]) -> list[Lens]:
    """Lenses on runs of numbers that follow one another, each with gains of its own."""
    ends = np.cumsum([len(own) for own in gains])
    places = (slice(int(end) - len(own), int(end)) for end, own in zip(ends, gains, strict=True))
    return [Lens(at, steps[at], own) for at, own in zip(places, gains, strict=True)]


@dataclass(frozen=True, eq=False)
class CellUnits:
    """Cells, or differences of them, in integers, and the value of a step of each column."""

    values: Array32
    steps: Array

    def along(self, lens: Lens) -> Array:
        """Units along the axes of a lens."""
        return lens.along(self.values)


def whole_units(values: Array, terms: int) -> CellUnits:
    """Units rounded so that sums of so many of them are exact in float32.

    Products are then the same however they are cut, and draws that tie, tie exactly.
    """
    largest = np.maximum(values.max(axis=0), -values.min(axis=0))
    steps = np.maximum(largest * terms / EXACT, 1.0)
    if np.all(steps == 1.0):  # counts of few rows: wide tables have many of them
        return CellUnits(np.rint(values).astype(np.float32), steps)
    return CellUnits(np.rint(values / steps).astype(np.float32), steps)


def exact_units(values: Array) -> CellUnits:
    """Units of any numbers rounded to steps, so that sums of all of them are exact in float32."""
    steps = np.abs(values).max(axis=0, initial=0.0) * (len(values) / EXACT)
    steps[steps == 0.0] = 1.0
    return CellUnits(np.rint(values / steps).astype(np.float32), steps)
