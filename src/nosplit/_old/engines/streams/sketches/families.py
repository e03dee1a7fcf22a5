"""A stream of rows with scores, or of observations, as a sketch: sums of numbers in blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._old.engines.streams.sketches.flow import (
    FEWEST,
    PILOT,
    BlockFlow,
    BlockState,
    on_scales,
)
from nosplit._old.engines.streams.sketches.runs import RunSums
from nosplit._old.engines.streams.state import Rows, first_blocks
from nosplit._types import Index
from nosplit.core.pairings import Sketch
from nosplit.data.fit_encoding import fit_scales

__all__ = ["FamilyFlow", "FamilyState", "StreamFamily"]


@dataclass(frozen=True, eq=False)
class FamilyState(BlockState):
    """The state of a stream of rows with scores, or of observations.

    Attributes
    ----------
    waiting, encodings, scaled, n_omitted
        As in `BlockState`.
    blocks : RunSums, or None as long as there is no map
        Sums of all other rows.
    bank : map, or None as long as there are too few rows
        What knows the kernels.
    discrete : pair of bool, or None before the first rows
        Whether arrays name categories.
    """

    blocks: RunSums | None = None
    bank: Any = None
    discrete: tuple[bool, bool] | None = None

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

    def width(self, bank: Any) -> int:
        """Numbers of a block."""
        ...

    def sums(self, bank: Any, rows: Rows, place: Index, blocks: int) -> NDArray[np.int64]:
        """Sums of units by block."""
        ...


@dataclass(frozen=True)
class FamilyFlow(BlockFlow[FamilyState]):
    """Rows → a sketch, of fit or of independence.

    Parameters
    ----------
    pairing, limit, key, draws
        As in `BlockFlow`.
    family : StreamFamily
        What units are.
    """

    family: StreamFamily

    counted: ClassVar[tuple[str, ...]] = ("n_omitted",)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each side in a unit: the sides are of the same rows."""
        return self.family.unit, self.family.unit

    @property
    def rows_per_unit(self) -> int:
        """Rows to a unit."""
        return self.family.unit

    @property
    def most(self) -> int:
        """Blocks at the most."""
        return max(2 * FEWEST, 2 * self.family.blocks(self.pairing))

    @property
    def enough(self) -> int:
        """Units that the map is chosen from."""
        return max(FEWEST, min(PILOT, self.limit) // self.family.unit)

    def emptied(self, state: FamilyState) -> FamilyState:
        """A state of no rows with the map of another, if that has one."""
        new = FamilyState(encodings=state.encodings, scaled=state.scaled, discrete=state.discrete)
        if state.blocks is None or state.waiting is None:
            return new
        return replace(
            new,
            waiting=first_blocks(state.waiting, self.sizes, 0),
            bank=state.bank,
            blocks=RunSums(self.family.width(state.bank), self.most),
        )

    def _with_map(self, state: FamilyState, rows: Rows) -> tuple[FamilyState, Rows]:
        """The map, from the first units, and all rows on its scale."""
        first = self.enough * self.family.unit
        if not state.scaled:
            encodings = tuple(
                None if e is None else fit_scales(e, side[:first])
                for e, side in zip(state.encodings, rows, strict=True)
            )
            state = replace(state, encodings=encodings, scaled=True)
            rows = on_scales(encodings, rows)
        some = tuple(side[:first] for side in rows)
        bank = self.family.fit(some, state, self.frequencies, self.key)
        none = first_blocks(rows, self.sizes, 0)
        blocks = RunSums(self.family.width(bank), self.most)
        return replace(state, waiting=none, bank=bank, blocks=blocks), rows

    def _sums(self, state: FamilyState, rows: Rows, units: int) -> RunSums:
        assert state.blocks is not None

        def sums(place: Index, blocks: int) -> NDArray[np.int64]:
            return self.family.sums(state.bank, rows, place, blocks)

        return state.blocks.added(units, sums)

    def _informed(self, state: FamilyState, other: FamilyState) -> FamilyState:
        state = super()._informed(state, other)
        return replace(state, discrete=other.discrete) if other.discrete is not None else state
