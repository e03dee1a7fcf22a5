"""Comparisons of pairs of several samples, with p-values adjusted for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np

from nosplit.inference.rank import holm
from nosplit.inference.result import TestResult

__all__ = ["Set", "Tests", "closed_testing", "compare_pairs"]

# Samples up to which comparisons are by closed testing, whose hypotheses double with each of them.
MAX_CLOSED = 5
# Draws for each comparison, 20 / α at α = .05; they are worth it if fewer than so many of the
# first draws show as much as the data.
DRAWS_A_COMPARISON, FEW = 400, 20
# Draws of a comparison at most.
MAX_DRAWS = 99_999

Set = tuple[int, ...]
# Test whether the samples of a set are alike, by so many draws (None: as many as were asked for).
# No result: no rows of theirs may be permuted.
Tests = Callable[[Set, int | None], TestResult | None]


def compare_pairs(
    pairs: Sequence[Set], samples: int, control: int | None, tests: Tests, exactly: bool
) -> tuple[list[TestResult | None], list[float], Literal["closed testing", "Holm"]]:
    """Compare pairs of samples: their tests, adjusted p-values, and how these were adjusted.

    Parameters
    ----------
    pairs : sequence of two int
        The pairs.
    samples : int
        Number of samples.
    control : int or None
        The sample that all comparisons are with; None if all pairs are compared.
    tests : callable
        The tests of sets of samples.
    exactly : bool
        Whether the number of draws was asked for.
    """
    once = cache(lambda some: tests(some, None))
    if samples <= MAX_CLOSED:
        adjusted = [
            closed_testing(pair, samples, control, lambda some: _pvalue(once(some)))
            for pair in pairs
        ]
        return [once(pair) for pair in pairs], adjusted, "closed testing"
    wanted = min(DRAWS_A_COMPARISON * len(pairs) - 1, MAX_DRAWS)
    found = [tests(pair, None) if exactly else _with_more(tests, pair, wanted) for pair in pairs]
    return found, holm(np.array([*map(_pvalue, found)])).tolist(), "Holm"


def _with_more(tests: Tests, pair: Set, wanted: int) -> TestResult | None:
    """Compare two samples, with more draws if they may matter.

    The p-value p of the first draws stands if it is above a limit c, and is replaced by that of
    many more draws, q, if not. That is valid: it is at most t < c only if q ≤ t, and at most t ≥ c
    only if p ≤ t.
    """
    first = tests(pair, None)
    done = 0 if first is None else first.how.n_resamples or 0
    if first is None or done >= wanted or first.pvalue * (done + 1) > FEW:
        return first
    return tests(pair, wanted)


def _pvalue(result: TestResult | None) -> float:
    return 1.0 if result is None else result.pvalue


def closed_testing(
    pair: Set, samples: int, control: int | None, pvalue: Callable[[Set], float]
) -> float:
    """P-value of a comparison of two samples, adjusted by closed testing.

    A comparison holds if every hypothesis that implies it is rejected: that a set of samples is
    alike, or that several such sets are. Sets are tested by permuting their own samples only, and
    several sets by Bonferroni's rule, so that no two samples that are alike are named with a
    probability above the level, whatever the others are.

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
