"""The public functions: validate → plan → accumulate → test → result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._support.checks import (
    check_covariance,
    check_finite,
    check_flag,
    check_int,
    check_matrix,
    check_rng,
    check_sample,
    check_vector,
)
from nosplit.data.files.opening import is_path, open_source, read_one
from nosplit.data.samples import Options, some_columns, two_samples
from nosplit.engines.files.two_sample import in_memory, is_small, two_sample_files
from nosplit.errors import InputError, NonFiniteError
from nosplit.families.fitting import fit_bank
from nosplit.families.two_sample import Grouped, Paired, two_sample_units
from nosplit.inference.plan import (
    ASYMPTOTIC,
    Plan,
    Sizes,
    choose,
    kernel_bases,
    resolve_calibration,
)
from nosplit.inference.ranking import Exact
from nosplit.inference.result import TWO_SAMPLE, Question, TestResult
from nosplit.inference.run import (
    Outcome,
    as_method,
    run,
    settle,
    test_rows,
    to_result,
    unequal_caveats,
)
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import Kernels, Recipe
from nosplit.methods import Method, Naive, Split
from nosplit.pairs.order import Natural, shuffled
from nosplit.pairs.pairing import Blocks, Complete, Pairing

__all__ = ["joint_normal_test", "mean_test", "plan", "two_sample_test"]

Array = NDArray[np.float64]
Seed = int | np.random.Generator

MEAN = Question(
    "Is the mean of every base function zero?",
    "Some mean is not zero",
    "No evidence of a mean other than zero",
)
NORMAL = Question(
    "Is the mean of a normal vector zero?",
    "Some mean is not zero",
    "No evidence of a mean other than zero",
)


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
    nan_policy: str = "raise",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    workers: int | None = None,
    progress: bool = False,
) -> TestResult:
    """Test whether two samples come from the same distribution.

    A combination of kernels is learned and tested on the same data, all of it (Section 3 of the
    paper). With the defaults, everything is chosen from the sizes of the samples alone, and the
    same data gives the same verdict.

    Parameters
    ----------
    x, y : array_like, shape (n, p) and (m, p), or (n,) and (m,); or tables; or names of files
        The samples, one observation a row. n and m may differ. Tables may be of pandas, polars,
        pyarrow or anything that narwhals accepts; their columns are matched by name, and those of
        categories, text and booleans are compared for equality. Files may be .npy, .npz
        ("file.npz:name" picks an array), .csv, .parquet, or folders or globs of .parquet files;
        more than 20 million values are read in one pass: adjacent pairs or a window, asymptotic
        calibration, kernels and scales from a sample of the rows.
    kernels : None, Kernel, sequence of them, name or callable
        Base kernels. By default a grid of Gaussian and Laplace kernels around the median distance
        of the pooled sample, and a linear kernel. "paper1", "paper2" and "paper6" are the paper's
        sets; a callable gets the median L2 and L1 distances and returns kernels. For tables with
        categories those of `nosplit.kernels.table_kernels`, made of the kernels for the numbers
        that a name or a callable stands for; kernels that are given are used as they are.
    method : Method or name
        "ost", "nonnegative", "wald", "best", "split", "chibar", "naive" or "adaptive".
        "auto": adaptive where calibration is exact, OST elsewhere.
    pairs : Pairing, name or int
        "linear" (the paper), "adjacent", an int R for a window, `Blocks(B)`, "complete" or "auto".
    calibration : Exact or name
        "exact" (random flips), "asymptotic" (closed form, as in the paper) or "auto".
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int or Generator
        Source of the shuffling and the flips.
    shuffle : bool
        Deal rows to units in random order, so that sorted input is safe. `False` keeps the order.
    nan_policy : {"raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.
    scale : {"robust", "none"}, bool or None
        Whether every column of numbers is divided by a robust spread of its pooled values, so that
        a wide one does not drown the rest. None: yes for tables, no for arrays.
    columns, exclude : names of columns, optional
        Compare these only, or all but these; positions for arrays.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.

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
    options = Options.of(scale, columns, exclude, nan_policy)
    if is_path(x) and is_path(y):
        sources = open_source(x), open_source(y)
        if not is_small(*sources):
            return two_sample_files(
                *sources,
                options,
                kernels=kernels,
                method=method,
                pairs=pairs,
                calibration=calibration,
                rng=rng,
                shuffle=shuffle,
                workers=workers,
                progress=progress,
            )
        x, y, options = in_memory(*sources, options)
    data = two_samples(read_one(x), read_one(y), options)
    x, y = check_samples(data.x, data.y)
    generator = check_rng(rng)
    chosen = as_method(method)
    recipe = data.recipe(kernels)
    sizes = sizes_of(len(x), len(y), x.shape[1], recipe)
    how = choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)
    mixer = generator if check_flag(shuffle, "shuffle") else None
    units = fitted_units(x, y, recipe, mixer)
    if isinstance(how.pairing, Blocks | Complete):
        # Their tiles take a distance that is not a number for a large one.
        check_finite(x, "x")
        check_finite(y, "y")
    try:
        outcome = run(units, chosen, how, generator, workers, progress)
    except NonFiniteError:
        # Large samples are not read twice: their finiteness shows in the values.
        check_finite(x, "x")
        check_finite(y, "y")
        raise
    if len(x) != len(y):
        outcome.caveats += unequal_caveats(outcome, units.n_units)
    n_used = round(units.rows_per_unit * units.n_units)
    return to_result(
        outcome,
        question=TWO_SAMPLE,
        kernels=units.bank.kernels,
        n_units=units.n_units,
        n_used=n_used,
        n_left_out=len(x) + len(y) - n_used + data.left_out,
        columns=data.columns,
        encoding=data.encoding,
    )


