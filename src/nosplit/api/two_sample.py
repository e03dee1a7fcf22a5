"""The two-sample test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nosplit._checks import Seed
from nosplit.api._request import (
    CalibrationName,
    LabelsOfRows,
    MethodName,
    NanPolicy,
    PairsName,
    Request,
    Sample,
)
from nosplit.api._run import test_samples
from nosplit.core.pairings import Pairing
from nosplit.inference.calibrations import Exact
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Kernels
from nosplit.methods import Method

__all__ = ["two_sample_test"]


def two_sample_test(
    x: Sample,
    y: Sample,
    *,
    kernels: Kernels = None,
    method: Method | MethodName = "auto",
    pairs: Pairing | PairsName | int = "auto",
    calibration: Exact | CalibrationName = "auto",
    paired: bool = False,
    strata: LabelsOfRows = None,
    groups: LabelsOfRows = None,
    series: bool | int = False,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    scale: str | bool | None = None,
    nan_policy: NanPolicy = "auto",
    names: Sequence[str] | None = None,
    budget: float = 1.0,
    shuffle: bool = True,
    rng: Seed = 0,
    workers: int | None = None,
    device: Any = None,
) -> TestResult:
    """Test whether two samples come from the same distribution.

    Compares all columns together and each column by itself. The kernel is learned on all of the
    data, and the p-value accounts for it.

    Parameters
    ----------
    x, y : array, data frame, path, or profile
        The two samples, one observation per row. Sizes may differ. Columns of data frames are
        matched by name. Paths may name .csv, .parquet, .npy or .feather files, folders and globs;
        large files are read in batches. Tensors of PyTorch are compared on their device, and data
        frames of Dask and Spark on their cluster.
    kernels : Kernel, sequence of Kernel, str or callable, optional
        Kernels to choose from. Default: Gaussian and Laplace kernels around the median distance,
        a linear kernel, and kernels on categories, beside evidence of single columns and of pairs
        of columns. If kernels are named, nothing else is tested. "paper1", "paper2" and "paper6"
        are the sets of the paper.
    method : str or Method, default "auto"
        How the kernels are combined. "auto" uses all kinds of evidence; "ost", "wald" and "best"
        are the tests of the paper.
    pairs : str, int or Pairing, default "auto"
        The pairs of units that are compared. "auto" and "complete": all of them; "sketch": all,
        through sums of cells. "linear", an int R (a window) and `Blocks` are the estimates of the
        paper; they need samples of the same size, and use the closed form.
    calibration : {"auto", "exact", "asymptotic"} or Exact, default "auto"
        "exact" permutes the rows, `Exact(n_resamples=9_999)` that many times. "asymptotic" uses
        the closed form of the paper.
    paired : bool, default False
        Whether row i of `x` belongs to row i of `y`, as in before and after.
    strata : str or pair of sequences, optional
        Compare only within strata. The name of a column, or one label per row of each sample.
    groups : str or pair of sequences, optional
        Rows of the same group (a user, a patient) are not independent; whole groups are permuted
        with groups of the same size. Sizes are made equal by leaving out rows at random.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Blocks of rows are permuted;
        an int sets their length. May be combined with `paired`.
    columns, exclude : str or sequence of str, optional
        Compare only these columns, or all but these; positions for arrays.
    scale : {"robust", "none"} or bool, optional
        Whether every column of numbers is divided by its spread. Default: yes for data frames, no
        for arrays.
    nan_policy : {"auto", "raise", "omit", "indicate"}, default "auto"
        What to do with missing values: raise an error, leave out the row, or compare them as a
        value of their own. "auto" is "indicate" for data frames and "raise" for arrays.
    names : pair of str, optional
        Names of the two samples, for printing.
    budget : float, default 1.0
        Nominal seconds of one core that the test may take.
    shuffle : bool, default True
        Whether rows of samples of the same size are paired at random; False pairs them in order.
    rng : int, Generator or None, default 0
        The seed. A Generator is advanced by one integer; None draws a seed, see `res.how.seed`.
    workers : int, optional
        Number of threads. The result does not depend on it.
    device : str or torch.device, optional
        Where to compute, for example "cuda".

    Returns
    -------
    TestResult
        `pvalue`, `statistic`, `verdict(alpha)`, and `columns`, a table of what changed. Unpacks as
        ``statistic, pvalue = result``.

    Notes
    -----
    If neighbouring rows look alike, as they do in a time series, `warnings` of the result says so;
    the p-value does not change.

    The p-value is exact if rows are independent: under the null hypothesis it is at most `alpha`
    with probability at most `alpha`, for any sample size.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) * 1.4
    >>> res = two_sample_test(x, y)
    >>> res.reject(0.05), res.columns.differing(0.05)
    (True, ('1', '0'))

    The paper, to the letter:

    >>> x, y = rng.normal(size=4000), rng.normal(size=4000) * 1.5
    >>> res = two_sample_test(
    ...     x,
    ...     y,
    ...     kernels="paper6",
    ...     method="ost",
    ...     pairs="linear",
    ...     calibration="asymptotic",
    ...     shuffle=False,
    ... )
    >>> res.how.n_pairs, res.reject(0.05)
    (2000, True)
    """
    request = Request.of(
        x, y, kernels=kernels, method=method, pairs=pairs, calibration=calibration, paired=paired,
        strata=strata, groups=groups, series=series, columns=columns, exclude=exclude, scale=scale,
        nan_policy=nan_policy, names=names, budget=budget, shuffle=shuffle, rng=rng,
        workers=workers, device=device,
    )  # fmt: skip
    return test_samples(request)
