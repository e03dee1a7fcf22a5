"""What tests of fit and of independence find in large samples, beside classical tests.

    python -m benchmarks.power.sketch_families --trials 40

All at n = 20,000 and level .05: the model is a standard normal law. Kolmogorov-Smirnov tests are of
each column with Bonferroni; Pearson's test is of the first columns.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy import stats

from nosplit import Exact, Wild, goodness_of_fit_test, independence_test


def no_change(rng, n):
    return rng.standard_normal((n, 1))


def wider(rng, n):
    return 1.03 * rng.standard_normal((n, 1))


def shifted(rng, n):
    return 0.03 + rng.standard_normal((n, 1))


def one_of_ten(rng, n):
    return rng.standard_normal((n, 10)) * np.array([1.03] + 9 * [1.0])


def correlated(rng, n):
    x = rng.standard_normal((n, 5))
    x[:, 1] = 0.04 * x[:, 0] + np.sqrt(1.0 - 0.04**2) * x[:, 1]
    return x


def heavier(rng, n):
    return rng.standard_t(20.0, size=(n, 1)) * np.sqrt(18.0 / 20.0)


FITS = {
    "nothing": no_change,
    "spread 1.03": wider,
    "mean .03": shifted,
    "spread 1.03 of one of ten columns": one_of_ten,
    "correlation .04 of two of five columns": correlated,
    "t₂₀ of variance 1": heavier,
}


def independent(rng, n):
    return rng.standard_normal((2, n))


def linear(rng, n):
    x, y = rng.standard_normal((2, n))
    return x, 0.05 * x + np.sqrt(1.0 - 0.05**2) * y


def square(rng, n):
    x, y = rng.standard_normal((2, n))
    return x, 0.04 * x**2 + y


def spread(rng, n):
    x, y = rng.standard_normal((2, n))
    return x, y * np.exp(0.04 * x)


def wave(rng, n):
    x, y = rng.uniform(-np.pi, np.pi, (2, n))
    keep = rng.random(n) < 1.0 + 0.15 * np.sin(2 * x) * np.sin(2 * y) - 0.15
    return x[keep], y[keep]


PAIRS = {
    "nothing": independent,
    "correlation .05": linear,
    "mean .04 x²": square,
    "spread exp(.04 x)": spread,
    "15 % of a sine dependence": wave,
}


def fit(draw, rows, draws):
    def one(rng):
        x = draw(rng, rows)
        start = time.process_time()
        ours = goodness_of_fit_test(
            x, -x, pairs="sketch", calibration=Wild(draws), rng=rng, workers=1
        )
        spent = time.process_time() - start
        ks = min(stats.kstest(column, "norm").pvalue for column in x.T) * x.shape[1]
        return ours.pvalue <= 0.05, ks <= 0.05, spent

    return one


def independence(draw, rows, draws):
    def one(rng):
        x, y = draw(rng, rows)
        start = time.process_time()
        ours = independence_test(x, y, pairs="sketch", calibration=Exact(draws), rng=rng, workers=1)
        spent = time.process_time() - start
        return ours.pvalue <= 0.05, stats.pearsonr(x, y).pvalue <= 0.05, spent

    return one


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=999)
    parser.add_argument("--only", choices=("fit", "independence"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    tests = ("fit", FITS, fit, "KS"), ("independence", PAIRS, independence, "Pearson")
    for title, cases, make, peer in tests:
        if args.only in (None, title):
            print(f"\n{title}, n = {args.rows:,}: found of {args.trials}\n")
            print(f"| | sketch | {peer} | seconds of CPU |\n|---|--:|--:|--:|")
            for seed, (name, draw) in enumerate(cases.items()):
                rng, one = np.random.default_rng(seed), make(draw, args.rows, args.draws)
                ours, theirs, spent = np.sum([one(rng) for _ in range(args.trials)], axis=0)
                row = f"{ours:.0f} | {theirs:.0f} | {spent / args.trials:.2f}"
                print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
