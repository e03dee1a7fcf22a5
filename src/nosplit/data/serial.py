"""Whether rows depend on those before them: neighbours against rows far apart.

Dealing rows at random makes any order of independent rows harmless, sorted ones included. It does
not make dependent rows independent. What tells the two apart is how the likeness of rows fades
with their distance. In a column that is sorted, or goes along with a sorted one, it hardly does,
and neighbours differ by noise: two steps lead no farther than one. In a series in time likeness
fades, or comes and goes, and steps add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.lazy import special
from nosplit._support.types import Array, Index
from nosplit.kernels.derived.orders import rank_shares

__all__ = [
    "SUSPECTED_ROWS",
    "Likeness",
    "can_be_suspected",
    "correlated_rows",
    "likeness_of",
    "rows_apart",
    "serial_lags",
    "serial_rows",
    "sure_of",
]

# Rows looked at, the fewest of them, and how many runs as long as the longest lag there must be.
MOST_ROWS, FEWEST_ROWS, RUNS = 5_000, 48, 24
# How often independent rows may seem to depend on one another, whatever their columns; how often
# they may be suspected of it, how often doubted, and how often faintly, all samples of a test
# together.
FALSE_ALARMS, SUSPICIONS, DOUBTS, FAINT = 2e-5, 0.01, 0.1, 0.2
# How often each of several variables may be suspected, where it takes all of them.
ALL_ALIKE = 0.05
# A correlation of neighbours that is felt: one sample in ten is rejected at .05, or more. And one
# that few rows show if they are a series that forgets slowly: they are suspected where they would
# be doubted.
FELT, STRONG = 0.225, 0.45
# Rows and columns of samples that can be suspected: with more rows series are seen for certain.
FEWEST_SUSPECTED, SUSPECTED_ROWS, SUSPECTED_COLUMNS = 12, 1_000, 100
# Standard errors of a likeness from which sorted rows are told from series by what the order of
# rows explains of it, so much at least; and by how it fades.
MAY_BE, EXPLAINED, CLEAR = 1.28, 0.8, 3.5
# Rows of a block, in memories of the series: (1 + ρ) / (1 - ρ) rows are as good as one. And how
# many blocks there are at least if rows are only doubted.
MEMORIES, MANY_BLOCKS = 3.5, 10
# Rows that are so many lags apart are taken for independent. Neighbours whose correlation is no
# more than the second are left as they are; that of others has faded where it is the third.
THIN, HARMLESS, FADED = 2, 0.1, 0.05
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


def sure_of(n: int, p: int) -> float:
    """A correlation of n pairs of neighbours, in one of p columns, that is no chance."""
    return -float(special.ndtri(FALSE_ALARMS / (4.0 * max(p, 1)))) / float(np.sqrt(n))


@dataclass(frozen=True)
class Likeness:
    """Likeness of the rows of short samples to those next to them.

    Attributes
    ----------
    chance : float
        Share of samples of independent rows that are as much alike.
    correlation : float
        The correlation of neighbours.
    rows : int
        Rows of all samples.
    """

    chance: float = 1.0
    correlation: float = 0.0
    rows: int = 0

    @property
    def suspected(self) -> bool:
        """Whether rows may well be a series: one test of independent rows in a hundred.

        Of a single sample of 20 rows one in fifteen: a chance of one in a hundred would miss a
        fourth of series that forget slowly.
        """
        return self.chance <= (DOUBTS if self.correlation >= STRONG else SUSPICIONS)

    @property
    def doubted(self) -> bool:
        """Whether they might be one that matters: one in five, and fewer the more rows there are.

        Enough for nine in ten series whose neighbours are felt.
        """
        enough = float(special.ndtr(1.28 - FELT * math.sqrt(self.rows)))
        return self.chance <= max(SUSPICIONS, min(FAINT, enough))

    def block_in(self, sizes: tuple[int, ...], *, labels: bool = False) -> int:
        """Rows of a block that is longer than what such a series remembers.

        Where rows are only doubted, as many as leave blocks enough to reject: ten, or of fewer than
        a hundred rows as many as a block has, where `labels` of blocks are permuted. 1 where there
        are too few for that, where most rows of a sample would be lost, or rows are not doubted.
        """
        if not self.doubted:
            return 1
        kept = min(max(self.correlation, 0.0), 0.99)
        block, least = math.ceil(MEMORIES * (1.0 + kept) / (1.0 - kept)), min(sizes)
        if self.suspected:
            return min(block, least)
        most = max(least // MANY_BLOCKS, math.isqrt(least) if labels else 1)
        return max(1, min(block, most)) if max(sizes) <= 2 * least else 1


def likeness_of(*samples: NDArray[Any], along: bool = True) -> Likeness:
    """Find how much rows next to one another are alike, in short samples of the same columns.

    Short series are not seen for certain. Samples of fewer than a dozen or of more than a thousand
    rows, or of more than a hundred columns, are not looked at.

    Parameters
    ----------
    samples : array, shape (n, p)
        Rows in their order, of one sample or of several.
    along : bool
        Whether columns that seem to go along with a sorted one that is not there do not count.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(3).normal(size=60)
    >>> series = np.convolve(noise, [1.0, 0.5])[:, None]
    >>> correlated_rows(series), likeness_of(series).suspected
    (0, True)
    >>> likeness_of(noise[:, None]).doubted
    False
    """
    short = [rows for rows in samples if can_be_suspected(len(rows), rows.shape[1])]
    if not short:
        return Likeness()
    waves = [_waves_in_order(rows, along) for rows in short]
    counted = np.array([len(w) * np.any(w, axis=0) for w in waves], np.float64).sum(axis=0)
    waves, counted = [w[:, counted > 0.0] for w in waves], counted[counted > 0.0]
    if not len(counted):
        return Likeness()
    # Sums of products about their means over all orders of the rows, with their variances and
    # third moments over these: of all columns together, and of single ones.
    sums = np.sum([np.sum(w[:-1] * w[1:], axis=0) + np.any(w, axis=0) for w in waves], axis=0)
    squares = sum(len(w) * float(np.sum((w.T @ w / len(w)) ** 2)) for w in waves)
    cubes = np.sum([len(w) * np.mean(w**3, axis=0) ** 2 for w in waves], axis=0)
    chance = _chance(float(sums.sum()), squares, float(cubes.sum()))
    correlation = float(sums.sum() / counted.sum())
    columns = len(counted)
    if columns > 1:
        each = zip(sums.tolist(), counted.tolist(), cubes.tolist(), strict=True)
        chance = min(1.0, 2.0 * min(chance, columns * min(_chance(*own) for own in each)))
        by_chance = math.sqrt(2.0 * math.log(columns) / float(counted.max()))
        correlation = max(correlation, float((sums / counted).max()) - by_chance)
    # A correlation of few rows is too small, as their mean is not that of the series.
    correlation += (1.0 + 4.0 * correlation) * len(short) / sum(map(len, short))
    return Likeness(chance, correlation, sum(map(len, short)))


def _chance(total: float, variance: float, third: float) -> float:
    """Chance that a sum of independent rows is as large, by its variance and third moment.

    Where a value is rare, two of them lie side by side more often than a normal law says.
    """
    z, skew = total / math.sqrt(variance), third / variance**1.5
    if skew < 1e-3:
        return float(special.ndtr(-z))
    shape = 4.0 / skew**2  # of a gamma law with this skewness
    return float(special.gammaincc(shape, max(0.0, shape + z * math.sqrt(shape))))


def rows_apart(
    lag: int, *variables: Likeness, n: int = 0, fewest: int = 4, faded: float = FADED
) -> int:
    """The distance of rows, of n, that do not depend on one another in all of the variables.

    They are known to up to a lag, or few rows of every variable look alike, as those of independent
    samples seldom do: then so far that the product of their correlations has faded, or that the
    fewest rows are left.

    Examples
    --------
    >>> rows_apart(4), rows_apart(0, Likeness(0.001, 0.5), n=60)
    (8, 5)
    """
    step = max(1, THIN * lag)
    if len(variables) == 1:
        alike = variables[0].doubted
    else:
        alike = bool(variables) and max(own.chance for own in variables) <= ALL_ALIKE
    if not alike:
        return step
    together = math.prod(min(max(own.correlation, 0.01), 0.99) for own in variables)
    if together <= HARMLESS:
        return step
    far = math.ceil(math.log(faded) / math.log(together))
    if len(variables) == 1 and variables[0].chance > DOUBTS:  # faintly
        far = min(far, 2)
    return max(step, min(far, n // fewest))


def can_be_suspected(n: int, p: int) -> bool:
    """Whether a sample of n rows of p columns is one of which series are looked for twice."""
    return FEWEST_SUSPECTED <= n <= SUSPECTED_ROWS and p <= SUSPECTED_COLUMNS


def _waves_in_order(rows: NDArray[Any], along: bool) -> Array:
    """A wave of the ranks of every column, standardised, (n, p); 0 for columns that are sorted."""
    n = len(rows)
    waves = _waves(rows, 1)[:, 0].T
    waves = waves - waves.mean(axis=0)
    spread = np.sqrt(np.mean(waves * waves, axis=0))
    waves = np.divide(waves, spread, out=np.zeros_like(waves), where=spread > 1e-12)
    here, later = rows[:-1], rows[1:]
    ways = (np.count_nonzero(way, axis=0) for way in (later < here, later > here))
    down, up = np.sort(list(ways), axis=0)
    few = max((1.0 - ASCENTS) * n, min(DESCENTS, n // 12))
    in_order = (down == 0) | ((down <= few) & (up > 5 * down))
    alike = np.einsum("ij,ij->j", waves[:-1], waves[1:]) / n
    if in_order.any() or (along and n >= FEWEST_ROWS):
        # What goes along with the order of rows is alike because of that: by its square.
        order = np.sqrt(2.0) * np.cos(np.pi * (np.arange(n) + 0.5) / n)
        explained = (order @ waves / n) ** 2
        felt = alike * math.sqrt(n) > MAY_BE
        in_order |= felt & (explained >= EXPLAINED * alike)
    if along and n >= FEWEST_ROWS:
        for j in np.flatnonzero(~in_order & (alike * math.sqrt(n) > CLEAR)).tolist():
            in_order[j] = _sorted_in_short(rows, j)
    return np.where(in_order, 0.0, waves)


def _first_places(n: int) -> tuple[Index, int]:
    """Places of rows of a short sample, and of those at each lag from them, (rows, 1 + lags).

    Second is how many of the last lags tell sorted rows.
    """
    starts, lags = serial_lags(n)
    later = 1
    if not len(lags) or lags[-1] <= FIRST_LAGS:
        starts, lags = np.arange(n - FIRST_LAGS), np.arange(1, FIRST_LAGS + 1)
        later = FIRST_LAGS - 1
    return starts[:, None] + np.concatenate([[0], lags]), later


def _sorted_in_short(rows: NDArray[Any], j: int) -> bool:
    """Whether a column of a short sample is sorted, or goes along with one that is."""
    return _sorted_column(rows[:, j], *_first_places(len(rows)))


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


def _last_lag(rows: NDArray[Any], places: Index, lags: Index, sure: float) -> int:
    """The largest lag of a likeness that is no chance; 0 for independent and for sorted rows.

    `places` are those of the rows, and of the rows at each lag from them, (rows, 1 + lags).
    """
    waves = _waves(rows)
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
    waves = _waves(column[:, None])
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


def _waves(rows: NDArray[Any], count: int = 2) -> Array:
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
