"""Plots of results and explanations, with matplotlib (`pip install 'nosplit[plot]'`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nosplit._checks import resolve
from nosplit._lazy import extra
from nosplit._old.describe.explain import explain
from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.plots.columns import plot_attribution, plot_column, plot_columns
from nosplit._old.describe.plots.result import plot_null, plot_pvalues, plot_weights
from nosplit._old.describe.plots.style import Figure, figure_of
from nosplit._old.describe.plots.witness import plot_witness
from nosplit.errors import InputError
from nosplit.inference.result import TestResult

__all__ = [
    "KINDS",
    "plot",
    "plot_attribution",
    "plot_column",
    "plot_columns",
    "plot_null",
    "plot_overview",
    "plot_pvalues",
    "plot_weights",
    "plot_witness",
]


def plot(
    res: Any, *, kind: str = "overview", x: Any = None, y: Any = None, **options: Any
) -> Figure:
    """Draw a result or an explanation.

    Parameters
    ----------
    res : TestResult, Explanation, or mapping of numbers to results
        What to draw. "pvalues" takes a mapping; "attribution", "columns" and "witness" take an
        explanation, or a result with the samples `x` and `y`, which is explained first.
    kind : str
        "weights": the learned weights, the active set filled. "null": the null law, with the
        statistic and the threshold. "attribution": how much each column carries. "columns": the
        columns that carry most, as histograms. "witness": the witness function in one or two
        columns. "pvalues": p-values against a number such as R or n. "overview": the first two,
        and those of the samples where there is an explanation.
    x, y : array_like or table, optional
        The samples, where an explanation is wanted and `res` is a result.
    **options
        Passed on to the plot: `ax` (where to draw), `alpha` (level), `columns` (of "witness"),
        `most` (of "columns"), `xlabel` (of "pvalues"); see the functions of
        `nosplit._old.describe.plots`.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> import nosplit
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) * 1.5
    >>> figure = nosplit.plot(nosplit.two_sample_test(x, y), kind="null")
    >>> figure.axes[0].get_xlabel()
    'evidence'
    """
    draw = resolve(kind, KINDS, "kind")
    if (x is None) != (y is None):
        raise InputError("`x` and `y` must be given together, got one of them.")
    if x is not None and isinstance(res, TestResult):
        res = explain(res, x, y)
    drawn = draw(res, **options)
    return drawn if hasattr(drawn, "axes") and hasattr(drawn, "savefig") else figure_of(drawn)


def plot_overview(res: TestResult | Explanation, *, alpha: float = 0.05) -> Figure:
    """Draw the learned weights and the null law; of an explanation the columns and the witness too.

    Parameters
    ----------
    res : TestResult or Explanation
        What to draw.
    alpha : float
        Level of the threshold.

    Returns
    -------
    Figure
    """
    pyplot = extra("matplotlib.pyplot", "plot")
    both = isinstance(res, Explanation)
    figure, axes = pyplot.subplots(
        1 + both, 2, figsize=(11.0, 4.2 * (1 + both)), layout="constrained", squeeze=False
    )
    plot_weights(_result(res), ax=axes[0, 0])
    plot_null(_result(res), alpha=alpha, ax=axes[0, 1])
    if isinstance(res, Explanation):
        plot_attribution(res, ax=axes[1, 0])
        if res.of_profile:  # the witness function is drawn over rows of both samples
            axes[1, 1].remove()
        else:
            plot_witness(res, ax=axes[1, 1])
    return figure


def _result(res: Any) -> TestResult:
    found = res.result if isinstance(res, Explanation) else res
    if not isinstance(found, TestResult):
        raise InputError(f"`res` must be a TestResult or an Explanation, got {type(res).__name__}.")
    return found


def _check_explanation(res: Any) -> Explanation:
    if isinstance(res, TestResult):
        raise InputError("`x` and `y` must be given to draw this: a result holds no data.")
    if not isinstance(res, Explanation):
        raise InputError(f"`res` must be an Explanation, got {type(res).__name__}.")
    return res


KINDS: Mapping[str, Callable[..., Any]] = {
    "overview": plot_overview,
    "weights": lambda res, **options: plot_weights(_result(res), **options),
    "null": lambda res, **options: plot_null(_result(res), **options),
    "attribution": lambda res, **options: plot_attribution(_check_explanation(res), **options),
    "columns": lambda res, **options: plot_columns(_check_explanation(res), **options),
    "witness": lambda res, **options: plot_witness(_check_explanation(res), **options),
    "pvalues": plot_pvalues,
}
