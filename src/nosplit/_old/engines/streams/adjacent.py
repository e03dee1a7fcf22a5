"""The paper's estimate of a stream: pairs (2i, 2i + 1) of units, and their closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from nosplit._checks import Seed
from nosplit._old.engines.streams.base import LIMIT
from nosplit._old.engines.streams.batches import check_sizes
from nosplit._old.engines.streams.blocks import TwoSamples, check_ratio
from nosplit._old.engines.streams.moments import MomentsAccumulator
from nosplit._old.engines.streams.two_sample import (
    TwoSampleAccumulator,
    check_encoding,
    two_sides,
)
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import fit_encoding
from nosplit.data.frames import as_frame, is_table
from nosplit.errors import InputError
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import Kernels, as_recipe

__all__ = ["AdjacentAccumulator"]


class AdjacentAccumulator(MomentsAccumulator, TwoSampleAccumulator):
    """Moments of adjacent pairs: `TwoSampleAccumulator(pairs="adjacent")`."""

    def __init__(
        self,
        kernels: Kernels = None,
        *,
        ratio: tuple[int, int] = (1, 1),
        pairs: Pairing | str = "adjacent",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
        rng: Seed = 0,
    ) -> None:
        check_encoding(encoding)
        recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
        bank = None if recipe.looks_at_rows else Bank(recipe.build())
        if check_ratio(ratio) != (1, 1):
            raise InputError(
                f'`ratio` of a stream with pairs="adjacent" must be (1, 1), got {ratio!r}: rows of '
                'x are matched with rows of y. Use pairs="sketch", the default.'
            )
        super().__init__(TwoSamples(recipe), kernels, bank, limit)
        self._encoding = encoding

    @property
    def ratio(self) -> tuple[int, int]:
        """Rows of x to rows of y, in lowest terms."""
        return 1, 1

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of tables."""
        return self._encoding

    @classmethod
    def _like(cls, other: Self) -> Self:
        kernels = other._given if other.kernels is None else other.kernels
        return cls(kernels, limit=other._flow.limit, encoding=other._encoding)

    def update(self, x: Any = None, y: Any = None) -> None:
        """Take in a batch of rows; either may be empty or None."""
        encoding, flow, waiting = self._encoding, self._flow, self._state.waiting
        if encoding is None and (is_table(x) or is_table(y)):
            if waiting is not None:
                raise InputError("`x` and `y` must be arrays, as before, got a table.")
            encoding = _first_encoding(x, y)
            recipe = encoding.recipe(self._given)
            flow = replace(flow, family=TwoSamples(recipe))
        width = None if waiting is None else waiting[0].shape[1]
        batch, omitted = two_sides(x, y, encoding, width)
        state = replace(self._state, n_omitted=self._state.n_omitted + omitted)
        if batch is not None:
            check_sizes(batch, state.bank)
            state = flow.feed(state, batch)
            self._flow, self._encoding = flow, encoding
        self._state = state

    def __iadd__(self, other: Self) -> Self:
        took = super().__iadd__(other)
        if took is self and self._encoding is None:
            self._encoding = other._encoding
        return took

    def _settings(self) -> dict[str, Any]:
        encoding = None if self._encoding is None else self._encoding.to_dict()
        return {"ratio": list(self.ratio), "encoding": encoding}

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        encoding = settings["encoding"]
        return {**settings, "encoding": encoding and Encoding.from_dict(encoding)}

    def _described(self, state: Any) -> dict[str, Any]:
        names = None if self._encoding is None else self._encoding.names
        return {"columns": names, "encoding": self._encoding}


def _first_encoding(x: Any, y: Any) -> Encoding:
    """Fit the encoding of tables to their first batch."""
    sources = [as_frame(v, n) for v, n in ((x, "x"), (y, "y")) if v is not None]
    if any(source.n_rows < 2 for source in sources):
        raise InputError(
            "`x` and `y` must have at least 2 rows each in the first batch of tables, which shows "
            "the scale of their columns; it may be one of them alone. Or give `encoding`, as "
            "`fit_encoding` finds it from any tables like these."
        )
    return fit_encoding(*(value for value in (x, y) if value is not None))
