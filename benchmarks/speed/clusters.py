"""Tests on Dask and Spark, beside a plain sum of every column on the same engine.

    python -m benchmarks.speed.clusters --rows 2000000 --parts 16

Prints the time of a test over that of the sums. Everything runs in one process here (Dask's
threads, Spark's local mode), so that the times are those of the work and of the engine, not of a
network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 10


def seconds(work: Callable[[], Any], repeats: int = 2) -> float:
    """The fastest of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def on_dask(folder: Path, parts: int) -> tuple[float, float]:
    """Seconds of a test, and of the sums."""
    import dask.dataframe as dd

    from nosplit import two_sample_test

    x, y = (dd.read_parquet(folder / name) for name in "xy")
    assert x.npartitions == parts
    return (
        seconds(lambda: two_sample_test(x, y)),
        seconds(lambda: dd.compute(x.sum(), y.sum())),
    )


def on_spark(folder: Path, parts: int) -> tuple[float, float]:
    """The same on Spark."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as sql

    from nosplit import two_sample_test

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = session.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    x, y = (spark.read.parquet(str(folder / name)) for name in "xy")

    def sums() -> None:
        for frame in (x, y):
            frame.agg(*(sql.sum(c) for c in frame.columns)).collect()

    found = seconds(lambda: two_sample_test(x, y)), seconds(sums)
    spark.stop()
    return found


def write(folder: Path, rows: int, parts: int) -> None:
    """Two folders of so many files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for seed, name in enumerate("xy"):
        rng = np.random.default_rng(seed)
        (folder / name).mkdir()
        for k in range(parts):
            values = rng.standard_normal((COLUMNS, rows // parts))
            table = pa.table({f"c{j}": column for j, column in enumerate(values)})
            pq.write_table(table, folder / name / f"{k:04}.parquet")


def rows(number: int = 2_000_000, parts: int = 16) -> list[tuple[str, str, str]]:
    """Lines of the table."""
    engines = {"Dask": on_dask} | ({"Spark": on_spark} if shutil.which("java") else {})
    lines = []
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), number, parts)
        for name, work in engines.items():
            test, sums = work(Path(place), parts)
            what = f"{name}: test, 2 × {number / 1e6:g} million rows × {COLUMNS}, 2 × {parts} parts"
            value = f"{test / sums:.1f} times the sum of all columns ({test:.1f} s)"
            lines.append((what, value, "report"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="of each of two samples")
    parser.add_argument("--parts", type=int, default=16, help="partitions of each")
    arguments = parser.parse_args()
    for line in rows(arguments.rows, arguments.parts):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
