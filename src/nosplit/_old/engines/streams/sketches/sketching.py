"""A stream of two samples as a sketch: what is kept, and what more rows make of it.

A unit is a group of rows: one of x and one of y, or as many as a ratio says. The map knows
bandwidths, scales, bins and categories, and is the same whichever rows of a group are called x.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nosplit._old.engines.streams.sketches.cells import BlockSums
from nosplit._old.engines.streams.sketches.flow import (
    FEWEST,
    PILOT,
    BlockFlow,
    BlockState,
    on_scales,
)
from nosplit._old.engines.streams.state import Rows, first_blocks
from nosplit._old.sketch.maps import SketchMap, fit_map
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import fit_scales
from nosplit.kernels.orders import row_keys
from nosplit.kernels.recipes import Kernels, as_recipe

__all__ = ["SketchFlow", "SketchState"]


@dataclass(frozen=True, eq=False)
class SketchState(BlockState):
    """The state of a stream of two samples.

    Attributes
    ----------
    waiting, encodings, scaled, n_omitted
        As in `BlockState`: rows wait for a partner, and both sides have one encoding.
    blocks : BlockSums, or None as long as there is no map
        Sums of all other rows.
    n_dropped : int
        Rows that found no room to wait.
    """

    blocks: BlockSums | None = None
    n_dropped: int = 0

    @property
    def width(self) -> int | None:
        """Columns of the rows, once it is known."""
        if self.blocks is not None:
            return self.blocks.sketch.p
        return None if self.waiting is None else self.waiting[0].shape[1]

    @property
    def bank(self) -> SketchMap | None:
        """The map, which knows the kernels."""
        return None if self.blocks is None else self.blocks.sketch

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of tables, the same for both sides."""
        return self.encodings[0]


@dataclass(frozen=True)
class SketchFlow(BlockFlow[SketchState]):
    """Rows → a sketch, of two samples.

    Parameters
    ----------
    pairing, limit, key, draws
        As in `BlockFlow`: cells of a sample once the stream is long, and rows of a side that may
        wait for the other.
    ratio : (int, int)
        Rows of x to rows of y.
    kernels : None, Kernel, sequence of them, name or callable
        As they were given.
    """

    ratio: tuple[int, int]
    kernels: Kernels

    counted: ClassVar[tuple[str, ...]] = ("n_dropped", "n_omitted")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each side in a group."""
        return self.ratio

    @property
    def rows_per_unit(self) -> int:
        """Rows of a group."""
        return sum(self.ratio)

    @property
    def most(self) -> int:
        """Blocks at the most, with as many cells of both samples together for every ratio."""
        return max(2 * FEWEST, 4 * self.pairing.cells // sum(self.ratio) // 2 * 2)

    @property
    def enough(self) -> int:
        """Groups that the map is chosen from."""
        return max(FEWEST, -(-PILOT // sum(self.ratio)))

    def emptied(self, state: SketchState) -> SketchState:
        """A state of no rows with the map of another, if that has one."""
        if state.blocks is None:
            return SketchState(encodings=state.encodings, scaled=state.scaled)
        blocks = BlockSums(state.blocks.sketch, self.ratio, self.most)
        none = np.zeros((0, state.blocks.sketch.p))
        return SketchState(waiting=(none, none), blocks=blocks, encodings=state.encodings)

    def _with_map(self, state: SketchState, rows: Rows) -> tuple[SketchState, Rows]:
        """The map, from the first groups, and all rows on its scale."""
        groups = min(self.n_units(rows), self.enough)
        if not state.scaled and state.encoding is not None:
            some = first_blocks(rows, self.ratio, groups)
            fitted = fit_scales(state.encoding, np.concatenate(some))
            state = replace(state, encodings=(fitted, fitted), scaled=True)
            rows = on_scales(state.encodings, rows)
        encoding = state.encoding
        recipe = as_recipe(self.kernels) if encoding is None else encoding.recipe(self.kernels)
        pooled = self._pooled(first_blocks(rows, self.ratio, groups))
        sketch = fit_map(
            pooled,
            recipe.of_rare(pooled),  # later rows may differ
            categorical=() if encoding is None else encoding.categorical,
            frequencies=self.frequencies,
            cells=self.most * sum(self.ratio),
            key=self.key,
        )
        blocks = BlockSums(sketch, self.ratio, self.most)
        return replace(state, waiting=first_blocks(rows, self.ratio, 0), blocks=blocks), rows

    def _pooled(self, rows: Rows) -> NDArray[Any]:
        """Rows of whole groups, those of a group in an order that no label has a part in."""
        pooled = np.concatenate([np.asarray(side, dtype=np.float64) for side in rows])
        group = np.concatenate(
            [np.arange(len(s)) // size for s, size in zip(rows, self.ratio, strict=True)]
        )
        return pooled[np.lexsort((*pooled.T[::-1], row_keys(pooled), group))]

    def _sums(self, state: SketchState, rows: Rows, units: int) -> BlockSums:
        assert state.blocks is not None
        x, y = rows
        return state.blocks.added(x, y)

    def _wait(self, state: SketchState, rows: Rows, units: int) -> SketchState:
        """Keep what follows the first groups of each side, up to the limit."""
        # Groups that wait for a map have found their partners.
        most = [self.n_units(rows) * size + self.limit for size in self.ratio]
        dropped = sum(max(0, len(side) - n) for side, n in zip(rows, most, strict=True))
        if dropped:
            rows = tuple(side[:n] for side, n in zip(rows, most, strict=True))
        state = replace(state, n_dropped=state.n_dropped + dropped)
        return super()._wait(state, rows, units)
