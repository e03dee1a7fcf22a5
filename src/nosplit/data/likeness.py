"""Few rows: how much they are like those next to them, and what they may be.

Short series are not seen for certain: the likeness of twenty rows of a series is one or two
standard errors, as independent rows have it, too. So it is not asked whether rows are a series, but
how likely that is, and p-values are the mean over what they may be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.lazy import special
from nosplit._support.types import Array, Index
from nosplit.data.serial import (
    FEWEST_ROWS,
    in_order,
    serial_lags,
    sorted_column,
    waves_of,
)
from nosplit.methods.normal.doubt import Doubt

__all__ = [
    "GONE",
    "MOST_SUSPECTED",
    "UNSEEN",
    "Likeness",
    "can_be_suspected",
    "doubt_of",
    "likeness_of",
    "rows_apart",
]

# Rows and columns of samples that are looked at: with more rows series are seen for certain.
FEWEST_SUSPECTED, MOST_SUSPECTED, MOST_COLUMNS = 12, 1_000, 100
# How likely rows are to be a series before they are looked at, series they may be, by the
# correlation of neighbours, and how much likelier one is than another. The first hardly matters,
# and takes many rows to be told from independence.
DOUBTED = 1.0 / 6.0
CORRELATIONS, ODDS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9), (1.0, 3.0, 3.0, 3.0, 3.0, 3.0)
# How often independent rows may be warned of, all samples of a test together; and those whose
# correlation is at least the last, as few rows have it that are a slow series.
SUSPICIONS, SLOW, STRONG = 0.01, 0.1, 0.45
# Rows of a block, in memories of the series: (1 + ρ) / (1 - ρ) rows are as good as one. At least so
# many, and more of a series that has more of them: a multiple, and a power of those it has.
MEMORIES, LONGER, LENGTHENING = 3.5, 1.25, 0.4
# Rows that are so many lags apart are taken for independent. Neighbours whose correlation is no
# more than the second are left as they are; that of others has faded where it is the third, or the
# fourth, as that of few rows of a series seems smaller than it is.
THIN, HARMLESS, FADED, GONE = 2, 0.1, 0.05, 0.02
# Standard errors of a likeness from which sorted rows are told from series by what the order of
# rows explains of it, so much at least; and by how it fades.
MAY_BE, EXPLAINED, CLEAR = 1.28, 0.8, 3.5
# Means for each row, at the most, that a correlation is corrected for.
MOST_LOST = 0.25
# Lags at which sorted rows are told from short series, whose longest lag is no longer: together,
# since one lag of so few rows says little.
FIRST_LAGS = 4


@dataclass(frozen=True)
class Likeness:
    """Likeness of the rows of short samples to those next to them.

    Attributes
    ----------
    chance : float
        Share of samples of independent rows that are as much alike.
    correlation : float
        The correlation of neighbours.
    error : float
        Its standard error; infinite where rows were not looked at.
    """

    chance: float = 1.0
    correlation: float = 0.0
    error: float = math.inf

    @property
    def suspected(self) -> bool:
        """Whether to warn of rows: one test of independent rows in a hundred.

        Of a single sample of 20 rows one in fifteen: a chance of one in a hundred would miss a
        fourth of series that forget slowly.
        """
        return self.chance <= (SLOW if self.correlation >= STRONG else SUSPICIONS)

    @property
    def shares(self) -> Array:
        """Probabilities that rows are independent, or a series of each of `CORRELATIONS`."""
        shares = np.array([1.0 - DOUBTED, *(DOUBTED * own / sum(ODDS) for own in ODDS)])
        off = (self.correlation - np.array([0.0, *CORRELATIONS])) / self.error
        shares = shares * np.exp(0.5 * (np.min(off * off) - off * off))
        return np.asarray(shares / shares.sum())

    def block_in(self, sizes: tuple[int, ...]) -> int:
        """Rows of a block that is longer than what such a series remembers; 1 if not known."""
        if math.isinf(self.error):
            return 1
        kept = min(max(self.correlation, 0.0), 0.99)
        memory, least = (1.0 + kept) / (1.0 - kept), min(sizes)
        block = math.ceil(max(MEMORIES, LONGER * (least / memory) ** LENGTHENING) * memory)
        return int(min(block, least))


# Of rows that were not looked at.
UNSEEN = Likeness()


def doubt_of(*variables: Likeness) -> Doubt | None:
    """Say what rows may be, by their likeness; None where they were not looked at.

    Of several variables it takes all of them: neighbours are alike by the product of their
    correlations.

    Examples
    --------
    >>> doubt = doubt_of(Likeness(0.01, 0.3, 0.1))
    >>> round(doubt.series, 2), doubt_of(Likeness()) is None
    (0.83, True)
    """
    if any(math.isinf(own.error) for own in variables):
        return None
    found: dict[float, float] = {}
    for ways in product(*(zip((0.0, *CORRELATIONS), own.shares, strict=True) for own in variables)):
        alike = math.prod(way[0] for way in ways)
        variance = (1.0 + alike) / (1.0 - alike)
        found[variance] = found.get(variance, 0.0) + math.prod(float(way[1]) for way in ways)
    return Doubt(tuple(found), tuple(found.values()), DOUBTED ** len(variables))


def likeness_of(*samples: NDArray[Any], along: bool = True, means: int | None = None) -> Likeness:
    """Find how much rows next to one another are alike, in short samples of the same columns.

    Short series are not seen for certain. Samples of fewer than a dozen or of more than a thousand
    rows, or of more than a hundred columns, are not looked at.

    Parameters
    ----------
    samples : array, shape (n, p)
        Rows in their order, of one sample or of several.
    along : bool
        Whether columns that seem to go along with a sorted one that is not there do not count.
    means : int, optional
        Means that rows are about, of strata, say; one of each sample if not given.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(3).normal(size=60)
    >>> series = np.convolve(noise, [1.0, 0.5])[:, None]
    >>> likeness_of(series).suspected, likeness_of(noise[:, None]).suspected
    (True, False)
    """
    short = [rows for rows in samples if can_be_suspected(len(rows), rows.shape[1])]
    if not short:
        return UNSEEN
    waves = [_waves_in_order(rows, along) for rows in short]
    counted = np.array([len(w) * np.any(w, axis=0) for w in waves], np.float64).sum(axis=0)
    waves, counted = [w[:, counted > 0.0] for w in waves], counted[counted > 0.0]
    if not len(counted):
        return UNSEEN
    # Sums of products about their means over all orders of the rows, with their variances and
    # third moments over these: of all columns together, and of single ones.
    sums = np.sum([np.sum(w[:-1] * w[1:], axis=0) + np.any(w, axis=0) for w in waves], axis=0)
    squares = sum(len(w) * float(np.sum((w.T @ w / len(w)) ** 2)) for w in waves)
    cubes = np.sum([len(w) * np.mean(w**3, axis=0) ** 2 for w in waves], axis=0)
    chance = _chance(float(sums.sum()), squares, float(cubes.sum()))
    correlation = float(sums.sum() / counted.sum())
    error = math.sqrt(squares) / float(counted.sum())
    columns = len(counted)
    if columns > 1:
        each = zip(sums.tolist(), counted.tolist(), cubes.tolist(), strict=True)
        chance = min(1.0, 2.0 * min(chance, columns * min(_chance(*own) for own in each)))
        own_error = 1.0 / math.sqrt(float(counted.max()))
        largest = float((sums / counted).max()) - math.sqrt(2.0 * math.log(columns)) * own_error
        correlation, error = max((correlation, error), (largest, own_error))
    # A correlation of few rows is too small, as their mean is not that of the series.
    lost = min(MOST_LOST, (means or len(short)) / sum(map(len, short)))
    return Likeness(
        chance, correlation + (1.0 + 4.0 * correlation) * lost, error * (1.0 + 4.0 * lost)
    )


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

    They are known to up to a lag: twice that, and so far that the product of their correlations has
    faded, or that the fewest rows are left.

    Examples
    --------
    >>> rows_apart(4), rows_apart(4, Likeness(0.0, 0.9, 0.1), n=200), rows_apart(0)
    (8, 29, 1)
    """
    if not lag:
        return 1
    step = THIN * lag
    together = math.prod(min(max(own.correlation, 0.01), 0.99) for own in variables)
    if not variables or together <= HARMLESS:
        return step
    return max(step, min(math.ceil(math.log(faded) / math.log(together)), n // fewest))


def can_be_suspected(n: int, p: int) -> bool:
    """Whether a sample of n rows of p columns is looked at."""
    return FEWEST_SUSPECTED <= n <= MOST_SUSPECTED and p <= MOST_COLUMNS


def _waves_in_order(rows: NDArray[Any], along: bool) -> Array:
    """A wave of the ranks of every column, standardised, (n, p); 0 for columns that are sorted."""
    n = len(rows)
    waves = waves_of(rows, 1)[:, 0].T
    waves = waves - waves.mean(axis=0)
    spread = np.sqrt(np.mean(waves * waves, axis=0))
    waves = np.divide(waves, spread, out=np.zeros_like(waves), where=spread > 1e-12)
    ordered = in_order(rows)
    alike = np.einsum("ij,ij->j", waves[:-1], waves[1:]) / n
    if ordered.any() or (along and n >= FEWEST_ROWS):
        # What goes along with the order of rows is alike because of that: by its square.
        order = np.sqrt(2.0) * np.cos(np.pi * (np.arange(n) + 0.5) / n)
        explained = (order @ waves / n) ** 2
        felt = alike * math.sqrt(n) > MAY_BE
        ordered |= felt & (explained >= EXPLAINED * alike)
    if along and n >= FEWEST_ROWS:
        for j in np.flatnonzero(~ordered & (alike * math.sqrt(n) > CLEAR)).tolist():
            ordered[j] = _sorted_in_short(rows, j)
    return np.where(ordered, 0.0, waves)


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
    return sorted_column(rows[:, j], *_first_places(len(rows)))
