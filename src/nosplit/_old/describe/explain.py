"""Explain the difference between two samples: how much, in which columns, at which rows.

Everything here describes. It was learned on the same data as the test, so none of it has a
p-value: the test says whether there is a difference, and this says what it looks like.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from nosplit._checks import Seed, check_int, check_rng
from nosplit._old.api.ways.against_profile import loaded
from nosplit._old.data.files.opening import is_path
from nosplit._old.data.files.whole import read_if_path, two_in_memory
from nosplit._old.describe.accuracy import accuracy_of
from nosplit._old.describe.attribution import attribute
from nosplit._old.describe.effect import (
    column_separations,
    crossfitted,
    effect_of,
    kernel_effects,
    kernel_means,
    learner,
    ratio,
    scaled_weights,
)
from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.large.explaining import explain_by_cells
from nosplit._old.describe.large.profiled import explain_with_profile
from nosplit._old.describe.large.samples import (
    LargeSamples,
    MemorySamples,
    PassedSamples,
    as_tested,
    sample_compared,
)
from nosplit._old.describe.rows import (
    FEWEST_ROWS,
    Coded,
    Sampled,
    categorical_of,
    draw_rows,
    encoded,
    group_names,
    rows_held,
    rows_one_by_one,
)
from nosplit._old.describe.witness import row_witness, witness_at
from nosplit._old.engines.clusters.opening import cluster_pair, lies_on_cluster, width_of
from nosplit._old.engines.files.two_sample import open_both
from nosplit._old.sketch.saved.profiles import Profile
from nosplit.errors import InputError
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult, kernel_label
from nosplit.kernels import Combination
from nosplit.kernels.bank import Bank

__all__ = ["explain", "stratified"]

# Rows of either sample that are looked at one by one.
MOST_ROWS = 2000


def explain(
    res: TestResult, x: Any, y: Any, *, rows: int = MOST_ROWS, rng: Seed = 0
) -> Explanation:
    """Describe what differs between two samples, as a test has learned it.

    Parameters
    ----------
    res : TestResult
        The result of `two_sample_test`.
    x, y : array_like, table, path, or collections of Dask or Spark
        The samples it was made from. Files larger than memory are read in passes, and on a cluster
        rows are summed where they are. One of them may be a profile, as in the test.
    rows : int
        Largest number of rows of either sample that `top_rows` looks at, drawn at random; the
        witness function of small samples is made of them, too.
    rng : int, Generator or None
        Source of the drawing and of the shuffling of columns.

    Returns
    -------
    Explanation
        With `effect` (how large), `columns` (which columns carry it), `kernels` (MMD² of each),
        `witness(points)` and `top_rows(k)` (where), and the learned `kernel`.

    Notes
    -----
    Where the test was one of cells, and where samples are large, the signal and the witness
    function are those of all rows: one more pass sums features of the kernels in cells. They are
    others than those of the test, so weights are learned again. The accuracy rests on up to
    250,000 rows of either sample, and the shares of columns on as many as there is
    time for, whose number is said; in these, what the sums tell of all rows is made use of.
    Memory is bounded.

    A profile holds sums and no rows. The signal and the witness function are as for large samples;
    there is no accuracy of all columns; shares are what columns show alone; and no row of the
    reference is shown.

    Columns are shares of what was learned. A column may differ as well and carry nothing, if the
    learned combination shows the difference of others better; and of hundreds of columns each
    carries little, as its standard error tells.

    Examples
    --------
    >>> import numpy as np
    >>> import nosplit
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(400, 4)), rng.normal(size=(400, 4))
    >>> y[:, 2] += 0.8
    >>> told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    >>> told.ranked()[0].name, told.effect.words
    ('column 2', 'medium')
    >>> told.witness([[0.0, 0.0, -1.0, 0.0], [0.0, 0.0, 2.0, 0.0]]) > 0
    array([ True, False])
    """
    most, generator = check_int(rows, "rows", least=FEWEST_ROWS), check_rng(rng)
    _check_result(res)
    x, y = loaded(x), loaded(y)
    if isinstance(x, Profile) or isinstance(y, Profile):
        return _explain_with_profile(res, x, y, most, generator)
    if lies_on_cluster(x) or lies_on_cluster(y):
        pair, _ = cluster_pair(x, y, as_tested(res))
        spread = PassedSamples.of(res, pair, width_of(x))
        _check_same_data(res, spread.sizes, spread.left_out)
        return explain_by_cells(res, spread, most, generator)
    if is_path(x) and is_path(y):
        opened = open_both(x, y)
        if opened.large:
            sides, _ = opened.sides(as_tested(res), None, progress=False)
            files = PassedSamples.of(res, sides, opened.x.width)
            _check_same_data(res, files.sizes, files.left_out)
            if _by_cells(res, files):
                return explain_by_cells(res, files, most, generator)
        x, y = two_in_memory(opened.x, opened.y)
    x, y = read_if_path(x), read_if_path(y)
    left, right = (encoded(res, s, name, FEWEST_ROWS) for s, name in ((x, "x"), (y, "y")))
    _check_widths(left, right)
    memory = MemorySamples((x, y), (left, right))
    _check_same_data(res, memory.sizes, left.omitted + right.omitted)
    if _by_cells(res, memory):
        return explain_by_cells(res, memory, most, generator)
    return _explain_by_pairs(res, memory, most, generator)


def _explain_with_profile(
    res: TestResult, x: Any, y: Any, most: int, rng: np.random.Generator
) -> Explanation:
    """Explain how one sample differs from another of which there are sums only."""
    if isinstance(x, Profile) and isinstance(y, Profile):
        raise InputError(
            "`x` or `y` must be rows, got two profiles, which hold none to look at. Explain the "
            "rows of one with the profile of the other; `nosplit.column_tests` of both profiles "
            "says which columns differ, and how."
        )
    profile, value, side = (x, y, 1) if isinstance(x, Profile) else (y, x, 0)
    if tuple(map(str, res.selection.kernels)) != tuple(map(str, profile.kernels)):
        raise InputError(
            "`res` must be the result of a test with this profile, got one of other kernels. Test "
            "again: res = nosplit.two_sample_test(x, y)."
        )
    new = sample_compared(res, value, "xy"[side])
    sizes = (profile.n_rows, new.n) if side else (new.n, profile.n_rows)
    _check_same_data(res, sizes, profile.n_left_out + new.left_out)
    return explain_with_profile(res, profile, new, side, most, rng)


def _by_cells(res: TestResult, samples: LargeSamples) -> bool:
    """Whether the test was one of cells, or samples are too large to look at pairs."""
    return res.how.pairs == "sketch" or max(samples.sizes) > rows_held(samples.width)


def _explain_by_pairs(
    res: TestResult, samples: MemorySamples, most: int, rng: np.random.Generator
) -> Explanation:
    """Explain small samples: pairs of rows are looked at one by one."""
    (i, a), (j, b) = (draw_rows(sample, rng) for sample in samples.coded)
    names, bank = group_names(res, a.shape[1]), Bank(res.selection.kernels)
    whole = kernel_means(a, b, bank)
    weights = scaled_weights(res, whole.noise)
    few = rows_one_by_one(most, a.shape[1])
    at_x, at_y = row_witness(a[:few], b[:few], bank, weights)
    level = float(at_x.mean() + at_y.mean()) / 2.0
    categorical = categorical_of(res)
    crossed, held, functions = crossfitted(a, b, bank, weights, learner(res.how.method), few)
    accuracy = accuracy_of(held, functions, names, categorical, few // 2)
    left, right = (sample.rows for sample in samples.coded)
    separations = column_separations(res, left, right, names, categorical)
    columns, moved = attribute(a, b, bank, weights, names, rng)
    x, y = samples.came
    return Explanation(
        result=res,
        effect=effect_of(ratio(whole, weights), crossed, [*names], separations, accuracy),
        kernel=Combination(bank.kernels, tuple(map(float, weights))),
        kernels=kernel_effects(whole, [kernel_label(k) for k in bank.kernels]),
        columns=columns,
        function=partial(witness_at, x=a[:few], y=b[:few], bank=bank, weights=weights),
        level=level,
        x=Sampled.of(res, x, i[:few], a[:few], at_x - level),
        y=Sampled.of(res, y, j[:few], b[:few], at_y - level),
        n_seen=len(a) + len(b),
        n_rows=sum(samples.sizes),
        n_moved=moved,
    )


def _check_result(res: TestResult) -> None:
    if not isinstance(res, TestResult):
        raise InputError(f"`res` must be a TestResult, got {type(res).__name__}.")
    if res.question != TWO_SAMPLE:
        raise InputError(
            f"`res` must be the result of a two-sample test, got one that asks: {res.question}"
        )
    if stratified(res):
        raise InputError(
            "`res` is of rows compared inside strata, and all rows of x and y may differ in what "
            "the strata explain. Test and explain the rows of one stratum."
        )


def stratified(res: TestResult) -> bool:
    """Whether a test compared rows inside strata only."""
    return res.how.design is not None and res.how.design.kind == "strata"


def _check_widths(x: Coded, y: Coded) -> None:
    widths = [sample.rows.shape[1] for sample in (x, y)]
    if widths[0] != widths[1]:
        raise InputError(
            f"`x` and `y` must have the same number of columns, got {widths[0]} and {widths[1]}."
        )


def _check_same_data(res: TestResult, sizes: tuple[int, int], omitted: int) -> None:
    """Check that samples have the size of those that were tested."""
    rows, total = res.how.n_used + res.how.n_left_out, sum(sizes) + omitted
    # Units may be cells of a sketch, or all rows: then they say nothing of the smaller sample.
    paired = (
        res.how.pairs != "sketch" and res.how.n_units < res.how.n_used and res.how.design is None
    )
    smallest = res.how.n_units if paired else 0
    if total != rows or min(sizes) < smallest:
        least = f" and {smallest:,} or more in the smaller sample" if paired else ""
        raise InputError(
            f"`x` and `y` must be the samples of `res`, with {rows:,} rows in all{least}; "
            f"got {sizes[0]:,} and {sizes[1]:,}, and {omitted:,} with gaps."
        )
