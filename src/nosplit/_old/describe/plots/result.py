"""Plots of results: the learned weights, the null law, p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_alpha
from nosplit._lazy import extra
from nosplit._old.describe.plots.style import (
    BLACK,
    GREY,
    RED,
    Axes,
    X,
    axes_or_new,
    key_above,
    name_rows,
    plain,
)
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.inference.print import said_p
from nosplit.inference.result import TestResult
from nosplit.methods.laws import Flips

__all__ = ["plot_null", "plot_pvalues", "plot_weights"]

# Kernels that are drawn, those of the largest weights.
MOST_KERNELS = 16
# A statistic farther out than this many times the null law's own range is drawn as an arrow.
FARTHEST = 4.0
# Probability in the tail that is not drawn.
TAIL = 1e-4


def plot_weights(res: TestResult, *, ax: Axes | None = None) -> Axes:
    """Draw the learned weights by kernel, those of the active set filled.

    Parameters
    ----------
    res : TestResult
        The result.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    lines = res.selection.by_kernel()
    largest = sorted(range(len(lines)), key=lambda i: -abs(lines[i].weight))[:MOST_KERNELS]
    shown = [lines[i] for i in sorted(largest)]
    ax = axes_or_new(ax, height=1.4 + 0.4 * len(shown))
    for place, line in enumerate(shown):
        look = {"facecolor": X.colour} if line.active else {"facecolor": "white", "hatch": "//////"}
        ax.barh(place, line.weight, height=0.7, edgecolor=BLACK, linewidth=0.8, **look)
    ax.axvline(0.0, color=BLACK, linewidth=0.8)
    name_rows(ax, [line.label for line in shown])
    ax.set_xlim(-1.1 if min(line.weight for line in shown) < 0 else -0.05, 1.1)
    hidden = len(lines) - len(shown)
    more = f" ({hidden} of smaller weight not shown)" if hidden else ""
    ax.set_xlabel("weight, in standard deviations, the largest 1" + more)
    _filled_key(ax, [("active set", {"facecolor": X.colour}), ("not active", _EMPTY)])
    plain(ax)
    return ax


_EMPTY = {"facecolor": "white", "hatch": "//////"}


