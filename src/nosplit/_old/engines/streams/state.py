"""The state of a stream, and what more rows make of it.

Rows of each side wait until whole units can be made of them. Whole units are paired some hundreds
at a time, and nothing but their moments is kept: memory is bounded whatever comes. The state never
changes in place, so that a result can be had from a copy, and an error leaves it as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.loop import accumulate
from nosplit._old.pairs.protocols import Units
from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.core.pairings import Adjacent, Pairing
from nosplit.core.statistics import NOT_FINITE
from nosplit.errors import NonFiniteError
from nosplit.families.paired import MEDIAN_ROWS

__all__ = ["Family", "Flow", "Rows", "State", "first_blocks", "joined_rows"]

Rows = tuple[NDArray[Any], ...]

NOTHING = Moments.empty(0)


class Family(Protocol):
    """The parts that differ between two samples, goodness of fit and independence."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each side in a block, the smallest whole number of units."""
        ...

    @property
    def units_per_block(self) -> int:
        """Units in a block."""
        ...

    @property
    def rows_per_block(self) -> int:
        """Rows of the data in a block."""
        ...

    def fit(self, rows: Rows) -> Any:
        """The kernels, with bandwidths from these rows if they are not given."""
        ...

    def units(self, rows: Rows, bank: Any) -> Units:
        """Units of whole blocks."""
        ...

    def check(self, units: Any) -> None:
        """Try kernels that are not built in on the first units."""
        ...

    def effective(self, units: Any, pairing: Pairing) -> Array | None:
        """Effective number of pairs, or rows, of a pass for each kernel; None where all count."""
        ...


@dataclass(frozen=True, eq=False)
class State:
    """The state of a stream.

    Attributes
    ----------
    waiting : tuple of arrays, or None before the first rows
        Rows of each side that are not in a unit yet, or whose unit is not paired yet.
    bank : Bank, or None as long as the first rows wait for more
        The kernels.
    moments : Moments
        Moments of the pairs so far.
    effective : array, optional
        How many pairs, or rows, carry each kernel: a sum over passes, each seen by a few pairs.
    n_units : int
        Units that were paired.
    n_dropped, n_omitted : int
        Rows that found no room to wait, and rows in which something was missing.
    """

    waiting: Rows | None = None
    bank: Any = None
    moments: Moments = NOTHING
    effective: Array | None = None
    n_units: int = 0
    n_dropped: int = 0
    n_omitted: int = 0

    def with_bank(self, bank: Any) -> State:
        """The same with kernels, and nothing seen of them."""
        return replace(self, bank=bank, moments=Moments.empty(len(bank)))


