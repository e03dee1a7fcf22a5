"""Sketches of streams: blocks of pairs that are swapped as a whole."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np

from nosplit._support.checks import Seed, check_int, check_rng
from nosplit.data.tables.encoding import Encoding
from nosplit.data.tables.fit_encoding import unscaled_encoding
from nosplit.data.tables.frames import as_frame, is_table
from nosplit.engines.streams.base import LIMIT
from nosplit.engines.streams.blocks import check_ratio
from nosplit.engines.streams.saved.as_json import kernels_from_plain, kernels_to_plain
from nosplit.engines.streams.saved.sketch_json import sketch_from_plain, sketch_to_plain
from nosplit.engines.streams.sketches.settling import outcome_of
from nosplit.engines.streams.sketches.sketching import FEWEST, SketchFlow, SketchState
from nosplit.engines.streams.two_sample import (
    FLIPS,
    TwoSampleAccumulator,
    check_encoding,
    two_sides,
)
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.limits import as_method
from nosplit.inference.outcome import to_result
from nosplit.inference.result import TestResult
from nosplit.kernels.defaults.recipes import Kernels, as_recipe
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing, Sketch
from nosplit.sketch.maps import SketchMap

__all__ = ["SketchAccumulator"]

# Blocks of a long stream, at the least; twice as many at the most.
CELLS = 512


class SketchAccumulator(TwoSampleAccumulator):
    """Sums of features in blocks of pairs: `TwoSampleAccumulator(pairs="sketch")`."""

    # Of the same use as those of moments.
    _flow: SketchFlow  # type: ignore[assignment]
    _state: SketchState  # type: ignore[assignment]

    def __init__(
        self,
        kernels: Kernels = None,
        *,
        ratio: tuple[int, int] = (1, 1),
        pairs: Pairing | str = "sketch",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
        rng: Seed = 0,
    ) -> None:
        check_encoding(encoding)
        _check_recipe(kernels, encoding)
        pairing = pairs if isinstance(pairs, Sketch) else Sketch(CELLS)
        key, draws = (int(k) for k in check_rng(rng).integers(2**53, size=2))
        limit = check_int(limit, "limit", least=1)
        self._flow = SketchFlow(check_ratio(ratio), kernels, pairing, limit, key, draws)
        self._state = SketchState(encoding=encoding)

    # -- what is known so far ------------------------------------------------------------------

    @property
    def ratio(self) -> tuple[int, int]:
        """Rows of x to rows of y, in lowest terms."""
        return self._flow.ratio

    @property
    def encoding(self) -> Encoding | None:
        """How tables become numbers."""
        return self._state.encoding

    @property
    def n_waiting(self) -> int:
        """Rows that wait for a partner."""
        return self._flow.n_waiting(self._state)

    def counts(self) -> dict[str, int]:
        """How many pairs and units there are, and what became of the rows, both sides together."""
        return {
            **self._flow.tally(self._state),
            "n_waiting": self.n_waiting,
            "n_dropped": self._state.n_dropped,
            "n_omitted": self._state.n_omitted,
        }

    @property
    def _n_pairs(self) -> int:
        return self._flow.tally(self._state)["n_pairs"]

    @classmethod
    def _like(cls, other: Self) -> Self:
        new = cls()
        new._flow, new._state = other._flow, other._flow.emptied(other._state)
        return new

    # -- rows ----------------------------------------------------------------------------------

    def update(self, x: Any = None, y: Any = None) -> None:
        """Take in a batch of rows; either may be empty or None."""
        state = self._state
        if state.encoding is None and (is_table(x) or is_table(y)):
            if state.width is not None:
                raise InputError("`x` and `y` must be arrays, as before, got a table.")
            sources = [as_frame(v, n) for v, n in ((x, "x"), (y, "y")) if v is not None]
            encoding = unscaled_encoding(*sources)
            _check_recipe(self._flow.kernels, encoding)
            state = replace(state, encoding=encoding, scaled=False)
        batch, omitted = two_sides(x, y, state.encoding, state.width)
        if batch is not None:
            state = replace(state, n_omitted=state.n_omitted + omitted)
            self._state = self._flow.feed(state, batch)

    # -- results -------------------------------------------------------------------------------

    def result(self, method: Method | str = "auto", *, flips: int = FLIPS) -> TestResult:
        """Test with what has come so far; the accumulator stays as it is."""
        chosen, flips = as_method(method), Exact(flips).flips
        state = self._flow.flush(self._state)
        blocks = state.blocks
        if blocks is None or blocks.n_groups < FEWEST:
            raise InputError(
                f"There are no pairs to test yet: {FEWEST} are needed, and "
                f"{self._n_rows(state.waiting)} rows are waiting. `update` with more rows first."
            )
        encoding = state.encoding
        outcome, n_units = outcome_of(
            blocks, chosen, flips=flips, key=self._flow.draws, encoding=encoding
        )
        return to_result(
            outcome,
            question=self.question,
            kernels=blocks.sketch.kernels,
            n_units=n_units,
            n_used=self._flow.tally(state)["n_used"],
            n_left_out=self.n_waiting + state.n_dropped + state.n_omitted,
            columns=None if encoding is None else encoding.names,
            encoding=encoding,
            stream=True,
        )

    # -- merging -------------------------------------------------------------------------------

    def __iadd__(self, other: Self) -> Self:
        flow = self._flow
        took = super().__iadd__(other)
        if took is self and flow is not other._flow and self._state.bank is other._state.bank:
            # The map came from the other: whatever is made like this one is like that one.
            self._flow = other._flow
        return took

    def _compared(self) -> dict[str, Any]:
        encoding = self.encoding
        columns = None if encoding is None else [(c.name, c.kind) for c in encoding.columns]
        return {"ratio": self.ratio, "cells": self._flow.pairing, "encoding": columns}

    def _check_kernels(self, other: Self) -> None:
        maps = self._state.bank, other._state.bank
        if maps[0] is not None and maps[1] is not None:
            same = maps[0] is maps[1] or _same_map(maps[0], maps[1])
        else:  # rows that have no map yet take the other's, if they have no kernels of their own
            given = [a._flow.kernels for a in (self, other)]
            unfixed = [k for k, known in zip(given, maps, strict=True) if known is None]
            same = given[0] == given[1] or unfixed == [None]
        if not same:
            raise InputError(
                "Accumulators must have the same kernels and the same map to be added, and these "
                "have not: bandwidths, scales and bins come from the first rows of each. Make the "
                f"others with {self._name}.like(first)."
            )

    def _check_widths(self, other: Self) -> None:
        ours, theirs = self._state.width, other._state.width
        if None not in (ours, theirs) and ours != theirs:
            raise InputError(
                "Accumulators must be of rows with the same number of columns to be added, got "
                f"{ours} and {theirs}."
            )

    # -- files ---------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        flow, encoding = self._flow, self.encoding
        return {
            "pairs": asdict(flow.pairing),
            "limit": flow.limit,
            "ratio": list(flow.ratio),
            "encoding": None if encoding is None else encoding.to_dict(),
            "keys": [flow.key, flow.draws],
        }

    def _body(self) -> dict[str, Any]:
        known = self._state.bank is not None  # then they are in the map
        return {
            "settings": self._settings(),
            "kernels": None if known else kernels_to_plain(self._flow.kernels),
            "state": sketch_to_plain(self._state),
        }

    def _check_body(self, path: str | os.PathLike[str], body: dict[str, Any]) -> None:
        """Sums of bounded numbers can always be read back."""

    @classmethod
    def _from_body(cls, body: dict[str, Any], known: dict[str, Any]) -> Self:
        settings = dict(body["settings"])
        pairs, encoding = Sketch(**settings.pop("pairs")), settings.pop("encoding")
        keys = [check_int(key, "keys", least=0) for key in settings.pop("keys")]
        new = cls(
            kernels_from_plain(body["kernels"]),
            pairs=pairs,
            encoding=None if encoding is None else Encoding.from_dict(encoding),
            **settings,
        )
        new._flow = replace(new._flow, key=keys[0], draws=keys[1])
        new._state = sketch_from_plain(body["state"], new._flow, new._state)
        if new._state.bank is not None:
            new._flow = replace(new._flow, kernels=list(new._state.bank.kernels))
        return new


def _check_recipe(kernels: Kernels, encoding: Encoding | None) -> None:
    """Find out now if kernels are none, or look at categories as if they were numbers."""
    recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
    if recipe.given:
        recipe.build()


def _same_map(one: SketchMap, two: SketchMap) -> bool:
    arrays = ("center", "spread", "landmarks", "pairs")
    return (
        (one.kernels, one.frequencies, one.key) == (two.kernels, two.frequencies, two.key)
        and all(np.array_equal(getattr(one, a), getattr(two, a)) for a in arrays)
        and [b.categories for b in one.bins] == [b.categories for b in two.bins]
        and all(np.array_equal(b.edges, c.edges) for b, c in zip(one.bins, two.bins, strict=True))
    )
