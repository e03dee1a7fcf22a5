"""A keyed permutation of 0…n-1, computed on the fly; rows by cell; random labels and their sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_inner

__all__ = [
    "ROUNDS",
    "by_cell",
    "chosen",
    "chosen_inside",
    "dealt",
    "marked_sums",
    "sums_by_sample",
]

# Numbers whose next steps are taken together, and rounds of a step: as many as there are constants.
SOME, ROUNDS = 1024, 6


@compiled_inner
def _mixed(value: Any, half: Any, mask: Any, constants: Any) -> Any:
    """One bijection of the numbers of so many bits: add, multiply by an odd number, fold."""
    for k in range(ROUNDS):
        value = np.uint32(np.uint32(value + constants[k, 0]) & mask)
        value = np.uint32(np.uint32(value * constants[k, 1]) & mask)
        value = np.uint32(value ^ np.uint32(value >> half))
    return value


@compiled
def dealt(first: int, n: int, bits: int, constants: Any, c: int, out: Any) -> None:
    """Write π(first) // c, π(first + 1) // c, … into `out`, of a permutation of n ≤ 2^32 numbers.

    The bijection is one of 0…2^bits - 1; where it leads beyond n - 1 it is taken again, which ends
    below n after fewer than two steps on average (cycle walking). Words of 32 bits are enough: what
    is above them never comes back down.
    """
    half, mask = np.uint32((bits + 1) >> 1), np.uint32((1 << bits) - 1)
    last, inverse = np.uint32(n - 1), 1.0 / c
    values, again = np.empty(SOME, np.uint32), np.empty(SOME, np.uint32)
    beyond = np.empty(SOME, np.uint32)
    # Steps of many numbers at once, and again of those that lead beyond: loops that vectorise.
    for start in range(0, len(out), SOME):
        number, begin = min(SOME, len(out) - start), np.uint32(first + start)
        for i in range(number):
            values[i] = _mixed(np.uint32(begin + np.uint32(i)), half, mask, constants)
        count = 0
        for i in range(number):
            beyond[count] = i
            count += 1 if values[i] > last else 0
        while count:
            for k in range(count):
                again[k] = values[beyond[k]]
            for k in range(count):
                again[k] = _mixed(again[k], half, mask, constants)
            left = 0
            for k in range(count):
                i = beyond[k]
                values[i] = again[k]
                beyond[left] = i
                left += 1 if again[k] > last else 0
            count = left
        own = out[start : start + number]
        for i in range(number):  # a product in place of a division, one off at the most
            value = np.float64(values[i])
            part = np.floor(value * inverse)
            rest = value - part * c
            part += 1.0 if rest >= c else 0.0
            part -= 1.0 if rest < 0.0 else 0.0
            own[i] = np.int64(part)


@compiled
def by_cell(cells: Any, count: int, order: Any, ordered: Any) -> Any:
    """Rows in the order of their cells, and these; rows of cells from `count` on are left out.

    Returns how many rows there are.
    """
    starts = np.zeros(count + 1, np.int64)
    for i in range(len(cells)):
        if cells[i] < count:
            starts[cells[i] + 1] += 1
    for k in range(count):
        starts[k + 1] += starts[k]
    total = starts[count]
    for i in range(len(cells)):
        k = cells[i]
        if k < count:
            at = starts[k]
            order[at] = i
            ordered[at] = k
            starts[k] = at + 1
    return total


@compiled
def chosen(uniform: Any, out: Any) -> None:
    """Mark as many columns of each row of `out` as `uniform` has, at random: a partial shuffle."""
    draws, count = uniform.shape
    n = out.shape[1]
    places = np.arange(n)
    for b in range(draws):
        for i in range(count):
            j = i + np.int64(uniform[b, i] * (n - i))
            picked = places[j]
            places[j] = places[i]
            places[i] = picked
            out[b, picked] = 1.0


@compiled
def marked_sums(weights: Any, mark: Any, values: Any, out: Any) -> None:
    """Sums of the rows of `values` that have this mark among the weights, for every draw."""
    for draw in range(len(weights)):
        own, into = weights[draw], out[draw]
        into[:] = 0.0
        for i in range(len(own)):
            if own[i] == mark:
                row = values[i]
                for k in range(len(row)):
                    into[k] += row[k]


@compiled
def chosen_inside(uniform: Any, starts: Any, counts: Any, blocks: int, out: Any) -> None:
    """Mark `counts` columns of each block in each row of `out`, at random: partial shuffles.

    Blocks lie between `starts`; `uniform` has a number for each column that is marked.
    """
    places = np.arange(out.shape[1])
    for draw in range(len(uniform)):
        used = 0
        for block in range(blocks):
            first, stop = starts[block], starts[block + 1]
            for i in range(first, first + counts[block]):
                j = i + np.int64(uniform[draw, used] * (stop - i))
                picked = places[j]
                places[j] = places[i]
                places[i] = picked
                out[draw, picked] = 1.0
                used += 1


@compiled
def sums_by_sample(labels: Any, values: Any, units: int, numbers: int, out: Any) -> None:
    """Add each unit's numbers to the sum of its sample, for every draw of labels."""
    for draw in range(len(labels)):
        for unit in range(units):
            sample = labels[draw, unit]
            for k in range(numbers):
                out[draw, sample, k] += values[unit, k]
