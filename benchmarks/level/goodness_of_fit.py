"""Level of the goodness-of-fit test where it is only asymptotic, over n, with 95 % intervals.

    python -m benchmarks.level.goodness_of_fit --trials 1000

The tables of docs/measured/goodness_of_fit.md: wild flips on all pairs, the closed form on linear
pairs and on the widest safe window, and series.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy.signal import lfilter
from scipy.stats import binomtest

from benchmarks.common.trusted import widest_window
from nosplit import goodness_of_fit_test, models

MODELS = {
    "normal, p = 1": models.MultivariateNormal(0.0),
    "normal, p = 5": models.MultivariateNormal(np.zeros(5)),
    "normal, p = 10": models.MultivariateNormal(np.zeros(10)),
    "t₃, p = 1": models.StudentT(3.0),
    "two modes, p = 1": models.GaussianMixture([-3.0, 3.0]),
}


def chain(n, p, phi, rng):
    noise = rng.standard_normal((n + 500, p)) * np.sqrt(1.0 - phi**2)
    return np.ascontiguousarray(lfilter([1.0], [1.0, -phi], noise, axis=0)[500:])


def level(trials, seed, one):
    """Share of rejections at 0.05 and its interval, as a cell of a table."""
    rng = np.random.default_rng(seed)
    hits = sum(one(rng) for _ in range(trials))
    low, high = binomtest(hits, trials).proportion_ci(method="wilson")
    return f"{hits / trials:.3f} ({low:.3f}–{high:.3f})"


def table(title, heads, rows):
    print(f"\n{title}\n\n| | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def independent(trials, sizes, **options):
    def one(model, n, how):
        def run(rng):
            x = model.sample(n, rng)
            result = goodness_of_fit_test(x, model.score, workers=1, rng=rng, **how)
            return result.pvalue <= 0.05

        return run

    for name, model in MODELS.items():
        cells = []
        for n in sizes:
            how = {k: v(n) if callable(v) else v for k, v in options.items()}
            cells.append(level(trials, n, one(model, n, how)))
        yield name, cells


def series(trials, sizes):
    for phi in (0.0, 0.5, 0.9):
        for p in (1, 3):

            def run(rng, n, phi=phi, p=p):
                x = chain(n, p, phi, rng)
                return goodness_of_fit_test(x, -x, series=True, workers=1).pvalue <= 0.05

            yield (
                f"φ = {phi}, p = {p}",
                [level(trials, n, lambda rng, n=n, run=run: run(rng, n)) for n in sizes],
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--only", choices=("wild", "asymptotic", "series"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.only in (None, "wild"):
        sizes = (20, 50, 100, 200)
        rows = independent(args.trials, sizes, calibration="wild", pairs="complete")
        table("wild, all pairs", [f"n = {n}" for n in sizes], rows)
    if args.only in (None, "asymptotic"):
        for title, pairs in (
            ("asymptotic, linear pairs", "linear"),
            ("asymptotic, widest safe window", widest_window),
        ):
            sizes = (200, 500, 1000, 4000)
            rows = independent(args.trials, sizes, calibration="asymptotic", pairs=pairs)
            table(title, [f"n = {n}" for n in sizes], rows)
    if args.only in (None, "series"):
        sizes = (200, 600, 2000)
        table("series=True", [f"n = {n}" for n in sizes], series(args.trials, sizes))


if __name__ == "__main__":
    main()
