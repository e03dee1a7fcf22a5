"""What accumulators of fit and of independence share as sketches: counts, merging, saving."""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import asdict, replace
from typing import Any, Self

from nosplit._support.checks import check_int, check_rng
from nosplit.data.tables.encoding import Encoding
from nosplit.engines.streams.base import Accumulator
from nosplit.engines.streams.saved.family_json import (
    family_from_plain,
    family_to_plain,
    same_bank,
)
from nosplit.engines.streams.sketches.families import FEWEST, FamilyFlow, FamilyState, StreamFamily
from nosplit.engines.streams.sketches.runs import RunSums
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.limits import as_method
from nosplit.inference.outcome import Outcome, to_result
from nosplit.inference.result import TestResult
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing, Sketch

__all__ = ["CELLS", "FLIPS", "FamilySketch", "flow_of"]

# Blocks of a long stream, at the least, and random draws of a result.
CELLS, FLIPS = 512, 9_999


def flow_of(family: StreamFamily, pairs: Pairing | str, limit: int, rng: Any) -> FamilyFlow:
    """How rows become a sketch, from the keywords of an accumulator."""
    pairing = pairs if isinstance(pairs, Sketch) else Sketch(CELLS)
    key, draws = (int(k) for k in check_rng(rng).integers(2**53, size=2))
    return FamilyFlow(family, pairing, check_int(limit, "limit", least=1), key, draws)


class FamilySketch(Accumulator):
    """An accumulator of sums in blocks; `update`, and what the sums say, are a family's."""

    # Of the same use as those of moments.
    _flow: FamilyFlow  # type: ignore[assignment]
    _state: FamilyState  # type: ignore[assignment]

    @abstractmethod
    def _tested(
        self, state: FamilyState, blocks: RunSums, method: Method | None, flips: int
    ) -> tuple[Outcome, int]:
        """The outcome of a state and its blocks, and the number of blocks it is of."""

    # -- what is known so far ------------------------------------------------------------------

    @property
    def n_waiting(self) -> int:
        """Rows that wait for others to make a unit."""
        return self._flow.n_waiting(self._state)

    def counts(self) -> dict[str, int]:
        """How many pairs and units there are, and what became of the rows."""
        return {
            **self._flow.tally(self._state),
            "n_waiting": self.n_waiting,
            "n_dropped": self._state.n_thinned,
            "n_omitted": self._state.n_omitted,
        }

    @property
    def n_dropped(self) -> int:
        """Rows that were passed over, as they depend on those before them."""
        return self._state.n_thinned

    @property
    def _n_pairs(self) -> int:
        return self._flow.tally(self._state)["n_pairs"]

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

    def __iadd__(self, other: Self) -> Self:
        flow = self._flow
        took = super().__iadd__(other)
        if took is self and flow is not other._flow and self._state.bank is other._state.bank:
            # The map came from the other: whatever is made like this one is like that one.
            self._flow = other._flow
        return took

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

    def _check_kernels(self, other: Self) -> None:
        banks = self._state.bank, other._state.bank
        if banks[0] is not None and banks[1] is not None:
            same = banks[0] is banks[1] or same_bank(banks[0], banks[1])
        else:  # rows that have no map yet take the other's, if they have no kernels of their own
            given = [a._given for a in (self, other)]
            unfixed = [k for k, known in zip(given, banks, strict=True) if known is None]
            same = given[0] == given[1] or unfixed == [None]
        if not same:
            raise InputError(
                "Accumulators must have the same kernels and the same map to be added, and these "
                "have not: bandwidths and scales come from the first rows of each. Make the "
                f"others with {self._name}.like(first)."
            )

    def _check_widths(self, other: Self) -> None:
        ours, theirs = self._state.widths, other._state.widths
        if None not in (ours, theirs) and ours != theirs:
            raise InputError(
                "Accumulators must be of rows with the same number of columns to be added, got "
                f"{ours} and {theirs}."
            )

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

    def _check_body(self, path: str | os.PathLike[str], body: dict[str, Any]) -> None:
        """Sums of bounded numbers can always be read back."""

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
