"""The two-sample test: what is asked for, and the first way to an answer that serves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nosplit._support.checks import Seed, check_flags, check_rng, seed_of
from nosplit.api.ways.against_profile import policy_of
from nosplit.api.ways.call import Call, answer
from nosplit.data.options import Options, by_policy
from nosplit.designs.asked import Asked, DesignLabels, left_to_library
from nosplit.inference.calibrations import Exact
from nosplit.inference.planning.limits import as_method
from nosplit.inference.result import TestResult
from nosplit.kernels.defaults.recipes import Kernels, asked_for
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing

__all__ = ["two_sample_test"]


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
    shuffle: bool = True,
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    paired: bool = False,
    strata: Any = None,
    groups: Any = None,
    series: bool | int = False,
    workers: int | None = None,
    progress: bool = False,
    device: Any = None,
) -> TestResult:
    """Test whether two samples come from the same distribution.

    A combination of kernels is learned and tested on the same data, all of it (Section 3 of the
    paper). With the defaults, everything is chosen from the sizes of the samples alone, and the
    same data gives the same verdict.

    Parameters
    ----------
    x, y : array_like, shape (n, p) and (m, p), or (n,) and (m,); or tables, files or profiles
        The samples, one observation a row. n and m may differ. Tables may be of pandas, polars,
        pyarrow or anything that narwhals accepts; their columns are matched by name, and those of
        categories, text and booleans are compared for equality. Files may be .npy, .npz
        ("file.npz:name" picks an array), .csv, .parquet, or folders or globs of .parquet files;
        more than 20 million values are sketched while they are read, in bounded memory and any
        order of rows, with the same result. One sample may be a file and the other not. Either may
        be a profile, which `nosplit.profile` makes, or its file: kernels, scale and columns are
        then those of it. Tensors of PyTorch, and arrays of other libraries on a GPU, are compared
        there.
    kernels : None, Kernel, sequence of them, name or callable
        Base kernels. By default a grid of Gaussian and Laplace kernels around the median distance
        of the pooled sample, and a linear kernel. "paper1", "paper2" and "paper6" are the paper's
        sets; a callable gets the median L2 and L1 distances and returns kernels. For tables with
        categories those of `nosplit.kernels.table_kernels`, made of the kernels for the numbers
        that a name or a callable stands for; kernels that are given are used as they are. With
        the default, all pairs and exact calibration, single columns and kernels with flattened
        spectra (`Spectral`) are looked at, too; what columns show is in `by_column`, pairs of
        columns that differ in `by_pair`, and distances from the middle in `distance`.
    method : Method or name
        "ost", "nonnegative", "wald", "best", "split", "chibar", "naive" or "adaptive".
        "auto": adaptive where calibration is exact, OST elsewhere.
    pairs : Pairing, name or int
        "linear" (the paper), "adjacent", an int R for a window, `Blocks(B)`, "complete", "sketch"
        or "auto". For large files "sketch", or "adjacent" and "linear" with a closed form, for
        which rows must be in random order.
    calibration : Exact or name
        "exact" permutes the rows; "asymptotic" uses the closed form of the paper; "auto" chooses.
        The exact p-value is exact for independent rows, whatever their order. If neighbouring rows
        are alike, as in a time series, `warnings` of the result says so; the p-value does not
        change.
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int, Generator or None
        Source of the shuffling and the flips.
    shuffle : bool
        Deal rows to units in random order, so that independent rows may come sorted. `False`
        keeps the order.
    nan_policy : {"auto", "raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.
        "auto": compare it in tables, with a note in the result; an error in arrays.
    scale : {"robust", "none"}, bool or None
        Whether every column of numbers is divided by a robust spread of its pooled values, so that
        a wide one does not drown the rest. None: yes for tables, no for arrays.
    columns, exclude : names of columns, optional
        Compare these only, or all but these; positions for arrays.
    paired : bool
        Whether x[i] and y[i] belong together: before and after, two models on the same cases. The
        two are swapped inside pairs, which is exact when pairs are exchangeable under the null;
        when only their two distributions are equal, it holds for large samples.
    strata : str, or pair of sequences, optional
        The name of a column of both tables, or labels of the rows of x and of y. Rows are permuted
        inside strata only, so that differences which the strata explain are not found. Strata with
        rows of one sample only are left out.
    groups : str, or pair of sequences, optional
        Likewise, for rows that are not independent: of a patient, a session, a machine. Groups
        are represented by the mean of their features and are permuted with groups of the same size;
        sizes are made equal by leaving out rows at random. If a group has rows of both samples,
        these are swapped inside it. `design` of the result says what was permuted.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Blocks of rows are permuted;
        an int sets their length. With `paired=True`, x[i] and y[i] are of the same time.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    device : str or torch.device, optional
        Where to compute: "cuda" moves rows and files to a GPU. Tensors are compared where they
        lie by default. Needs `nosplit[torch]`.

    Returns
    -------
    TestResult
        With `pvalue`, `statistic`, `reject(alpha)`, the learned `weights` and how it was done.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) * 1.4
    >>> res = two_sample_test(x, y)
    >>> res.reject(0.05), res.calibration, res.pairs
    (True, 'exact', 'complete')

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
    >>> res.n_pairs, res.reject(0.05)
    (2000, True)
    """
    check_flags(shuffle=shuffle, progress=progress, paired=paired)
    labels = DesignLabels.of(strata, groups, nan_policy, paired=paired, series=series)
    generator, named, chosen = check_rng(rng), asked_for(kernels), as_method(method)

    def attempt(policy: str) -> TestResult:
        options = Options.of(scale, columns, exclude, policy)
        asked = Asked(options, named, chosen, pairs, calibration, budget, shuffle, paired, labels)
        return answer(Call(x, y, asked, generator, workers, progress, device))

    result = by_policy(policy_of(nan_policy, x, y), attempt, generator)
    automatic = left_to_library(
        named, method, pairs, calibration, scale, nan_policy, columns, exclude
    )
    seed = seed_of(rng, generator)
    return replace(result, automatic=automatic and budget == 1.0, seed=seed)
