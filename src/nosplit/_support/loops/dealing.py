"""A keyed permutation of 0…n-1, computed on the fly; random labels, and sums under them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._support.loops.jit import compiled

__all__ = ["chosen", "chosen_inside", "permuted", "sums_by_sample", "sums_inside"]

# Numbers whose next steps are taken together.
SOME = 1024


@compiled
def _mixed(value: np.uint64, bits: np.uint64, mask: np.uint64, constants: Any) -> np.uint64:
    """One bijection of the numbers of so many bits: add, multiply by an odd number, fold."""
    half = (bits + np.uint64(1)) >> np.uint64(1)
    for k in range(len(constants)):
        value = (value + constants[k, 0]) & mask
        value = (value * constants[k, 1]) & mask
        value = value ^ (value >> half)
    return value


@compiled
def permuted(first: int, n: int, bits: int, constants: Any, out: Any) -> None:
    """Write π(first), π(first + 1), … into `out`.

    The bijection is one of 0…2^bits - 1; where it leads beyond n - 1 it is taken again, which ends
    below n after fewer than two steps on average (cycle walking).
    """
    b = np.uint64(bits)
    mask = (np.uint64(1) << b) - np.uint64(1)
    most = np.uint64(n)
    # Steps of many numbers at once, and again of those that lead beyond: loops that vectorise.
    for i in range(len(out)):
        out[i] = _mixed(np.uint64(first + i), b, mask, constants)
    beyond, values = np.empty(SOME, np.int64), np.empty(SOME, np.uint64)
    for start in range(0, len(out), SOME):
        count = 0
        for i in range(start, min(start + SOME, len(out))):
            beyond[count] = i
            count += 1 if np.uint64(out[i]) >= most else 0
        while count:
            for k in range(count):
                values[k] = _mixed(np.uint64(out[beyond[k]]), b, mask, constants)
            left = 0
            for k in range(count):
                i = beyond[k]
                out[i] = values[k]
                beyond[left] = i
                left += 1 if values[k] >= most else 0
            count = left


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


@compiled
def sums_inside(
    labels: Any, gram: Any, draws: int, units: int, kernels: int, scale: Any, out: Any
) -> None:
    """Sums of kernel values of pairs of different units of one sample, for every draw of labels.

    Parameters
    ----------
    labels : array of int, shape (F, U)
        Sample of each unit under each draw.
    gram : array of int32, shape (d, U, U)
        Kernel values in whole steps, so that sums of a row are exact and quick.
    draws, units, kernels : int
        Numbers F, U and d.
    scale : array, shape (K,)
        What sums of each sample are multiplied by.
    out : array, shape (F, d)
        The sums.
    """
    for i in range(units):
        for draw in range(draws):
            own = labels[draw, i]
            for u in range(kernels):
                total = np.int32(0)
                for j in range(i):
                    total += gram[u, i, j] if labels[draw, j] == own else np.int32(0)
                out[draw, u] += 2.0 * scale[own] * total
