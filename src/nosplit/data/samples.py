"""Two samples in memory, arrays or tables, as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import (
    LARGEST_WHOLE,
    all_equal,
    check_sample,
    constant_and_equal,
)
from nosplit._types import Array, Index
from nosplit.data.encoding import Encoding, Mask
from nosplit.data.fit_encoding import Read, read_one, read_two, robust_scale
from nosplit.data.frames import NUMBER, as_frame, is_table
from nosplit.data.options import NONE, ROBUST, Options
from nosplit.errors import InputError
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe

__all__ = [
    "Sample",
    "Samples",
    "check_as_many",
    "check_samples",
    "count_out",
    "one_sample",
    "standardised",
    "two_samples",
]


@dataclass(frozen=True, eq=False)
class Samples:
    """Two samples as rows of numbers, which are made when they are asked for.

    Attributes
    ----------
    given : pair of arrays, or None
        The rows, if they are as they came.
    read : Read or None
        The columns that they are made of, if not.
    encoding : Encoding or None
        How they are made; None for arrays that are as they came.
    left_out : int
        Rows left out because something was missing.
    """

    given: tuple[Any, Any] | None
    read: Read | None = None
    encoding: Encoding | None = None
    left_out: int = 0

    @cached_property
    def rows(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows of both."""
        if self.given is not None:
            return self.given
        assert self.read is not None
        assert self.encoding is not None
        x, y = self.read.rows(self.encoding)
        return x, y

    @property
    def x(self) -> NDArray[Any]:
        """The rows of x."""
        return self.rows[0]

    @property
    def y(self) -> NDArray[Any]:
        """The rows of y."""
        return self.rows[1]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows of x, rows of y and columns."""
        if self.read is None or self.encoding is None:
            return len(self.x), len(self.y), int(np.shape(self.x)[1])
        n, m = (int(np.count_nonzero(kept)) for kept in self.read.kept)
        return n, m, self.encoding.width

    @property
    def kept(self) -> tuple[Mask, Mask]:
        """Masks of the rows of both that are not left out."""
        if self.read is None:
            return np.ones(len(self.x), np.bool_), np.ones(len(self.y), np.bool_)
        return self.read.kept[0], self.read.kept[1]

    def spread_out(self, codes: Index) -> Index:
        """Codes of the rows that are kept, among -1 for the others."""
        kept = np.concatenate(self.kept)
        found = np.full(len(kept), -1)
        found[kept] = codes
        return found

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None for arrays that are as they came."""
        return None if self.encoding is None else self.encoding.names

    def checked(self) -> Samples:
        """The same, of which arrays that are as they came have the same width and type."""
        return self if self.given is None else replace(self, given=check_samples(*self.given))

    def settled(self, options: Options) -> Options:
        """The options with the columns that are compared named one by one."""
        if self.read is None:
            return options
        return replace(options, columns=tuple(self.read.names), exclude=None)

    def recipe(self, kernels: Kernels) -> Recipe:
        """Kernels for the rows, as `kernels=` asks for them."""
        return as_recipe(kernels) if self.encoding is None else self.encoding.recipe(kernels)


def two_samples(x: Any, y: Any, options: Options, *, paired: bool = False) -> Samples:
    """Two samples with the same columns; arrays without options as they came.

    Rows that are `paired` are left out together.
    """
    if options.idle and not (is_table(x) or is_table(y)):
        if paired:
            both = zip((x, y), "xy", strict=True)
            check_as_many(*(len(check_sample(v, name, finite=False)) for v, name in both))
        return Samples((x, y))
    sources = [as_frame(x, "x"), as_frame(y, "y")]
    if paired:
        check_as_many(*(source.n_rows for source in sources))
    read = read_two(sources, options)
    if paired:
        read = replace(read, kept=[read.kept[0] & read.kept[1]] * 2)
    encoding = read.encoding()
    if encoding.idle:
        largest = max(
            np.nanmax(np.abs(raw.values), initial=0.0) for raws in read.samples for raw in raws
        )
        if largest >= LARGEST_WHOLE:
            raise constant_and_equal(largest)
        raise InputError(
            "`x` and `y` hold nothing to compare: every column is constant, or holds categories "
            "that are all different."
        )
    return Samples(None, read, encoding, count_out(read.kept))


def check_as_many(n: int, m: int) -> None:
    """Check that samples of pairs are of the same size."""
    if n != m:
        raise InputError(
            "`paired` rows belong together, x[i] and y[i], so `x` and `y` must have as many rows, "
            f"got {n:,} and {m:,}. Leave out paired=True if rows of x have no partner in y."
        )


def count_out(kept: Sequence[Mask]) -> int:
    """Number of rows that are not kept."""
    return sum(int(np.count_nonzero(~keep)) for keep in kept)


def check_samples(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two samples of the same width and type; large ones are not read to the end."""
    x, y = check_sample(x, "x"), check_sample(y, "y")
    if x.shape[1] != y.shape[1]:
        raise InputError(
            f"`x` and `y` must have the same number of columns, got {x.shape[1]} and {y.shape[1]}."
        )
    if x.dtype != y.dtype:
        x, y = x.astype(np.float64), y.astype(np.float64)
    if all_equal(x, x[0]) and all_equal(y, x[0]):
        raise constant_and_equal(float(np.abs(x[0]).max()))
    return x, y


# -- one sample ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sample:
    """One sample of numbers, in the units of the data.

    Attributes
    ----------
    x : array
        The rows.
    kept : array of bool, or None
        Which rows of what was given they are; None for all.
    encoding : Encoding or None
        As in `Samples`; not scaled.
    scaled : bool
        Whether a scale was asked for.
    """

    x: Any
    kept: Mask | None = None
    encoding: Encoding | None = None
    scaled: bool = False

    @property
    def left_out(self) -> int:
        """Rows left out because something was missing."""
        return 0 if self.kept is None else count_out([self.kept])


def one_sample(x: Any, options: Options) -> Sample:
    """A sample of numbers to be compared with a model; an array without options as it came."""
    if options.idle and not is_table(x):
        return Sample(x)
    if options.nan_policy == "indicate":
        raise InputError(
            "`nan_policy` must be 'raise' or 'omit' here, got 'indicate': a model of numbers says "
            "nothing about missing ones."
        )
    read = read_one(as_frame(x, "x"), replace(options, scale=NONE))
    for name, kind in zip(read.names, read.kinds, strict=True):
        if kind != NUMBER:
            raise InputError(
                f"column {name!r} of `x` must hold numbers, as the model does, got {kind}. "
                f"Convert it, or leave it out with exclude=[{name!r}]."
            )
    encoding = read.encoding()
    return Sample(read.rows(encoding)[0], read.kept[0], encoding, options.scale == ROBUST)


def standardised(x: Array) -> tuple[Array, Array]:
    """Medians and spreads of the columns of x."""
    pairs = np.array([robust_scale(column) for column in x.T])
    return pairs[:, 0], pairs[:, 1]
