"""Do blocks that follow one another look alike? A check of serial dependence, on cells in order.

A test that swaps blocks takes them to be independent. If rows depend on those before them, the
differences Ψ_i between the x-cell and the y-cell of neighbouring blocks are alike, and swaps of
single blocks make too little of chance. What neighbours have in common is compared with what far
blocks have: a true difference of the samples raises both, and so does nothing that x and y share.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from nosplit._support.lazy import special
from nosplit._support.types import Array
from nosplit.sketch.cells import units_of
from nosplit.sketch.lenses import column_lenses, kernel_view, pair_lenses
from nosplit.sketch.maps import SketchMap
from nosplit.sketch.sums import CellSums
from nosplit.sketch.units import CellUnits, Lens

__all__ = ["blocks_alike", "neighbours_alike"]

# Blocks nearer than this count as neighbours, with weights that fall to 0: several widths, for
# dependence of short and of long range.
WIDTHS = (2, 8, 32)
# Blocks for each of the widest neighbourhood.
SHARE = 8


def neighbours_alike(sketch: SketchMap, x: CellSums, y: CellSums | None = None) -> float:
    """Test whether neighbouring blocks are alike: a p-value, for all kernels and columns.

    The same quadratic forms as in the test are looked at. A sum of products of different blocks,
    less their mean over all blocks, is divided by the root of the sum of their squares. That has
    mean 0 and variance 1 if blocks are independent, whatever their sizes and tails, and whether or
    not the samples differ; a gamma law takes care of its skewness.

    Parameters
    ----------
    sketch : SketchMap
        The map of both.
    x, y : CellSums
        Cells of blocks, in the order of time; as many of x as of y, or those of x alone.
    """
    if y is None:
        y = CellSums.empty(sketch, len(x.features))
    swaps, features, bins, pooled = units_of(x, y, 0, 0)
    # The first lens of a column is its cumulative one, or its only one.
    columns = [own[0] for own in column_lenses(sketch, bins, pooled)]
    kernels = kernel_view(sketch.features, swaps, features).lenses
    pairs = pair_lenses(sketch, features, broad=True)
    return blocks_alike([(features, [*kernels, *pairs]), (bins, columns)])


def blocks_alike(looks: Sequence[tuple[CellUnits, Sequence[Lens]]]) -> float:
    """The same of any numbers of blocks, in the order of time, and of ways to look at them."""
    N = len(looks[0][0].values)
    widths = [width for width in WIDTHS if width * SHARE <= N]
    if not widths:
        return 1.0
    parts = [_pvalues(units, lens, widths) for units, lenses in looks for lens in lenses]
    pvalues = np.concatenate([part.ravel() for part in parts])
    return float(min(1.0, pvalues.size * pvalues.min()))


def _pvalues(units: CellUnits, lens: Lens, widths: Sequence[int]) -> Array:
    """P-values of sums over neighbours, for each width and kernel of a lens."""
    along = units.along(lens)
    along -= along.mean(axis=0)
    along /= np.abs(along).max(initial=0.0) or 1.0  # fourth powers of small numbers are none
    N = len(along)
    common = -((along * along) @ lens.gains).sum(axis=0) / (N * (N - 1))
    lags = range(1, max(widths))
    products = [(along[:-lag] * along[lag:]) @ lens.gains - common for lag in lags]
    first = np.array([part.sum(axis=0) for part in products])
    second = np.array([(part * part).sum(axis=0) for part in products])
    lopsided = _skewness(along.T @ along, lens.gains)
    found = []
    for width in widths:
        weights = np.maximum(0.0, 1.0 - np.array(lags) / width)
        scale = np.sqrt(weights**2 @ second)
        z = np.divide(weights @ first, scale, out=np.zeros_like(scale), where=scale > 0)
        found.append(_two_sided(z, lopsided * _window_skewness(width) / np.sqrt(N)))
    return np.array(found)


def _skewness(moment: Array, gains: Array) -> Array:
    """The skewness tr M³ / (tr M²)^(3/2) of second moments M as kernels see them."""
    found = []
    for gain in gains.T:
        root = np.sqrt(np.maximum(gain, 0.0))
        seen = root[:, None] * moment * root
        square = seen @ seen
        size = float(np.trace(square))
        found.append(float(np.sum(square * seen)) / size**1.5 if size > 0 else 1.0)
    return np.array(found)


@lru_cache
def _window_skewness(width: int) -> float:
    """√N times the skewness of Σ w(i - j) ξ_i ξ_j over i ≠ j, of N independent normal numbers."""
    lags = np.arange(-2 * width, 2 * width + 1)
    weights = np.where(lags == 0, 0.0, np.maximum(0.0, 1.0 - np.abs(lags) / width))
    twice = np.convolve(weights, weights, mode="same")
    return float(8.0 * (twice @ weights) / (2.0 * (weights @ weights)) ** 1.5)


def _two_sided(z: Array, skewness: Array) -> Array:
    """Tails of a gamma law with mean 0, variance 1 and this skewness."""
    shape = 4.0 / np.maximum(skewness, 1e-3) ** 2
    at = np.maximum(shape + z * np.sqrt(shape), 0.0)
    return np.asarray(2.0 * np.minimum(special.gammaincc(shape, at), special.gammainc(shape, at)))
