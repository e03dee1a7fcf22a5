"""The two-sample test: validate → plan → sum cells, or look at pairs → result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._support.checks import Seed, check_finite, check_flags, check_rng, naming
from nosplit.api.against_profile import against_profile, draws_of, is_profile
from nosplit.api.evidence import look_for, pooled_outcome
from nosplit.api.witness.folds import witness_test
from nosplit.api.witness.result import WitnessResult
from nosplit.data.changes import column_changes
from nosplit.data.files.opening import is_path
from nosplit.data.options import AUTO, Options, by_policy
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.designs.labels import label_policy
from nosplit.designs.two_sample import DesignLabels, designed_test, swapped_in
from nosplit.engines.devices import lies_on_device, mover, on_device
from nosplit.engines.files.two_sample import open_both
from nosplit.engines.memory import sides_of
from nosplit.engines.sides import Sides
from nosplit.engines.sketching import Asked, sketch_test
from nosplit.engines.verdict import sketch_result
from nosplit.errors import InputError
from nosplit.families.fitting import fitted_units
from nosplit.families.two_sample import Paired
from nosplit.inference.calibrations import BLOCKS, Exact
from nosplit.inference.caveats import dependent_rows, unequal_caveats
from nosplit.inference.outcome import to_result
from nosplit.inference.planning.choice import choose
from nosplit.inference.planning.costs import sizes_of
from nosplit.inference.planning.plan import Plan
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.inference.run import as_method, run, sees_all
from nosplit.kernels.defaults.recipes import Kernels, Recipe
from nosplit.methods import Method
from nosplit.pairs.pairing import Blocks, Complete, Pairing, Sketch, units_in_pairs
from nosplit.sketch.dealing import BLOCK_LAGS

__all__ = ["two_sample_test"]

# Columns with adjusted p-values up to here are described.
LOOSEST = 0.1
# Rows of either sample up to which all labels are permuted: swaps of pairs are too few to reject.
FEW_SWAPS = 10


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
    workers: int | None = None,
    progress: bool = False,
    witness: Any = None,
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
        spectra (`Spectral`) are looked at, too; what columns show is in `by_column`.
    method : Method or name
        "ost", "nonnegative", "wald", "best", "split", "chibar", "naive" or "adaptive".
        "auto": adaptive where calibration is exact, OST elsewhere.
    pairs : Pairing, name or int
        "linear" (the paper), "adjacent", an int R for a window, `Blocks(B)`, "complete", "sketch"
        or "auto". For large files "sketch", or "adjacent" and "linear" with a closed form, for
        which rows must be in random order.
    calibration : Exact or name
        "exact" (random flips), "asymptotic" (closed form, as in the paper) or "auto". Exact over
        the draws if rows are independent, and those of x and of y may change places under H₀.
        Where rows depend on those before them, blocks of rows are swapped whole; the result is then
        approximate, its calibration is "blocks", and there is a `DependentRowsWarning`.
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int or Generator
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
        The name of a column of both tables, or labels of the rows of x and of y. Rows change places
        inside strata only, so that differences which the strata explain are not found. Strata with
        rows of one sample only are left out.
    groups : str, or pair of sequences, optional
        Likewise, for rows that are not independent: of a patient, a session, a machine. Groups
        count by the mean of their features, and change places as a whole; where a group has rows of
        both samples, these are swapped inside it. `design` of the result says what was exchanged.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    witness : classifier or regressor, optional
        An estimator that takes part, by `witness_test` on the same rows; the p-value is twice the
        smaller of both.
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
    labels = DesignLabels(strata, groups, label_policy(nan_policy))
    labels.check(paired=paired)
    generator = check_rng(rng)
    if isinstance(kernels, str) and kernels == "default":
        kernels = None
    sketch = pairs if isinstance(pairs, Sketch) else Sketch()
    chosen = as_method(method)

    def attempt(policy: str) -> TestResult:
        options = Options.of(scale, columns, exclude, policy)
        asked = Asked(
            options, kernels, chosen, sketch, calibration, budget, shuffle, paired, labels
        )
        return _tested(x, y, asked, pairs, generator, workers, progress, device)

    if witness is not None and (paired or strata is not None or groups is not None):
        raise InputError(
            "`witness` takes rows to be independent: not with paired, strata or groups."
        )
    if is_profile(x) or is_profile(y):  # it says what is done
        if witness is not None:
            raise InputError("`witness` needs the rows of both samples, and a profile has none.")
        return attempt("raise" if nan_policy == AUTO else nan_policy)
    result = by_policy(nan_policy, attempt, generator)
    if witness is None:
        return result
    picks = {"nan_policy": nan_policy, "columns": columns, "exclude": exclude}
    told = witness_test(x, y, estimator=witness, rng=generator, **picks)
    return _joined(result, told)


def _joined(result: TestResult, told: WitnessResult) -> TestResult:
    """A result to which a witness contributes: they share the data, so that each has half."""
    log_pvalue = min(0.0, math.log(2.0) + min(result.log_pvalue, told.log_pvalue))
    return replace(result, log_pvalue=log_pvalue, witness=told)


def _tested(
    x: Any,
    y: Any,
    asked: Asked,
    pairs: Pairing | str | int,
    generator: np.random.Generator,
    workers: int | None,
    progress: bool,
    device: Any,
) -> TestResult:
    """Find the samples, plan and test."""
    options, paired, labels = asked.options, asked.paired, asked.labels
    if is_profile(x) or is_profile(y):
        _check_no_design("a profile, which keeps no rows", paired or labels.given)
        return _with_profile(x, y, asked, pairs, generator, workers)
    if is_path(x) or is_path(y):
        opened = open_both(x, y)
        if opened.large:
            _check_no_design("files that are not read whole", labels.given)
        moved = None if device is None else mover(device)
        found = (
            opened.test(asked, pairs, generator, workers, progress, moved) if opened.large else None
        )
        if found is not None:
            return _said_paired(found) if paired else found
        x, y, options = opened.whole(options)
        asked = replace(asked, options=options)
    if labels.given:
        return _by_design(x, y, asked, options, pairs, generator, workers)
    if (device is not None or lies_on_device(x, y)) and not paired:
        found = on_device(x, y, asked, pairs, generator, workers, progress, device)
        if found is not None:
            return _with_changes(found, (x, y))
    data = two_samples(x, y, options, paired=paired).checked()
    recipe = data.recipe(asked.kernels)
    plan = choose(
        sizes_of(*data.shape, recipe),
        pairs=pairs,
        calibration=asked.calibration,
        method=asked.method,
        budget=asked.budget,
    )
    if isinstance(plan.pairing, Sketch):
        sides = Sides(*sides_of(data), workers, progress)
        asked = replace(asked, options=data.settled(options))
        result = sketch_test(sides, asked, rng=generator, workers=workers)
    else:
        result = _by_pairs(data, recipe, plan, asked, generator, workers, progress)
    return _with_changes(_said_paired(result) if paired else result, (x, y))


def _check_no_design(what: str, given: bool) -> None:
    if given:
        raise InputError(
            f"`paired`, `strata` and `groups` need the rows, and do not go with {what}. Read the "
            "rows, or some of them, into tables or arrays first."
        )


def _said_paired(result: TestResult) -> TestResult:
    """The result with a word on what was exchanged."""
    return replace(result, design=swapped_in(result.n_used // 2))


def _by_design(
    x: Any,
    y: Any,
    asked: Asked,
    options: Options,
    pairs: Pairing | str | int,
    rng: np.random.Generator,
    workers: int | None,
) -> TestResult:
    """Exchange units inside strata, or whole groups."""
    result = designed_test(
        x,
        y,
        asked.labels,
        options=options,
        kernels=asked.kernels,
        method=asked.method,
        pairs=pairs,
        calibration=asked.calibration,
        budget=asked.budget,
        rng=rng,
        shuffle=asked.shuffle,
        workers=workers,
    )
    # What changed between all rows of x and all of y may be what strata explain.
    return result if asked.labels.strata is not None else _with_changes(result, (x, y))


def _with_profile(
    x: Any,
    y: Any,
    asked: Asked,
    pairs: Pairing | str | int,
    rng: np.random.Generator,
    workers: int | None,
) -> TestResult:
    """Compare a sample with a profile."""
    flips = draws_of(asked.calibration)
    both = against_profile(
        x,
        y,
        asked.options,
        kernels=asked.kernels,
        pairs=pairs,
        rng=rng,
        shuffle=asked.shuffle,
        workers=workers,
    )
    result = sketch_result(
        both.sketched,
        method=asked.method,
        flips=flips,
        rng=rng,
        n_rows=both.n_rows,
        encoding=both.profile.encoding,
        workers=workers,
        turned=is_profile(x) and not is_profile(y),  # there, the new sample comes first
    )
    return replace(result, reference=both.profile.summary)


def _by_pairs(
    data: Samples,
    recipe: Recipe,
    plan: Plan,
    asked: Asked,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
) -> TestResult:
    """Evaluate kernels on pairs of rows: all of them, or those that were asked for."""
    x, y = check_samples(data.x, data.y)
    n_rows = len(x) + len(y) + data.left_out
    looks = sees_all(recipe, asked.method, plan)
    # Pairs may share what comes and goes: swaps need their differences to be independent.
    lag = max(correlated_rows(rows) for rows in ((x - y,) if asked.paired else (x, y)))
    block = BLOCK_LAGS * lag if lag and plan.flips else 1
    if block > 1:  # as many rows of either, in their order
        x, y = (rows[: min(len(x), len(y))] for rows in (x, y))
    with naming(x=x, y=y):
        tiny = len(x) <= FEW_SWAPS and not asked.paired
        if looks and block == 1 and (len(x) != len(y) or tiny):
            outcome, kernels = pooled_outcome(x, y, recipe, data.encoding, plan, rng, workers)
            n_units = n_used = len(x) + len(y)
        else:
            shuffling = rng if asked.shuffle and block == 1 else None
            units = fitted_units(x, y, recipe, shuffling, paired=asked.paired)
            units = replace(units, block=block) if isinstance(units, Paired) else units
            if isinstance(plan.pairing, Blocks | Complete):
                # Their tiles take a distance that is not a number for a large one.
                check_finite(x, "x")
                check_finite(y, "y")
            look = look_for(units, data.encoding, workers) if looks else None
            outcome = run(units, asked.method, plan, rng, workers, progress, look)
            kernels, n_units = units.bank.kernels, units.n_units
            n_used = round(units.rows_per_unit * units_in_pairs(plan.pairing, n_units))
            if len(x) != len(y):
                outcome = outcome.noting(unequal_caveats(outcome, n_units))
    outcome = replace(outcome, calibration=BLOCKS) if block > 1 else outcome
    return to_result(
        outcome.noting([dependent_rows(lag, block)] if lag else []),
        question=TWO_SAMPLE,
        kernels=kernels,
        n_units=n_units,
        n_used=n_used,
        n_left_out=n_rows - n_used,
        columns=data.columns,
        encoding=data.encoding,
        default=recipe.default,
    )


def _with_changes(result: TestResult, samples: tuple[Any, Any]) -> TestResult:
    """The result with a word on what changed in each column that differs."""
    found = column_changes(*samples, result.differing(LOOSEST))
    both = zip(result.column_names, result.by_column, strict=True)
    described = tuple(replace(c, change=found.get(name, c.change)) for name, c in both)
    return replace(result, by_column=described)
