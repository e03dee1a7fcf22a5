"""Sketches of streams: blocks of pairs that are swapped as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from nosplit._checks import Seed
from nosplit._old.engines.changes import with_changes
from nosplit._old.engines.streams.base import LIMIT
from nosplit._old.engines.streams.blocks import check_ratio
from nosplit._old.engines.streams.saved.as_json import kernels_from_plain, kernels_to_plain
from nosplit._old.engines.streams.saved.sketch_json import sketch_from_plain, sketch_to_plain
from nosplit._old.engines.streams.sketches.accumulator import (
    SketchingAccumulator,
    columns_of,
    sketch_settings,
)
from nosplit._old.engines.streams.sketches.cells import BlockSums
from nosplit._old.engines.streams.sketches.sketching import SketchFlow, SketchState
from nosplit._old.engines.streams.two_sample import (
    TwoSampleAccumulator,
    check_encoding,
    two_sides,
)
from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.statistics import test_draws
from nosplit._old.sketch.cells import drawn_statistics
from nosplit.backend.threads import one_blas_thread
from nosplit.core.pairings import Pairing, Sketch
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import unscaled_encoding
from nosplit.data.frames import as_frame, is_table
from nosplit.errors import InputError
from nosplit.inference.effect import FOLDS
from nosplit.kernels.recipes import Kernels, as_recipe
from nosplit.methods import Method

__all__ = ["SketchAccumulator"]


class SketchAccumulator(SketchingAccumulator, TwoSampleAccumulator):
    """Sums of features in blocks of pairs: `TwoSampleAccumulator(pairs="sketch")`."""

    _flow: SketchFlow
    _state: SketchState

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
        settings = sketch_settings(pairs, limit, rng)
        self._flow = SketchFlow(*settings, check_ratio(ratio), kernels)
        self._state = SketchState(encodings=(encoding, encoding))

    # -- what is known so far ------------------------------------------------------------------

    @property
    def ratio(self) -> tuple[int, int]:
        """Rows of x to rows of y, in lowest terms."""
        return self._flow.ratio

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of tables."""
        return self._state.encoding

    @property
    def _named(self) -> Kernels:
        return self._flow.kernels

    @property
    def _width(self) -> int | None:
        return self._state.width

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
            state = replace(state, encodings=(encoding, encoding), scaled=False)
        batch, omitted = two_sides(x, y, state.encoding, state.width)
        n_omitted = state.n_omitted + omitted
        if batch is None:
            self._state = replace(self._state, n_omitted=n_omitted)
        else:
            self._state = self._flow.feed(replace(state, n_omitted=n_omitted), batch)

    # -- results -------------------------------------------------------------------------------

    def _tested(
        self, state: SketchState, blocks: BlockSums, method: Method | None, flips: int
    ) -> tuple[Outcome, int]:
        encoding = state.encoding
        with one_blas_thread():
            drawn = drawn_statistics(
                blocks.sketch,
                *blocks.cells,
                flips=flips,
                key=self._flow.draws,
                owners=None if encoding is None else encoding.owners,
                groups=len(blocks),
            )
        outcome = test_draws(drawn, method, "sketch")
        counts = np.stack([side.in_bins(FOLDS) for side in blocks.cells])
        return with_changes(outcome, blocks.sketch.bins, counts, encoding), drawn.n_units

    def _described(self, state: Any) -> dict[str, Any]:
        encoding = state.encoding
        return {"columns": None if encoding is None else encoding.names, "encoding": encoding}

    # -- merging -------------------------------------------------------------------------------

    def _compared(self) -> dict[str, Any]:
        columns = columns_of(self._state.encodings)
        return {"ratio": self.ratio, "cells": self._flow.pairing, "encoding": columns}

    def _same_map(self, other: Self) -> bool:
        return _equal_maps(self._state.bank, other._state.bank)

    # -- files ---------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        encoding = None if self.encoding is None else self.encoding.to_dict()
        return {**super()._settings(), "ratio": list(self.ratio), "encoding": encoding}

    def _body(self) -> dict[str, Any]:
        known = self._state.bank is not None  # then they are in the map
        return {
            "settings": self._settings(),
            "kernels": None if known else kernels_to_plain(self._flow.kernels),
            "state": sketch_to_plain(self._state),
        }

    @classmethod
    def _from_body(cls, body: dict[str, Any], known: dict[str, Any]) -> Self:
        settings = dict(body["settings"])
        pairs, encoding, keys = (settings.pop(name) for name in ("pairs", "encoding", "keys"))
        new = cls(
            kernels_from_plain(body["kernels"]),
            pairs=Sketch(**pairs),
            encoding=None if encoding is None else Encoding.from_dict(encoding),
            **settings,
        )
        new._with_keys(keys)
        new._state = sketch_from_plain(body["state"], new._flow, new._state)
        if new._state.bank is not None:
            new._flow = replace(new._flow, kernels=list(new._state.bank.kernels))
        return new


def _check_recipe(kernels: Kernels, encoding: Encoding | None) -> None:
    """Find out now if kernels are none, or look at categories as if they were numbers."""
    recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
    if recipe.given:
        recipe.build()


def _equal_maps(one: Any, two: Any) -> bool:
    arrays = ("center", "spread", "landmarks", "pairs", "order")
    return (
        (one.kernels, one.frequencies, one.key) == (two.kernels, two.frequencies, two.key)
        and all(np.array_equal(getattr(one, a), getattr(two, a)) for a in arrays)
        and [b.categories for b in one.bins] == [b.categories for b in two.bins]
        and all(np.array_equal(b.edges, c.edges) for b, c in zip(one.bins, two.bins, strict=True))
    )
