"""Figures of error rates against sample size or number of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nosplit import InputError
from nosplit._old.experiments.showing.table import TableRow
from nosplit._old.experiments.statistics import ALPHA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["STYLES", "dimension_figure", "error_grid", "new_figure", "require_matplotlib"]

T = TypeVar("T")

TITLES = {"diff_var": "DIFF VAR", "mnist": "MNIST", "blobs": "Blobs", "symmetric": "Symmetric"}


@dataclass(frozen=True)
class Style:
    """Colour, marker and line by which a method is told apart."""

    label: str
    colour: str
    marker: str
    line: str


# Okabe and Ito's colours, which the colour-blind can tell apart.
_BLUE, _SKY, _RED, _GREEN = "#0072B2", "#56B4E9", "#D55E00", "#009E73"
_ORANGE, _PURPLE, _BLACK, _GREY = "#E69F00", "#CC79A7", "#000000", "#777777"

STYLES: Mapping[str, Style] = {
    "ost": Style("OST", _BLUE, "o", "-"),
    "ost_default": Style("OST, our defaults", _SKY, "o", "--"),
    "wald": Style("Wald", _RED, "s", "-."),
    "split0.1": Style("split 0.1", _ORANGE, "^", ":"),
    "split0.3": Style("split 0.3", _GREEN, "v", ":"),
    "split0.5": Style("split 0.5", _PURPLE, "D", ":"),
    "split0.8": Style("split 0.8", _BLACK, "P", ":"),
    "naive": Style("naive (not a test)", _GREY, "x", "--"),
    "nonnegative": Style("β ≥ 0", _GREEN, "v", "--"),
    "best": Style("best base statistic", _BLUE, "o", "-"),
    "best_split0.1": Style("split 0.1", _ORANGE, "^", ":"),
    "best_split0.3": Style("split 0.3", _GREEN, "v", ":"),
    "best_split0.5": Style("split 0.5", _PURPLE, "D", ":"),
    "best_split0.8": Style("split 0.8", _BLACK, "P", ":"),
    "best_naive": Style("naive (not a test)", _GREY, "x", "--"),
    "linear": Style("linear pairs", _BLUE, "o", "-"),
    "window2": Style("R = 2", _ORANGE, "^", "--"),
    "window5": Style("R = 5", _GREEN, "v", "-."),
    "window20": Style("R = 20", _PURPLE, "D", ":"),
    "auto": Style("auto", _BLACK, "s", "-"),
}
# Drawn open, so that a method that lies under another shows through.
_OPEN = ("ost_default",)


def require_matplotlib() -> None:
    """Say how to get matplotlib if it is not there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(
            "`reproduce` draws its figures with matplotlib, which is not installed: "
            "pip install 'nosplit[plot]'"
        ) from None


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in inches that no window and no global state knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def error_grid(
    rows: Sequence[TableRow], *, null: bool = False, log: bool = False, by_row: bool = True
) -> Figure:
    """Errors against n: a row for each dataset and a column for each number of kernels.

    With `by_row` false, a single line of panels, one for each dataset. `null`: Type-I errors.
    """
    datasets, dims = _unique(r.dataset for r in rows), _unique(r.d for r in rows)
    shape = (len(datasets), len(dims)) if by_row else (1, len(datasets))
    figure = new_figure(1.0 + 3.1 * shape[1], 1.1 + 2.3 * shape[0])
    axes = figure.subplots(*shape, squeeze=False)
    panels = [(dataset, d) for dataset in datasets for d in dims]
    for ax, (dataset, d) in zip(axes.flat, panels, strict=True):
        chosen = [r for r in rows if (r.dataset, r.d) == (dataset, d)]
        _draw_lines(ax, chosen, lambda r: r.n, null=null)
        ax.set_title(f"{TITLES[dataset]}, d = {d}", fontsize=10)
        if log:
            _log_axis(ax, _unique(r.n for r in chosen))
    for ax in axes[-1]:
        ax.set_xlabel("rows in each sample, n")
    for ax in axes[:, 0]:
        ax.set_ylabel("Type-I error" if null else "Type-II error")
    _legend(figure, axes[0, 0])
    return figure


def dimension_figure(rows: Sequence[TableRow], title: str) -> Figure:
    """Errors against the number of kernels."""
    figure = new_figure(6.2, 4.6)
    ax = figure.subplots()
    _draw_lines(ax, rows, lambda r: r.d, null=False)
    ax.set_xticks(_unique(r.d for r in rows))
    ax.set_xlabel("number of kernels, d")
    ax.set_ylabel("Type-II error")
    ax.set_title(title, fontsize=10)
    _legend(figure, ax)
    return figure


def _draw_lines(
    ax: Axes, rows: Sequence[TableRow], place: Callable[[TableRow], int], *, null: bool
) -> None:
    for method in _unique(r.method for r in rows):
        style = STYLES[method]
        points = sorted((r for r in rows if r.method == method), key=place)
        rate = [r.rate if null else 1 - r.rate for r in points]
        ends = [r.interval if null else tuple(1 - e for e in r.interval[::-1]) for r in points]
        below = [max(0.0, y - low) for y, (low, _) in zip(rate, ends, strict=True)]
        above = [max(0.0, high - y) for y, (_, high) in zip(rate, ends, strict=True)]
        ax.errorbar(
            [place(r) for r in points],
            rate,
            yerr=(below, above),
            label=style.label,
            color=style.colour,
            marker=style.marker,
            linestyle=style.line,
            markerfacecolor="none" if method in _OPEN else style.colour,
            markersize=7 if method in _OPEN else 4.5,
            linewidth=1.3,
            elinewidth=0.8,
        )
    if null:
        ax.axhline(ALPHA, color="black", linewidth=0.8)
        ax.set_ylim(bottom=0.0)
    else:
        ax.set_ylim(-0.03, 1.03)
    ax.grid(alpha=0.25)


def _log_axis(ax: Axes, sizes: Sequence[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(sizes, [str(n) for n in sizes], rotation=90, fontsize=8)
    ax.minorticks_off()


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 5 else 4
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9)


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))
