"""How often a column that does not differ is named: independent, correlated and mixed columns.

python -m benchmarks.level.columns --trials 2000
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

import nosplit
from benchmarks.common.column_problems import KINDS, sample
from benchmarks.common.pages import fine_share

WAYS = ("max-T", "holm", "bh")


def trial(kind: str, changed: int, k: int, n: int, draws: int, seed: int) -> Counter[str]:
    """Whether any column that is not changed is named."""
    rng = np.random.default_rng([seed, changed, KINDS.index(kind)])
    x, y = sample(rng, n, k, kind), sample(rng, n, k, kind, changed)
    tests = nosplit.column_tests(x, y, n_resamples=draws, rng=seed, workers=1)
    true = set(map(str, range(changed)))
    return Counter({way: int(bool(set(tests.differing(adjustment=way)) - true)) for way in WAYS})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--changed", type=int, nargs="*", default=[0, 1, 5])
    parser.add_argument("--draws", type=int, default=199)
    o = parser.parse_args()
    print("| columns | changed | max-T | Holm | Benjamini-Hochberg * |")
    print("|---|--:|--:|--:|--:|")
    for kind in o.kinds:
        for changed in o.changed:
            total: Counter[str] = Counter()
            for seed in range(o.trials):
                total += trial(kind, changed, o.columns, o.rows, o.draws, seed)
            shares = (fine_share(total[way] / o.trials) for way in WAYS)
            print(f"| {kind} | {changed} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
