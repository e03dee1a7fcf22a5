"""Samples with a design: pairs, strata, groups, and several samples, alike or not.

Every problem takes a generator and an effect, which is 0 under the null hypothesis, and gives the
samples and the keywords of its test.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Problem = tuple[np.ndarray, np.ndarray, dict[str, Any]]


def pairs(rng, effect=0.0, n=50, correlation=0.8) -> Problem:
    """Before and after: what a case has in common is most of it."""
    common = rng.standard_normal((n, 3))
    own = rng.standard_normal((2, n, 3))
    x, y = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    return x, y + effect, {"paired": True}


def _shuffled(rng, x, y, **labels) -> Problem:
    """Put the rows in random order."""
    i, j = rng.permutation(len(x)), rng.permutation(len(y))
    return x[i], y[j], {name: (a[i], b[j]) for name, (a, b) in labels.items()}


def _strata(rng, sizes, centres, effect):
    """Rows of strata with different centres, so many of x and of y in each."""
    x, y = (
        np.concatenate(
            [rng.standard_normal((n, 3)) + c for n, c in zip(side, centres, strict=True)]
        )
        for side in zip(*sizes, strict=True)
    )
    of_x, of_y = (np.repeat(np.arange(len(sizes)), side) for side in zip(*sizes, strict=True))
    return _shuffled(rng, x, y + effect, strata=(of_x, of_y))


def strata(rng, effect=0.0, rows=1) -> Problem:
    """Three strata apart from one another, mixed in other proportions."""
    sizes = [(35 * rows, 10 * rows), (20 * rows, 20 * rows), (10 * rows, 45 * rows)]
    return _strata(rng, sizes, [0.0, 1.0, 2.0], effect)


def small_strata(rng, effect=0.0, strata=40) -> Problem:
    """Many strata of a few rows, of one sample only in some; y has more where centres are high."""
    centres = 2.0 * rng.standard_normal(strata)
    n = rng.poisson(2.0, strata)
    m = rng.poisson(2.0 * np.exp(0.5 * centres))
    return _strata(rng, list(zip(n, m, strict=True)), centres, effect)


def groups(rng, effect=0.0, count=10, rows=20, correlation=0.5) -> Problem:
    """Clusters of rows that have half of their variance in common."""
    ids = np.repeat(np.arange(count), rows)
    samples = []
    for _ in range(2):
        common = np.sqrt(correlation) * rng.standard_normal((count, 3))
        samples.append(common[ids] + np.sqrt(1 - correlation) * rng.standard_normal((len(ids), 3)))
    return _shuffled(rng, samples[0], samples[1] + effect, groups=(ids, ids + count))


def groups_of_both(rng, effect=0.0, count=16) -> Problem:
    """Groups that have rows of both samples, more of y where the group lies high."""
    centres = rng.standard_normal((count, 3))
    n = rng.integers(4, 12, count)
    m = np.maximum(2, (8 * np.exp(0.6 * centres[:, 0])).astype(int))
    ids = np.repeat(np.arange(count), n), np.repeat(np.arange(count), m)
    x, y = (centres[own] + rng.standard_normal((len(own), 3)) for own in ids)
    return _shuffled(rng, x, y + effect, groups=ids)


def groups_in_strata(rng, effect=0.0) -> Problem:
    """Clusters in two strata apart from one another, in other proportions."""
    sides = []
    for counts, first in (((10, 4), 0), ((4, 10), 100)):
        stratum = np.repeat([0, 1], counts)
        ids = np.repeat(np.arange(len(stratum)), 10)
        centres = 1.5 * stratum[:, None] + 0.7 * rng.standard_normal((len(stratum), 3))
        rows = centres[ids] + 0.7 * rng.standard_normal((len(ids), 3))
        sides.append((rows, ids + first, stratum[ids]))
    (x, gx, sx), (y, gy, sy) = sides
    return _shuffled(rng, x, y + effect, groups=(gx, gy), strata=(sx, sy))


def given_a_stratum(rng, effect=0.0, n=120) -> Problem:
    """Two variables that a third one makes depend, and besides only by the effect."""
    stratum = rng.integers(0, 4, n)
    x = stratum + rng.standard_normal(n)
    y = stratum + rng.standard_normal(n) + effect * x
    return x, y, {"strata": stratum}


def several(rng, sizes, changed=(), effect=0.0) -> list[np.ndarray]:
    """Samples of these sizes, of which some differ."""
    return [
        rng.standard_normal((n, 2)) + (effect if k in changed else 0.0) for k, n in enumerate(sizes)
    ]
