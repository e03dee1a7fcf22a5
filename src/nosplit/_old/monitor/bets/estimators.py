"""Learners of the user's: estimators that tell rows of x from rows of y."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from nosplit._types import Array
from nosplit.inference.estimators import check_estimator, learned_from, row_scores

__all__ = ["Estimators"]

# Pairs that estimators without `partial_fit` learn from, at the most: the last ones.
KEPT = 4096
# Pairs at which they learn first; then at twice as many, and so on up to every `KEPT` pairs.
FIRST = 32


class Estimators:
    """Estimators that learn as pairs come.

    Those with `partial_fit` see every pair once. Others are fitted anew, on the last pairs, ever
    more rarely.
    """

    def __init__(self, given: Sequence[Any], size: int) -> None:
        self.given = tuple(check_estimator(e, "estimators") for e in given)
        self.size = size
        self.incremental = [hasattr(e, "partial_fit") for e in self.given]
        self.fitted: list[Any] = [None] * len(self.given)
        self.waiting: list[tuple[Array, Array]] = []
        self.past: tuple[Array, ...] | None = None
        # What those were fitted on that are fitted anew.
        self.fitted_on: tuple[Array, ...] | None = None

    def __len__(self) -> int:
        return len(self.given)

    def payoffs(self, x: Array, y: Array) -> Array:
        """Payoffs in (-1, 1) of each, (pairs, estimators): 0 before the first was learned."""
        n = len(x) // self.size
        found = np.zeros((n, len(self)))
        for e, estimator in enumerate(self.fitted):
            if estimator is not None:
                scores = row_scores(estimator, np.concatenate([x, y]))
                sides = scores.reshape(2, n, self.size).sum(axis=2)
                found[:, e] = np.tanh(sides[0] - sides[1])
        return found

    def keep(self, x: Array, y: Array) -> None:
        """Keep pairs until the next update."""
        self.waiting.append((x, y))

    def learn(self, n: int) -> None:
        """Learn from the pairs kept, after n pairs in all."""
        new = tuple(np.concatenate(side) for side in zip(*self.waiting, strict=True))
        self.waiting = []
        for e, estimator in enumerate(self.given):
            if self.incremental[e]:
                fitted = deepcopy(estimator) if self.fitted[e] is None else self.fitted[e]
                self.fitted[e] = learned_from(fitted, *_labelled(*new), "partial_fit")
        if all(self.incremental):
            return
        both = zip(self.past or new, new, strict=True)
        most = KEPT * self.size
        self.past = tuple(np.concatenate(b)[-most:] for b in both) if self.past else new
        if n >= FIRST and (n & (n - 1) == 0 if n < KEPT else n % KEPT == 0):
            self.fit(self.past)

    def fit(self, past: tuple[Array, ...]) -> None:
        """Fit those anew that cannot go on learning."""
        self.fitted_on = past
        for e, estimator in enumerate(self.given):
            if not self.incremental[e]:
                self.fitted[e] = learned_from(estimator, *_labelled(*past))


def _labelled(x: Array, y: Array) -> tuple[Array, Array]:
    return np.concatenate([x, y]), np.repeat([True, False], [len(x), len(y)])
