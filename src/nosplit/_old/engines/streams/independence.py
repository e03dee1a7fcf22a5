"""Independence tests of streams.

Observations become sums of products of features of x and of every shift of y, in small units that
follow one another; a draw picks a shift for each block of units. Accumulators of parts of the data
add up to that of the whole.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from nosplit._checks import Seed
from nosplit._old.engines.families.independence import check_unit_size
from nosplit._old.engines.streams.base import LIMIT, Accumulator
from nosplit._old.engines.streams.batches import StreamBatch, batch_rows, kept_together
from nosplit._old.engines.streams.blocks import Observations
from nosplit._old.engines.streams.moments import MomentsAccumulator
from nosplit._old.engines.streams.state import Rows
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import Encoding
from nosplit.errors import InputError
from nosplit.inference.questions import INDEPENDENCE
from nosplit.kernels.recipes import check_looks_at
from nosplit.kernels.tensor import TensorBank, TensorKernels, tensor_kernels

__all__ = [
    "AdjacentIndependence",
    "IndependenceAccumulator",
    "check_given_tensors",
    "observed_batch",
]


class IndependenceAccumulator(Accumulator):
    """An independence test of a stream of observations (x, y).

    Units are made of consecutive observations, and blocks of consecutive units; a long stream has
    128 to 256 blocks of units of 8. y is shifted inside all units of a block, by the same number of
    places: the test is exact if the rows of one variable are independent. This is assumed: serial
    dependence of both variables is not checked, and makes p-values too small. Rows sorted by x have
    little to compare inside units: shuffle them first.

    Parameters
    ----------
    kernels : None, sequence of pairs of kernels, or callable
        As in `independence_test`. Bandwidths and scales come from the first 1,000 observations,
        then they are fixed; accumulators that are to be added must have the same (`like`).
    unit_size : int
        Observations to a unit.
    pairs : "sketch", Sketch or "adjacent"
        `Sketch(cells=…, frequencies=…)` says how many blocks of a long stream there are, and how
        well kernels are approximated. "adjacent" is the paper's estimate on the pairs (2i, 2i + 1)
        of units instead, with its closed form: it finds far less.
    limit : int
        Observations that may wait.
    encodings : pair of Encoding, optional
        How tables become numbers; by default found from the first rows, if those are tables.
    discrete : pair of bool, optional
        Whether x and y name categories; by default as in the first batch.
    rng : int, Generator or None
        Picks the frequencies and the draws.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> acc = IndependenceAccumulator()
    >>> for _ in range(10):
    ...     x = rng.normal(size=600)
    ...     acc.update(x, 0.1 * x + rng.normal(size=600))
    >>> res = acc.result()
    >>> res.reject(0.01), res.how.calibration
    (True, 'exact')
    """

    family = "independence"
    question = INDEPENDENCE

    def __new__(
        cls,
        kernels: TensorKernels = None,
        *,
        unit_size: int = 8,
        pairs: Pairing | str = "sketch",
        limit: int = LIMIT,
        encodings: tuple[Encoding | None, Encoding | None] = (None, None),
        discrete: tuple[bool, bool] | None = None,
        rng: Seed = 0,
    ) -> Self:
        """Make an accumulator of the class for these pairs."""
        new: Self = object.__new__(cls._kind(pairs))
        return new

    @classmethod
    def _sketch_or_adjacent(cls) -> tuple[type[Any], type[Any]]:
        from nosplit._old.engines.streams.sketches.independence import IndependenceSketch

        return IndependenceSketch, AdjacentIndependence

    @property
    def unit_size(self) -> int:
        """Observations to a unit."""
        raise NotImplementedError

    def update(self, x: Any, y: Any) -> None:
        """Take in a batch of observations.

        Parameters
        ----------
        x, y : array_like or table, shape (n, p) and (n, r)
            The variables, one observation a row. Strings, booleans and other categories are
            compared for equality; a variable that is one in the first batch must stay one.
        """
        raise NotImplementedError

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The accumulator that `save` wrote."""
        return cls._restored(path)

    def _n_rows(self, sides: Rows | None) -> int:
        return len(sides[0]) if sides else 0


Encodings = tuple[Encoding | None, ...]


class ObservedBatch(NamedTuple):
    """A batch of both variables, or None if it has no rows, and what is known of them."""

    rows: Rows | None
    encodings: Encodings
    discrete: tuple[bool, bool]
    n_omitted: int


