"""Plots of columns: what they carry, and what they look like."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_int
from nosplit._lazy import extra
from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.plots.style import (
    BLACK,
    Axes,
    Figure,
    Look,
    X,
    Y,
    axes_or_new,
    key_above,
    name_rows,
    plain,
    short_label,
)
from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["need_rows", "place_of", "plot_attribution", "plot_column", "plot_columns", "rgb"]

MOST_COLUMNS = 12
# Categories that have bars of their own, and bins of a histogram.
MOST_BARS, MOST_BINS = 8, 40


def plot_attribution(explanation: Explanation, *, ax: Axes | None = None) -> Axes:
    """Draw how much of the learned statistic each column carries, the most first.

    The bar is the mean of two numbers that are marked: what is lost without the column, and what
    it shows alone. Where a sample is a profile, it is what the column shows alone.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    shown = explanation.ranked()[:MOST_COLUMNS]
    ax = axes_or_new(ax, height=1.4 + 0.4 * len(shown))
    places, share = np.arange(len(shown)), np.array([c.share for c in shown])
    scale = [100.0 * c.share / c.carried if c.carried else 0.0 for c in shown]
    error = [100.0 * c.error for c in shown]
    ax.barh(places, 100 * share, 0.7, xerr=error, color="#bdd7e7", edgecolor=BLACK, capsize=3)
    marks = ("lost", "o", BLACK, -0.18), ("alone", "D", "white", 0.18)
    for name, marker, fill, side in () if explanation.of_profile else marks:
        values = [s * getattr(c, name) for s, c in zip(scale, shown, strict=True)]
        look = {"markerfacecolor": fill, "markeredgecolor": BLACK, "linestyle": "none"}
        label = {"lost": "lost without it", "alone": "shown by it alone"}[name]
        ax.plot(values, places + side, marker=marker, markersize=6, label=label, **look)
    ax.axvline(0.0, color=BLACK, linewidth=0.8)
    name_rows(ax, [c.name for c in shown])
    hidden = len(explanation.columns) - len(shown)
    more = f" ({hidden} columns carry less)" if hidden else ""
    ax.set_xlabel("share of the learned statistic, %" + more)
    if not explanation.of_profile:  # all that is known is what columns show alone
        key_above(ax)
    plain(ax)
    return ax


# -- one column --------------------------------------------------------------------------------


def plot_columns(explanation: Explanation, *, most: int = 4) -> Figure:
    """Draw the columns that carry most of the difference, each as in `plot_column`.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned.
    most : int
        Number of columns.

    Returns
    -------
    Figure
    """
    need_rows(explanation)
    names = [c.name for c in explanation.ranked()[: check_int(most, "most", least=1)]]
    across = min(len(names), 2)
    down = math.ceil(len(names) / across)
    pyplot = extra("matplotlib.pyplot", "plot")
    size = (4.2 * across, 3.0 * down)
    figure, axes = pyplot.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.remove()
    for name, ax in zip(names, axes.flat, strict=False):
        plot_column(explanation, name, ax=ax)
    drawn = len(explanation.x.index), len(explanation.y.index)
    if sum(drawn) < explanation.n_rows:
        words = f"{drawn[0]:,} rows of x and {drawn[1]:,} of y, of {explanation.n_rows:,} in all"
        figure.suptitle(words, fontsize="small")
    return figure


