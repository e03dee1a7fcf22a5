"""Blocks of units on a Dask cluster, or on whatever scheduler Dask is set to.

A block is cut where a partition of the larger sample ends, so that most rows stay where they are.
The graph is the record of what was counted: a task that is run again, because its worker died,
takes the place of the first and enters the sum once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate as running_sum
from typing import Any

import numpy as np
from dask import array, dataframe
from dask.base import compute
from dask.delayed import delayed
from numpy.typing import NDArray

from nosplit.data.options import Options
from nosplit.engines.clusters.layout import Block, overlaps
from nosplit.engines.clusters.parts import FAN_IN, Part, Task, changed
from nosplit.engines.clusters.two_sample import (
    Cluster,
    Found,
    Numbers,
    Reader,
    cluster_test,
    settled,
)
from nosplit.errors import InputError
from nosplit.kernels.recipes import Kernels
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing

__all__ = ["DaskCluster", "Partitions", "dask_test"]


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a sample in their order, not computed, and what was counted in them.

    Parameters
    ----------
    name : str
        Name of the sample.
    parts : tuple of Delayed
        The partitions; where rows are left out, without these.
    lengths : tuple of int
        Their numbers of rows.
    left_out : int
        Rows left out, because something in them is missing.
    missing : frozenset of str
        Columns in which something is missing, if that was asked for.
    """

    name: str
    parts: tuple[Any, ...]
    lengths: tuple[int, ...]
    left_out: int = 0
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, sample: Any, name: str, options: Options) -> Partitions:
        """The partitions of a Dask array (n, p) or data frame; rows are counted if need be."""
        table = not isinstance(sample, array.Array)
        # Taken once: made again with other columns, a frame may have other partitions.
        delays = sample.to_delayed() if table else sample.rechunk({1: -1}).to_delayed().ravel()
        parts, policy = tuple(delays), options.nan_policy
        if policy == "raise" and not (table or np.isnan(sample.chunks[0]).any()):
            return cls(name, parts, tuple(int(n) for n in sample.chunks[0]))
        kept = parts
        if policy == "omit":
            places = [int(i) for i in options.columns or ()] if not table else []
            kept = tuple(delayed(_complete)(part, places) for part in parts)
        looks = [delayed(_look)(*both, policy) for both in zip(parts, kept, strict=True)]
        (found,) = compute(looks)
        before, lengths, missing = zip(*found, strict=True)
        left_out = sum(before) - sum(lengths)
        return cls(name, kept, lengths, left_out, frozenset().union(*missing))

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    @cached_property
    def firsts(self) -> list[int]:
        """Position of the first row of each partition, and of the end."""
        return list(running_sum(self.lengths, initial=0))

    def places(self, runs: Iterable[range]) -> list[tuple[int, range]]:
        """Where runs of rows lie: number of the partition, and rows of it."""
        return [place for run in runs for place in overlaps(run, self.lengths)]

    def raw(self, runs: Iterable[range]) -> list[Any]:
        """Runs of rows as they are, in pieces."""
        return [
            delayed(_piece)(self.parts[k], rows, self.lengths[k]) for k, rows in self.places(runs)
        ]

    def numbers(self, runs: Iterable[range], reader: Any) -> list[Any]:
        """Runs of rows as numbers, in pieces; made where the partition is."""
        return [
            delayed(_numbers)(
                self.parts[k], rows, self.lengths[k], reader, self.name, self.firsts[k]
            )
            for k, rows in self.places(runs)
        ]


def _look(part: Any, kept: Any, policy: str) -> tuple[int, int, set[str]]:
    """Rows of a partition, rows of it that are kept, and columns with missing values."""
    missing: set[str] = set()
    if policy == "indicate":
        missing = {str(name) for name, some in zip(*_gaps(part), strict=True) if some}
    return len(part), len(kept), missing


def _gaps(part: Any) -> tuple[Iterable[Any], NDArray[np.bool_]]:
    """Names of columns, and whether something in them is missing."""
    if hasattr(part, "isna"):
        return part.columns, np.asarray(part.isna().any(axis=0))
    return range(part.shape[1]), np.isnan(part).any(axis=0)


def _complete(part: Any, places: list[int]) -> Any:
    """The rows in which nothing is missing; of an array, in the columns at some places."""
    if hasattr(part, "dropna"):
        return part.dropna()
    return part[~np.isnan(part[:, places]).any(axis=1)]


