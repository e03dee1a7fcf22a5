"""The two-sample test on a cluster: what Dask and Spark have in common.

Map and reduce. Partitions are counted; pilot rows, a few thousand, are brought here by their
numbers; every partition then sums its rows by cell, where it is; and the sums, which are integers,
are added by a tree. Rows never meet one another, so they never move.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from nosplit.data.options import Options
from nosplit.engines.sketching.steps import Asked, sketch_test
from nosplit.engines.sketching.task import Pair
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.limits import as_method
from nosplit.inference.result import TestResult
from nosplit.kernels.defaults.recipes import Kernels
from nosplit.methods import Method, Naive, Split
from nosplit.pairs.pairing import Pairing, Sketch, as_pairing
from nosplit.sketch.sums import CellSums

__all__ = ["FAN_IN", "cluster_test", "total"]

# Sums that are added in one place.
FAN_IN = 16


def cluster_test(
    pair: Pair,
    options: Options,
    *,
    kernels: Kernels,
    method: Method | str,
    pairs: Pairing | str | int,
    calibration: Exact | str,
    budget: float,
    rng: np.random.Generator,
) -> TestResult:
    """Test two samples that lie in partitions."""
    chosen = as_method(method)
    if isinstance(chosen, Split | Naive):
        raise InputError(
            f"`method` must not be {type(chosen).__name__} on a cluster, where only sums are kept. "
            'Use the default, or method="ost", which learns and tests on all of the data.'
        )
    asked = Asked(options, kernels, chosen, _sketch(pairs), calibration, budget)
    return sketch_test(pair, asked, rng=rng)


def _sketch(pairs: Pairing | str | int) -> Sketch:
    if isinstance(pairs, str) and pairs == "auto":
        return Sketch()
    found = as_pairing(pairs)
    if not isinstance(found, Sketch):
        raise InputError(
            '`pairs` on a cluster must be "sketch" or Sketch(...): rows stay in their partitions, '
            f"and those of x never meet those of y. Got {pairs!r}."
        )
    return found


def total(parts: Sequence[CellSums]) -> CellSums:
    """The sum of sketches of parts of a sample."""
    return reduce(add, parts)