def plot_column(explanation: Explanation, name: str, *, ax: Axes | None = None) -> Axes:
    """Draw one column of both samples: overlaid histograms, or bars for categories.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned.
    name : str
        Name of the column.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    need_rows(explanation)
    at = place_of(explanation, name)
    values = explanation.x.values[at], explanation.y.values[at]
    ax = axes_or_new(ax)
    if any(v.dtype == object for v in values):
        _draw_categories(ax, [[_category(v) for v in column] for column in values])
    else:
        _draw_histograms(ax, values)
    column = explanation.columns[at]
    ax.set_title(f"{short_label(name)}  ({column.percent} %)", fontsize="medium")
    ax.set_ylabel("share of rows, %")
    ax.set_ylim(0.0, 1.18 * ax.get_ylim()[1])  # room for the key
    ax.legend(loc="upper right", ncols=2, frameon=False, fontsize="small")
    plain(ax)
    return ax


def need_rows(explanation: Explanation) -> None:
    """Check that rows of both samples are known."""
    if explanation.of_profile:
        raise InputError(
            "`explanation` must be of rows to draw this, and one of its samples is a profile, "
            'which holds none. Draw kind="attribution", or evaluate explanation.witness(points).'
        )


def place_of(explanation: Explanation, name: str) -> int:
    """Position of a column."""
    names = [c.name for c in explanation.columns]
    if name not in names:
        known = ", ".join(map(repr, names[:8])) + ", …" * (len(names) > 8)
        raise InputError(f"`name` must be one of the columns {known}, got {name!r}.")
    return names.index(name)


def _category(value: Any) -> str:
    return "missing" if value is None else str(value)


def _draw_histograms(ax: Axes, values: Sequence[NDArray[Any]]) -> None:
    """Two outlines over the same bins; the middle 99.8 % where the tails are long."""
    there = [v[~np.isnat(v)] if v.dtype.kind == "M" else v[np.isfinite(v)] for v in values]
    if there[0].dtype.kind == "M":
        dates = extra("matplotlib.dates", "plot")
        there = [np.asarray(dates.date2num(v)) for v in there]
        locator = dates.AutoDateLocator(maxticks=5)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    edges = _histogram_edges(np.concatenate(there))
    for look, column in zip((X, Y), there, strict=True):
        inside = np.clip(column, edges[0], edges[-1])
        weights = np.full(len(column), 100.0 / max(len(column), 1))
        shape = {"edgecolor": look.colour, "linestyle": look.line, "linewidth": 1.6}
        face = {"facecolor": (*rgb(look), 0.25), "hatch": look.hatch}
        ax.hist(inside, edges, weights=weights, histtype="stepfilled", **shape, **face)
        ax.plot([], [], color=look.colour, linestyle=look.line, linewidth=1.6, label=look.name)


def rgb(look: Look) -> tuple[float, float, float]:
    """Colour of a sample."""
    colours = extra("matplotlib.colors", "plot")
    red, green, blue = colours.to_rgb(look.colour)
    return red, green, blue


def _histogram_edges(pooled: Array) -> Array:
    distinct = np.unique(pooled)
    if len(distinct) <= 20 and np.all(distinct == np.round(distinct)):
        low, high = distinct[0], distinct[-1]
        return np.arange(low, high + 2.0) - 0.5 if high - low <= MOST_BINS else _even(pooled)
    return _even(pooled)


def _even(pooled: Array) -> Array:
    """Even bins over the middle of the values; what is outside goes to the first and the last."""
    low, high = np.quantile(pooled, [0.001, 0.999]) if len(pooled) else (0.0, 1.0)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    count = int(np.clip(np.sqrt(len(pooled)) * 0.8, 8, MOST_BINS))
    return np.linspace(low, high, count + 1)


def _draw_categories(ax: Axes, values: Sequence[Sequence[str]]) -> None:
    """Bars of the most frequent categories side by side, and one pair for all others."""
    counts = [Counter(column) for column in values]
    total = sum(counts, Counter())
    names = [name for name, _ in total.most_common(MOST_BARS)]
    rest = len(total) - len(names)
    places = np.arange(len(names) + bool(rest))
    for side, look, count in zip((-0.2, 0.2), (X, Y), counts, strict=True):
        share = [100.0 * count[name] / max(count.total(), 1) for name in names]
        share += [100.0 - sum(share)] * bool(rest)
        face = {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": BLACK}
        ax.bar(places + side, share, 0.4, linewidth=0.8, label=look.name, **face)
    labels = [short_label(name, 14) for name in names]
    labels += [f"{rest}\nothers"] * bool(rest)
    turn = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if _crowded(labels) else {}
    ax.set_xticks(places, labels, **turn)


def _crowded(labels: Sequence[str]) -> bool:
    """Whether neighbours would touch, in axes with room for 45 characters."""
    widths = [max(map(len, label.split("\n"))) for label in labels]
    return any((a + b) / 2.0 + 1.0 > 45.0 / len(labels) for a, b in pairwise(widths))
