"""Blocks of units on Spark, by functions of Arrow batches alone.

Three steps, none of which brings the rows to the driver: count the rows of each partition; send
each row, as numbers, to the block that its position belongs to; let each block give its `Moments`,
and add these by a tree. Everything that is counted is a row tagged by its block, so a task that is
run again (a lost worker, a speculative copy) replaces what it gave before: it cannot count twice.

What is wrong with the data travels as a row too: Spark would try an exception four times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as sql

from nosplit._support.types import Index
from nosplit.data.options import Options
from nosplit.engines.clusters.layout import Block
from nosplit.engines.clusters.parts import FAN_IN, Part, Task, changed
from nosplit.engines.clusters.spark_rows import PIECE, SUM, Runs, joined, spark_type, table_of
from nosplit.engines.clusters.two_sample import Cluster, Found, Reader, cluster_test, settled
from nosplit.errors import InputError
from nosplit.kernels.recipes import Kernels
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing

__all__ = ["Counted", "SparkCluster", "spark_test"]

Batches = Iterator[pa.RecordBatch]

# Numbers in a block, both samples together: 16 MB.
BLOCK_NUMBERS = 1 << 21


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
    missing : frozenset of str
        Columns in which something is missing, if that was asked for.
    """

    name: str
    frame: Any
    columns: tuple[str, ...]
    lengths: tuple[int, ...]
    left_out: int = 0
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, frame: Any, name: str, options: Options) -> Counted:
        """Count the rows of each partition of some columns of a data frame."""
        columns, policy = options.columns or (), options.nan_policy
        # `mapInArrow` cannot find columns with dots in their names.
        frame = frame.select([sql.col(quoted(c)).alias(f"c{i}") for i, c in enumerate(columns)])
        kept = frame.na.drop() if policy == "omit" else frame
        gaps = _gaps(frame) if policy == "indicate" else {}
        counts = [sql.count(sql.lit(1)), *(sql.max(gap) for gap in gaps.values())]
        parts = kept.groupBy(sql.spark_partition_id()).agg(*counts).collect()
        found = {part: n for part, n, *_ in parts}
        lengths = tuple(found.get(k, 0) for k in range(max(found, default=-1) + 1))
        flags = zip(gaps, zip(*(some for _, _, *some in parts), strict=True), strict=gaps != {})
        missing = frozenset(columns[i] for i, some in flags if any(some))
        left_out = frame.count() - sum(lengths) if policy == "omit" else 0
        return cls(name, kept, columns, lengths, left_out, missing)

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    @property
    def firsts(self) -> Index:
        """Position of the first row of each partition, and of the end."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def read(self, runs: Sequence[range]) -> pa.Table:
        """A few runs of rows in ascending order, brought here."""
        firsts = self.firsts

        def pick(batches: Batches) -> Batches:
            first, last = _here(firsts)
            # Partitions without a wanted row are not even begun.
            if any(run.start < last and run.stop > first for run in runs):
                for position, batch in _placed(batches, first):
                    for run in runs:
                        start = max(run.start - position, 0)
                        if start < min(run.stop - position, batch.num_rows):
                            yield batch.slice(start, run.stop - position - start)

        table = self.frame.mapInArrow(pick, self.frame.schema).toArrow()
        return table.rename_columns(self.columns)

    def pieces(self, runs: Runs, reader: Reader) -> Any:
        """All rows as numbers, in pieces tagged by the block that reads them."""
        firsts, name, columns = self.firsts, self.name, self.columns

        def cut(batches: Batches) -> Batches:
            first, last = _here(firsts)
            position = first
            try:
                for position, batch in _placed(batches, first):
                    table = pa.Table.from_batches([batch]).rename_columns(columns)
                    rows = reader(table, name, position)
                    yield from table_of(PIECE, list(runs.cut(rows, position))).to_batches()
                    position += batch.num_rows
                if position != last:
                    came, counted = position - first, last - first
                    raise changed(f"got {came:,} in a partition of `{name}` where {counted:,} were")
            except InputError as error:
                yield from table_of(PIECE, [(0, 0, 0, b"", str(error))]).to_batches()

        return self.frame.mapInArrow(cut, spark_type(PIECE)).groupBy("block")


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


def _placed(batches: Batches, first: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches, each with the position of its first row."""
    for batch in batches:
        yield first, batch
        first += batch.num_rows


