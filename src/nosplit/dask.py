"""Tests of Dask arrays and data frames, on a cluster or on whatever scheduler Dask is set to.

Rows stay in their partitions, which give sums by cell: a sketch. See docs/guide/clusters.md.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from nosplit._support.checks import Seed
from nosplit._support.lazy import extra
from nosplit.inference.calibrations import Exact
from nosplit.inference.result import TestResult
from nosplit.kernels.defaults.recipes import Kernels
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing

__all__ = ["two_sample_test"]

for _module in ("dask.array", "dask.dataframe"):
    extra(_module, "dask")


def two_sample_test(
    x: Any,
    y: Any,
    *,
    kernels: Kernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    rng: Seed = 0,
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "auto",
) -> TestResult:
    """Test whether two Dask collections come from the same distribution.

    Rows are numbered through all partitions in their order and dealt to cells by their number, so
    the result is that of `nosplit.two_sample_test(x, y, pairs="sketch")` on the rows in memory, to
    the last bit, however they are cut into partitions, and their order does not matter.

    Parameters
    ----------
    x, y : dask.array.Array, or dask.dataframe.DataFrame
        The samples, one observation a row. Their numbers of rows, and their partitions, may differ.
    kernels : None, Kernel, sequence of them, name or callable
        As in `nosplit.two_sample_test`. Bandwidths come from some thousand pilot rows.
    method : Method or name
        "adaptive" (and "auto"), "ost", "nonnegative", "wald", "best" or "chibar".
    pairs : {"auto", "sketch"} or Sketch
        A sketch of all pairs; `Sketch(cells=..., frequencies=...)` says of what size.
    calibration : Exact or name
        "exact" (and "auto"): random swaps of cells.
    budget : float
        Nominal seconds of one core, which buy frequencies.
    rng : int, Generator or None
        Source of the dealing, the frequencies and the swaps.
    scale : {"robust", "none"}, bool or None
        Whether numeric columns are standardised, by medians and quartiles of the pilot rows.
        By default yes for data frames, no for arrays.
    columns, exclude : names
        The columns to compare, or to leave out; positions for arrays.
    nan_policy : {"auto", "raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.
        "auto": compare it in tables, with a note in the result; an error in arrays.

    Returns
    -------
    TestResult
        As from `nosplit.two_sample_test`.

    Examples
    --------
    >>> import dask.array as da
    >>> import nosplit.dask
    >>> x = da.random.default_rng(1).normal(size=(20_000, 3), chunks=(6_000, 3))
    >>> y = da.random.default_rng(2).normal(size=(30_000, 3), chunks=(4_000, 3)) * 1.2
    >>> res = nosplit.dask.two_sample_test(x, y)
    >>> res.pvalue, res.pairs, res.calibration
    (0.0001, 'sketch', 'exact')
    """
    from nosplit.engines.clusters.dask import dask_pair
    from nosplit.engines.clusters.two_sample import cluster_test

    return cluster_test(
        partial(dask_pair, x, y),
        (scale, columns, exclude, nan_policy),
        kernels=kernels,
        method=method,
        pairs=pairs,
        calibration=calibration,
        budget=budget,
        rng=rng,
    )
