"""Several samples in memory as rows of numbers: given one by one, or as rows with labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite, check_sample
from nosplit._types import Array, Index
from nosplit.data.encoding import Encoding, Mask
from nosplit.data.fit_encoding import Read
from nosplit.data.frames import as_frame, is_table
from nosplit.data.labels import RowLabels, is_name, labels_of_both, labels_of_sample, named_in
from nosplit.data.matching import matched, picked
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["SampledRows", "rows_of_samples", "rows_with_labels"]


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows of several samples as numbers, one sample after the other.

    Attributes
    ----------
    names : tuple of str
        Names of the samples.
    rows : array, shape (N, p)
        The rows.
    label : array of int, shape (N,)
        Sample of each row.
    given : sequence
        The samples as they came, or all rows with labels.
    kept : sequence of array of bool
        For each that was given, the rows in which nothing is missing.
    place : array of int, shape (N,)
        Number of each row among those that were given.
    encoding : Encoding or None
        How tables became rows; None for arrays as they came.
    n_rows : int
        Number of rows that were given.
    """

    names: tuple[str, ...]
    rows: Array
    label: Index
    given: Sequence[Any]
    kept: Sequence[Mask]
    place: Index
    encoding: Encoding | None
    n_rows: int

    def __post_init__(self) -> None:
        for name, n in zip(
            self.names, np.bincount(self.label, minlength=len(self.names)).tolist(), strict=True
        ):
            if n < 2:
                raise InputError(f"`samples` must have at least 2 rows each, got {n} in {name!r}.")

    @property
    def samples(self) -> list[Array]:
        """The rows of each sample."""
        return self.split(self.rows)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Split values of the rows by sample."""
        return np.split(values, np.searchsorted(self.label, range(1, len(self.names))))

    def some(self, samples: Sequence[int], rows: Index) -> SampledRows:
        """Some of the samples, of which the rows have these numbers."""
        return replace(
            self,
            names=tuple(self.names[k] for k in samples),
            rows=self.rows[rows],
            label=np.searchsorted(samples, self.label[rows]),
            place=self.place[rows],
            n_rows=len(rows),
        )

    def labels(self, labels: Any, keyword: str, policy: str) -> RowLabels:
        """Read strata or groups of the rows: a column, or sequences as the samples were given."""
        if len(self.given) == 1:
            found = labels_of_sample(labels, self.given[0], self.kept[0], policy, keyword)
        else:
            called = [*map(_called, self.names)]
            found = labels_of_both(labels, self.given, self.kept, keyword, policy, called)
        codes = np.full(self.n_rows, -1)
        codes[np.concatenate(self.kept)] = found.codes
        return RowLabels(codes[self.place], found.names)


def rows_of_samples(samples: Any, options: Options, labelled: Mapping[str, str]) -> SampledRows:
    """Read samples that are given one by one: a sequence, or a mapping from their names.

    Columns that are `labelled` hold strata or groups: the keyword by the name of the column.
    """
    if not isinstance(samples, Mapping | list | tuple):
        raise InputError(
            "`samples` must be a list of samples, a mapping of them by name, or rows with labels: "
            f"k_sample_test(rows, labels). Got {type(samples).__name__}."
        )
    known = samples if isinstance(samples, Mapping) else dict(enumerate(samples))
    if len(known) < 2:
        raise InputError(f"`samples` must be at least 2, got {len(known)}.")
    names, values = tuple(map(str, known)), [*known.values()]
    parts, kept, encoding = _numbers(values, [*map(_called, names)], options, labelled)
    label = np.repeat(np.arange(len(parts)), [*map(len, parts)])
    rows, n_rows = np.concatenate(parts).astype(np.float64, copy=False), sum(map(len, kept))
    place = np.flatnonzero(np.concatenate(kept))
    return SampledRows(names, rows, label, values, kept, place, encoding, n_rows)


def rows_with_labels(
    rows: Any, labels: Any, options: Options, labelled: Mapping[str, str], policy: str
) -> SampledRows:
    """Split rows by their labels, in the order in which these first come."""
    labelled = {labels: "labels", **labelled} if is_name(labels) else labelled
    (numbers,), (kept,), encoding = _numbers([rows], ["rows"], options, labelled)
    found = labels_of_sample(labels, rows, kept, policy)
    names = tuple(map(str, found.names))
    if len(names) < 2:
        raise InputError(f"`labels` must name at least 2 samples, got only {names[0]!r}.")
    order = np.argsort(found.codes, kind="stable")
    order = order[np.count_nonzero(found.codes < 0) :]
    label, numbers = found.codes[order], numbers[order].astype(np.float64, copy=False)
    place = np.flatnonzero(kept)[order]
    return SampledRows(names, numbers, label, [rows], [kept], place, encoding, len(kept))


def _called(name: str) -> str:
    return f"sample {name}"


def _numbers(
    values: Sequence[Any], names: Sequence[str], options: Options, labelled: Mapping[str, str]
) -> tuple[list[NDArray[Any]], list[Mask], Encoding | None]:
    """Rows of numbers of each value, masks of those that are kept, and how they were made."""
    for column, keyword in labelled.items():
        named_in(column, tuple(zip(names, values, strict=True)), keyword)
    options = options.leaving_out(labelled)
    if options.idle and not any(map(is_table, values)):
        arrays = [check_sample(value, name) for value, name in zip(values, names, strict=True)]
        for own, name in zip(arrays, names, strict=True):
            check_finite(own, name, "; nan_policy='omit' leaves out rows with nan")
            if own.shape[1] != arrays[0].shape[1]:
                raise InputError(
                    "`samples` must have the same number of columns, got "
                    f"{arrays[0].shape[1]} in `{names[0]}` and {own.shape[1]} in `{name}`."
                )
        return arrays, [np.ones(len(own), np.bool_) for own in arrays], None
    frames = [as_frame(value, name) for value, name in zip(values, names, strict=True)]
    if len(frames) == 1:
        positions = [picked(frames[0], options.columns, options.exclude)]
    else:
        both = [matched(frames[0], own, options.columns, options.exclude) for own in frames[1:]]
        positions = [both[0][0], *(theirs for _, theirs in both)]
    read = Read.of(frames, positions, options)
    encoding = read.encoding()
    if encoding.idle:
        raise InputError(
            "`samples` hold nothing to compare: every column is constant, or holds categories that "
            "are all different."
        )
    return read.rows(encoding), read.kept, encoding
