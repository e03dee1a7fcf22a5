"""A keyed permutation of 0…n-1, computed on the fly."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._support.loops.jit import compiled

__all__ = ["chosen", "permuted"]


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
    # Without the rare second steps the loop is one that vectorises.
    for i in range(len(out)):
        out[i] = _mixed(np.uint64(first + i), b, mask, constants)
    for i in range(len(out)):
        value = np.uint64(out[i])
        while value >= most:
            value = _mixed(value, b, mask, constants)
        out[i] = value


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
