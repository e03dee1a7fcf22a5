"""Parts of real tables in their stored order: are clear differences found at the first call?

One line for each pair of parts that differs clearly, by Kolmogorov-Smirnov tests of its columns,
with the p-values of four tests without options; then the number of pairs that some test misses at
level .01, and how often random halves of the same tables are rejected at level .05.

    python -m benchmarks.level.real_tables --halves 50
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import binom

import nosplit
from benchmarks.common.pages import fine_share
from benchmarks.common.real_tables import Pair, halves, pairs, tables

ALPHA, LEVEL, FALSE_ALARM_RATE = 0.01, 0.05, 1e-3


def pvalues(pair: Pair) -> dict[str, float]:
    """P-values of all tests of two samples, without options."""
    x, y = pair.x, pair.y
    return {
        "two samples": nosplit.two_sample_test(x, y).pvalue,
        "k samples": nosplit.k_sample_test([x, y]).pvalue,
        "columns": float(nosplit.column_tests(x, y).adjusted.min()),
        "classifier": nosplit.classifier_test(x, y).pvalue,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halves", type=int, default=50, help="pairs of halves of each table")
    parser.add_argument("--rows", type=int, default=400, help="rows that are halved, at most")
    o = parser.parse_args()
    missed = clear = 0
    for pair in pairs():
        if not pair.clear:
            continue
        found = pvalues(pair)
        clear += 1
        missed += max(found.values()) > ALPHA
        said = ", ".join(f"{name} {p:.2g}" for name, p in found.items())
        print(f"{pair} ({len(pair.x):,} and {len(pair.y):,} rows): p = {said}", flush=True)
    print(f"{missed} of {clear} clear differences missed at level {ALPHA:g}")
    for name, (table, _) in tables().items():
        hits = 0
        for trial in range(o.halves):
            x, y = halves(table, np.random.default_rng([9, trial]), o.rows)
            hits += nosplit.two_sample_test(x, y, rng=trial).pvalue <= LEVEL
        most = binom.isf(FALSE_ALARM_RATE, o.halves, LEVEL) / o.halves
        said = f"{fine_share(hits / o.halves)} of {o.halves} pairs of halves rejected"
        print(f"{name}: {said} at level {LEVEL:g} (at most {fine_share(most)} is within chance)")


if __name__ == "__main__":
    main()
