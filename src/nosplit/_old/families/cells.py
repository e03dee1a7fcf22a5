"""Units of several rows, and the blocks of kernel values of pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.kernels.bank import Bank, middle

__all__ = ["Cells", "aligned_block", "tile_block"]


# Units that the middle of all rows is found from, about.
SOME_UNITS = 16


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of T units, padded to s rows each by repeating the last.

    Attributes
    ----------
    rows : array, shape (T, s, p)
        The rows.
    counts : array, shape (T,)
        Rows of each unit that are not padding.
    """

    rows: NDArray[Any]
    counts: Index

    def __getitem__(self, which: slice) -> Cells:
        return Cells(self.rows[which], self.counts[which])

    @property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the rows that are not padding, (T, s)."""
        return np.arange(self.rows.shape[1]) < self.counts[:, None]

    def some(self) -> NDArray[Any]:
        """All rows of a few units, without padding: no permutation inside units changes them."""
        step = max(1, len(self.rows) // SOME_UNITS)
        return np.asarray(self.rows[::step][self.present[::step]])


def aligned_block(bank: Bank, a: Cells, b: Cells) -> Array:
    """Kernel values of all combinations of rows of aligned units, (d, T, s, s).

    The linear kernel is that of rows moved by a constant, which centring undoes.
    """
    m, s, _ = a.rows.shape
    K = np.empty((len(bank), m, s, s))
    if bank.operations:
        from nosplit.backend.numba.cells import cell_bases

        bases = bank.empty_bases(1, m * s * s)
        left, right = (np.ascontiguousarray(c.rows) for c in (a, b))
        cell_bases(left, right, bank.want, *(q[0] for q in bases))
        bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
    if bank.linear:
        origin = middle(a.some(), b.some())
        K[bank.linear] = (a.rows - origin) @ (b.rows - origin).transpose(0, 2, 1)
    if bank.others:
        # All combinations of rows in one call: (T, s, s) of each.
        left = np.repeat(a.rows, s, axis=1).reshape(m * s * s, -1)
        right = np.tile(b.rows, (1, s, 1)).reshape(m * s * s, -1)
        for u, (k,) in bank.called("aligned", ((left, right),)):
            K[u] = k.reshape(m, s, s)
    return K


def tile_block(bank: Bank, a: Cells, b: Cells, i: Index, j: Index) -> Array:
    """Kernel values of all combinations of rows of the units a[i] and b[j], (d, M, s, s).

    All rows of a meet all rows of b first, by matrix products where they are wide.
    """
    s, p = a.rows.shape[1:]
    left, right = a.rows.reshape(-1, p), b.rows.reshape(-1, p)
    shape = (len(left), len(right))
    K = np.empty((len(bank), *shape))
    if bank.operations:
        bases = bank.empty_bases(1, shape[0] * shape[1])
        tile = [q.reshape(shape) if q.size else q for q in bases]
        bank.tile_bases(left, right, tile, bank.centre(left, right))
        bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
    if bank.linear:
        origin = middle(a.some(), b.some())
        K[bank.linear] = (left - origin) @ (right - origin).T
    for u, (k,) in bank.called("tile", ((left, right),)):
        K[u] = k
    whole = K.reshape(len(bank), len(a.rows), s, len(b.rows), s).transpose(0, 1, 3, 2, 4)
    return whole[:, i, j]
