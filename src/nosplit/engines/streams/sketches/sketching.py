"""A stream as a sketch: what is kept, and what more rows make of it.

The first groups of rows wait until there are enough of them to choose the map from: bandwidths,
scales, bins and known categories. From then on rows become sums as they come, and only those that
wait for a partner are kept. The map is the same whichever rows of a group are called x.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.data.tables.encoding import Encoding
from nosplit.data.tables.fit_encoding import fit_scales
from nosplit.engines.streams.sketches.cells import BlockSums
from nosplit.engines.streams.state import Rows, first_blocks, joined_rows
from nosplit.errors import InputError
from nosplit.kernels.defaults.recipes import Kernels, as_recipe
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Sketch
from nosplit.sketch.maps import SketchMap, fit_map

__all__ = ["FEWEST", "SketchFlow", "SketchState"]

# Rows that the map is chosen from, of both samples.
PILOT = 1000
# Groups without which there is no test.
FEWEST = 8


@dataclass(frozen=True, eq=False)
class SketchState:
    """The state of a stream.

    Attributes
    ----------
    waiting : tuple of arrays, or None before the first rows
        Rows of x and of y that wait for a partner, or for enough others to choose the map from.
    blocks : BlockSums, or None as long as there is no map
        Sums of all other rows.
    encoding : Encoding, optional
        How tables become numbers.
    scaled : bool
        Whether the encoding is final; else rows wait as they came, and it is scaled with the map.
    n_dropped, n_omitted : int
        Rows that found no room to wait, and rows in which something was missing.
    """

    waiting: Rows | None = None
    blocks: BlockSums | None = None
    encoding: Encoding | None = None
    scaled: bool = True
    n_dropped: int = 0
    n_omitted: int = 0

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


@dataclass(frozen=True)
class SketchFlow:
    """Rows → a sketch, of two samples.

    Parameters
    ----------
    ratio : (int, int)
        Rows of x to rows of y.
    kernels : None, Kernel, sequence of them, name or callable
        As they were given.
    pairing : Sketch
        How many cells of a sample there are once the stream is long, and frequencies of a kernel.
    limit : int
        Rows of a side that may wait for the other.
    key, draws : int
        Pick the frequencies, and the draws of a result.
    """

    ratio: tuple[int, int]
    kernels: Kernels
    pairing: Sketch
    limit: int
    key: int
    draws: int

    @property
    def pairs(self) -> str:
        """Short name of the pairs."""
        return "sketch"

    @property
    def frequencies(self) -> int:
        """Frequencies of a kernel."""
        return self.pairing.frequencies or 64

    @property
    def most(self) -> int:
        """Blocks at the most, with as many cells of both samples together for every ratio."""
        return max(2 * FEWEST, 4 * self.pairing.cells // sum(self.ratio) // 2 * 2)

    @property
    def enough(self) -> int:
        """Groups that the map is chosen from."""
        return max(FEWEST, -(-PILOT // sum(self.ratio)))

    # -- rows --------------------------------------------------------------------------------

    def feed(self, state: SketchState, batch: Rows, *, least: int | None = None) -> SketchState:
        """The state after a batch; without a map, as long as fewer than `least` groups came."""
        rows = batch if state.waiting is None else joined_rows(state.waiting, batch)
        groups = self.n_groups(rows)
        if state.blocks is None:
            if groups < (self.enough if least is None else least):
                return self._wait(state, rows, 0)
            state, rows = self._with_map(state, rows, min(groups, self.enough))
        assert state.blocks is not None
        blocks = state.blocks.added(*first_blocks(rows, self.ratio, groups))
        return self._wait(replace(state, blocks=blocks), rows, groups)

    def n_groups(self, rows: Rows | None) -> int:
        """Whole groups among some rows."""
        if rows is None:
            return 0
        return min(len(side) // size for side, size in zip(rows, self.ratio, strict=True))

    def _with_map(self, state: SketchState, rows: Rows, groups: int) -> tuple[SketchState, Rows]:
        """The map, from the first groups, and all rows on its scale."""
        if not state.scaled and state.encoding is not None:
            some = first_blocks(rows, self.ratio, groups)
            fitted = fit_scales(state.encoding, np.concatenate(some))
            rows = tuple(fitted.on_scale(side) for side in rows)
            state = replace(state, encoding=fitted, scaled=True)
        encoding = state.encoding
        recipe = as_recipe(self.kernels) if encoding is None else encoding.recipe(self.kernels)
        sketch = fit_map(
            self._pooled(first_blocks(rows, self.ratio, groups)),
            recipe,
            categorical=() if encoding is None else encoding.categorical,
            frequencies=self.frequencies,
            cells=self.most * sum(self.ratio),
            key=self.key,
        )
        return replace(state, blocks=BlockSums(sketch, self.ratio, self.most)), rows

    def _pooled(self, rows: Rows) -> NDArray[Any]:
        """Rows of whole groups, those of a group in an order that no label has a part in."""
        pooled = np.concatenate([np.asarray(side, dtype=np.float64) for side in rows])
        group = np.concatenate(
            [np.arange(len(s)) // size for s, size in zip(rows, self.ratio, strict=True)]
        )
        return pooled[np.lexsort((*pooled.T[::-1], group))]

    def _wait(self, state: SketchState, rows: Rows, groups: int) -> SketchState:
        """Keep what follows the first groups of each side, up to the limit."""
        rest = [side[groups * n :] for side, n in zip(rows, self.ratio, strict=True)]
        # Groups that wait for a map have found their partners.
        whole = self.n_groups(rows) - groups
        most = [whole * size + self.limit for size in self.ratio]
        dropped = sum(max(0, len(side) - n) for side, n in zip(rest, most, strict=True))
        # A batch is the caller's, and may be large: what is kept of it is copied.
        kept = tuple(
            side if any(side is old for old in state.waiting or ()) else side[:n].copy()
            for side, n in zip(rest, most, strict=True)
        )
        return replace(state, waiting=kept, n_dropped=state.n_dropped + dropped)

    def flush(self, state: SketchState) -> SketchState:
        """The state with a map, if there are rows for one; the state itself stays as it is."""
        if state.waiting is None or state.blocks is not None:
            return state
        return self.feed(state, first_blocks(state.waiting, self.ratio, 0), least=FEWEST)

    def total(self, state: SketchState) -> Moments:
        """There are none."""
        raise InputError('A sketch has no moments of pairs: pairs="adjacent" keeps them.')

    def tally(self, state: SketchState) -> dict[str, int]:
        """Pairs of blocks, blocks, and rows in them or soon to be."""
        if state.blocks is None:
            groups = self.n_groups(state.waiting)
            blocks = min(groups, self.most)
        else:
            groups, blocks = state.blocks.n_groups, len(state.blocks)
        return {
            "n_pairs": blocks * (blocks - 1) // 2,
            "n_units": blocks,
            "n_used": groups * sum(self.ratio),
        }

    def n_waiting(self, state: SketchState) -> int:
        """Rows that wait for a partner."""
        whole = self.n_groups(state.waiting) * sum(self.ratio)
        return sum(map(len, state.waiting or ())) - whole

    def emptied(self, state: SketchState) -> SketchState:
        """A state of no rows with the map of another, if that has one."""
        if state.blocks is None:
            return SketchState(encoding=state.encoding, scaled=state.scaled)
        blocks = BlockSums(state.blocks.sketch, self.ratio, self.most)
        none = np.zeros((0, state.blocks.sketch.p))
        return SketchState((none, none), blocks, state.encoding)

    # -- merging -----------------------------------------------------------------------------

    def merge(self, state: SketchState, other: SketchState) -> SketchState:
        """The blocks of one after those of the other; what waits in the other comes next."""
        if state.encoding is None and state.waiting is None:
            state = replace(state, encoding=other.encoding, scaled=other.scaled)
        rows = other.waiting
        if other.blocks is not None:
            if state.blocks is None:
                state = self._adopt(state, other)
            assert state.blocks is not None
            state = replace(state, blocks=state.blocks.followed_by(other.blocks))
        elif rows is not None and state.scaled and not other.scaled:
            assert state.encoding is not None
            rows = tuple(state.encoding.on_scale(side) for side in rows)
        state = replace(
            state,
            n_dropped=state.n_dropped + other.n_dropped,
            n_omitted=state.n_omitted + other.n_omitted,
        )
        return state if rows is None else self.feed(state, rows)

    def _adopt(self, state: SketchState, other: SketchState) -> SketchState:
        """The state with the map of another."""
        assert other.blocks is not None
        rows, blocks = state.waiting, BlockSums(other.blocks.sketch, self.ratio, self.most)
        none = np.zeros((0, other.blocks.sketch.p))
        if rows is not None and not state.scaled and other.encoding is not None:
            rows = tuple(other.encoding.on_scale(side) for side in rows)
        state = replace(
            state, waiting=(none, none), blocks=blocks, encoding=other.encoding, scaled=True
        )
        return state if rows is None else self.feed(state, rows)
