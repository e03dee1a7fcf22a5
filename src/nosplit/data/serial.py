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
from nosplit.kernels.derived.orders import rank_shares

__all__ = [
    "correlated_rows",
    "deciding",
    "few_steps",
    "in_order",
    "lag_of_variables",
    "serial_lags",
    "serial_rows",
    "sorted_column",
    "sure_of",
    "waves_of",
]

# Rows looked at, the fewest of them, and how many runs as long as the longest lag there must be.
MOST_ROWS, FEWEST_ROWS, RUNS = 5_000, 48, 24
# How often independent rows may seem to depend on one another, whatever their columns.
FALSE_ALARMS = 2e-5
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


def sure_of(n: int, p: int) -> float:
    """A correlation of n pairs of neighbours, in one of p columns, that is no chance."""
    return -float(special.ndtri(FALSE_ALARMS / (4.0 * max(p, 1)))) / float(np.sqrt(n))


def correlated_rows(rows: NDArray[Any], n: int | None = None, p: int | None = None) -> int:
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
    sure = sure_of(len(starts), rows.shape[1] if p is None else p)
    parts = (rows[:, first : first + COLUMNS] for first in range(0, rows.shape[1], COLUMNS))
    return max((_last_lag(part, places, lags, sure) for part in parts), default=0)


def lag_of_variables(x: NDArray[Any], y: NDArray[Any], n: int | None = None) -> int:
    """The lag up to which rows of both variables depend on those before them.

    One that does not may be permuted, whatever the other does; `deciding` knows of time.

    Parameters
    ----------
    x, y : array, shape (n, p)
        Rows in their order, observed together.
    n : int, optional
        As in `correlated_rows`.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=4000)
    >>> series, time = np.convolve(noise, [1.0, 0.8, 0.5])[:4000, None], np.arange(4000.0)[:, None]
    >>> lag_of_variables(series, noise[:, None]), lag_of_variables(time, series)
    (0, 2)
    """
    which = deciding(bool(in_order(x).any()), bool(in_order(y).any()))
    return min(correlated_rows((x, y)[k], n) for k in which)


def deciding(*ordered: bool) -> tuple[int, ...]:
    """Numbers of the variables, of two, that decide whether rows depend on those before them.

    One that is in order, time, say, depends on its past as much as can be: the other one decides,
    as neighbours that are alike in it are so because of the first, or because it is a series.
    """
    others = tuple(k for k, own in enumerate(ordered) if not own)
    return others or tuple(range(len(ordered)))


def in_order(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Columns that are sorted, up or down, but for a few steps: their runs are long, (p,)."""
    here, later = rows[:-1], rows[1:]
    ways = (np.count_nonzero(way, axis=0) for way in (later < here, later > here))
    down, up = np.sort(list(ways), axis=0)
    return np.asarray(few_steps(down, up, len(rows)))


def few_steps(down: Any, up: Any, n: int) -> Any:
    """Whether n rows have so few steps down, and so many up, that they are sorted."""
    few = max((1.0 - ASCENTS) * n, min(DESCENTS, n // 12))
    return (up > 0) & (down <= few) & (up > 5 * down)


def _last_lag(rows: NDArray[Any], places: Index, lags: Index, sure: float) -> int:
    """The largest lag of a likeness that is no chance; 0 for independent and for sorted rows.

    `places` are those of the rows, and of the rows at each lag from them, (rows, 1 + lags).
    """
    waves = waves_of(rows)
    alike, skew = _likeness(waves[..., places[:, :2].T])
    # Where a value is rare, chance puts two of them side by side more often than a normal law says.
    squared = sure**2 - 1.0 / len(places)
    limits = sure + squared * skew**2 / 6.0
    found = 0
    for j in np.flatnonzero((np.abs(alike[..., 0]) > limits).any(axis=1)):
        if not sorted_column(rows[:, j], places):
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


def sorted_column(column: NDArray[Any], places: Index, later: int = 1) -> bool:
    """Whether a column is sorted, or goes along with a sorted one.

    That is told by its likeness at the last lags, so many.
    """
    values = column[places]
    if _sorted(values[:, 0], values[:, 1]):
        return True
    waves = waves_of(column[:, None])
    likeness = _likeness(waves[..., places.T])[0][0]
    first = likeness[np.argmax(np.abs(likeness[:, 0]))]
    chance = (1.0 - first[0]) / np.sqrt(len(values))  # what weak likeness is uncertain by
    kept = float(np.mean(first[-later:]))
    if not (first[0] > 0.0 and kept > KEPT * first[0] - chance / np.sqrt(later)):
        return False
    rank = rank_shares(column[:, None])[:, 0][places[:, :3]]
    one, two = (np.mean((rank[:, k] - rank[:, 0]) ** 2) for k in (1, 2))
    down = _down(values[:, 0], values[:, 1])
    return bool(two < (1.0 + ROUGH * first[0] + chance) * one or down < ONE_WAY * len(values))


def waves_of(rows: NDArray[Any], count: int = 2) -> Array:
    """The first waves of the ranks of every column, one or two, (p, count, n)."""
    return np.cos(np.pi * np.arange(1.0, count + 1.0)[:, None] * rank_shares(rows).T[:, None])


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
