"""Shapes of data: is one column that differs found, whatever the sizes of the samples?

One column of p differs in mean or in spread, by as much as its classical test (Welch, F) with
Bonferroni's correction finds nine times in ten. A Markdown table comes out, with the power of the
default test and of the classical test on the same samples, and how often the default finds less
than half.

    python -m benchmarks.power.shapes --trials 30
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import optimize, stats

import nosplit
from benchmarks.common.pages import table

LEVEL, POWER = 0.05, 0.9
# Rows of x, rows of y, columns.
SHAPES = [
    (20, 20, 1), (20, 20, 10), (20, 20, 100), (20, 200, 1), (20, 200, 10), (20, 2_000, 10),
    (30, 30, 1_000), (50, 50, 1), (50, 50, 10), (50, 50, 5_000), (100, 100, 10), (100, 100, 100),
    (100, 100, 768), (100, 100, 2_000), (100, 10_000, 10), (200, 200, 1), (200, 200, 10),
    (350, 350, 1_000), (1_000, 1_000, 10), (1_000, 1_000, 100), (2_000, 20, 10),
    (10_000, 200, 10), (10_000, 10_000, 1), (10_000, 10_000, 10),
]  # fmt: skip


def shift_found(n: int, m: int, alpha: float) -> float:
    """The shift, in standard deviations, that a t test finds with the wanted power."""
    df, error = n + m - 2, np.sqrt(1.0 / n + 1.0 / m)
    critical = stats.t.isf(alpha / 2.0, df)

    def lacking(shift: float) -> float:
        return float(stats.nct.sf(critical, df, shift / error)) - POWER

    return float(optimize.brentq(lacking, 1e-3, 100.0))


def spread_found(n: int, m: int, alpha: float) -> float:
    """The ratio of standard deviations that an F test finds with the wanted power."""
    high, low = (stats.f.isf(q, m - 1, n - 1) for q in (alpha / 2.0, 1.0 - alpha / 2.0))

    def lacking(ratio: float) -> float:
        own = stats.f(m - 1, n - 1)
        return float(own.sf(high / ratio**2) + own.cdf(low / ratio**2)) - POWER

    return float(optimize.brentq(lacking, 1.0 + 1e-9, 1e3))


def welch(x: np.ndarray, y: np.ndarray) -> float:
    """The smallest p-value of Welch's tests of all columns, times their number."""
    return float(stats.ttest_ind(x, y, equal_var=False).pvalue.min()) * x.shape[1]


def variances(x: np.ndarray, y: np.ndarray) -> float:
    """The smallest p-value of F tests of all columns, times their number."""
    ratio = y.var(axis=0, ddof=1) / x.var(axis=0, ddof=1)
    own = stats.f(len(y) - 1, len(x) - 1)
    return float(np.minimum(own.sf(ratio), own.cdf(ratio)).min()) * 2.0 * x.shape[1]


def problem(kind: str, n: int, m: int, p: int, rng: np.random.Generator) -> tuple:
    """Two samples of which one column differs."""
    x, y = rng.normal(size=(n, p)), rng.normal(size=(m, p))
    if kind == "mean":
        y[:, 0] += shift_found(n, m, LEVEL / p)
    else:
        y[:, 0] *= spread_found(n, m, LEVEL / p)
    return x, y


def cell(kind: str, shape: tuple[int, int, int], trials: int) -> tuple[float, float, float]:
    """Power of the default test and of the classical one, and seconds of a call."""
    classical = welch if kind == "mean" else variances
    hits = peers = 0
    spent = 0.0
    for trial in range(trials):
        x, y = problem(kind, *shape, np.random.default_rng([11, trial]))
        start = time.perf_counter()
        hits += nosplit.two_sample_test(x, y, rng=trial).pvalue <= LEVEL
        spent += time.perf_counter() - start
        peers += classical(x, y) <= LEVEL
    return hits / trials, peers / trials, spent / trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of shapes")
    o = parser.parse_args()
    shapes = SHAPES if o.only is None else [SHAPES[i] for i in o.only]
    head = ["rows", "columns", "mean", "Welch", "spread", "F", "seconds"]
    print(table(head, []), flush=True)
    gaps, blind = [], 0
    for n, m, p in shapes:
        found = [cell(kind, (n, m, p), o.trials) for kind in ("mean", "spread")]
        for own, peer, _ in found:
            gaps.append(peer - own)
            blind += own < peer / 2.0
        (a, b, s), (c, d, t) = found
        line = [
            f"{n:,} v {m:,}",
            f"{p:,}",
            *(f"{v:.2f}" for v in (a, b, c, d)),
            f"{(s + t) / 2:.2f}",
        ]
        print("| " + " | ".join(line) + " |", flush=True)
    print(f"less than half of the classical test in {blind} of {len(gaps)} cells")
    print(f"mean gap {np.mean(gaps):.2f}")


if __name__ == "__main__":
    main()
