"""The rows that an explanation looks at: drawn at random, as numbers and as they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._errors import InputError
from nosplit._validation import check_finite, check_sample
from nosplit.results import TestResult

__all__ = ["Sampled", "draw_rows", "encoded", "group_names"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Rows of a sample that are looked at, and numbers in them.
MOST_ROWS, MOST_NUMBERS = 250_000, 1 << 22


def encoded(res: TestResult, sample: Any, name: str, smallest: int) -> NDArray[Any]:
    """A sample as the numbers that the test saw."""
    encoding = getattr(res, "encoding", None)
    if encoding is not None:
        sample = encoding.encode(sample)
    return check_sample(sample, name, smallest=smallest)


def group_names(res: TestResult, width: int) -> dict[str, Sequence[int]]:
    """The columns of the encoded rows that belong to each named column."""
    encoding, columns = getattr(res, "encoding", None), getattr(res, "columns", None)
    if encoding is not None:
        return dict(zip(encoding.names, encoding.groups, strict=True))
    names = columns or [f"column {i}" for i in range(width)]
    if len(names) != width:
        raise InputError(
            f"`x` and `y` must have the columns of `res`, {len(names)} of them, got {width}."
        )
    return {name: (i,) for i, name in enumerate(names)}


def draw_rows(sample: NDArray[Any], rng: np.random.Generator) -> tuple[Index, NDArray[Any]]:
    """Whole rows in random order: their positions, and what is in them; no more than fit."""
    n, width = sample.shape
    size = min(n, MOST_ROWS, max(2000, MOST_NUMBERS // width))
    index = rng.choice(n, size, replace=False)
    rows = np.take(sample, index, axis=0)
    check_finite(rows, "the samples")
    return index, rows


@dataclass(frozen=True, eq=False)
class Sampled:
    """Rows of one sample that were looked at.

    Attributes
    ----------
    index : array of int, shape (k,)
        Their positions in the sample, from 0.
    rows : array, shape (k, width)
        The numbers that the test saw.
    witness : array, shape (k,)
        The witness function there, each row left out of its own sample's mean.
    values : tuple of arrays, each (k,)
        The columns as they came, one array each.
    """

    index: Index
    rows: NDArray[Any]
    witness: Array
    values: tuple[NDArray[Any], ...]

    @classmethod
    def of(
        cls, res: TestResult, sample: Any, index: Index, rows: NDArray[Any], witness: Array
    ) -> Sampled:
        """Rows of a sample, with what was in them before they became numbers."""
        return cls(index, rows, witness, tuple(rows.T))

    def row(self, place: int, names: Sequence[str]) -> dict[str, Any]:
        """The values of one of the rows, by the names of their columns."""
        values = (column[place] for column in self.values)
        return {name: _plain(v) for name, v in zip(names, values, strict=True)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
