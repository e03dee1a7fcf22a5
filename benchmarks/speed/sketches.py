"""Speed of sketches: nanoseconds a row on one core, beside plain lines of NumPy in the same run.

python -m benchmarks.speed.sketches
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from functools import partial

import numpy as np

import nosplit


def best_of(times: int, work) -> float:
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def one_pass(x, frequencies, cells=1000):
    """Sines, cosines, dealing and sums of one kernel: what the test does with the rows of x."""
    from nosplit.kernels.defaults.recipes import as_recipe
    from nosplit.sketch.dealing import Deal
    from nosplit.sketch.maps import fit_map
    from nosplit.sketch.sums import sketch_rows

    recipe = as_recipe([nosplit.Gaussian(2.0)])
    made = fit_map(x[:1000], recipe, categorical=(), frequencies=frequencies, cells=cells, key=1)
    made = replace(made, bins=(), pairs=made.pairs[:0])
    deal = Deal(len(x), len(x) // cells, cells, key=2)
    return lambda: sketch_rows(made, x, deal, workers=1)


def plain(blocks, W, function) -> None:
    for block in blocks:
        function(block @ W)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--frequencies", type=int, default=192)
    options = parser.parse_args()
    n, F = options.rows, options.frequencies
    print("| p | sketch, ns a row | cos(x @ W), ns | x @ W, ns | over cos | over x @ W |")
    print("|--:|--:|--:|--:|--:|--:|")
    for p in (2, 10, 49, 300):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((n, p), dtype=np.float32)
        W = rng.standard_normal((p, F), dtype=np.float32)
        blocks = [x[i : i + 4096] for i in range(0, n, 4096)]
        work = one_pass(x, F)
        work()
        sketch = best_of(3, work)
        cosine = best_of(3, partial(plain, blocks, W, np.cos))
        product = best_of(3, partial(plain, blocks, W, np.asarray))
        ns = (1e9 * t / n for t in (sketch, cosine, product))
        ratios = f"{sketch / cosine:.2f} | {sketch / product:.2f}"
        print(f"| {p} | " + " | ".join(f"{t:.0f}" for t in ns) + f" | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
