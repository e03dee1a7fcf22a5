"""Sums of features by cell: what is kept of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.maps import SketchMap
from nosplit._types import Array
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.core.feature_map import STEP
from nosplit.errors import NonFiniteError
from nosplit.kernels.frequencies import projected

__all__ = [
    "BLOCK",
    "TOO_FAR",
    "CellSums",
    "NumberColumn",
    "sketch_rows",
    "total_of",
]

# Rows dealt at once, and waves that are in the cache together.
BLOCK, WAVES = 32_768, 65_536
# Said where no single value is to blame: those of a column are finite before they are scaled.
TOO_FAR = (
    "Values of rows are not finite, or so far apart in a column that they are not once it has unit "
    "spread. Rescale the column, or leave its far values out."
)


# Numbers as they came, and what is taken off and divided by to encode them.
NumberColumn = tuple[NDArray[np.float64], float, float]


@dataclass(frozen=True, eq=False)
class CellSums:
    """The sketch of a sample: integers, so that sketches of parts of it add exactly.

    Attributes
    ----------
    features : array of int64, shape (C, D)
        Sums of features over the rows of each cell, in steps.
    bins : array of int32, shape (C, Q)
        How many rows of each cell are in each bin of each column.
    """

    features: NDArray[np.int64]
    bins: NDArray[np.int32]

    @classmethod
    def empty(cls, sketch: SketchMap, cells: int) -> CellSums:
        """The sketch of no rows."""
        shapes = (cells, sketch.n_features), (cells, sketch.n_bins)
        return cls(np.zeros(shapes[0], np.int64), np.zeros(shapes[1], np.int32))

    def __add__(self, other: CellSums) -> CellSums:
        return CellSums(self.features + other.features, self.bins + other.bins)

    def in_bins(self, parts: int) -> Array:
        """Rows in all bins, (parts, Q): cell i is in part i modulo their number."""
        found = [self.bins[k::parts].sum(axis=0, dtype=np.float64) for k in range(parts)]
        return np.stack(found)

    def __iadd__(self, other: CellSums) -> CellSums:
        self.features.__iadd__(other.features)
        self.bins.__iadd__(other.bins)
        return self

    def to_bytes(self) -> bytes:
        """The numbers, one after another."""
        return self.features.tobytes() + self.bins.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, like: CellSums) -> CellSums:
        """The inverse of `to_bytes`, for a sketch of the same shape as another."""
        cut = like.features.nbytes
        features = np.frombuffer(data[:cut], like.features.dtype).reshape(like.features.shape)
        return cls(features, np.frombuffer(data[cut:], like.bins.dtype).reshape(like.bins.shape))

    def add(self, sketch: SketchMap, rows: NDArray[Any], cells: NDArray[Any]) -> None:
        """Add rows to their cells; rows of cells beyond the last are passed over."""
        for start in range(0, len(rows), BLOCK):
            self._add(sketch, rows[start : start + BLOCK], cells[start : start + BLOCK])

    def _add(self, sketch: SketchMap, rows: NDArray[Any], cells: NDArray[Any]) -> None:
        order, cells = _by_cell(cells, len(self.features))
        places = np.empty((len(sketch.bins), len(order)), np.uint8)
        room = _scratch_space(sketch)
        for part in _parts(len(order), len(room[0])):
            some = rows.take(order[part], axis=0)  # in the cache from here on
            self._add_rows(sketch, some, cells[part], places[:, part], room)
        self._add_places(sketch, places, cells)
        if sketch.others:
            first = sketch.first_product
            values = sketch.at_landmarks(np.asarray(rows[order], dtype=np.float64))
            np.add.at(self.features[:, first - values.shape[1] : first], cells, values)

    def _add_rows(
        self,
        sketch: SketchMap,
        rows: NDArray[Any],
        cells: NDArray[Any],
        places: NDArray[np.uint8],
        room: tuple[NDArray[np.float32], NDArray[np.float32]],
    ) -> None:
        """Add waves and coordinates of rows in the order of their cells, and find their bins."""
        from nosplit.backend.numba.sketch import add_phases, bin_places, standardised_rows

        if sketch.bins:
            edges, _, *bins = sketch.edges
            bin_places(rows, edges, *bins, places)
        scaled, turns = (part[: len(rows)] for part in room)
        if not standardised_rows(rows, sketch.order, sketch.center, sketch.scale, scaled):
            raise NonFiniteError(TOO_FAR)
        projected(scaled, sketch.projected_turns, turns)
        if len(sketch.hashed):
            hashed = sketch.hashed
            add_phases(rows, hashed, sketch.places[hashed], sketch.projected_phases, turns)
        self._add_features(sketch, scaled, turns, cells)

    def add_columns(
        self, sketch: SketchMap, columns: Sequence[NumberColumn], cells: NDArray[Any]
    ) -> None:
        """Add rows that come as columns of numbers: the same sums, without making rows of them.

        The map must have neither phases nor landmarks (`of_numbers`).
        """
        from nosplit.backend.numba.sketch import rows_of_columns, standardised_column

        order, cells = _by_cell(cells, len(self.features))
        n, table = len(order), sketch.edges
        places = np.empty((len(sketch.bins), n), np.uint8)
        scaled = np.empty((sketch.p, n), np.float32)
        none = np.zeros(0), np.zeros(0, np.uint8), np.zeros(2), np.zeros(0, np.uint8)
        for j, (values, *encoded) in enumerate(columns):
            own = none
            if sketch.bins:
                own = table.edges[j], table.lookups[j], table.grids[j], places[j]
            standard = np.array([sketch.center[j], sketch.scale[j]])
            into = scaled[sketch.places[j]]
            if not standardised_column(values, order, np.array(encoded), standard, *own, into):
                raise NonFiniteError(TOO_FAR)
        rows, turns = _scratch_space(sketch)
        for part in _parts(n, len(rows)):
            some, room = rows[: part.stop - part.start], turns[: part.stop - part.start]
            rows_of_columns(scaled[:, part], some)
            projected(some, sketch.projected_turns, room)
            self._add_features(sketch, some, room, cells[part])
        self._add_places(sketch, places, cells)

    def _add_features(
        self,
        sketch: SketchMap,
        scaled: NDArray[np.float32],
        turns: NDArray[np.float32],
        cells: NDArray[Any],
    ) -> None:
        """Add waves and coordinates of rows that are in the order of their cells."""
        from nosplit.backend.numba.sketch import add_coordinates, add_waves

        F = sketch.n_waves
        if F:
            lone = F - 3 * sketch.followed
            add_waves(turns, cells, sketch.followed, lone, np.float32(STEP), self.features)
        if len(sketch.coordinates):
            step, columns = np.float64(STEP), sketch.places[sketch.coordinates]
            add_coordinates(scaled, cells, columns, step, 2 * F, self.features)

    def _add_places(
        self, sketch: SketchMap, places: NDArray[np.uint8], cells: NDArray[Any]
    ) -> None:
        """Add bins, and products of the scores of pairs of columns."""
        from nosplit.backend.numba.sketch import add_bins, add_pairs

        if not sketch.bins:
            return
        add_bins(places, cells, sketch.edges.starts, self.bins)
        words, first = sketch.score_words, sketch.first_product
        add_pairs(places, cells, words, sketch.products, first, self.features)


def _parts(n: int, size: int) -> Iterator[slice]:
    """Runs of at most so many of n rows."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _scratch_space(sketch: SketchMap) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Space for standardised rows and for their turns: new pages are dear."""
    waves = sketch.projected_turns.shape[1]
    rows = min(4096, max(256, WAVES // max(1, waves)))
    return np.empty((rows, sketch.p), np.float32), np.empty((rows, waves), np.float32)


def _by_cell(cells: NDArray[Any], count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows in the order of their cells, and these, without those beyond the last cell."""
    from nosplit.backend.numba.dealing import by_cell

    order, ordered = np.empty((2, len(cells)), np.int32)
    n = by_cell(np.asarray(cells, dtype=np.int32), count, order, ordered)
    return order[:n], ordered[:n]


class Dealt(Protocol):
    """Anything that knows the cell of each row."""

    @property
    def cells(self) -> int:
        """Number of cells."""
        ...

    def cell_of(self, first: int, count: int) -> NDArray[np.int32]:
        """Cells of some rows in a row; from `cells` on for those in none."""
        ...


def sketch_rows(
    sketch: SketchMap, rows: NDArray[Any], deal: Dealt, workers: int | None = None
) -> CellSums:
    """The sketch of a sample in memory, by as many threads as there are workers."""
    blocks = list(range(0, len(rows), BLOCK))
    threads = min(n_workers(workers), len(blocks))

    def part(worker: int) -> CellSums:
        sums = CellSums.empty(sketch, deal.cells)
        for start in blocks[worker::threads]:
            block = rows[start : start + BLOCK]
            sums.add(sketch, block, deal.cell_of(start, len(block)))
        return sums

    with one_blas_thread():
        return total_of(part, threads)


S = TypeVar("S")


def total_of(part: Callable[[int], S], threads: int) -> S:
    """The sums of all parts, which add in place, each made by a thread of its own."""
    if threads == 1:
        return part(0)
    with ThreadPoolExecutor(threads) as pool:
        return reduce(iadd, pool.map(part, range(threads)))
