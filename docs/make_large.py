"""Draw time and memory of tests of growing files: `python docs/make_large.py --folder /data`.

Two parquet files of 10,000 to 100 million rows each; every test is a process of its own, on one
core. Takes about five minutes and 4 GB of disk, and prints what the landing page quotes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

STATIC = Path(__file__).parent / "_static"
SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
GROUP = 1 << 20


def write(file: Path, rows: int, seed: int, late: float) -> None:
    """Orders: minutes until they arrive, and prices."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    schema = pa.schema([("minutes", pa.float64()), ("price", pa.float64())])
    with pq.ParquetWriter(file, schema, use_dictionary=False) as writer:
        for start in range(0, rows, GROUP):
            n = min(GROUP, rows - start)
            minutes = rng.gamma(4.0, 8.0, n) + late
            writer.write_table(pa.table([minutes, rng.lognormal(3.0, 0.5, n)], schema=schema))


def measure(folder: Path) -> None:
    """Print seconds of processor time, peak memory in MB, and what the test says."""
    import nosplit

    warm = np.random.default_rng(0).normal(size=(2, 20_000, 2))
    nosplit.two_sample_test(*warm, pairs="sketch")  # loads the compiled loops
    start = time.process_time()
    res = nosplit.two_sample_test(folder / "last.parquet", folder / "this.parquet")
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"seconds": seconds, "peak": peak, "says": str(res)}))


def measured(rows: int, parent: Path | None) -> dict[str, object]:
    """One pair of files, tested in another process."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        write(Path(folder) / "last.parquet", rows, 1, 0.0)
        write(Path(folder) / "this.parquet", rows, 2, 0.02)
        command = [sys.executable, __file__, "--measure", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"rows": rows, **json.loads(done.stdout.splitlines()[-1])}


def draw(found: list[dict[str, object]]) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    rows = [line["rows"] for line in found]
    figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.1), layout="constrained")
    labels = {"seconds": "seconds of one core", "peak": "peak memory, MB"}
    for axis, (key, label) in zip(axes, labels.items(), strict=True):
        axis.plot(rows, [line[key] for line in found], "o-", color="#0072b2")
        axis.set(xscale="log", xlabel="rows of each file", ylabel=label)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yscale("log")
    axes[1].set_ylim(bottom=0)
    figure.savefig(STATIC / "large.png", dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to write the files")
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    found = []
    for rows in SIZES:
        if rows <= options.largest:
            found.append(measured(rows, options.folder))
            print(*found[-1].values(), sep="\n", flush=True)
    draw(found)


if __name__ == "__main__":
    main()
