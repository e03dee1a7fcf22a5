"""Waves of ranks: the shape of a column of numbers, and how two of them go together.

Cosines of the ranks of pooled rows, the first of which are broad and the later ones fine. Products
of those of two columns have mean 0 where these are independent, whatever each is by itself: what
they add up to differs between samples if a dependence does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nosplit._old.sketch.bins import MOST_BINS
from nosplit._old.sketch.units import Lens, lenses_in_turn
from nosplit._types import Array, Index

__all__ = ["cosines", "wave_lenses", "waves_of_ranks"]

# Waves of either column of a pair: more of them show finer dependence.
SCALES = (1, 3, 9)
# Products of waves of all pairs, if there are not more pairs; and those that are looked at
# together.
MOST_PRODUCTS, TOGETHER = 256, 128


def cosines(share: Array, most: int) -> Array:
    """The first waves of the rank of every bin, (bins, most): of variance one, or nearly.

    `share` is that of the rows in each bin. Waves that bins do not tell apart are zero.
    """
    middle = np.cumsum(share) - share / 2.0
    number, different = np.arange(1, most + 1), int(np.count_nonzero(share))
    waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(middle, number))
    return np.asarray(waves * (number < different))


def waves_of_ranks(counts: Sequence[Index], pairs: int) -> Array:
    """Waves of the ranks of bins of all columns, (p, bins, J), for so many pairs of columns.

    `counts` are rows in each bin. Few rows, or many pairs, leave only the first waves.
    """
    most = min(counts[0].sum() / 4, MOST_PRODUCTS / max(pairs, 1))
    finest = max(scale for scale in SCALES if scale == 1 or scale**2 <= most)
    waves = np.zeros((len(counts), MOST_BINS, finest))
    for j, own in enumerate(counts):
        waves[j, : len(own)] = cosines(own / own.sum(), finest)
    return waves


def wave_lenses(steps: Array, J: int) -> tuple[list[Lens], Index]:
    """Lenses on products of J waves of either column of pairs, and the pairs they look at.

    A pair has a statistic for every scale: of the products of its first waves.
    """
    finer = np.maximum.outer(np.arange(J), np.arange(J)).ravel()
    own = np.stack([finer < scale for scale in SCALES if scale <= J], axis=1)
    pairs = len(steps) // len(own)
    group = max(1, TOGETHER // len(own))
    sizes = [min(group, pairs - start) for start in range(0, pairs, group)]
    gains = [np.asarray(np.kron(np.eye(size), own), np.float64) for size in sizes]
    return lenses_in_turn(steps, gains), np.repeat(np.arange(pairs), own.shape[1])
