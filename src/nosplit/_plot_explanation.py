"""Plots of explanations: the witness function, and the columns that differ most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._drawing import (
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
    wrapped,
)
from nosplit._errors import InputError
from nosplit._lazy import extra
from nosplit._validation import check_int
from nosplit._witness import witness_at
from nosplit.bank import Bank
from nosplit.explain import Explanation

__all__ = ["plot_attribution", "plot_column", "plot_columns", "plot_witness"]

Array = NDArray[np.float64]

MOST_COLUMNS = 12
# Categories that have bars of their own, bins of a histogram, points of a scatter plot.
MOST_BARS, MOST_BINS, MOST_POINTS = 8, 40, 400
GRID = 80
WITNESS = "witness (positive: more like x)"


def plot_attribution(explanation: Explanation, *, ax: Axes | None = None) -> Axes:
    """Draw how much of the learned statistic each column carries, the most first.

    The bar is the mean of two numbers that are marked: what is lost without the column, and what
    it shows alone.

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
    for name, marker, fill, side in (("lost", "o", BLACK, -0.18), ("alone", "D", "white", 0.18)):
        values = [s * getattr(c, name) for s, c in zip(scale, shown, strict=True)]
        look = {"markerfacecolor": fill, "markeredgecolor": BLACK, "linestyle": "none"}
        label = {"lost": "lost without it", "alone": "shown by it alone"}[name]
        ax.plot(values, places + side, marker=marker, markersize=6, label=label, **look)
    ax.axvline(0.0, color=BLACK, linewidth=0.8)
    name_rows(ax, [c.name for c in shown])
    hidden = len(explanation.columns) - len(shown)
    more = f" ({hidden} columns carry less)" if hidden else ""
    ax.set_xlabel("share of the learned statistic, %" + more)
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
    at = _place(explanation, name)
    values = explanation.x.values[at], explanation.y.values[at]
    ax = axes_or_new(ax)
    if any(v.dtype == object for v in values):
        _draw_categories(ax, [[_category(v) for v in column] for column in values])
    else:
        _draw_histograms(ax, values)
    column = explanation.columns[at]
    ax.set_title(f"{wrapped(name)}  ({round(100 * column.share)} %)", fontsize="medium")
    ax.set_ylabel("share of rows, %")
    ax.set_ylim(0.0, 1.18 * ax.get_ylim()[1])  # room for the key
    ax.legend(loc="upper right", ncols=2, frameon=False, fontsize="small")
    plain(ax)
    return ax


def _place(explanation: Explanation, name: str) -> int:
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
    edges = _bins(np.concatenate(there))
    for look, column in zip((X, Y), there, strict=True):
        inside = np.clip(column, edges[0], edges[-1])
        weights = np.full(len(column), 100.0 / max(len(column), 1))
        shape = {"edgecolor": look.colour, "linestyle": look.line, "linewidth": 1.6}
        face = {"facecolor": (*_rgb(look), 0.25), "hatch": look.hatch}
        ax.hist(inside, edges, weights=weights, histtype="stepfilled", **shape, **face)
        ax.plot([], [], color=look.colour, linestyle=look.line, linewidth=1.6, label=look.name)


def _rgb(look: Look) -> tuple[float, float, float]:
    colours = extra("matplotlib.colors", "plot")
    red, green, blue = colours.to_rgb(look.colour)
    return red, green, blue


def _bins(pooled: Array) -> Array:
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
    labels = [wrapped(name, 14) for name in names]
    labels += [f"{rest}\nothers"] * bool(rest)
    turn = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if _crowded(labels) else {}
    ax.set_xticks(places, labels, **turn)


def _crowded(labels: Sequence[str]) -> bool:
    """Whether neighbours would touch, in axes with room for 45 characters."""
    widths = [max(map(len, label.split("\n"))) for label in labels]
    return any((a + b) / 2.0 + 1.0 > 45.0 / len(labels) for a, b in pairwise(widths))


# -- the witness function ----------------------------------------------------------------------


