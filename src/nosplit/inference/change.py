"""Describe what changed in a column, from counts of its values (or bins) in both samples.

Candidates are averages of a score of the value (the mean, the median, the spread, shares of values,
of zeros, beyond quantiles and of missing values), and z is the difference of such an average over
its standard deviation under permutations. The candidate with the largest |z| is what changed most,
and the mean is said beside it if its |z|, too, is beyond Bonferroni's bound at .05.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._types import Array, Index
from nosplit.inference.effect import Separation

__all__ = [
    "CategoryChange",
    "Change",
    "Counts",
    "Described",
    "Distance",
    "change_inside_strata",
    "change_of_distances",
    "change_of_pair",
    "change_of_samples",
    "describe",
    "finite_or_none",
    "mean_of_differences",
    "percent",
    "said_date",
]

LEVEL = 0.05
# Distinct values up to which the share of each is a candidate (a ten-point scale), and levels that
# words name.
FEW_VALUES, NAMED_LEVELS = 10, 3
# Samples whose numbers are all said; of more, the smallest and the largest.
MAX_SAMPLES = 6
TAILS = (0.01, 0.05)
SHAPE = "the shape of its distribution"
TOGETHER = "which values go together"
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DURATIONS = ((" days", 1.0), (" h", 24.0), (" min", 1440.0), (" s", 86400.0), (" ms", 86400e3))


@dataclass(frozen=True)
class CategoryChange:
    """A category that gained or lost: its share of the rows of x, and of those of y."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Change:
    """The difference between a column of y and that of x. Pairs are of x and of y.

    Attributes
    ----------
    words : str
        What changed most, in the units of the column.
    more : tuple of str
        What else to say of it, in further lines.
    what : str or None
        What changed most: "mean", "median", "sd", "zeros", "tail", "tails", "level", "rate" or
        "missing"; None if it is none of these.
    mean, median, sd : pair of float, or None
        Of numbers, dates and durations (in days); None for categories. In sketches, where bins are
        known only, means and medians are approximate, and sd is None.
    missing : pair of float, or None
        Share of values that are missing; None if none is.
    categories : tuple of CategoryChange
        Categories that gained or lost more than chance explains, those with most evidence first.
    dependence : pair of float, or None
        Rank correlation of two columns of numbers.
    discreet : str
        `words` without values of rows and names of categories.
    """

    words: str = SHAPE
    more: tuple[str, ...] = ()
    what: str | None = None
    mean: tuple[float, float] | None = None
    median: tuple[float, float] | None = None
    sd: tuple[float, float] | None = None
    missing: tuple[float, float] | None = None
    categories: tuple[CategoryChange, ...] = ()
    dependence: tuple[float, float] | None = None
    discreet: str = SHAPE

    @property
    def text(self) -> str:
        """All that is said of it, in one line."""
        return "; ".join((self.words, *self.more))

    def private(self) -> Change:
        """Leave out values of rows: medians, limits of tails, and names of categories."""
        return replace(self, categories=(), words=self.discreet, more=(), median=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = {k: v for k, v in asdict(self).items() if k != "discreet"}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


class Described:
    """A column, or pair of columns, that may differ, and what changed in it."""

    change: Change | None
    separation: Separation | None

    @property
    def size(self) -> float:
        """Separation of the column, by which columns are ordered; 0.5 if it is not known."""
        return 0.5 if self.separation is None else float(self.separation.size)

    @property
    def words(self) -> str:
        """The change in words, in the units of the column."""
        return "" if self.change is None else self.change.text


@dataclass(frozen=True)
class Distance:
    """Distances of rows from the middle, all columns of numbers together.

    Attributes
    ----------
    pvalue : float
        Their own p-value.
    ratio : float or None
        Median distance of rows of y over that of x; None if it was not computed.
    words : str
        What changed.
    """

    pvalue: float
    ratio: float | None = None
    words: str = "how far rows lie from the middle, all columns together"

    @property
    def direction(self) -> str | None:
        """Rows of y lie "farther" or "nearer"; None if it was not computed."""
        return None if self.ratio is None else "farther" if self.ratio >= 1.0 else "nearer"


@dataclass(frozen=True, eq=False)
class Counts:
    """A column as counts of its values.

    Attributes
    ----------
    values : array, shape (V,)
        Different values, ascending, or values that stand for bins; of categories their codes.
    counts : array, shape (2, V)
        Rows of x and of y with each value.
    missing : array, shape (2,)
        Rows without a value.
    kind : str
        "numbers", "dates", "durations", "times of day"; "text" or "booleans" for categories.
    single : array of bool, shape (V,), or None
        Bins that hold one value only; None if all do.
    upper : array, shape (V,), or None
        The largest value of each bin; None for values.
    """

    values: Array
    counts: Array
    missing: Array
    kind: str
    single: NDArray[np.bool_] | None = None
    upper: Array | None = None

    @classmethod
    def of(cls, samples: Sequence[Array], kind: str) -> Counts:
        """Count the values of two samples; those that are missing are NaN."""
        known = [np.sort(own[~np.isnan(own)]) for own in samples]
        values = np.unique(np.concatenate(known))
        below = np.stack([np.searchsorted(own, values, side="right") for own in known])
        counts = np.diff(below, axis=1, prepend=0).astype(np.float64)
        gone = [len(own) - len(kept) for own, kept in zip(samples, known, strict=True)]
        return cls(values, counts, np.array(gone, np.float64), kind)

    def present(self) -> Counts:
        """Leave out values that no row has."""
        keep = self.counts.sum(axis=0) > 0
        single, upper = self.single, self.upper
        if single is not None and upper is not None:
            single, upper = (None, None) if single[keep].all() else (single[keep], upper[keep])
        return Counts(
            self.values[keep], self.counts[:, keep], self.missing, self.kind, single, upper
        )


class Fact(NamedTuple):
    """A candidate: its evidence, and its words with and without values of rows."""

    what: str
    z: float
    words: str
    aside: str = ""
    discreet: str = ""


def describe(column: Counts, name: Callable[[int], str] | None = None) -> Change:
    """Describe what changed. `name` gives the name of the value at a position of categories."""
    rows = column.counts.sum(axis=1) + column.missing
    shares = column.missing / np.maximum(rows, 1.0)
    missing = (float(shares[0]), float(shares[1])) if shares.any() else None
    facts = _missing_facts(column.missing, rows)
    if min(column.counts.sum(axis=1)) < 1:
        return _change(facts, rows, missing=missing)
    if name is not None:
        return _change_of_levels(column, name, facts, missing)
    own = column.present()
    numbers = _Numbers(own)
    facts = [*numbers.facts(), *facts]
    sds = numbers.sds if numbers.exact else None
    pairs = {"mean": numbers.means, "median": numbers.medians, "sd": sds}
    return _change(facts, rows, numbers, missing=missing, **pairs)


def permutation_z(sums: Array, squares: Array, sizes: Array) -> Array:
    """Compute z of differences of mean scores, from sums of scores, (2, k), and of squares, (k,).

    The variance of a difference under permutations of rows is that of the pooled scores, with
    divisor N - 1, times (1/n + 1/m).
    """
    n, m = sizes
    total = n + m
    centre = sums.sum(axis=0) / total
    variance = np.maximum(squares - total * centre * centre, 0.0) / max(total - 1.0, 1.0)
    error = np.sqrt(variance * (1.0 / n + 1.0 / m))
    gap = sums[1] / m - sums[0] / n
    return np.asarray(np.divide(gap, error, out=np.zeros_like(gap), where=error > 0))


def bound_of(candidates: int, rows: float) -> float:
    """Compute the |z| that no candidate exceeds by chance, at .05 over all of them (Bonferroni).

    A permutation z is a correlation times √(N - 1), which Fisher's transformation makes normal.
    """
    normal = -NormalDist().inv_cdf(LEVEL / (2.0 * max(candidates, 1)))
    return float(np.sqrt(max(rows - 1.0, 1.0)) * np.tanh(normal / np.sqrt(max(rows - 3.0, 1.0))))


def _share_z(hits: Array, sizes: Array) -> Array:
    return permutation_z(hits, hits.sum(axis=0), sizes)


def _missing_facts(missing: Array, rows: Array) -> list[Fact]:
    if not missing.any() or min(rows) < 1:
        return []
    z = float(_share_z(missing[:, None], rows)[0])
    return [Fact("missing", z, f"missing {_shares(*(missing / rows))}")]


def _change(facts: Sequence[Fact], rows: Array, numbers: Any = None, **known: Any) -> Change:
    """Choose what is said, and in which lines."""
    varying = [fact for fact in facts if fact.z != 0.0]
    bound = bound_of(len(varying), float(rows.sum()))
    held = sorted((f for f in varying if abs(f.z) > bound), key=lambda f: -abs(f.z))
    if not held:
        return Change(**known)
    lines = _lines(held, numbers)
    words = [", ".join(f.words for f in own) + own[0].aside * (len(own) == 1) for own in lines]
    discreet = ", ".join(f.discreet or f.words for f in lines[0])
    return Change(words[0], tuple(words[1:]), held[0].what, discreet=discreet, **known)


def _lines(held: Sequence[Fact], numbers: _Numbers | None) -> list[list[Fact]]:
    """Put facts beyond chance in lines: what changed most, the mean, and what is missing."""
    first = held[0]
    known = {fact.what: fact for fact in reversed(held)}  # of each kind the strongest
    mean, missing = known.get("mean"), known.get("missing")
    lines: list[list[Fact]] = [[first]]
    if numbers is None:
        levels = [[f] for f in held if f.what == "level"][:NAMED_LEVELS]
        lines = levels if first.what == "level" else [*lines, *levels]
    elif numbers.few and first.what != "missing":
        lines = [[known[what] for what in ("mean", "level") if what in known]]
    elif first.what == "zeros":
        lines = [[first] if mean is None else [first, mean]]
    elif first.what in ("tail", "tails"):
        lines.append(numbers.beside(first))
    elif mean is not None and mean is not first:
        lines.append([mean])
    if missing is not None and missing is not first:
        lines.append([missing])
    return lines


# -- categories ------------------------------------------------------------------------------------


def _change_of_levels(
    column: Counts,
    name: Callable[[int], str],
    facts: list[Fact],
    missing: tuple[float, float] | None,
) -> Change:
    """Describe shares of levels among rows with a value; booleans by the rate of True."""
    sizes = column.counts.sum(axis=1)
    z = _share_z(column.counts, sizes)
    shares = column.counts / sizes[:, None]
    order = np.argsort(-np.abs(z), kind="stable")
    levels = int(np.count_nonzero(column.counts.any(axis=0)))
    if column.kind == "booleans" and levels == 2:
        order = np.array([j for j in order if name(int(j)) == "True"] or order[:1])
    bound = bound_of(min(levels, len(order)) + len(facts), float(sizes.sum()))
    shown = [int(j) for j in order[: min(NAMED_LEVELS, max(levels - 1, 1))] if abs(z[j]) > bound]
    named = [CategoryChange(name(j), *map(float, shares[:, j])) for j in shown]
    told = [
        _rate(c.x, c.y, float(z[j]))
        if column.kind == "booleans"
        else Fact("level", float(z[j]), f"{c.name}: {_shares(c.x, c.y)}", "", _some(c.x, c.y))
        for j, c in zip(shown, named, strict=True)
    ]
    facts = [f for f in facts if abs(f.z) > bound]
    change = _change(told + facts, sizes, missing=missing)
    return replace(change, categories=tuple(named))


def _some(x: float, y: float) -> str:
    return f"a category {_shares(x, y)}"


def _rate(x: float, y: float, z: float) -> Fact:
    return Fact("rate", z, f"rate {_shares(x, y)}", f" (× {_digits(y / x)})" if x > 0 < y else "")


# -- numbers ---------------------------------------------------------------------------------------


class _Numbers:
    """Candidates of a column of numbers, dates or durations."""

    def __init__(self, column: Counts) -> None:
        self.kind, self.values, self.counts = column.kind, column.values, column.counts
        self.single, self.sizes = column.single, column.counts.sum(axis=1)
        self.upper = column.values if column.upper is None else column.upper
        self.exact, self.dates = column.single is None, column.kind.startswith("dates")
        self.whole = column.kind == "numbers" and bool(np.all(self.values == np.rint(self.values)))
        self.few = self.exact and 2 < len(self.values) <= FEW_VALUES
        self.below = np.cumsum(self.counts.sum(axis=0)) / self.sizes.sum()
        self.centre = float(self.upper[self._place(0.5)])
        # About the middle and in half units, so that neither squares nor differences overflow.
        half = self.values / 2.0 - self.centre / 2.0
        self.unit = float(np.abs(half).max()) or 1.0
        self.scaled = half / self.unit
        self.centres = self.counts @ self.scaled / self.sizes
        squares = np.sum(self.counts * (self.scaled - self.centres[:, None]) ** 2, axis=1)
        self.means = self._in_units(self.centres, self.centre)
        self.sds = self._in_units(np.sqrt(squares / np.maximum(self.sizes - 1.0, 1.0)))
        self.medians = self._quantile(self.counts[0]), self._quantile(self.counts[1])
        # Between quartiles: what digits are worth saying, whatever lies far out.
        self.range = float(self.upper[self._place(0.75)] - self.upper[self._place(0.25)])

    def facts(self) -> list[Fact]:
        """All candidates; the earlier one is said if two have the same evidence."""
        if self.exact and len(self.values) <= 2:
            return [self._level(1)] if len(self.values) == 2 else []
        if self.few:
            return [self._mean(), *map(self._level, range(len(self.values)))]
        zeros = (self.values == 0.0) & (True if self.single is None else self.single)
        facts = [self._mean()]
        if self.kind == "numbers" and zeros.any():
            z, words = self._share(zeros)
            facts.append(Fact("zeros", z, f"zeros {words}"))
        return [*facts, self._median_moved(), self._spread(), *self._tails()]

    def beside(self, tail: Fact) -> list[Fact]:
        """Facts beside a tail: the mean and the median; the spread beside both tails."""
        if tail.what == "tails":
            return [self._spread()]
        median = Fact("median", 0.0, f"median {self._pair(self.medians)}")
        return [median] if self.dates else [self._mean(), median]

    def _in_units(self, scaled: Array, centre: float = 0.0) -> tuple[float, float]:
        with np.errstate(over="ignore"):
            first, second = (2.0 * scaled * self.unit + centre).tolist()
        return first, second

    def _place(self, share: float) -> int:
        """The first value that at least this share of the rows does not exceed."""
        return min(int(np.searchsorted(self.below, share - 1e-12)), len(self.below) - 1)

    def _quantile(self, counts: Array, share: float = 0.5) -> float:
        """A quantile; in a bin of several values by a straight line."""
        below = np.cumsum(counts) / counts.sum()
        low, high = np.searchsorted(below, [share - 1e-12, share + 1e-12])
        if self.single is None or self.single[low]:
            return float(self.values[low] / 2.0 + self.values[high] / 2.0)
        return float(np.interp(share, below[: low + 1], self.upper[: low + 1]))

    def _score(self, scores: Array) -> tuple[float, Array]:
        """Compare a mean score: z, and the mean in both samples."""
        weighted = self.counts * scores
        z = permutation_z(weighted.sum(axis=1), (weighted * scores).sum(), self.sizes)
        return float(z), weighted.sum(axis=1) / self.sizes

    def _share(self, part: NDArray[np.bool_]) -> tuple[float, str]:
        z, shares = self._score(part.astype(np.float64))
        return z, _shares(*shares)

    def _mean(self) -> Fact:
        first, second = self.means
        if self.dates or self.kind == "times of day":
            aside = ""
        elif self.whole and not self.few and self.values[0] >= 0 and first > 0:
            aside = f" ({_signed(100.0 * (second / first - 1.0), 2)} %)"
        else:
            aside = f" ({self._in_words(_signed, second - first, of=max(map(abs, self.means)))})"
        return Fact("mean", self._score(self.scaled)[0], f"mean {self._pair(self.means)}", aside)

    def _level(self, j: int) -> Fact:
        z, shares = self._score(np.arange(len(self.values)) == j)
        if self.values.tolist() == [0.0, 1.0]:
            return _rate(float(shares[0]), float(shares[1]), z)
        words = _shares(float(shares[0]), float(shares[1]))
        if self.values[j] == 0.0 and self.kind == "numbers":
            return Fact("level", z, f"zeros {words}")
        some = "s" if self.whole and abs(self.values).max() <= FEW_VALUES else ""  # 5s, and 2008
        called = f"{self._one(self.values[j])}{some}"
        return Fact("level", z, f"{called}: {words}", "", f"a value {words}")

    def _median_moved(self) -> Fact:
        beyond, words = self._beyond(self.centre, True), self._pair(self.medians)
        if len(set(words.split(" → "))) == 1:  # ties: the share above has moved, the median has not
            return beyond
        moved = (self.medians[1] - self.medians[0]) / (self.range or np.inf)
        discreet = f"median {_signed(moved)} interquartile ranges"
        return Fact("median", beyond.z, f"median {words}", "", discreet)

    def _spread(self) -> Fact:
        """The mean distance from the own median, told as sd if squares say the same."""
        own = self.values / 2.0 - np.array(self.medians)[:, None] / 2.0
        z, far = self._score(np.abs(own) / self.unit)
        squared, _ = self._score((self.scaled - self.centres[:, None]) ** 2)
        called, sizes = "sd", self.sds
        if not self.exact:  # the ends of bins say nothing of values far out
            both = ([self._quantile(own, q) for q in (0.25, 0.75)] for own in self.counts)
            first, second = (high - low for low, high in both)
            called, sizes = "interquartile range", (first, second)
        elif np.sign(z) * squared < bound_of(1, float(self.sizes.sum())):
            called, sizes = "mean distance from the median", self._in_units(far)
        aside = f" (× {_digits(sizes[1] / sizes[0])})" if sizes[0] > 0 else ""
        return Fact("sd", z, f"{called} {self._pair(sizes, size=True)}", aside)

    def _tails(self) -> Iterable[Fact]:
        for share in TAILS:
            gaps = np.abs(self.below - share), np.abs(self.below - (1.0 - share))
            low, high = (self._round(float(self.upper[np.argmin(gap)])) for gap in gaps)
            yield self._beyond(high, True)
            if gaps[0].min() > share:  # too many rows have the smallest value
                continue
            yield self._beyond(low, False)
            z, words = self._share((self.upper <= low) | (self.upper > high))
            text = f"outside {self._one(low)} to {self._one(high)}: {words}"
            yield Fact("tails", z, text, "", f"share in the tails {words}")

    def _beyond(self, limit: float, above: bool) -> Fact:
        z, words = self._share(self.upper > limit if above else self.upper <= limit)
        called = ("after" if above else "until") if self.dates else "above" if above else "up to"
        discreet = f"share in the {'upper' if above else 'lower'} tail {words}"
        return Fact("tail", z, f"{called} {self._one(limit)}: {words}", "", discreet)

    def _round(self, limit: float) -> float:
        """Round a limit to two digits of its distance from the middle; of dates to a whole day."""
        far = abs(limit - self.centre)
        if not self.exact or not 0.0 < far < np.inf:
            return limit
        if self.dates:  # to the end of the day, unless all is within a few
            return float(np.nextafter(np.floor(limit) + 1.0, -np.inf)) if far > 2.0 else limit
        decimals = 1 - _power(far)
        return float(np.round(limit, decimals)) if abs(decimals) < 300 else limit

    def _pair(self, pair: tuple[float, float], size: bool = False) -> str:
        if not size and self.dates:
            return _said_dates(*pair)
        if not size and self.kind == "times of day":
            return " → ".join(map(_clock, pair))
        return self._in_words(_said_pair, *pair, self.range, of=max(map(abs, pair)))

    def _one(self, value: float) -> str:
        if self.dates:
            return said_date(value, time=1e-6 < value % 1.0 < 1.0 - 1e-6)
        return (
            _clock(value)
            if self.kind == "times of day"
            else self._in_words(_said, value, of=abs(value))
        )

    def _in_words(self, say: Callable[..., str], *values: float, of: float) -> str:
        """Say numbers, and durations in a unit in which `of` is at least 1."""
        unit, times = ("", 1.0) if self.kind == "numbers" else _duration(of)
        return say(*(times * value for value in values)) + unit


# -- designs, pairs, distances ---------------------------------------------------------------------


def mean_of_differences(first: Array, second: Array) -> str | None:
    """Describe pairs of numbers by the mean of their differences and its 95 % interval (Student).

    None if the interval contains 0.
    """
    gaps = (second - first)[np.isfinite(second - first)]
    if len(gaps) < 2:
        return None
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    width = float(special.stdtrit(len(gaps) - 1, 1.0 - LEVEL / 2.0)) * error
    if abs(mean) <= width or mean == 0.0:
        return None
    decimals, size = 1 - _power(width), abs(mean) + width
    said, low, high = (
        _to_decimals(value, decimals, size) for value in (mean, mean - width, mean + width)
    )
    return f"mean of differences {'+' * (mean > 0)}{said} ({low} to {high})"


def change_inside_strata(
    values: Array, sizes: Sequence[int], strata: Index, name: Callable[[float], str] | None
) -> Change:
    """Describe what changed inside strata: mean, sd, shares of few values or levels, missing ones.

    Parameters
    ----------
    values : array, shape (N,)
        Numbers or codes of rows of x, then of y; NaN if missing.
    sizes : pair of int
        Rows of x and of y.
    strata : array of int, shape (N,)
        The stratum of each row.
    name : callable or None
        Names of codes; None for numbers.
    """
    cell = 2 * strata + np.repeat([0, 1], sizes)
    gone = np.isnan(values)
    facts = _strata_facts("missing", {"missing": gone.astype(np.float64)}, cell)
    here, kept = values[~gone], cell[~gone]
    levels = np.unique(here)
    if name is None:
        facts += _strata_facts("mean", {"mean": here}, kept)
    if name is not None or len(levels) <= FEW_VALUES:
        said = name or (lambda v: f"share of {_said(v)}")
        shown = {said(v): (here == v).astype(np.float64) for v in levels.tolist()}
        facts += _strata_facts("level", shown, kept)
    else:
        gaps = here - (np.bincount(kept, here) / np.maximum(np.bincount(kept), 1))[kept]
        facts += _strata_facts("sd", {"sd": gaps * gaps}, kept)
    held = _change(facts, np.array(sizes, np.float64))
    return replace(held, more=())


def _strata_facts(what: str, scores: dict[str, Array], cell: Index) -> list[Fact]:
    """Average differences over strata, each with the weight nm/(n + m)."""
    facts = []
    cells = 2 * (int(cell.max(initial=0)) // 2 + 1)
    counts = np.bincount(cell, minlength=cells).reshape(-1, 2).astype(np.float64)
    both = counts.min(axis=1) > 0
    n, m = counts[both].T
    for called, score in scores.items():
        sums = np.bincount(cell, score, cells).reshape(-1, 2)[both]
        squares = np.bincount(cell, score * score, cells).reshape(-1, 2)[both].sum(axis=1)
        weight, total = n * m / (n + m), n + m
        gap = float(weight @ (sums[:, 1] / m - sums[:, 0] / n))
        variance = (squares - sums.sum(axis=1) ** 2 / total) / np.maximum(total - 1.0, 1.0)
        error = float(np.sqrt(max(weight @ variance, 0.0)))
        size = gap / weight.sum() if len(n) else 0.0
        text = _signed(size) if what == "mean" else f"{_signed(100.0 * size)} points"
        if what == "sd":
            x, y = weight @ (sums / counts[both])
            text = f"× {np.sqrt(y / x) if x > 0 else np.inf:.2f}"
        discreet = f"a value inside strata {text}" if what == "level" else ""
        z = gap / error if error > 0 else 0.0
        facts.append(Fact(what, z, f"{called} inside strata {text}", "", discreet))
    return facts


def change_of_pair(dependence: Sequence[float] | None, sizes: Sequence[float] = ()) -> Change:
    """Describe a pair of columns by their rank correlations in all samples; None for categories.

    Correlations that differ by no more than chance (Fisher's transformation) are not said. Of
    several samples, those with the smallest and the largest are compared.
    """
    if dependence is None:
        return Change(words=TOGETHER, discreet=TOGETHER)
    low, high = int(np.argmin(dependence)), int(np.argmax(dependence))
    error = np.sqrt(sum(1.0 / max(sizes[side] - 3.0, 1.0) for side in (low, high)))
    gap = np.ptp(np.arctanh(np.clip([dependence[low], dependence[high]], -0.999999, 0.999999)))
    pairs = max(len(dependence) * (len(dependence) - 1) // 2, 1)
    told = gap > -NormalDist().inv_cdf(LEVEL / 2.0 / pairs) * error
    each = [_minus(f"{own:.2f}") for own in dependence]
    if len(each) == 2:
        words = f"correlation {' → '.join(each)}" if told else TOGETHER
        return Change(
            words, dependence=(float(dependence[0]), float(dependence[1])), discreet=words
        )
    said = ", ".join(each) if len(each) <= MAX_SAMPLES else f"{each[low]} to {each[high]}"
    words = f"correlation {said}" if told else TOGETHER
    return Change(words, discreet=words)


def change_of_distances(pvalue: float, first: Array, second: Array) -> Distance:
    """Describe distances of rows from the middle: farther or nearer, or more or less alike."""
    change = describe(Counts.of((first, second), "numbers"))
    medians, sds = change.median or (0.0, 0.0), change.sd or (0.0, 0.0)
    if change.what is None or not min(*medians, *sds) > 0.0:
        return Distance(pvalue)
    ratio, times = medians[1] / medians[0], sds[1] / sds[0]
    where = "farther from" if ratio >= 1.0 else "nearer to"
    words = f"rows lie {where} the middle: median distance × {_digits(ratio)}"
    if change.what not in ("mean", "median"):
        much = "more" if times >= 1.0 else "less"
        words = f"distances from the middle vary {much}: sd × {_digits(times)}"
    return Distance(pvalue, ratio, words)


# -- several samples -------------------------------------------------------------------------------


class _Several(NamedTuple):
    """Values of several samples, and what they are compared by."""

    label: Index
    stratum: Index
    names: Sequence[str]

    def fact(self, what: str, scores: Array, words: Callable[[Array], str]) -> Fact:
        """Compare mean scores by their variance between samples (Kruskal, Wallis)."""
        cells = np.bincount(self.stratum)
        mean = np.bincount(self.stratum, scores) / np.maximum(cells, 1)
        rest = scores - mean[self.stratum]
        n = np.maximum(np.bincount(self.label, minlength=len(self.names)), 1)
        means = np.bincount(self.label, rest, len(self.names)) / n
        total = float(rest @ rest)
        freedom = len(rest) - np.count_nonzero(cells)
        z = freedom * float(n @ means**2) / total if total > 0.0 else 0.0
        said = words(means + scores.mean())
        return Fact(what, z, f"{what if what != 'level' else ''} {said}".strip())

    def listed(self, said: Sequence[str], values: Array) -> str:
        """List the numbers of all samples; of many samples the smallest and the largest."""
        if len(said) <= MAX_SAMPLES:
            return ", ".join(said)
        ends = (int(np.argmin(values)), int(np.argmax(values)))
        return " to ".join(f"{said[k]} ({self.names[k]})" for k in ends)

    def shares(self, values: Array) -> str:
        """List shares in percent, to two digits of their range."""
        values = np.clip(values, 0.0, 1.0)
        decimals = min(max(1 - _power(100.0 * float(np.ptp(values))), 0), 4)
        said = [f"{100.0 * v:.{0 if v in (0.0, 1.0) else decimals}f}" for v in values.tolist()]
        return f"{self.listed(said, values)} %"


def change_of_samples(
    values: Array,
    label: Index,
    names: Sequence[str],
    kind: str,
    name: Callable[[float], str] | None,
    strata: Index | None = None,
) -> Change:
    """Describe what changed between several samples: what differs most, with the numbers of all.

    Candidates are the mean, the median, the spread, shares of values and of levels, and missing
    values. Inside strata, numbers are those of samples with the same rows in every stratum.

    Parameters
    ----------
    values : array, shape (N,)
        Numbers or codes of rows; NaN if missing.
    label : array of int, shape (N,)
        Sample of each row.
    names : sequence of str
        Names of the samples.
    kind : str
        Kind of the column, as in `Counts`.
    name : callable or None
        Names of codes; None for numbers.
    strata : array of int, optional
        Stratum of each row; rows of which it is missing have -1.
    """
    kept = np.ones(len(values), np.bool_) if strata is None else strata >= 0
    stratum = np.zeros(len(values), np.int64) if strata is None else strata
    gone = np.isnan(values)
    every = _Several(label[kept], stratum[kept], names)
    facts = [every.fact("missing", gone[kept].astype(np.float64), every.shares)]
    here, kept = values[kept & ~gone], kept & ~gone
    some = _Several(label[kept], stratum[kept], names)
    levels = np.unique(here)
    if len(levels) > 1 and np.bincount(some.label, minlength=len(names)).all():
        facts += _facts_of_samples(here, levels, kind, name, some)
    facts = [fact for fact in facts if fact.z > 0.0]
    # A sum of squares of so many normal numbers, to which Bonferroni's bound applies.
    freedom, tail = (len(names) - 1.0) / 2.0, LEVEL / max(len(facts), 1)
    bound = 2.0 * float(special.gammainccinv(freedom, tail))
    held = sorted((fact for fact in facts if fact.z > bound), key=lambda fact: -fact.z)
    if not held:
        return Change()
    inside = "" if strata is None else " inside strata"
    first = held[0]
    told = [first] if first.what != "level" else [f for f in held if f.what == "level"]
    lines = [_inside(f, inside) for f in told[: min(NAMED_LEVELS, max(len(levels) - 1, 1))]]
    some_value = f"a {'value' if name is None else 'category'}: {first.words.rpartition(': ')[2]}"
    discreet = _inside(first._replace(words=some_value), inside) if first.what == "level" else ""
    return Change(lines[0], tuple(lines[1:]), first.what, discreet=discreet or lines[0])


def _inside(fact: Fact, inside: str) -> str:
    head, mark, rest = (
        fact.words.rpartition(": ") if fact.what == "level" else fact.words.partition(" ")
    )
    return f"{head}{inside}{mark}{rest}"


def _facts_of_samples(
    values: Array, levels: Array, kind: str, name: Callable[[float], str] | None, some: _Several
) -> list[Fact]:
    """Candidates of values that are there."""

    def level(value: float, said: str) -> Fact:
        words = lambda shares: f"{said}: {some.shares(shares)}"  # noqa: E731
        return some.fact("level", (values == value).astype(np.float64), words)

    if name is not None:
        codes = levels.tolist()
        if kind == "booleans" and len(codes) == 2:
            code = next((c for c in codes if name(c) == "True"), codes[1])
            return [some.fact("rate", (values == code).astype(np.float64), some.shares)]
        return [level(code, name(code)) for code in codes]
    if levels.tolist() == [0.0, 1.0]:
        return [some.fact("rate", values, some.shares)]
    few = (
        [level(value, _said(value)) for value in levels.tolist()]
        if len(levels) <= FEW_VALUES
        else []
    )
    if len(levels) == 2:
        return few[1:]
    dates = kind.startswith("dates")

    def numbers(each: Array, size: bool = False) -> str:
        if dates and not size:
            said = [said_date(value) for value in each.tolist()]
        elif kind == "times of day" and not size:
            said = [_clock(value) for value in each.tolist()]
        else:
            largest = float(np.abs(each).max())
            unit, times = ("", 1.0) if kind == "numbers" else _duration(largest)
            gap = times * float(np.ptp(each))
            decimals = max(1 - _power(times * largest), -_power(gap) if gap > 0 else 0)
            said = [
                _to_decimals(times * v, decimals, times * largest) + unit for v in each.tolist()
            ]
        return some.listed(said, each)

    parts = [values[some.label == k] for k in range(len(some.names))]
    medians = np.array([float(np.median(own)) for own in parts])
    sds = np.array([float(own.std(ddof=1)) if len(own) > 1 else 0.0 for own in parts])
    above = (values > np.median(values)).astype(np.float64)
    far = np.abs(values - medians[some.label])
    facts = [
        some.fact("mean", values, numbers),
        some.fact("median", above, lambda _: numbers(medians)),
        some.fact("sd", far, lambda _: numbers(sds, size=True)),
    ]
    zeros = values == 0.0
    if kind == "numbers" and not few and zeros.any():
        facts.append(some.fact("zeros", zeros.astype(np.float64), some.shares))
    return [*facts, *few]


# -- numbers as text -------------------------------------------------------------------------------


def percent(share: float) -> str:
    """A share as a person reads it.

    Examples
    --------
    >>> percent(0.0123), percent(0.3712), percent(0.0)
    ('1.2 %', '37.1 %', '0 %')
    """
    return f"{100.0 * share:.2g} %" if share < 0.1 else f"{100.0 * share:.3g} %"


def finite_or_none(value: Any) -> float | None:
    """A number, if it is one that JSON has."""
    return float(value) if np.isfinite(value) else None


def _power(value: float) -> int:
    """The power of ten of the first digit."""
    return int(np.floor(np.log10(value))) if 0 < value < np.inf else 0


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _shares(x: float, y: float) -> str:
    """Two shares in percent, to two digits of their difference."""
    gap = 100.0 * abs(y - x)
    decimals = min(max(1 - _power(gap), 0), 4) if gap > 0 else 1
    said = (f"{100.0 * v:.{0 if v in (0.0, 1.0) else decimals}f}" for v in (x, y))
    return f"{' → '.join(said)} %"


def _said_pair(x: float, y: float, spread: float = 0.0) -> str:
    """Two numbers: three digits of the largest, and one of their difference beside the spread.

    Examples
    --------
    >>> _said_pair(9.6412, 21.513), _said_pair(2008.02, 2008.31, 3.0), _said_pair(27550.4, -3.0)
    ('9.6 → 21.5', '2008.0 → 2008.3', '27,550 → −3')
    """
    largest, gap = max(abs(x), abs(y), spread if np.isfinite(spread) else 0.0), abs(y - x)
    decimals = 2 - _power(largest)
    if gap > 0:
        decimals = max(decimals, min(-_power(gap), 2 - _power(spread or gap)))
    return " → ".join(_to_decimals(value, decimals, largest) for value in (x, y))


def _to_decimals(value: float, decimals: int, largest: float) -> str:
    """Format a number with this many decimals; with an exponent if it is far from 1."""
    if largest != 0.0 and not 1e-4 <= largest < 1e9:
        return _minus(f"{value:.{min(max(decimals + _power(largest) + 1, 3), 17)}g}")
    text = f"{value:{',' if abs(value) >= 1e4 else ''}.{max(decimals, 0)}f}"
    return _minus(text if text.strip("-0.,") else text.lstrip("-"))


def _said(value: float) -> str:
    """Format a number: whole ones as they are, others to four digits."""
    size = abs(value)
    if value == np.rint(value) and size < 1e9:
        return _to_decimals(value, 0, size)
    text = _to_decimals(value, 3 - _power(size), size)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _digits(value: float) -> str:
    """A ratio to three digits."""
    return _to_decimals(value, 2 - _power(value), value)


def _signed(value: float, digits: int = 3) -> str:
    """Format a difference with its sign: two digits if it is below 10, else `digits`."""
    size = abs(value)
    decimals = max((2 if size < 10.0 else digits) - 1 - _power(size), 0)
    return f"{'−' if value < 0 else '+'}{_to_decimals(size, decimals, size)}"


def _duration(days: float) -> tuple[str, float]:
    """The unit in which a duration is at least 1, and how many are in a day."""
    return next((own for own in DURATIONS if days * own[1] >= 1.0), DURATIONS[-1])


def _clock(days: float) -> str:
    minutes = round(1440.0 * days)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def said_date(days: float, *, time: bool = False, year: bool = True) -> str:
    """A day, counted from the beginning of 1970, with or without the time."""
    when = np.datetime64(round(86400.0 * days) if time else 86400 * int(np.floor(days)), "s").item()
    if isinstance(when, int):  # beyond the year 9999
        return str(np.datetime64(int(np.floor(days)), "D"))
    clock = f" {when.hour:02d}:{when.minute:02d}" if time else ""
    return f"{when.day} {MONTHS[when.month - 1]}{f' {when.year}' if year else ''}{clock}"


def _said_dates(x: float, y: float) -> str:
    """Two dates, with the time if they are less than two days apart; a common year once."""
    near = abs(y - x) < 2.0 and not x % 1.0 == y % 1.0 == 0.0
    same = not near and said_date(x).split()[-1] == said_date(y).split()[-1]
    return f"{said_date(x, time=near, year=not same)} → {said_date(y, time=near)}"
