"""Rows → sums of integers by cell: the compiled pass of a sketch."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._support.loops.jit import compiled, compiled_fast, compiled_inner, to_bits

__all__ = [
    "add_all_pairs",
    "add_bins",
    "add_coordinates",
    "add_pairs",
    "add_phases",
    "add_waves",
    "bin_places",
    "standardised_column",
    "standardised_rows",
    "wave_values",
]

f4 = np.float32
# sin 2πu on [-1/4, 1/4] to 2e-7: an odd polynomial.
_S1, _S3, _S5, _S7, _S9 = map(f4, (6.28318516, -41.3416550, 81.6019468, -76.549781, 39.536706))
_QUARTER, _TURN = f4(0.25), f4(2.0**-32)
# Spreads beyond which a value counts as this far: a bounded function of the row like any other.
FAR = 2.0**20
LARGEST = np.finfo(np.float64).max
# Rows whose bins are looked for together, and whose products are summed in 32 bits.
SOME, RUN = np.uint64(1024), 512


@compiled
def standardised_rows(
    rows: Any, order: Any, columns: Any, center: Any, scale: Any, out: Any
) -> bool:
    """Rows and columns in the given orders, moved and scaled, as float32; whether all are finite.

    Centers and scales are in the order of the columns of `rows`.
    """
    p = len(columns)
    middle, factor, row = np.empty(p), np.empty(p), np.empty(p)
    for k in range(p):
        middle[k], factor[k] = center[columns[k]], scale[columns[k]]
    wrong = 0  # a number, not a flag: so that the second loop below takes several columns at once
    for r in range(len(order)):
        i = np.uint64(order[r])
        for k in range(p):
            row[k] = rows[i, np.uint64(columns[k])]
        for k in range(p):
            wrong += 0 if np.abs(row[k]) <= LARGEST else 1
            scaled = (row[k] - middle[k]) * factor[k]
            near = FAR if scaled > FAR else scaled
            out[r, k] = -FAR if near < -FAR else near
    return wrong == 0


@compiled
def standardised_column(
    values: Any,
    order: Any,
    encoded: Any,
    standard: Any,
    edges: Any,
    j: int,
    k: int,
    places: Any,
    out: Any,
) -> bool:
    """One column in the given order: its bins and its standardised numbers; whether all are finite.

    `encoded` is what is taken off and divided by first, `standard` what is taken off and multiplied
    by then. Without edges there are no bins. It is column j of `places`, and column k of `out`.
    """
    n = np.uint64(len(order))
    own, place = np.empty(SOME), np.empty(SOME, np.uint64)
    finite = True
    for start in range(np.uint64(0), n, SOME):
        count = min(SOME, n - start)
        for r in range(count):
            own[r] = (values[np.uint64(order[start + r])] - encoded[0]) / encoded[1]
        for r in range(count):
            value = own[r]
            finite &= np.abs(value) <= LARGEST
            scaled = (value - standard[0]) * standard[1]
            near = FAR if scaled > FAR else scaled
            out[start + r, k] = -FAR if near < -FAR else near
        if len(edges):
            _search(own[:count], edges, place)
            for r in range(count):
                places[start + r, j] = place[r]
    return finite


@compiled
def _hash(value: float, place: int) -> np.uint32:
    """32 well-mixed bits of a value; those of 0.0 and -0.0 are the same."""
    word = np.uint64(to_bits(value + 0.0)) + np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint32((word ^ (word >> np.uint64(31))) >> np.uint64(32))


@compiled
def add_phases(rows: Any, order: Any, columns: Any, places: Any, phases: Any, turns: Any) -> None:
    """Add the phases of the values of some columns to the turns of each row, modulo one.

    Columns of different places have hashes of their own.
    """
    total = np.empty(turns.shape[1], np.uint32)
    for r in range(len(order)):
        total[:] = np.uint32(0)
        for k in range(len(columns)):
            h = _hash(np.float64(rows[order[r], columns[k]]), places[k])
            for f in range(len(total)):
                total[f] += np.uint32(h * phases[k, f])
        for f in range(len(total)):
            turns[r, f] = turns[r, f] - np.rint(turns[r, f]) + f4(total[f]) * _TURN


@compiled_fast
def add_waves(turns: Any, cells: Any, F: int, step: Any, total: Any, sums: Any) -> None:
    """Add cosines and sines of the turns of each row to the sums of its cell.

    Rows of one cell come one after the other; they are summed in 32 bits first, for which at most
    1024 rows in a call are safe. F is the number of frequencies; taken from the shape of `turns`,
    it would keep the loop from being vectorised.
    """
    n = len(turns)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and cells[stop] == cells[start]:
            stop += 1
        total[:] = 0
        for r in range(start, stop):
            row = turns[r]
            for f in range(F):
                t = row[f]
                t -= np.rint(t)
                # cos 2πt = sin 2π(1/4 - |t|), and |sin 2πt| = sin 2π(1/4 - ||t| - 1/4|).
                u = _QUARTER - np.abs(t)
                w = _QUARTER - np.abs(u)
                u2 = u * u
                w2 = w * w
                cosine = u * (_S1 + u2 * (_S3 + u2 * (_S5 + u2 * (_S7 + u2 * _S9))))
                sine = w * (_S1 + w2 * (_S3 + w2 * (_S5 + w2 * (_S7 + w2 * _S9))))
                total[f] += np.int32(cosine * step)
                total[F + f] += np.int32(np.copysign(sine, t) * step)
        into = sums[cells[start]]
        for f in range(2 * F):
            into[f] += total[f]
        start = stop


@compiled_fast
def wave_values(turns: Any, F: int, cosines: Any, sines: Any, out: Any) -> None:
    """A weighted sum of the cosines and sines of the turns of each row."""
    for r in range(len(out)):
        row, total = turns[r], f4(0.0)
        for f in range(F):
            t = row[f]
            t -= np.rint(t)
            u = _QUARTER - np.abs(t)
            w = _QUARTER - np.abs(u)
            u2 = u * u
            w2 = w * w
            cosine = u * (_S1 + u2 * (_S3 + u2 * (_S5 + u2 * (_S7 + u2 * _S9))))
            sine = w * (_S1 + w2 * (_S3 + w2 * (_S5 + w2 * (_S7 + w2 * _S9))))
            total += cosines[f] * cosine + sines[f] * np.copysign(sine, t)
        out[r] = total


@compiled
def add_coordinates(rows: Any, cells: Any, columns: Any, step: Any, start: int, sums: Any) -> None:
    """Add standardised columns of each row to the sums of its cell, from number `start` on."""
    for r in range(len(rows)):
        row, into = rows[r], sums[np.uint32(cells[r])]
        for k in range(len(columns)):
            value = np.float64(row[np.uint32(columns[k])])
            into[start + k] += np.int64(np.rint(value * step))


@compiled
def bin_places(rows: Any, order: Any, edges: Any, counted: Any, places: Any) -> None:
    """Number of the bin of every column of each row, (n, p).

    Rows of `edges` are filled up with infinity to 127 numbers; `counted[j]` is the number of
    categories of column j, and -1 for numbers.
    """
    n, p = np.uint64(len(order)), len(edges)
    # A little longer than a power of two, so that columns do not share their place in the cache.
    values, place = np.empty((p, SOME + np.uint64(24))), np.empty(SOME, np.uint64)
    for start in range(np.uint64(0), n, SOME):
        count = min(SOME, n - start)
        for r in range(count):
            row = rows[np.uint64(order[start + r])]
            for j in range(p):
                values[j, r] = row[j]
        for j in range(p):
            own, column = values[j, :count], edges[j]
            _search(own, column, place)
            if counted[j] >= 0:
                last = np.uint64(counted[j])
                for r in range(count):
                    if place[r] >= last or column[place[r]] != own[r]:
                        place[r] = last
            for r in range(count):
                places[start + r, j] = place[r]


@compiled
def add_bins(places: Any, cells: Any, starts: Any, counts: Any) -> None:
    """Count bins in the cell of each row; those of column j begin at `starts[j]`."""
    for r in range(len(places)):
        into = counts[np.uint32(cells[r])]
        for j in range(len(starts)):
            into[np.uint64(starts[j]) + np.uint64(places[r, j])] += 1


@compiled
def add_pairs(
    places: Any, cells: Any, scores: Any, left: Any, right: Any, F: int, start: int, sums: Any
) -> None:
    """Add products of the scores of pairs of columns to the sums of each row's cell.

    `scores[j, place]` are the two scores of a bin of column j, as integers of ten bits; product f
    is of the scores `left[f]` and `right[f]` of a row, counted over its columns. Rows of a cell
    are summed in 32 bits first, `RUN` of them at the most.
    """
    n, p = places.shape
    row, total = np.empty(2 * p, np.int32), np.empty(F, np.int32)
    first = 0
    while first < n:
        total[:] = 0
        last = _end_of_run(cells, first)
        for r in range(first, last):
            _scores_of_row(places[r], scores, row)
            for f in range(F):
                total[f] += row[left[f]] * row[right[f]]
        into = sums[np.uint32(cells[first])]
        for f in range(F):
            into[start + f] += total[f]
        first = last


@compiled
def add_all_pairs(
    places: Any, cells: Any, scores: Any, left: Any, right: Any, F: int, start: int, sums: Any
) -> None:
    """Add pairs like `add_pairs`, by the products of all scores: faster than picking most."""
    n, p = places.shape
    S = -(-2 * p // 8) * 8
    row, total = np.zeros(S, np.int32), np.empty((2 * p, S), np.int32)
    first = 0
    while first < n:
        total[:] = 0
        last = _end_of_run(cells, first)
        for r in range(first, last):
            _scores_of_row(places[r], scores, row)
            for a in range(2 * p):
                own, by = total[a], row[a]
                for b in range(S):
                    own[b] += by * row[b]
        into = sums[np.uint32(cells[first])]
        for f in range(F):
            into[start + f] += total[left[f], right[f]]
        first = last


@compiled_inner
def _end_of_run(cells: Any, first: int) -> int:
    """The first row after `first` that is in another cell, or one too many to be summed."""
    last = first + 1
    while last < len(cells) and last < first + RUN and cells[last] == cells[first]:
        last += 1
    return last


@compiled_inner
def _scores_of_row(places: Any, scores: Any, row: Any) -> None:
    for j in range(len(places)):
        own = scores[j, places[j]]
        row[2 * j] = own[0]
        row[2 * j + 1] = own[1]


_64, _32, _16, _8, _4, _2, _1 = (np.uint64(2**k) for k in range(6, -1, -1))


@compiled_inner
def _search(values: Any, edges: Any, place: Any) -> None:
    """Number of the 127 edges below each value.

    Seven steps, written out, on numbers without a sign: five times as fast as a loop of them.
    """
    for r in range(len(values)):
        v = values[r]
        k = _64 * np.uint64(edges[_64 - _1] < v)
        k += _32 * np.uint64(edges[k + _32 - _1] < v)
        k += _16 * np.uint64(edges[k + _16 - _1] < v)
        k += _8 * np.uint64(edges[k + _8 - _1] < v)
        k += _4 * np.uint64(edges[k + _4 - _1] < v)
        k += _2 * np.uint64(edges[k + _1] < v)
        k += np.uint64(edges[k] < v)
        place[r] = k
