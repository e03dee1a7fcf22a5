"""Serial dependence: a check that warns of it, the length of blocks, and labels of blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._types import Array, Index
from nosplit.errors import Caveat, DependentRowsWarning

__all__ = [
    "about_strata",
    "block_labels",
    "block_length",
    "check_jointly",
    "check_rows",
    "checked_rows",
]

# Rows that the check reads at most; of larger samples one row in so many, but no fewer than the
# last, so that the check takes a small part of the time of any test.
MAX_ROWS, ONE_IN, MIN_ROWS = 5_000, 500, 1_000
MAX_COLUMNS = 250
# Rate at which the check warns of independent rows, over all columns of all samples.
FALSE_ALARM_RATE = 1e-3
# Level of the bound on autocorrelations that sets the length of blocks.
BLOCK_ALPHA = 0.05
# Expected number of neighbours that share a rare value, from which the normal bound holds: the
# usual rule for tables of counts.
MIN_EXPECTED = 5.0
# Values whose autocorrelations are computed together.
MAX_VALUES_AT_ONCE = 1 << 22

ADVICE = (
    "If rows are in time order, use series=True; if they come in groups, groups=. If they are only "
    "sorted, ignore this."
)


def checked_rows(n: int) -> range:
    """Return the neighbouring rows, of n, that the check reads: a run that starts at random."""
    count = n if n <= MAX_ROWS else max(MIN_ROWS, min(n // ONE_IN, MAX_ROWS))
    start = int(np.random.default_rng([n, 1]).integers(n - count + 1))
    return range(start, start + count)


def check_rows(*samples: NDArray[Any], advice: str = ADVICE) -> list[Caveat]:
    """Warn if neighbouring rows of a sample are alike.

    Parameters
    ----------
    samples : array, shape (n, p)
        The rows of each sample in their order, or only its `checked_rows`.
    advice : str
        What to do, for the end of the message.

    Examples
    --------
    >>> noise = np.random.default_rng(3).normal(size=(400, 1))
    >>> len(check_rows(noise)), len(check_rows(np.cumsum(noise, axis=0)))
    (0, 1)
    """
    found = _largest_autocorrelation(samples)
    return [] if found is None else [_alike(found, advice)]


def check_jointly(x: NDArray[Any], y: NDArray[Any], advice: str = ADVICE) -> list[Caveat]:
    """Warn if neighbouring rows are alike in both of two variables that are observed together.

    If the rows of one variable are independent, permuting them is exact whatever the other does.
    """
    found = [_largest_autocorrelation([rows]) for rows in (x, y)]
    alike = [r for r in found if r is not None]
    return [_alike(min(alike), advice)] if len(alike) == 2 else []


def _alike(autocorrelation: float, advice: str) -> Caveat:
    text = (
        f"Neighbouring rows are alike (autocorrelation {autocorrelation:.2f}), as in a time "
        f"series; then p is too small. {advice}"
    )
    return DependentRowsWarning, text


def _largest_autocorrelation(samples: Sequence[NDArray[Any]]) -> float | None:
    """Largest autocorrelation at lag 1 beyond the normal bound; None if there is none."""
    some = [_values_read(rows) for rows in samples]
    columns = sum(rows.shape[1] for rows in some)
    if not columns:
        return None
    z = -float(special.ndtri(FALSE_ALARM_RATE / columns))
    largest = 0.0
    for rows in some:
        values, n = _bounded(rows), len(rows)
        squares = values * values
        total = squares.sum(axis=0)
        # A column in which few values differ from the rest has no normal law.
        fourth = np.einsum("ij,ij->j", squares, squares) * n
        normal = (total > 0) & (fourth * fourth * MIN_EXPECTED <= total**4 * n)
        alike = np.einsum("ij,ij->j", values[:-1], values[1:])[normal] / total[normal]
        if len(alike) and alike.max() * math.sqrt(n) > z:
            largest = max(largest, float(alike.max()))
    return largest or None


def _values_read(rows: NDArray[Any]) -> Array:
    """The rows and columns that the check reads, as numbers."""
    n, p = rows.shape
    if n > MAX_ROWS:
        some = checked_rows(n)
        rows = rows[some.start : some.stop]
    if p > MAX_COLUMNS:
        rows = rows[:, np.random.default_rng([p, 2]).permutation(p)[:MAX_COLUMNS]]
    return np.asarray(rows, dtype=np.float64)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _bounded(rows: Array) -> Array:
    """Columns on a bounded scale, d / (|d| + mean |d|) about the mean, with mean 0.

    Bounded, so that a few outliers do not decide; 0 in columns that are constant or not finite.
    """
    rows = rows - rows.mean(axis=0)
    size = np.abs(rows)
    size += size.mean(axis=0)
    rows /= size
    middle = rows.mean(axis=0)
    rows -= middle
    dead = ~np.isfinite(middle)
    if dead.any():
        rows[:, dead] = 0.0
    return rows


def block_length(*samples: NDArray[Any]) -> int | None:
    """Return the number of rows of a block that is longer than the rows depend on one another.

    Twice the first lag at which no column's autocorrelation inside any sample exceeds the normal
    bound at .05 over all columns and samples, and at least the cube root of the number of rows.
    None if there is no such lag up to a quarter of the rows of the smallest sample.

    Parameters
    ----------
    samples : array, shape (n, p)
        The rows of each sample in time order.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(1000, 2))
    >>> block_length(noise)
    10
    >>> block_length(np.sort(noise, axis=0)) is None
    True
    """
    least = min(map(len, samples))
    z = -float(special.ndtri(BLOCK_ALPHA / (2.0 * sum(rows.shape[1] for rows in samples))))
    beyond = np.zeros(least // 4, np.bool_)
    for rows in samples:
        for part in _column_chunks(rows):
            r = _column_autocorrelations(_bounded(part), len(beyond))
            beyond |= (np.abs(r) * math.sqrt(len(rows)) > z).any(axis=1)
    free = np.flatnonzero(~beyond)
    if not len(free):
        return None
    return max(2 * (int(free[0]) + 1), math.ceil(round(math.cbrt(least), 9)))


def _column_chunks(rows: NDArray[Any]) -> list[Array]:
    """Some columns at a time."""
    step = max(1, MAX_VALUES_AT_ONCE // max(len(rows), 1))
    return [
        np.asarray(rows[:, first : first + step], dtype=np.float64)
        for first in range(0, rows.shape[1], step)
    ]


def _column_autocorrelations(values: Array, lags: int) -> Array:
    """Autocorrelations of columns at the lags 1 to `lags`, (lags, p); 0 in constant ones."""
    n = len(values)
    spectrum = np.abs(np.fft.rfft(values, 2 * n, axis=0)) ** 2
    sums = np.fft.irfft(spectrum, 2 * n, axis=0)[: lags + 1]
    return np.asarray(sums[1:] / np.where(sums[0] > 0, sums[0], 1.0))


def block_labels(sizes: Sequence[int], length: int) -> Index:
    """Number the blocks of consecutive rows of several samples, which follow one another.

    Blocks start at row 0 of each sample; rows beyond its last whole block are labelled -1.

    Examples
    --------
    >>> block_labels((5, 4), 2)
    array([ 0,  0,  1,  1, -1,  2,  2,  3,  3])
    """
    parts, first = [], 0
    for n in sizes:
        block = np.arange(n) // length
        whole = n // length
        parts.append(np.where(block < whole, first + block, -1))
        first += whole
    return np.concatenate(parts)


def about_strata(rows: NDArray[Any], codes: NDArray[Any]) -> Array:
    """Subtract from each row the mean of its stratum."""
    _, own = np.unique(codes, return_inverse=True)
    order = np.argsort(own, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(own[order])) + 1])
    sums = np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)
    return np.asarray(rows - (sums / np.bincount(own)[:, None])[own])
