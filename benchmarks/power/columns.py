"""How often a changed column is named: ten kinds of change in one of many columns.

python -m benchmarks.power.columns --trials 200
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import pandas as pd

import nosplit
from benchmarks.common.column_problems import CHANGES, bonferroni, numbers
from benchmarks.common.pages import share

WAYS = ("max-T", "Holm", "Bonferroni")


def trial(change: str, kind: str, k: int, n: int, draws: int, seed: int) -> Counter[str]:
    rng = np.random.default_rng([seed, list(CHANGES).index(change)])
    x, y = numbers(rng, n, k, kind), numbers(rng, n, k, kind)
    y[:, 0] = CHANGES[change](y[:, 0], rng)
    x, y = (pd.DataFrame(rows, columns=[f"c{j}" for j in range(k)]) for rows in (x, y))
    tests = nosplit.column_tests(
        x, y, n_resamples=draws, nan_policy="indicate", rng=seed, workers=1
    )
    return Counter(
        {
            "max-T": "c0" in tests.differing(),
            "Holm": "c0" in tests.differing(adjustment="holm"),
            "Bonferroni": bool(bonferroni(x, y)[0] <= 0.05),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--changes", nargs="*", choices=list(CHANGES), default=list(CHANGES))
    parser.add_argument("--draws", type=int, default=499)
    o = parser.parse_args()
    kinds = ("independent", "correlated")
    heads = [f"{kind}: {way}" for kind in kinds for way in WAYS]
    print("| change of one column | " + " | ".join(heads) + " |")
    print("|---" + "|--:" * len(heads) + "|")
    for change in o.changes:
        cells = []
        for kind in kinds:
            total: Counter[str] = Counter()
            for seed in range(o.trials):
                total += trial(change, kind, o.columns, o.rows, o.draws, seed)
            cells += [share(total[way] / o.trials) for way in WAYS]
        print(f"| {change} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
