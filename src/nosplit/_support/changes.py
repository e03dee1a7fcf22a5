"""Changes of a column, in numbers that do not grow with the number of rows, and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nosplit._support.types import Array

__all__ = [
    "CategoryChange",
    "Change",
    "Described",
    "change_of_categories",
    "change_of_numbers",
    "change_of_pair",
    "finite_or_none",
    "percent",
    "said_date",
    "said_number",
]

# Standard errors from which a change of a median, a spread or a share is worth a word, and from
# which one is if nothing else is.
WORTH, LIKELY = 3.0, 2.0
# A normal law's interquartile range in standard deviations, and the error of a median in them.
NORMAL_IQR, MEDIAN_ERROR, IQR_ERROR = 1.349, 1.2533, 1.573
# A spread below this share of the other is rounding.
ROUNDING = 1e-9
# Categories that are listed, and those that words name.
MOST_CATEGORIES, MOST_NAMED = 6, 2
# What is said where nothing simpler is.
SHAPE = "the shape of its distribution"


@dataclass(frozen=True)
class CategoryChange:
    """A category that gained or lost: its share of the rows of x, and of those of y."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Change:
    """The difference between a column of y and that of x. None of it grows with the number of rows.

    Attributes
    ----------
    told_apart : float or None
        How often the best rule on this column alone tells rows of x from rows of y, less what
        chance alone would give: 0.5 is not at all, 1 always. None for pairs of columns.
    shift : float or None
        Median of y less that of x, in spreads of the column; None for categories.
    spread : float or None
        Spread of y over that of x (interquartile ranges); None for categories, or where there is
        none.
    missing : pair of float, or None
        Share of values that are missing, in x and in y; None where none is.
    categories : tuple of CategoryChange
        Categories that gained or lost more than chance explains, those with most evidence first.
    words : str
        What changed most, in the units of the column.
    dependence : pair of float, or None
        Of two columns of numbers, how alike their ranks are in x and in y, from -1 to 1.
    """

    told_apart: float | None
    shift: float | None = None
    spread: float | None = None
    missing: tuple[float, float] | None = None
    categories: tuple[CategoryChange, ...] = ()
    words: str = SHAPE
    dependence: tuple[float, float] | None = None

    def private(self) -> Change:
        """The same without values of rows: no medians, and no names of categories."""
        words = []
        if self.missing is not None:
            words.append(f"missing {percent(self.missing[0])} → {percent(self.missing[1])}")
        if self.shift is not None:
            words.append(f"median {self.shift:+.2g} spreads")
        if self.spread is not None:
            words.append(f"spread × {self.spread:.3g}")
        return replace(self, categories=(), words=", ".join(words) or SHAPE)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


class Described:
    """A column of which something was found, and what changed in it, where that was looked at."""

    change: Change | None

    @property
    def told_apart(self) -> float | None:
        """Share of rows that the best rule on this column alone tells apart: 0.5 is not at all."""
        return None if self.change is None else self.change.told_apart

    @property
    def words(self) -> str:
        """The change in words, in the units of the column."""
        return "" if self.change is None else self.change.words


def said_date(days: float) -> str:
    """A day, counted from the beginning of 1970."""
    return str(np.datetime64(round(days), "D"))


