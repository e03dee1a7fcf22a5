"""Level of the independence test in closed form, over n, with 95 % intervals.

    python -m benchmarks.level.independence --trials 1000

The tables of docs/measured/independence.md: linear pairs and the widest safe window of units of 8
rows. (Permutations inside units are exact; the tests check that by full enumeration.)
"""

from __future__ import annotations

import argparse
import warnings

from benchmarks.common.trusted import widest_window
from benchmarks.level.goodness_of_fit import level, table
from nosplit import independence_test


def _normal(p):
    return lambda n, rng: (rng.standard_normal((n, p)), rng.standard_normal((n, p)))


def _skewed(n, rng):
    return rng.lognormal(size=n), rng.exponential(size=n)


def _categories(n, rng):
    return rng.integers(4, size=n).astype(str), rng.standard_normal(n)


NULLS = {
    "normal, p = 1": _normal(1),
    "normal, p = 5": _normal(5),
    "skewed, p = 1": _skewed,
    "categories and a number": _categories,
}


def rows(trials, sizes, pairs):
    for name, draw in NULLS.items():
        cells = []
        for n in sizes:
            how = pairs(n // 8) if callable(pairs) else pairs

            def one(rng, n=n, how=how, draw=draw):
                x, y = draw(n, rng)
                result = independence_test(
                    x, y, pairs=how, calibration="asymptotic", rng=rng, workers=1
                )
                return result.pvalue <= 0.05

            cells.append(level(trials, n, one))
        yield name, cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    warnings.simplefilter("ignore")
    sizes = (500, 1000, 2000, 8000)
    for title, pairs in (("linear pairs", "linear"), ("widest safe window", widest_window)):
        table(title, [f"n = {n}" for n in sizes], rows(trials, sizes, pairs))


if __name__ == "__main__":
    main()
