"""Speed of sketches: nanoseconds a row on one core, beside plain lines of NumPy in the same run.

    python -m benchmarks.speed.sketches

The time of a row is the difference between a test and one of samples twice as large: all that is
done with a row, columns by themselves and in pairs included, and nothing of what a test costs
whatever the rows, such as its draws. Its waves alone, sines, cosines and their sums, are what it
takes more than with few frequencies. The best of several runs counts.

One kernel projects a row onto all of its frequencies. The kernels of the default grid, with as many
frequencies together, project it onto a third of them: waves of the others follow by doubling.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

from nosplit import Exact, Sketch, two_sample_test
from nosplit.kernels import Gaussian

# Kernels, how many have frequencies, and how many frequencies of each are few.
KERNELS = {"one": ([Gaussian(2.0)], 1, 16), "default": (None, 6, 3)}


def best_of(times: int, *works) -> list[float]:
    """Seconds of the fastest run of each, in turns, after one that does not count."""
    found = [[] for _ in works]
    for _ in range(times + 1):
        for work, seconds in zip(works, found, strict=True):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
    return [min(seconds[1:]) for seconds in found]


def sketch(x, kernels, frequencies) -> None:
    """A test of two halves of some rows."""
    options = {"pairs": Sketch(frequencies=frequencies), "calibration": Exact(99), "workers": 1}
    half = len(x) // 2
    two_sample_test(x[:half], x[half:], kernels=kernels, **options)


def plain(blocks, W, function) -> None:
    for block in blocks:
        function(block @ W)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000, help="by which the samples grow")
    parser.add_argument("--frequencies", type=int, default=192)
    parser.add_argument("--columns", type=int, nargs="+", default=[2, 10, 49, 300])
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    n, F = options.rows, options.frequencies
    heads = ["p", "kernels", "a row, ns", "its waves", "cos(x @ W)", "x @ W"]
    heads += ["row over cos", "waves over cos", "waves over x @ W"]
    print("| " + " | ".join(heads) + " |")
    print("|--:|---|" + "--:|" * (len(heads) - 2))
    for p in options.columns:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((2 * n, p), dtype=np.float32)
        W = rng.standard_normal((p, F), dtype=np.float32)
        blocks = [x[i : i + 4096] for i in range(0, n, 4096)]
        for name, (kernels, number, few) in KERNELS.items():
            small, large, small_few, large_few, cosine, product = best_of(
                options.times,
                partial(sketch, x[:n], kernels, F // number),
                partial(sketch, x, kernels, F // number),
                partial(sketch, x[:n], kernels, few),
                partial(sketch, x, kernels, few),
                partial(plain, blocks, W, np.cos),
                partial(plain, blocks, W, np.asarray),
            )
            row = large - small
            waves = (row - (large_few - small_few)) * F / (F - number * few)
            ns = (1e9 * t / n for t in (row, waves, cosine, product))
            ratios = f"{row / cosine:.2f} | {waves / cosine:.2f} | {waves / product:.2f}"
            times = " | ".join(f"{t:.0f}" for t in ns)
            print(f"| {p} | {name} | {times} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
