"""Tests of Dask arrays and data frames, on a cluster or on whatever scheduler Dask is set to.

Rows stay in their partitions, except for those that must meet their partners; what comes back is
a few numbers for each kernel. See docs/guide/clusters.md.
"""

from __future__ import annotations

from typing import Any

from nosplit._support.lazy import extra
from nosplit.data.options import Options
from nosplit.inference.outcome import to_result
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Kernels
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
    pairs: Pairing | str | int = "adjacent",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "raise",
) -> TestResult:
    """Test whether two Dask collections come from the same distribution.

    Row i of x is paired with row i of y, counted through all partitions in their order, however
    the two are cut into partitions. With the same kernels, the result is that of
    `nosplit.two_sample_test(x, y, pairs="adjacent", shuffle=False, calibration="asymptotic")` on
    the rows in memory, to rounding. Rows are not shuffled: where they look sorted, there is a
    `DependentRowsWarning`.

    Parameters
    ----------
    x, y : dask.array.Array, or dask.dataframe.DataFrame
        The samples, one observation a row. Their numbers of rows, and their partitions, may differ.
    kernels : None, Kernel, sequence of them, name or callable
        As in `nosplit.two_sample_test`. By default chosen from a few thousand rows from all over
        the samples, always the same ones.
    method : Method or name
        "ost" (and "auto"), "nonnegative", "wald", "best", "chibar" or "naive".
    pairs : Pairing, name or int
        "adjacent", an int R for a window, or `Blocks(B)`.
    scale : {"robust", "none"}, bool or None
        Whether numeric columns are standardised, by medians and quartiles of those few thousand
        rows. By default yes for data frames, no for arrays.
    columns, exclude : names
        The columns to compare, or to leave out; positions for arrays.
    nan_policy : {"raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.

    Returns
    -------
    TestResult
        As from `nosplit.two_sample_test`, asymptotically calibrated.

    Examples
    --------
    >>> import dask.array as da
    >>> import nosplit.dask
    >>> x = da.random.default_rng(1).normal(size=(20_000, 3), chunks=(6_000, 3))
    >>> y = da.random.default_rng(2).normal(size=(30_000, 3), chunks=(4_000, 3)) * 1.2
    >>> res = nosplit.dask.two_sample_test(x, y)
    >>> res.reject(0.05), res.n_pairs, res.n_used
    (True, 10000, 50000)
    """
    from nosplit.engines.clusters.dask import dask_test

    options = Options.of(scale, columns, exclude, nan_policy)
    found = dask_test(x, y, options, kernels=kernels, method=method, pairs=pairs)
    return to_result(found.outcome, **found.facts())
