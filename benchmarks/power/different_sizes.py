"""Rows that one sample has and the other has not: they must not cost power.

Samples of m rows each, and the same samples with more rows of x: how often either is found to
differ at level .05, and how often only one of them is.

    python -m benchmarks.power.different_sizes --more 250 --rows 200 --trials 300
    python -m benchmarks.power.different_sizes --more 1000 --rows 800 --trials 100
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.common.pages import share, table
from benchmarks.common.problems import PROBLEMS, sample
from nosplit import two_sample_test


def study(name: str, more: int, rows: int, trials: int, seed: int) -> list[object]:
    """Found with equal sizes, with more rows of x; found by one of both only; seconds."""
    found, seconds = np.zeros((trials, 2), bool), np.zeros(2)
    for trial in range(trials):
        key = [seed, list(PROBLEMS).index(name), trial]
        x, y = sample(name, more, np.random.default_rng(key))
        for number, n in enumerate((rows, more)):
            start = time.process_time()
            res = two_sample_test(x[:n], y[:rows], rng=trial, workers=1)
            seconds[number] += time.process_time() - start
            found[trial, number] = res.reject(0.05)
    only = [np.count_nonzero(found[:, i] & ~found[:, 1 - i]) for i in (0, 1)]
    shares = [share(f) for f in found.mean(axis=0)]
    return [name, *shares, *only, *[f"{1000 * s / trials:.0f}" for s in seconds]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--more", type=int, default=250)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, required=True)
    options = parser.parse_args()
    m, n = options.rows, options.more
    head = ["problem", f"{m} v {m}", f"{n} v {m}", "only equal", "only more", "ms equal", "ms more"]
    rows = [study(p, n, m, options.trials, options.seed) for p in options.problems]
    print(table(head, rows))


if __name__ == "__main__":
    main()
