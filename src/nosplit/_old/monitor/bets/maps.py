"""Pairs of rows → numbers that change their sign when the rows are swapped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nosplit._old.sketch.bins import MOST_BINS, ColumnBins, dependent_pairs
from nosplit._old.sketch.maps import SketchMap, fit_map
from nosplit._types import Array, Index
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import robust_scale
from nosplit.kernels.frequencies import has_frequencies, projected

__all__ = ["JOINT", "SCORES", "BetMap", "fit_bet_map"]

# Scores of a column: place, spread and four waves of the rank; or the commonest categories.
SCORES = 6
# Scores of columns that are learned from jointly, and pairs of columns, at the most.
JOINT, PAIRS = 256, 64
# Features learned from jointly, where waves can make up for few columns, and the fewest waves.
# Differences far below the scale of the data need many: nine blobs of another shape in two columns
# take four times as many pairs with 64 waves as with 192.
ROOM, LEAST_WAVES = 384, 64
# Spreads beyond which a value counts as this far.
FAR = 1e6
# To which the number of bins would be fitted if there were cells.
CELLS = 1000


@dataclass(frozen=True, eq=False)
class BetMap:
    """From pairs to features, made of rows that are not bet on, or of pooled rows of pairs.

    Attributes
    ----------
    center, scale : array, shape (p,)
        Numbers become (value - center) / scale; a missing one becomes 0.
    sketch : SketchMap
        Waves, bins and pairs of columns, for rows on that scale.
    """

    center: Array
    scale: Array
    sketch: SketchMap

    @property
    def p(self) -> int:
        """Columns of a row."""
        return len(self.center)

    @property
    def n_waves(self) -> int:
        """Features that are waves: a cosine and a sine of each frequency."""
        return 2 * self.sketch.n_waves

    @property
    def n_features(self) -> int:
        """Features of a pair: waves, scores of columns, products of pairs of columns."""
        return self.n_waves + self.p * SCORES + len(self.sketch.pairs)

    @cached_property
    def joint(self) -> Index:
        """The features that are learned from together: fewer of each column if there are many."""
        each = next(k for k in (SCORES, 2, 1, 0) if k * self.p <= JOINT)
        columns = self.n_waves + np.arange(self.p)[:, None] * SCORES + np.arange(each)
        first = self.n_waves + self.p * SCORES
        return np.concatenate(
            [np.arange(self.n_waves), columns.ravel(), np.arange(first, self.n_features)]
        )

    @cached_property
    def places(self) -> Index:
        """Numbers of the first scores of columns, their places, among the joint features, (p,)."""
        first = self.n_waves + np.arange(self.p) * SCORES
        return np.asarray(np.flatnonzero(np.isin(self.joint, first)))

    def jointly(self, differences: NDArray[np.float32]) -> NDArray[np.float32]:
        """The features that are learned from together, of all that there are."""
        whole = len(self.joint) == self.n_features
        return differences if whole else differences[:, self.joint]

    @cached_property
    def scores(self) -> NDArray[np.float32]:
        """Scores of every bin of every column, (p, bins, scores)."""
        known = zip(self.sketch.bins, self.sketch.places.tolist(), strict=True)
        return np.stack([_scores_of_bins(bins, self.sketch.key, place) for bins, place in known])

    @cached_property
    def turns(self) -> NDArray[np.float32]:
        """Turns for a spread of each column, (p, F), columns being as they come."""
        return np.ascontiguousarray(self.sketch.turns[self.sketch.places])

    @cached_property
    def numbers(self) -> NDArray[np.bool_]:
        """Whether each column holds numbers, (p,)."""
        return np.array([not bins.categories for bins in self.sketch.bins])

    def standardised(self, rows: Array) -> Array:
        """Rows on a common scale, with nothing missing."""
        return _standardised_rows(rows, self.center, self.scale, self.numbers)

    def numbered(self, scaled: Array) -> Array:
        """Rows on a common scale with the numbers of their bins in place of categories."""
        rows = scaled.copy()
        rows[:, ~self.numbers] = self._places(scaled)[:, ~self.numbers]
        return rows

    def _places(self, scaled: Array) -> NDArray[np.uint8]:
        from nosplit.backend.numba.sketch import bin_places

        places = np.empty(scaled.T.shape, np.uint8)
        edges, _, *bins = self.sketch.edges
        bin_places(scaled, edges, *bins, places)
        return np.ascontiguousarray(places.T)

    def differences(self, x: Array, y: Array, size: int) -> NDArray[np.float32]:
        """Features of x minus those of y, (pairs, features), summed over `size` rows of each.

        They change their sign when x and y are swapped, and do not depend on which other pairs are
        computed together, both to the last bit.
        """
        found = self.features(x, size)
        found -= self.features(y, size)
        return found

    def features(self, rows: Array, size: int = 1) -> NDArray[np.float32]:
        """Features of rows, summed over `size` of them."""
        from nosplit.backend.numba.betting import add_columns, add_row_waves
        from nosplit.backend.numba.sketch import add_phases, standardised_rows

        sketch, n = self.sketch, len(rows)
        scaled = np.empty((n, self.p), np.float32)
        standardised_rows(rows, np.arange(self.p), sketch.center, 1.0 / sketch.spread, scaled)
        turns = projected(scaled, self.turns)
        if len(sketch.hashed):
            places = sketch.places[sketch.hashed]
            add_phases(rows, sketch.hashed, places, sketch.phases, turns)
        out = np.zeros((n // size, self.n_features), np.float32)
        add_row_waves(turns, size, sketch.n_waves, out)
        known = self._places(rows), self.numbers, self.scores, sketch.pairs
        add_columns(scaled, *known, size, self.n_waves, out)
        return out


def _scores_of_bins(bins: ColumnBins, key: int, place: int) -> NDArray[np.float32]:
    """Scores of the bins of one column, of about unit size."""
    scores = np.zeros((MOST_BINS, SCORES), np.float32)
    count = len(bins)
    if bins.categories:
        raw = np.random.Philox(key=np.array([key, place], np.uint64)).random_raw(2 * count)
        signs = 2.0 * (raw & np.uint64(1)).astype(np.float32) - 1.0
        scores[:count, :2] = signs.reshape(count, 2)
        for k in range(min(count, SCORES - 2)):
            scores[k, 2 + k] = 2.0
    else:
        rank = (np.arange(count) + 0.5) / count
        waves = np.cos(np.pi * np.outer(rank, np.arange(1, SCORES - 1)))
        scores[:count, 2:] = np.sqrt(2.0) * waves
    return scores


def _standardised_rows(
    rows: Array, center: Array, scale: Array, numbers: NDArray[np.bool_]
) -> Array:
    """Rows on a common scale: what is missing is 0, and numbers far away are cut off."""
    with np.errstate(over="ignore"):
        scaled = (rows - center) / scale
    scaled[np.isnan(scaled)] = 0.0
    far = np.where(numbers, FAR, np.inf)
    return np.asarray(np.clip(scaled, -far, far))


def fit_bet_map(rows: Array, encoding: Encoding, key: int, split: int | None = None) -> BetMap:
    """Make the map of some rows, in whatever order they are.

    Parameters
    ----------
    rows : array, shape (n, p)
        Encoded rows; NaN where a number is missing.
    encoding : Encoding
        Tells numbers from categories.
    key : int
        Picks the frequencies.
    split : int, optional
        Where the columns of a second variable begin: pairs of columns are then of one of each.
    """
    categorical = encoding.categorical
    fitted = [(0.0, 1.0) if j in categorical else _scale(column) for j, column in enumerate(rows.T)]
    center, scale = np.array(fitted).T
    numbers = np.array([j not in categorical for j in range(rows.shape[1])])
    scaled = _in_one_order(_standardised_rows(rows, center, scale, numbers))
    recipe = encoding.recipe(None).of_rare(scaled)
    count, pairs = (
        sum(has_frequencies(kernel) for kernel in recipe.build()),
        _most_dependent(scaled, split),
    )
    waves = max(LEAST_WAVES, (ROOM - SCORES * len(scale) - len(pairs)) // 2)
    sketch = fit_map(
        scaled,
        recipe,
        categorical=categorical,
        frequencies=max(4, waves // max(count, 1)),
        cells=CELLS,
        key=key,
    )
    return BetMap(center, scale, replace(sketch, pairs=pairs))


def _in_one_order(rows: Array) -> Array:
    """The rows in an order that is the same whichever row of a pair is x, and column the first.

    They are sorted by their columns, the one with the least values first.
    """
    columns = np.lexsort(np.sort(rows, axis=0)[::-1])
    return rows[np.lexsort(rows.T[columns[::-1]])]


def _scale(column: Array) -> tuple[float, float]:
    present = column[~np.isnan(column)]
    if not len(present):
        return 0.0, 1.0
    center, scale = robust_scale(present)
    return (center, scale) if np.isfinite(scale) and scale > 0 else (0.0, 1.0)


def _most_dependent(scaled: Array, split: int | None) -> Index:
    """Pairs of columns whose dependence is looked at: the most dependent, if there are many."""
    if split is None:
        return dependent_pairs(scaled, PAIRS)
    columns = np.arange(scaled.shape[1])
    left, right = np.meshgrid(columns[:split], columns[split:], indexing="ij")
    across = np.column_stack([left.ravel(), right.ravel()])
    ranks = np.argsort(np.argsort(scaled, axis=0, kind="stable"), axis=0) / len(scaled) - 0.5
    strength = np.abs(ranks.T @ ranks)[across[:, 0], across[:, 1]]
    return across[np.sort(np.argsort(-strength, kind="stable")[:PAIRS])]
