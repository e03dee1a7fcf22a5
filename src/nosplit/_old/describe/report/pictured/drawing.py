"""Pictures of two quantities: quantiles against quantiles, points, and cells of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._lazy import extra
from nosplit._old.describe.report.figures import FIRST, INK, SECOND, svg_of
from nosplit._types import Array

__all__ = ["points", "quantiles", "table_cells"]

SIZE = (3.6, 2.6)
# Standard deviations of a cell that are nothing much.
CHANCE = 4.0
# Points of a picture of quantiles.
MOST_QUANTILES = 200


def quantiles(sample: Array, model: Array, *, key: str) -> str:
    """Quantiles of a sample against those of a model, and the line on which they would be equal."""
    count = min(MOST_QUANTILES, len(sample))
    levels = (np.arange(count) + 0.5) / count
    of_model, of_sample = np.quantile(model, levels), np.quantile(sample, levels)

    def draw(ax: Any) -> None:
        low, high = min(of_model[0], of_sample[0]), max(of_model[-1], of_sample[-1])
        ax.plot([low, high], [low, high], color=INK, linewidth=1.0, linestyle=(0, (4, 2)))
        ax.scatter(of_model, of_sample, s=9.0, color=FIRST, linewidth=0.0)
        ax.set_xlabel("quantiles of the model")
        ax.set_ylabel("of the sample")

    return svg_of(draw, SIZE, f"quantiles {key}")


def points(x: Array, y: Array, *, key: str) -> str:
    """One point a row."""

    def draw(ax: Any) -> None:
        ax.scatter(x, y, s=7.0, color=FIRST, alpha=0.5, linewidth=0.0)
        ax.set_xlabel("x")
        ax.set_ylabel("y")

    return svg_of(draw, SIZE, f"points {key}")


def table_cells(excess: Array, ends: tuple[Array | None, Array | None], *, key: str) -> str:
    """Cells of a table, (x, y): full where there are more rows than chance puts there.

    `ends` are those of the cells of numbers; cells of categories are numbered from 1.
    """
    patches = extra("matplotlib.patches", "report")
    largest = max(float(np.abs(excess).max()), CHANCE)
    places = [np.arange(n + 1) + 0.5 for n in excess.shape]

    def draw(ax: Any) -> None:
        for (i, j), value in np.ndenumerate(excess):
            if abs(value) < 0.02 * largest:
                continue
            cell = patches.Rectangle(
                (i + 0.5, j + 0.5),
                1.0,
                1.0,
                facecolor=FIRST if value > 0 else "none",
                alpha=abs(value) / largest,
                edgecolor="none" if value > 0 else SECOND,
                hatch=None if value > 0 else "////",
                linewidth=0.0,
            )
            ax.add_patch(cell)
        ax.set_xlim(places[0][0], places[0][-1])
        ax.set_ylim(places[1][0], places[1][-1])
        for axis, own, at in zip((ax.xaxis, ax.yaxis), ends, places, strict=True):
            _mark_cells(axis, own, at)
        ax.set_xlabel("x")
        ax.set_ylabel("y")

    return svg_of(draw, SIZE, f"cells {key}")


def _mark_cells(axis: Any, ends: Array | None, places: Array) -> None:
    """Ends of cells of numbers, or the numbers of categories."""
    if ends is None:
        axis.set_ticks(np.arange(1, len(places)))
        return
    some = np.unique(np.linspace(0, len(ends) - 1, min(5, len(ends))).astype(int))
    axis.set_ticks(places[some], [f"{ends[k]:.2g}" for k in some])
