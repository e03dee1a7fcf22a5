"""Parts that accumulators of sketches share: counts, results, merging, saving."""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import asdict, replace
from typing import Any, Self

from nosplit._checks import check_int, check_rng
from nosplit._old.engines.streams.base import DRAWS, Accumulator
from nosplit._old.engines.streams.saved.family_json import (
    family_from_plain,
    family_to_plain,
    same_bank,
)
from nosplit._old.engines.streams.sketches.families import FamilyFlow, FamilyState
from nosplit._old.engines.streams.sketches.flow import FEWEST, BlockState
from nosplit._old.inference.outcome import Outcome, to_result
from nosplit._old.inference.planning.limits import as_method
from nosplit.core.pairings import Pairing, Sketch
from nosplit.data.encoding import Encoding
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.result import TestResult
from nosplit.methods import Method

__all__ = ["FamilySketch", "SketchingAccumulator", "columns_of", "sketch_settings"]

# Blocks of a long stream, at the least; twice as many at the most.
CELLS = 512


def sketch_settings(pairs: Pairing | str, limit: int, rng: Any) -> tuple[Sketch, int, int, int]:
    """The sketch, the rows that may wait, and keys of the map and of the draws."""
    pairing = pairs if isinstance(pairs, Sketch) else Sketch(CELLS)
    key, draws = (int(k) for k in check_rng(rng).integers(2**53, size=2))
    return pairing, check_int(limit, "limit", least=1), key, draws


class SketchingAccumulator(Accumulator):
    """An accumulator of sums in blocks; its flow and its state are a family's."""

    @abstractmethod
    def _tested(
        self, state: Any, blocks: Any, method: Method | None, flips: int
    ) -> tuple[Outcome, int]:
        """The outcome of a state and its blocks, and the number of blocks it is of."""

    # -- what is known so far ------------------------------------------------------------------

    @property
    def n_waiting(self) -> int:
        """Rows that wait for others to make a unit."""
        waiting, flow = self._state.waiting, self._flow
        return int(self._n_rows(waiting) - flow.n_units(waiting) * flow.rows_per_unit)

    def counts(self) -> dict[str, int]:
        """Number of pairs and units, and what became of the rows."""
        return {
            **self._flow.tally(self._state),
            "n_waiting": self.n_waiting,
            "n_dropped": self.n_dropped,
            "n_omitted": self._state.n_omitted,
        }

    @property
    def _n_pairs(self) -> int:
        return int(self._flow.tally(self._state)["n_pairs"])

    @property
    def _named(self) -> Any:
        """The kernels as they were asked for."""
        raise NotImplementedError

    @property
    def _width(self) -> Any:
        """Columns of the rows, once they are known."""
        raise NotImplementedError

    def _same_map(self, other: Self) -> bool:
        """Whether the maps of both are the same."""
        raise NotImplementedError

    # -- results -------------------------------------------------------------------------------

    def result(self, method: Method | str = "auto", *, n_resamples: int = DRAWS) -> TestResult:
        """Test with what has come so far; the accumulator stays as it is."""
        chosen, flips = as_method(method), Exact(n_resamples).n_resamples
        state = self._flow.flush(self._state)
        if state.blocks is None or state.blocks.n_units < FEWEST:
            raise InputError(
                f"There are no pairs to test yet: {FEWEST * self._flow.rows_per_unit} rows are "
                f"needed, and {self._n_rows(state.waiting)} are waiting. `update` with more rows "
                "first."
            )
        outcome, n_units = self._tested(state, state.blocks, chosen, flips)
        return to_result(
            outcome,
            question=self.question,
            kernels=state.bank.kernels,
            n_units=n_units,
            n_used=self._flow.tally(state)["n_used"],
            n_left_out=self.n_waiting + self.n_dropped + state.n_omitted,
            stream=True,
            **self._described(state),
        )

    # -- merging -------------------------------------------------------------------------------

    def __iadd__(self, other: Self) -> Self:
        flow = self._flow
        took = super().__iadd__(other)
        if took is self and flow is not other._flow and self._state.bank is other._state.bank:
            # The map came from the other: whatever is made like this one is like that one.
            self._flow = other._flow
        return took

    def _check_kernels(self, other: Self) -> None:
        known = [a._state.bank is not None for a in (self, other)]
        if all(known):
            same = self._state.bank is other._state.bank or self._same_map(other)
        else:  # rows that have no map yet take the other's, if they have no kernels of their own
            given = [a._named for a in (self, other)]
            unfixed = [k for k, has in zip(given, known, strict=True) if not has]
            same = given[0] == given[1] or unfixed == [None]
        if not same or not _same_scales(self._state, other._state):
            raise InputError(
                "Accumulators must have the same kernels and the same map to be added, and these "
                "have not: bandwidths, scales and bins come from the first rows of each. Make the "
                f"others with {self._name}.like(first)."
            )

    def _check_widths(self, other: Self) -> None:
        ours, theirs = self._width, other._width
        if None not in (ours, theirs) and ours != theirs:
            raise InputError(
                "Accumulators must be of rows with the same number of columns to be added, got "
                f"{ours} and {theirs}."
            )

    # -- files ---------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        flow = self._flow
        return {
            "pairs": asdict(flow.pairing),
            "limit": flow.limit,
            "keys": [flow.key, flow.draws],
        }

    def _with_keys(self, keys: Any) -> None:
        """Take the keys that were saved."""
        key, draws = (check_int(key, "keys", least=0) for key in keys)
        self._flow = replace(self._flow, key=key, draws=draws)

    def _check_body(self, path: str | os.PathLike[str], body: dict[str, Any]) -> None:
        """Sums of bounded numbers can always be read back."""


