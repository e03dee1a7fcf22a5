"""A stream of rows with scores, or of observations, as a sketch.

The first rows wait until there are enough of them to choose the map from: bandwidths and scales.
From then on rows become sums of numbers as they come, in blocks of rows that follow one another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Index
from nosplit.data.tables.encoding import Encoding
from nosplit.data.tables.fit_encoding import fit_scales
from nosplit.engines.streams.sketches.runs import RunSums
from nosplit.engines.streams.state import Rows, joined_rows
from nosplit.errors import InputError
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Sketch

__all__ = ["FEWEST", "FamilyFlow", "FamilyState", "StreamFamily"]

# Rows that the map is chosen from, and units without which there is no test.
PILOT, FEWEST = 1000, 8


@dataclass(frozen=True, eq=False)
class FamilyState:
    """The state of a stream.

    Attributes
    ----------
    waiting : pair of arrays, or None before the first rows
        Rows that wait for enough others to choose the map from, or to make a unit.
    bank : map, or None as long as there are too few rows
        What knows the kernels.
    blocks : RunSums, or None as long as there is no map
        Sums of all other rows.
    encodings : tuple of Encoding or None
        How tables become numbers.
    scaled : bool
        Whether the encodings are final; else rows wait as they came, and are scaled with the map.
    discrete : pair of bool, or None before the first rows
        Whether arrays name categories.
    lag, phase : int
        Up to which lag the first rows depend on one another, 0 if they do not; and, where one in
        so many rows is used, rows since the last.
    n_thinned, n_omitted : int
        Rows that were passed over for that, and rows in which something was missing.
    """

    waiting: Rows | None = None
    bank: Any = None
    blocks: RunSums | None = None
    encodings: tuple[Encoding | None, ...] = (None, None)
    scaled: bool = True
    discrete: tuple[bool, bool] | None = None
    lag: int = 0
    phase: int = 0
    n_thinned: int = 0
    n_omitted: int = 0

    @property
    def widths(self) -> list[int] | None:
        """Columns of either side, once they are known."""
        return None if self.waiting is None else [side.shape[1] for side in self.waiting]


class StreamFamily(Protocol):
    """The parts that differ between tests of fit and of independence."""

    @property
    def unit(self) -> int:
        """Rows to a unit."""
        ...

    def blocks(self, pairing: Sketch) -> int:
        """Blocks of a long stream, at the least."""
        ...

    def fit(self, rows: Rows, state: FamilyState, frequencies: int, key: int) -> Any:
        """The map, from some rows."""
        ...

    def lag(self, rows: Rows) -> int:
        """Lag up to which these rows, in their order, depend on one another; 0: they do not."""
        ...

    def step(self, lag: int) -> int:
        """One in how many rows is used where they do."""
        ...

    def width(self, bank: Any) -> int:
        """Numbers of a block."""
        ...

    def sums(self, bank: Any, rows: Rows, place: Index, blocks: int) -> NDArray[np.int64]:
        """Sums of units by block."""
        ...


@dataclass(frozen=True)
class FamilyFlow:
    """Rows → a sketch, of fit or of independence.

    Parameters
    ----------
    family : StreamFamily
        What units are.
    pairing : Sketch
        How many blocks there are once the stream is long, and frequencies of a kernel.
    limit : int
        Rows that may wait for a map.
    key, draws : int
        Pick the frequencies, and the draws of a result.
    """

    family: StreamFamily
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
        """Blocks at the most."""
        return max(2 * FEWEST, 2 * self.family.blocks(self.pairing))

    @property
    def enough(self) -> int:
        """Units that the map is chosen from."""
        return max(FEWEST, min(PILOT, self.limit) // self.family.unit)

    # -- rows --------------------------------------------------------------------------------

    def feed(self, state: FamilyState, batch: Rows, *, least: int | None = None) -> FamilyState:
        """The state after a batch; without a map, as long as fewer than `least` units came."""
        if state.blocks is not None:
            return self._add(*self._thinned(state, batch))
        rows = batch if state.waiting is None else joined_rows(state.waiting, batch)
        if len(rows[0]) // self.family.unit < (self.enough if least is None else least):
            return replace(state, waiting=tuple(side.copy() for side in rows))
        state, rows = self._with_map(state, rows)
        return self._add(*self._thinned(state, rows))

    def _with_map(self, state: FamilyState, rows: Rows) -> tuple[FamilyState, Rows]:
        """The map, from the first units, and all rows on its scale."""
        first = self.enough * self.family.unit
        if not state.scaled:
            encodings = tuple(
                None if e is None else fit_scales(e, side[:first])
                for e, side in zip(state.encodings, rows, strict=True)
            )
            rows = on_scales(encodings, rows)
            state = replace(state, encodings=encodings, scaled=True)
        some = tuple(side[:first] for side in rows)
        bank = self.family.fit(some, state, self.frequencies, self.key)
        none = tuple(side[:0] for side in rows)
        blocks = RunSums(self.family.width(bank), self.most)
        lag = self.family.lag(some)
        return replace(state, waiting=none, bank=bank, blocks=blocks, lag=lag), rows

    def _add(self, state: FamilyState, batch: Rows) -> FamilyState:
        """The state with rows that are used."""
        assert state.waiting is not None
        assert state.blocks is not None
        rows = joined_rows(state.waiting, batch)
        units = len(rows[0]) // self.family.unit
        used = units * self.family.unit
        some = tuple(side[:used] for side in rows)

        def sums(place: Index, blocks: int) -> NDArray[np.int64]:
            return self.family.sums(state.bank, some, place, blocks)

        blocks = state.blocks.added(units, sums)
        return replace(state, waiting=tuple(s[used:].copy() for s in rows), blocks=blocks)

    def _thinned(self, state: FamilyState, rows: Rows) -> tuple[FamilyState, Rows]:
        """One in so many rows, counted from the first of the stream."""
        step = self.family.step(state.lag)
        if step == 1:
            return state, rows
        count = len(rows[0])
        used = (state.phase + np.arange(count)) % step == 0
        passed = count - int(np.count_nonzero(used))
        state = replace(
            state, phase=(state.phase + count) % step, n_thinned=state.n_thinned + passed
        )
        return state, tuple(side[used] for side in rows)

    def flush(self, state: FamilyState) -> FamilyState:
        """The state with a map, if there are rows for one; the state itself stays as it is."""
        if state.waiting is None or state.blocks is not None:
            return state
        return self.feed(state, tuple(side[:0] for side in state.waiting), least=FEWEST)

    def total(self, state: FamilyState) -> Moments:
        """There are none."""
        raise InputError('A sketch has no moments of pairs: pairs="adjacent" keeps them.')

    def tally(self, state: FamilyState) -> dict[str, int]:
        """Pairs of blocks, blocks, and rows in them or soon to be."""
        if state.blocks is None:
            units = 0 if state.waiting is None else len(state.waiting[0]) // self.family.unit
            blocks = min(units, self.most)
        else:
            units, blocks = state.blocks.n_units, len(state.blocks)
        return {
            "n_pairs": blocks * (blocks - 1) // 2,
            "n_units": blocks,
            "n_used": units * self.family.unit,
        }

    def n_waiting(self, state: FamilyState) -> int:
        """Rows that wait for others to make a unit."""
        return 0 if state.waiting is None else len(state.waiting[0]) % self.family.unit

    def emptied(self, state: FamilyState) -> FamilyState:
        """A state of no rows with the map of another, if that has one."""
        new = FamilyState(encodings=state.encodings, scaled=state.scaled, discrete=state.discrete)
        if state.blocks is None or state.waiting is None:
            return new
        return replace(
            new,
            waiting=tuple(side[:0] for side in state.waiting),
            bank=state.bank,
            blocks=RunSums(self.family.width(state.bank), self.most),
            lag=state.lag,
        )

    # -- merging -----------------------------------------------------------------------------

    def merge(self, state: FamilyState, other: FamilyState) -> FamilyState:
        """The blocks of one after those of the other; what waits in the other comes next."""
        if state.waiting is None:
            state = replace(
                state, encodings=other.encodings, scaled=other.scaled, discrete=other.discrete
            )
        rows, has_map = other.waiting, other.blocks is not None
        if other.blocks is not None:
            if state.blocks is None:
                state = self._adopt(state, other)
            assert state.blocks is not None
            state = replace(state, blocks=state.blocks.followed_by(other.blocks))
        elif rows is not None and state.scaled and not other.scaled:
            rows = on_scales(state.encodings, rows)
        state = replace(
            state,
            n_thinned=state.n_thinned + other.n_thinned,
            n_omitted=state.n_omitted + other.n_omitted,
        )
        if rows is None:
            return state
        return self._add(state, rows) if has_map else self.feed(state, rows)

    def _adopt(self, state: FamilyState, other: FamilyState) -> FamilyState:
        """The state with the map of another."""
        rows, unscaled = state.waiting, not state.scaled
        state = replace(self.emptied(other), n_thinned=state.n_thinned, n_omitted=state.n_omitted)
        if rows is None:
            return state
        return self.feed(state, on_scales(other.encodings, rows) if unscaled else rows)


def on_scales(encodings: tuple[Encoding | None, ...], rows: Rows) -> Rows:
    """Rows that the same encodings without scales made, on their scales."""
    sides = zip(encodings, rows, strict=True)
    return tuple(side if e is None else e.on_scale(side) for e, side in sides)
