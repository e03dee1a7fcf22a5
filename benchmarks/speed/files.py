"""Tests of files larger than memory, beside reading them with pyarrow alone.

    python -m benchmarks.speed.files --rows 100000000 --folder /data

By default two files of 50 million rows each, 100 million in all, or as many as half of the disk's
free space holds.

Every measurement is a process of its own, for its peak of memory, after a small test that loads the
compiled loops. They run in turns, and the fastest of each counts. The files hold normal numbers.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, COLUMNS, GROUP = 50_000_000, 10, 1 << 20
WAYS = ("in batches", "by group", "in order", "mixed")


def write_pair(folder: Path, rows: int) -> None:
    """Two files of so many rows each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for seed, name in enumerate("xy"):
        rng = np.random.default_rng(seed)
        fields = [(f"c{j}", pa.float64()) for j in range(COLUMNS)]
        file = folder / f"{name}.parquet"
        with pq.ParquetWriter(file, pa.schema(fields), use_dictionary=False) as writer:
            for start in range(0, rows, GROUP):
                values = rng.standard_normal((COLUMNS, min(GROUP, rows - start)))
                writer.write_table(pa.table(list(values), schema=writer.schema))


def read_alone(folder: Path, way: str) -> int:
    """All rows of both files, read by pyarrow and dropped."""
    import pyarrow.parquet as pq

    count = 0
    for name in "xy":
        # As pyarrow comes, batches keep all that was read of a file, until its end.
        file = pq.ParquetFile(folder / f"{name}.parquet", buffer_size=1 << 16, pre_buffer=False)
        if way == "in batches":
            count += sum(len(batch) for batch in file.iter_batches())
        else:
            count += sum(len(file.read_row_group(i)) for i in range(file.num_row_groups))
    return count


def test_them(folder: Path, way: str) -> int:
    import nosplit

    paths = folder / "x.parquet", folder / "y.parquet"
    return nosplit.two_sample_test(*paths, shuffle=way == "mixed").n_used


def warm_up() -> None:
    """Load the compiled loops with a small test."""
    from nosplit.data.files import whole

    usual, whole.SMALL = whole.SMALL, 0
    with tempfile.TemporaryDirectory() as folder:
        write_pair(Path(folder), 100_000)
        for way in ("in order", "mixed"):
            test_them(Path(folder), way)
    whole.SMALL = usual


def measure(folder: Path, way: str) -> None:
    """Print seconds and the peak of memory, in MB."""
    if way in ("in order", "mixed"):
        warm_up()
    start = time.perf_counter()
    (read_alone if way in ("in batches", "by group") else test_them)(folder, way)
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    print(seconds, peak / 1e3)


def measured(folder: Path, repeats: int) -> dict[str, tuple[float, float]]:
    """Seconds and MB of each way, best of several runs in turns."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(repeats):
        for way in WAYS:
            command = [
                sys.executable,
                "-m",
                "benchmarks.speed.files",
                "--measure",
                way,
                "--folder",
                str(folder),
            ]
            # As for users: pyarrow takes its number of threads from this variable.
            env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
            out = subprocess.run(
                command, capture_output=True, text=True, check=True, env=env
            ).stdout
            seconds, peak = map(float, out.split())
            old = best.get(way, (float("inf"), 0.0))
            best[way] = min(old[0], seconds), max(old[1], peak)
    return best


def rows(
    number: int = ROWS, folder: Path | None = None, repeats: int = 3
) -> list[tuple[str, str, str]]:
    """Lines of the table."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        number = min(number, shutil.disk_usage(place).free // (2 * 2 * 8 * COLUMNS))
        write_pair(Path(place), number)
        os.sync()  # what is still to be written would slow the first measurement down
        size = sum(file.stat().st_size for file in Path(place).iterdir())
        best = measured(Path(place), repeats)
    millions = f"2 × {number / 1e6:g} million rows × {COLUMNS}"

    def line(what: str, way: str, aim: str) -> tuple[str, str, str]:
        seconds, peak = best[way]
        value = f"{seconds:.1f} s, {size / seconds / 1e9:.2f} GB/s, {peak:,.0f} MB"
        if way in ("in order", "mixed"):
            ratios = [
                f"{best[w][0] / seconds:.2f} of pyarrow {w}" for w in ("by group", "in batches")
            ]
            value = f"{', '.join(ratios)} ({value})"
        return f"{what}, {millions}", value, aim

    return [
        line("parquet: pyarrow alone, in batches", "in batches", "report"),
        line("parquet: pyarrow alone, by row group", "by group", "report"),
        line("parquet: test, in order", "in order", "≥ 0.8, < 1000 MB"),
        line("parquet: test, mixed (default)", "mixed", "≥ 0.4, < 1000 MB"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="of each of two files")
    parser.add_argument("--folder", type=Path, help="where to write them")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.folder, arguments.measure)
        return
    for line in rows(arguments.rows, arguments.folder, arguments.repeats):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
