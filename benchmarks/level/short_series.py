"""Short series, easily taken for independent rows: what is rejected, and what it is called.

    python -m benchmarks.level.short_series --trials 400
    python -m benchmarks.level.short_series --trials 400 --phi 0 --shift 4

Nothing differs: every rejection is a false alarm. AR(1) with standard normal margins. With a shift,
of so many over √n, what is found in independent rows although they may be a series.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import nosplit
from benchmarks.common.pages import fine_share, table
from benchmarks.level.nulls import ar1


class Draw:
    """Samples of one size, of which the first may be shifted."""

    def __init__(self, rng, n, p, phi, shift):
        self.rng, self.n, self.p, self.phi, self.shift = rng, n, p, phi, shift

    def one(self, *, first=False, n=None):
        rows = ar1(self.rng, n or self.n, self.p, self.phi)
        return rows + first * self.shift / np.sqrt(self.n)

    def two(self, *, m=None):
        return self.one(first=True), self.one(n=m)


def _strata(draw):
    half = np.arange(draw.n) // (draw.n // 2 + 1)
    return nosplit.two_sample_test(*draw.two(), strata=(half, half))


TESTS = {
    "two samples": lambda draw: nosplit.two_sample_test(*draw.two()),
    "in pairs": lambda draw: nosplit.two_sample_test(*draw.two(), paired=True),
    "in strata": _strata,
    "half as many more": lambda draw: nosplit.two_sample_test(*draw.two(m=3 * draw.n // 2)),
    "three samples": lambda draw: (
        nosplit.k_sample_test([*draw.two(), draw.one()], follow_up=False).overall
    ),
    "two variables": lambda draw: nosplit.independence_test(*draw.two()),
    "means": lambda draw: nosplit.mean_test(draw.one(first=True), symmetric=True),
    "a model": lambda draw: nosplit.goodness_of_fit_test(draw.one(first=True), lambda x: -x),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 40, 60, 120])
    parser.add_argument("--phi", type=float, nargs="+", default=[0.0, 0.3, 0.5, 0.9])
    parser.add_argument("--columns", type=int, default=1)
    parser.add_argument("--shift", type=float, default=0.0)
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=["two samples"])
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    head = [
        *("test", "rows", "φ", "rejected", "if taken for independent", "warned of or refused"),
        *("called exact", "of these rejected"),
    ]
    print(table(head, []), flush=True)
    warnings.simplefilter("ignore")
    for name in o.tests:
        for n in o.rows:
            for phi in o.phi:
                found = []
                for trial in range(o.trials):
                    rng = np.random.default_rng([o.seed, n, round(100 * phi), trial])
                    try:
                        result = TESTS[name](Draw(rng, n, o.columns, phi, o.shift))
                    except nosplit.InputError:  # too short to say anything
                        found.append((False, False, True, False))
                        continue
                    alone = result.pvalue_if_independent <= 0.05
                    said = any("DependentRows" in text for text in result.warnings)
                    found.append((result.reject(), alone, said, result.calibration == "exact"))
                hit, alone, said, exact = np.array(found).T
                shares = [fine_share(x.mean()) for x in (hit, alone, said, exact, hit & exact)]
                print(f"| {name} | {n} | {phi:g} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
