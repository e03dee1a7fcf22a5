"""The loops on columns: ranks and bins of pooled rows, and statistics of bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_inner

__all__ = [
    "atoms_in_bins",
    "bin_statistics",
    "bins_by_quantiles",
    "look_up",
    "rank_and_bin",
    "sums_in_bins",
    "sums_of_picked",
]


@compiled_inner
def _mixed(word: Any) -> Any:
    """Well-mixed bits (the last steps of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def rank_and_bin(
    values: Any, order: Any, count: int, twice: Any, code: Any, different: Any, keys: Any
) -> None:
    """Rank and bin columns, (p, n), that `order` sorts; add to a key of each row.

    `twice` are mid-ranks from ½ to n - ½, times two; `different` counts values. Bins have about
    equally many rows; a value that fills a bin has its own. Equal rows have equal keys. Columns in
    another order leave keys, and so the order of rows, as they are, and so does a constant one.
    """
    p, n = order.shape
    for j in range(p):
        own, place = values[j], order[j]
        first, into, part, alone, ties = 0, -1, -1, False, np.uint64(0)
        while first < n:
            stop, value = first + 1, own[place[first]]
            while stop < n and own[place[stop]] == value:
                stop += 1
            rank, before, was_alone = first + stop, part, alone
            part, alone = rank * count // (2 * n), (stop - first) * count >= n
            if part != before or alone or was_alone:
                into += 1
            for i in range(first, stop):
                row = place[i]
                twice[j, row], code[j, row] = rank, into
            ties += _mixed(np.uint64(rank))  # tells columns, whatever their places
            different[j] += 1
            first = stop
        if different[j] > 1:
            for i in range(n):
                keys[i] += _mixed(ties + np.uint64(twice[j, i]))


@compiled
def atoms_in_bins(code: Any, row: Any, coef: Any, start: Any, width: int, out: Any) -> None:
    """Add the coefficients of each atom's rows to their bins of all columns, (A, p · width)."""
    p = code.shape[1]
    for a in range(len(start) - 1):
        into = out[a]
        into[:] = 0.0
        for k in range(start[a], start[a + 1]):
            bins, weight = code[row[k]], coef[k]
            for j in range(p):
                into[j * width + bins[j]] += weight


@compiled
def bin_statistics(
    sums: Any, mean: Any, steps: Any, cumulative: Any, single: Any, out: Any
) -> None:
    """Add weighted squares of cumulative sums of bins, and of the bins, for every draw.

    Sums are (p · B, draws), weights (p, B), and statistics (2, p, draws).
    """
    p, width = single.shape
    draws = sums.shape[1]
    below = np.empty(draws)
    for j in range(p):
        below[:] = 0.0
        all_below, each = out[0, j], out[1, j]
        for b in range(width):
            k = j * width + b
            own, middle, step = sums[k], mean[k], steps[k]
            upper, weight = cumulative[j, b], single[j, b]
            for i in range(draws):
                value = (np.float64(own[i]) - middle) * step
                below[i] += value
                all_below[i] += upper * below[i] * below[i]
                each[i] += weight * value * value


@compiled
def look_up(values: Any, factor: Any, table: Any, first: float, out: Any) -> None:
    """Interpolate a table, whose places are from `first` on, at multiples of values, (s, F)."""
    last = len(table) - 1.0
    for k in range(len(values)):
        own, into, times = values[k], out[k], factor[k]
        for i in range(len(own)):
            place = min(max(own[i] * times - first, 0.0), last - 1e-6)
            at = np.int64(place)
            into[i] = table[at] + (place - at) * (table[at + 1] - table[at])


@compiled
def sums_of_picked(picked: Any, values: Any, out: Any) -> None:
    """Sums of the rows of `values` that are picked, for every draw."""
    for draw in range(len(picked)):
        into = out[draw]
        into[:] = 0.0
        for i in picked[draw]:
            row = values[i]
            for k in range(len(row)):
                into[k] += row[k]


@compiled
def bins_by_quantiles(values: Any, order: Any, places: Any, least: float, code: Any) -> int:
    """Bin columns, (p, n), that `order` sorts, by values at `places` of the sorted rows.

    A value of at least so many rows has its own bin. Returns the largest number of bins.
    """
    p, n = order.shape
    widest = 1
    for j in range(p):
        own, place = values[j], order[j]
        first, into, k = 0, 0, 0
        while first < n:
            stop, value = first + 1, own[place[first]]
            while stop < n and own[place[stop]] == value:
                stop += 1
            alone = stop - first >= least
            into += 1 if alone else 0
            for i in range(first, stop):
                code[j, place[i]] = into
            edge = alone
            while k < len(places) and places[k] < stop:
                edge, k = True, k + 1
            into += 1 if edge else 0
            first = stop
        widest = max(widest, into + 1)
    return widest


@compiled
def sums_in_bins(bins: Any, place: Any, weights: Any, out: Any) -> None:
    """Add the weights of rows to their bins of each column, in the place of each row."""
    for j in range(len(bins)):
        own, into = bins[j], out[j]
        for i in range(len(place)):
            into[place[i], own[i]] += weights[i]
