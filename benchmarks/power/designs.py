"""Power of tests with a design: the paired test beside the unpaired one, and the others.

python -m benchmarks.power.designs --trials 200
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

import numpy as np

import nosplit
from benchmarks.common import designed_problems as problems

# Name, problem, effect, and what the test beside it is.
ROWS = {
    "pairs, correlation .8, shift .2": (problems.pairs, 0.2, "unpaired"),
    "pairs, correlation .5, shift .3": (
        partial(problems.pairs, correlation=0.5),
        0.3,
        "unpaired",
    ),
    "pairs, correlation 0, shift .4": (partial(problems.pairs, correlation=0.0), 0.4, "unpaired"),
    "three strata, shift .5": (problems.strata, 0.5, None),
    "many small strata, shift .5": (problems.small_strata, 0.5, None),
    "groups of 20 rows, shift 1": (problems.groups, 1.0, "means of groups"),
    "groups of both samples, shift .4": (problems.groups_of_both, 0.4, None),
}


def means(x, y, groups):
    """The means of groups, taken for rows."""
    return [
        np.stack([rows[ids == g].mean(axis=0) for g in np.unique(ids)])
        for rows, ids in zip((x, y), groups, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    options = parser.parse_args()
    print(f"{'problem':40s} with its design   beside", flush=True)
    for name, (problem, effect, beside) in ROWS.items():
        found = np.zeros((options.trials, 2))
        for trial in range(options.trials):
            x, y, design = problem(np.random.default_rng([18, trial]), effect)
            test = partial(nosplit.two_sample_test, calibration=nosplit.Exact(199), workers=1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[trial, 0] = test(x, y, **design).reject(0.05)
                if beside is not None:
                    if "groups" in design:
                        x, y = means(x, y, design["groups"])
                    found[trial, 1] = test(x, y).reject(0.05)
        power = found.mean(axis=0)
        more = "" if beside is None else f"{power[1]:.3f} ({beside})"
        print(f"{name:40s} {power[0]:.3f}             {more}", flush=True)


if __name__ == "__main__":
    main()
