"""Pairs of parts of real tables, with their rows in the order in which they are stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import nosplit.datasets

# Largest p-value, over columns and adjusted for their number, of a clear difference.
CLEAR = 1e-6


@dataclass(frozen=True)
class Pair:
    """Two parts of a table, without the column that separates them."""

    table: str
    by: str
    parts: tuple[Any, Any]
    x: Any
    y: Any

    def __str__(self) -> str:
        return f"{self.table} by {self.by}: {self.parts[0]}, {self.parts[1]}"

    @property
    def clear(self) -> bool:
        """Whether Kolmogorov-Smirnov tests of the numeric columns find a clear difference."""
        names = self.x.select_dtypes("number").columns
        pvalues = [stats.ks_2samp(self.x[c].dropna(), self.y[c].dropna()).pvalue for c in names]
        return bool(min(pvalues) * len(names) < CLEAR)


def tables() -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Tables, and the columns that divide each of them."""
    import pandas as pd
    from palmerpenguins import load_penguins
    from sklearn import datasets
    from vega_datasets import data

    cars = pd.DataFrame(json.loads(data.cars.raw())).drop(columns="Name")
    cars["Year"] = pd.to_datetime(cars["Year"])
    weather = data.seattle_weather()
    weather["month"] = weather.pop("date").dt.month
    folder = Path(nosplit.datasets.__file__).parent
    flights = [
        pd.read_csv(folder / f"flights_{month}.csv").assign(month=month)
        for month in ("january", "july")
    ]
    found = {
        "penguins": (load_penguins(), ("species", "sex", "island")),
        "cars": (cars, ("Origin",)),
        "weather": (weather, ("month",)),
        "flights": (pd.concat(flights, ignore_index=True), ("month",)),
    }
    for name in ("wine", "iris", "breast_cancer", "digits"):
        load = getattr(datasets, f"load_{name}")
        found[name] = (load(as_frame=True).frame, ("target",))
    return found


def pairs() -> Iterator[Pair]:
    """All pairs of parts of all tables."""
    for name, (table, columns) in tables().items():
        for by in columns:
            parts = {value: part.drop(columns=by) for value, part in table.groupby(by)}
            for a, b in combinations(parts, 2):
                yield Pair(name, by, (a, b), parts[a], parts[b])


def halves(table: Any, rng: np.random.Generator, rows: int | None = None) -> tuple[Any, Any]:
    """Two random halves of a table, or of some of its rows, each in the order of the table."""
    picked = rng.permutation(len(table))[:rows]
    half = len(picked) // 2
    return table.iloc[np.sort(picked[:half])], table.iloc[np.sort(picked[half:])]
