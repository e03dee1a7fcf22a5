"""Rows → sums of integers by cell: the compiled pass of a sketch."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_fast, compiled_inner, to_bits

__all__ = [
    "add_bins",
    "add_coordinates",
    "add_pairs",
    "add_phases",
    "add_waves",
    "bin_places",
    "cosine_and_sine",
    "rows_of_columns",
    "standardised_column",
    "standardised_rows",
    "wave_values",
]

f4 = np.float32
# sin 2πu on [-1/4, 1/4] to 5e-8, and to 2e-7 in float32: an odd polynomial.
_S1, _S3, _S5, _S7, _S9 = map(f4, (6.28318516, -41.3416550, 81.6010041, -76.5497824, 39.5367066))
_QUARTER, _TURN = f4(0.25), f4(2.0**-32)
# Spreads beyond which a value counts as this far: a bounded function of the row like any other.
FAR = 2.0**20
LARGEST = np.finfo(np.float64).max
# Rows whose bins are looked for together; and rows of a cell whose numbers are summed before they
# are added to its sums, and whose products are.
SOME, RUN, PRODUCTS = np.uint64(1024), 1024, 512


@compiled
def standardised_rows(rows: Any, columns: Any, center: Any, scale: Any, out: Any) -> bool:
    """Rows moved and scaled, as float32, with columns in the given order; whether all are finite.

    Centers and scales are in the order of the columns of `rows`.
    """
    p = len(columns)
    middle, factor, scaled = np.empty(p), np.empty(p), np.empty(p, np.float32)
    middle[:], factor[:] = center, scale  # side by side, whatever they were
    wrong = 0  # a number, not a flag: so that the first loop below takes several columns at once
    for r in range(len(rows)):
        row, own = rows[r], out[r]
        for j in range(p):
            value = np.float64(row[j])
            wrong += 0 if np.abs(value) <= LARGEST else 1
            far = (value - middle[j]) * factor[j]
            near = FAR if far > FAR else far
            scaled[j] = -FAR if near < -FAR else near
        for k in range(p):
            own[k] = scaled[np.uint64(columns[k])]
    return wrong == 0


@compiled
def standardised_column(
    values: Any,
    order: Any,
    encoded: Any,
    standard: Any,
    edges: Any,
    lookup: Any,
    grid: Any,
    places: Any,
    out: Any,
) -> bool:
    """One column in the given order: its bins and its standardised numbers; whether all are finite.

    `encoded` is what is taken off and divided by first, `standard` what is taken off and multiplied
    by then; the others are as in `bin_places`, for one column. Without edges there are no bins.
    """
    n = np.uint64(len(order))
    own, place = np.empty(SOME), np.empty(SOME, np.uint64)
    wrong = 0
    for start in range(np.uint64(0), n, SOME):
        count = min(SOME, n - start)
        for r in range(count):
            own[r] = values[np.uint64(order[start + r])]
        for r in range(count):
            own[r] = (own[r] - encoded[0]) / encoded[1]
        for r in range(count):
            wrong += 0 if np.abs(own[r]) <= LARGEST else 1
            scaled = (own[r] - standard[0]) * standard[1]
            near = FAR if scaled > FAR else scaled
            out[start + r] = -FAR if near < -FAR else near
        if len(edges):
            _search(own[:count], edges, lookup, grid, place)
            for r in range(count):
                places[start + r] = place[r]
    return wrong == 0


@compiled
def rows_of_columns(columns: Any, out: Any) -> None:
    """The same numbers with rows in place of columns."""
    for r in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[r, k] = columns[k, r]


@compiled
def _hash(value: float, place: int) -> np.uint32:
    """32 well-mixed bits of a value; those of 0.0 and -0.0 are the same."""
    word = np.uint64(to_bits(value + 0.0)) + np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint32((word ^ (word >> np.uint64(31))) >> np.uint64(32))


@compiled
def add_phases(rows: Any, columns: Any, places: Any, phases: Any, turns: Any) -> None:
    """Add the phases of the values of some columns to the turns of each row, modulo one.

    Columns of different places have hashes of their own.
    """
    total = np.empty(turns.shape[1], np.uint32)
    for r in range(len(rows)):
        total[:] = np.uint32(0)
        for k in range(len(columns)):
            h = _hash(np.float64(rows[r, columns[k]]), places[k])
            for f in range(len(total)):
                total[f] += np.uint32(h * phases[k, f])
        for f in range(len(total)):
            turns[r, f] = turns[r, f] - np.rint(turns[r, f]) + f4(total[f]) * _TURN


@compiled_inner
def cosine_and_sine(t: Any, step: Any) -> tuple[Any, Any]:
    """Cosine and sine of turns, in steps, a power of two of them in a unit."""
    t -= np.rint(t)
    # cos 2πt = sin 2π(1/4 - |t|), and |sin 2πt| = sin 2π(1/4 - ||t| - 1/4|).
    u = _QUARTER - np.abs(t)
    w = _QUARTER - np.abs(u)
    u2 = u * u
    w2 = w * w
    s1, s3, s5, s7, s9 = _S1 * step, _S3 * step, _S5 * step, _S7 * step, _S9 * step
    cosine = u * (s1 + u2 * (s3 + u2 * (s5 + u2 * (s7 + u2 * s9))))
    sine = w * (s1 + w2 * (s3 + w2 * (s5 + w2 * (s7 + w2 * s9))))
    return cosine, np.copysign(sine, t)


@compiled_inner
def _doubled(cosine: Any, sine: Any, step: Any) -> tuple[Any, Any]:
    """Cosine and sine of twice the angle, in steps."""
    twice = cosine * (f4(2.0) / step)
    return twice * cosine - step, twice * sine


@compiled_fast
def add_waves(turns: Any, cells: Any, T: int, lone: int, step: Any, sums: Any) -> None:
    """Add cosines and sines of the waves of each row, in steps, to the sums of its cell.

    Turns are those of T waves that others follow from, four and sixteen times as fast, to errors of
    5e-5, and of `lone` ones. Rows of one cell come one after the other; they are summed in 32 bits
    first, which is safe for so many. The two kinds have sums of their own, and numbers that are not
    taken from shapes: otherwise the loops would not be vectorised.
    """
    F = 3 * T + lone
    total, rest = np.empty(6 * T, np.int32), np.empty(2 * lone, np.int32)
    start = 0
    while start < len(cells):
        stop = _end_of_run(cells, start, RUN)
        total[:] = 0
        rest[:] = 0
        for r in range(start, stop):
            row = turns[r]
            for f in range(T):
                c, s = cosine_and_sine(row[f], step)
                total[f] += np.int32(c)
                total[3 * T + f] += np.int32(s)
                c, s = _doubled(c, s, step)
                c, s = _doubled(c, s, step)
                total[T + f] += np.int32(c)
                total[4 * T + f] += np.int32(s)
                c, s = _doubled(c, s, step)
                c, s = _doubled(c, s, step)
                total[2 * T + f] += np.int32(c)
                total[5 * T + f] += np.int32(s)
            row = turns[r, T:]
            for f in range(lone):
                c, s = cosine_and_sine(row[f], step)
                rest[f] += np.int32(c)
                rest[lone + f] += np.int32(s)
        into = sums[cells[start]]
        for f in range(3 * T):
            into[f] += total[f]
            into[F + f] += total[3 * T + f]
        for f in range(lone):
            into[3 * T + f] += rest[f]
            into[F + 3 * T + f] += rest[lone + f]
        start = stop


@compiled_fast
def wave_values(turns: Any, F: int, cosines: Any, sines: Any, out: Any) -> None:
    """A weighted sum of the cosines and sines of the turns of each row."""
    for r in range(len(out)):
        row, total = turns[r], f4(0.0)
        for f in range(F):
            c, s = cosine_and_sine(row[f], f4(1.0))
            total += cosines[f] * c + sines[f] * s
        out[r] = total


@compiled
def add_coordinates(rows: Any, cells: Any, columns: Any, step: Any, start: int, sums: Any) -> None:
    """Add standardised columns of rows, as `add_waves` does waves, from number `start` on.

    Whole numbers below 2^41 are exact in float64, and so are sums of a run of them.
    """
    total = np.empty(rows.shape[1])
    first = 0
    while first < len(cells):
        last = _end_of_run(cells, first, RUN)
        total[:] = 0.0
        for r in range(first, last):
            row = rows[r]
            for j in range(len(total)):
                total[j] += np.rint(np.float64(row[j]) * step)
        into = sums[np.uint32(cells[first])]
        for k in range(len(columns)):
            into[start + k] += np.int64(total[np.uint64(columns[k])])
        first = last


@compiled
def bin_places(rows: Any, edges: Any, counted: Any, lookups: Any, grids: Any, places: Any) -> None:
    """Number of the bin of every column of each row, (p, n).

    Parameters
    ----------
    rows : array, shape (n, p)
        The rows.
    edges : array, shape (p, 128)
        Those of each column, filled up with infinity.
    counted : array of int, shape (p,)
        The number of categories of each column; -1 for numbers.
    lookups : array of uint8, shape (p, G)
        How many edges are below each of G equal steps, for columns with at most two in a step.
    grids : array, shape (p, 2)
        The first edge of each column, and steps in a unit; 0 for columns that have no such steps.
    places : array of uint8, shape (p, n)
        The numbers.
    """
    n, p = np.uint64(len(rows)), len(edges)
    # A little longer than a power of two, so that columns do not share their place in the cache.
    values, place = np.empty((p, SOME + np.uint64(24))), np.empty(SOME, np.uint64)
    for start in range(np.uint64(0), n, SOME):
        count = min(SOME, n - start)
        for r in range(count):
            row = rows[start + r]
            for j in range(p):
                values[j, r] = row[j]
        for j in range(p):
            own, column = values[j, :count], edges[j]
            _search(own, column, lookups[j], grids[j], place)
            if counted[j] >= 0:
                last = np.uint64(counted[j])
                for r in range(count):
                    if place[r] >= last or column[place[r]] != own[r]:
                        place[r] = last
            into = places[j]
            for r in range(count):
                into[start + r] = place[r]


@compiled
def add_bins(places: Any, cells: Any, starts: Any, counts: Any) -> None:
    """Count bins of rows, as `add_waves` adds waves; those of column j begin at `starts[j]`."""
    first = 0
    while first < len(cells):
        last = _end_of_run(cells, first, RUN)
        into = counts[np.uint32(cells[first])]
        for j in range(len(places)):
            own, start = places[j], np.uint64(starts[j])
            for r in range(first, last):
                into[start + np.uint64(own[r])] += 1
        first = last


@compiled
def add_pairs(places: Any, cells: Any, words: Any, pairs: Any, start: int, sums: Any) -> None:
    """Add products of the scores of pairs of columns, as `add_waves` does waves.

    `words[j, place]` has the two scores of a bin of column j, whole numbers of eleven bits and a
    sign, one in each half of a word: sums of some hundred of their products are below 2^31. After
    those of all p columns come the next two of each. A pair of twos has four products.
    """
    both = np.empty(PRODUCTS, np.int32)
    low, high = np.empty((2, len(words), PRODUCTS), np.int32)
    first = 0
    while first < len(cells):
        last = _end_of_run(cells, first, PRODUCTS)
        number = last - first
        count = -(-number // 8) * 8  # whole vectors
        for j in range(len(words)):
            word, place, a, b = words[j], places[j % len(places), first:last], low[j], high[j]
            for r in range(number):
                both[r] = word[np.uint64(place[r])]
            for r in range(number):
                a[r] = np.int16(both[r])
                b[r] = both[r] >> np.int32(16)
            a[number:count] = 0
            b[number:count] = 0
        into = sums[np.uint32(cells[first])]
        for f in range(len(pairs)):
            i, j = pairs[f, 0], pairs[f, 1]
            a, b, c, d = low[i], high[i], low[j], high[j]
            ac = ad = bc = bd = np.int32(0)
            for r in range(count):
                ac = np.int32(ac + np.int32(a[r] * c[r]))
                ad = np.int32(ad + np.int32(a[r] * d[r]))
                bc = np.int32(bc + np.int32(b[r] * c[r]))
                bd = np.int32(bd + np.int32(b[r] * d[r]))
            into[start + 4 * f] += ac
            into[start + 4 * f + 1] += ad
            into[start + 4 * f + 2] += bc
            into[start + 4 * f + 3] += bd
        first = last


@compiled_inner
def _end_of_run(cells: Any, first: int, most: int) -> int:
    """The first row after `first` that is in another cell, or one too many to be summed."""
    last = first + 1
    while last < len(cells) and last < first + most and cells[last] == cells[first]:
        last += 1
    return last


_64, _32, _16, _8, _4, _2, _1 = (np.uint64(2**k) for k in range(6, -1, -1))


@compiled_inner
def _search(values: Any, edges: Any, lookup: Any, grid: Any, place: Any) -> None:
    """Number of the 127 edges below each value.

    By equal steps, where no more than two edges share one: the step of a value grows with it, so
    all edges of smaller steps are below it. Otherwise by halves: seven steps, written out, on
    numbers without a sign, five times as fast as a loop of them.
    """
    if grid[1] > 0.0:
        last = np.float64(len(lookup) - 1)
        for r in range(len(values)):
            step = (values[r] - grid[0]) * grid[1]
            step = step if step > 0.0 else 0.0
            place[r] = np.uint32(step if step < last else last)
        for r in range(len(values)):
            k = np.uint64(lookup[place[r]])
            k += np.uint64(edges[k] < values[r])
            k += np.uint64(edges[k] < values[r])
            place[r] = k
        return
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
