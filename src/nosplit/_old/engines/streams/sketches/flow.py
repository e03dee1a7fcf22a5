"""A stream as sums in blocks: the steps that all families share.

The first rows wait until there are enough of them to choose the map from: bandwidths and scales.
From then on rows become sums as they come, and only those that wait for others to make a unit are
kept. The state never changes in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from nosplit._old.engines.streams.state import Rows, first_blocks, joined_rows
from nosplit.core.moments import Moments
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Encoding
from nosplit.errors import InputError

__all__ = ["FEWEST", "PILOT", "BlockFlow", "BlockState", "on_scales"]

# Rows that the map is chosen from, and units without which there is no test.
PILOT, FEWEST = 1000, 8


@dataclass(frozen=True, eq=False)
class BlockState:
    """The state of a stream, as far as all families have it.

    Attributes
    ----------
    waiting : tuple of arrays, or None before the first rows
        Rows of both sides that wait for others to make a unit, or for enough others to choose the
        map from.
    blocks : BlockCounts, or None as long as there is no map
        Sums of all other rows.
    encodings : tuple of Encoding or None
        How tables of either side become numbers.
    scaled : bool
        Whether encodings are final; else rows wait as they came, and are scaled with the map.
    n_omitted : int
        Rows in which something was missing.
    """

    waiting: Rows | None = None
    blocks: Any = None
    encodings: tuple[Encoding | None, ...] = (None, None)
    scaled: bool = True
    n_omitted: int = 0


S = TypeVar("S", bound=BlockState)


@dataclass(frozen=True)
class BlockFlow(ABC, Generic[S]):
    """Rows → sums in blocks.

    Parameters
    ----------
    pairing : Sketch
        How many blocks there are once the stream is long, and frequencies of a kernel.
    limit : int
        Rows that may wait.
    key, draws : int
        Pick the frequencies, and the draws of a result.
    """

    pairing: Sketch
    limit: int
    key: int
    draws: int

    # Counts of a state that add up where streams are merged.
    counted: ClassVar[tuple[str, ...]]

    # -- what a family brings ----------------------------------------------------------------

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Rows of each side in a unit."""

    @property
    @abstractmethod
    def rows_per_unit(self) -> int:
        """Rows of the data in a unit."""

    @property
    @abstractmethod
    def most(self) -> int:
        """Blocks at the most."""

    @property
    @abstractmethod
    def enough(self) -> int:
        """Units that the map is chosen from."""

    @abstractmethod
    def emptied(self, state: S) -> S:
        """A state of no rows with the map of another, if that has one."""

    @abstractmethod
    def _with_map(self, state: S, rows: Rows) -> tuple[S, Rows]:
        """The map, from the first units, and all rows on its scale."""

    @abstractmethod
    def _sums(self, state: S, rows: Rows, units: int) -> Any:
        """The blocks with the rows of whole units."""

    # -- rows --------------------------------------------------------------------------------

    @property
    def pairs(self) -> str:
        """Short name of the pairs."""
        return "sketch"

    @property
    def frequencies(self) -> int:
        """Frequencies of a kernel."""
        return self.pairing.frequencies or 64

    def n_units(self, rows: Rows | None) -> int:
        """Whole units among some rows."""
        if rows is None:
            return 0
        return min(len(side) // size for side, size in zip(rows, self.sizes, strict=True))

    def feed(self, state: S, batch: Rows, *, least: int | None = None) -> S:
        """The state after a batch; without a map, as long as fewer than `least` units came."""
        if state.blocks is not None:
            return self._add(state, batch)
        rows = batch if state.waiting is None else joined_rows(state.waiting, batch)
        if self.n_units(rows) < (self.enough if least is None else least):
            return self._wait(state, rows, 0)
        return self._add(*self._with_map(state, rows))

    def flush(self, state: S) -> S:
        """The state with a map, if there are rows for one; the state itself stays as it is."""
        if state.waiting is None or state.blocks is not None:
            return state
        return self.feed(state, first_blocks(state.waiting, self.sizes, 0), least=FEWEST)

    def _add(self, state: S, batch: Rows) -> S:
        """The state with more rows, once it has a map."""
        assert state.waiting is not None
        rows = joined_rows(state.waiting, batch)
        units = self.n_units(rows)
        blocks = self._sums(state, first_blocks(rows, self.sizes, units), units)
        return self._wait(replace(state, blocks=blocks), rows, units)

    def _wait(self, state: S, rows: Rows, units: int) -> S:
        """Keep what follows the first units."""
        sides = zip(rows, self.sizes, strict=True)
        rest = [side[units * size :] if units else side for side, size in sides]
        # A batch is the caller's, and may be large: what is kept of it is copied.
        known = state.waiting or ()
        kept = tuple(s if any(s is old for old in known) else s.copy() for s in rest)
        return replace(state, waiting=kept)

    def total(self, state: S) -> Moments:
        """Refuse: only adjacent pairs have moments."""
        raise InputError('A sketch has no moments of pairs: pairs="adjacent" keeps them.')

    def tally(self, state: S) -> dict[str, int]:
        """Pairs of blocks, blocks, and rows in them or soon to be."""
        if state.blocks is None:
            units = self.n_units(state.waiting)
            blocks = min(units, self.most)
        else:
            units, blocks = state.blocks.n_units, len(state.blocks)
        return {
            "n_pairs": blocks * (blocks - 1) // 2,
            "n_units": blocks,
            "n_used": units * self.rows_per_unit,
        }

    # -- merging -----------------------------------------------------------------------------

    def taught_by(self, other: Self) -> Self:
        """The flow itself: what the first rows show is in the state."""
        return self

    def merge(self, state: S, other: S) -> S:
        """The blocks of one after those of the other; what waits in the other comes next."""
        if state.waiting is None:
            state = self._informed(state, other)
        rows, has_map = other.waiting, other.blocks is not None
        if has_map:
            if state.blocks is None:
                state = self._adopt(state, other)
            state = replace(state, blocks=state.blocks.followed_by(other.blocks))
        elif rows is not None and state.scaled and not other.scaled:
            rows = on_scales(state.encodings, rows)
        state = self._counting(state, other)
        if rows is None:
            return state
        return self._add(state, rows) if has_map else self.feed(state, rows)

    def _informed(self, state: S, other: S) -> S:
        """A state without rows that knows the columns of another, if that does."""
        if all(encoding is None for encoding in other.encodings):
            return state
        return replace(state, encodings=other.encodings, scaled=other.scaled)

    def _adopt(self, state: S, other: S) -> S:
        """The state with the map of another."""
        rows = state.waiting
        if rows is not None and not state.scaled:
            rows = on_scales(other.encodings, rows)
        state = self._counting(self.emptied(other), state)
        return state if rows is None else self.feed(state, rows)

    def _counting(self, state: S, other: S) -> S:
        """The state with the counts of another, too."""
        counts = {name: getattr(state, name) + getattr(other, name) for name in self.counted}
        return replace(state, **counts)


def on_scales(encodings: tuple[Encoding | None, ...], rows: Rows) -> Rows:
    """Rows that the same encodings without scales made, on their scales."""
    sides = zip(encodings, rows, strict=True)
    return tuple(side if e is None else e.on_scale(side) for e, side in sides)
