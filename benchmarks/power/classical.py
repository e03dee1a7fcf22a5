"""The default tests beside the classical ones on their own ground, on the same samples.

Effects are such that the classical test finds about half. The last column is the level at which
the classical test would find as much as the default does at .05.

    python -m benchmarks.power.classical --trials 200 --page
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import nosplit
from benchmarks.common.pages import DOCS, share, table, write_section

LEVEL, Rng = 0.05, np.random.Generator


class Setting(NamedTuple):
    """A problem, a test of the library and a classical one that is made for the problem."""

    sizes: str
    sample: Callable[[Rng], tuple[np.ndarray, np.ndarray]]
    name: str
    classical: Callable[[np.ndarray, np.ndarray], float]
    test: Callable[..., Any] = nosplit.two_sample_test
    options: Mapping[str, Any] = MappingProxyType({})


def hotelling(x: np.ndarray, y: np.ndarray) -> float:
    n, m, p = len(x), len(y), x.shape[1]
    gap, rest = x.mean(axis=0) - y.mean(axis=0), n + m - p - 1
    pooled = ((n - 1) * np.cov(x.T) + (m - 1) * np.cov(y.T)) / (n + m - 2)
    t2 = n * m / (n + m) * gap @ np.linalg.solve(pooled, gap)
    return float(stats.f.sf(t2 * rest / (p * (n + m - 2)), p, rest))


def welch(x: np.ndarray, y: np.ndarray) -> float:
    """Test for equal means of all columns, with Bonferroni's correction."""
    return float(stats.ttest_ind(x, y, equal_var=False).pvalue.min()) * x.shape[1]


def variances(x: np.ndarray, y: np.ndarray) -> float:
    ratio, own = y.var(ddof=1) / x.var(ddof=1), stats.f(len(y) - 1, len(x) - 1)
    return 2.0 * float(min(own.sf(ratio), own.cdf(ratio)))


def paired_t(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.ttest_rel(x, y).pvalue[0])


def chi_squared(x: np.ndarray, y: np.ndarray) -> float:
    counts = [[np.sum(rows == value) for value in (0, 1)] for rows in (x, y)]
    return float(stats.chi2_contingency(counts, correction=False).pvalue)


def shifted(n: int, m: int, p: int, shift: float, correlation: float = 0.0) -> Any:
    """One of p columns with equal correlations is shifted."""

    def sample(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        common, own = rng.normal(size=(n + m, 1)), rng.normal(size=(n + m, p))
        rows = np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own
        rows[n:, 0] += shift
        return rows[:n], rows[n:]

    return sample


def scaled(draw: str, n: int, m: int, factor: float) -> Any:
    """One column from a law, multiplied in the second sample."""
    return lambda rng: (getattr(rng, draw)(size=(n, 1)), factor * getattr(rng, draw)(size=(m, 1)))


def binary(n: int, first: float, second: float) -> Any:
    """One column of zeros and ones."""
    return lambda rng: tuple((rng.random((n, 1)) < q).astype(float) for q in (first, second))


SETTINGS: dict[str, list[Setting]] = {
    "one of 10 columns with correlation .8 shifted": [
        Setting(f"{n} v {n}", shifted(n, n, 10, s, 0.8), "Hotelling", hotelling)
        for n, s in ((30, 0.46), (100, 0.24), (500, 0.10))],
    "one variance": [
        Setting(f"{n} v {n}", scaled("normal", n, n, f), "F", variances)
        for n, f in ((30, 1.48), (100, 1.234), (500, 1.099))],
    "scale of an exponential": [
        Setting(f"{n} v {m:,}", scaled("exponential", n, m, f), "Welch", welch)
        for n, m, f in ((100, 100, 1.34), (20, 1000, 1.6), (50, 5000, 1.35))],
    "one of many columns shifted": [
        Setting(f"{n} v {m:,} × {p}", shifted(n, m, p, s), "Welch", welch)
        for n, m, p, s in ((50, 1000, 5, 0.37), (50, 50, 30, 0.66), (150, 150, 50, 0.39))],
    "pairs shifted": [
        Setting(f"{n} pairs", shifted(n, n, 1, s), "paired t", paired_t, options={"paired": True})
        for n, s in ((10, 1.0), (20, 0.68), (30, 0.54), (100, 0.29))],
    "rate of a 0/1 column": [
        Setting(f"{n} v {n}", binary(n, 0.3, q), "chi-squared", chi_squared)
        for n, q in ((30, 0.56), (100, 0.437), (500, 0.36))],
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--page", action="store_true", help="write docs/measured/power.md")
    o = parser.parse_args()
    lines = []
    for name, settings in SETTINGS.items():
        for own in settings:
            found = np.empty((2, o.trials))
            for trial in range(o.trials):
                x, y = own.sample(np.random.default_rng([12, trial]))
                ours = own.test(x, y, rng=trial, workers=1, **own.options)
                found[:, trial] = ours.pvalue, own.classical(x, y)
            a, b = np.mean(found <= LEVEL + 1e-12, axis=1)
            same = f"{np.quantile(found[1], a):.2g}".lstrip("0")
            lines.append([name, own.sizes, share(a), f"{own.name} {share(b)}", same])
            print(*lines[-1], f"gap {b - a:+.2f}", flush=True)
    if o.page:
        text = table(["setting", "rows", "nosplit", "classical", "as much at"], lines)
        write_section(DOCS / "measured" / "power.md", "classical", text)


if __name__ == "__main__":
    main()
