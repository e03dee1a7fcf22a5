"""Pairings: sets of the N(N - 1)/2 pairs of units, cut into jobs of bounded size.

The same N is always cut in the same way, so that results do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from nosplit._checks import check_int, resolve
from nosplit.errors import InputError

__all__ = [
    "Adjacent",
    "Aligned",
    "Band",
    "Blocks",
    "Complete",
    "Job",
    "LinearPairs",
    "Pairing",
    "Sketch",
    "Tile",
    "Window",
    "as_pairing",
    "pairing_name",
    "units_in_pairs",
]


@dataclass(frozen=True)
class Aligned:
    """The pairs (a[i], b[i]) of two progressions of units."""

    a: range
    b: range

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.a)


@dataclass(frozen=True)
class Band:
    """The pairs (i, i + r mod N) for i in `units` and r = 1…R."""

    units: range
    R: int

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.units) * self.R


@dataclass(frozen=True)
class Tile:
    """All pairs of a unit in `a` with one in `b`; each pair once where they are the same units."""

    a: range
    b: range

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        n = len(self.a)
        return n * (n - 1) // 2 if self.a == self.b else n * len(self.b)


Job = Aligned | Band | Tile


@runtime_checkable
class Pairing(Protocol):
    """A fixed set of pairs of N units."""

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs of `n_units` units."""
        ...

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        ...


def _chunks(n: int, size: int) -> Iterator[range]:
    size = max(1, size)
    return (range(start, min(start + size, n)) for start in range(0, n, size))


@dataclass(frozen=True)
class LinearPairs:
    """The paper's pairs (i, N/2 + i): z_i = (x_i, x_{n+i}, y_i, y_{n+i})."""

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs of `n_units` units."""
        return n_units // 2

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        half = n_units // 2
        for part in _chunks(half, size):
            yield Aligned(part, range(half + part.start, half + part.stop))


@dataclass(frozen=True)
class Adjacent:
    """The pairs (2i, 2i + 1): the same law as `LinearPairs`, for streams and large files."""

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs of `n_units` units."""
        return n_units // 2

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        for part in _chunks(n_units // 2, size):
            start, stop = 2 * part.start, 2 * part.stop
            yield Aligned(range(start, stop, 2), range(start + 1, stop + 1, 2))


@dataclass(frozen=True)
class Window:
    """The pairs (i, i + r mod N), r = 1…R: an incomplete U-statistic."""

    R: int

    def __post_init__(self) -> None:
        if isinstance(self.R, bool) or not isinstance(self.R, int) or self.R < 1:
            raise InputError(f"`pairs` as a window must be an int ≥ 1, got {self.R!r}.")

    def _check(self, n_units: int) -> None:
        if (n_units - 1) // 2 < self.R:
            raise InputError(
                f"`pairs` = {self.R} is wider than {n_units} units allow: a window is at most "
                f'{(n_units - 1) // 2} here. Use pairs="complete" for all pairs.'
            )

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs of `n_units` units."""
        self._check(n_units)
        return n_units * self.R

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        self._check(n_units)
        # At least R units a job: the R units read beyond a job's own are then at most as many.
        return (Band(part, self.R) for part in _chunks(n_units, max(size // self.R, self.R)))


@dataclass(frozen=True)
class Blocks:
    """All pairs inside consecutive blocks of `size` units.

    Examples
    --------
    >>> Blocks(64).n_pairs(640)
    20160
    """

    size: int

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 2:
            raise InputError(f"`size` of Blocks must be an int ≥ 2, got {self.size!r}.")

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs of `n_units` units."""
        whole, rest = divmod(n_units, self.size)
        return (whole * self.size * (self.size - 1) + rest * (rest - 1)) // 2

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        for block in _chunks(n_units, self.size):
            yield from _tiles(block, size)


@dataclass(frozen=True)
class Complete:
    """All pairs."""

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs of `n_units` units."""
        return n_units * (n_units - 1) // 2

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        return _tiles(range(n_units), size)


def _tiles(units: range, size: int) -> Iterator[Job]:
    """Square tiles over the pairs of `units`, all of about the same side.

    A tile of 2 × `size` pairs is large enough for matrix products to run at full speed.
    """
    parts = max(1, -(-len(units) // max(1, round((2 * size) ** 0.5))))
    cuts = [len(units) * i // parts for i in range(parts + 1)]
    ranges = [units[i:j] for i, j in pairwise(cuts)]
    for i, a in enumerate(ranges):
        if len(a) > 1:
            yield Tile(a, a)
        for b in ranges[i + 1 :]:
            yield Tile(a, b)


@dataclass(frozen=True)
class Sketch(Complete):
    """All pairs of cells, each the sum of the features of many rows.

    Rows are dealt to cells at random; a kernel is approximated by waves of random frequencies. All
    pairs of rows but those inside a cell are seen, at a cost linear in the rows.

    Parameters
    ----------
    cells : int
        Cells of the smaller sample, about. Those of a test of independence keep as many sums as
        a unit has observations, and there are 2 / `unit_size` as many of them.
    frequencies : int, optional
        Frequencies of a kernel; as many of 16, 32 and 64 as fit the budget by default.

    Examples
    --------
    >>> Sketch(cells=500)
    Sketch(cells=500, frequencies=None)
    """

    cells: int = 1000
    frequencies: int | None = None

    def __post_init__(self) -> None:
        check_int(self.cells, "cells", least=16)
        if self.frequencies is not None:
            check_int(self.frequencies, "frequencies", least=1)


def units_in_pairs(pairing: Pairing, n_units: int) -> int:
    """Number of units, of the given number, that are in a pair.

    Examples
    --------
    >>> (
    ...     units_in_pairs(LinearPairs(), 31),
    ...     units_in_pairs(Blocks(16), 33),
    ...     units_in_pairs(Window(2), 31),
    ... )
    (30, 32, 31)
    """
    match pairing:
        case LinearPairs() | Adjacent():
            return n_units - n_units % 2
        case Blocks(size):
            return n_units - (n_units % size == 1)
    return n_units


PAIRINGS: dict[str, Pairing] = {
    "linear": LinearPairs(),
    "adjacent": Adjacent(),
    "complete": Complete(),
    "sketch": Sketch(),
}


def as_pairing(pairs: Pairing | str | int) -> Pairing | None:
    """The pairing that a name, or an int for a window, is short for; None for "auto"."""
    if isinstance(pairs, str) and pairs == "auto":
        return None
    if isinstance(pairs, (int, np.integer)):
        return Window(pairs if isinstance(pairs, int) else int(pairs))
    found = resolve(pairs, {**PAIRINGS, "auto": PAIRINGS["linear"]}, "pairs")
    # A class has the attributes of its instances, so it would pass for a pairing.
    if isinstance(found, type) or not isinstance(found, Pairing):
        raise InputError(
            f"`pairs` must be a name, an int (a window) or a pairing such as Blocks(64), "
            f"got {found!r}."
        )
    return found


def pairing_name(pairing: Pairing) -> str:
    """Short name of a pairing."""
    match pairing:
        case Window(R):
            return f"window {R}"
        case Blocks(size):
            return f"blocks of {size}"
        case LinearPairs():
            return "linear"
    return type(pairing).__name__.lower()
