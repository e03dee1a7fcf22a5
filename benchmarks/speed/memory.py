"""Peak memory and processor time of the default two-sample test, over rows and columns.

    python -m benchmarks.speed.memory --rows 500 2000 20000 --columns 4 20

Every cell is a process of its own. What is compiled, and the libraries for tables, are there
before: `before` is the most that the process had until then, `peak` the most with the test, and
`added` what lies between. `plan` is what `nosplit.plan` foretells, times the speed of the machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

import nosplit

KINDS = ("array", "table")


def sample(rng, kind, n, p):
    """Normal rows; or numbers of which one has gaps, two columns of text and a flag."""
    if kind == "array":
        return rng.normal(size=(n, p))
    import pandas as pd

    columns = {f"v{j}": rng.lognormal(size=n) for j in range(p - 3)}
    columns["v0"][rng.random(n) < 0.05] = np.nan
    columns["letter"] = rng.choice(list("ABCDEFGH"), n)
    columns["city"] = rng.choice([f"city {i}" for i in range(40)], n)
    columns["flag"] = rng.random(n) < 0.1
    return pd.DataFrame(columns)


def test(x, y, kind, **options):
    """The default test, but for missing values and one thread."""
    if kind == "table":
        options["nan_policy"] = "indicate"
    return nosplit.two_sample_test(x, y, workers=1, **options)


def peak() -> float:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def cell(kind: str, n: int, m: int, p: int) -> None:
    """Measure one cell, and print it."""
    warnings.simplefilter("ignore")
    rng, few = np.random.default_rng(0), nosplit.Exact(19)
    for rows, options in (((30, 30), {}), ((30, 40), {}), ((500, 500), {"pairs": "sketch"})):
        some = [sample(rng, kind, size, p) for size in rows]
        test(*some, kind, calibration=few, **options)
    x, y = sample(rng, kind, n, p), sample(rng, kind, m, p)
    before, start = peak(), time.process_time()
    result = test(x, y, kind)
    spent, most = time.process_time() - start, peak()
    extra = {"p": p + 1, "categorical": 3} if kind == "table" else {"p": p}
    foretold = nosplit.plan(n=n, m=m, **extra).estimated_seconds()
    print(
        f"{kind:5s} {n:7d} {m:7d} {p:4d}  {result.how.pairs:9s} {before:7.0f} {most:7.0f} "
        f"{most - before:7.0f} {spent:7.2f} {foretold:7.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000, 20_000, 200_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[4, 20])
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        kind, *sizes = options.cell
        cell(kind, *map(int, sizes))
        return
    print(
        "kind     rows of x, y   p  pairs      before    peak   added  seconds   plan", flush=True
    )
    for kind in KINDS:
        for p in options.columns:
            for n in options.rows:
                for m in (n, 3 * n):
                    call = ["--cell", kind, *map(str, (n, m, p))]
                    subprocess.run(
                        [sys.executable, "-m", "benchmarks.speed.memory", *call], check=True
                    )


if __name__ == "__main__":
    main()