def observed_batch(
    x: Any,
    y: Any,
    encodings: Encodings,
    discrete: tuple[bool, bool] | None,
    widths: Sequence[int | None],
    *,
    first: bool,
) -> ObservedBatch:
    """Both variables as numbers, checked."""
    kept = kept_together((x, y), encodings)
    sides = [
        StreamBatch.of(value, name, encoding, first=first, kept=kept)
        for value, name, encoding in zip((x, y), ("x", "y"), encodings, strict=True)
    ]
    one, two = (batch_rows(s.rows, s.name, w) for s, w in zip(sides, widths, strict=True))
    if (0 if one is None else len(one)) != (0 if two is None else len(two)):
        raise InputError("`x` and `y` must have as many rows, observed together.")
    omitted = 0 if kept is None else int(np.count_nonzero(~kept))
    found = sides[0].discrete, sides[1].discrete
    if one is None or two is None:
        return ObservedBatch(None, encodings, found, omitted)
    if discrete not in (None, found):
        raise InputError(
            "`x` and `y` must be numbers or categories as before, got "
            f"{' and '.join('categories' if c else 'numbers' for c in found)}."
        )
    return ObservedBatch((one, two), (sides[0].encoding, sides[1].encoding), found, omitted)


def check_given_tensors(kernels: Any, encodings: Encodings) -> None:
    """Check that kernels that were given look at categories as such."""
    given = kernels if isinstance(kernels, list | tuple) else ()
    for tensor in tensor_kernels(given, 1.0, 1.0, discrete=(False, False)) if given else ():
        for kernel, encoding in zip((tensor.x, tensor.y), encodings, strict=True):
            if encoding is not None and encoding.categorical:
                check_looks_at(kernel, encoding.categorical)


class AdjacentIndependence(MomentsAccumulator, IndependenceAccumulator):
    """Moments of adjacent pairs of units: `IndependenceAccumulator(pairs="adjacent")`."""

    def __init__(
        self,
        kernels: TensorKernels = None,
        *,
        unit_size: int = 8,
        pairs: Pairing | str = "adjacent",
        limit: int = LIMIT,
        encodings: tuple[Encoding | None, Encoding | None] = (None, None),
        discrete: tuple[bool, bool] | None = None,
        rng: Seed = 0,
    ) -> None:
        flags = (False, False) if discrete is None else (bool(discrete[0]), bool(discrete[1]))
        bank = None
        if kernels is not None and not callable(kernels):
            bank = TensorBank(tensor_kernels(kernels, 1.0, 1.0, discrete=flags))
        family = Observations(kernels, check_unit_size(unit_size), flags)
        super().__init__(family, kernels, bank, limit)
        self._discrete = None if discrete is None else flags
        self._encodings: Encodings = encodings
        if discrete is not None:
            self._flow = replace(self._flow, family=self._family(encodings, flags))

    @property
    def unit_size(self) -> int:
        """Observations to a unit."""
        return self._flow.family.sizes[0]

    @classmethod
    def _like(cls, other: Self) -> Self:
        return cls(
            other._given if other.kernels is None else other.kernels,
            unit_size=other.unit_size,
            limit=other._flow.limit,
            encodings=other._encodings,  # type: ignore[arg-type]
            discrete=other._discrete,
        )

    def update(self, x: Any, y: Any) -> None:
        """Take in a batch of observations."""
        waiting = self._state.waiting
        first = waiting is None
        widths = [None, None] if waiting is None else [side.shape[1] for side in waiting]
        found = observed_batch(x, y, self._encodings, self._discrete, widths, first=first)
        state = replace(self._state, n_omitted=self._state.n_omitted + found.n_omitted)
        if found.rows is None:
            self._state = state
            return
        flow = self._flow
        if first:
            flow = replace(flow, family=self._family(found.encodings, found.discrete))
        self._state = flow.feed(state, found.rows)
        self._flow, self._discrete, self._encodings = flow, found.discrete, found.encodings

    def _family(self, encodings: Encodings, discrete: tuple[bool, bool]) -> Observations:
        """The family of units, once the kinds of the variables are known."""
        kinds = [
            flag if encoding is None else encoding.parts
            for encoding, flag in zip(encodings, discrete, strict=True)
        ]
        check_given_tensors(self.kernels, encodings)
        return Observations(self._given, self.unit_size, (kinds[0], kinds[1]))

    def __iadd__(self, other: Self) -> Self:
        took = super().__iadd__(other)
        if took is self and self._discrete is None and other._discrete is not None:
            self._discrete, self._encodings = other._discrete, other._encodings
        return took

    def _settings(self) -> dict[str, Any]:
        known = self._discrete is not None or self._encodings != (None, None)
        encodings = [None if e is None else e.to_dict() for e in self._encodings]
        discrete = None if self._discrete is None else list(self._discrete)
        return {
            "unit_size": self.unit_size,
            "discrete": discrete,
            "encodings": encodings if known else None,
        }

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        given = settings["encodings"]
        x, y = (None, None) if given is None else given
        encodings = tuple(None if side is None else Encoding.from_dict(side) for side in (x, y))
        return {**settings, "encodings": encodings}

    def _described(self, state: Any) -> dict[str, Any]:
        some = [encoding for encoding in self._encodings if encoding is not None]
        names = tuple(name for encoding in some for name in encoding.names)
        return {"columns": names or None, "encoding": self._encodings if some else None}
