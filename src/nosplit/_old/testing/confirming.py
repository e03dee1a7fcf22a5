"""A second test, with fresh draws, so many that a false alarm is as rare as is asked for.

Every draw has a score, which depends on the pooled rows and on the draw alone: not on other draws,
as ranks do. So draws may come in chunks, and the first that is as extreme as the data ends it.
Where none is, p is 1 / (draws + 1), whatever led to this test being made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nosplit._checks import new_key
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.memory import sides_of
from nosplit._old.engines.sides import Sides
from nosplit._old.engines.sketching.steps import prepare_sketch, sketch_pair
from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._old.sketch.rows import look_at_rows
from nosplit._old.sketch.swaps import Swaps
from nosplit._types import Array
from nosplit.core.pairings import Sketch
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples
from nosplit.inference.calibrations import Exact
from nosplit.methods.laws import counted_from

__all__ = ["draws_for", "fewest_rows", "is_confirmed"]

# Rows of both samples up to which each is a unit of its own; beyond, cells of rows are.
MOST_ROWS = 800
CELLS = Sketch(cells=100, frequencies=16)
# Draws at once, and those that put kinds of evidence on one scale.
CHUNK, REFERENCE = 20_000, 4_999
# Different labellings for one draw, so that one seldom is the data's own.
SPARE = 10

Scores = Callable[[int, int], Array]


class _Scale(NamedTuple):
    """Middles of kinds of evidence and lengths of their tails, under draws made for this."""

    middle: Array
    reach: Array

    @classmethod
    def of(cls, kinds: Array) -> _Scale:
        middle, far = np.quantile(kinds, [0.5, 0.999], axis=0)
        return cls(middle, np.where(far > middle, far - middle, np.inf))

    def score(self, kinds: Array) -> Array:
        """The strongest of the kinds."""
        return np.asarray(((kinds - self.middle) / self.reach).max(axis=1))


def draws_for(error: float) -> int:
    """Draws of which the data must beat all, for p to be at most `error`."""
    return math.ceil(1.0 / error - 1e-9) - 1


def fewest_rows(n: int, m: int, error: float) -> int | None:
    """Rows that each sample must have for an alarm to be possible; None if n and m are enough."""
    wanted = math.log(SPARE / error)
    if _log_labellings(n, m) >= wanted:
        return None
    return next(k for k in range(2, 10_000) if _log_labellings(k, k) >= wanted)


def _log_labellings(n: int, m: int) -> float:
    """Logarithm of the number of labellings that differ: swaps of pairs, or permutations."""
    if n == m:
        return (n - 1) * math.log(2.0)
    return math.lgamma(n + m + 1) - math.lgamma(n + 1) - math.lgamma(m + 1)


def is_confirmed(
    data: Samples, options: Options, error: float, rng: np.random.Generator, workers: int | None
) -> bool:
    """Whether no fresh draw of about 1 / `error` is as extreme as the data."""
    n, m, _ = data.shape
    few = n + m <= MOST_ROWS
    kinds = _evidence_of_rows(data, rng, workers) if few else _of_cells(data, options, rng, workers)
    keys = iter(lambda: new_key(rng), None)
    reference = kinds(REFERENCE, next(keys))
    scale = _Scale.of(reference[1:])
    threshold = counted_from(scale.score(reference[:1]))
    left = draws_for(error)
    while left > 0:
        count = min(CHUNK, left)
        if np.any(scale.score(kinds(count, next(keys))[1:]) >= threshold):
            return False
        left -= count
    return True


def _evidence_of_rows(data: Samples, rng: np.random.Generator, workers: int | None) -> Scores:
    """Evidence under draws of a key, the data first, where every row is a unit."""
    x, y = check_samples(data.x, data.y)
    x, y = x[rng.permutation(len(x))], y[rng.permutation(len(y))]
    encoding = data.encoding

    def kinds(flips: int, key: int) -> Array:
        swaps = Swaps(len(x), len(y), flips, key)
        seen = look_at_rows(
            x,
            y,
            swaps.weights(0, flips + 1),
            categorical=() if encoding is None else encoding.categorical,
            owners=None if encoding is None else encoding.owners,
            workers=workers,
        )
        return _kinds(DrawnStatistics(np.zeros((0, 0)), np.zeros((0, 0)), len(x), 0, *seen))

    return kinds


def _of_cells(
    data: Samples, options: Options, rng: np.random.Generator, workers: int | None
) -> Scores:
    """The same, where units are cells of many rows."""
    sides = Sides(*sides_of(data), workers)
    asked = Asked(data.settled(options), None, None, CELLS, Exact(), budget=1.0)
    prepared = prepare_sketch(sides, asked, rng)
    sketched, encoding = sketch_pair(sides, prepared), prepared.task.reader.encoding
    owners = None if encoding is None else encoding.owners
    return lambda flips, key: _kinds(sketched.drawn(flips, key, owners, workers))


def _kinds(drawn: DrawnStatistics) -> Array:
    """Kinds of evidence under every draw: the best kernel, column and pair of columns, (F, K)."""
    found = []
    for tau, cov in ((drawn.tau, drawn.cov), (drawn.flat_tau, drawn.flat_cov)):
        live = np.diagonal(cov) > 0
        if live.any():
            found.append((tau[:, live] / np.sqrt(np.diagonal(cov)[live])).max(axis=1))
    views = (v for v in (drawn.columns, drawn.pairs) if v is not None and v.n_columns)
    found += [view.scores.max(axis=1) for view in views]
    return np.stack(found, axis=1)
