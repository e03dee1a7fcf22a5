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
from typing import Any

from nosplit._support.checks import Seed, check_rng, seed_of
from nosplit.data.options import Options, by_policy
from nosplit.designs.asked import Asked
from nosplit.engines.sketching.steps import sketch_test
from nosplit.engines.sketching.task import Pair
from nosplit.inference.calibrations import Exact
from nosplit.inference.planning.limits import Limits, as_method
from nosplit.inference.result import TestResult
from nosplit.kernels.defaults.recipes import Kernels
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing, Sketch
from nosplit.sketch.sums import CellSums

__all__ = ["FAN_IN", "cluster_test", "total"]

# Rows stay in their partitions: those of x never meet those of y.
LIMITS = Limits("on a cluster", (Sketch(),))
# Sums that are added in one place.
FAN_IN = 16


def cluster_test(
    pair_of: Callable[[Options], tuple[Pair, Options]],
    columns: tuple[Any, Any, Any, str],
    *,
    kernels: Kernels,
    method: Method | str,
    pairs: Pairing | str | int,
    calibration: Exact | str,
    budget: float,
    rng: Seed,
) -> TestResult:
    """Test two samples that lie in partitions.

    Parameters
    ----------
    pair_of : callable
        Gives the samples, and the options with their columns named.
    columns : tuple
        What is asked of columns: `scale`, `columns`, `exclude` and `nan_policy`.
    kernels, method, pairs, calibration, budget, rng
        As in `two_sample_test`.
    """
    generator, chosen = check_rng(rng), as_method(method)
    LIMITS.check(chosen, pairs, calibration)
    scale, names, exclude, nan_policy = columns

    def attempt(policy: str) -> TestResult:
        pair, options = pair_of(Options.of(scale, names, exclude, policy))
        asked = Asked(options, kernels, chosen, pairs, calibration, budget)
        return sketch_test(pair, asked, rng=generator)

    result = by_policy(nan_policy, attempt, generator)
    return replace(result, seed=seed_of(rng, generator))


def total(parts: Sequence[CellSums]) -> CellSums:
    """The sum of sketches of parts of a sample."""
    return reduce(add, parts)