def _filled_key(ax: Axes, entries: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """A key of filled boxes, above the axes where it hides nothing."""
    patch = extra("matplotlib.patches", "plot").Patch
    boxes = [patch(edgecolor=BLACK, linewidth=0.8, label=name, **look) for name, look in entries]
    key_above(ax, boxes)


# -- the null law ------------------------------------------------------------------------------


def plot_null(res: TestResult, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw the null law with the statistic and the threshold.

    Under exact calibration it is the histogram of the random draws, else the density of the
    closed form. A statistic far outside is an arrow at the edge, with its value.

    Parameters
    ----------
    res : TestResult
        The result.
    alpha : float
        Level of the threshold.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    check_alpha(alpha)
    ax = axes_or_new(ax)
    threshold = res.threshold(alpha)
    draw = _draw_flips if isinstance(res.null, Flips) else _draw_density
    low, high = draw(ax, res, threshold)
    if math.isfinite(threshold):
        ax.axvline(
            threshold,
            color=BLACK,
            linestyle="--",
            linewidth=1.6,
            label=f"rejects from {threshold:.3g} (level {alpha:g})",
        )
    _mark_statistic(ax, res, low, high)
    ax.set_ylim(bottom=0.0)
    evidence = res.how.n_resamples is not None
    ax.set_xlabel("evidence" if evidence else "statistic")
    ax.set_ylabel("random draws" if evidence else "density without a difference")
    key_above(ax, across=1)
    plain(ax)
    return ax


def _draw_flips(ax: Axes, res: TestResult, threshold: float) -> tuple[float, float]:
    """Histogram of the draws, those that would reject hatched."""
    values = res.null.values[1:]  # type: ignore[attr-defined]  # a Flips
    values = values[np.isfinite(values)]
    low, high = _range([float(values.min()), float(values.max())], threshold)
    edges = _edges_at(low, high, threshold)
    counts, _ = np.histogram(values, edges)
    _draw_bars(ax, edges, counts, threshold)
    return low, high


def _edges_at(low: float, high: float, threshold: float) -> Array:
    """About 40 bins from `low` on, the threshold between two of them."""
    width = (high - low) / 40.0
    if low < threshold <= high:
        width = (threshold - low) / max(1, round((threshold - low) / width))
    return np.asarray(low + width * np.arange(math.ceil((high - low) / width - 1e-9) + 1))


def _draw_bars(ax: Axes, edges: Array, counts: NDArray[np.int_], threshold: float) -> None:
    rejects = edges[:-1] >= threshold - 1e-9 * max(1.0, abs(threshold))
    looks = ((~rejects, {"facecolor": "#d9d9d9"}), (rejects, _REJECTS))
    for chosen, look in looks:
        ax.bar(
            edges[:-1][chosen],
            counts[chosen],
            np.diff(edges)[chosen],
            align="edge",
            edgecolor=GREY,
            linewidth=0.5,
            **look,
        )


_REJECTS = {"facecolor": "#f5d5bf", "hatch": "////"}


def _draw_density(ax: Axes, res: TestResult, threshold: float) -> tuple[float, float]:
    law: Any = res.null
    low = max(law.isf(1.0 - TAIL), 0.0 if res.selection.truncation is None else -np.inf)
    low, high = _range([low, law.isf(TAIL)], threshold)
    grid = np.linspace(low, high, 400)
    density = law.pdf(grid)
    ax.plot(grid, density, color=BLACK, linewidth=1.4)
    ax.fill_between(grid, density, color="#d9d9d9", linewidth=0.0)
    tail = grid >= threshold
    ax.fill_between(grid[tail], density[tail], edgecolor=GREY, linewidth=0.0, **_REJECTS)
    return low, high


def _range(ends: list[float], threshold: float) -> tuple[float, float]:
    low, high = min(ends), max(ends)
    if math.isfinite(threshold):
        low, high = min(low, threshold), max(high, threshold)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _mark_statistic(ax: Axes, res: TestResult, low: float, high: float) -> None:
    """A line at the statistic, or an arrow to it at the edge."""
    label = f"statistic {res.statistic:.3g} ({said_p(res.log_pvalue)})"
    room = 0.04 * (high - low)
    if low - FARTHEST * (high - low) <= res.statistic <= low + FARTHEST * (high - low):
        ax.axvline(res.statistic, color=RED, linewidth=2.4, label=label)
        ax.set_xlim(min(low, res.statistic) - room, max(high, res.statistic) + room)
        return
    above = res.statistic > high
    edge = high + 6 * room if above else low - 6 * room
    ax.set_xlim(min(low, edge) - room, max(high, edge) + room)
    half = ax.get_ylim()[1] / 2.0
    ax.plot(
        [edge],
        [half],
        marker=">" if above else "<",
        markersize=14,
        color=RED,
        linestyle="none",
        label=f"{label}, off the scale",
    )


# -- p-values ----------------------------------------------------------------------------------


def plot_pvalues(
    results: Mapping[float, TestResult | Sequence[TestResult]],
    *,
    alpha: float = 0.05,
    xlabel: str = "R",
    ax: Axes | None = None,
) -> Axes:
    """Draw p-values against a number, such as the window R or the number of rows n.

    Parameters
    ----------
    results : mapping
        From a number to a result, or to several of them (of other seeds), whose median is joined.
    alpha : float
        Level, drawn as a line.
    xlabel : str
        What the number is.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    check_alpha(alpha)
    table = _log10_pvalues(results)
    ax = axes_or_new(ax)
    for number, values in table.items():
        if len(values) > 1:
            ax.plot([number] * len(values), values, linestyle="none", **_ONE)
    medians = [float(np.median(values)) for values in table.values()]
    several = any(len(values) > 1 for values in table.values())
    label = "median of several" if several else "p-value"
    ax.plot(list(table), medians, color=X.colour, marker=X.marker, linewidth=1.6, label=label)
    level = math.log10(alpha)
    ax.axhline(level, color=BLACK, linestyle="--", linewidth=1.2, label=f"level {alpha:g}")
    numbers = list(table)
    if min(numbers) > 0 and max(numbers) >= 10 * min(numbers):
        ax.set_xscale("log")
    if len(numbers) <= 8:
        ax.set_xticks(numbers, [f"{number:,}" for number in numbers])
        ax.minorticks_off()
    _pvalue_axis(ax, [*medians, *np.concatenate([*table.values()]), level])
    ax.set_xlabel(xlabel)
    ax.set_ylabel("p-value")
    key_above(ax)
    plain(ax)
    return ax


_ONE = {"marker": "_", "markersize": 10, "color": GREY}


def _log10_pvalues(results: Mapping[float, Any]) -> dict[float, Array]:
    if not isinstance(results, Mapping) or not results:
        raise InputError(
            "`results` must be a mapping from numbers to results, such as {5: res}, "
            f"got {type(results).__name__}."
        )
    table = {}
    for number in sorted(results):
        some = results[number]
        some = [some] if isinstance(some, TestResult) else list(some)
        table[number] = np.array([r.log_pvalue for r in some]) / math.log(10.0)
    return table


def _pvalue_axis(ax: Axes, values: Sequence[float]) -> None:
    """Powers of ten, however small: the axis is linear in log p."""
    ticker = extra("matplotlib.ticker", "plot")
    ax.set_ylim(min(values) * 1.05 - 0.2, 0.1)
    ax.yaxis.set_major_locator(ticker.MaxNLocator(6, integer=True))
    ax.yaxis.set_major_formatter(lambda v, _: "1" if v == 0 else rf"$10^{{{v:.0f}}}$")