def said_number(value: float) -> str:
    """Four digits that count, and no exponent where a person would write none.

    Examples
    --------
    >>> said_number(27550.4), said_number(0.012345), said_number(1.5e12)
    ('27,550', '0.01235', '1.5e+12')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


@np.errstate(over="ignore", invalid="ignore")  # numbers near the largest there are
def change_of_numbers(
    apart: float,
    quartiles: Array,
    sizes: Sequence[int],
    missing: Sequence[float],
    say: Callable[[float], str] = said_number,
) -> Change:
    """A change of numbers, from distribution functions and the quartiles of both, (2, 3).

    `sizes` are rows of x and of y, of which shares are `missing`; `say` writes a value.
    """
    n, m = (max(size * (1.0 - gone), 1.0) for size, gone in zip(sizes, missing, strict=True))
    own = (quartiles[:, 2] - quartiles[:, 0]) / NORMAL_IQR
    first, second = quartiles[:, 1]
    size = float(np.hypot(*(own * np.sqrt([n, m]) / np.sqrt(n + m))))
    ratio = finite_or_none(own[1] / own[0]) if own.min() > ROUNDING * own.max() else None
    noise = float(np.sqrt(1 / n + 1 / m))
    error = MEDIAN_ERROR * float(np.hypot(*(own / np.sqrt([n, m]))))
    told = [(f"median {say(first)} → {say(second)}", _change_in_errors(abs(second - first), error))]
    if ratio is not None:
        told.append((f"spread × {ratio:.3g}", abs(np.log(ratio)) / (IQR_ERROR * noise)))
    words = _missing_words(missing, sizes) + [text for text, size in told if size > WORTH]
    if not words:  # what is less sure, before nothing is said
        words = [text for text, size in sorted(told, key=lambda t: -t[1])[:1] if size > LIKELY]
    # The mean of Kolmogorov's law: what the largest difference is by chance.
    by_chance = 0.8687 * noise
    return Change(
        _told_apart(_beyond(apart, by_chance), missing, sizes),
        finite_or_none((second - first) / size) if size > 0 else None,
        ratio,
        _pair(missing),
        words=", ".join(words) or SHAPE,
    )


def change_of_categories(
    shares: Array,
    sizes: Sequence[int],
    missing: Sequence[float],
    name: Callable[[int], str],
) -> Change:
    """A change of categories, from their shares among rows of x and y, (2, k); `name` names one."""
    change = shares[1] - shares[0]
    rate = 1 / sizes[0] + 1 / sizes[1]
    error = np.sqrt(np.maximum(shares.mean(axis=0), 1e-12) * rate)
    order = np.argsort(-np.abs(change) / error, kind="stable")[:MOST_CATEGORIES]
    worth = int(np.count_nonzero(np.abs(change[order]) > WORTH * error[order]))
    listed = tuple(
        CategoryChange(name(int(k)), float(shares[0, k]), float(shares[1, k]))
        for k in order[: max(worth, 1)]
    )
    found = listed[:worth]
    words = _missing_words(missing, sizes) + [
        f"{c.name} {percent(c.x)} → {percent(c.y)}" for c in listed[:MOST_NAMED]
    ]
    pooled = shares.mean(axis=0)
    by_chance = float(np.sum(np.sqrt(pooled * (1.0 - pooled) * rate / (2.0 * np.pi))))
    apart = _beyond(float(np.abs(change).sum() / 2.0), by_chance)
    return Change(
        _told_apart(apart, missing, sizes),
        missing=_pair(missing),
        categories=found,
        words=", ".join(words) or SHAPE,
    )


def change_of_pair(dependence: Sequence[float] | None) -> Change:
    """A change, from how alike the ranks of two columns are, in x and in y; None for categories."""
    if dependence is None:
        return Change(None, words="which values go together")
    first, second = map(float, dependence)
    words = f"correlation of ranks {first:.2f} → {second:.2f}"
    return Change(None, words=words, dependence=(first, second))


def percent(share: float) -> str:
    """A share as a person reads it.

    Examples
    --------
    >>> percent(0.0123), percent(0.3712), percent(0.0)
    ('1.2 %', '37.1 %', '0 %')
    """
    return f"{100.0 * share:.2g} %" if share < 0.1 else f"{100.0 * share:.3g} %"


def _told_apart(apart: float, missing: Sequence[float], sizes: Sequence[int]) -> float:
    """The better of two rules: by the values, and by whether they are missing."""
    gone = float(np.mean(missing))
    by_chance = np.sqrt(gone * (1.0 - gone) * (1 / sizes[0] + 1 / sizes[1]) * 2.0 / np.pi)
    return 0.5 + 0.5 * max(apart, _beyond(abs(missing[0] - missing[1]), float(by_chance)))


def _change_in_errors(size: float, error: float) -> float:
    """A change in standard errors, which a column of few values may not have."""
    if size == 0.0:
        return 0.0
    return float(size / error) if error > 0 else np.inf


def finite_or_none(value: Any) -> float | None:
    """A number, if it is one that JSON has."""
    return float(value) if np.isfinite(value) else None


def _beyond(size: float, by_chance: float) -> float:
    """A difference without what chance adds to it."""
    return float(np.sqrt(max(size * size - by_chance * by_chance, 0.0)))


def _missing_words(missing: Sequence[float], sizes: Sequence[int]) -> list[str]:
    n, m = sizes
    pooled = (n * missing[0] + m * missing[1]) / (n + m)
    error = np.sqrt(pooled * (1.0 - pooled) * (1 / n + 1 / m))
    if not abs(missing[1] - missing[0]) > WORTH * error:
        return []
    return [f"missing {percent(missing[0])} → {percent(missing[1])}"]


def _pair(missing: Sequence[float]) -> tuple[float, float] | None:
    return (float(missing[0]), float(missing[1])) if any(missing) else None
