"""Whether rows depend on those before them: neighbours against rows far apart.

Dealing rows at random makes any order of independent rows harmless, sorted ones included. It does
not make dependent rows independent. What tells the two apart is how fast the likeness of rows
fades with their distance: in a sorted column it hardly does; in a series in time it does, or it
comes and goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array, Index

__all__ = ["correlated_rows", "serial_lags", "serial_rows"]

# Rows looked at, the fewest of them, and how many runs as long as the longest lag there must be.
MOST_ROWS, FEWEST_ROWS, RUNS = 5_000, 48, 24
# Standard errors from which likeness is no chance: a false alarm in some 10⁶ columns.
SURE = 5.0
# Sorted rows: a likeness that keeps this share of itself at the longest lag, or so few steps down,
# as a share and in all, that runs are long: rows sorted inside groups. Neighbours that are more
# alike than this are no column that goes along with a sorted one, but a series that moves slowly.
SORTED, ASCENTS, DESCENTS, SMOOTH = 0.8, 0.98, 3, 0.99


def serial_rows(n: int) -> Index:
    """Numbers of the rows, of n, that are looked at, in ascending order."""
    starts, lags = serial_lags(n)
    return np.unique(starts[:, None] + np.concatenate([[0], lags]))


def serial_lags(n: int) -> tuple[Index, Index]:
    """Rows, and lags at which others are compared with them."""
    if n < FEWEST_ROWS:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    lags: Index = 2 ** np.arange(int(np.log2(n / RUNS)) + 1)
    starts = np.arange(n - int(lags[-1]))
    if len(starts) > MOST_ROWS:
        starts = np.unique(np.linspace(0, len(starts) - 1, MOST_ROWS).astype(np.int64))
    return starts, lags


def correlated_rows(rows: NDArray[Any], n: int | None = None) -> int:
    """The largest lag at which rows still depend on one another; 0 if they seem independent.

    Lags are powers of two, up to a 24th of the rows.

    Parameters
    ----------
    rows : array, shape (n, p)
        The rows in their order.
    n : int, optional
        Where only the `serial_rows` of a sample are given, how many rows it has.

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
    starts, lags = serial_lags(len(rows) if n is None else n)
    if not len(starts):
        return 0
    places = starts[:, None] + np.concatenate([[0], lags])
    if n is not None:
        places = np.searchsorted(serial_rows(n), places)
    return max((_last_lag(rows[:, j], places, lags) for j in range(rows.shape[1])), default=0)


def _last_lag(column: NDArray[Any], places: Index, lags: Index) -> int:
    """The largest lag of a likeness that is no chance; 0 for independent and for sorted rows.

    `places` are those of the rows, and of the rows at each lag from them, (rows, 1 + lags).
    """
    here, next_ = column[places[:, 0]], column[places[:, 1]]
    sure = SURE / np.sqrt(len(places))
    down = min(np.count_nonzero(next_ < here), np.count_nonzero(next_ > here))
    fewest = max((1.0 - ASCENTS) * len(here), DESCENTS)
    if down <= fewest or not (np.abs(_likeness(np.stack([here, next_], axis=1))) > sure).any():
        return 0
    likeness = _likeness(column[places])
    first = likeness[np.argmax(np.abs(likeness[:, 0]))]
    if first[0] < SMOOTH and first[-1] > SORTED * first[0] > 0.0:
        return 0
    return int(lags[np.flatnonzero((np.abs(likeness) > sure).any(axis=0))[-1]])


def _likeness(values: NDArray[Any]) -> Array:
    """Correlations of two waves of the ranks at each lag, (2, lags); 0 where nothing varies.

    `values` are those of one column, (rows, 1 + lags): at each row, and so many rows later.
    """
    pool = np.sort(values[:, 0])
    low, high = (np.searchsorted(pool, values, side) for side in ("left", "right"))
    rank = (low + high) / (2.0 * len(pool))
    waves = np.cos(np.pi * np.array([1.0, 2.0])[:, None, None] * rank)
    waves -= waves.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.mean(waves * waves, axis=1))
    products = np.mean(waves[:, :, :1] * waves[:, :, 1:], axis=1)
    scale = spread[:, :1] * spread[:, 1:]
    return np.asarray(np.divide(products, scale, out=np.zeros_like(products), where=scale > 1e-12))
