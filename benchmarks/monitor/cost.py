"""Time of a row: ten columns, in batches of 1,000, over a long stream.

python -m benchmarks.monitor.cost --rows 1000000
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import nosplit


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(20_000, 10))
    monitor = nosplit.Monitor(guarantee="rate", every=10**9)
    monitor.update(pool[:2000], pool[2000:4000])  # compiles
    tenth = options.rows // 10
    for part in range(10):
        started = time.process_time()
        for _ in range(tenth // 1000):
            i, j = rng.integers(19_000, size=2)
            monitor.update(pool[i : i + 1000], pool[j : j + 1000])
        seconds = time.process_time() - started
        rate = 2 * tenth / seconds
        print(
            f"pairs up to {(part + 1) * tenth:,}: {1e6 * seconds / tenth:.1f} microseconds a pair, "
            f"{rate:,.0f} rows a second of both streams together",
            flush=True,
        )


if __name__ == "__main__":
    main()
