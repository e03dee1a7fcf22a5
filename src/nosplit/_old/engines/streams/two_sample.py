"""Two-sample tests of streams: rows come in batches of any size, and memory is bounded.

Rows of x and y are put together as they arrive, and become sums of features in blocks of such
pairs. A draw swaps the two halves of each block, so calibration is exact, and all pairs of rows
are seen but those inside a block. Accumulators of parts of the data add up to that of the whole.

A result can be had at any time, but every look is one more chance of a false alarm: a stream that
is looked at until it rejects will reject. Fix the number of rows beforehand, or share the level
between the looks (for k of them, reject at alpha / k).
"""

from __future__ import annotations

import os
from typing import Any, Self

from nosplit._checks import Seed
from nosplit._old.engines.streams.base import LIMIT, Accumulator
from nosplit._old.engines.streams.batches import batch_rows
from nosplit._old.engines.streams.state import Rows
from nosplit._types import Array
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import Encoding
from nosplit.data.frames import as_frame
from nosplit.errors import InputError
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.kernels.recipes import Kernels

__all__ = ["TwoSampleAccumulator", "check_encoding", "two_sides"]


class TwoSampleAccumulator(Accumulator):
    """A two-sample test of a stream.

    Rows are paired as they arrive, the first of x with the first of y, and their features are
    summed in blocks of consecutive pairs; a long stream has 512 to 1,024 blocks. Under H₀, rows
    that arrive together have the same distribution, which may change in time as long as it does so
    for both samples. x and y are swapped in whole blocks, and the test is exact if the pairs are
    independent. Rows are assumed to be independent: serial dependence is not checked, and makes
    p-values too small.

    Parameters
    ----------
    kernels : None, Kernel, sequence of them, name or callable
        As in `two_sample_test`. Bandwidths, scales and bins come from the first 500 pairs, then
        they are fixed; accumulators that are to be added must have the same (`like`).
    ratio : (int, int)
        Rows of x to rows of y in a group. With (1, 3), every row of x meets three of y, and any of
        the four may be the one of x under H₀. Sketches only.
    pairs : "sketch", Sketch or "adjacent"
        `Sketch(cells=…, frequencies=…)` says how many blocks of a long stream there are at least,
        and how well kernels are approximated. "adjacent" is the paper's estimate on pairs
        (2i, 2i + 1) of units instead, with its closed form: asymptotic, and it finds far less.
    limit : int
        Rows of either side that may wait for the other; what comes beyond is dropped and counted.
    encoding : Encoding, optional
        How tables become numbers. By default the first batch says what the columns hold, if it is
        a table, and the first 500 pairs what their scales are.
    rng : int, Generator or None
        Picks the frequencies and the draws.

    Attributes
    ----------
    kernels, n_waiting, n_dropped, n_used
        What is known so far.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> acc = TwoSampleAccumulator()
    >>> for _ in range(20):
    ...     acc.update(rng.normal(size=(100, 2)), 1.3 * rng.normal(size=(100, 2)))
    >>> res = acc.result(n_resamples=999)
    >>> res.reject(0.05), res.how.calibration, res.how.n_used
    (True, 'exact', 4000)

    Parts add up to the whole:

    >>> other = TwoSampleAccumulator.like(acc)
    >>> other.update(rng.normal(size=(400, 2)), 1.3 * rng.normal(size=(400, 2)))
    >>> acc += other
    >>> acc.n_used
    4800
    """

    family = "two_sample"
    question = TWO_SAMPLE

    def __new__(
        cls,
        kernels: Kernels = None,
        *,
        ratio: tuple[int, int] = (1, 1),
        pairs: Pairing | str = "sketch",
        limit: int = LIMIT,
        encoding: Encoding | None = None,
        rng: Seed = 0,
    ) -> Self:
        """Make an accumulator of the class for these pairs."""
        new: Self = object.__new__(cls._kind(pairs))
        return new

    @classmethod
    def _sketch_or_adjacent(cls) -> tuple[type[Any], type[Any]]:
        from nosplit._old.engines.streams.adjacent import AdjacentAccumulator
        from nosplit._old.engines.streams.sketches.two_sample import SketchAccumulator

        return SketchAccumulator, AdjacentAccumulator

    @property
    def ratio(self) -> tuple[int, int]:
        """Rows of x to rows of y, in lowest terms."""
        raise NotImplementedError

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of tables."""
        raise NotImplementedError

    @property
    def n_used(self) -> int:
        """Rows in pairs, of both samples."""
        return self.counts()["n_used"]

    def update(self, x: Any = None, y: Any = None) -> None:
        """Take in a batch of rows; either may be empty or None.

        A batch that is refused leaves everything as it was.

        Parameters
        ----------
        x, y : array_like or table, shape (n, p) and (m, p)
            The rows, of any number.
        """
        raise NotImplementedError

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The accumulator that `save` wrote."""
        return cls._restored(path)


def check_encoding(encoding: Any) -> None:
    """Check that a given encoding is one."""
    if encoding is not None and not isinstance(encoding, Encoding):
        raise InputError(
            f"`encoding` must be an Encoding, as `fit_encoding` gives it, got {encoding!r}."
        )


def two_sides(
    x: Any, y: Any, encoding: Encoding | None, width: int | None
) -> tuple[Rows | None, int]:
    """Rows of x and of y, checked, and how many were left out; None if there are none."""
    sides, omitted = [], 0
    for value, name in ((x, "x"), (y, "y")):
        rows: Array | Any = value
        if encoding is not None and value is not None:
            rows = encoding.encode(value, name)
            omitted += as_frame(value, name).n_rows - len(rows)
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
