"""Comparisons of several samples, with p-values adjusted for all of them.

Closed testing: a comparison holds if every hypothesis that implies it is rejected. Those are that
some samples are all alike, or that several such sets are; each is tested by draws that exchange
the samples of a set and no others, and several sets by Bonferroni's rule. No choice of draws or of
samples that do differ then makes the probability of any false claim larger than the level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

__all__ = ["closed"]

Set = tuple[int, ...]


def closed(pair: Set, samples: int, control: int | None, pvalue: Callable[[Set], float]) -> float:
    """Adjusted p-value of a comparison by closed testing.

    Parameters
    ----------
    pair : two int
        The samples that are compared.
    samples : int
        How many there are.
    control : int or None
        The sample that all comparisons are with; None if all pairs are compared.
    pvalue : callable
        The p-value of the hypothesis that a set of samples are all alike.
    """
    return max(
        min(1.0, len(sets) * min(map(pvalue, sets)))
        for sets in _hypotheses(samples, control)
        if any(set(pair) <= set(own) for own in sets)
    )


def _hypotheses(samples: int, control: int | None) -> Iterator[list[Set]]:
    """Sets of samples that are each alike: with the control, or in all possible ways."""
    if control is not None:
        others = [k for k in range(samples) if k != control]
        for size in range(1, samples):
            for some in combinations(others, size):
                yield [tuple(sorted((control, *some)))]
        return
    for partition in _partitions(list(range(samples))):
        sets = [own for own in partition if len(own) > 1]
        if sets:
            yield sets


def _partitions(items: list[int]) -> Iterator[list[Set]]:
    """All ways to put items into sets.

    Examples
    --------
    >>> len(list(_partitions([0, 1, 2, 3, 4])))
    52
    """
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for with_it in combinations(rest, size):
            others = [item for item in rest if item not in with_it]
            for partition in _partitions(others):
                yield [(first, *with_it), *partition]
