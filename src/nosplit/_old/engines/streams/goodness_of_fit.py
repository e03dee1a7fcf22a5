"""Goodness-of-fit tests of streams.

Rows and their scores become sums of Stein features in blocks of rows that follow one another, and
a draw gives every block a random sign. Accumulators of parts of the data add up to that of the
whole.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np

from nosplit._checks import Seed
from nosplit._old.engines.streams.base import LIMIT, Accumulator
from nosplit._old.engines.streams.batches import StreamBatch, batch_rows, check_sizes
from nosplit._old.engines.streams.blocks import Scored
from nosplit._old.engines.streams.moments import MomentsAccumulator
from nosplit._old.engines.streams.state import Rows, State
from nosplit._old.inference.outcome import Outcome
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import Encoding
from nosplit.data.frames import as_frame
from nosplit.errors import Caveat, InputError, UnsafeAsymptoticsWarning
from nosplit.inference.caveats import few_effective_rows, few_stein_pairs
from nosplit.inference.questions import GOODNESS
from nosplit.kernels import Kernel
from nosplit.kernels.stein import SteinBank, SteinKernels, stein_kernels
from nosplit.models import Model
from nosplit.models.ends import on_the_line
from nosplit.models.scores import Score, as_model, scores_of

__all__ = ["AdjacentFit", "GoodnessOfFitAccumulator", "scored_batch"]


class GoodnessOfFitAccumulator(Accumulator):
    """A goodness-of-fit test of a stream.

    Features that have mean zero under the model are summed in blocks of consecutive rows; a long
    stream has 512 to 1,024 blocks. Each block gets a random sign: the level is right in the limit,
    if the score has a finite variance. Rows are assumed to be independent: serial dependence is not
    checked, and makes p-values too small.

    Parameters
    ----------
    score : model or callable
        ∇ log q of the model: a function from an (n, p) array to an (n, p) array, or a model of
        `nosplit.models`.
    kernels : None, Kernel, sequence of them or callable
        As in `goodness_of_fit_test`. Bandwidths and scales come from the first 1,000 rows, then
        they are fixed; accumulators that are to be added must have the same (`like`).
    pairs : "sketch", Sketch or "adjacent"
        `Sketch(cells=…, frequencies=…)` says how many blocks of a long stream there are at least,
        and how well kernels are approximated. "adjacent" is the paper's estimate on the pairs
        (2i, 2i + 1) of rows instead, with its closed form: it finds far less.
    limit : int
        Rows that may wait.
    encoding : Encoding, optional
        Which columns of tables are the model's; by default found from the first batch, if that is
        a table. Columns are matched by name, and not scaled.
    rng : int, Generator or None
        Picks the frequencies and the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from nosplit import models
    >>> rng = np.random.default_rng(0)
    >>> acc = GoodnessOfFitAccumulator(models.MultivariateNormal([0.0, 0.0]))
    >>> for _ in range(10):
    ...     acc.update(1.05 * rng.normal(size=(500, 2)))
    >>> res = acc.result()
    >>> res.reject(0.01), res.how.calibration
    (True, 'wild')
    """

    family = "goodness_of_fit"
    question = GOODNESS

    def __new__(
        cls,
        score: Model | Any,
        kernels: SteinKernels = None,
        *,
        pairs: Pairing | str = "sketch",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
        rng: Seed = 0,
    ) -> Self:
        """Make an accumulator of the class for these pairs."""
        new: Self = object.__new__(cls._kind(pairs))
        return new

    @classmethod
    def _sketch_or_adjacent(cls) -> tuple[type[Any], type[Any]]:
        from nosplit._old.engines.streams.sketches.goodness_of_fit import FitSketch

        return FitSketch, AdjacentFit

    @staticmethod
    def _checked(score: Any) -> Any:
        """A score that can be had at rows that are still to come; None if it was not saved."""
        score = score if isinstance(score, str) else as_model(score)
        if score is not None and not (isinstance(score, Model) or callable(score)):
            raise InputError(
                f"`score` must be a model or a function of rows, got {type(score).__name__}: "
                "values at rows that are still to come cannot be given beforehand."
            )
        return score

    def update(self, x: Any) -> None:
        """Take in a batch of rows.

        Parameters
        ----------
        x : array_like or table, shape (n, p)
            The rows, of any number.
        """
        raise NotImplementedError

    @classmethod
    def load(cls, path: str | os.PathLike[str], score: Score | None = None) -> Self:
        """The accumulator that `save` wrote; the score is not saved, and needed to go on."""
        return cls._restored(path, score=score)

    def _n_rows(self, sides: Rows | None) -> int:
        return len(sides[0]) if sides else 0


def scored_batch(
    x: Any, score: Any, encoding: Encoding | None, width: int | None
) -> tuple[Rows | None, Encoding | None, int]:
    """Rows of a batch and their scores, how tables became numbers, and how many were left out."""
    if score is None:
        raise InputError("`score` is not saved: give it to `load(path, score=...)` to go on.")
    side = StreamBatch.of(x, "x", encoding, first=width is None, scale="none")
    side.check_numbers()
    rows = batch_rows(side.rows, "x", width)
    omitted = 0 if side.encoding is None else as_frame(x, "x").n_rows - len(side.rows)
    if rows is None:
        return None, encoding, omitted
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    batch = on_the_line(score, rows, scores_of(score, rows))
    check_sizes(batch)  # scores may be larger than rows
    return batch, side.encoding, omitted


class AdjacentFit(MomentsAccumulator, GoodnessOfFitAccumulator):
    """Moments of adjacent pairs: `GoodnessOfFitAccumulator(pairs="adjacent")`."""

    def __init__(
        self,
        score: Model | Any,
        kernels: SteinKernels = None,
        *,
        pairs: Pairing | str = "adjacent",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
        rng: Seed = 0,
    ) -> None:
        self._score = self._checked(score)
        open_ended = kernels is None or (callable(kernels) and not isinstance(kernels, Kernel))
        bank = None if open_ended else SteinBank(stein_kernels(kernels, 1.0))
        super().__init__(Scored(kernels), kernels, bank, limit)
        self._encoding = encoding

    @classmethod
    def _like(cls, other: Self) -> Self:
        kernels = other._given if other.kernels is None else other.kernels
        return cls(other._score, kernels, limit=other._flow.limit, encoding=other._encoding)

    def update(self, x: Any) -> None:
        """Take in a batch of rows."""
        waiting = self._state.waiting
        width = None if waiting is None else waiting[0].shape[1]
        batch, encoding, omitted = scored_batch(x, self._score, self._encoding, width)
        state = replace(self._state, n_omitted=self._state.n_omitted + omitted)
        if batch is not None:
            state, self._encoding = self._flow.feed(state, batch), encoding
        self._state = state

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

    def _described(self, state: Any) -> dict[str, Any]:
        names = None if self._encoding is None else self._encoding.names
        return {"columns": names, "encoding": self._encoding}

    def _effective_pairs(self, state: State) -> None:
        """No pairs are counted: rows are."""

    def _caveats(self, state: State, outcome: Outcome) -> list[Caveat]:
        width = 0 if state.waiting is None else state.waiting[0].shape[1]
        said = any(category is UnsafeAsymptoticsWarning for category, _ in outcome.caveats)
        found = [] if said else few_stein_pairs(outcome.n_pairs, len(outcome.tau), width)
        if state.effective is not None:
            found += few_effective_rows(float(state.effective[0]), state.n_units)
        return found
