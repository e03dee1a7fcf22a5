"""Rows with the scores of a model: a sample in memory, and what the model draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nosplit._checks import check_sample, check_varies
from nosplit._types import Array
from nosplit.data.encoding import Encoding
from nosplit.data.options import Options
from nosplit.data.samples import Sample, one_sample, standardised
from nosplit.errors import Caveat, InputError, UnsafeAsymptoticsWarning
from nosplit.models import Model, SamplingModel
from nosplit.models.ends import Ends, on_the_line
from nosplit.models.scores import OnSupport, scores_of

__all__ = ["ScoredRows", "ScoredSample", "undeclared_support"]


class ScoredRows(NamedTuple):
    """Rows of one sample, or of several of the same size, and the scores of a model there.

    Attributes
    ----------
    x, scores : array, shape (n, p) or (R, n, p)
        The rows, and ∇ log q there.
    """

    x: Array
    scores: Array

    def on_scale(self, center: Array, spread: Array) -> ScoredRows:
        """Divide columns by their spread: ∇ log q of the law of (x - c) / s is s ∇ log q(x)."""
        return ScoredRows((self.x - center) / spread, self.scores * spread)


@dataclass(frozen=True, eq=False)
class ScoredSample:
    """A sample in memory, and the scores of a model at its rows.

    Attributes
    ----------
    data : Sample
        The sample as it was read.
    model : Score
        The model, or its score with a declared support.
    given : ScoredRows
        Rows in the units of the model, and its scores there.
    """

    data: Sample
    model: Any
    given: ScoredRows

    @classmethod
    def read(
        cls, x: Any, score: Any, options: Options, support: Any = None, *, whole: bool = False
    ) -> ScoredSample:
        """Read a sample, and compute the scores at its rows. A `whole` series has no gaps."""
        data = one_sample(x, options)
        if data.left_out and whole:
            raise InputError(
                f"`nan_policy` must not be 'omit' with series=: the {data.left_out:,} rows with "
                "missing values leave gaps in the series. Fill them, or test a part without gaps."
            )
        rows = np.ascontiguousarray(check_sample(data.x, "x"), dtype=np.float64)
        if data.kept is not None and not callable(score) and not isinstance(score, Model):
            score = np.asarray(score)[data.kept]
        if support is not None:
            score = OnSupport(score, Ends.of_support(support, rows))
        scores = scores_of(score, rows)
        if len(rows) < 4:
            raise InputError(f"`x` must have at least 4 rows, got {len(rows)}.")
        check_varies(rows, "x")
        return cls(data, score, ScoredRows(rows, scores))

    @property
    def kept(self) -> Any:
        """Mask of the rows that are not left out."""
        return np.ones(len(self.given.x), np.bool_) if self.data.kept is None else self.data.kept

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; positions for arrays."""
        encoding = self.data.encoding
        every = tuple(map(str, range(self.given.x.shape[1])))
        return every if encoding is None else encoding.names

    @property
    def samples(self) -> bool:
        """Whether the model can be sampled."""
        return isinstance(self.model, SamplingModel)

    @property
    def undeclared(self) -> list[Caveat]:
        """Warn if only a function is known of a density that may end at zero."""
        declared = isinstance(self.model, Model) or not callable(self.model)
        return [] if declared else undeclared_support(self.given.x)

    @property
    def scales(self) -> bool:
        """Whether columns are divided by their spreads: those of tables."""
        return self.data.scaled and self.data.encoding is not None

    @cached_property
    def on_the_line(self) -> ScoredRows:
        """Rows and scores in coordinates of the whole line."""
        return ScoredRows(*on_the_line(self.model, *self.given))

    @cached_property
    def rows(self) -> ScoredRows:
        """The same, divided by the spread of the data if that was asked for."""
        rows = self.on_the_line
        return rows.on_scale(*standardised(rows.x)) if self.scales else rows

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of a table; None for an array as it came."""
        encoding = self.data.encoding
        if encoding is None or not self.scales:
            return encoding
        return encoding.scaled(*standardised(self.on_the_line.x))

    def drawn(self, count: int, rng: np.random.Generator) -> Array:
        """Draw rows from the model, in its units."""
        x = np.asarray(self.model.sample(count, rng), dtype=np.float64)
        if not np.isfinite(x).all():
            raise InputError("`score` is a model that draws numbers beyond all bounds. Rescale it.")
        return np.ascontiguousarray(x.reshape(count, -1))

    def draw(self, count: int, rng: np.random.Generator) -> ScoredRows:
        """Draw rows from the model and score them, in coordinates of the whole line."""
        x = self.drawn(count, rng)
        return ScoredRows(*on_the_line(self.model, x, scores_of(self.model, x)))


def undeclared_support(x: Array) -> list[Caveat]:
    """Warn that a density of which only the score is known may end at zero."""
    positive = np.flatnonzero(np.min(x, axis=0) >= 0.0)
    if not len(positive):
        return []
    text = (
        f"All values of {len(positive)} of {x.shape[1]} columns of `x` are positive (the first is "
        f"column {positive[0]}), and a score alone does not say where the density ends. If it ends "
        "at 0, p may be too small: declare support=(0, inf), or (-inf, inf) if it has no ends."
    )
    return [(UnsafeAsymptoticsWarning, text)]
