"""Sketches of streams of rows and scores: random signs of blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import Seed
from nosplit._old.engines.families.goodness_of_fit import too_skewed
from nosplit._old.engines.streams.base import LIMIT
from nosplit._old.engines.streams.goodness_of_fit import GoodnessOfFitAccumulator, scored_batch
from nosplit._old.engines.streams.saved.as_json import kernels_from_plain
from nosplit._old.engines.streams.sketches.accumulator import FamilySketch, sketch_settings
from nosplit._old.engines.streams.sketches.families import FamilyFlow, FamilyState
from nosplit._old.engines.streams.sketches.runs import RunSums
from nosplit._old.engines.streams.state import Rows
from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.statistics import test_draws
from nosplit._old.sketch.families.goodness_of_fit_sums import cell_skewness, stein_statistics
from nosplit._types import Index
from nosplit.core.pairings import Pairing, Sketch
from nosplit.core.stein_map import SteinMap, SteinSums, fit_stein_map
from nosplit.data.encoding import Encoding
from nosplit.errors import InputError
from nosplit.inference.calibrations import WILD
from nosplit.kernels import Kernel
from nosplit.kernels.stein import (
    BoundedLinear,
    Constant,
    SteinBank,
    SteinKernels,
    fit_stein_bank,
    stein_kernels,
)
from nosplit.methods import Method
from nosplit.models import Model

__all__ = ["FitSketch"]


@dataclass(frozen=True)
class _Scored:
    """Units of one row and its score."""

    kernels: SteinKernels
    unit: int = 1

    def blocks(self, pairing: Sketch) -> int:
        """Blocks of a long stream, at the least."""
        return pairing.cells

    def fit(self, rows: Rows, state: FamilyState, frequencies: int, key: int) -> SteinMap:
        """The map, from some rows."""
        try:
            bank = fit_stein_bank(self.kernels, rows[0])
        except InputError as error:
            raise InputError(str(error).replace("`rows`", "`x`")) from None
        more = (Constant(), BoundedLinear()) if self.kernels is None else ()
        kernels = (*bank.kernels, *more)
        return fit_stein_map(rows[0], rows[1], kernels, frequencies=frequencies, key=key)

    def width(self, bank: SteinMap) -> int:
        """Numbers of a block."""
        return bank.n_numbers

    def sums(self, bank: SteinMap, rows: Rows, place: Index, blocks: int) -> NDArray[np.int64]:
        """Sums of rows by block."""
        sums = SteinSums.empty(bank, blocks)
        sums.add(bank, rows[0], rows[1], place)
        return sums.numbers


class FitSketch(FamilySketch, GoodnessOfFitAccumulator):
    """Sums of Stein features in blocks: `GoodnessOfFitAccumulator(pairs="sketch")`."""

    def __init__(
        self,
        score: Model | Any,
        kernels: SteinKernels = None,
        *,
        pairs: Pairing | str = "sketch",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
        rng: Seed = 0,
    ) -> None:
        self._score = self._checked(score)
        if kernels is not None and (isinstance(kernels, Kernel) or not callable(kernels)):
            SteinBank(stein_kernels(kernels, 1.0))
        self._given = kernels
        self._flow = FamilyFlow(*sketch_settings(pairs, limit, rng), _Scored(kernels))
        self._state = FamilyState(encodings=(encoding,))

    @classmethod
    def _like(cls, other: Self) -> Self:
        new = cls(other._score, other._given)
        new._flow, new._state = other._flow, other._flow.emptied(other._state)
        return new

    def update(self, x: Any) -> None:
        """Take in a batch of rows."""
        state = self._state
        batch, encoding, omitted = scored_batch(
            x, self._score, state.encodings[0], None if state.widths is None else state.widths[0]
        )
        state = replace(state, n_omitted=state.n_omitted + omitted)
        if batch is not None:
            state = self._flow.feed(replace(state, encodings=(encoding,)), batch)
        self._state = state

    def _tested(
        self, state: FamilyState, blocks: RunSums, method: Method | None, flips: int
    ) -> tuple[Outcome, int]:
        bank, sums = state.bank, SteinSums(blocks.numbers)
        drawn = stein_statistics(bank, sums, blocks.n_units, flips=flips, key=self._flow.draws)
        outcome = replace(test_draws(drawn, method, "sketch"), calibration=WILD)
        return outcome.noting(too_skewed(cell_skewness(bank, sums))), drawn.n_units

    @classmethod
    def _from_body(cls, body: dict[str, Any], known: dict[str, Any]) -> Self:
        settings = body["settings"]
        new = cls(
            known.get("score"),
            kernels_from_plain(body["kernels"]),
            pairs=Sketch(**settings["pairs"]),
            limit=settings["limit"],
        )
        new._restore(body)
        return new
