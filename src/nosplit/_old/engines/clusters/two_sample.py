"""The two-sample test on a cluster: what Dask and Spark have in common.

Map and reduce. Partitions are counted; pilot rows, a few thousand, are brought here by their
numbers; every partition then sums its rows by cell, where it is; and the sums, which are integers,
are added by a tree. Rows never meet one another, so they never move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from nosplit._old.designs.asked import Asked
from nosplit._old.engines.sketching.steps import sketch_test
from nosplit._old.engines.sketching.task import Pair
from nosplit._old.inference.planning.limits import Limits
from nosplit._old.sketch.sums import CellSums
from nosplit.core.pairings import Sketch
from nosplit.data.options import Options
from nosplit.inference.result import TestResult

__all__ = ["FAN_IN", "cluster_test", "total"]

# Rows stay in their partitions: those of x never meet those of y.
LIMITS = Limits("on a cluster", (Sketch(),))
# Sums that are added in one place.
FAN_IN = 16


def cluster_test(
    pair_of: Callable[[Options], tuple[Pair, Options]], asked: Asked, rng: np.random.Generator
) -> TestResult:
    """Test two samples that lie in partitions.

    Parameters
    ----------
    pair_of : callable
        Gives the samples, and the options with their columns named.
    asked : Asked
        What is asked for.
    rng : Generator
        Source of randomness.
    """
    LIMITS.check(asked.method, asked.pairs, asked.calibration)
    pair, options = pair_of(asked.options)
    return sketch_test(pair, replace(asked, options=options), rng=rng)


def total(parts: Sequence[CellSums]) -> CellSums:
    """The sum of sketches of parts of a sample."""
    return reduce(add, parts)
