"""Parts that accumulators of fit and of independence share as sketches: counts, merging, saving."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, replace
from typing import Any, Self

from nosplit._support.checks import check_int
from nosplit.data.tables.encoding import Encoding
from nosplit.engines.streams.base import FLIPS
from nosplit.engines.streams.saved.family_json import (
    family_from_plain,
    family_to_plain,
    same_bank,
)
from nosplit.engines.streams.sketches.families import FEWEST, FamilyFlow, FamilyState
from nosplit.engines.streams.sketches.runs import RunSums
from nosplit.engines.streams.sketches.sharing import SketchingAccumulator
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.limits import as_method
from nosplit.inference.outcome import Outcome, to_result
from nosplit.inference.result import TestResult
from nosplit.methods import Method

__all__ = ["FamilySketch"]


class FamilySketch(SketchingAccumulator):
    """An accumulator of sums in blocks; `update`, and what the sums say, are a family's."""

    _flow: FamilyFlow
    _state: FamilyState

    @abstractmethod
    def _tested(
        self, state: FamilyState, blocks: RunSums, method: Method | None, flips: int
    ) -> tuple[Outcome, int]:
        """The outcome of a state and its blocks, and the number of blocks it is of."""

    # -- what is known so far ------------------------------------------------------------------

    @property
    def n_dropped(self) -> int:
        """Rows that were passed over, as they depend on those before them."""
        return self._state.n_thinned

    @property
    def _named(self) -> Any:
        return self._given

    @property
    def _width(self) -> Any:
        return self._state.widths

    # -- results -------------------------------------------------------------------------------

    def result(self, method: Method | str = "auto", *, flips: int = FLIPS) -> TestResult:
        """Test with what has come so far; the accumulator stays as it is."""
        chosen, flips = as_method(method), Exact(flips).flips
        state = self._flow.flush(self._state)
        if state.blocks is None or state.blocks.n_units < FEWEST:
            rows = 0 if state.waiting is None else len(state.waiting[0])
            raise InputError(
                f"There are no pairs to test yet: {FEWEST * self._flow.family.unit} rows are "
                f"needed, and {rows} are waiting. `update` with more rows first."
            )
        outcome, n_units = self._tested(state, state.blocks, chosen, flips)
        return to_result(
            outcome,
            question=self.question,
            kernels=state.bank.kernels,
            n_units=n_units,
            n_used=self._flow.tally(state)["n_used"],
            n_left_out=self.n_waiting + state.n_thinned + state.n_omitted,
            stream=True,
            **self._described(),
        )

    def _described(self) -> dict[str, Any]:
        some = [encoding for encoding in self._state.encodings if encoding is not None]
        names = tuple(name for encoding in some for name in encoding.names)
        encoding = tuple(self._state.encodings) if len(self._state.encodings) > 1 else some[:1]
        known = (encoding if len(encoding) > 1 else encoding[0]) if some else None
        return {"columns": names or None, "encoding": known}

    # -- merging -------------------------------------------------------------------------------

    def _compared(self) -> dict[str, Any]:
        columns = [
            None if e is None else [(c.name, c.kind) for c in e.columns]
            for e in self._state.encodings
        ]
        known = any(column is not None for column in columns)
        return {
            "unit_size": self._flow.family.unit,
            "cells": self._flow.pairing,
            "encodings": columns if known else None,
            "discrete": self._state.discrete,
        }

    def _same_map(self, other: Self) -> bool:
        return same_bank(self._state.bank, other._state.bank)

    # -- files ---------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        flow, encodings = self._flow, self._state.encodings
        return {
            "pairs": asdict(flow.pairing),
            "limit": flow.limit,
            "keys": [flow.key, flow.draws],
            "encodings": [None if e is None else e.to_dict() for e in encodings],
        }

    def _body(self) -> dict[str, Any]:
        self._state = self._flow.flush(self._state)
        return {"settings": self._settings(), **family_to_plain(self._state, self._given)}

    def _restore(self, body: dict[str, Any]) -> None:
        """Take what was saved: keys, encodings and state."""
        settings = body["settings"]
        keys = [check_int(key, "keys", least=0) for key in settings["keys"]]
        self._flow = replace(self._flow, key=keys[0], draws=keys[1])
        encodings = tuple(
            None if e is None else Encoding.from_dict(e) for e in settings["encodings"]
        )
        if len(encodings) != len(self._state.encodings):
            raise InputError(f"`encodings` must be {len(self._state.encodings)}.")
        start = replace(self._state, encodings=encodings)
        self._state = family_from_plain(body["state"], self._flow, start)
