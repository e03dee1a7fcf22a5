"""Samples for the fuzzer: shapes, types, layouts and values, from denormal to 1e300."""

from __future__ import annotations

from typing import Any

import numpy as np

SCALES = (1e-310, 1e-160, 1e-30, 1e-3, 1.0, 1.0, 1.0, 1.0, 1e3, 1e30, 1e150, 1e300)
DTYPES = ("f8", "f8", "f8", "f4", "i8", "i4", "u8", "i2", "?", "f2")
# Names that a page, a terminal or a file may take amiss.
NAMES = (
    "a",
    "b c",
    "<script>alert(1)</script>",
    "\x1b[31mred\x07",
    "'; DROP TABLE",
    "ü€漢",
    "{{ 7 * 7 }}",
    "a,b;c\td",
    "",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc",
)


def rows(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """An (n, p) array of numbers of some kind."""
    kind = rng.integers(10)
    if kind == 0:
        values = np.full((n, p), rng.choice([0.0, 1.0, -3.5, 1e16]))
    elif kind == 1:
        values = rng.integers(0, 3, (n, p)).astype(float)
    elif kind == 2:
        values = rng.standard_cauchy((n, p))
    elif kind == 3:
        values = np.where(rng.random((n, p)) < 0.1, rng.lognormal(size=(n, p)), 0.0)
    elif kind == 4:
        values = np.repeat(rng.standard_normal((n, 1)), p, axis=1)
    elif kind == 5:
        values = 1e9 + rng.standard_normal((n, p))
    else:
        values = rng.standard_normal((n, p))
    with np.errstate(over="ignore"):
        values = values * rng.choice(SCALES)
    if rng.random() < 0.15:
        values[rng.integers(n), rng.integers(p)] = rng.choice([1e10, 1e20, -1e200, 1.7e308, 5e-324])
    return values


def layout(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """The same values, lying otherwise in memory."""
    kind = rng.integers(8)
    if kind == 0:
        return np.asfortranarray(values)
    if kind == 1:
        return np.repeat(values, 2, axis=0)[::2]
    if kind == 2:
        return values[::-1].copy()[::-1]
    if kind == 3:
        values = values.copy()
        values.flags.writeable = False
        return values
    if kind == 4:
        return values.astype(values.dtype.newbyteorder())
    return values


def cast(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """The values as some type of number, as far as it can hold them."""
    dtype = np.dtype(rng.choice(DTYPES))
    with np.errstate(all="ignore"):
        if dtype.kind in "iu":
            values = np.clip(np.nan_to_num(values), 0 if dtype.kind == "u" else -3e4, 3e4)
        return values.astype(dtype)


def sample(rng: np.random.Generator, n: int, p: int) -> Any:
    """An array, a list, or rows with a missing or an infinite value."""
    values = layout(rng, cast(rng, rows(rng, n, p)))
    kind = rng.integers(14)
    if kind == 0:
        return values.tolist()
    if kind == 1 and p == 1:
        return values[:, 0]
    if kind == 2 and values.dtype.kind == "f":
        values = values.copy()
        values[rng.integers(n), rng.integers(p)] = rng.choice([np.nan, np.inf, -np.inf])
    if kind == 3:
        return np.ma.masked_array(values)
    return values


def table(rng: np.random.Generator, n: int, kinds: list[str]) -> Any:
    """A data frame with columns of these kinds, of pandas or polars."""
    import pandas as pd

    columns = {NAMES[j]: _column(rng, n, kind) for j, kind in enumerate(kinds)}
    frame = pd.DataFrame(columns)
    if rng.random() < 0.2:
        import polars

        return polars.from_pandas(frame)
    return frame


KINDS = ("number", "gaps", "text", "flag", "whole", "nullable", "category", "time", "constant")


def _column(rng: np.random.Generator, n: int, kind: str) -> Any:
    import pandas as pd

    numbers = rows(rng, n, 1)[:, 0]
    if kind == "gaps":
        return np.where(rng.random(n) < 0.2, np.nan, numbers)
    if kind == "text":
        return rng.choice([*NAMES[:6], "x" * 300], n).astype(object)
    if kind == "flag":
        return rng.random(n) < rng.choice([0.0, 0.02, 0.5])
    if kind == "whole":
        return rng.integers(-5, 5, n) + rng.choice([0, 2**40])
    if kind == "nullable":
        return pd.array(rng.choice([1, 2, None], n), dtype="Int64")
    if kind == "category":
        return pd.Categorical(rng.choice(["low", "high"], n))
    if kind == "time":
        return pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), "h")
    return np.ones(n) if kind == "constant" else numbers
