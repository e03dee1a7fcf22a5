"""Streams without a change, and ten changes."""

from __future__ import annotations

import numpy as np
import pandas as pd


def mixed(rng, n):
    """A table with a heavy-tailed number, common and rare categories and missing values."""
    names = np.array(["a", "b", "c", *(f"rare {i}" for i in range(200))])
    weight = np.array([0.4, 0.3, 0.2, *[0.0005] * 200])
    values = np.round(rng.standard_t(3, n), 1)
    values[rng.random(n) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "value": values,
            "kind": rng.choice(names, n, p=weight / weight.sum()),
            "flag": rng.random(n) < 0.1,
        }
    )


NULLS = {
    "normal, 3-d": lambda rng, n: rng.normal(size=(n, 3)),
    "counts, 3-d": lambda rng, n: rng.poisson(1.0, size=(n, 3)).astype(float),
    "Cauchy, 2-d": lambda rng, n: rng.standard_cauchy(size=(n, 2)),
    "mixed table": mixed,
}


def _normal(p, change):
    return lambda rng, n: (rng.normal(size=(n, p)), change(rng.normal(size=(n, p))))


def _shift(column, by):
    def change(rows):
        rows[:, column] += by
        return rows

    return change


def _spread(column, by):
    def change(rows):
        rows[:, column] *= by
        return rows

    return change


def _correlate(rho):
    def change(rows):
        rows[:, 1] = rho * rows[:, 0] + np.sqrt(1.0 - rho**2) * rows[:, 1]
        return rows

    return change


def _heavy(rng, n):
    return rng.normal(size=(n, 2)), rng.standard_t(3, size=(n, 2)) / np.sqrt(3.0)


def _blobs(rng, n):
    centers = 5.0 * rng.integers(3, size=(2, n, 2))
    return centers[0] + 0.7 * rng.normal(size=(n, 2)), centers[1] + _correlate(0.9)(
        0.7 * rng.normal(size=(n, 2))
    )


def _minority(rng, n):
    y = rng.normal(size=(n, 5))
    y[rng.random(n) < 0.1] += 2.0
    return rng.normal(size=(n, 5)), y


def _bumps(rng, n):
    y = rng.random((3 * n + 50, 1))
    kept = rng.random(len(y)) < (1.0 + np.sin(2 * np.pi * 3 * y[:, 0])) / 2.0
    return rng.random((n, 1)), y[kept][:n]


CHANGES = {
    "shift of 1, one of 3": _normal(3, _shift(0, 1.0)),
    "shift of .3, one of 5": _normal(5, _shift(0, 0.3)),
    "shift of .15, all of 10": _normal(10, lambda rows: rows + 0.15),
    "spread of 1.5, one of 3": _normal(3, _spread(0, 1.5)),
    "spread of 1.2, all of 5": _normal(5, lambda rows: rows * 1.2),
    "correlation of .6, two of 5": _normal(5, _correlate(0.6)),
    "t with 3 degrees of freedom, 2-d": _heavy,
    "blobs, 2-d": _blobs,
    "a tenth of rows shifted, 5-d": _minority,
    "three bumps, 1-d": _bumps,
}
