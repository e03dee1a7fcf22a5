"""The interfaces of units and of draws that the loop over pairs asks for."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from nosplit._old.pairs.draws import Part
from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.core.pairings import Job

__all__ = ["Draws", "Folding", "InBulk", "Testable", "Units"]


class Units(Protocol):
    """Units of a family: values of their pairs."""

    @property
    def n_units(self) -> int:
        """Number of units."""
        ...

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit."""
        ...

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        ...


@runtime_checkable
class Folding(Protocol):
    """Units that can fold values into moments without keeping the values."""

    def moments(self, job: Job) -> Moments:
        """Moments of the values of a job."""
        ...


@runtime_checkable
class InBulk(Protocol):
    """Units on a device, which many pairs at once keep busy."""

    @property
    def pairs_at_once(self) -> int:
        """Pairs of a job."""
        ...


class Draws(Protocol):
    """Random draws for exact calibration, tied to their units."""

    @property
    def relabellings(self) -> float:
        """Count the permutations that may differ in their statistics."""
        ...

    def of(self, units: range) -> Draws:
        """The same draws, for some of the units."""
        ...

    def part(self, job: Job) -> Part:
        """Sums under all draws over the pairs of a job."""
        ...


U = TypeVar("U", bound="Testable")


class Testable(Units, Protocol):
    """Units that can be cut into parts and drawn again under the null."""

    def part(self: U, units: range) -> U:
        """Some of the units, as units of their own."""
        ...

    def draws(self, flips: int, rng: np.random.Generator) -> Draws:
        """Random draws under the null."""
        ...
