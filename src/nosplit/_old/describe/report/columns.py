"""One column in the two samples: in words, and as a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.attribution import ColumnEffect
from nosplit._old.describe.report.figures import histogram
from nosplit._old.describe.report.samples import ShownColumn, ShownSample, column_of
from nosplit.inference.change import said_date

__all__ = [
    "Bar",
    "Compared",
    "Line",
    "cell",
    "column_figure",
    "line",
    "readable",
    "share_of",
    "shorten",
]

# Categories that a column is shown with; the rest are one bar.
MOST_BARS = 8
LONGEST = 60


@dataclass(frozen=True)
class Line:
    """A column in the table of columns."""

    name: str
    share: str
    first: str
    second: str


@dataclass(frozen=True)
class Bar:
    """A category, with its share of the rows of either sample."""

    name: str
    share: tuple[str, str]
    width: tuple[str, str]


@dataclass(frozen=True)
class Compared:
    """A column as a figure: an SVG for numbers, bars for categories."""

    name: str
    alt: str
    svg: str = ""
    bars: tuple[Bar, ...] = ()


def line(j: int, effect: ColumnEffect, samples: Sequence[ShownSample], private: bool) -> Line:
    """A column in words; if `private`, without the names of categories."""
    words = [_column_words(column_of(s.get(j)), private) for s in samples]
    return Line(shorten(samples[0].names[j]), share_of(effect), words[0], words[1])


def share_of(effect: ColumnEffect) -> str:
    """The share of a column, with its error."""
    return f"{effect.percent} ± {100.0 * effect.error:.0f} %"


def _column_words(column: ShownColumn, private: bool) -> str:
    missing = f", {100.0 * column.missing:.2g} % missing" if column.missing else ""
    if not len(column.values):
        return "all missing"
    if private and np.all(column.values == column.values[0]):
        return f"all the same{missing}"  # its mean would be the value of every row
    if column.kind == "number":
        mean, sd = np.mean(column.values), np.std(column.values)
        return f"mean {readable(mean)}, sd {readable(sd)}{missing}"
    if column.kind == "date":
        return f"mean {said_date(np.mean(column.values))}{missing}"
    counts = Counter(column.values.tolist())
    kinds = f"{len(counts):,} {'category' if len(counts) == 1 else 'categories'}"
    if private:
        return kinds + missing
    (name, count), *_ = counts.most_common(1)
    share = 100.0 * count / len(column.values)
    return f"{shorten(name)} {share:.0f} %, {kinds}{missing}"


def column_figure(
    j: int, samples: Sequence[ShownSample], labels: Sequence[str], private: bool
) -> Compared:
    """A column as a figure; if `private`, categories are numbered and not named."""
    name = shorten(samples[0].names[j])
    x, y = (column_of(s.get(j)) for s in samples)
    if "category" in (x.kind, y.kind):
        values = [c.values.astype(str).tolist() for c in (x, y)]
        return Compared(
            name, "", bars=_bars_of_categories(Counter(values[0]), Counter(values[1]), private)
        )
    if not len(x.values) or not len(y.values):
        return Compared(name, "", bars=())
    words = [_column_words(c, private) for c in (x, y)]
    alt = f"Histograms of {name}. {labels[0]}: {words[0]}. {labels[1]}: {words[1]}."
    svg = histogram(x.values, y.values, key=str(j), dates=x.kind == "date")
    return Compared(name, alt, svg)


def _bars_of_categories(x: Counter[str], y: Counter[str], private: bool) -> tuple[Bar, ...]:
    """The categories that differ most, the most common ones first, and the rest as one."""
    n, m = max(x.total(), 1), max(y.total(), 1)
    gap = {name: abs(x[name] / n - y[name] / m) for name in sorted(x | y)}
    shown = sorted(gap, key=lambda name: -gap[name])[:MOST_BARS]
    shown.sort(key=lambda name: -(x[name] / n + y[name] / m))
    shares = [(x[name] / n, y[name] / m) for name in shown]
    names = [f"category {i}" if private else shorten(name) for i, name in enumerate(shown, 1)]
    if len(gap) > len(shown):
        names.append(f"{len(gap) - len(shown):,} others")
        shares.append((1.0 - sum(a for a, _ in shares), 1.0 - sum(b for _, b in shares)))
    return tuple(_bar(name, *pair) for name, pair in zip(names, shares, strict=True))


def _bar(name: str, first: float, second: float) -> Bar:
    pair = 100.0 * abs(first), 100.0 * abs(second)
    return Bar(name, (f"{pair[0]:.1f}", f"{pair[1]:.1f}"), (f"{pair[0]:.2f}", f"{pair[1]:.2f}"))


def cell(values: NDArray[Any], i: int) -> str:
    """One value as a person would write it."""
    value = values[i]
    if value is None or value != value:
        return "missing"
    if values.dtype.kind == "M":
        return str(value.astype("datetime64[s]"))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return shorten(str(value).removesuffix(" 00:00:00"))
    number = float(value)
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"


def shorten(text: str) -> str:
    """Shorten to at most 60 characters.

    Examples
    --------
    >>> len(shorten("a" * 1000))
    60
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def readable(value: float) -> str:
    """Three digits that count, and no exponent where a person would write none.

    Examples
    --------
    >>> readable(4718.3), readable(0.01234), readable(1.2e12), readable(0.0)
    ('4,718', '0.0123', '1.2e+12', '0')
    """
    return f"{value:,.0f}" if 1000.0 <= abs(value) < 1e9 else f"{value:.3g}"
