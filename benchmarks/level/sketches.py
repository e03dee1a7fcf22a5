"""Level of sketches, asked for at 2,000 rows: rejections of true null hypotheses at .05.

python -m benchmarks.level.sketches --trials 2000
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import binom

import nosplit


def _sorted(rows):
    return rows[np.argsort(rows[:, 0], kind="stable")]


def _table(n, rng):
    import pandas as pd

    delay = np.round(rng.exponential(20.0, n) - 5.0)
    delay[rng.random(n) < 0.02] = np.nan
    return pd.DataFrame(
        {
            "delay": delay,
            "distance": rng.lognormal(6.0, 1.0, n),
            "carrier": rng.choice(list("ABCDEF"), n, p=[0.5, 0.3, 0.15, 0.04, 0.007, 0.003]),
            "late": rng.random(n) < 0.01,
        }
    )


# Name, how x and y are drawn, and their sizes.
NULLS = {
    "sorted x, sorted y": (lambda n, rng: _sorted(rng.exponential(size=(n, 2))), 2000, 2000),
    "ties and integers": (lambda n, rng: rng.poisson(0.3, (n, 2)).astype(float), 2000, 2000),
    "heavy tails": (lambda n, rng: rng.standard_cauchy((n, 2)), 2000, 2000),
    "1 : 3": (lambda n, rng: rng.lognormal(size=(n, 2)), 2000, 6000),
    "2 : 3": (lambda n, rng: rng.lognormal(size=(n, 2)), 2000, 3000),
    "1 : 40, rare values": (lambda n, rng: 1.0 * (rng.random((n, 1)) < 0.005), 300, 12_000),
    "mixed tables": (_table, 2000, 2000),
    "mixed tables, 1 : 3": (_table, 1000, 3000),
}


SORTED, STREAM = "sorted x only", "stream in batches of 1 to 1,000"


def streamed(x, y, pairing, flips, seed):
    """The same from a stream whose batches have sizes of any order of magnitude."""
    acc = nosplit.TwoSampleAccumulator(pairs=pairing, rng=seed)
    sizes = np.random.default_rng([6, seed])
    start = 0
    while start < len(x):
        stop = start + int(10.0 ** sizes.uniform(0.0, 3.0))
        acc.update(x[start:stop], y[start:stop])
        start = stop
    return acc.result(n_resamples=flips)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--n-resamples", type=int, default=199)
    parser.add_argument("--only", default="", help="cells whose name has this in it")
    options = parser.parse_args()
    pairing = nosplit.Sketch(frequencies=16)
    names = [*NULLS, SORTED, STREAM]
    # Between these lie all cells of a test of level .05, but for one in a thousand runs.
    outside = 0.001 / len(names) / 2
    low, high = (binom.ppf(q, options.trials, 0.05) for q in (outside, 1 - outside))
    print(f"between {low / options.trials:.4f} and {high / options.trials:.4f} is within chance")
    for name in (name for name in names if options.only in name):
        draw, n, m = NULLS.get(name, (lambda n, rng: rng.exponential(size=(n, 2)), 2000, 2000))
        hits = 0
        for trial in range(options.trials):
            rng = np.random.default_rng([5, trial])
            x, y = draw(n, rng), draw(m, rng)
            if name == SORTED:
                x = _sorted(x)
            if name == STREAM:
                res = streamed(x, y, nosplit.Sketch(512, 16), options.n_resamples, trial)
            else:
                res = nosplit.two_sample_test(
                    x,
                    y,
                    pairs=pairing,
                    calibration=nosplit.Exact(options.n_resamples),
                    nan_policy="indicate",
                    rng=trial,
                    workers=1,
                )
            hits += res.pvalue <= 0.05
        mark = "" if low <= hits <= high else "  outside"
        print(f"{name:32s} {hits / options.trials:.4f}{mark}", flush=True)


if __name__ == "__main__":
    main()
