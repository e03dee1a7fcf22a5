"""Few observations of two variables: y permuted among all of them, inside units, and others' way.

Distance covariance is written out here, with permutations of its own.

    python -m benchmarks.power.few_observations --trials 100
    python -m benchmarks.power.few_observations --trials 100 --n 400 --apart .5

`--apart` takes the y of some rows, such a share, and permutes them: less dependence for more rows.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.common.independence_problems import PROBLEMS
from benchmarks.common.pages import share, table
from nosplit import Exact, independence_test

DRAWS = 199


def by_default(x, y, rng) -> float:
    return independence_test(x, y, calibration=Exact(DRAWS), workers=1).pvalue


def in_units(x, y, rng) -> float:
    all_alike = np.zeros(len(x))  # of strata units are cut, and of one as of none
    return independence_test(x, y, strata=all_alike, calibration=Exact(DRAWS), workers=1).pvalue


def distance_covariance(x, y, rng) -> float:
    A, B = (_centred(cdist(v, v)) for v in (x, y))
    found = [np.sum(A * B)]
    for _ in range(DRAWS):
        place = rng.permutation(len(x))
        found.append(np.sum(A * B[np.ix_(place, place)]))
    return float(np.mean(np.array(found) >= found[0] * (1 - 1e-9)))


def _centred(D):
    return D - D.mean(axis=0) - D.mean(axis=1)[:, None] + D.mean()


TESTS = {
    "nosplit": by_default,
    "in units of 8": in_units,
    "distance covariance": distance_covariance,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--apart", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, seconds = [], dict.fromkeys(TESTS, 0.0)
    for name, draw in PROBLEMS.items():
        found = dict.fromkeys(TESTS, 0)
        for trial in range(options.trials):
            rng = np.random.default_rng([options.seed, trial])
            x, y = draw(options.n, rng)
            some = rng.permutation(options.n)[: round(options.apart * options.n)]
            y[some] = y[rng.permutation(some)]
            for test, run in TESTS.items():
                start = time.process_time()
                found[test] += run(x, y, np.random.default_rng([7, trial])) <= 0.05
                seconds[test] += time.process_time() - start
        rows.append([name, *[share(count / options.trials) for count in found.values()]])
    each = options.trials * len(PROBLEMS)
    rows.append(["milliseconds", *[f"{1000 * s / each:.0f}" for s in seconds.values()]])
    print(table([f"n = {options.n}", *TESTS], rows))


if __name__ == "__main__":
    main()
