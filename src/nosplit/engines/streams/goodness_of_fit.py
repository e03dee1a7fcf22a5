"""Goodness-of-fit tests of streams."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np

from nosplit.data.tables.encoding import Encoding
from nosplit.data.tables.frames import as_frame
from nosplit.engines.streams.base import LIMIT, Accumulator
from nosplit.engines.streams.batches import StreamBatch, batch_rows, check_sizes
from nosplit.engines.streams.blocks import Scored
from nosplit.engines.streams.state import Rows, State
from nosplit.errors import Caveat, InputError
from nosplit.families.fitting import SteinKernels, stein_kernels
from nosplit.inference.caveats import few_effective_rows, stein_caveats
from nosplit.inference.outcome import Outcome
from nosplit.inference.questions import GOODNESS
from nosplit.kernels import Kernel
from nosplit.kernels.derived.stein import SteinBank
from nosplit.models import Model
from nosplit.models.ends import on_the_line
from nosplit.models.scores import Score, as_model, scores_of

__all__ = ["GoodnessOfFitAccumulator"]


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
        The pairs (2i, 2i + 1) of units; or, for an int R, those of each unit with the R after it.
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
        score = as_model(score)
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
        side = StreamBatch.of(x, "x", self._encoding, first=waiting is None, scale="none")
        side.check_numbers()
        rows = batch_rows(side.rows, "x", None if waiting is None else waiting[0].shape[1])
        omitted = 0 if side.encoding is None else as_frame(x, "x").n_rows - len(side.rows)
        state = replace(self._state, n_omitted=self._state.n_omitted + omitted)
        if rows is not None:
            rows = np.ascontiguousarray(rows, dtype=np.float64)
            batch = on_the_line(self._score, rows, scores_of(self._score, rows))
            check_sizes(batch)  # scores may be larger than rows
            state, self._encoding = self._flow.feed(state, batch), side.encoding
        self._state = state

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
        known = None if encoding is None else Encoding.from_dict(encoding)
        return {**settings, "encoding": known}

    def _described(self) -> dict[str, Any]:
        names = None if self._encoding is None else self._encoding.names
        return {"columns": names, "encoding": self._encoding}

    def _n_rows(self, sides: Rows | None) -> int:
        return len(sides[0]) if sides else 0

    def _effective_pairs(self, state: State) -> None:
        """What is counted are rows."""

    def _caveats(self, state: State, outcome: Outcome) -> list[Caveat]:
        width = 0 if state.waiting is None else state.waiting[0].shape[1]
        found = stein_caveats(outcome, width)
        if state.effective is not None:
            found += few_effective_rows(float(state.effective[0]), state.n_units)
        return found
