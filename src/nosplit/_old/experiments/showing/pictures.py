"""Figures that show laws and geometry rather than rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nosplit._old.experiments.showing.figures import new_figure
from nosplit.datasets import DATASETS
from nosplit.methods import Nonnegative

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LAWS", "densities_figure", "geometry_figure", "samples_figure", "theorem_figure"]

Array = NDArray[np.float64]

_BLUE, _RED, _ORANGE = "#0072B2", "#D55E00", "#E69F00"
_GREEN, _PURPLE = "#009E73", "#CC79A7"


def theorem_figure(values: Sequence[float]) -> Figure:
    """Histogram of the statistic given 𝒰 = {1, 2}, with the density of χ₂ over it."""
    figure = new_figure(5.2, 3.8)
    ax = figure.subplots()
    end = max(4.5, math.ceil(max(values)))
    label = f"{len(values):,} draws"
    ax.hist(values, 45, range=(0.0, end), density=True, color="0.8", edgecolor="0.5", label=label)
    x = np.linspace(0.0, end, 300)
    ax.plot(x, x * np.exp(-0.5 * x * x), color=_RED, linewidth=2, label="χ₂")
    ax.set_xlabel("statistic, given that the active set is {1, 2}")
    ax.set_ylabel("density")
    ax.legend()
    return figure


def densities_figure() -> Figure:
    """The two symmetric densities."""
    figure = new_figure(5.2, 3.4)
    ax = figure.subplots()
    x = np.linspace(-4.5, 4.5, 1801)
    styles = ((_BLUE, "-"), (_RED, "--"))
    for (name, law), (colour, line) in zip(LAWS.items(), styles, strict=True):
        ax.plot(x, law(x), color=colour, linestyle=line, linewidth=1.8, label=name)
    ax.set_xlabel("x")
    ax.set_ylabel("density")
    ax.set_title("chosen here: the paper does not name its two densities", fontsize=9)
    ax.legend()
    return figure


def samples_figure() -> Figure:
    """Samples of Blobs, and images of MNIST, from P and from Q."""
    figure = new_figure(7.4, 6.8)
    axes = figure.subplots(2, 2)
    for ax, sample, name, colour in zip(
        axes[0], DATASETS["blobs"].sample(1000, rng=0), "PQ", (_BLUE, _RED), strict=True
    ):
        ax.scatter(*sample.T, s=4, color=colour, linewidths=0)
        ax.set(title=f"Blobs, {name}", aspect="equal", xlim=(-1.1, 3.1), ylim=(-1.1, 3.1))
    for ax, sample, name in zip(
        axes[1],
        DATASETS["mnist"].sample(48, rng=0),
        ("P: all digits", "Q: odd digits"),
        strict=True,
    ):
        ax.imshow(_mosaic(sample, columns=8), cmap="gray_r", vmin=0.0, vmax=1.0)
        ax.set(title=f"MNIST 7 × 7, {name}", xticks=[], yticks=[])
    return figure


def _mosaic(images: Array, columns: int, side: int = 7) -> Array:
    """Images in rows, with a rim of one pixel that no ink covers."""
    padded = np.pad(images.reshape(-1, side, side), ((0, 0), (0, 1), (0, 1)))
    rows = len(images) // columns
    grid = padded.reshape(rows, columns, side + 1, side + 1).transpose(0, 2, 1, 3)
    return grid.reshape(rows * (side + 1), columns * (side + 1))[:-1, :-1]


def geometry_figure() -> Figure:
    """Theorem 1 for d = 2 and Σ = I, drawn from the method's own active sets and truncations."""
    figure = new_figure(8.6, 4.3)
    left, right = figure.subplots(1, 2)
    for ax, strength in ((left, 0.55), (right, 0.2)):
        _regions(ax, strength)
    for place, text in (
        ((1.25, 1.4), "l = 2\nβ* = τ/‖τ‖"),
        ((1.25, -1.5), "l = 1\nβ* = e₁"),
        ((-1.25, 1.5), "l = 1\nβ* = e₂"),
    ):
        box = {"boxstyle": "square", "facecolor": "white", "edgecolor": "0.3"}
        left.text(*place, text, ha="center", va="center", bbox=box)
    _conditioning(right, np.array([1.2, -1.3]))
    return figure


def _regions(ax: Axes, strength: float) -> None:
    """Draw the region of each active set, from a grid of τ."""
    line = np.linspace(-2.0, 2.0, 401)
    tau = np.stack(np.meshgrid(line, line), axis=-1)
    active = Nonnegative()(tau, np.eye(2)).active
    code = active @ np.array([1, 2])  # 1: {1}, 2: {2}, 3: {1, 2}
    ax.contourf(
        line,
        line,
        code,
        levels=[0.5, 1.5, 2.5, 3.5],
        colors=[_PURPLE, _ORANGE, _GREEN],
        hatches=["--", "||", "//"],
        alpha=strength,
    )
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    ax.plot(np.cos(angle), np.sin(angle), color="black", linestyle=":", linewidth=1.6)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set(aspect="equal", xlabel="τ₁", ylabel="τ₂", xlim=(-2, 2), ylim=(-2, 2))


def _conditioning(ax: Axes, tau: Array) -> None:
    """One τ with l = 1: what is selected, what is held fixed, where the law is cut off."""
    out = Nonnegative()(tau, np.eye(2))
    beta, cut, length = out.weights, float(out.truncation), float(out.statistic)
    z = tau - beta * length
    for end, name, shift in (
        (tau, "τ̂", (0.12, 0.1)),
        (beta, "β*", (-0.2, 0.12)),
        (z, "ẑ", (-0.2, 0.1)),
    ):
        arrow = {"arrowstyle": "-|>", "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=tuple(end), xytext=(0.0, 0.0), arrowprops=arrow)
        ax.text(end[0] + shift[0], end[1] + shift[1], name, fontsize=12)
    start = z + cut * beta
    ax.plot([start[0], 2.0], [start[1], z[1]], color="black", linestyle="--", linewidth=1.0)
    ax.plot([start[0], start[0]], [start[1], 0.0], color="black", linestyle="--", linewidth=1.0)
    ax.text(start[0], 0.1, "$\\mathcal{V}^-$", ha="center", fontsize=12)
    ax.annotate(
        "",
        xy=(tau[0], tau[1] - 0.12),
        xytext=(z[0], z[1] - 0.12),
        arrowprops={"arrowstyle": "|-|", "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0},
    )
    ax.text(0.5 * length, tau[1] - 0.2, "statistic", ha="center", va="top", fontsize=10)


def _uniform(x: Array) -> Array:
    return np.where(np.abs(x) <= math.sqrt(3.0), 0.5 / math.sqrt(3.0), 0.0)


def _laplace(x: Array) -> Array:
    return np.asarray(np.exp(-math.sqrt(2.0) * np.abs(x)) / math.sqrt(2.0))


# As drawn by `nosplit.datasets.SymmetricPair`.
LAWS: Mapping[str, Callable[[Array], Array]] = {
    "P: uniform": _uniform,
    "Q: Laplace": _laplace,
}
