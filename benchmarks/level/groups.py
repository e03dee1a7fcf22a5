"""Level of `groups=` at .05 if groups of the two samples have different numbers of rows.

The samples have 100 and 30 groups, and no difference. Rows of a group are correlated, or not. A
Markdown table comes out, with the share of trials that are rejected.

    python -m benchmarks.level.groups --trials 1000
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import binom

import nosplit
from benchmarks.common.grouped_problems import CORRELATIONS, SIZES, samples_in_groups
from benchmarks.common.pages import fine_share, table

LEVEL, FALSE_ALARM_RATE = 0.05, 1e-3


def rejections(sizes: str, correlation: float, trials: int, flips: int) -> int:
    """Count the trials that are rejected."""
    hits = 0
    for trial in range(trials):
        x, y, groups = samples_in_groups(sizes, correlation, np.random.default_rng([3, trial]))
        exact = nosplit.Exact(flips)
        res = nosplit.two_sample_test(x, y, groups=groups, calibration=exact, rng=trial)
        hits += res.pvalue <= LEVEL
    return hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--n-resamples", type=int, default=199)
    o = parser.parse_args()
    cells = len(SIZES) * len(CORRELATIONS)
    most = binom.isf(FALSE_ALARM_RATE / cells, o.trials, LEVEL) / o.trials
    print(f"at most {fine_share(most)} is within chance")
    print(table(["rows of a group", *(f"correlation {c:g}" for c in CORRELATIONS)], []), flush=True)
    for sizes in SIZES:
        hits = [rejections(sizes, c, o.trials, o.n_resamples) for c in CORRELATIONS]
        print("| " + " | ".join([sizes, *(fine_share(h / o.trials) for h in hits)]) + " |")


if __name__ == "__main__":
    main()
