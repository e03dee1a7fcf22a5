"""Encodings fitted on pooled rows.

Everything here is a symmetric function of the pooled rows: medians, spreads and which columns
vary do not change when rows are swapped between the samples. Codes of categories depend on the
category alone, and rows are left out before units are formed. So exact calibration stays exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._text import listed
from nosplit._types import Array
from nosplit.data.encoding import Column, Encoding, Mask
from nosplit.data.frames import CATEGORIES, NUMBER, UNKNOWN, Frame, Raw, as_frame
from nosplit.data.identifiers import repeats_as_identifier
from nosplit.data.matching import (
    check_finite_columns,
    check_present,
    common_kind,
    matched,
    picked,
    present_rows,
)
from nosplit.data.options import AUTO, NONE, ROBUST, Options
from nosplit.errors import InputError

__all__ = [
    "GAPS",
    "Read",
    "fit_encoding",
    "fit_scales",
    "gaps_note",
    "read_one",
    "read_two",
    "robust_scale",
    "unscaled_encoding",
]

# Rows of the smallest sample in which ids are told from other numbers, and values for each row.
FEWEST_IDS, CLOSE = 30, 10
# The interquartile range of a normal law, in standard deviations.
NORMAL_IQR = 1.3489795003921634
# An interquartile range below this share of the standard deviation is rounding.
SMALLEST_IQR = 1e-9


@dataclass(frozen=True, eq=False)
class Read:
    """Columns of one or two sources as they came, and which of their rows are kept."""

    sources: Sequence[Frame]
    names: list[str]
    kinds: list[str]
    samples: list[list[Raw]]
    kept: list[Mask]
    options: Options

    @classmethod
    def of(cls, sources: Sequence[Frame], positions: Sequence[list[int]], options: Options) -> Read:
        """Read the columns at these positions of each source, and check them."""
        labels, names = [s.label for s in sources], [sources[0].names[i] for i in positions[0]]
        samples = [[s.read(i) for i in where] for s, where in zip(sources, positions, strict=True)]
        for raws, label in zip(samples, labels, strict=True):
            check_finite_columns(raws, names, label)
        kinds = [
            common_kind(name, raws, labels)
            for name, raws in zip(names, zip(*samples, strict=True), strict=True)
        ]
        if options.nan_policy == AUTO:
            gaps = any(np.isnan(raw.values).any() for raws in samples for raw in raws)
            policy = "indicate" if gaps and sources[0].table else "raise"
            options = replace(options, nan_policy=policy)
        if options.nan_policy == "raise":
            check_present(samples, names, labels, sources[0].table)
        omit = options.nan_policy == "omit"
        kept = [present_rows(r) if omit else np.ones(len(r[0].values), np.bool_) for r in samples]
        return cls(sources, names, kinds, samples, kept, options)

    def encoding(self) -> Encoding:
        """The encoding of the rows that are kept."""
        self._check_rows()
        table, policy = self.sources[0].table, self.options.nan_policy
        scaled = (self.options.scale or (ROBUST if table else NONE)) == ROBUST
        pooled = (
            np.concatenate([raws[j].values[keep] for raws, keep in self._both])
            for j in range(len(self.names))
        )
        fitted = [
            _fit_column(Column(name, kind), values, scaled, policy)
            for name, kind, values in zip(self.names, self.kinds, pooled, strict=True)
        ]
        return Encoding(tuple(fitted), policy, table, tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        """Notes on what was left out of the tables without being asked for."""
        index = list(dict.fromkeys(name for source in self.sources for name in source.index))
        if index:
            yield f"The index of a pandas frame was left out: {listed(index)}."
        if self.options.nan_policy == "indicate":
            columns = zip(self.names, zip(*self.samples, strict=True), strict=True)
            gaps = [n for n, raws in columns if any(np.isnan(raw.values).any() for raw in raws)]
            yield from gaps_note(gaps)
        ids = [
            name
            for name, kind, *raws in zip(self.names, self.kinds, *self.samples, strict=True)
            if kind == NUMBER and all(_numbers_rows(raw.values) for raw in raws)
        ]
        if ids and self.sources[0].table:
            like = "looks like an identifier" if len(ids) == 1 else "look like identifiers"
            out = "it" if len(ids) == 1 else "them"
            yield f"{listed(ids)} {like}: exclude={ids} leaves {out} out"
        if len(self.samples) > 1 and self.sources[0].table:
            yield from map(_hint_at_groups, self._identifiers())

    def _identifiers(self) -> Iterator[str]:
        """Find the columns that repeat as identifiers do."""
        for name, kind, *raws in zip(self.names, self.kinds, *self.samples, strict=True):
            text = kind in CATEGORIES
            if text or kind == NUMBER:
                values = [raw.values[keep] for raw, keep in zip(raws, self.kept, strict=True)]
                if repeats_as_identifier(values, text=text):
                    yield name

    @property
    def _both(self) -> Iterator[tuple[list[Raw], Mask]]:
        return zip(self.samples, self.kept, strict=True)

    def rows(self, encoding: Encoding) -> list[Array]:
        """Encoded rows of each source."""
        return [encoding.rows_of(raws, keep) for raws, keep in self._both]

    def _check_rows(self) -> None:
        for source, keep in zip(self.sources, self.kept, strict=True):
            count = int(np.count_nonzero(keep))
            if count >= 2:
                continue
            if len(keep) < 2:
                raise InputError(f"`{source.label}` must have at least 2 rows, got {len(keep)}.")
            kinds = [{raw.kind for raw in raws} for raws in zip(*self.samples, strict=True)]
            empty = [name for name, k in zip(self.names, kinds, strict=True) if UNKNOWN in k]
            hint = f" Leave out columns without values: exclude={empty[:5]!r}." if empty else ""
            raise InputError(
                f"`{source.label}` must have at least 2 rows in which nothing is missing, got "
                f"{count} of {len(keep):,}.{hint}"
            )


GAPS = "missing values are compared as"


def _hint_at_groups(name: str) -> str:
    """Say that rows may belong together."""
    return (
        f"{name!r} repeats as an identifier would: if its rows belong together, use "
        f"groups={name!r}."
    )


def _numbers_rows(values: Array) -> bool:
    """Whether values are whole, all different, and close together, as numbers of rows are."""
    n = len(values)
    if n < FEWEST_IDS or len(np.unique(values[:FEWEST_IDS])) < FEWEST_IDS:
        return False
    low, high = values.min(), values.max()  # nan where one is missing
    if not high - low < CLOSE * n or np.any(values != np.rint(values)):
        return False
    return len(np.unique(values)) == n


def gaps_note(columns: Sequence[str]) -> Iterator[str]:
    """Note that missing values are compared, if there are any."""
    if columns:
        yield f'{GAPS} a value of their own (nan_policy="indicate")'


def _fit_column(column: Column, pooled: Array, scaled: bool, policy: str) -> Column:
    """Median and spread of the pooled values, in which the order of rows plays no part."""
    missing = np.isnan(pooled)
    some = bool(missing.any())
    present = pooled[~missing] if some else pooled
    if column.categorical:
        return replace(column, idle=_nothing_to_compare(present, len(pooled) - len(present)))
    # A single odd one out is equal to no other row: no pair of units shows that it is missing.
    count = int(np.count_nonzero(missing))
    indicated = policy == "indicate" and 2 <= count <= len(pooled) - 2
    if not len(present):
        return replace(column, idle=True)
    same = bool(present.min() == present.max())
    center, scale = robust_scale(present)
    if not np.isfinite(scale):
        raise InputError(f"column {column.name!r} must hold numbers below 1e300 in size, got more.")
    fitted = replace(column, fill=center, indicated=indicated, idle=same)
    return replace(fitted, center=center, scale=scale) if scaled else fitted


def _nothing_to_compare(codes: Array, n_missing: int) -> bool:
    """Whether categories are all alike but for one row, or all different: no pair shows more."""
    counts = np.append(np.unique(codes, return_counts=True)[1], n_missing)
    return bool(counts.sum() - counts.max() <= 1 or counts.max() == 1)


@np.errstate(over="ignore", invalid="ignore")
def robust_scale(values: Array) -> tuple[float, float]:
    """Median, and spread: from the quartiles, else the standard deviation, else 1.

    Examples
    --------
    >>> robust_scale(np.array([5.0, 5.0, 5.0, 5.0]))
    (5.0, 1.0)
    """
    low, center, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    farthest = float(np.max(np.abs(values - center)))
    if farthest == 0.0:
        return center, 1.0
    iqr = (high - low) / NORMAL_IQR
    if iqr > SMALLEST_IQR * farthest:
        return center, iqr
    # Sorted, so that the sum does not depend on the order of the rows, not even in its rounding.
    sd = farthest * float(np.std(np.sort((values - center) / farthest)))
    if sd == 0.0:  # too small for a float, as numbers near the smallest are
        return center, farthest
    return center, iqr if iqr > SMALLEST_IQR * sd else sd


def read_two(sources: Sequence[Frame], options: Options) -> Read:
    """Two samples, of which columns of the same name are compared."""
    positions = matched(sources[0], sources[1], options.columns, options.exclude)
    return Read.of(sources, positions, options)


def read_one(source: Frame, options: Options) -> Read:
    """One sample, or one of two variables."""
    return Read.of([source], [picked(source, options.columns, options.exclude)], options)


def unscaled_encoding(*sources: Frame) -> Encoding:
    """An encoding that leaves tables as they are: names and kinds of columns of the tables."""
    options = Options.of("none", None, None, "raise")
    read = read_one(sources[0], options) if len(sources) == 1 else read_two(sources, options)
    columns = zip(read.names, read.kinds, strict=True)
    return Encoding(tuple(Column(name, kind) for name, kind in columns), "raise", table=True)


def fit_scales(encoding: Encoding, rows: Array) -> Encoding:
    """An encoding with the scales of some of the rows that it made without any.

    Examples
    --------
    >>> plain = Encoding((Column("age", "numbers"), Column("city", "text")))
    >>> fit_scales(plain, np.array([[20.0, 1.0], [30.0, 2.0], [40.0, 1.0]])).columns[0].center
    30.0
    """
    fitted = [
        _fit_column(column, values, True, encoding.nan_policy)
        for column, values in zip(encoding.columns, rows.T, strict=True)
    ]
    return replace(encoding, columns=tuple(fitted))


def fit_encoding(
    x: Any,
    y: Any = None,
    *,
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "auto",
) -> Encoding:
    """Find out how tables become rows of numbers, from one or two of them.

    Parameters
    ----------
    x, y : table or array
        The data; its columns are matched by name.
    scale : {"robust", "none"}, bool or None
        Whether numbers are divided by a robust spread of the pooled column (interquartile range;
        standard deviation where that is 0). None: yes for tables, no for arrays.
    columns, exclude : names
        The columns to look at, or to leave out; positions for arrays.
    nan_policy : {"auto", "raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.
        "auto": compare it in tables; an error in arrays.

    Returns
    -------
    Encoding
    """
    options = Options.of(scale, columns, exclude, nan_policy)
    if y is None:
        return read_one(as_frame(x, "x"), options).encoding()
    return read_two([as_frame(x, "x"), as_frame(y, "y")], options).encoding()
