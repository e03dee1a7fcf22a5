"""Several samples → rows of numbers: given one by one, or as rows with a label each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._old.data.files.whole import read_if_path
from nosplit._types import Index
from nosplit.data.encoding import Encoding, Mask
from nosplit.data.fit_encoding import Read
from nosplit.data.frames import as_frame, is_table
from nosplit.data.matching import matched, picked
from nosplit.data.options import Options
from nosplit.data.samples import count_out
from nosplit.errors import InputError
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe

__all__ = ["SeveralSamples", "several_samples", "split_rows"]


@dataclass(frozen=True, eq=False)
class SeveralSamples:
    """Samples as rows of numbers, with names.

    Attributes
    ----------
    names : tuple of str
        What they are called.
    rows : list of arrays, each of shape (n, p)
        Their rows.
    encoding : Encoding or None
        How tables became rows.
    left_out : int
        Rows left out.
    """

    names: tuple[str, ...]
    rows: list[NDArray[Any]]
    encoding: Encoding | None = None
    left_out: int = 0

    def __post_init__(self) -> None:
        if len(self.rows) < 2:
            raise InputError(f"`samples` must be at least 2, got {len(self.rows)}.")
        for name, rows in zip(self.names, self.rows, strict=True):
            if len(rows) < 2:
                raise InputError(
                    f"`samples` must have at least 2 rows each, got {len(rows)} in {name!r}."
                )

    @property
    def sizes(self) -> Index:
        """Rows of each."""
        return np.array([len(rows) for rows in self.rows], dtype=np.int64)

    @property
    def p(self) -> int:
        """Columns of a row."""
        return int(self.rows[0].shape[1])

    def recipe(self, kernels: Kernels) -> Recipe:
        """Kernels for the rows, as `kernels=` asks for them."""
        return as_recipe(kernels) if self.encoding is None else self.encoding.recipe(kernels)


def several_samples(samples: Any, options: Options) -> SeveralSamples:
    """Samples that are given one by one: a sequence, or a mapping from their names."""
    if isinstance(samples, Mapping):
        names, values = tuple(map(str, samples)), list(samples.values())
    elif isinstance(samples, list | tuple):
        names, values = tuple(map(str, range(len(samples)))), list(samples)
    else:
        raise InputError(
            "`samples` must be a list of samples, a mapping of them by name, or rows with labels: "
            f"k_sample_test(rows, labels). Got {type(samples).__name__}."
        )
    values = [read_if_path(value) for value in values]
    if len(values) < 2:
        raise InputError(f"`samples` must be at least 2, got {len(values)}.")
    if options.idle and not any(map(is_table, values)):
        return SeveralSamples(names, _checked_arrays(values, names))
    frames = [as_frame(value, f"sample {name}") for value, name in zip(values, names, strict=True)]
    where = [matched(frames[0], f, options.columns, options.exclude) for f in frames[1:]]
    read = Read.of(frames, [where[0][0], *(theirs for _, theirs in where)], options)
    encoding = _encoding(read)
    return SeveralSamples(names, list(read.rows(encoding)), encoding, count_out(read.kept))


def _checked_arrays(values: Sequence[Any], names: Sequence[str]) -> list[NDArray[Any]]:
    rows = [check_sample(v, f"sample {name}") for v, name in zip(values, names, strict=True)]
    for own, name in zip(rows, names, strict=True):
        check_finite(own, f"sample {name}")
        if own.shape[1] != rows[0].shape[1]:
            raise InputError(
                "`samples` must have the same number of columns, got "
                f"{rows[0].shape[1]} in {names[0]!r} and {own.shape[1]} in {name!r}."
            )
    return rows


def _encoding(read: Read) -> Encoding:
    encoding = read.encoding()
    if encoding.idle:
        raise InputError(
            "`samples` hold nothing to compare: every column is constant, or holds categories that "
            "are all different."
        )
    return encoding


def split_rows(rows: Any, options: Options) -> tuple[NDArray[Any], Encoding | None, Mask]:
    """Rows of all samples together as numbers, and which of them are not left out."""
    if options.idle and not is_table(rows):
        found = check_sample(rows, "rows")
        check_finite(found, "rows")
        return found, None, np.ones(len(found), np.bool_)
    frame = as_frame(rows, "rows")
    read = Read.of([frame], [picked(frame, options.columns, options.exclude)], options)
    encoding = _encoding(read)
    return read.rows(encoding)[0], encoding, read.kept[0]
