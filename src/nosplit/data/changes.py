"""What changed in a column, in numbers and in words, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nosplit._support.terminal import printable
from nosplit._support.types import Array
from nosplit.data.tables.frames import CATEGORIES, Frame, as_frame, native_columns

__all__ = ["ColumnChange", "column_changes"]

# Standard errors from which a change of a median, a spread or a share is worth a word.
WORTH = 3.0
# A normal law's interquartile range in standard deviations, and the error of a median in them.
NORMAL_IQR, MEDIAN_ERROR, IQR_ERROR = 1.349, 1.2533, 1.573
# Logarithm of a ratio that is too large to be told.
LARGEST = 100.0


@dataclass(frozen=True)
class ColumnChange:
    """How a column of y differs from that of x.

    Attributes
    ----------
    told_apart : float
        How often the best rule on this column alone tells rows of x from rows of y: 0.5 is chance.
        A property of the two populations, which does not grow with the number of rows.
    words : str
        What changed most, in the units of the column.
    """

    told_apart: float
    words: str


def column_changes(x: Any, y: Any, names: Sequence[str]) -> dict[str, ColumnChange]:
    """What changed in some columns of two tables or arrays."""
    sources = as_frame(x, "x"), as_frame(y, "y")
    return {name: _change(name, sources, (x, y)) for name in names}


def _change(name: str, sources: tuple[Frame, Frame], samples: tuple[Any, Any]) -> ColumnChange:
    places = [0 if s.single else s.names.index(name) for s in sources]
    raws = [s.read(i) for s, i in zip(sources, places, strict=True)]
    a, b = (raw.values for raw in raws)
    missing = [float(np.isnan(v).mean()) for v in (a, b)]
    words = []
    if _share_error(missing, len(a), len(b)) > WORTH:
        words.append(f"missing {_percent(missing[0])} → {_percent(missing[1])}")
    if any(raw.kind in CATEGORIES for raw in raws):
        apart, more = _categories(a, b, lambda code: _name(code, (a, b), samples, places))
    else:
        apart, more = _numbers(a[~np.isnan(a)], b[~np.isnan(b)])
    told = 0.5 + 0.5 * max(apart, abs(missing[0] - missing[1]))
    return ColumnChange(told, ", ".join(words + more) or "the shape of its distribution")


def _numbers(a: Array, b: Array) -> tuple[float, list[str]]:
    """Largest difference of distribution functions, and median and spread where they changed."""
    if min(len(a), len(b)) < 2:
        return 0.0, []
    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    shares = [np.searchsorted(v, both, side="right") / len(v) for v in (a, b)]
    apart = float(np.abs(shares[0] - shares[1]).max())
    quartiles = np.array([np.quantile(v, [0.25, 0.5, 0.75]) for v in (a, b)])
    spread = (quartiles[:, 2] - quartiles[:, 0]) / NORMAL_IQR
    words = []
    error = np.hypot(*(spread / np.sqrt([len(a), len(b)])))
    if abs(quartiles[1, 1] - quartiles[0, 1]) > WORTH * MEDIAN_ERROR * error:
        words.append(f"median {_number(quartiles[0, 1])} → {_number(quartiles[1, 1])}")
    if spread.min() > 0:
        ratio, noise = np.log(spread[1]) - np.log(spread[0]), np.sqrt(1 / len(a) + 1 / len(b))
        if WORTH * IQR_ERROR * noise < abs(ratio) < LARGEST:
            words.append(f"spread × {np.exp(ratio):.3g}")
    return apart, words


def _categories(a: Array, b: Array, name: Any) -> tuple[float, list[str]]:
    """Half the sum of the differences of shares, and the categories that gained and lost most."""
    both = np.concatenate([a, b])
    codes, place = np.unique(both[~np.isnan(both)], return_inverse=True)
    cut = np.count_nonzero(~np.isnan(a))
    counts = [np.bincount(part, minlength=len(codes)) for part in (place[:cut], place[cut:])]
    shares = np.array([counts[0] / len(a), counts[1] / len(b)])
    change = shares[1] - shares[0]
    error = np.sqrt(np.maximum(shares.mean(axis=0), 1e-12) * (1 / len(a) + 1 / len(b)))
    order = np.argsort(-np.abs(change) / error, kind="stable")[:2]
    words = [
        f"{name(codes[k])} {_percent(shares[0, k])} → {_percent(shares[1, k])}"
        for k in order
        if abs(change[k]) > WORTH * error[k]
    ]
    return float(np.abs(change).sum() / 2.0), words


def _name(code: float, values: Sequence[Array], samples: Sequence[Any], places: list[int]) -> str:
    """A category as it is called: that of the first row that has its code."""
    for codes, sample, place in zip(values, samples, places, strict=True):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            columns = native_columns(sample, "sample").columns
            return printable(repr(columns[place][int(rows[0])]))
    return "a category"


def _share_error(shares: Sequence[float], n: int, m: int) -> float:
    """A difference of shares in standard errors."""
    pooled = (n * shares[0] + m * shares[1]) / (n + m)
    error = np.sqrt(pooled * (1.0 - pooled) * (1 / n + 1 / m))
    return float(abs(shares[1] - shares[0]) / error) if error > 0 else 0.0


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.1 else f"{100.0 * share:.3g} %"


def _number(value: float) -> str:
    return f"{value:.4g}"
