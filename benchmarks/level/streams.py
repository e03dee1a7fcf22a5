"""Level and power of streams whose rows depend on those before them, with 95 % intervals.

    python -m benchmarks.level.streams --trials 200 --sizes 2000 20000

For each case: how often the test rejects at .05, how often it does so without a word (calibration
"exact", no warning), how often it swaps longer blocks and calls itself approximate, how often it
says that its p-value is not to be relied on, and the blocks that were swapped (median). Frequencies
and draws are fewer than by default, which costs power and not the level.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy.signal import lfilter
from scipy.stats import binomtest

from nosplit import NosplitWarning, Sketch, TwoSampleAccumulator


def chain(rng, n, phi, p=2):
    """AR(1) with standard normal margins, in each of p columns."""
    noise = rng.standard_normal((n, p)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def daily(rng, hours):
    """A cycle of 24 hours, seen with noise."""
    angle = 2.0 * np.pi * hours / 24.0
    return 3.0 * np.column_stack([np.sin(angle), np.cos(angle)]) + rng.standard_normal(
        (len(hours), 2)
    )


def _drift(rng, n):
    """Both samples wander together: what arrives together has the same law."""
    common = np.cumsum(rng.standard_normal((n, 1)), axis=0) / 10.0
    return common + rng.standard_normal((n, 2)), common + rng.standard_normal((n, 2))


def _one(phi):
    return lambda rng, n: (chain(rng, n, 0.0), chain(rng, n, phi))


def _both(phi):
    return lambda rng, n: (chain(rng, n, phi), chain(rng, n, phi))


NULLS = {
    "independent": _both(0.0),
    "heavy tails": lambda rng, n: (rng.standard_cauchy((n, 2)), rng.standard_cauchy((n, 2))),
    "AR .3 in y": _one(0.3),
    "AR .5 in y": _one(0.5),
    "AR .9 in y": _one(0.9),
    "AR .3 in both": _both(0.3),
    "AR .5 in both": _both(0.5),
    "AR .9 in both": _both(0.9),
    "hours in order v random hours": lambda rng, n: (
        daily(rng, np.arange(n)),
        daily(rng, rng.integers(24, size=n)),
    ),
    "drift of both together": _drift,
    "sorted": lambda rng, n: (
        np.sort(rng.standard_normal((n, 1)), axis=0),
        np.sort(rng.standard_normal((n, 1)), axis=0),
    ),
}


def _shifted(make, size):
    def shifted(rng, n):
        x, y = make(rng, n)
        return x, y + size / np.sqrt(n)

    return shifted


def _late(rng, n):
    x, y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    y[n // 2 :] += 8.0 / np.sqrt(n)
    return x, y


ALTERNATIVES = {
    "shift of 4/√n, independent": _shifted(_both(0.0), 4.0),
    "shift of 4/√n, AR .5 in both": _shifted(_both(0.5), 4.0),
    "shift of 8/√n, AR .5 in both": _shifted(_both(0.5), 8.0),
    "shift of 8/√n in the second half": _late,
}


def trial(make, n, seed, frequencies, flips):
    """Rejected, exact, warned that it is not to be relied on, and units."""
    x, y = make(np.random.default_rng([seed, n]), n)
    acc = TwoSampleAccumulator(pairs=Sketch(512, frequencies), rng=seed)
    acc.update(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        res = acc.result(flips=flips)
    poor = any("Do not rely" in text for text in res.warnings)
    return res.reject(0.05), res.calibration == "exact", poor, res.n_units


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 20_000])
    parser.add_argument("--frequencies", type=int, default=16)
    parser.add_argument("--flips", type=int, default=199)
    parser.add_argument("--first", type=int, default=0, help="seed of the first trial")
    parser.add_argument("--cases", nargs="*", help="parts of the names of cases")
    options = parser.parse_args()
    print("| case | n | rejects | without a word | approximate | not relied on | blocks |")
    print("|---|---|---|---|---|---|---|")
    for name, make in {**NULLS, **ALTERNATIVES}.items():
        if options.cases and not any(part in name for part in options.cases):
            continue
        for n in options.sizes:
            done = [
                trial(make, n, seed, options.frequencies, options.flips)
                for seed in range(options.first, options.first + options.trials)
            ]
            rejected, exact, poor, units = np.array(done, dtype=float).T
            low, high = binomtest(int(rejected.sum()), len(done)).proportion_ci(method="wilson")
            print(
                f"| {name} | {n:,} | {rejected.mean():.3f} ({low:.3f}–{high:.3f}) "
                f"| {(rejected * exact).mean():.3f} | {1 - exact.mean() - poor.mean():.2f} "
                f"| {poor.mean():.2f} | {np.median(units):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
