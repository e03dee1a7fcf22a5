"""A plot of a monitor's evidence over time, with matplotlib (`nosplit[plot]`)."""

from __future__ import annotations

import math

import numpy as np

from nosplit._old.describe.plots.style import (
    BLACK,
    GREY,
    RED,
    Axes,
    Figure,
    X,
    axes_or_new,
    figure_of,
    key_above,
    plain,
)
from nosplit._old.monitor.base import BaseMonitor

__all__ = ["plot_monitor"]


def plot_monitor(monitor: BaseMonitor, *, ax: Axes | None = None) -> Figure:
    """Draw the evidence over time, on a log scale, and where it rings.

    Parameters
    ----------
    monitor : Monitor or IndependenceMonitor
        What to draw.
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
    >>> rng = np.random.default_rng(0)
    >>> monitor = nosplit.Monitor()
    >>> monitor.update(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)))
    >>> plot_monitor(monitor).axes[0].get_xlabel()
    'pairs'
    """
    ax = axes_or_new(ax)
    numbers, logs = monitor.path
    # Powers of ten that need not be numbers that a computer has.
    powers = logs / math.log(10.0)
    ax.plot(numbers, powers, color=X.colour, label="evidence")
    rings = math.log10(monitor.threshold)
    ax.axhline(rings, color=RED, linestyle="--", label=f"rings at {monitor.threshold:,.4g}")
    if monitor.alarm is not None and monitor.change is not None:
        ax.axvline(monitor.alarm, color=BLACK, linestyle=":", label=f"rang at {monitor.alarm:,}")
        label = f"seems to have begun at {monitor.change:,}"
        ax.axvline(monitor.change, color=GREY, linestyle="-.", label=label)
    ticks = _powers_of_ten(powers, rings)
    ax.set_yticks(ticks, [f"$10^{{{t}}}$" for t in ticks])
    ax.set_xlabel("pairs")
    ax.set_ylabel("evidence")
    plain(ax)
    key_above(ax)
    return figure_of(ax)


def _powers_of_ten(powers: np.ndarray[tuple[int], np.dtype[np.float64]], rings: float) -> list[int]:
    """Mark at most ten whole powers of ten."""
    low = math.floor(min(powers.min(initial=0.0), 0.0))
    high = math.ceil(max(powers.max(initial=0.0), rings))
    step = max(1, -(-(high - low) // 8))
    return list(range(low, high + step, step))
