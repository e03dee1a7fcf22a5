"""Plots of predicted power and of a test's level, with matplotlib (`nosplit[plot]`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nosplit._support.checks import check_fraction
from nosplit.describe.plots.style import (
    BLACK,
    GREY,
    RED,
    Axes,
    Figure,
    axes_or_new,
    figure_of,
    key_above,
    plain,
)
from nosplit.errors import InputError
from nosplit.power.level import CalibrationCheck
from nosplit.power.results import PowerCurve

__all__ = ["plot_calibration", "plot_power"]

# Curves differ in colour, line and marker; more of them would not be told apart.
LOOKS = (
    ("#0072B2", "-", "o"),
    ("#E69F00", "--", "^"),
    ("#009E73", "-.", "s"),
    ("#CC79A7", ":", "D"),
    ("#56B4E9", (0, (5, 1, 1, 1, 1, 1)), "v"),
)
BINS = 20


def plot_power(
    curves: PowerCurve | Mapping[str, PowerCurve],
    *,
    target: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw predicted power against the number of rows, with its intervals.

    Parameters
    ----------
    curves : PowerCurve, or mapping of names to them
        What `power_curve` gave; up to five of them.
    target : float, optional
        A wanted power, drawn as a line.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import nosplit
    >>> curve = nosplit.power_curve(nosplit.Alternative([0.1], [[1.0]]), sizes=[500, 1000, 2000])
    >>> figure = plot_power(curve, target=0.8)
    >>> figure.axes[0].get_ylabel()
    'predicted power'
    """
    named = {"": curves} if isinstance(curves, PowerCurve) else dict(curves)
    if not named or len(named) > len(LOOKS):
        raise InputError(f"`curves` must be 1 to {len(LOOKS)} curves, got {len(named)}.")
    ax = axes_or_new(ax)
    for (name, curve), (colour, line, marker) in zip(named.items(), LOOKS, strict=False):
        order = np.argsort(curve.sizes)
        n, power, low, high = (v[order] for v in (curve.sizes, curve.power, curve.low, curve.high))
        ax.fill_between(n, low, high, color=colour, alpha=0.18, linewidth=0)
        ax.plot(n, power, color=colour, linestyle=line, marker=marker, markersize=4, label=name)
    first = next(iter(named.values())).predictions[0]
    _level(ax, first.alpha, f"level {first.alpha:g}", color=GREY)
    if target is not None:
        wanted = check_fraction(target, "target")
        _level(ax, wanted, f"wanted {wanted:g}", color=BLACK, linestyle="--")
    _axes_of_sizes(ax, np.concatenate([c.sizes for c in named.values()]))
    ax.set_ylabel("predicted power")
    ax.set_ylim(0.0, 1.02)
    plain(ax)
    if "" not in named:
        key_above(ax, across=3)
    return figure_of(ax)


def _level(ax: Axes, height: float, text: str, **look: str) -> None:
    """A thin line across; a low one has its name at the right, where curves are high."""
    ax.axhline(height, linewidth=0.8, **look)
    x, side = (0.995, "right") if height < 0.5 else (0.005, "left")
    place = {"xycoords": ("axes fraction", "data"), "fontsize": "small", "color": "#444444"}
    ax.annotate(text, (x, height), ha=side, va="bottom", **place)


def _axes_of_sizes(ax: Axes, sizes: np.ndarray) -> None:
    """A logarithmic axis where sizes span more than a factor of ten, with their numbers."""
    ax.set_xlabel("rows of each sample (bands: 95 % interval)")
    if sizes.max() > 10 * sizes.min():
        ax.set_xscale("log")
        ax.set_xticks(np.unique(sizes))
        ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")


def plot_calibration(check: CalibrationCheck, *, ax: Axes | None = None) -> Figure:
    """Draw the p-values of a test under the merged null, which should be uniform.

    Parameters
    ----------
    check : CalibrationCheck
        What `calibration_check` gave.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> import nosplit
    >>> x, y = np.random.default_rng(0).normal(size=(2, 500))
    >>> check = nosplit.calibration_check(x, y, kernels="paper2", pairs="linear", trials=200)
    >>> plot_calibration(check).axes[0].get_xlabel()
    'p-value under the merged null'
    """
    if not isinstance(check, CalibrationCheck):
        raise InputError(
            f"`check` must be what `calibration_check` gave, got {type(check).__name__}."
        )
    ax = axes_or_new(ax)
    values = check.pvalues.ravel()
    share = np.full(len(values), 1.0 / len(values))
    edges = np.linspace(0.0, 1.0, BINS + 1)
    ax.hist(values, edges, weights=share, color="#56B4E9", edgecolor="white")
    # Where 95 % of bars would lie, were the p-values uniform and independent.
    spread = 1.96 * np.sqrt(1.0 / BINS * (1.0 - 1.0 / BINS) / len(values))
    ax.axhspan(1.0 / BINS - spread, 1.0 / BINS + spread, color=GREY, alpha=0.3, linewidth=0)
    ax.axhline(1.0 / BINS, color=BLACK, linewidth=0.8)
    ax.axvline(check.alpha, color=RED, linestyle="--", linewidth=1.2)
    ax.set_title(
        f"Type-I error {check.rate:.3f} ({check.low:.3f} to {check.high:.3f}) at level "
        f"{check.alpha:g} (dashed)\ngrey: 95 % of bars if p-values were uniform",
        fontsize="small",
        loc="left",
    )
    ax.set_xlabel("p-value under the merged null")
    ax.set_ylabel("share of null samples")
    ax.set_xlim(0.0, 1.0)
    plain(ax)
    return figure_of(ax)