@dataclass(frozen=True, eq=False)
class SparkCluster(Cluster[Counted]):
    """Two samples in Spark data frames."""

    def read(self, x: Sequence[range], y: Sequence[range]) -> tuple[pa.Table, pa.Table]:
        """A few runs of rows of each sample, brought here, as they are."""
        return self.x.read(x), self.y.read(y)

    def cuts(self, width: int) -> range:
        """Units at which to begin another block: always the same for the same sizes."""
        size = max(2, int(BLOCK_NUMBERS / (width * self.samples.rows_per_unit)))
        return range(size, self.samples.n_units, size)

    def total(self, task: Task, blocks: Sequence[Block], reader: Reader) -> Part:
        """The sum of what the blocks give, by a tree of groups."""
        samples, kind = self.samples, spark_type(SUM)
        x = self.x.pieces(Runs.of(blocks, lambda units: samples.rows(units)[0]), reader)
        y = self.y.pieces(Runs.of(blocks, lambda units: samples.rows(units)[1]), reader)
        sums = x.cogroup(y).applyInArrow(_of_block(task, blocks), kind)
        n, d = len(blocks), len(task.bank)
        while n > FAN_IN:
            above = sql.floor(sql.col("block") / FAN_IN).alias("above")
            sums = sums.groupBy(above).applyInArrow(_of_sums(d), kind)
            n = -(-n // FAN_IN)
        rows = sorted(sums.collect(), key=lambda row: row["block"])
        return _total(rows, d)


def _of_block(task: Task, blocks: Sequence[Block]) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """What a block gives, from its pieces of x and of y."""

    def work(x: pa.Table, y: pa.Table) -> pa.Table:
        number = (x if x.num_rows else y)["block"][0].as_py()
        try:
            part = task.part(joined(x), joined(y), blocks[number])
        except InputError as error:
            return table_of(SUM, [(number, None, str(error))])
        return table_of(SUM, [(number, part.to_bytes(), None)])

    return work


def _of_sums(d: int) -> Callable[[pa.Table], pa.Table]:
    """The sum of neighbouring sums."""

    def work(sums: pa.Table) -> pa.Table:
        rows = sorted(sums.to_pylist(), key=lambda row: row["block"])
        number = rows[0]["block"] // FAN_IN
        try:
            return table_of(SUM, [(number, _total(rows, d).to_bytes(), None)])
        except InputError as error:
            return table_of(SUM, [(number, None, str(error))])

    return work


def _total(rows: Sequence[Any], d: int) -> Part:
    """The sum of what rows give, in their order; the first complaint is an error."""
    for row in rows:
        if row["complaint"] is not None:
            raise InputError(row["complaint"])
    return Part.total([Part.from_bytes(bytes(row["data"]), d) for row in rows])


def spark_test(
    x: Any,
    y: Any,
    options: Options,
    *,
    kernels: Kernels,
    method: Method | str,
    pairs: Pairing | str | int,
) -> Found:
    """Test two Spark data frames."""
    for name, frame in (("x", x), ("y", y)):
        if not all(hasattr(frame, a) for a in ("mapInArrow", "groupBy", "schema")):
            raise InputError(
                f"`{name}` must be a Spark data frame, got {type(frame).__name__}. For data in "
                "memory, use `nosplit.two_sample_test`."
            )
    options = settled(_empty(x), _empty(y), options)
    cluster = SparkCluster(Counted.of(x, "x", options), Counted.of(y, "y", options))
    return cluster_test(cluster, options, None, kernels=kernels, method=method, pairs=pairs)


def _empty(frame: Any) -> pa.Table:
    """Its columns, without rows: names are all that is looked at."""
    return pa.table({name: pa.nulls(0) for name in frame.columns})
