"""Short series, easily taken for independent rows: what is rejected, and what it is called.

    python -m benchmarks.level.short_series --trials 400

Nothing differs: every rejection is a false alarm. AR(1) with standard normal margins.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import nosplit
from benchmarks.common.pages import fine_share, table
from benchmarks.level.nulls import ar1


def _two(rng, n, p, phi):
    return ar1(rng, n, p, phi), ar1(rng, n, p, phi)


def _strata(rng, n, p, phi):
    half = np.arange(n) // (n // 2 + 1)
    return nosplit.two_sample_test(*_two(rng, n, p, phi), strata=(half, half))


TESTS = {
    "two samples": lambda *a: nosplit.two_sample_test(*_two(*a)),
    "in pairs": lambda *a: nosplit.two_sample_test(*_two(*a), paired=True),
    "in strata": _strata,
    "half as many more": lambda rng, n, p, phi: nosplit.two_sample_test(
        ar1(rng, n, p, phi), ar1(rng, 3 * n // 2, p, phi)
    ),
    "three samples": lambda *a: (
        nosplit.k_sample_test([ar1(*a) for _ in range(3)], follow_up=False).overall
    ),
    "columns": lambda *a: nosplit.column_tests(*_two(*a)),
    "two variables": lambda *a: nosplit.independence_test(*_two(*a)),
    "means": lambda *a: nosplit.mean_test(ar1(*a), symmetric=True),
    "a model": lambda rng, n, p, phi: nosplit.goodness_of_fit_test(
        ar1(rng, n, p, phi), lambda x: -x
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 40, 60, 120])
    parser.add_argument("--phi", type=float, nargs="+", default=[0.0, 0.3, 0.5, 0.9])
    parser.add_argument("--columns", type=int, default=1)
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=["two samples"])
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    head = [
        "test",
        "rows",
        "φ",
        "rejected",
        "warned of or refused",
        "called exact",
        "of these rejected",
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
                        result = TESTS[name](rng, n, o.columns, phi)
                    except nosplit.InputError:  # too short to say anything
                        found.append((False, True, False))
                        continue
                    hit = bool(result.differing()) if name == "columns" else result.reject()
                    said = any("DependentRows" in text for text in result.warnings)
                    found.append((hit, said, result.calibration == "exact"))
                hit, said, exact = np.array(found).T
                shares = [fine_share(x.mean()) for x in (hit, said, exact, hit & exact)]
                print(f"| {name} | {n} | {phi:g} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
