"""Small differences in millions of rows: the default test, with 9,999 draws.

python -m benchmarks.power.millions --pairs 3
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import nosplit
from benchmarks.common.pages import table


def wider(n, rng):
    """The spread of one of ten columns is 2 % larger."""
    x, y = rng.standard_normal((n, 10)), rng.standard_normal((n, 10))
    y[:, 0] *= 1.02
    return x, y


def dependent(n, rng):
    """Two of five columns have a correlation of .01; every column is as it was."""
    x, y = rng.standard_normal((n, 5)), rng.standard_normal((n, 5))
    y[:, 1] = 0.01 * y[:, 0] + np.sqrt(1.0 - 1e-4) * y[:, 1]
    return x, y


PROBLEMS = {
    "spread × 1.02, one of 10": (wider, (100_000, 1_000_000, 4_000_000)),
    "correlation .01, two of 5": (dependent, (1_000_000,)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=3, help="of samples")
    parser.add_argument("--seed", type=int, default=7)
    o = parser.parse_args()
    print(table(["difference", "rows of each", "p-values", "named", "seconds"], []), flush=True)
    for name, (draw, sizes) in PROBLEMS.items():
        for n in sizes:
            pvalues, named, spent = [], set(), 0.0
            for k in range(o.pairs):
                x, y = draw(n, np.random.default_rng([o.seed, k]))
                start = time.process_time()
                res = nosplit.two_sample_test(x, y, rng=k)
                spent += time.process_time() - start
                pvalues.append(f"{res.pvalue:.2g}")
                named |= set(res.columns.differing())
            row = [name, f"{n:,}", ", ".join(pvalues), ", ".join(map(str, sorted(named)))]
            print("| " + " | ".join([*row, f"{spent / o.pairs:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
