"""Closed forms inside the rule that trusts them, at smaller levels than .05.

Windows as wide as the rule allows, with the default kernels and OST, equal sizes.

    python -m benchmarks.level.small_levels --trials 4000
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.common.pages import fine_share, table, wilson
from nosplit import two_sample_test

LAWS = {
    "normal": lambda n, rng: rng.normal(size=(n, 1)),
    "log-normal": lambda n, rng: np.exp(rng.normal(size=(n, 1))),
}
LEVELS = (0.05, 0.01, 0.001)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(table(["", *[f"level {level:g}" for level in LEVELS]], []), flush=True)
    for law, draw in LAWS.items():
        for n, window in ((175, 2), (400, 4)):
            pvalues = []
            for trial in range(options.trials):
                rng = np.random.default_rng([n, window, trial])
                how = {"pairs": window, "calibration": "asymptotic", "workers": 1}
                pvalues.append(two_sample_test(draw(n, rng), draw(n, rng), rng=rng, **how).pvalue)
            cells = []
            for level in LEVELS:
                count = int(np.count_nonzero(np.array(pvalues) <= level))
                low, high = map(fine_share, wilson(count, options.trials))
                cells.append(f"{fine_share(count / options.trials)} ({low}–{high})")
            print(f"| {law}, N = {n}, R = {window} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
