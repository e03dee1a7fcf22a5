"""Type-I error of the goodness-of-fit test with laws that have ends, by random signs.

python -m benchmarks.level.ends --rows 250 --trials 300
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats

import nosplit

LAWS = {
    "gamma, shape 1.2": stats.gamma(1.2),
    "Weibull, shape 1.5": stats.weibull_min(1.5),
    "log-normal, σ = 1": stats.lognorm(1.0),
    "beta(2, 5)": stats.beta(2.0, 5.0),
    "gamma, shape 3": stats.gamma(3.0),
    "exponential": stats.expon(),
    "uniform": stats.uniform(),
}


def rejections(law, rows: int, trials: int) -> list[int]:
    """How many of some tests of true models reject at .05 and at .01."""
    rng, found = np.random.default_rng(7), [0, 0]
    for i in range(trials):
        x = law.rvs(size=rows, random_state=rng)
        p = nosplit.goodness_of_fit_test(x, law, calibration="wild", rng=i).pvalue
        found = [count + (p <= level) for count, level in zip(found, (0.05, 0.01), strict=True)]
    return found


def interval(count: int, trials: int) -> str:
    """A rate with its exact 95 % interval."""
    low, high = stats.binomtest(count, trials).proportion_ci(method="exact")
    shown = (f"{value:.3f}".lstrip("0") for value in (count / trials, low, high))
    return "{} ({}–{})".format(*shown)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=250)
    parser.add_argument("--trials", type=int, default=300)
    given = parser.parse_args()
    print(f"| {given.rows} rows, wild | level .05 | level .01 |\n|---|---|---|")
    for name, law in LAWS.items():
        found = rejections(law, given.rows, given.trials)
        rates = " | ".join(interval(count, given.trials) for count in found)
        print(f"| {name} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
