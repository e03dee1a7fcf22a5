"""How often a column that does not differ is named: independent, correlated and mixed columns.

python -m benchmarks.level.columns --trials 2000
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

import nosplit
from benchmarks.common.column_problems import KINDS, bonferroni, moved, table
from benchmarks.common.pages import fine_share


def trial(kind: str, changed: int, k: int, n: int, draws: int, seed: int) -> Counter[str]:
    rng = np.random.default_rng([seed, changed, KINDS.index(kind)])
    x, y = table(rng, n, k, kind), moved(table(rng, n, k, kind), changed)
    tests = nosplit.column_tests(x, y, draws=draws, rng=seed, workers=1)
    named = {
        method: set(tests.differing(method=way)) - {f"c{j}" for j in range(changed)}
        for method, way in (("max-T", "max-T"), ("Holm", "holm"))
    }
    named["Bonferroni"] = set(np.flatnonzero(bonferroni(x, y)[changed:] <= 0.05))
    return Counter({method: int(bool(found)) for method, found in named.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--draws", type=int, default=199)
    o = parser.parse_args()
    print("| columns | changed | max-T | Holm | Bonferroni of KS and chi-squared |")
    print("|---|--:|--:|--:|--:|")
    for kind in o.kinds:
        for changed in (0, 1, o.columns // 2):
            total: Counter[str] = Counter()
            for seed in range(o.trials):
                total += trial(kind, changed, o.columns, o.rows, o.draws, seed)
            shares = (fine_share(total[m] / o.trials) for m in ("max-T", "Holm", "Bonferroni"))
            print(f"| {kind} | {changed} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
