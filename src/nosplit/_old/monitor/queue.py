"""Reference rows that wait to be bet on: each of them once, in random order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from nosplit._types import Array, Index
from nosplit.errors import InputError

__all__ = ["ReferenceQueue"]

# Rows that the map is made of: a fifth of the reference, within these bounds.
FEWEST_PILOT, MOST_PILOT = 32, 1000
# Blocks of a reference, at the least.
FEWEST = 2 * FEWEST_PILOT


@dataclass(eq=False)
class ReferenceQueue:
    """Blocks of reference rows in random order.

    Attributes
    ----------
    rows : array, shape (n, p)
        Encoded rows.
    size : int
        Rows of a block, which follow one another.
    order : array of int
        Numbers of the blocks, in the order in which they are taken.
    position : int
        Blocks that were taken.
    """

    rows: Array
    size: int
    order: Index
    position: int = 0

    @classmethod
    def of(cls, rows: Array, size: int, seed: list[int]) -> ReferenceQueue:
        """Put the rows of a reference in random order."""
        count = len(rows) // size
        if count < FEWEST:
            raise InputError(
                f"`reference` must have at least {FEWEST * size} rows in which nothing is missing, "
                f"got {len(rows)}."
            )
        return cls(rows, size, np.random.default_rng(seed).permutation(count))

    @property
    def left(self) -> int:
        """Blocks that were not taken yet."""
        return len(self.order) - self.position

    def take(self, count: int) -> Array:
        """The rows of the next blocks."""
        blocks = self.order[self.position : self.position + count]
        self.position += count
        places = (blocks[:, None] * self.size + np.arange(self.size)).ravel()
        return np.asarray(self.rows[places])

    def pilot(self) -> Array:
        """Rows that are set aside for the map, and never bet on."""
        rows = min(max(len(self.rows) // 5, FEWEST_PILOT), MOST_PILOT)
        return self.take(max(FEWEST_PILOT, -(-rows // self.size)))

    @property
    def digest(self) -> str:
        """A short name for the rows: the same for the same ones."""
        return hashlib.blake2b(self.rows.tobytes(), digest_size=16).hexdigest()