def plot_witness(
    explanation: Explanation, *, columns: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the witness function over the samples, in one or two of their columns.

    Where the samples have no other columns it is a curve, or filled contours; else the rows
    themselves are drawn, placed by these columns and with the witness function at each.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned.
    columns : sequence of one or two str, optional
        Columns of numbers; by default the two that carry most, or the only one.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    chosen = _columns(explanation, columns)
    ax = axes_or_new(ax, height=4.4)
    drawn = {
        (1, True): _draw_curve,
        (1, False): _draw_against_column,
        (2, True): _draw_contours,
        (2, False): _draw_rows,
    }
    drawn[len(chosen), len(chosen) == explanation.x.rows.shape[1]](ax, explanation, chosen)
    plain(ax)
    return ax


def _columns(explanation: Explanation, columns: Sequence[str] | None) -> list[int]:
    """Places of the columns to draw."""
    numeric = [i for i, v in enumerate(explanation.x.values) if v.dtype.kind in "fiu"]
    if columns is None:
        names = [c.name for c in explanation.ranked()]
        ranked = [_place(explanation, name) for name in names]
        chosen = [i for i in ranked if i in numeric][:2]
        if not chosen:
            raise InputError("`explanation` must have a column of numbers for this, it has none.")
        return chosen
    if isinstance(columns, str) or not 1 <= len(columns) <= 2:
        raise InputError(f"`columns` must be one or two names in a list, got {columns!r}.")
    chosen = [_place(explanation, name) for name in columns]
    if any(i not in numeric for i in chosen):
        raise InputError(f"`columns` must hold numbers, got {list(columns)!r}.")
    return chosen


def _draw_curve(ax: Axes, explanation: Explanation, chosen: list[int]) -> None:
    """The function of one column, over the outlines of both samples."""
    grid = _grid(explanation, chosen[0], 300)
    values = _witness(explanation, grid[:, None])
    at = _units(explanation, chosen[0], grid)
    ax.plot(at, values, color=BLACK, linewidth=1.8, label="witness function")
    ax.axhline(0.0, color=BLACK, linewidth=0.8)
    for look, side in ((X, values > 0), (Y, values < 0)):
        face = {"facecolor": (*_rgb(look), 0.3), "edgecolor": look.colour, "hatch": look.hatch}
        label = f"more like {look.name}"
        ax.fill_between(at, 0.0, values, where=side.tolist(), linewidth=0.0, label=label, **face)
    _outlines(ax, explanation, chosen[0], at)
    ax.set_xlabel(_name(explanation, chosen[0]))
    ax.set_ylabel(WITNESS)
    key_above(ax, across=3)


def _outlines(ax: Axes, explanation: Explanation, column: int, at: Array) -> None:
    """Histograms of the samples along the lower edge, without a scale of their own."""
    edges = np.linspace(at[0], at[-1], MOST_BINS + 1)
    shares = [
        np.histogram(s.values[column], edges)[0] / len(s.index)
        for s in (explanation.x, explanation.y)
    ]
    low, high = ax.get_ylim()
    scale = 0.35 * (high - low) / max(share.max() for share in shares)
    base = low - 0.4 * (high - low)
    for look, share in zip((X, Y), shares, strict=True):
        heights = base + scale * share
        shape = {"color": look.colour, "linestyle": look.line, "linewidth": 1.6}
        ax.stairs(heights, edges, baseline=base, label=f"rows of {look.name}", **shape)
    ax.set_ylim(base, high)


def _draw_against_column(ax: Axes, explanation: Explanation, chosen: list[int]) -> None:
    """Rows, by one column and the witness function there."""
    for look, sample in ((X, explanation.x), (Y, explanation.y)):
        values = sample.values[chosen[0]][:MOST_POINTS], sample.witness[:MOST_POINTS]
        shape = {"marker": look.marker, "edgecolors": BLACK, "linewidths": 0.4}
        ax.scatter(
            *values, s=22, color=look.colour, alpha=0.75, label=f"rows of {look.name}", **shape
        )
    ax.axhline(0.0, color=BLACK, linewidth=0.8)
    ax.set_xlabel(_name(explanation, chosen[0]))
    ax.set_ylabel(WITNESS)
    key_above(ax)


def _draw_contours(ax: Axes, explanation: Explanation, chosen: list[int]) -> None:
    """The function of two columns, from dark to bright, its zero line, and the rows."""
    across, up = (_grid(explanation, i, GRID) for i in chosen)
    points = np.empty((GRID * GRID, 2))
    points[:, chosen[0]], points[:, chosen[1]] = (g.ravel() for g in np.meshgrid(across, up))
    values = _witness(explanation, points).reshape(GRID, GRID)
    grids = [_units(explanation, i, g) for i, g in zip(chosen, (across, up), strict=True)]
    filled = ax.contourf(*grids, values, levels=12, cmap="viridis")
    ax.contour(*grids, values, levels=[0.0], colors="white", linewidths=2.4)
    ax.contour(*grids, values, levels=[0.0], colors=BLACK, linewidths=1.2)
    for look, sample, face in ((X, explanation.x, "white"), (Y, explanation.y, BLACK)):
        places = (sample.values[i][:MOST_POINTS] for i in chosen)
        edge = {"edgecolors": BLACK if face == "white" else "white", "linewidths": 0.5}
        ax.scatter(
            *places, s=14, marker=look.marker, color=face, label=f"rows of {look.name}", **edge
        )
    ax.set_xlim(grids[0][0], grids[0][-1])
    ax.set_ylim(grids[1][0], grids[1][-1])
    _finish_plane(ax, explanation, chosen, filled)


def _draw_rows(ax: Axes, explanation: Explanation, chosen: list[int]) -> None:
    """Rows, by two of their columns, with the witness function from dark to bright."""
    both = np.concatenate([explanation.x.witness, explanation.y.witness])
    low, high = np.quantile(both, [0.02, 0.98])
    shade = {"cmap": "viridis", "vmin": low, "vmax": high, "edgecolors": BLACK, "linewidths": 0.4}
    drawn = None
    for look, sample in ((X, explanation.x), (Y, explanation.y)):
        places = (sample.values[i][:MOST_POINTS] for i in chosen)
        colours = sample.witness[:MOST_POINTS]
        label = f"rows of {look.name}"
        drawn = ax.scatter(*places, s=26, c=colours, marker=look.marker, label=label, **shade)
    _finish_plane(ax, explanation, chosen, drawn)


def _finish_plane(ax: Axes, explanation: Explanation, chosen: list[int], drawn: Any) -> None:
    ax.figure.colorbar(drawn, ax=ax, label=WITNESS)
    ax.set_xlabel(_name(explanation, chosen[0]))
    ax.set_ylabel(_name(explanation, chosen[1]))
    key_above(ax)


def _witness(explanation: Explanation, rows: Array) -> Array:
    """The function at encoded rows."""
    bank, weights = Bank(explanation.kernel.kernels), np.array(explanation.kernel.weights)
    plain_values = witness_at(rows, explanation.x.rows, explanation.y.rows, bank, weights)
    return np.asarray(plain_values - explanation.level)


def _grid(explanation: Explanation, column: int, points: int) -> Array:
    """Even points over the rows of both samples, but for stray ones."""
    pooled = np.concatenate([explanation.x.rows[:, column], explanation.y.rows[:, column]])
    low, high = np.quantile(pooled, [0.002, 0.998])
    room = 0.05 * (high - low) or 0.5
    return np.linspace(low - room, high + room, points)


def _units(explanation: Explanation, column: int, encoded: Array) -> Array:
    """Encoded numbers of a column in the units that it came in: a straight line."""
    rows, values = explanation.x.rows[:, column], explanation.x.values[column]
    i, j = int(np.argmin(rows)), int(np.argmax(rows))
    if rows[i] == rows[j]:
        return np.asarray(encoded - rows[i] + values[i])
    slope = (values[j] - values[i]) / (rows[j] - rows[i])
    return np.asarray(values[i] + slope * (encoded - rows[i]))


def _name(explanation: Explanation, column: int) -> str:
    return wrapped(explanation.columns[column].name, 36)
