"""Figures as inline SVG, the same bytes for the same data.

No name and no value of the data is written into a figure except the numbers on its axes: names
stand beside it in HTML, where there is one way to escape them.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np

from nosplit._lazy import extra
from nosplit._types import Array

__all__ = ["FIRST", "INK", "SECOND", "histogram", "null_law", "svg_of"]

# Stand-ins for the page's own colours, which follow its light or dark scheme.
INK, FIRST, SECOND = "#010203", "#040506", "#070809"
PAGE = {INK: "currentColor", FIRST: "var(--first)", SECOND: "var(--second)"}
STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.xmargin": 0.02,
    "axes.unicode_minus": True,
}
MOST_BINS = 30


def histogram(x: Array, y: Array, *, key: str, dates: bool = False) -> str:
    """Two samples of one column as overlaid histograms: the first filled, the second a line.

    Figures of one page have different keys.
    """
    edges = _inner_bins(np.concatenate([x, y]))

    def draw(ax: Any) -> None:
        for sample, look in ((x, FILLED), (y, OUTLINE)):
            inside = np.clip(sample, edges[0], edges[-1])
            share = 100.0 * np.histogram(inside, edges)[0] / len(sample)
            ax.stairs(share, edges, **look)
        ax.set_ylim(bottom=0.0)
        ax.set_ylabel("% of rows")
        if dates and edges[0] > -7e5 and edges[-1] < 2.9e6:  # the years that calendars know
            _date_axis(ax)

    return svg_of(draw, (3.6, 1.9), f"column {key}")


def _date_axis(ax: Any) -> None:
    dates = extra("matplotlib.dates", "report")
    ticks = dates.AutoDateLocator(maxticks=5)
    ax.xaxis.set_major_locator(ticks)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(ticks))


FILLED: dict[str, Any] = {"fill": True, "facecolor": FIRST, "alpha": 0.45, "linewidth": 0.0}
OUTLINE: dict[str, Any] = {"edgecolor": SECOND, "linewidth": 1.8}


def _inner_bins(values: Array) -> Array:
    """Bins over all but the outermost 1 % of the values, which go to the last bins.

    A few whole numbers get a bin each. No bin ends on a value of a row: ends are rounded outward.
    """
    low, high = np.quantile(values, [0.005, 0.995])
    whole = np.all(values == np.round(values)) and high - low < MOST_BINS and abs(high) < 1e9
    if whole:
        return np.arange(low - 0.5, high + 1.0)
    if not high > low:
        low, high = float(values.min()), float(values.max())
    if not high > low:  # a constant column
        room = max(abs(low), 1.0) / 2.0
        return np.linspace(low - room, low + room, 6)
    step = _round_up((high - low) / MOST_BINS)
    first, last = np.floor(low / step), np.ceil(high / step)
    return np.asarray(step * np.arange(first, last + 1.0))


def _round_up(step: float) -> float:
    """The next of 1, 2, 2.5, 5 or 10 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(power * next(m for m in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if m * power >= step))


def null_law(law: Array | tuple[Array, Array], *, statistic: float, threshold: float) -> str:
    """Draw the law of the statistic under the null hypothesis, its value, and where it rejects.

    The law is given by draws, or by points and the density there.
    """

    def draw(ax: Any) -> None:
        if isinstance(law, tuple):
            edges = law[0]
            ax.fill_between(*law, facecolor=FIRST, alpha=0.45, linewidth=0.0)
            ax.set_ylabel("density")
        else:
            counts, edges = np.histogram(law[np.isfinite(law)], 40)
            ax.stairs(100.0 * counts / len(law), edges, **FILLED)
            ax.set_ylabel("% of draws")
        low, high = edges[0], edges[-1]
        far = statistic > high + 4.0 * (high - low)
        if far:  # where its place on the axis would leave no room for the law
            ax.set_xlim(right=high + (high - low))
            ax.text(0.97, 0.5, f"{statistic:.4g} →", ha="right", transform=ax.transAxes)
        if far or np.isfinite(statistic):
            ax.axvline(high + (high - low) if far else statistic, color=SECOND, linewidth=2.2)
        if np.isfinite(threshold):
            ax.axvline(threshold, color=INK, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("statistic")

    return svg_of(draw, (4.8, 2.1), "null")


def svg_of(draw: Any, size: tuple[float, float], key: str) -> str:
    """The SVG element of a drawing: no date, no size of its own, the page's colours."""
    matplotlib = extra("matplotlib", "report")
    figure = extra("matplotlib.figure", "report")
    stream = io.StringIO()
    with (
        warnings.catch_warnings(),
        matplotlib.rc_context({**STYLE, "svg.hashsalt": f"nosplit {key}"}),
    ):
        warnings.simplefilter("ignore")  # of ticks that are not as many as wished
        fig = figure.Figure(figsize=size)
        # Margins in inches: a layout that measures its text takes twice as long.
        fig.subplots_adjust(
            0.55 / size[0], 0.45 / size[1], 1.0 - 0.1 / size[0], 1.0 - 0.05 / size[1]
        )
        ax = fig.add_subplot()
        ax.locator_params(axis="x", nbins=7)
        draw(ax)
        fig.savefig(stream, format="svg", transparent=True, metadata=NO_METADATA)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r' (width|height)="[\d.]+pt"', "", text, count=2)
    text = re.sub(r'<g id="[^"]*">', "<g>", text)  # the same in every figure
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    for colour, name in PAGE.items():
        text = text.replace(colour, name)
    return text


NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
