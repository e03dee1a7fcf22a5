"""An HTML report of a result: one file, for people who have never heard of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from nosplit._checks import check_alpha, check_flag
from nosplit._old.api.ways.against_profile import loaded
from nosplit._old.describe.explain import explain, stratified
from nosplit._old.describe.report.context import PageChoices, context
from nosplit._old.describe.report.difference import differs, effect
from nosplit._old.describe.report.page import check_target, render, write
from nosplit._old.describe.report.pictured.dependence import seen_of_dependence
from nosplit._old.describe.report.pictured.fit import seen_of_fit
from nosplit._old.describe.report.samples import read
from nosplit._old.describe.rows import FEWEST_ROWS
from nosplit._old.sketch.saved.profiles import Profile
from nosplit.errors import InputError
from nosplit.inference.questions import GOODNESS, INDEPENDENCE, TWO_SAMPLE
from nosplit.inference.result import TestResult

__all__ = ["check_target", "report"]


def report(
    res: TestResult,
    x: Any = None,
    y: Any = None,
    *,
    path: str | PathLike[str],
    alpha: float = 0.05,
    rows: bool = True,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Write a report of a result: one HTML file that needs no network.

    The verdict in plain words comes first, then a table of what changed, column by column, how
    large the difference is, which columns and rows carry what the test learned, how it was tested,
    the numbers to do it again, and how to cite.

    Parameters
    ----------
    res : TestResult
        The result.
    x, y : array_like, table or path, optional
        The data of the test, as it was given to it: two samples, two variables, or a sample and its
        model. Without it the report says nothing of columns and rows; of files that are too large
        to be read whole, and of collections of Dask or Spark, it draws some of their rows; of a
        profile there are none to draw.
    path : path-like
        Where to write it. A file that is there is replaced.
    alpha : float
        Level of the verdict.
    rows : bool
        Whether to show values of rows. `False`, for private data, also leaves out the names of
        categories; what stays are names of columns, means, and histograms.
    title : str, optional
        Title of the page; the labels of the samples by default.
    labels : two str, optional
        What to call the samples; their files, or "x" and "y", by default.
    names : sequence of str, optional
        Names of the columns of arrays.
    options : mapping, optional
        Keywords that the test was given and that a result does not record, such as `rng` and
        `shuffle`, for the code that repeats it.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import nosplit
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) * 1.5
    >>> res = nosplit.two_sample_test(x, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = report(res, x, y, path=folder + "/report.html")
    ...     "The samples differ" in file.read_text(encoding="utf-8")
    True
    """
    if not isinstance(res, TestResult):
        raise InputError(f"`res` must be a TestResult, got {type(res).__name__}.")
    named = all(isinstance(value, str | Path) for value in (x, y))
    files = (str(x), str(y)) if named else None
    page = _decided(alpha, rows, title, labels or files or ("x", "y"), options, files)
    target = check_target(path)
    return write(render(context(res, page) | _data_parts(res, x, y, names, page)), target)


def _data_parts(
    res: TestResult, x: Any, y: Any, names: Sequence[str] | None, page: PageChoices
) -> dict[str, Any]:
    """The parts of a page that need the data; none without it."""
    nothing: dict[str, Any] = {"effect": None, "differs": None, "seen": None}
    if res.question == GOODNESS:
        return nothing | {"seen": seen_of_fit(res, x, y, page)}
    if res.question == INDEPENDENCE:
        return nothing | {"seen": seen_of_dependence(res, x, y, page)}
    if res.question != TWO_SAMPLE or (x is None and y is None) or stratified(res):
        return nothing
    if x is None or y is None:
        raise InputError("`x` and `y` must be given together, got one of them.")
    x, y = loaded(x), loaded(y)
    profiles = [isinstance(value, Profile) for value in (x, y)]
    if all(profiles):  # what sums of both tell is in the result
        return nothing
    if any(profiles):
        told = explain(res, x, y)
        return nothing | {"effect": effect(told, page, None), "differs": differs(told, page, None)}
    data = read(res, x, y, names)
    if min(sample.n for sample in data.samples) < FEWEST_ROWS:
        return nothing | {"few": FEWEST_ROWS}
    told = explain(res, x, y)
    return nothing | {"effect": effect(told, page, data), "differs": differs(told, page, data)}


def _decided(
    alpha: float,
    rows: bool,
    title: str | None,
    labels: Sequence[str],
    options: Mapping[str, Any] | None,
    files: tuple[str, str] | None,
) -> PageChoices:
    if isinstance(labels, str) or len(labels) != 2:
        raise InputError(f"`labels` must be two names, got {labels!r}.")
    first, second = map(str, labels)
    return PageChoices(
        title=f"{first} and {second}" if title is None else str(title),
        labels=(first, second),
        alpha=check_alpha(alpha),
        rows=check_flag(rows, "rows"),
        options=options or {},
        files=files,
    )
