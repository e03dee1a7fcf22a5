"""A thousand columns: processor time over that of a loop of Kolmogorov-Smirnov tests, in one run.

python -m benchmarks.speed.columns
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats

import nosplit

# How far changed columns are moved, in standard deviations.
SHIFT = 0.05


def ks(a: np.ndarray, b: np.ndarray) -> float:
    return float(stats.ks_2samp(a, b).pvalue)


def timed(work):
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--changed", type=int, nargs="*", default=[0, 20, 500])
    o = parser.parse_args()
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, o.rows, o.columns))
    nosplit.column_tests(x[:3000, :4], y[:3000, :4], workers=1)  # compiles
    print(f"{o.columns:,} columns × {o.rows:,} rows of either sample, one core, level .05\n")
    print("| changed | | seconds | over KS | changed and named | unchanged and named |")
    print("|--:|---|--:|--:|--:|--:|")
    before = 0
    for changed in o.changed:
        y[:, before:changed] += SHIFT
        before = changed
        peers, base = timed(lambda: [ks(x[:, j], y[:, j]) for j in range(o.columns)])
        tests, seconds = timed(lambda: nosplit.column_tests(x, y, workers=1))
        rows = (
            ("max-T", tests.adjusted, seconds),
            ("Holm", tests.holm, seconds),
            ("KS, Bonferroni", o.columns * np.array(peers), base),
        )
        for name, p, took in rows:
            held = np.asarray(p) <= 0.05
            counts = f"{held[:changed].sum()} | {held[changed:].sum()}"
            print(f"| {changed} | {name} | {took:.1f} | {took / base:.1f} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
