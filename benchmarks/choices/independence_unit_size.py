"""Why 8 observations to a unit, and why shifts are enough: power of the independence test.

    python -m benchmarks.choices.independence_unit_size --trials 300

First the test as it is, for several unit sizes. Then one kernel alone: y shifted inside units,
permuted inside units, and an ordinary permutation test of all of y.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.common.independence_problems import PROBLEMS
from nosplit import independence_test
from nosplit.kernels import Gaussian, median_bandwidth

SIZES = (2, 4, 6, 8, 12, 16)


def single(x, y, size, draw, rng, flips=199):
    """Permutation p-value of HSIC with one Gaussian kernel, without pairs inside a unit."""
    n = len(x)
    unit = np.arange(n) * (n // size) // n
    same = unit[:, None] == unit
    J = np.eye(n) - same / same.sum(axis=1)
    K = Gaussian(median_bandwidth(x)).tile(x, x)
    L = Gaussian(median_bandwidth(y)).tile(y, y)
    K = np.where(same, 0.0, J @ K @ J) if size < n else J @ K @ J
    values = []
    for f in range(flips + 1):
        order = draw(unit, rng) if f else np.arange(n)
        values.append(np.sum(K * L[np.ix_(order, order)]))
    return np.mean(np.array(values) >= values[0])


def shifts(unit, rng):
    parts = [np.flatnonzero(unit == u) for u in range(unit[-1] + 1)]
    return np.concatenate([np.roll(p, rng.integers(len(p))) for p in parts])


def permutations(unit, rng):
    return np.lexsort((rng.random(len(unit)), unit))


def row(name, shares):
    print(f"{name:16s}" + "".join(f"{s:8.2f}" for s in shares), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--n", type=int, default=96)
    args = parser.parse_args()
    print(f"n = {args.n}, level 0.05, {args.trials} trials: default kernels, by unit size")
    print(" " * 16 + "".join(f"{q:8d}" for q in SIZES))
    for name, draw in PROBLEMS.items():
        rng = np.random.default_rng(1)
        hits = [
            [independence_test(x, y, unit_size=q, workers=1).reject() for q in SIZES]
            for x, y in (draw(args.n, rng) for _ in range(args.trials))
        ]
        row(name, np.mean(hits, axis=0))
    print("one Gaussian kernel, units of 8: shifts, permutations; ordinary permutation test")
    for name, draw in PROBLEMS.items():
        rng = np.random.default_rng(1)
        ways = ((8, shifts), (8, permutations), (args.n, permutations))
        hits = [
            [single(x, y, size, how, rng) <= 0.05 for size, how in ways]
            for x, y in (draw(args.n, rng) for _ in range(args.trials))
        ]
        row(name, np.mean(hits, axis=0))


if __name__ == "__main__":
    main()
