"""Independence tests of streams."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np

from nosplit.data.tables.encoding import Encoding
from nosplit.engines.streams.base import LIMIT, Accumulator
from nosplit.engines.streams.batches import StreamBatch, batch_rows, kept_together
from nosplit.engines.streams.blocks import Observations
from nosplit.engines.streams.state import Rows
from nosplit.errors import InputError
from nosplit.families.fitting import TensorKernels, tensor_kernels
from nosplit.families.independence import check_unit_size
from nosplit.inference.questions import INDEPENDENCE
from nosplit.kernels.defaults.recipes import check_looks_at
from nosplit.kernels.derived.tensor import TensorBank

__all__ = ["IndependenceAccumulator"]


class IndependenceAccumulator(Accumulator):
    """An independence test of a stream of observations (x, y).

    Parameters
    ----------
    kernels : None, sequence of pairs of kernels, or callable
        As in `independence_test`. Bandwidths come from the first 500 observations, then they are
        fixed.
    unit_size : int
        Observations to a unit.
    pairs : "adjacent" or int
        The pairs (2i, 2i + 1) of units; or, for an int R, those of each unit with the R after it.
    limit : int
        Observations that may wait.
    encodings : pair of Encoding, optional
        How tables become numbers; by default found from the first batch, if that holds tables.
    discrete : pair of bool, optional
        Whether x and y name categories; by default as in the first batch.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> acc = IndependenceAccumulator(pairs=2)
    >>> for _ in range(40):
    ...     x = rng.normal(size=600)
    ...     acc.update(x, x**2 + rng.normal(size=600))
    >>> acc.result().reject(0.05)
    True
    """

    family = "independence"
    question = INDEPENDENCE

    def __init__(
        self,
        kernels: TensorKernels = None,
        *,
        unit_size: int = 8,
        pairs: str | int = "adjacent",
        limit: int = LIMIT,
        encodings: tuple[Encoding | None, Encoding | None] = (None, None),
        discrete: tuple[bool, bool] | None = None,
    ) -> None:
        flags = (False, False) if discrete is None else (bool(discrete[0]), bool(discrete[1]))
        bank = None
        if kernels is not None and not callable(kernels):
            bank = TensorBank(tensor_kernels(kernels, 1.0, 1.0, discrete=flags))
        family = Observations(kernels, check_unit_size(unit_size), flags)
        super().__init__(family, kernels, bank, pairs, limit)
        self._discrete = None if discrete is None else flags
        self._encodings = encodings
        if discrete is not None:
            self._flow = replace(self._flow, family=self._family(encodings, flags))

    @property
    def unit_size(self) -> int:
        """Observations to a unit."""
        return self._flow.family.sizes[0]

    @classmethod
    def like(cls, other: Self) -> Self:
        """An empty accumulator with the settings and the kernels of another."""
        return cls(
            other._given if other.kernels is None else other.kernels,
            unit_size=other.unit_size,
            pairs=other.pairs,
            limit=other._flow.limit,
            encodings=other._encodings,
            discrete=other._discrete,
        )

    def update(self, x: Any, y: Any) -> None:
        """Take in a batch of observations.

        Parameters
        ----------
        x, y : array_like or table, shape (n, p) and (n, r)
            The variables, one observation a row. Strings, booleans and other categories are
            compared for equality; a variable that is one in the first batch must stay one.
        """
        waiting = self._state.waiting
        first = waiting is None
        widths = [None, None] if waiting is None else [side.shape[1] for side in waiting]
        kept = kept_together((x, y), self._encodings)
        sides = [
            StreamBatch.of(value, name, encoding, first=first, kept=kept)
            for value, name, encoding in zip((x, y), ("x", "y"), self._encodings, strict=True)
        ]
        one, two = (batch_rows(s.rows, s.name, w) for s, w in zip(sides, widths, strict=True))
        if (0 if one is None else len(one)) != (0 if two is None else len(two)):
            raise InputError("`x` and `y` must have as many rows, observed together.")
        omitted = 0 if kept is None else int(np.count_nonzero(~kept))
        state = replace(self._state, n_omitted=self._state.n_omitted + omitted)
        if one is None or two is None:
            self._state = state
            return
        discrete = sides[0].discrete, sides[1].discrete
        if self._discrete not in (None, discrete):
            raise InputError(
                "`x` and `y` must be numbers or categories as before, got "
                f"{' and '.join('categories' if c else 'numbers' for c in discrete)}."
            )
        encodings, flow = (sides[0].encoding, sides[1].encoding), self._flow
        if first:
            flow = replace(flow, family=self._family(encodings, discrete))
        self._state = flow.feed(state, (one, two))
        self._flow, self._discrete, self._encodings = flow, discrete, encodings

    def _family(
        self, encodings: tuple[Encoding | None, Encoding | None], discrete: tuple[bool, bool]
    ) -> Observations:
        """What units are, once it is known what the variables hold."""
        kinds = [
            flag if encoding is None else encoding.parts
            for encoding, flag in zip(encodings, discrete, strict=True)
        ]
        for i, encoding in enumerate(encodings):
            for tensor in self.kernels or ():
                if encoding is not None and encoding.categorical:
                    check_looks_at((tensor.x, tensor.y)[i], encoding.categorical)
        return Observations(self._given, self.unit_size, (kinds[0], kinds[1]))

    def __iadd__(self, other: Self) -> Self:
        took = super().__iadd__(other)
        if took is self and self._discrete is None:
            self._discrete, self._encodings = other._discrete, other._encodings
        return took

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The accumulator that `save` wrote."""
        return cls._restored(path)

    def _settings(self) -> dict[str, Any]:
        known = self._discrete is not None or self._encodings != (None, None)
        encodings = [None if e is None else e.to_dict() for e in self._encodings]
        discrete = None if self._discrete is None else list(self._discrete)
        return {
            "unit_size": self.unit_size,
            "discrete": discrete,
            "encodings": encodings if known else None,
        }

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        given = settings["encodings"]
        x, y = (None, None) if given is None else given
        encodings = tuple(None if side is None else Encoding.from_dict(side) for side in (x, y))
        return {**settings, "encodings": encodings}

    def _described(self) -> dict[str, Any]:
        some = [encoding for encoding in self._encodings if encoding is not None]
        names = tuple(name for encoding in some for name in encoding.names)
        return {"columns": names or None, "encoding": self._encodings if some else None}

    def _n_rows(self, sides: Rows | None) -> int:
        return len(sides[0]) if sides else 0
