"""Tables and arrays → rows of numbers: the doors of the tests.

Everything here is a symmetric function of the pooled rows: medians, spreads and which columns
vary do not change when rows are swapped between the samples. Codes of categories depend on the
category alone. So exact calibration stays exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._encoding import POLICIES, Column, Encoding, Mask
from nosplit._errors import InputError
from nosplit._frames import UNKNOWN, Raw, Source, as_source, is_table
from nosplit._matching import (
    check_finite_columns,
    check_present,
    common_kind,
    matched,
    picked,
    wanted,
)
from nosplit._validation import resolve
from nosplit.recipes import Kernels, Recipe, as_recipe

__all__ = ["Column", "Encoding", "Options", "Samples", "fit_encoding", "two_samples"]

Array = NDArray[np.float64]

ROBUST, NONE = "robust", "none"
# The interquartile range of a normal law, in standard deviations.
NORMAL_IQR = 1.3489795003921634
# An interquartile range below this share of the standard deviation is rounding.
SMALLEST_IQR = 1e-9


@dataclass(frozen=True)
class Options:
    """What to do with the columns: checked values of the keywords of the test functions."""

    scale: str | None
    columns: tuple[str, ...] | None
    exclude: tuple[str, ...] | None
    nan_policy: str

    @classmethod
    def of(cls, scale: Any, columns: Any, exclude: Any, nan_policy: Any) -> Options:
        """Check the keywords."""
        if scale is not None and not isinstance(scale, str | bool | np.bool_):
            raise InputError(f"`scale` must be True, False, 'robust' or 'none', got {scale!r}.")
        if isinstance(scale, bool | np.bool_):
            scale = ROBUST if scale else NONE
        if scale is not None:
            resolve(scale, {ROBUST: ROBUST, NONE: NONE}, "scale")
        if not isinstance(nan_policy, str):
            raise InputError(f"`nan_policy` must be a name, got {nan_policy!r}.")
        policy = resolve(nan_policy, POLICIES, "nan_policy")
        return cls(scale, wanted(columns, "columns"), wanted(exclude, "exclude"), policy)

    @property
    def idle(self) -> bool:
        """Whether they leave arrays as they are."""
        picks = self.columns is not None or self.exclude is not None
        return self.scale in (None, NONE) and self.nan_policy == "raise" and not picks


def fit_encoding(
    x: Any,
    y: Any = None,
    *,
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    nan_policy: str = "raise",
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
    nan_policy : {"raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.

    Returns
    -------
    Encoding
    """
    options = Options.of(scale, columns, exclude, nan_policy)
    sources = [as_source(x, "x")] + ([] if y is None else [as_source(y, "y")])
    return _fitted(sources, options)[0]


def _fitted(
    sources: Sequence[Source], options: Options
) -> tuple[Encoding, list[list[Raw]], list[Mask]]:
    """The encoding, the columns it was fitted on, and which of their rows it keeps."""
    labels = [source.label for source in sources]
    if len(sources) == 2:
        positions = matched(sources[0], sources[1], options.columns, options.exclude)
    else:
        positions = (picked(sources[0], options.columns, options.exclude),) * 2
    names = [sources[0].names[i] for i in positions[0]]
    samples = [[s.read(i) for i in where] for s, where in zip(sources, positions, strict=False)]
    for raws, label in zip(samples, labels, strict=True):
        check_finite_columns(raws, names, label)
    kinds = [common_kind(names[j], [r[j] for r in samples], labels) for j in range(len(names))]
    if options.nan_policy == "raise":
        check_present(samples, names, labels)
    table = sources[0].table
    encoding = Encoding(tuple(map(Column, names, kinds)), options.nan_policy, table)
    kept = [encoding._kept(raws) for raws in samples]
    for source, keep in zip(sources, kept, strict=True):
        _check_rows(source, keep, samples, names)
    scaled = (options.scale or (ROBUST if table else NONE)) == ROBUST
    fitted = [
        _fit_column(
            column,
            np.concatenate([r[j].values[k] for r, k in zip(samples, kept, strict=True)]),
            scaled,
            options.nan_policy,
        )
        for j, column in enumerate(encoding.columns)
    ]
    return replace(encoding, columns=tuple(fitted)), samples, kept


def _check_rows(
    source: Source, kept: Mask, samples: Sequence[Sequence[Raw]], names: Sequence[str]
) -> None:
    count = int(np.count_nonzero(kept))
    if count >= 2:
        return
    if len(kept) < 2:
        raise InputError(f"`{source.label}` must have at least 2 rows, got {len(kept)}.")
    empty = [n for j, n in enumerate(names) if any(r[j].kind == UNKNOWN for r in samples)]
    hint = f" Leave out columns without values: exclude={empty[:5]!r}." if empty else ""
    raise InputError(
        f"`{source.label}` must have at least 2 rows in which nothing is missing, got {count} of "
        f"{len(kept):,}.{hint}"
    )


def _fit_column(column: Column, pooled: Array, scaled: bool, policy: str) -> Column:
    """Median and spread of the pooled values, in which the order of rows plays no part."""
    missing = np.isnan(pooled)
    some = bool(missing.any())
    present = pooled[~missing] if some else pooled
    constant = not len(present) or bool(present.min() == present.max())
    if column.categorical:
        return replace(column, constant=constant and not (some and len(present)))
    indicated = some and policy == "indicate"
    if not len(present):
        return replace(column, indicated=indicated, constant=True)
    center, scale = robust_scale(present)
    fitted = replace(column, fill=center, indicated=indicated, constant=constant)
    return replace(fitted, center=center, scale=scale) if scaled else fitted


def robust_scale(values: Array) -> tuple[float, float]:
    """Median, and spread: from the quartiles, else the standard deviation, else 1.

    Examples
    --------
    >>> robust_scale(np.array([1.0, 1.0, 1.0, 1.0]))
    (1.0, 1.0)
    """
    low, center, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    farthest = float(np.max(np.abs(values - center)))
    if farthest == 0.0:
        return center, 1.0
    # Sorted, so that the sum does not depend on the order of the rows, not even in its rounding.
    sd = farthest * float(np.std(np.sort((values - center) / farthest)))
    iqr = (high - low) / NORMAL_IQR
    return center, iqr if iqr > SMALLEST_IQR * sd else sd


# -- the doors of the tests ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Samples:
    """Two samples as rows of numbers.

    Attributes
    ----------
    x, y : array
        The rows.
    encoding : Encoding or None
        How they were made; None for arrays that are as they came.
    left_out : int
        Rows left out because something was missing.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    encoding: Encoding | None = None
    left_out: int = 0

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None for arrays that are as they came."""
        return None if self.encoding is None else self.encoding.names

    def recipe(self, kernels: Kernels) -> Recipe:
        """Kernels for the rows, as `kernels=` asks for them."""
        return as_recipe(kernels) if self.encoding is None else self.encoding.recipe(kernels)


def two_samples(x: Any, y: Any, options: Options) -> Samples:
    """Two samples with the same columns; arrays without options as they came."""
    if options.idle and not (is_table(x) or is_table(y)):
        return Samples(x, y)
    encoding, samples, kept = _fitted([as_source(x, "x"), as_source(y, "y")], options)
    rows = [encoding._rows(raws, keep) for raws, keep in zip(samples, kept, strict=True)]
    left_out = sum(int(np.count_nonzero(~keep)) for keep in kept)
    return Samples(rows[0], rows[1], encoding, left_out)
