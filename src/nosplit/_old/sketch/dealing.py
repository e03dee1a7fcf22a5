"""The cell of a row: a keyed permutation, computed where it is needed.

Rows are dealt to cells at random, whatever their order in a file, so that cells of independent
rows are exchangeable under the null hypothesis. The place of row i is π(i) for a permutation π of
0…n-1 that a key picks; cells take runs of c places. The same key deals the same rows to the same
cells, in memory, in files and on clusters, in any order of reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.draws import MOST_DEALT
from nosplit._types import Index
from nosplit.errors import InputError

__all__ = [
    "Deal",
    "Layout",
    "deal_of",
    "layout_of",
    "pilot_size",
]

# Up to here the permutation is a table; beyond, it is computed.
TABLE = 1 << 16
# Cells of the larger sample for one of the smaller.
MOST_RATIO = 64
# Rows that bandwidths, scales and bins are taken from: a share of the rows, within bounds.
PILOT_SHARE, FEWEST_PILOT, MOST_PILOT = 25, 80, 2000


@dataclass(frozen=True)
class Deal:
    """Cells of one sample.

    Parameters
    ----------
    n : int
        Rows of the sample.
    c : int
        Rows of a cell.
    cells : int
        Number of cells; the places from `cells * c` on are pilot rows.
    key : int or None
        Picks the permutation; None leaves rows in their order, so that cells are runs of rows.
    """

    n: int
    c: int
    cells: int
    key: int | None

    @property
    def n_dealt(self) -> int:
        """Rows in cells."""
        return self.cells * self.c

    @property
    def n_pilot(self) -> int:
        """Rows in no cell; of some of them bandwidths and bins are made."""
        return self.n - self.n_dealt

    def cell_of(self, first: int, count: int) -> NDArray[np.int32]:
        """Cells of the rows first…first + count - 1; from `cells` on for pilot rows."""
        if self._computed:
            return self._dealt(first, count, self.c, np.int32)
        return np.asarray(self.places(first, count) // self.c, dtype=np.int32)

    def places(self, first: int, count: int) -> Index:
        """Places π(i) of consecutive rows."""
        if self.key is None:
            return np.arange(first, first + count)
        if self.n <= TABLE:
            return _permutation(self.n, self.key)[first : first + count]
        if self._computed:
            return self._dealt(first, count, 1, np.int64)
        return self._walked(np.arange(first, first + count, dtype=np.uint64), self._after)

    @property
    def _computed(self) -> bool:
        """Whether places are computed by a compiled loop, of 32 bits."""
        return self.key is not None and TABLE < self.n <= 1 << 32

    def _dealt(self, first: int, count: int, c: int, kind: Any) -> NDArray[Any]:
        """Places divided by c."""
        from nosplit.backend.numba.dealing import dealt

        out = np.empty(count, kind)
        dealt(first, self.n, self.bits, self.constants.astype(np.uint32), c, out)
        return out

    def pilot_rows(self) -> Index:
        """Row numbers of the pilot, in ascending order: those of the first places in no cell."""
        places = np.arange(self.n_dealt, self.n_dealt + min(self.n_pilot, pilot_size(self.n)))
        return np.sort(self.rows_at(places))

    def rows_at(self, places: Index) -> Index:
        """Rows that have some places: the inverse of `places`, at the price of these alone."""
        if self.key is None:
            return places
        if self.n <= TABLE:
            return np.argsort(_permutation(self.n, self.key))[places]
        return self._walked(places.astype(np.uint64), self._before)

    def _walked(
        self,
        values: NDArray[np.uint64],
        step: Callable[[NDArray[np.uint64]], NDArray[np.uint64]],
    ) -> Index:
        """One step of a bijection, and more where it leads beyond n - 1 (cycle walking)."""
        values = step(values)
        while (beyond := values >= self.n).any():
            values[beyond] = step(values[beyond])
        return values.astype(np.int64)

    def _after(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """One bijection of all numbers of so many bits, of these values."""
        mask = np.uint64((1 << self.bits) - 1)
        half = np.uint64((self.bits + 1) // 2)
        for added, factor in self.constants:
            values = (((values + added) & mask) * factor) & mask
            values = values ^ (values >> half)
        return values

    def _before(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The numbers that the bijection of all numbers of so many bits turns into these values."""
        mask = np.uint64((1 << self.bits) - 1)
        half = np.uint64((self.bits + 1) // 2)
        for added, factor in self.constants[::-1]:
            values = values ^ (values >> half)
            values = (values * np.uint64(pow(int(factor), -1, 1 << 64))) & mask
            values = (values - added) & mask
        return values

    @property
    def bits(self) -> int:
        """Bits of the numbers that the permutation walks through."""
        return max(2, (self.n - 1).bit_length())

    @cached_property
    def constants(self) -> NDArray[np.uint64]:
        """Additions and odd multipliers of the rounds, (6, 2)."""
        return _dealing_generator(self.key or 0).integers(
            0, 2**63, (6, 2), dtype=np.uint64
        ) | np.uint64(1)


def _dealing_generator(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=np.array([key, 0xDEA1], dtype=np.uint64)))


