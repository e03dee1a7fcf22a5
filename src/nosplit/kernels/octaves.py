"""Waves two octaves apart: where slow ones cost sines and cosines, fast ones cost a few products.

cos 2a = 2 cos² a - 1 and sin 2a = 2 sin a cos a. Three kernels whose bandwidths are four times that
of the one before, as in the default grid, draw the same frequencies but for that factor: only the
waves of the widest are projected and turned, and those of the others follow. The frequencies of
each kernel have the law that they have by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit.kernels.frequencies import Frequencies

__all__ = ["drawn_in_octaves", "n_followed"]


def drawn_in_octaves(
    kernels: Mapping[int, Any], draw: Callable[[Any, int], Frequencies]
) -> dict[int, Frequencies]:
    """Frequencies of kernels, by their number: those of threes come first, wide ones before others.

    Parameters
    ----------
    kernels : mapping from int to Kernel
        The kernels. Threes are those that come one after another, the narrowest first.
    draw : callable
        Draws frequencies of a kernel from the source with a number.
    """
    threes: list[list[tuple[int, Frequencies]]] = []
    others: dict[int, Frequencies] = {}
    left = list(kernels)
    while left:
        found = [draw(kernels[u], left[0]) for u in left[:3]]
        if len(found) == 3 and all(map(_is_fourth, found[1:], found)):
            wide, middle, narrow = found[2], _faster(found[1], 2), _faster(found[0], 4)
            threes.append(list(zip(left[2::-1], (wide, middle, narrow), strict=True)))
            left = left[3:]
        else:
            others[left[0]] = found[0]
            left = left[1:]
    return dict([pair for level in zip(*threes, strict=True) for pair in level]) | others


def n_followed(drawn: Sequence[Frequencies]) -> int:
    """Count the waves that come first, and that as many four and sixteen times as fast follow.

    Examples
    --------
    >>> slow = Frequencies(np.ones((1, 2)), np.zeros((1, 2), np.uint32), np.ones(2))
    >>> n_followed([replace(slow, turns=speed * slow.turns) for speed in (1.0, 4.0, 16.0, 20.0)])
    2
    """
    for m in range(len(drawn) // 3, 0, -1):
        slow, fast = drawn[: 2 * m], drawn[m : 3 * m]
        phases = all(
            np.array_equal(_faster(s, 2).phases, f.phases) for s, f in zip(slow, fast, strict=True)
        )
        if phases and all(map(_is_fourth, slow, fast)):
            return sum(map(len, drawn[:m]))
    return 0


def _faster(waves: Frequencies, octaves: int) -> Frequencies:
    """Waves whose phases turn as often as their numbers do, so many octaves above others."""
    return replace(waves, phases=waves.phases << np.uint32(octaves))


def _is_fourth(slow: Frequencies, fast: Frequencies) -> bool:
    """Whether waves turn a fourth as fast as others, to the last bit."""
    return bool(slow.turns.any()) and np.array_equal(4.0 * slow.turns, fast.turns)
