"""Power of tests of fit to a normal model beside classical tests on their own ground.

    python -m benchmarks.power.classical_fit  # about five minutes of one core
    PYTHONPATH=../before/src python -m benchmarks.power.classical_fit

Effects are such that the classical test, of a variance, a mean, a correlation or a shape, finds
about half or more. The first column of nosplit has the model, the second only its score. The table
stands in docs/measured/goodness_of_fit.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from nosplit import goodness_of_fit_test, models

LEVEL = 0.05
Draw = Callable[[int, np.random.Generator], Any]


def normal(n: int, rng: np.random.Generator, mean: float = 0.0, sd: float = 1.0) -> Any:
    return mean + sd * rng.standard_normal((n, 1))


def correlated(n: int, rng: np.random.Generator) -> Any:
    x = rng.standard_normal((n, 2))
    x[:, 1] = 0.25 * x[:, 0] + np.sqrt(1.0 - 0.25**2) * x[:, 1]
    return x


def bimodal(n: int, rng: np.random.Generator) -> Any:
    return 0.75 * rng.choice([-1.0, 1.0], (n, 1)) + np.sqrt(1 - 0.75**2) * normal(n, rng)


def student(n: int, rng: np.random.Generator) -> Any:
    return rng.standard_t(4.0, (n, 1)) / np.sqrt(2.0)


def variance_test(x: Any) -> float:
    """P-value of the sum of squares about the mean, whose law is χ² with n - 1 degrees."""
    law = stats.chi2(len(x) - 1)
    total = float(((x - x.mean()) ** 2).sum())
    return 2.0 * min(law.cdf(total), law.sf(total))


def z_test(x: Any) -> float:
    return 2.0 * stats.norm.sf(abs(x.mean()) * np.sqrt(len(x)))


def correlation_test(x: Any) -> float:
    return stats.pearsonr(*x.T).pvalue


def shape_test(x: Any) -> float:
    return stats.cramervonmises(x[:, 0], "norm").pvalue


# Name, rows, the law of the data, and the classical test.
PROBLEMS: list[tuple[str, int, Draw, Callable[[Any], float]]] = [
    ("spread 1.47", 15, partial(normal, sd=1.47), variance_test),
    ("spread 1.24", 50, partial(normal, sd=1.24), variance_test),
    ("spread 1.07", 500, partial(normal, sd=1.07), variance_test),
    ("shift 0.47", 20, partial(normal, mean=0.47), z_test),
    ("shift 0.17", 150, partial(normal, mean=0.17), z_test),
    ("shift 0.095", 500, partial(normal, mean=0.095), z_test),
    ("spread 1.2", 100, partial(normal, sd=1.2), variance_test),
    ("mean 0.2", 100, partial(normal, mean=0.2), z_test),
    ("correlation 0.25", 100, correlated, correlation_test),
    ("t₄ of variance 1", 200, student, shape_test),
    ("two peaks", 100, bimodal, shape_test),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    trials = parser.parse_args().trials
    warnings.simplefilter("ignore")
    print("| | n | model | score | classical |\n|---|--:|--:|--:|--:|")
    for name, n, draw, classical in PROBLEMS:
        hits = np.zeros(3)
        for trial in range(trials):
            x = draw(n, np.random.default_rng([46, n, trial]))
            model = models.MultivariateNormal(np.zeros(x.shape[1]))
            tests = (goodness_of_fit_test(x, m, rng=trial, workers=1) for m in (model, model.score))
            hits += np.array([*(res.pvalue for res in tests), classical(x)]) <= LEVEL
        shares = " | ".join(f"{hit / trials:.2f}" for hit in hits)
        print(f"| {name} | {n} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
