"""Columns and pairs of columns of two samples: as cells of a sketch, or row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array
from nosplit.sketch.bins import ColumnBins, bin_scores, dependent_pairs, fit_pooled
from nosplit.sketch.cells import Sketched, units_of
from nosplit.sketch.columns.look import ColumnLook
from nosplit.sketch.lenses import ColumnView, column_view, of_lenses, pair_lenses
from nosplit.sketch.maps import MOST_PAIRS, STEP
from nosplit.sketch.rows import RowDraws, column_views, pair_view, places_of
from nosplit.sketch.swaps import Swaps
from nosplit.sketch.units import Lens

__all__ = ["SeenColumns", "look_at_cells", "look_at_samples"]


@dataclass(frozen=True, eq=False)
class SeenColumns:
    """Columns of two samples, looked at one by one and in pairs.

    Attributes
    ----------
    look : ColumnLook
        What they show under draws.
    which : list of tuple of int
        The column that each number in `look` stands for, or the two of a pair.
    bins : sequence of ColumnBins
        The bins of each column of the rows.
    counts : array, shape (2, Q)
        Rows of x and of y in all bins.
    dependence : mapping of pair of int to pair of float
        Of pairs of columns of numbers, how alike their ranks are in x and in y.
    """

    look: ColumnLook
    which: list[tuple[int, ...]]
    bins: Sequence[ColumnBins]
    counts: Array
    dependence: dict[tuple[int, ...], tuple[float, float]]


def look_at_cells(
    sketched: Sketched, key: int, owners: Sequence[int] | None = None, *, pairs: bool = False
) -> SeenColumns:
    """Columns of two sketches; `owners` are those that columns of the rows belong to."""
    sketch = sketched.map
    swaps, features, bins, pooled = units_of(sketched.x, sketched.y, 0, key)
    names = list(range(sketch.p) if owners is None else owners)
    views = [column_view(sketch, bins, pooled, names)]
    labels: list[tuple[int, ...]] = [(j,) for j in range(max(names) + 1)]
    alike = {}
    if pairs:
        both = [(names[j], names[k]) for j, k in sketch.pairs.tolist()]
        found = pair_lenses(sketch, features)
        views += _numbered_pairs(ColumnView(features, found, np.arange(len(found))), both, labels)
        of_first = sketch.first_product + 4 * np.arange(len(both))
        sides = [side.features[:, of_first] for side in (sketched.x, sketched.y)]
        means = [side.sum(axis=0) / (STEP * sketched.c * len(side)) for side in sides]
        alike = _mean_products(means, sketch.pairs.tolist(), both, sketch.bins)
    counts = sketched.counts(1)[:, 0]
    return SeenColumns(ColumnLook.of(swaps, views), labels, sketch.bins, counts, alike)


def look_at_samples(
    x: Array,
    y: Array,
    key: int,
    *,
    categorical: Sequence[int] = (),
    owners: Sequence[int] | None = None,
    pairs: bool = False,
) -> SeenColumns:
    """Columns of two samples of few rows; of equal sizes, row i of both is a unit."""
    pooled = np.concatenate([x, y]).astype(np.float64)
    names = list(range(pooled.shape[1]) if owners is None else owners)
    swaps = Swaps(len(x), len(y), 0, key)
    draws = RowDraws(swaps, np.zeros((0, swaps.n_units), np.float32), None)
    bins = fit_pooled(pooled, set(categorical))
    places = places_of(pooled, bins)
    views = list(column_views(draws, bins, places, names))
    labels: list[tuple[int, ...]] = [(j,) for j in range(max(names) + 1)]
    alike = {}
    if pairs:
        # Which pairs are looked at depends on the pooled rows alone, in no order.
        rows = pooled[np.lexsort(pooled.T)]
        both = [(j, k) for j, k in dependent_pairs(rows, MOST_PAIRS).tolist()]
        named = [(names[j], names[k]) for j, k in both]
        views += _numbered_pairs(pair_view(draws, bins, places, both), named, labels)
        first = bin_scores(bins, 0)[:, :, 0]
        own = np.stack([first[j][places[:, j]] for j in range(len(bins))], axis=1)
        left, right = (own[:, [pair[i] for pair in both]] for i in (0, 1))
        sides = left[: len(x)] * right[: len(x)], left[len(x) :] * right[len(x) :]
        alike = _mean_products([side.mean(axis=0) for side in sides], both, named, bins)
    counts = _counts_in_bins(places, bins, len(x))
    return SeenColumns(ColumnLook.of(swaps, views), labels, bins, counts, alike)


def _numbered_pairs(
    view: ColumnView, both: Sequence[tuple[int, int]], labels: list[tuple[int, ...]]
) -> list[ColumnView]:
    """Pairs of different columns, numbered after what there is, and added to it."""
    lenses: list[Lens] = []
    which = []
    for pair in sorted({pair for pair in both if pair[0] != pair[1]}):
        own = [lens for lens, label in zip(view.lenses, both, strict=True) if label == pair]
        lenses += own
        which += of_lenses([len(labels)] * len(own), own).tolist()
        labels.append(pair)
    return [ColumnView(view.units, lenses, np.array(which))] if lenses else []


def _mean_products(
    means: Sequence[Array],
    places: Sequence[Sequence[int]],
    both: Sequence[tuple[int, int]],
    bins: Sequence[ColumnBins],
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Mean products of the first scores of pairs of columns of numbers, in x and in y."""
    numbers = [not any(bins[j].categories for j in pair) for pair in places]
    found = zip(both, numbers, *means, strict=True)
    return {pair: (float(a), float(b)) for pair, number, a, b in found if number}


def _counts_in_bins(places: NDArray[np.uint8], bins: Sequence[ColumnBins], n: int) -> Array:
    """Rows of x, the first n, and of y in all bins."""
    starts = np.concatenate([[0], np.cumsum([len(b) for b in bins])])
    sides = places[:n], places[n:]
    found = [np.bincount((p + starts[:-1]).ravel(), minlength=starts[-1]) for p in sides]
    return np.stack(found).astype(np.float64)
