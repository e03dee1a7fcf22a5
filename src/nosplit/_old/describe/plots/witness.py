"""Plots of the witness function over the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.plots.columns import need_rows, place_of, rgb
from nosplit._old.describe.plots.style import (
    BLACK,
    Axes,
    X,
    Y,
    axes_or_new,
    key_above,
    plain,
    short_label,
)
from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["plot_witness"]

# Bins of a histogram, points of a scatter plot, and points of a grid on either axis.
MOST_BINS, MOST_POINTS, GRID = 40, 400, 80
WITNESS = "witness (positive: more like x)"


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
    need_rows(explanation)
    chosen = _columns_to_draw(explanation, columns)
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


def _columns_to_draw(explanation: Explanation, columns: Sequence[str] | None) -> list[int]:
    """Places of the columns to draw."""
    numeric = [i for i, v in enumerate(explanation.x.values) if v.dtype.kind in "fiu"]
    if columns is None:
        names = [c.name for c in explanation.ranked()]
        ranked = [place_of(explanation, name) for name in names]
        chosen = [i for i in ranked if i in numeric][:2]
        if not chosen:
            raise InputError("`explanation` must have a column of numbers for this, it has none.")
        return chosen
    if isinstance(columns, str) or not 1 <= len(columns) <= 2:
        raise InputError(f"`columns` must be one or two names in a list, got {columns!r}.")
    chosen = [place_of(explanation, name) for name in columns]
    if any(i not in numeric for i in chosen):
        raise InputError(f"`columns` must hold numbers, got {list(columns)!r}.")
    return chosen


def _draw_curve(ax: Axes, explanation: Explanation, chosen: list[int]) -> None:
    """The function of one column, over the outlines of both samples."""
    grid = _grid(explanation, chosen[0], 300)
    values = _witness(explanation, grid[:, None])
    at = _in_units(explanation, chosen[0], grid)
    ax.plot(at, values, color=BLACK, linewidth=1.8, label="witness function")
    ax.axhline(0.0, color=BLACK, linewidth=0.8)
    for look, side in ((X, values > 0), (Y, values < 0)):
        face = {"facecolor": (*rgb(look), 0.3), "edgecolor": look.colour, "hatch": look.hatch}
        label = f"more like {look.name}"
        ax.fill_between(at, 0.0, values, where=side.tolist(), linewidth=0.0, label=label, **face)
    _outlines(ax, explanation, chosen[0], at)
    ax.set_xlabel(_short_name(explanation, chosen[0]))
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
    ax.set_xlabel(_short_name(explanation, chosen[0]))
    ax.set_ylabel(WITNESS)
    key_above(ax)


def _draw_contours(ax: Axes, explanation: Explanation, chosen: list[int]) -> None:
    """The function of two columns, from dark to bright, its zero line, and the rows."""
    across, up = (_grid(explanation, i, GRID) for i in chosen)
    points = np.empty((GRID * GRID, 2))
    points[:, chosen[0]], points[:, chosen[1]] = (g.ravel() for g in np.meshgrid(across, up))
    values = _witness(explanation, points).reshape(GRID, GRID)
    grids = [_in_units(explanation, i, g) for i, g in zip(chosen, (across, up), strict=True)]
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
    ax.set_xlabel(_short_name(explanation, chosen[0]))
    ax.set_ylabel(_short_name(explanation, chosen[1]))
    key_above(ax)


def _witness(explanation: Explanation, rows: Array) -> Array:
    """The function at encoded rows."""
    return np.asarray(explanation.function(rows) - explanation.level)


def _grid(explanation: Explanation, column: int, points: int) -> Array:
    """Even points over the rows of both samples, but for stray ones."""
    pooled = np.concatenate([explanation.x.rows[:, column], explanation.y.rows[:, column]])
    low, high = np.quantile(pooled, [0.002, 0.998])
    room = 0.05 * (high - low) or 0.5
    return np.linspace(low - room, high + room, points)


def _in_units(explanation: Explanation, column: int, encoded: Array) -> Array:
    """Encoded numbers of a column in the units that it came in: a straight line."""
    rows, values = explanation.x.rows[:, column], explanation.x.values[column]
    i, j = int(np.argmin(rows)), int(np.argmax(rows))
    if rows[i] == rows[j]:
        return np.asarray(encoded - rows[i] + values[i])
    slope = (values[j] - values[i]) / (rows[j] - rows[i])
    return np.asarray(values[i] + slope * (encoded - rows[i]))


def _short_name(explanation: Explanation, column: int) -> str:
    return short_label(explanation.columns[column].name, 36)
