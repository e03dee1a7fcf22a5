"""Power against time for one large problem: what wider windows buy.

100,000 rows a sample, blobs of which only some of y's rows are turned; asymptotic OST with linear
pairs and windows R, and what "auto" picks. Seconds are those of one core.

    python -m benchmarks.power.against_time

Writes docs/_static/power_time.png and docs/measured/power.md.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

import nosplit
from benchmarks.common.pages import DOCS, share, table, wilson, write_section
from benchmarks.common.problems import sample

PROBLEM = "blobs, 2-d"
LEVEL = 0.05
WINDOWS = ("linear", 1, 2, 5, 10, 20, 50)


def choices():
    """Name → arguments of the test."""
    asymptotic = {"calibration": "asymptotic", "method": "ost"}
    named = {str(pairs): {"pairs": pairs, **asymptotic} for pairs in WINDOWS}
    return {**named, "auto": {}}


def measure(n: int, weak: float, trials: int, seed: int):
    """Rejections and mean seconds of each choice, on the same samples."""
    found = {name: [0, 0.0] for name in choices()}
    for trial in range(-1, trials):  # the first one only compiles
        x, y = sample(PROBLEM, n, np.random.default_rng([seed, trial + 1]), share=weak)
        for name, how in choices().items():
            start = time.process_time()
            rejected = nosplit.two_sample_test(x, y, workers=1, **how).reject(LEVEL)
            spent = time.process_time() - start
            if trial >= 0:
                found[name][0] += rejected
                found[name][1] += spent / trials
    return found


def plot(found, trials: int) -> None:
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    windows = [str(w) for w in WINDOWS]
    seconds = [found[w][1] for w in windows]
    power = [found[w][0] / trials for w in windows]
    low, high = np.array([wilson(found[w][0], trials) for w in windows]).T
    axes.fill_between(seconds, low, high, alpha=0.2, linewidth=0)
    axes.plot(seconds, power, "o-", label="asymptotic, window R")
    for w, s, p in zip(windows, seconds, power, strict=True):
        text = w if w == "linear" else f"R = {w}"
        axes.annotate(text, (s, p), (0, 9), textcoords="offset points", fontsize=9, ha="right")
    hits, spent = found["auto"]
    axes.plot([spent], [hits / trials], "s", label="auto")
    axes.set(
        xscale="log", xlabel="seconds of one core", ylabel="power at level .05", ylim=(0, 1.04)
    )
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(frameon=False, loc="lower right")
    axes.grid(alpha=0.3)
    figure.savefig(DOCS / "_static" / "power_time.png", dpi=120)


def page(found, options) -> None:
    first = found["linear"][1]
    rows = []
    for name, (hits, seconds) in found.items():
        low, high = wilson(hits, options.trials)
        label = name if name in ("linear", "auto") else f"R = {name}"
        power = f"{share(hits / options.trials)} ({share(low)} to {share(high)})"
        rows.append([label, power, f"{seconds / first:.2g}"])
    auto = str(nosplit.plan(n=options.n, p=2)).partition(":")[0]
    text = f"""## Power against time

n = {options.n:,} rows a sample, blobs of which {options.share:.0%} of y's rows are turned: weak
enough that linear pairs rarely see it. Asymptotic OST on windows R, each unit paired with the R
that follow; `auto` is {auto}. {options.trials} trials; time as a
multiple of that of linear pairs. Written by `python -m benchmarks.power.against_time`.

{table(["pairs", "power (95 %)", "time / linear"], rows)}

![Power against time](../_static/power_time.png)
"""
    write_section(DOCS / "measured" / "power.md", "power against time", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--share", type=float, default=0.1, help="rows of y that differ")
    parser.add_argument("--trials", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")
    found = measure(options.n, options.share, options.trials, options.seed)
    for name, (hits, seconds) in found.items():
        print(f"{name:8s} {hits / options.trials:.2f} {seconds:.3f} s")
    plot(found, options.trials)
    page(found, options)


if __name__ == "__main__":
    main()
