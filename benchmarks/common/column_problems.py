"""Tables with columns that depend on one another, and ten ways to change one of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

KINDS = ("independent", "correlated", "mixed")
# Correlation of any two of the "correlated" columns.
STRONG = 0.95


def numbers(rng: np.random.Generator, n: int, k: int, kind: str) -> np.ndarray:
    """Normal columns, all of them correlated or none."""
    rows = rng.normal(size=(n, k))
    if kind == "independent":
        return rows
    return np.sqrt(STRONG) * rng.normal(size=(n, 1)) + np.sqrt(1.0 - STRONG) * rows


def sample(
    rng: np.random.Generator, n: int, k: int, kind: str, changed: int = 0
) -> np.ndarray | pd.DataFrame:
    """Columns of which the first ones are changed: numbers are moved by .8.

    Of mixed ones a third each are numbers, flags and categories made of correlated numbers.
    """
    rows = numbers(rng, n, k, kind)
    rows[:, :changed] += 0.8
    if kind != "mixed":
        return rows
    columns: dict[str, np.ndarray] = {}
    for j in range(k):
        column = rows[:, j]
        if j % 3 == 1:
            column = column > 1.0
        elif j % 3 == 2:
            column = np.array(list("abcdef"))[np.digitize(column, [-1.5, -0.5, 0.0, 0.5, 1.0])]
        columns[str(j)] = column
    return pd.DataFrame(columns)


def _replaced(x: np.ndarray, rng: np.random.Generator, share: float, by: object) -> np.ndarray:
    return np.where(rng.random(len(x)) < share, by, x)


def _humps(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    sides = rng.choice([-1.0, 1.0], len(x))
    return 0.8 * sides + 0.6 * x


# From standard normal values to others, and a generator.
CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "shift by .25": lambda x, rng: x + 0.25,
    "spread × 1.25": lambda x, rng: 1.25 * x,
    "two humps": _humps,
    "skewed": lambda x, rng: (stats.gamma(3.0).ppf(stats.norm.cdf(x)) - 3.0) / np.sqrt(3.0),
    "heavy tails, t with 3": lambda x, rng: stats.t(3).ppf(stats.norm.cdf(x)) / np.sqrt(3.0),
    "10 % from far out": lambda x, rng: _replaced(x, rng, 0.1, rng.normal(0.0, 3.0, len(x))),
    "3 % are zero": lambda x, rng: _replaced(x, rng, 0.03, 0.0),
    "rounded to halves": lambda x, rng: np.round(2.0 * x) / 2.0,
    "cut at 1.5": lambda x, rng: np.minimum(x, 1.5),
    "5 % missing": lambda x, rng: _replaced(x, rng, 0.05, np.nan),
}


def bonferroni(x: pd.DataFrame, y: pd.DataFrame) -> np.ndarray:
    """What is done today: KS of numbers, chi-squared of categories and of what is missing."""
    found = []
    for name in x.columns:
        a, b = x[name], y[name]
        tests = []
        if a.dtype.kind == "f":
            tests.append(stats.ks_2samp(a.dropna(), b.dropna()).pvalue)
            gone = np.array([[s.isna().sum(), s.notna().sum()] for s in (a, b)])
            if gone[:, 0].any():
                tests.append(stats.chi2_contingency(gone).pvalue)
        else:
            values, place = np.unique(np.concatenate([a, b]).astype(str), return_inverse=True)
            sides = place[: len(a)], place[len(a) :]
            counts = np.stack([np.bincount(side, minlength=len(values)) for side in sides])
            tests.append(stats.chi2_contingency(counts).pvalue if len(values) > 1 else 1.0)
        found.append(len(tests) * min(tests))
    return np.minimum(len(found) * np.array(found), 1.0)