@lru_cache(4)
def _permutation(n: int, key: int) -> Index:
    return np.asarray(_dealing_generator(key).permutation(n), dtype=np.int64)


@dataclass(frozen=True)
class Layout:
    """The cells of two samples, all of the same number of rows."""

    x: Deal
    y: Deal

    @property
    def c(self) -> int:
        """Rows of a cell."""
        return self.x.c

    @property
    def paired(self) -> bool:
        """Whether there are as many cells of either sample, to be swapped in pairs."""
        return self.x.cells == self.y.cells

    @property
    def n_cells(self) -> int:
        """Cells of both samples."""
        return self.x.cells + self.y.cells


def pilot_size(n: int) -> int:
    """Rows of a sample of n that are set aside for bandwidths, scales and bins."""
    return min(n // 2, max(FEWEST_PILOT, min(n // PILOT_SHARE, MOST_PILOT)))


def layout_of(
    n: int,
    m: int,
    cells: int,
    rng: np.random.Generator,
    *,
    shuffle: bool = True,
    paired: bool = False,
) -> Layout:
    """Cut samples of n and m rows into cells: about `cells` of the smaller one.

    One c for both, or cells of the two samples would differ under the null hypothesis. Without
    `shuffle` cells are runs of rows, and the last rows are the pilot. Rows that are `paired` are
    dealt alike, so that a cell of x and its cell of y hold the same pairs.
    """
    free = n - pilot_size(n), m - pilot_size(m)
    few, many = min(free), max(free)
    if few < 8:
        raise InputError(
            f"`pairs` by sketch needs at least 16 rows in each sample, got {n} and {m}. Use "
            'pairs="complete", which compares all pairs.'
        )
    kept = min(many, MOST_RATIO * few)
    c = max(1, few // cells, -(-(few + kept) // max(MOST_DEALT, 2 * cells)))
    c = min(c, few // 4)
    counts = [min(size // c, MOST_RATIO * (few // c)) for size in free]
    keys = [int(key) if shuffle else None for key in rng.integers(0, 2**63, 2)]
    keys = keys[:1] * 2 if paired else keys
    sizes = zip((n, m), counts, keys, strict=True)
    x, y = (Deal(size, c, count, key) for size, count, key in sizes)
    return Layout(x, y)


def deal_of(
    n: int, cells: int, rng: np.random.Generator, *, fewest: int, unit: int = 1, shuffle: bool
) -> Deal:
    """Cut one sample of n rows into about so many cells.

    Parameters
    ----------
    n : int
        Rows of the sample.
    cells : int
        Cells at the most.
    rng : Generator
        Source of the key.
    fewest : int
        Rows of a cell at the least.
    unit : int
        Rows of a cell are a multiple of this.
    shuffle : bool
        Deal rows at random; otherwise cells are runs of rows, and the last rows are the pilot.
    """
    free = n - pilot_size(n)
    if free < 8 * fewest:
        raise InputError(
            f"`pairs` by sketch needs about {12 * fewest + FEWEST_PILOT} rows here, got {n}. Use "
            'pairs="complete", which compares all pairs.'
        )
    c = max(fewest, free // cells) // unit * unit
    return Deal(n, c, free // c, int(rng.integers(0, 2**63)) if shuffle else None)
