"""Accumulators of goodness of fit and of independence."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np

from nosplit.data.encoding import Encoding
from nosplit.engines.streams.base import LIMIT, Accumulator, batch_rows
from nosplit.engines.streams.batches import Side
from nosplit.engines.streams.blocks import Observations, Scored, check_unit_size
from nosplit.engines.streams.state import Rows
from nosplit.errors import InputError
from nosplit.families.fitting import SteinKernels, TensorKernels, stein_kernels, tensor_kernels
from nosplit.families.goodness_of_fit import SteinBank
from nosplit.families.independence import TensorBank
from nosplit.inference.result import GOODNESS, INDEPENDENCE
from nosplit.inference.run import Caveat, Outcome, stein_caveats
from nosplit.kernels import Kernel
from nosplit.kernels.recipes import check_looks_at
from nosplit.models import Model
from nosplit.models.scores import Score, scores_of

__all__ = ["GoodnessOfFitAccumulator", "IndependenceAccumulator"]


class GoodnessOfFitAccumulator(Accumulator):
    """A goodness-of-fit test of a stream.

    Parameters
    ----------
    score : model or callable
        ∇ log q of the model: a function from an (n, p) array to an (n, p) array, or a model of
        `nosplit.models`.
    kernels : None, Kernel, sequence of them or callable
        As in `goodness_of_fit_test`. Bandwidths come from the first 500 rows, then they are fixed.
    pairs : "adjacent" or int
        As in `TwoSampleAccumulator`.
    limit : int
        Rows that may wait.
    encoding : Encoding, optional
        Which columns of tables are the model's; by default found from the first batch, if that is
        a table. Columns are matched by name, and not scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from nosplit import models
    >>> rng = np.random.default_rng(0)
    >>> acc = GoodnessOfFitAccumulator(models.MultivariateNormal([0.0, 0.0]), pairs=4)
    >>> for _ in range(10):
    ...     acc.update(1.3 * rng.normal(size=(500, 2)))
    >>> acc.result().reject(0.05)
    True
    """

    family = "goodness_of_fit"
    question = GOODNESS

    def __init__(
        self,
        score: Model | Any,
        kernels: SteinKernels = None,
        *,
        pairs: str | int = "adjacent",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
    ) -> None:
        if score is not None and not (isinstance(score, Model) or callable(score)):
            raise InputError(
                f"`score` must be a model or a function of rows, got {type(score).__name__}: "
                "values at rows that are still to come cannot be given beforehand."
            )
        open_ended = kernels is None or (callable(kernels) and not isinstance(kernels, Kernel))
        bank = None if open_ended else SteinBank(stein_kernels(kernels, 1.0))
        super().__init__(Scored(kernels), kernels, bank, pairs, limit)
        self._score, self._encoding = score, encoding

    @classmethod
    def like(cls, other: Self) -> Self:
        """An empty accumulator with the settings and the kernels of another."""
        kernels = other._given if other.kernels is None else other.kernels
        return cls(
            other._score,
            kernels,
            pairs=other.pairs,
            limit=other._flow.limit,
            encoding=other._encoding,
        )

    def update(self, x: Any) -> None:
        """Take in a batch of rows.

        Parameters
        ----------
        x : array_like or table, shape (n, p)
            The rows, of any number.
        """
        if self._score is None:
            raise InputError("`score` is not saved: give it to `load(path, score=...)` to go on.")
        waiting = self._state.waiting
        side = Side.of(x, "x", self._encoding, first=waiting is None, scale="none")
        side.check_numbers()
        rows = batch_rows(side.rows, "x", None if waiting is None else waiting[0].shape[1])
        if rows is not None:
            rows = np.ascontiguousarray(rows, dtype=np.float64)
            self._state = self._flow.feed(self._state, (rows, scores_of(self._score, rows)))
            self._encoding = side.encoding

    @classmethod
    def load(cls, path: str | os.PathLike[str], score: Score | None = None) -> Self:
        """The accumulator that `save` wrote; the score is not saved, and needed to go on."""
        return cls._restored(path, score=score)

    def __iadd__(self, other: Self) -> Self:
        took = super().__iadd__(other)
        if took is self and self._encoding is None:
            self._encoding = other._encoding
        return took

    def _settings(self) -> dict[str, Any]:
        return {"encoding": None if self._encoding is None else self._encoding.to_dict()}

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        encoding = settings["encoding"]
        return {**settings, "encoding": encoding and Encoding.from_dict(encoding)}

    def _described(self) -> dict[str, Any]:
        names = None if self._encoding is None else self._encoding.names
        return {"columns": names, "encoding": self._encoding}

    def _n_rows(self, sides: Rows | None) -> int:
        return len(sides[0]) if sides else 0

    def _caveats(self, outcome: Outcome) -> list[Caveat]:
        return stein_caveats(outcome)


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
        As in `TwoSampleAccumulator`.
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
    >>> for _ in range(10):
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
        given = zip((x, y), ("x", "y"), self._encodings, strict=True)
        sides = [Side.of(value, name, encoding, first=first) for value, name, encoding in given]
        one, two = (batch_rows(s.rows, s.name, w) for s, w in zip(sides, widths, strict=True))
        if (0 if one is None else len(one)) != (0 if two is None else len(two)):
            raise InputError("`x` and `y` must have as many rows, observed together.")
        if one is None or two is None:
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
        self._state = flow.feed(self._state, (one, two))
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
        x, y = settings["encodings"] or (None, None)
        encodings = (x and Encoding.from_dict(x), y and Encoding.from_dict(y))
        return {**settings, "encodings": encodings}

    def _described(self) -> dict[str, Any]:
        some = [encoding for encoding in self._encodings if encoding is not None]
        names = tuple(name for encoding in some for name in encoding.names)
        return {"columns": names or None, "encoding": self._encodings if some else None}

    def _n_rows(self, sides: Rows | None) -> int:
        return len(sides[0]) if sides else 0