def _piece(part: Any, rows: range, counted: int) -> Any:
    """Some of the rows of a partition, which must have as many as were counted."""
    if len(part) != counted:
        raise changed(f"got {len(part):,} in a partition where {counted:,} were")
    if len(rows) == len(part):
        return part
    cut = slice(rows.start, rows.stop)
    return part.iloc[cut] if hasattr(part, "iloc") else part[cut]


def _numbers(
    part: Any, rows: range, counted: int, reader: Reader, name: str, first: int
) -> NDArray[Any]:
    return reader(_piece(part, rows, counted), name, first + rows.start)


@dataclass(frozen=True, eq=False)
class DaskCluster(Cluster[Partitions]):
    """Two samples in partitions of Dask."""

    def read(self, x: Sequence[range], y: Sequence[range]) -> tuple[Any, Any]:
        """A few runs of rows of each sample, brought here, as they are."""
        found = compute(self.x.raw(x), self.y.raw(y))
        return _together(found[0]), _together(found[1])

    def cuts(self, width: int) -> list[int]:
        """Units at which partitions of the larger sample end; of equal ones, the more cut up."""
        samples = self.samples
        sides = (self.x, self.y)
        most = max(sides, key=lambda side: (side.n, len(side.lengths)))
        return [samples.unit_at(first) for first in most.firsts]

    def total(self, task: Task, blocks: Sequence[Block], reader: Reader) -> Part:
        """The sum of what the blocks give, by a tree of tasks."""
        shared = [delayed(thing, pure=False, traverse=False) for thing in (task, reader)]
        parts = [self._part(block, *shared) for block in blocks]
        while len(parts) > 1:
            groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
            parts = [delayed(Part.total)(group) for group in groups]
        (part,) = compute(parts[0])
        return part  # type: ignore[no-any-return]

    def _part(self, block: Block, task: Any, reader: Any) -> Any:
        x, y = zip(*(self.samples.rows(run) for run in block.runs), strict=True)
        pieces = self.x.numbers(x, reader), self.y.numbers(y, reader)
        return delayed(_block_part)(task, *pieces, block)


def _block_part(task: Task, x: list[NDArray[Any]], y: list[NDArray[Any]], block: Block) -> Part:
    return task.part(_together(x), _together(y), block)


def _together(pieces: Sequence[Any]) -> Any:
    """Pieces of arrays, or of data frames, as one."""
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return dataframe.dispatch.concat(pieces)


def dask_test(
    x: Any,
    y: Any,
    options: Options,
    *,
    kernels: Kernels,
    method: Method | str,
    pairs: Pairing | str | int,
) -> Found:
    """Test two Dask arrays, or two Dask data frames."""
    x, y = _as_sample(x, "x"), _as_sample(y, "y")
    tables = [isinstance(sample, dataframe.DataFrame) for sample in (x, y)]
    if tables[0] != tables[1]:
        raise InputError("`x` and `y` must both be Dask arrays or both be Dask data frames.")
    reader = None
    if options.idle and not tables[0]:
        reader = Numbers("float32" if x.dtype == y.dtype == np.float32 else "float64")
    options = settled(_empty(x), _empty(y), options)
    if tables[0]:
        x, y = _picked(x, options), _picked(y, options)
    cluster = DaskCluster(Partitions.of(x, "x", options), Partitions.of(y, "y", options))
    return cluster_test(cluster, options, reader, kernels=kernels, method=method, pairs=pairs)


def _empty(sample: Any) -> Any:
    """Its columns, without rows."""
    return sample._meta if hasattr(sample, "_meta_nonempty") else np.empty((0, sample.shape[1]))


def _picked(frame: Any, options: Options) -> Any:
    """The columns of a data frame that are asked for; names may be other things than strings."""
    known = {str(name): name for name in frame.columns}
    return frame[[known[name] for name in options.columns or ()]]


def _as_sample(sample: Any, name: str) -> Any:
    """A Dask array (n, p), or a Dask data frame."""
    if isinstance(sample, dataframe.DataFrame):
        return sample
    if not isinstance(sample, array.Array):
        raise InputError(
            f"`{name}` must be a Dask array or a Dask data frame, got {type(sample).__name__}. "
            "For data in memory, use `nosplit.two_sample_test`."
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
