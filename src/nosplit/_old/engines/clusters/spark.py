"""Sums of cells of samples on Spark, by functions of Arrow batches alone.

Count the rows of each partition; let each partition give the sums of its rows by cell; add these
by a tree. Everything that is summed is a row tagged by its partition, so a task that is run again
(a lost worker, a speculative copy) replaces what it gave before: it cannot count twice.

What is wrong with the data travels as a row too: Spark would try an exception four times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as sql

from nosplit._old.engines.clusters.two_sample import FAN_IN, total
from nosplit._old.engines.reading import changed, settled_columns
from nosplit._old.engines.sketching.task import Census, SketchTask
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.backend.threads import one_blas_thread
from nosplit.data.options import Options
from nosplit.errors import InputError

__all__ = ["Counted", "SparkPair", "spark_pair"]

Batches = Iterator[pa.RecordBatch]

# What a partition, or several of them, give.
SUMS = pa.schema([("part", pa.int64()), ("data", pa.binary()), ("complaint", pa.string())])
SUMS_TYPE = "part long, data binary, complaint string"


@dataclass(frozen=True, eq=False)
class Counted:
    """A Spark data frame, and what was counted in its partitions.

    Parameters
    ----------
    name : str
        Name of the sample.
    frame : DataFrame
        The rows, without those left out; columns are called c0, c1, … here.
    columns : tuple of str
        The names they had.
    lengths : tuple of int
        Number of rows in each partition.
    left_out : int
        Rows left out, because something in them is missing.
    missing : mapping of str to int
        How many values of each column are missing, if that was asked for.
    """

    name: str
    frame: Any
    columns: tuple[str, ...]
    lengths: tuple[int, ...]
    left_out: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: Any, name: str, options: Options) -> Counted:
        """Count the rows of each partition of some columns of a data frame."""
        columns, policy = options.columns or (), options.nan_policy
        # `mapInArrow` cannot find columns with dots in their names.
        frame = frame.select([sql.col(quoted(c)).alias(f"c{i}") for i, c in enumerate(columns)])
        kept = frame.na.drop() if policy == "omit" else frame
        gaps = _gaps(frame) if policy == "indicate" else {}
        counts = [sql.count(sql.lit(1)), *(sql.sum(gap.cast("long")) for gap in gaps.values())]
        parts = kept.groupBy(sql.spark_partition_id()).agg(*counts).collect()
        found = {part: n for part, n, *_ in parts}
        lengths = tuple(found.get(k, 0) for k in range(max(found, default=-1) + 1))
        missing = {columns[i]: sum(int(part[2 + k]) for part in parts) for k, i in enumerate(gaps)}
        left_out = frame.count() - sum(lengths) if policy == "omit" else 0
        return cls(name, kept, columns, lengths, left_out, missing)

    @property
    def census(self) -> Census:
        """Counts of the rows and their columns."""
        return Census(sum(self.lengths), self.left_out, self.missing)

    @property
    def firsts(self) -> Index:
        """Number of the first row of each partition, and of the end."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def pick(self, rows: Index) -> pa.Table:
        """Rows of given numbers, ascending, brought here."""
        firsts = self.firsts

        def pick(batches: Batches) -> Batches:
            first, last = _here(firsts)
            here = rows[slice(*np.searchsorted(rows, (first, last)))]
            if not len(here):  # partitions without a wanted row are not even begun
                return
            for position, batch in _batches_with_places(batches, first):
                cuts = np.searchsorted(here, (position, position + batch.num_rows))
                if cuts[1] > cuts[0]:
                    yield batch.take(pa.array(here[slice(*cuts)] - position))

        table = self.frame.mapInArrow(pick, self.frame.schema).toArrow()
        if len(table) != len(rows):
            raise changed(f"got {len(table):,} of the rows of `{self.name}` where {len(rows):,}")
        return table.rename_columns(self.columns)

    def sums(self, task: SketchTask, side: int) -> CellSums:
        """The sketch, made where the rows are."""
        firsts, name, columns = self.firsts, self.name, self.columns

        def work(batches: Batches) -> Batches:
            context = TaskContext.get()
            assert context is not None
            first, last = _here(firsts)
            position, sums = first, task.empty(side)
            try:
                with one_blas_thread():
                    for position, batch in _batches_with_places(batches, first):
                        table = pa.Table.from_batches([batch]).rename_columns(columns)
                        task.add(sums, side, table, position)
                        position += batch.num_rows
                if position != last:
                    came, counted = position - first, last - first
                    raise changed(f"got {came:,} in a partition of `{name}` where {counted:,} were")
            except InputError as error:
                yield _answer(context.partitionId(), None, str(error))
                return
            if last > first:
                yield _answer(context.partitionId(), sums.to_bytes(), None)

        sums, count = self.frame.mapInArrow(work, SUMS_TYPE), len(self.lengths)
        while count > FAN_IN:
            above = sql.floor(sql.col("part") / FAN_IN).alias("above")
            sums = sums.groupBy(above).applyInArrow(_added(task, side), SUMS_TYPE)
            count = -(-count // FAN_IN)
        return _total_of(task, side, sums.collect())


def _answer(part: int, data: bytes | None, complaint: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [{"part": part, "data": data, "complaint": complaint}], schema=SUMS
    )


def _added(task: SketchTask, side: int) -> Any:
    """The sum of neighbouring sums."""

    def work(sums: pa.Table) -> pa.Table:
        rows = sums.to_pylist()
        above = rows[0]["part"] // FAN_IN
        try:
            found = _answer(above, _total_of(task, side, rows).to_bytes(), None)
        except InputError as error:
            found = _answer(above, None, str(error))
        return pa.Table.from_batches([found])

    return work


def _total_of(task: SketchTask, side: int, rows: Sequence[Any]) -> CellSums:
    """The sum of what rows give; the first complaint is an error."""
    rows = sorted(rows, key=lambda row: row["part"])
    for row in rows:
        if row["complaint"] is not None:
            raise InputError(row["complaint"])
    empty = task.empty(side)
    return total([CellSums.from_bytes(bytes(row["data"]), like=empty) for row in rows])


def _gaps(frame: Any) -> dict[int, Any]:
    """For each column, by its position, whether a value is missing."""
    gaps = {}
    for i, (name, kind) in enumerate(frame.dtypes):
        gap = sql.col(name).isNull()
        gaps[i] = gap | sql.isnan(name) if kind in ("float", "double") else gap
    return gaps


def quoted(name: str) -> str:
    """A name of a column that may have dots in it."""
    return "`" + name.replace("`", "``") + "`"


def _here(firsts: Index) -> tuple[int, int]:
    """Positions of the first row of the partition that this task works on, and of its end."""
    context = TaskContext.get()
    assert context is not None  # this runs on an executor
    k, end = context.partitionId(), len(firsts) - 1
    return int(firsts[min(k, end)]), int(firsts[min(k + 1, end)])


def _batches_with_places(batches: Batches, first: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches, each with the position of its first row."""
    for batch in batches:
        yield first, batch
        first += batch.num_rows


@dataclass(frozen=True, eq=False)
class SparkPair:
    """Two samples in Spark data frames."""

    x: Counted
    y: Counted
    names: tuple[str, str] = ("x", "y")

    def census(self) -> tuple[Census, Census]:
        """Counts of the rows and their columns, of both samples."""
        return self.x.census, self.y.census

    def pilot(self, x: Index, y: Index) -> tuple[pa.Table, pa.Table]:
        """Rows of given numbers, brought here."""
        return self.x.pick(x), self.y.pick(y)

    def sums(self, task: SketchTask) -> tuple[CellSums, CellSums]:
        """The sketches of both."""
        return self.x.sums(task, 0), self.y.sums(task, 1)


def spark_pair(x: Any, y: Any, options: Options) -> tuple[SparkPair, Options]:
    """Two Spark data frames, counted; columns are named one by one."""
    for name, frame in (("x", x), ("y", y)):
        if not all(hasattr(frame, a) for a in ("mapInArrow", "groupBy", "schema")):
            raise InputError(
                f"`{name}` must be a Spark data frame, got {type(frame).__name__}. Both samples "
                "must be on the cluster, or both in memory."
            )
    options = settled_columns(_spark_columns(x), _spark_columns(y), options)
    return SparkPair(Counted.of(x, "x", options), Counted.of(y, "y", options)), options


def _spark_columns(frame: Any) -> pa.Table:
    """Its columns, without rows: names are all that is looked at."""
    return pa.table({name: pa.nulls(0) for name in frame.columns})
