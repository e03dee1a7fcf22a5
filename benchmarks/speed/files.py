"""Tests of files larger than memory, beside reading them with pyarrow alone.

    python -m benchmarks.speed.files --rows 5000000 --folder /data

By default two files of 50 million rows each, 100 million in all, or as many as half of the disk's
free space holds; once in random order, and once sorted by their first column.

Every measurement is a process of its own, for its peak of memory, after a test of smaller files
that loads the compiled loops. They run in turns, and the fastest of each counts. The files hold
normal numbers.
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
# Rows from which two such files are not read whole: more than 20 million values together.
LARGE = 1_000_001
PLAIN, ALONE, TEST, WARM = "plain", "pyarrow", "test", "warm"
ORDERS = ("in random order", "sorted")


def write_pair(folder: Path, rows: int, order: str = ORDERS[0]) -> None:
    """Two files of so many rows each; sorted ones by their first column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(exist_ok=True)
    for seed, name in enumerate("xy"):
        rng = np.random.default_rng(seed)
        first = rng.standard_normal(rows)
        if order == "sorted":
            first.sort()
        fields = [(f"c{j}", pa.float64()) for j in range(COLUMNS)]
        file = folder / f"{name}.parquet"
        with pq.ParquetWriter(file, pa.schema(fields), use_dictionary=False) as writer:
            for start in range(0, rows, GROUP):
                part = first[start : start + GROUP]
                others = rng.standard_normal((COLUMNS - 1, len(part)))
                writer.write_table(pa.table([part, *others], schema=writer.schema))


def read_alone(folder: Path, **settings: int) -> int:
    """All rows of both files, read in batches by pyarrow and dropped."""
    import pyarrow.parquet as pq

    count = 0
    for name in "xy":
        file = pq.ParquetFile(folder / f"{name}.parquet", **settings)
        count += sum(len(batch) for batch in file.iter_batches())
    return count


def test_them(folder: Path) -> int:
    import nosplit

    return nosplit.two_sample_test(folder / "x.parquet", folder / "y.parquet").how.n_used


# As pyarrow comes, batches keep all that was read of a file until its end; the second way does not.
WAYS = {
    PLAIN: read_alone,
    ALONE: lambda folder: read_alone(folder, buffer_size=1 << 16, pre_buffer=False),
    TEST: test_them,
}


def measure(folder: Path, way: str) -> None:
    """Print seconds and the peak of memory, in MB."""
    if way == TEST:
        test_them(folder / WARM)
    start = time.perf_counter()
    WAYS[way](folder)
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
    lines = []
    for order in ORDERS:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            number = min(number, shutil.disk_usage(place).free // (2 * 2 * 8 * COLUMNS))
            write_pair(Path(place), number, order)
            write_pair(Path(place) / WARM, LARGE)
            os.sync()  # what is still to be written would slow the first measurement down
            best = measured(Path(place), repeats)
        what = f"2 × {number / 1e6:g} million rows × {COLUMNS}, {order}"
        seconds, peak = best[TEST]
        ratio = f"{seconds / best[PLAIN][0]:.1f} times pyarrow alone in batches, "
        ratio += f"{seconds / best[ALONE][0]:.1f} times if it keeps little in memory"
        speed = f"{2 * number / seconds / 1e6:.1f} million rows/s"
        value = f"{ratio} ({seconds:.1f} s, {speed}, {peak:,.0f} MB)"
        lines.append((f"parquet: test, {what}", value, "≤ 4, < 1000 MB"))
        for way, name in ((PLAIN, "as it comes"), (ALONE, "with little in memory")):
            value = f"{best[way][0]:.1f} s, {best[way][1]:,.0f} MB"
            lines.append((f"parquet: pyarrow alone in batches, {name}, {what}", value, "report"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=ROWS, help=f"of each of two files, at least {LARGE:,}"
    )
    parser.add_argument("--folder", type=Path, help="where to write them")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", choices=tuple(WAYS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rows < LARGE:
        parser.error(f"smaller files are read whole: --rows must be at least {LARGE:,}.")
    if arguments.measure:
        measure(arguments.folder, arguments.measure)
        return
    for line in rows(arguments.rows, arguments.folder, arguments.repeats):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
