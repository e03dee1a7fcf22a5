"""Sums of cells of samples on a Dask cluster, or on whatever scheduler Dask is set to.

The graph is the record of what was summed: a task that is run again, because its worker died,
takes the place of the first and enters the sum once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from dask import array, dataframe
from dask.base import compute
from dask.delayed import delayed

from nosplit._old.engines.clusters.two_sample import FAN_IN, total
from nosplit._old.engines.reading import changed, settled_columns
from nosplit._old.engines.sketching.task import Census, SketchTask
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.backend.threads import one_blas_thread
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["DaskPair", "Partitions", "dask_pair"]


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a sample in their order, not computed, and what was counted in them.

    Parameters
    ----------
    parts : tuple of Delayed
        The partitions; where rows are left out, without these.
    lengths : tuple of int
        Their numbers of rows.
    left_out : int
        Rows left out, because something in them is missing.
    missing : mapping of str to int
        How many values of each column are missing, if that was asked for.
    """

    parts: tuple[Any, ...]
    lengths: tuple[int, ...]
    left_out: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sample: Any, options: Options) -> Partitions:
        """The partitions of a Dask array (n, p) or data frame; rows are counted if need be."""
        table = not isinstance(sample, array.Array)
        # Taken once: made again with other columns, a frame may have other partitions.
        delays = sample.to_delayed() if table else sample.rechunk({1: -1}).to_delayed().ravel()
        parts, policy = tuple(delays), options.nan_policy
        if policy == "raise" and not (table or np.isnan(sample.chunks[0]).any()):
            return cls(parts, tuple(int(n) for n in sample.chunks[0]))
        kept = parts
        if policy == "omit":
            places = [int(i) for i in options.columns or ()] if not table else []
            kept = tuple(delayed(_without_missing)(part, places) for part in parts)
        looks = [delayed(_look)(*both, policy) for both in zip(parts, kept, strict=True)]
        (found,) = compute(looks)
        before, lengths, missing = zip(*found, strict=True)
        left_out = sum(before) - sum(lengths)
        return cls(kept, lengths, left_out, sum(missing, Counter()))

    @property
    def census(self) -> Census:
        """Counts of the rows and their columns."""
        return Census(sum(self.lengths), self.left_out, self.missing)

    @cached_property
    def firsts(self) -> Index:
        """Number of the first row of each partition, and of the end."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def pick(self, rows: Index) -> list[Any]:
        """Rows of given numbers, ascending, in pieces; partitions without any are not read."""
        cuts = np.searchsorted(rows, self.firsts)
        return [
            delayed(_picked_rows)(part, rows[start:stop] - first, length)
            for part, first, length, start, stop in zip(
                self.parts, self.firsts, self.lengths, cuts, cuts[1:], strict=False
            )
            if stop > start
        ]

    def sums(self, task: Any, side: int) -> Any:
        """The sketch, as the end of a tree of tasks."""
        sums = [
            delayed(_part_sums)(task, side, part, int(first), length)
            for part, first, length in zip(self.parts, self.firsts, self.lengths, strict=False)
            if length
        ]
        while len(sums) > 1:
            groups = [sums[i : i + FAN_IN] for i in range(0, len(sums), FAN_IN)]
            sums = [delayed(total)(group) for group in groups]
        return sums[0]


def _look(part: Any, kept: Any, policy: str) -> tuple[int, int, Counter[str]]:
    """Rows of a partition, rows of it that are kept, and how much is missing in columns."""
    missing: Counter[str] = Counter()
    if policy == "indicate":
        if hasattr(part, "isna"):
            names, gaps = part.columns, np.asarray(part.isna().sum(axis=0))
        else:
            names, gaps = range(part.shape[1]), np.isnan(part).sum(axis=0)
        missing.update({str(name): int(count) for name, count in zip(names, gaps, strict=True)})
    return len(part), len(kept), missing


def _without_missing(part: Any, places: list[int]) -> Any:
    """The rows in which nothing is missing; of an array, in the columns at some places."""
    if hasattr(part, "dropna"):
        return part.dropna()
    return part[~np.isnan(part[:, places]).any(axis=1)]


def _check_partition(part: Any, counted: int) -> None:
    if len(part) != counted:
        raise changed(f"got {len(part):,} in a partition where {counted:,} were")


def _picked_rows(part: Any, rows: Index, counted: int) -> Any:
    """Some of the rows of a partition, which must have as many as were counted."""
    _check_partition(part, counted)
    return part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def _part_sums(task: SketchTask, side: int, part: Any, first: int, counted: int) -> CellSums:
    """The sketch of a partition, by one thread: a cluster has its own."""
    _check_partition(part, counted)
    sums = task.empty(side)
    with one_blas_thread():
        task.add(sums, side, part, first)
    return sums


@dataclass(frozen=True, eq=False)
class DaskPair:
    """Two samples in partitions of Dask."""

    x: Partitions
    y: Partitions
    names: tuple[str, str] = ("x", "y")

    def census(self) -> tuple[Census, Census]:
        """Counts of the rows and their columns, of both samples."""
        return self.x.census, self.y.census

    def pilot(self, x: Index, y: Index) -> tuple[Any, Any]:
        """Rows of given numbers, brought here."""
        found = compute(self.x.pick(x), self.y.pick(y))
        return _together(found[0]), _together(found[1])

    def sums(self, task: SketchTask) -> tuple[CellSums, CellSums]:
        """The sketches of both, made where the rows are."""
        shared = delayed(task, pure=False, traverse=False)
        x, y = compute(self.x.sums(shared, 0), self.y.sums(shared, 1))
        return x, y


def _together(pieces: Sequence[Any]) -> Any:
    """Pieces of arrays, or of data frames, as one."""
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return dataframe.dispatch.concat(pieces)


def dask_pair(x: Any, y: Any, options: Options) -> tuple[DaskPair, Options]:
    """Two Dask arrays, or two Dask data frames, counted; columns are named one by one."""
    x, y = _dask_sample(x, "x"), _dask_sample(y, "y")
    tables = [isinstance(sample, dataframe.DataFrame) for sample in (x, y)]
    if tables[0] != tables[1]:
        raise InputError("`x` and `y` must both be Dask arrays or both be Dask data frames.")
    options = settled_columns(_dask_columns(x), _dask_columns(y), options)
    if tables[0]:
        x, y = _picked_columns(x, options), _picked_columns(y, options)
    return DaskPair(Partitions.of(x, options), Partitions.of(y, options)), options


def _dask_columns(sample: Any) -> Any:
    """Its columns, without rows."""
    return sample._meta if hasattr(sample, "_meta_nonempty") else np.empty((0, sample.shape[1]))


def _picked_columns(frame: Any, options: Options) -> Any:
    """The columns of a data frame that are asked for; names may be other things than strings."""
    known = {str(name): name for name in frame.columns}
    return frame[[known[name] for name in options.columns or ()]]


def _dask_sample(sample: Any, name: str) -> Any:
    """A Dask array (n, p), or a Dask data frame."""
    if isinstance(sample, dataframe.DataFrame):
        return sample
    if not isinstance(sample, array.Array):
        raise InputError(
            f"`{name}` must be a Dask array or a Dask data frame, got {type(sample).__name__}. "
            "Both samples must be on the cluster, or both in memory."
        )
    if sample.ndim == 1:
        sample = sample[:, None]
    if sample.ndim != 2:
        raise InputError(
            f"`{name}` must be a vector or an (n, p) array, got {sample.ndim} dimensions."
        )
    if sample.dtype.kind not in "biuf":
        raise InputError(f"`{name}` must hold real numbers, got dtype {sample.dtype}.")
    return sample