def _same_scales(one: BlockState, two: BlockState) -> bool:
    """Whether rows of both, if there are any, are or will be on the same scale."""
    if one.waiting is None or two.waiting is None or not (one.scaled and two.scaled):
        return True
    return _encodings_to_plain(one.encodings) == _encodings_to_plain(two.encodings)


def _encodings_to_plain(encodings: tuple[Encoding | None, ...]) -> list[Any]:
    return [None if e is None else e.to_dict() for e in encodings]


def columns_of(encodings: tuple[Encoding | None, ...]) -> list[Any] | None:
    """Names and kinds of columns; None if nothing is known of them."""
    found = [None if e is None else [(c.name, c.kind) for c in e.columns] for e in encodings]
    return found if any(found) else None


class FamilySketch(SketchingAccumulator):
    """An accumulator of sums in blocks; `update`, and what the sums say, are a family's."""

    _flow: FamilyFlow
    _state: FamilyState

    # -- what is known so far ------------------------------------------------------------------

    @property
    def n_dropped(self) -> int:
        """Rows that were dropped: none, as x and y come in the same rows."""
        return 0

    @property
    def _named(self) -> Any:
        return self._given

    @property
    def _width(self) -> Any:
        return self._state.widths

    def _described(self, state: Any) -> dict[str, Any]:
        some = [encoding for encoding in state.encodings if encoding is not None]
        names = tuple(name for encoding in some for name in encoding.names)
        encoding = tuple(state.encodings) if len(state.encodings) > 1 else some[:1]
        known = (encoding if len(encoding) > 1 else encoding[0]) if some else None
        return {"columns": names or None, "encoding": known}

    # -- merging -------------------------------------------------------------------------------

    def _compared(self) -> dict[str, Any]:
        return {
            "unit_size": self._flow.family.unit,
            "cells": self._flow.pairing,
            "encodings": columns_of(self._state.encodings),
            "discrete": self._state.discrete,
        }

    def _same_map(self, other: Self) -> bool:
        return same_bank(self._state.bank, other._state.bank)

    # -- files ---------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "encodings": _encodings_to_plain(self._state.encodings)}

    def _body(self) -> dict[str, Any]:
        self._state = self._flow.flush(self._state)
        return {"settings": self._settings(), **family_to_plain(self._state, self._given)}

    def _restore(self, body: dict[str, Any]) -> None:
        """Take what was saved: keys, encodings and state."""
        settings = body["settings"]
        self._with_keys(settings["keys"])
        encodings = tuple(
            None if e is None else Encoding.from_dict(e) for e in settings["encodings"]
        )
        if len(encodings) != len(self._state.encodings):
            raise InputError(f"`encodings` must be {len(self._state.encodings)}.")
        start = replace(self._state, encodings=encodings)
        self._state = family_from_plain(body["state"], self._flow, start)