def plan(
    *,
    n: int,
    m: int | None = None,
    p: int = 1,
    categorical: int = 0,
    kernels: Kernels | int = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
) -> Plan:
    """Tell what `two_sample_test` would do with samples of these sizes, what it costs, and why.

    Parameters
    ----------
    n, m : int
        Rows of the two samples (m = n by default).
    p : int
        Columns.
    categorical : int
        How many of them are categories, in tables.
    kernels : as in `two_sample_test`, or int
        The kernels, or how many of them.
    method, pairs, calibration, budget
        As in `two_sample_test`.

    Returns
    -------
    Plan
        The choice, the number of pairs, the nominal cost, an estimate for here and a reason.

    Examples
    --------
    >>> print(plan(n=500, p=10))
    complete pairs, exact (999 draws) calibration: 124,750 pairs of 500 units, nominally ...
    All pairs fit the budget of 1 s.
    """
    n, m = check_int(n, "n", least=2), check_int(n if m is None else m, "m", least=2)
    p = check_int(p, "p", least=1)
    if isinstance(kernels, int):
        sizes = Sizes(n, m, p, check_int(kernels, "kernels", least=1))
    else:
        sizes = sizes_of(n, m, p, some_columns(p, categorical).recipe(kernels))
    chosen = as_method(method)
    return choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)


def mean_test(
    h: ArrayLike,
    *,
    method: Method | str = "auto",
    calibration: Exact | str = "auto",
    symmetric: bool = False,
    rng: Seed = 0,
    shuffle: bool = True,
) -> TestResult:
    """Test E h = 0 against E h ≥ 0, h ≠ 0, for independent rows of any base functions.

    The paper's theory needs no kernel: any d statistics that are jointly normal in the limit will
    do, such as the differences of a classifier's logits or of features.

    Parameters
    ----------
    h : array_like, shape (n, d)
        Independent rows of values, one column a base function.
    method : Method or name
        As in `two_sample_test`; "auto" is OST, or adaptive under exact calibration.
    calibration : Exact or name
        "exact" is possible only if `symmetric`; "auto" is exact then, and asymptotic otherwise.
    symmetric : bool
        Whether rows have the same law as their negatives under the null.
    rng : int or Generator
        Source of the flips and of the split.
    shuffle : bool
        Whether `Split` takes its parts from shuffled rows.

    Returns
    -------
    TestResult
        As from `two_sample_test`; every row is a pair of its own.

    Examples
    --------
    Is a treatment's effect on any of three outcomes positive? No kernel is involved:

    >>> import numpy as np
    >>> effect = np.random.default_rng(0).normal([0.3, 0.0, 0.1], 1.0, size=(300, 3))
    >>> res = mean_test(effect)
    >>> res.reject(0.05), res.method
    (True, 'ost')

    Differences of matched rows have the law of their negatives when nothing differs, so flips of
    their signs are exact. Here the logits of two classifiers on the same cases:

    >>> logits = np.random.default_rng(1).normal(size=(2, 100, 3))
    >>> res = mean_test(logits[0] - logits[1], symmetric=True)
    >>> res.reject(0.05), res.calibration
    (False, 'exact')
    """
    values = check_matrix(h, "h")
    if len(values) < 2:
        raise InputError(f"`h` must have at least 2 rows, got {len(values)}.")
    generator, chosen = check_rng(rng), as_method(method)
    kind = _mean_calibration(calibration, check_flag(symmetric, "symmetric"), chosen)
    if check_flag(shuffle, "shuffle"):
        values = values[generator.permutation(len(values))]
    outcome = test_rows(values, chosen, kind, generator)
    return to_result(
        outcome,
        question=MEAN,
        kernels=tuple(f"base {i}" for i in range(values.shape[1])),
        n_units=len(values),
        n_used=len(values),
        n_left_out=0,
    )


