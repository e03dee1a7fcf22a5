"""Whether rows depend on those before them: neighbours against rows far apart.

Dealing rows at random makes any order of independent rows harmless, sorted ones included. It does
not make dependent rows independent. What tells the two apart is how the likeness of rows fades
with their distance. In a column that is sorted, or goes along with a sorted one, it hardly does,
and neighbours differ by noise: two steps lead no farther than one. In a series in time likeness
fades, or comes and goes, and steps add up.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.lazy import special
from nosplit._support.types import Array, Index

__all__ = [
    "can_be_suspected",
    "correlated_rows",
    "perhaps_correlated",
    "serial_lags",
    "serial_rows",
    "sure_of",
]

# Rows looked at, the fewest of them, and how many runs as long as the longest lag there must be.
MOST_ROWS, FEWEST_ROWS, RUNS = 5_000, 48, 24
# How often independent rows may seem to depend on one another, whatever their columns; and how
# often they may be suspected of it, all samples of a test together.
FALSE_ALARMS, SUSPICIONS = 2e-5, 0.01
# Rows and columns of samples that can be suspected: with more rows series are seen for certain.
SUSPECTED_ROWS, SUSPECTED_COLUMNS = 1_000, 100
# Lags at which sorted rows are told from short series, whose longest lag is no longer: together,
# since one lag of so few rows says little.
FIRST_LAGS = 4
# Columns that are looked at together.
COLUMNS = 64
# Sorted rows: so few steps down, as a share and in all, that runs are long: rows sorted inside
# groups. Rows that go along with sorted ones: a likeness that keeps this share of itself at the
# longest lag, while two steps lead no farther than one (a ratio of mean squares of 1, where the
# steps of a series add up: 1 more, times its likeness), or while steps have mostly one sign.
ASCENTS, DESCENTS, KEPT, ROUGH, ONE_WAY = 0.98, 5, 0.65, 0.5, 0.25


@lru_cache(8)
def serial_rows(n: int) -> Index:
    """Numbers of the rows, of n, that are looked at, in ascending order."""
    starts, lags = serial_lags(n)
    rows = np.unique(starts[:, None] + np.concatenate([[0], lags]))
    rows.flags.writeable = False  # it is handed out again
    return rows


def serial_lags(n: int) -> tuple[Index, Index]:
    """Rows, and lags at which others are compared with them."""
    if n < FEWEST_ROWS:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    lags: Index = 2 ** np.arange(int(np.log2(n / RUNS)) + 1)
    count = n - int(lags[-1])
    if count <= MOST_ROWS:
        return np.arange(count), lags
    return np.unique(np.linspace(0, count - 1, MOST_ROWS).astype(np.int64)), lags


def sure_of(n: int, p: int, alarms: float = FALSE_ALARMS) -> float:
    """A correlation of n pairs of neighbours, in one of p columns, that is no chance."""
    return -float(special.ndtri(alarms / (4.0 * max(p, 1)))) / float(np.sqrt(n))


def perhaps_correlated(*samples: NDArray[Any], every: bool = False) -> bool:
    """Whether rows next to one another look alike, as those of few independent samples do.

    Short series are not seen for certain. One test of independent rows in a hundred is suspected;
    samples of more than a thousand rows, or of more than a hundred columns, are not.

    Parameters
    ----------
    samples : array, shape (n, p)
        Rows in their order, of one sample or of several.
    every : bool
        Whether it takes all of the samples to be suspicious, and not one of them.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> series = np.convolve(noise, [1.0, 0.5])[:, None]
    >>> correlated_rows(series), perhaps_correlated(series), perhaps_correlated(noise[:, None])
    (0, True, False)
    """
    short = [rows for rows in samples if can_be_suspected(len(rows), rows.shape[1])]
    if not short or (every and len(short) < len(samples)):
        return False
    if every:
        return all(correlated_rows(rows, alarms=SUSPICIONS) for rows in samples)
    # Half of the suspicions for each sample by itself, half for all of them together.
    half = SUSPICIONS / 2.0
    if any(correlated_rows(rows, alarms=half / len(short)) for rows in short):
        return True
    found, root = [_neighbours(rows) for rows in short], np.sqrt(len(short))
    bar = -float(special.ndtri(half / short[0].shape[1]))
    # Columns that are sorted do not count: no others than these can be suspicious without them.
    most = np.sum([np.maximum(z, 0.0) for z, _ in found], axis=0) / root
    for j in np.flatnonzero(most > bar).tolist():
        kept = [
            own[:, j]
            for rows, own in zip(short, found, strict=True)
            if not _sorted_in_short(rows, j)
        ]
        z, skew = np.sum([np.zeros(2), *kept], axis=0) / root
        if z > bar + (bar**2 - 1.0) * skew / 6.0:
            return True
    return False


def can_be_suspected(n: int, p: int) -> bool:
    """Whether a sample of n rows of p columns is one of which series are looked for twice."""
    return FEWEST_ROWS <= n <= SUSPECTED_ROWS and p <= SUSPECTED_COLUMNS


def _neighbours(rows: NDArray[Any]) -> Array:
    """Likeness of neighbours in every column, in standard errors, and its skewness, (2, p)."""
    places = _first_places(len(rows))[0][:, :2]
    likeness, skew = _likeness(_waves(rows, places[:, 0])[..., places.T])
    root = np.sqrt(len(places))
    # About its mean over all orders of the rows, -1/n: waves are taken about their means.
    return np.stack([likeness[:, 0, 0] * root + 1.0 / root, skew[:, 0] ** 2 / root])


def _first_places(n: int) -> tuple[Index, int]:
    """Places of rows of a short sample, and of those at each lag from them, (rows, 1 + lags).

    Second is how many of the last lags tell sorted rows.
    """
    starts, lags = serial_lags(n)
    later = 1
    if lags[-1] <= FIRST_LAGS:
        starts, lags = np.arange(n - FIRST_LAGS), np.arange(1, FIRST_LAGS + 1)
        later = FIRST_LAGS - 1
    return starts[:, None] + np.concatenate([[0], lags]), later


def _sorted_in_short(rows: NDArray[Any], j: int) -> bool:
    """Whether a column of a short sample is sorted, or goes along with one that is."""
    return _sorted_column(rows[:, j], *_first_places(len(rows)))


def correlated_rows(
    rows: NDArray[Any],
    n: int | None = None,
    p: int | None = None,
    *,
    alarms: float = FALSE_ALARMS,
) -> int:
    """The largest lag at which rows still depend on one another; 0 if they seem independent.

    Lags are powers of two, up to a 24th of the rows.

    Parameters
    ----------
    rows : array, shape (n, p)
        The rows in their order.
    n : int, optional
        Where only the `serial_rows` of a sample are given, how many rows it has.
    p : int, optional
        Where only some of the columns are given, how many there are.
    alarms : float
        How often independent rows may seem to depend on one another.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=4000)
    >>> correlated_rows(noise[:, None]), correlated_rows(np.sort(noise)[:, None])
    (0, 0)
    >>> series = np.convolve(noise, [1.0, 0.8, 0.5, 0.3])
    >>> correlated_rows(series[:, None])
    2
    """
    number = len(rows) if n is None else n
    starts, lags = serial_lags(number)
    if not len(starts):
        return 0
    some = serial_rows(number)
    rows = rows[some] if n is None else rows
    places = np.searchsorted(some, starts[:, None] + np.concatenate([[0], lags]))
    sure = sure_of(len(starts), rows.shape[1] if p is None else p, alarms)
    parts = (rows[:, first : first + COLUMNS] for first in range(0, rows.shape[1], COLUMNS))
    return max((_last_lag(part, places, lags, sure) for part in parts), default=0)


def _last_lag(rows: NDArray[Any], places: Index, lags: Index, sure: float) -> int:
    """The largest lag of a likeness that is no chance; 0 for independent and for sorted rows.

    `places` are those of the rows, and of the rows at each lag from them, (rows, 1 + lags).
    """
    waves = _waves(rows, places[:, 0])
    alike, skew = _likeness(waves[..., places[:, :2].T])
    # Where a value is rare, chance puts two of them side by side more often than a normal law says.
    squared = sure**2 - 1.0 / len(places)
    limits = sure + squared * skew**2 / 6.0
    found = 0
    for j in np.flatnonzero((np.abs(alike[..., 0]) > limits).any(axis=1)):
        if not _sorted_column(rows[:, j], places):
            likeness = _likeness(waves[j : j + 1][..., places.T])[0][0]
            beyond = (np.abs(likeness) > limits[j][:, None]).any(axis=0)
            found = max(found, int(lags[np.flatnonzero(beyond)[-1]]))
    return found


def _down(here: NDArray[Any], next_: NDArray[Any]) -> int:
    """Steps down, or up where those are fewer."""
    return int(min(np.count_nonzero(next_ < here), np.count_nonzero(next_ > here)))


def _sorted(here: NDArray[Any], next_: NDArray[Any]) -> bool:
    """Whether rows are sorted, perhaps inside groups."""
    return bool(_down(here, next_) <= max((1.0 - ASCENTS) * len(here), DESCENTS))


def _sorted_column(column: NDArray[Any], places: Index, later: int = 1) -> bool:
    """Whether a column is sorted, or goes along with a sorted one.

    That is told by its likeness at the last lags, so many.
    """
    values = column[places]
    if _sorted(values[:, 0], values[:, 1]):
        return True
    waves = _waves(column[:, None], places[:, 0])
    likeness = _likeness(waves[..., places.T])[0][0]
    first = likeness[np.argmax(np.abs(likeness[:, 0]))]
    chance = (1.0 - first[0]) / np.sqrt(len(values))  # what weak likeness is uncertain by
    kept = float(np.mean(first[-later:]))
    if not (first[0] > 0.0 and kept > KEPT * first[0] - chance / np.sqrt(later)):
        return False
    rank = _ranks(column, places[:, 0])[places[:, :3]]
    one, two = (np.mean((rank[:, k] - rank[:, 0]) ** 2) for k in (1, 2))
    down = _down(values[:, 0], values[:, 1])
    return bool(two < (1.0 + ROUGH * first[0] + chance) * one or down < ONE_WAY * len(values))


def _ranks(column: NDArray[Any], first: Index) -> Array:
    """Places of values among those of some rows, as shares of their number."""
    pool = np.sort(column[first])
    low, high = (np.searchsorted(pool, column, side) for side in ("left", "right"))
    return np.asarray((low + high) / (2.0 * len(pool)))


def _waves(rows: NDArray[Any], first: Index) -> Array:
    """Two waves of the ranks of every column among those of some rows, (p, 2, n)."""
    ranks = np.stack([_ranks(column, first) for column in rows.T])
    return np.cos(np.pi * np.array([1.0, 2.0])[:, None] * ranks[:, None])


def _likeness(waves: Array) -> tuple[Array, Array]:
    """Correlations of waves at each lag, (p, 2, lags), and how skewed the waves are, (p, 2).

    Both are 0 where nothing varies.

    `waves` are those at each row, and so many rows later, (p, 2, 1 + lags, rows).
    """
    waves = waves - waves.mean(axis=-1, keepdims=True)
    squares = waves * waves
    spread = np.sqrt(np.mean(squares, axis=-1))
    products = np.mean(waves[:, :, :1] * waves[:, :, 1:], axis=-1)
    scale = spread[..., :1] * spread[..., 1:]
    likeness = np.divide(products, scale, out=np.zeros_like(products), where=scale > 1e-12)
    cubes, own = np.mean(squares[:, :, 0] * waves[:, :, 0], axis=-1), spread[..., 0] ** 3
    return likeness, np.divide(cubes, own, out=np.zeros_like(cubes), where=own > 1e-12)
