"""Level of tests of fit and of independence by sketches, with 95 % intervals.

    python -m benchmarks.level.sketch_families --trials 400 --rows 2000

Random signs of cells are asymptotic, so models with skewed scores are among those of the first
table; shifts of y are exact, and the second table shows it on data that could break them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy.stats import binomtest

from nosplit import Exact, Sketch, Wild, goodness_of_fit_test, independence_test

# A sample of n rows, and the score of its law.
FITS = {
    "normal, p = 1": (lambda rng, n: rng.standard_normal((n, 1)), lambda x: -x),
    "normal, p = 5": (lambda rng, n: rng.standard_normal((n, 5)), lambda x: -x),
    "gamma(3)": (lambda rng, n: rng.gamma(3.0, size=(n, 1)), lambda x: 2.0 / x - 1.0),
    "lognormal": (
        lambda rng, n: np.exp(rng.standard_normal((n, 1))),
        lambda x: -(1.0 + np.log(x)) / x,
    ),
    "t₃": (lambda rng, n: rng.standard_t(3.0, size=(n, 1)), lambda x: -4.0 * x / (3.0 + x * x)),
}


def two_normals(rng, n):
    return rng.standard_normal((2, n))


def cauchy(rng, n):
    return rng.standard_cauchy((2, n))


def sorted_by_x(rng, n):
    return np.sort(rng.exponential(size=n)), rng.exponential(size=n)


def ties(rng, n):
    return rng.poisson(1.0, n).astype(float), rng.integers(0, 3, n).astype(float)


def categories(rng, n):
    return rng.choice(list("abcd"), n, p=[0.7, 0.2, 0.09, 0.01]), rng.standard_normal((n, 3))


PAIRS = {
    "two normals": two_normals,
    "two Cauchy laws": cauchy,
    "sorted by x": sorted_by_x,
    "ties": ties,
    "categories against three columns": categories,
}


def fit(draw, score, rows, draws, pairs):
    def one(rng):
        x = draw(rng, rows)
        found = goodness_of_fit_test(
            x, score, pairs=pairs, calibration=Wild(draws), rng=rng, workers=1
        )
        return found.pvalue <= 0.05, any("so large" in text for text in found.warnings)

    return one


def independence(draw, rows, draws, pairs):
    def one(rng):
        found = independence_test(
            *draw(rng, rows), pairs=pairs, calibration=Exact(draws), rng=rng, workers=1
        )
        return found.pvalue <= 0.05, False

    return one


def line(name, one, trials, seed):
    rng = np.random.default_rng(seed)
    hits, warned = np.sum([one(rng) for _ in range(trials)], axis=0)
    low, high = binomtest(int(hits), trials).proportion_ci(method="wilson")
    print(f"| {name} | {hits / trials:.3f} ({low:.3f}–{high:.3f}) | {warned} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=199)
    parser.add_argument("--frequencies", type=int, default=16)
    parser.add_argument("--only", choices=("fit", "independence"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for title, cases in (("fit", FITS), ("independence", PAIRS)):
        if args.only in (None, title):
            print(f"\n{title}, n = {args.rows:,}, {args.trials} trials\n")
            print("| | rejected at .05 | warned |\n|---|---|---|")
            for seed, (name, case) in enumerate(cases.items()):
                how = args.rows, args.draws, Sketch(frequencies=args.frequencies)
                one = fit(*case, *how) if title == "fit" else independence(case, *how)
                line(name, one, args.trials, seed)


if __name__ == "__main__":
    main()
