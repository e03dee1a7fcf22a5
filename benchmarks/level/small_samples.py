"""Level of the default two-sample test on small samples: rejections of true null hypotheses.

python -m benchmarks.level.small_samples --trials 4000
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.stats import binom

import nosplit
from benchmarks.common.pages import fine_share, table
from benchmarks.level.nulls import ROWS

LAWS = {
    "discrete": "ties",
    "heavy-tailed": "Cauchy",
    "clustered": "clusters",
    "mixed": "mixed table",
}


def rejections(law: str, n: int, trials: int, alphas: np.ndarray) -> np.ndarray:
    """How many of the trials reject at each level."""
    hits = np.zeros(len(alphas), dtype=int)
    for trial in range(trials):
        rng = np.random.default_rng([14, n, trial])
        x, y = ROWS[LAWS[law]](rng, n, 2), ROWS[LAWS[law]](rng, n, 2)
        hits += nosplit.two_sample_test(x, y, rng=trial, workers=1).pvalue <= alphas
    return hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 50, 200])
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=list(LAWS))
    o = parser.parse_args()
    alphas = np.array([0.05, 0.01])
    # Below these lie all cells of exact tests, but for one in a thousand runs.
    outside = 0.001 / (len(o.laws) * len(o.rows) * len(alphas))
    most = binom.isf(outside, o.trials, alphas) / o.trials
    print(f"at most {fine_share(most[0])} and {fine_share(most[1])} is within chance")
    print(table(["data", "rows", *(fine_share(a) for a in alphas), "ms"], []), flush=True)
    for law in o.laws:
        for n in o.rows:
            start = time.process_time()
            shares = rejections(law, n, o.trials, alphas) / o.trials
            ms = 1000 * (time.process_time() - start) / o.trials
            row = [law, str(n), *map(fine_share, shares), f"{ms:.0f}"]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
