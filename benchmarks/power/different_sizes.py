"""Rows that one sample has and the other has not: they must not cost power.

Samples of m rows each, and the same samples with more rows of x: how often either is found to
differ at level .05, and how often only one of them is.

    python -m benchmarks.power.different_sizes                      # small differences, 5 columns
    python -m benchmarks.power.different_sizes --more 125 --rows 100 --problems "variance, 10-d"
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.common.pages import share, table
from benchmarks.common.problems import PROBLEMS, sample
from nosplit import two_sample_test


def _five_columns(change):
    def draw(n: int, rng: np.random.Generator):
        x, y = rng.normal(size=(2, n, 5))
        change(y)
        return x, y

    return draw


def _moved(y) -> None:
    y[:, 0] += 0.16


def _wider(y) -> None:
    y *= 1.06


def _correlated(y) -> None:
    y[:, 1] = 0.2 * y[:, 0] + 0.96**0.5 * y[:, 1]


# Differences of which 800 rows show some.
SMALL = {
    "one column of 5 moved by .16": _five_columns(_moved),
    "all spreads 1.06": _five_columns(_wider),
    "one correlation .2": _five_columns(_correlated),
}


def drawn(name: str, n: int, rng: np.random.Generator):
    return SMALL[name](n, rng) if name in SMALL else sample(name, n, rng)


def study(name: str, more: int, rows: int, trials: int, seed: int) -> list[object]:
    """Found with equal sizes, with more rows of x; found by one of both only; seconds."""
    found, seconds = np.zeros((trials, 2), bool), np.zeros(2)
    for trial in range(trials):
        key = [seed, [*PROBLEMS, *SMALL].index(name), trial]
        x, y = drawn(name, more, np.random.default_rng(key))
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
    parser.add_argument("--more", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--trials", type=int, default=80)
    parser.add_argument("--seed", type=int, default=7)
    every = [*PROBLEMS, *SMALL]
    parser.add_argument("--problems", nargs="+", choices=every, default=list(SMALL))
    options = parser.parse_args()
    m, n = options.rows, options.more
    head = ["problem", f"{m} v {m}", f"{n} v {m}", "only equal", "only more", "ms equal", "ms more"]
    rows = [study(p, n, m, options.trials, options.seed) for p in options.problems]
    print(table(head, rows))


if __name__ == "__main__":
    main()
