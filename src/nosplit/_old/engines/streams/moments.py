"""Accumulators of adjacent pairs: moments of their values, and closed forms."""

from __future__ import annotations

import os
from typing import Any, Self

from nosplit._checks import check_int
from nosplit._old.engines.streams.base import DRAWS, Accumulator
from nosplit._old.engines.streams.saved.as_json import (
    kernels_from_plain,
    kernels_to_plain,
    state_from_plain,
    state_to_plain,
)
from nosplit._old.engines.streams.saved.document import FileError
from nosplit._old.engines.streams.state import Family, Flow, State
from nosplit._old.inference.outcome import Outcome, to_result
from nosplit._old.inference.statistics import test_moments
from nosplit._types import Array
from nosplit.core.pairings import Adjacent
from nosplit.errors import Caveat, InputError
from nosplit.inference.result import TestResult
from nosplit.methods import Method

__all__ = ["MomentsAccumulator"]


class MomentsAccumulator(Accumulator):
    """Base of the accumulators of adjacent pairs; `update` is theirs."""

    _flow: Flow
    _state: State

    def __init__(self, family: Family, kernels: Any, bank: Any, limit: int) -> None:
        self._flow = Flow(family, check_int(limit, "limit", least=1))
        least = self._flow.step * max(family.sizes)
        if self._flow.limit < least:
            raise InputError(f"`limit` must be an int ≥ {least}, the rows of a pair, got {limit}.")
        self._given = kernels
        self._state = State() if bank is None else State().with_bank(bank)

    # -- what is known so far ------------------------------------------------------------------

    @property
    def n_waiting(self) -> int:
        """Rows that wait: for a partner, or for enough others to be worth a pass."""
        return self._n_rows(self._state.waiting)

    def counts(self) -> dict[str, int]:
        """Number of pairs and units, and what became of the rows, both sides together."""
        state = self._flow.flush(self._state)
        return {
            **self._flow.tally(state),
            "n_waiting": self._n_rows(state.waiting),
            "n_dropped": state.n_dropped,
            "n_omitted": state.n_omitted,
        }

    @property
    def _n_pairs(self) -> int:
        """Pairs that were made so far."""
        return self._state.moments.n

    # -- results -------------------------------------------------------------------------------

    def result(self, method: Method | str = "auto", *, n_resamples: int = DRAWS) -> TestResult:
        """Test with what has come so far, by the closed form."""
        state = self._flow.flush(self._state)
        outcome = self._outcome(state, method)
        counts = self._flow.tally(state)
        return to_result(
            outcome,
            question=self.question,
            kernels=state.bank.kernels,
            n_units=counts["n_units"],
            n_used=counts["n_used"],
            n_left_out=self._n_rows(state.waiting) + state.n_dropped + state.n_omitted,
            **self._described(state),
        )

    def _outcome(self, state: State, method: Method | str) -> Outcome:
        moments = self._flow.total(state)
        if moments.n == 0:
            raise InputError(
                f"There are no pairs to test yet: two units are needed, and "
                f"{self._n_rows(state.waiting)} rows are waiting. `update` with more rows first."
            )
        pairing = Adjacent()
        effective = self._effective_pairs(state)
        outcome = test_moments(moments, method, pairing, state.n_units, effective=effective)
        return outcome.noting(self._caveats(state, outcome))

    def _effective_pairs(self, state: State) -> Array | None:
        return state.effective

    def _caveats(self, state: State, outcome: Outcome) -> list[Caveat]:
        return []

    # -- merging -------------------------------------------------------------------------------

    def _check_kernels(self, other: Self) -> None:
        unfixed = [a._given for a in (self, other) if a.kernels is None]
        if not unfixed:
            same = self.kernels == other.kernels
        else:  # nothing was made with these kernels yet: the other's will do
            same = self._given == other._given or unfixed == [None]
        if not same:
            name = self._name
            raise InputError(
                "Accumulators must have the same kernels to be added, and these have not: "
                "bandwidths come from the first rows of each. Make the others with "
                f"{name}(kernels=first.kernels) or {name}.like(first)."
            )

    def _check_widths(self, other: Self) -> None:
        ours, theirs = ([side.shape[1] for side in a._state.waiting or ()] for a in (self, other))
        if ours and theirs and ours != theirs:
            raise InputError(
                "Accumulators must be of rows with the same number of columns to be added, got "
                f"{ours[0]} and {theirs[0]}."
            )

    # -- files ---------------------------------------------------------------------------------

    def _body(self) -> dict[str, Any]:
        """Settings, kernels and state as plain values."""
        self._state = self._flow.flush(self._state)
        return {
            "settings": {"pairs": self.pairs, "limit": self._flow.limit, **self._settings()},
            "kernels": kernels_to_plain(self._given if self.kernels is None else self.kernels),
            "state": state_to_plain(self._state),
        }

    def _check_body(self, path: str | os.PathLike[str], body: dict[str, Any]) -> None:
        """Refuse to write what would be refused when it is read."""
        try:
            state_from_plain(body["state"], self._state.bank, self._flow)
        except InputError as error:
            raise FileError(
                f"`{path}` cannot be written, as it could not be read back: {error} Rescale the "
                "data, for example to unit variance."
            ) from error

    @classmethod
    def _from_body(cls, body: dict[str, Any], known: dict[str, Any]) -> Self:
        kernels = kernels_from_plain(body["kernels"])
        new = cls(kernels=kernels, **cls._keywords(body["settings"]), **known)
        new._state = state_from_plain(body["state"], new._state.bank, new._flow)
        return new

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Keywords of the constructor from what was saved."""
        return settings