@dataclass(frozen=True)
class Flow:
    """Rows → pairs.

    Parameters
    ----------
    family : Family
        What units are.
    limit : int
        Rows of a side that may wait.
    """

    family: Family
    limit: int

    @property
    def step(self) -> int:
        """Blocks that are paired at once: a multiple of this, so that adjacent units are."""
        return 2 if self.family.units_per_block % 2 else 1

    @property
    def enough(self) -> int:
        """Blocks that are worth a pass, and that bandwidths come from: the first 500 rows."""
        room = self.limit // max(self.family.sizes)
        blocks = min(MEDIAN_ROWS // self.family.rows_per_block, room)
        return max(blocks - blocks % self.step, self.step, -(-2 // self.family.units_per_block))

    @property
    def pairs(self) -> str:
        """Short name of the pairs."""
        return "adjacent"

    def tally(self, state: State) -> dict[str, int]:
        """Pairs, units, and rows in them."""
        family = self.family
        return {
            "n_pairs": self.total(state).n,
            "n_units": state.n_units,
            "n_used": state.n_units * family.rows_per_block // family.units_per_block,
        }

    def feed(self, state: State, batch: Rows, *, least: int | None = None) -> State:
        """The state after a batch; rows wait as long as fewer than `least` blocks are ready."""
        joined = batch if state.waiting is None else joined_rows(state.waiting, batch)
        sizes = self.family.sizes
        blocks = min(len(side) // size for side, size in zip(joined, sizes, strict=True))
        blocks -= blocks % self.step
        if blocks < (self.enough if least is None else least):
            return self._wait(state, joined, 0)
        if state.bank is None:
            some = first_blocks(joined, sizes, min(blocks, self.enough))
            state = state.with_bank(self.family.fit(some))
        used = first_blocks(joined, sizes, blocks)
        return self._wait(self._pair(state, used), joined, blocks)

    def flush(self, state: State) -> State:
        """The state with every pair that can be made of its rows."""
        if state.waiting is None:
            return state
        least = self.step if state.bank else max(self.step, -(-2 // self.family.units_per_block))
        return self.feed(state, first_blocks(state.waiting, self.family.sizes, 0), least=least)

    def _wait(self, state: State, joined: Rows, blocks: int) -> State:
        """Keep what follows the first blocks of each side, up to the limit."""
        pairs = zip(joined, self.family.sizes, strict=True)
        rest = [side[blocks * size :] if blocks else side for side, size in pairs]
        dropped = sum(max(0, len(side) - self.limit) for side in rest)
        # A batch is the caller's, and may be large: what is kept of it is copied.
        kept = tuple(
            side if any(side is old for old in state.waiting or ()) else side[: self.limit].copy()
            for side in rest
        )
        return replace(state, waiting=kept, n_dropped=state.n_dropped + dropped)

    def _pair(self, state: State, rows: Rows) -> State:
        """Moments of the pairs that come with the rows of whole blocks."""
        new = len(rows[0]) // self.family.sizes[0] * self.family.units_per_block
        units, pairing = self.family.units(rows, state.bank), Adjacent()
        if not state.n_units:
            self.family.check(units)
        moments, effective = state.moments, None
        if pairing.n_pairs(units.n_units):
            moments += _checked_moments(accumulate(units, pairing))
            effective = self.family.effective(units, pairing)
        return replace(
            state,
            moments=moments,
            effective=_sum_of_known(state.effective, effective),
            n_units=state.n_units + new,
        )

    def total(self, state: State) -> Moments:
        """Moments of all pairs."""
        return state.moments

    def taught_by(self, other: Flow) -> Flow:
        """The flow with the units of another, whose first rows have shown what they are."""
        return replace(self, family=other.family)

    def merge(self, state: State, other: State) -> State:
        """Both together; what waits in the other comes next in this one."""
        if state.bank is not None:
            state = self.flush(state)
        if other.bank is not None:
            other = self.flush(other)
            state = state if state.bank is not None else state.with_bank(other.bank)
            state = replace(
                state,
                moments=state.moments + self.total(other),
                effective=_sum_of_known(state.effective, other.effective),
                n_units=state.n_units + other.n_units,
            )
        state = replace(
            state,
            n_dropped=state.n_dropped + other.n_dropped,
            n_omitted=state.n_omitted + other.n_omitted,
        )
        return state if other.waiting is None else self.feed(state, other.waiting)


def _sum_of_known(one: Array | None, other: Array | None) -> Array | None:
    """The sum, where there is anything to add."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def joined_rows(first: Sequence[NDArray[Any]], second: Sequence[NDArray[Any]]) -> Rows:
    """Rows of each side one after the other; not copied where one is empty."""
    pairs = zip(first, second, strict=True)
    return tuple(b if not len(a) else a if not len(b) else np.concatenate([a, b]) for a, b in pairs)


def first_blocks(rows: Rows, sizes: tuple[int, ...], blocks: int) -> Rows:
    """Rows of the first whole blocks."""
    return tuple(side[: blocks * size] for side, size in zip(rows, sizes, strict=True))


def _checked_moments(moments: Moments) -> Moments:
    if not (np.isfinite(moments.mean).all() and np.isfinite(moments.scatter).all()):
        raise NonFiniteError(NOT_FINITE)
    return moments
