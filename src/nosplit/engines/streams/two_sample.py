"""Tests of streams: rows come in batches of any size, and memory is bounded.

An accumulator keeps the moments of the pairs it has seen, and a few rows that wait for others.
Accumulators of parts of the data add up to that of the whole. Calibration is asymptotic: flips
would need the data.

A result can be had at any time, but every look is one more chance of a false alarm: a stream that
is looked at until it rejects will reject. Fix the number of rows beforehand, or share the level
between the looks (for k of them, reject at alpha / k).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Self

from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import fit_encoding
from nosplit.data.frames import as_source, is_table
from nosplit.engines.streams.base import LIMIT, Accumulator
from nosplit.engines.streams.batches import batch_rows, check_sizes
from nosplit.engines.streams.blocks import TwoSamples, check_ratio
from nosplit.engines.streams.state import Rows
from nosplit.errors import InputError
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import Kernels, as_recipe

__all__ = ["TwoSampleAccumulator"]


class TwoSampleAccumulator(Accumulator):
    """A two-sample test of a stream.

    Rows of x and y are put together to units in the order in which they come, so rows must come
    in random order: sorted streams raise a `DependentRowsWarning`.

    Parameters
    ----------
    kernels : None, Kernel, sequence of them, name or callable
        As in `two_sample_test`. Bandwidths come from the first 500 rows, then they are fixed;
        accumulators that are to be added must have the same (`like`).
    ratio : (int, int)
        Rows of x to rows of y in a unit. With (1, 3), every row of x meets three of y.
    pairs : "adjacent" or int
        Pairs (2i, 2i + 1) of units, or a window: (i, i - r) for r = 1…R, which takes more work and
        has more power. The first and the last units are not joined.
    limit : int
        Rows of either side that may wait for the other; what comes beyond is dropped and counted.
    encoding : Encoding, optional
        How tables become numbers. By default it is found from the first batch, if that is a
        table; it should then be large enough to show the scale of the columns.

    Attributes
    ----------
    kernels, moments, n_waiting, n_dropped
        What is known so far.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> acc = TwoSampleAccumulator()
    >>> for _ in range(20):
    ...     acc.update(rng.normal(size=(100, 2)), 1.3 * rng.normal(size=(100, 2)))
    >>> res = acc.result()
    >>> res.reject(0.05), res.n_pairs
    (True, 1000)

    Parts add up to the whole:

    >>> other = TwoSampleAccumulator.like(acc)
    >>> other.update(rng.normal(size=(400, 2)), 1.3 * rng.normal(size=(400, 2)))
    >>> acc += other
    >>> acc.moments.n
    1200
    """

    family = "two_sample"
    question = TWO_SAMPLE

    def __init__(
        self,
        kernels: Kernels = None,
        *,
        ratio: tuple[int, int] = (1, 1),
        pairs: str | int = "adjacent",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
    ) -> None:
        if encoding is not None and not isinstance(encoding, Encoding):
            raise InputError(
                f"`encoding` must be an Encoding, as `fit_encoding` gives it, got {encoding!r}."
            )
        recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
        bank = Bank(recipe.build()) if recipe.given else None
        super().__init__(TwoSamples(check_ratio(ratio), recipe), kernels, bank, pairs, limit)
        self._encoding = encoding

    @property
    def ratio(self) -> tuple[int, int]:
        """Rows of x to rows of y, in lowest terms."""
        x, y = self._flow.family.sizes
        return x, y

    @property
    def encoding(self) -> Encoding | None:
        """How tables become numbers."""
        return self._encoding

    @classmethod
    def like(cls, other: Self) -> Self:
        """An empty accumulator with the settings and the kernels of another."""
        kernels = other._given if other.kernels is None else other.kernels
        return cls(
            kernels,
            ratio=other.ratio,
            pairs=other.pairs,
            limit=other._flow.limit,
            encoding=other._encoding,
        )

    def update(self, x: Any = None, y: Any = None) -> None:
        """Take in a batch of rows; either may be empty or None.

        Parameters
        ----------
        x, y : array_like or table, shape (n, p) and (m, p)
            The rows, of any number.
        """
        encoding, flow = self._encoding, self._flow
        if encoding is None and (is_table(x) or is_table(y)):
            if self._state.waiting is not None:
                raise InputError("`x` and `y` must be arrays, as before, got a table.")
            encoding = _first_encoding(x, y)
            recipe = encoding.recipe(self._given)
            flow = replace(flow, family=TwoSamples(self.ratio, recipe))
        batch, omitted = _two_sides(x, y, encoding, self._state.waiting)
        state = replace(self._state, n_omitted=self._state.n_omitted + omitted)
        if batch is not None:
            check_sizes(batch, state.bank)
            state = flow.feed(state, batch)
            self._flow, self._encoding = flow, encoding
        self._state = state

    def __iadd__(self, other: Self) -> Self:
        took = super().__iadd__(other)
        if took is self and self._encoding is None:
            self._encoding = other._encoding
        return took

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The accumulator that `save` wrote."""
        return cls._restored(path)

    def _settings(self) -> dict[str, Any]:
        encoding = None if self._encoding is None else self._encoding.to_dict()
        return {"ratio": list(self.ratio), "encoding": encoding}

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        encoding = settings["encoding"]
        known = None if encoding is None else Encoding.from_dict(encoding)
        return {**settings, "encoding": known}

    def _described(self) -> dict[str, Any]:
        names = None if self._encoding is None else self._encoding.names
        return {"columns": names, "encoding": self._encoding}


def _first_encoding(x: Any, y: Any) -> Encoding:
    """How tables become numbers, from the first batch of them."""
    sources = [as_source(v, n) for v, n in ((x, "x"), (y, "y")) if v is not None]
    if any(source.n_rows < 2 for source in sources):
        raise InputError(
            "`x` and `y` must have at least 2 rows each in the first batch of tables, which shows "
            "the scale of their columns; it may be one of them alone. Or give `encoding`, as "
            "`nosplit.data.fit_encoding.fit_encoding` finds it from any tables like these."
        )
    return fit_encoding(*(value for value in (x, y) if value is not None))


def _two_sides(
    x: Any, y: Any, encoding: Encoding | None, waiting: Rows | None
) -> tuple[Rows | None, int]:
    """Rows of x and of y, checked, and how many were left out; None if there are none."""
    width = waiting[0].shape[1] if waiting is not None else None
    sides, omitted = [], 0
    for value, name in ((x, "x"), (y, "y")):
        rows = value
        if encoding is not None and value is not None:
            rows = encoding.encode(value, name)
            omitted += as_source(value, name).n_rows - len(rows)
        sides.append(batch_rows(rows, name, width))
    one, two = sides
    if one is None and two is None:
        return None, omitted
    if one is not None and two is not None and one.shape[1] != two.shape[1]:
        raise InputError(
            "`x` and `y` must have the same number of columns, got "
            f"{one.shape[1]} and {two.shape[1]}."
        )
    none = next(side[:0] for side in sides if side is not None)
    return tuple(none if side is None else side for side in sides), omitted
