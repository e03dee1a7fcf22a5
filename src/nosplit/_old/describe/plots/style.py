"""Parts that all plots share: colours, hatches, axes.

Colours are of the palette of Okabe and Ito, which people of all kinds of colour vision tell apart;
their brightness differs too. Nothing is said by colour alone: samples also differ in line style,
hatch and marker.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from nosplit._lazy import extra

__all__ = [
    "BLACK",
    "GREY",
    "RED",
    "Axes",
    "Figure",
    "Look",
    "X",
    "Y",
    "axes_or_new",
    "figure_of",
    "key_above",
    "name_rows",
    "plain",
    "short_label",
]

# Of matplotlib, which need not be there.
Axes: TypeAlias = Any
Figure: TypeAlias = Any

BLACK, GREY, RED = "#000000", "#8c8c8c", "#D55E00"
# A label on an axis: characters of a line, and lines.
LONGEST, MOST_LINES = 26, 2
# Inches that a label of two lines takes.
ROOM = 0.36


class Look(NamedTuple):
    """The colours and marks of a sample."""

    name: str
    colour: str
    line: str
    hatch: str
    marker: str


X = Look("x", "#0072B2", "-", "", "o")
Y = Look("y", "#E69F00", "--", "////", "^")


def axes_or_new(ax: Axes | None, height: float = 3.8) -> Axes:
    """The axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = extra("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    return ax.figure.figure


def plain(ax: Axes) -> None:
    """Keep only the lines of the axes that say something."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names of rows of bars, the first at the top: long ones in two lines, or in small print."""
    inches = ax.get_window_extent().height / ax.figure.figure.dpi / max(len(names), 1)
    tight = inches < ROOM
    labels = [_shortened(name, 2 * LONGEST) if tight else short_label(name) for name in names]
    size = "x-small" if tight and max(map(len, labels)) > LONGEST else "small"
    ax.set_yticks(range(len(names)), labels, fontsize=size if tight else "medium")
    ax.set_ylim(len(names) - 0.4, -0.6)


def key_above(ax: Axes, handles: Sequence[Any] | None = None, across: int = 2) -> None:
    """A key above the axes, where it hides nothing."""
    ax.legend(
        handles=list(handles or ax.get_legend_handles_labels()[0]),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=across,
        frameon=False,
        borderaxespad=0.2,
        fontsize="small",
    )


def short_label(text: str, longest: int = LONGEST) -> str:
    """A label in two short lines at most.

    Examples
    --------
    >>> print(short_label("Gaussian(4.24) on numbers * Agreement() on categories"))
    Gaussian(4.24) on numbers
    * Agreement() on categori…
    """
    lines = textwrap.wrap(text, longest) or [""]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], " ".join(lines[MOST_LINES - 1 :])]
    return "\n".join(_shortened(line, longest) for line in lines)


def _shortened(line: str, longest: int) -> str:
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return line.replace("$", r"\$")  # which would begin mathematics
