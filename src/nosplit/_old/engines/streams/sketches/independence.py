"""Sketches of streams of observations: random shifts of y inside the units of blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import Seed
from nosplit._old.engines.families.independence import check_unit_size, map_of
from nosplit._old.engines.streams.base import LIMIT
from nosplit._old.engines.streams.independence import (
    IndependenceAccumulator,
    check_given_tensors,
    observed_batch,
)
from nosplit._old.engines.streams.saved.as_json import kernels_from_plain
from nosplit._old.engines.streams.sketches.accumulator import FamilySketch, sketch_settings
from nosplit._old.engines.streams.sketches.families import FamilyFlow, FamilyState
from nosplit._old.engines.streams.sketches.runs import RunSums
from nosplit._old.engines.streams.state import Rows
from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.statistics import test_draws
from nosplit._old.sketch.families.independence_sums import ShiftSums, shift_statistics
from nosplit._types import Index
from nosplit.core.pairings import Pairing, Sketch
from nosplit.core.tensor_map import TensorMap
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import unscaled_encoding
from nosplit.data.frames import as_frame, is_table
from nosplit.data.variables import Variable
from nosplit.kernels.tensor import TensorKernels, tensor_kernels
from nosplit.methods import Method

__all__ = ["IndependenceSketch"]


@dataclass(frozen=True)
class _Observations:
    """Units of q observations."""

    kernels: TensorKernels
    unit: int

    def blocks(self, pairing: Sketch) -> int:
        """Blocks of a long stream, at the least: each has q sums, so fewer than of rows."""
        return max(16, 2 * pairing.cells // self.unit)

    def fit(self, rows: Rows, state: FamilyState, frequencies: int, key: int) -> TensorMap:
        """The map, from some observations."""
        flags = state.discrete or (False, False)
        x, y = (
            Variable(side, flag if encoding is None else encoding.parts, encoding)
            for side, flag, encoding in zip(rows, flags, state.encodings, strict=True)
        )
        return map_of(x, y, self.kernels, frequencies=frequencies, key=key)

    def width(self, bank: TensorMap) -> int:
        """Numbers of a block."""
        return 2 * bank.n_pairs * self.unit

    def sums(self, bank: TensorMap, rows: Rows, place: Index, blocks: int) -> NDArray[np.int64]:
        """Sums of units by block."""
        sums = ShiftSums.empty(bank, blocks, self.unit)
        sums.add(bank, rows[0], rows[1], place)
        return sums.numbers.reshape(blocks, -1)


class IndependenceSketch(FamilySketch, IndependenceAccumulator):
    """Sums of products under all shifts: `IndependenceAccumulator(pairs="sketch")`."""

    def __init__(
        self,
        kernels: TensorKernels = None,
        *,
        unit_size: int = 8,
        pairs: Pairing | str = "sketch",
        limit: int = LIMIT,
        encodings: tuple[Encoding | None, Encoding | None] = (None, None),
        discrete: tuple[bool, bool] | None = None,
        rng: Seed = 0,
    ) -> None:
        flags = None if discrete is None else (bool(discrete[0]), bool(discrete[1]))
        if kernels is not None and not callable(kernels):
            tensor_kernels(kernels, 1.0, 1.0, discrete=flags or (False, False))
        self._given = kernels
        family = _Observations(kernels, check_unit_size(unit_size))
        self._flow = FamilyFlow(*sketch_settings(pairs, limit, rng), family)
        self._state = FamilyState(encodings=tuple(encodings), discrete=flags)

    @property
    def unit_size(self) -> int:
        """Observations to a unit."""
        return self._flow.family.unit

    @classmethod
    def _like(cls, other: Self) -> Self:
        new = cls(other._given, unit_size=other.unit_size)
        new._flow, new._state = other._flow, other._flow.emptied(other._state)
        return new

    def update(self, x: Any, y: Any) -> None:
        """Take in a batch of observations."""
        state = self._state
        if state.waiting is None and state.scaled:
            state = self._first(state, x, y)
        widths: list[Any] = state.widths or [None, None]
        first = state.waiting is None
        found = observed_batch(x, y, state.encodings, state.discrete, widths, first=first)
        n_omitted = state.n_omitted + found.n_omitted
        if found.rows is None:
            self._state = replace(self._state, n_omitted=n_omitted)
            return
        state = replace(
            state, n_omitted=n_omitted, discrete=found.discrete, encodings=found.encodings
        )
        self._state = self._flow.feed(state, found.rows)

    def _first(self, state: FamilyState, x: Any, y: Any) -> FamilyState:
        """The state that knows what the columns of tables hold; scales come with the map."""
        if state.encodings != (None, None):
            return state
        encodings = tuple(
            unscaled_encoding(as_frame(value, name)) if is_table(value) else None
            for value, name in ((x, "x"), (y, "y"))
        )
        check_given_tensors(self._given, encodings)
        return replace(state, encodings=encodings, scaled=encodings == (None, None))

    def _tested(
        self, state: FamilyState, blocks: RunSums, method: Method | None, flips: int
    ) -> tuple[Outcome, int]:
        bank = state.bank
        sums = ShiftSums(blocks.numbers.reshape(len(blocks), self.unit_size, 2 * bank.n_pairs))
        drawn = shift_statistics(bank, sums, flips=flips, key=self._flow.draws)
        return test_draws(drawn, method, "sketch"), drawn.n_units

    @classmethod
    def _from_body(cls, body: dict[str, Any], known: dict[str, Any]) -> Self:
        settings = body["settings"]
        new = cls(
            kernels_from_plain(body["kernels"]),
            unit_size=settings["unit_size"],
            pairs=Sketch(**settings["pairs"]),
            limit=settings["limit"],
        )
        new._restore(body)
        return new

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "unit_size": self.unit_size}
