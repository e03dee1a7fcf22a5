"""Assertions on samples, for tests of programs that run again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nosplit._checks import Seed, check_fraction, check_rng, check_sample
from nosplit._old.data.files.opening import is_path
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.engines.files.two_sample import open_both
from nosplit._old.testing.confirming import draws_for, fewest_rows, is_confirmed
from nosplit._text import printable
from nosplit._types import Array
from nosplit.api.two_sample import two_sample_test
from nosplit.data.options import Options, by_policy
from nosplit.data.samples import Samples, one_sample, two_samples
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.questions import TOO_LITTLE
from nosplit.inference.result import TestResult
from nosplit.models.drawing import drawing_from

__all__ = ["assert_fits", "assert_same_distribution"]

FIRST = Exact(999)
# Rows drawn from a model for one of the sample: more would add little.
DRAWN = 3
# Columns that a message names, and the level at which they differ.
MOST_COLUMNS, LEVEL = 5, 0.05
SMALLEST_ERROR, LARGEST_ERROR = 1e-7, 1e-3
AS_THEY_ARE = Options.of(None, None, None, "raise")


def assert_same_distribution(
    x: Any,
    y: Any,
    *,
    error: float = 1e-6,
    rng: Seed = 0,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "auto",
    workers: int | None = None,
) -> None:
    """Raise an AssertionError if two samples do not come from the same distribution.

    For tests of programs: where the distributions are the same, and rows are independent, it fails
    with a probability of at most `error`. Samples are compared with 999 random draws, in about the
    time of `two_sample_test`. Only where none of those is as extreme as the data are there
    1 / `error` fresh ones, and only if none of these is either, the assertion fails; that takes
    some seconds up to a minute, and is what the probability rests on. It fails as well if there is
    too little data to tell: a test that cannot fail is no test.

    Parameters
    ----------
    x, y : arrays, tables or names of files
        The samples, as in `two_sample_test`.
    error : float
        Probability of a false alarm, at most, in (0, 0.001].
    rng : int, Generator or None
        Source of the shuffling and the draws. The same seed and data give the same outcome.
    columns, exclude, nan_policy, workers
        As in `two_sample_test`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> assert_same_distribution(rng.normal(size=300), rng.normal(size=200))
    >>> assert_same_distribution(rng.normal(size=300), rng.normal(2.0, size=300), error=1e-4)
    Traceback (most recent call last):
        ...
    AssertionError: The samples differ: none of 9,999 draws is as extreme...
    """
    __tracebackhide__ = True  # pytest then shows the caller's line
    generator, error = check_rng(rng), _check_error(error)

    def read(policy: str) -> tuple[Any, Any, Options, Samples]:
        both = open_both(x, y).whole() if is_path(x) or is_path(y) else (x, y)
        options = Options.of(None, columns, exclude, policy)
        return *both, options, two_samples(*both, options).checked()

    x, y, options, data = by_policy(nan_policy, read)
    _check_can_fail(*data.shape[:2], error)
    found = _first_test(x, y, options, generator, workers)
    if found is not None and is_confirmed(data, options, error, generator, workers):
        raise AssertionError(_failure("The samples differ", found, error))


def assert_fits(
    x: Any,
    model: Any,
    *,
    error: float = 1e-6,
    rng: Seed = 0,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "raise",
    workers: int | None = None,
) -> None:
    """Raise an AssertionError if a sample does not come from a model that can be drawn from.

    The sample is compared with rows drawn from the model, three for each of its own, as by
    `assert_same_distribution`: if rows come from the model, and are independent, it fails with a
    probability of at most `error`. Fresh rows are drawn for the second comparison. No score is
    needed, so that models may be discrete, and bounded.

    Parameters
    ----------
    x : array, table or name of a file
        The sample, one observation a row; columns in the order of the model's.
    model : model, distribution or callable
        A model of `nosplit.models`, a distribution of `scipy.stats` with its parameters set, any
        object with a method `sample(n, rng)`, or a function of n and a Generator that draws n rows.
    error, rng, columns, exclude, nan_policy, workers
        As in `assert_same_distribution`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> assert_fits(rng.exponential(size=200), lambda n, rng: rng.exponential(size=n))
    """
    __tracebackhide__ = True  # pytest then shows the caller's line
    generator, error = check_rng(rng), _check_error(error)
    sample = one_sample(read_if_path(x), Options.of(None, columns, exclude, nan_policy))
    rows, draw = check_sample(sample.x, "x"), drawing_from(model)
    names = None if sample.encoding is None else sample.encoding.names

    def against() -> Array:
        drawn = draw(DRAWN * len(rows), generator)
        if drawn.shape[1] != rows.shape[1]:
            raise InputError(
                f"`model` must draw rows of as many columns as `x` has, {rows.shape[1]}, got "
                f"{drawn.shape[1]}."
            )
        return drawn

    _check_can_fail(len(rows), DRAWN * len(rows), error)
    found = _first_test(rows, against(), AS_THEY_ARE, generator, workers)
    if found is None:
        return
    again = two_samples(rows, against(), AS_THEY_ARE).checked()
    if is_confirmed(again, AS_THEY_ARE, error, generator, workers):
        raise AssertionError(
            _failure("The sample does not come from the model", found, error, names)
        )


def _check_error(error: float) -> float:
    if not SMALLEST_ERROR <= check_fraction(error, "error") <= LARGEST_ERROR:
        raise InputError(
            f"`error` must be from {SMALLEST_ERROR:g} to {LARGEST_ERROR:g}, got {error!r}. For "
            "a test at a larger level use `two_sample_test(x, y).reject(alpha)`."
        )
    return float(error)


def _check_can_fail(n: int, m: int, error: float) -> None:
    """Fail if no difference could be found: an assertion that cannot fail says nothing."""
    __tracebackhide__ = True
    least = fewest_rows(n, m, error)
    if least is not None:
        raise AssertionError(
            f"{TOO_LITTLE}: {n} and {m} rows have too few permutations for error={error:g}, so "
            "even samples that differ completely would pass. Use at least "
            f"{least} rows of each, or a larger `error`."
        )


def _first_test(
    x: Any, y: Any, options: Options, rng: np.random.Generator, workers: int | None
) -> TestResult | None:
    """The test with few draws, if none of these is as extreme as the data."""
    result = two_sample_test(
        x,
        y,
        calibration=FIRST,
        rng=rng,
        nan_policy=options.nan_policy,  # type: ignore[arg-type]
        scale=options.scale,
        columns=options.columns,
        exclude=options.exclude,
        workers=workers,
    )
    return result if result.pvalue <= 1.0 / (FIRST.n_resamples + 1) else None


def _failure(
    verdict: str, found: TestResult, error: float, names: Sequence[str] | None = None
) -> str:
    """Say what differs: y is the second sample, or rows drawn from the model."""
    lines = [
        f"{verdict}: none of {draws_for(error):,} draws is as extreme (p ≤ {error:g}).",
        *(f"  {line}" for line in _lines_of_columns(found, names)),
    ]
    return "\n".join(lines)


def _lines_of_columns(found: TestResult, names: Sequence[str] | None) -> Iterator[str]:
    held = found.columns.differing(LEVEL)
    for column in held[:MOST_COLUMNS]:
        place = found.columns.names.index(column)
        name = column if names is None else names[place]
        called = f"column {name}" if len(found.columns.rows) > 1 else "values"
        yield printable(f"{called}: {found.columns.rows[place].words}")
    if len(held) > MOST_COLUMNS:
        yield f"and {len(held) - MOST_COLUMNS} more columns"
    if not held:
        yield "no column by itself: how columns go together"
