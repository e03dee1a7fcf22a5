"""Would a wide kernel find more of a shift? Goodness of fit of a normal law, wild flips.

Beside the sets of kernels is the two-sided test of the mean, which looks for nothing but a shift.

    python -m benchmarks.power.stein_kernels --trials 150
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.common.pages import share, table
from nosplit import IMQ, Gaussian, Wild, goodness_of_fit_test


def _normal(mean, scale):
    return lambda n, rng: rng.normal(size=(n, 1)) * scale + mean


PROBLEMS = {
    "nothing": _normal(0.0, 1.0),
    "shift by .3": _normal(0.3, 1.0),
    "spread 1.3": _normal(0.0, 1.3),
    "Laplace": lambda n, rng: rng.laplace(size=(n, 1)) / np.sqrt(2.0),
}
SETS = {
    "default": None,
    "8 medians for 2": lambda b: [IMQ(b), *(Gaussian(f * b) for f in (0.5, 1.0, 8.0))],
    "and 8, 16": lambda b: [IMQ(b), *(Gaussian(f * b) for f in (0.5, 1.0, 2.0, 8.0, 16.0))],
    "8 medians alone": lambda b: [Gaussian(8.0 * b)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--n", type=int, default=70)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n, rows = options.n, []
    for name, draw in PROBLEMS.items():
        found = dict.fromkeys([*SETS, "mean"], 0)
        for trial in range(options.trials):
            x = draw(n, np.random.default_rng([11, trial]))
            found["mean"] += abs(x.mean()) * np.sqrt(n) > 1.96
            for label, kernels in SETS.items():
                res = goodness_of_fit_test(
                    x, -x, kernels=kernels, calibration=Wild(199), rng=trial, workers=1
                )
                found[label] += res.pvalue <= 0.05
        rows.append([name, *[share(count / options.trials) for count in found.values()]])
    print(table([f"n = {n}", *SETS, "mean"], rows))


if __name__ == "__main__":
    main()
