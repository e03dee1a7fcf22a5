"""Explain the difference between two samples: how much, in which columns, at which rows.

Everything here describes. It was learned on the same data as the test, so none of it has a
p-value: the test says whether there is a difference, and this says what it looks like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._support.checks import check_int, check_rng
from nosplit._support.types import Array
from nosplit.data.files.opening import is_path
from nosplit.data.files.whole import read_if_path, some_rows
from nosplit.describe.attribution import attribute
from nosplit.describe.effect import effect_of, kernel_effects, kernel_means, learner
from nosplit.describe.explanation import Explanation
from nosplit.describe.rows import Coded, Sampled, draw_rows, encoded, group_names
from nosplit.describe.witness import row_witness
from nosplit.errors import InputError
from nosplit.inference.printed import kernel_label
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.kernels import Combination
from nosplit.kernels.bank import Bank

__all__ = ["explain", "stratified"]

# Rows of either sample that the witness function is made of, and operations on them.
MOST_ROWS, MOST_OPERATIONS = 2000, 1e9
FEWEST_ROWS = 8


def explain(
    res: TestResult, x: Any, y: Any, *, rows: int = MOST_ROWS, rng: int | np.random.Generator = 0
) -> Explanation:
    """Describe what differs between two samples, as a test has learned it.

    Parameters
    ----------
    res : TestResult
        The result of `two_sample_test`.
    x, y : array_like, table or path
        The samples it was made from. Of files larger than memory some rows are read, from many
        places; positions of rows are then among those.
    rows : int
        Largest number of rows of either sample that the witness function is made of, and that
        `top_rows` looks at; whole rows, drawn at random.
    rng : int or Generator
        Source of the drawing and of the shuffling of columns.

    Returns
    -------
    Explanation
        With `effect` (how large), `columns` (which columns carry it), `kernels` (MMD² of each),
        `witness(points)` and `top_rows(k)` (where), and the learned `kernel`.

    Notes
    -----
    Time and memory are bounded: up to 250,000 rows of either sample are looked at for the effect
    size and the columns, and `rows` for the witness function.

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
    files = is_path(x) and is_path(y)
    x, y = some_rows(x, y) if files else (read_if_path(x), read_if_path(y))
    left, right = (encoded(res, s, name, FEWEST_ROWS) for s, name in ((x, "x"), (y, "y")))
    _check_same_data(res, left, right, some=files)
    names = group_names(res, left.rows.shape[1])
    (i, a), (j, b) = (draw_rows(sample, generator) for sample in (left, right))
    bank = Bank(res.kernels)
    whole = kernel_means(a, b, bank)
    weights = _scaled(res, whole.noise)
    few = _few(most, a.shape[1])
    at_x, at_y = row_witness(a[:few], b[:few], bank, weights)
    level = float(at_x.mean() + at_y.mean()) / 2.0
    return Explanation(
        result=res,
        effect=effect_of(
            a, b, bank, whole, weights, learner(res.method), few, names, _categorical(res)
        ),
        kernel=Combination(bank.kernels, tuple(map(float, weights))),
        kernels=kernel_effects(whole, [kernel_label(k) for k in bank.kernels]),
        columns=attribute(a, b, bank, weights, names, generator),
        level=level,
        x=Sampled.of(res, x, i[:few], a[:few], at_x - level),
        y=Sampled.of(res, y, j[:few], b[:few], at_y - level),
        n_seen=len(a) + len(b),
        n_rows=res.n_used + res.n_left_out if files else len(left.rows) + len(right.rows),
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
    return res.design is not None and res.design.kind == "strata"


def _check_same_data(res: TestResult, x: Coded, y: Coded, *, some: bool) -> None:
    """Check that samples have the size of those that were tested, or are some of their rows."""
    widths = [sample.rows.shape[1] for sample in (x, y)]
    if widths[0] != widths[1]:
        raise InputError(
            f"`x` and `y` must have the same number of columns, got {widths[0]} and {widths[1]}."
        )
    rows, (n, m) = res.n_used + res.n_left_out, (len(x.rows), len(y.rows))
    total = n + m + x.omitted + y.omitted
    # Units may be cells of a sketch, or all rows: then they say nothing of the smaller sample.
    paired = res.pairs != "sketch" and res.n_units < res.n_used and res.design is None
    smallest = res.n_units if paired else 0
    same = total == rows and min(n, m) >= smallest
    if not same and not (some and total < rows):
        least = f" and {smallest:,} or more in the smaller sample" if paired else ""
        raise InputError(
            f"`x` and `y` must be the samples of `res`, with {rows:,} rows in all{least}; "
            f"got {n + x.omitted:,} and {m + y.omitted:,}."
        )


def _categorical(res: TestResult) -> frozenset[int]:
    return frozenset(() if res.encoding is None else res.encoding.categorical)


def _few(most: int, width: int) -> int:
    """Rows of either sample for the witness function: fewer of very wide ones."""
    return max(FEWEST_ROWS, min(most, int(np.sqrt(MOST_OPERATIONS / (4.0 * width)))))


def _scaled(res: TestResult, noise: Any) -> Array:
    """β* for a noise of 1; where nothing was learned, all kernels alike."""
    beta = res.weights
    if not np.any(beta):
        sd = np.sqrt(np.diagonal(res.cov))
        beta = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    size = noise(beta)
    if not (np.isfinite(size) and size > 0):
        raise InputError("The values of the learned kernel do not vary: there is nothing to show.")
    return np.asarray(beta / size)