def joint_normal_test(
    tau: ArrayLike, cov: ArrayLike, *, method: Method | str = "auto"
) -> TestResult:
    """Test μ = 0 against μ ≥ 0 for one vector τ ~ N(μ, Σ).

    Parameters
    ----------
    tau : array_like, shape (d,)
        The vector, with its √n (Section 3 of the paper).
    cov : array_like, shape (d, d)
        Its covariance matrix Σ, which may be singular.
    method : Method or name
        "ost" (and "auto"), "nonnegative", "wald", "best", "chibar" or "naive".

    Returns
    -------
    TestResult
        As from `two_sample_test`.

    Examples
    --------
    >>> joint_normal_test([3.0, 4.0], [[1.0, 0.0], [0.0, 1.0]], method="wald").statistic
    5.0
    """
    tau = check_vector(tau, "tau")
    cov = check_covariance(cov, len(tau))
    chosen = settle(as_method(method), ASYMPTOTIC)
    if isinstance(chosen, Split):
        raise InputError(
            "`method` must not be a Split: it needs the data. Use `two_sample_test` or `mean_test`."
        )
    outcome = Outcome(chosen, chosen(tau, cov), tau, cov, 1, pairs="given")
    return to_result(
        outcome,
        question=NORMAL,
        kernels=tuple(f"base {i}" for i in range(len(tau))),
        n_units=1,
        n_used=1,
        n_left_out=0,
    )


def check_samples(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two samples of the same width and type; large ones are not read to the end."""
    x, y = check_sample(x, "x"), check_sample(y, "y")
    if x.shape[1] != y.shape[1]:
        raise InputError(
            f"`x` and `y` must have the same number of columns, got {x.shape[1]} and {y.shape[1]}."
        )
    if x.dtype != y.dtype:
        x, y = x.astype(np.float64), y.astype(np.float64)
    if _all_equal(x, x[0]) and _all_equal(y, x[0]):
        raise InputError("`x` and `y` are constant and equal: there is nothing to compare.")
    return x, y


def _all_equal(sample: NDArray[Any], row: NDArray[Any]) -> bool:
    """Whether all rows are `row`; stops at the first block with another."""
    blocks = (sample[i : i + 4096] for i in range(0, len(sample), 4096))
    return all(bool((block == row).all()) for block in blocks)


def sizes_of(n: int, m: int, p: int, recipe: Recipe) -> Sizes:
    """What the cost depends on, before any bandwidth is known."""
    trial = recipe.build()
    return Sizes(n, m, p, len(trial), kernel_bases(trial))


def fitted_units(
    x: NDArray[Any], y: NDArray[Any], recipe: Recipe, rng: np.random.Generator | None = None
) -> Paired | Grouped:
    """Units of two samples, dealt in random order if there is a generator, with their kernels."""
    orders = [Natural() if rng is None else shuffled(len(s), rng) for s in (x, y)]
    units = two_sample_units(x, y, orders[0], orders[1], Bank(()))
    units = replace(units, bank=fit_bank(recipe, units))
    if units.bank.others or isinstance(units, Grouped):
        # The compiled loops over aligned pairs look at every distance; nothing else does.
        check_finite(x, "x")
        check_finite(y, "y")
    return units


def _mean_calibration(
    calibration: Exact | str, symmetric: bool, method: Method | None
) -> Exact | str:
    """Exact flips need rows that are symmetric under the null."""
    kind = resolve_calibration(calibration)
    if kind == "auto":
        return Exact() if symmetric and not isinstance(method, Naive) else ASYMPTOTIC
    if isinstance(kind, Exact) and not symmetric:
        raise InputError(
            "`calibration` can be exact only if rows have the same law as their negatives under "
            "the null: say so with symmetric=True, or use calibration='asymptotic'."
        )
    if isinstance(kind, Exact) and isinstance(method, Naive):
        raise InputError("`method` naive has no exact form. Use calibration='asymptotic'.")
    return kind
