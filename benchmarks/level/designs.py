"""Level of tests with a design at .05, beside that of the test that ignores it.

python -m benchmarks.level.designs --trials 2000
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from functools import partial

import numpy as np
from scipy.stats import binom

import nosplit
from benchmarks.common import designed_problems as problems

SKETCH = {"pairs": nosplit.Sketch(frequencies=16)}
# Name, problem, test, keywords.
DESIGNS = {
    "groups": (problems.groups, nosplit.two_sample_test, {}),
    "strata": (problems.strata, nosplit.two_sample_test, {}),
    "independence given a stratum": (problems.given_a_stratum, nosplit.independence_test, {}),
    "groups of both samples": (problems.groups_of_both, nosplit.two_sample_test, {}),
    "many small strata": (problems.small_strata, nosplit.two_sample_test, {}),
    "pairs": (problems.pairs, nosplit.two_sample_test, {}),
    "groups in strata": (problems.groups_in_strata, nosplit.two_sample_test, {}),
    "strata, sketch": (partial(problems.strata, rows=4), nosplit.two_sample_test, SKETCH),
    "many small strata, sketch": (
        partial(problems.small_strata, strata=400),
        nosplit.two_sample_test,
        {"pairs": nosplit.Sketch(cells=200, frequencies=16)},
    ),
    "pairs, sketch": (partial(problems.pairs, n=300), nosplit.two_sample_test, SKETCH),
}
# Name, sizes, which differ, with which sample all are compared, and draws.
SEVERAL = {
    "4 samples, alike: overall": ([30, 40, 50, 30], (), None, nosplit.Exact(199)),
    "4 samples, one differs: any false pair": ([30, 40, 50, 30], (3,), None, nosplit.Exact(199)),
    "5 samples, two alike but changed": ([30] * 5, (3, 4), None, nosplit.Exact(199)),
    "8 samples, two differ: any false pair": ([30] * 8, (2, 5), None, "auto"),
    "20 samples against a control, half differ": ([30] * 20, range(10, 20), 0, "auto"),
}


def rejects(problem, test, more, trial, ignored):
    """Whether a test of a true null hypothesis rejects, with its design or without."""
    rng = np.random.default_rng([16, trial])
    x, y, design = problem(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            test(
                x,
                y,
                **({} if ignored else design),
                calibration=nosplit.Exact(199),
                rng=trial,
                workers=1,
                **more,
            ).pvalue
            <= 0.05
        )


def any_false(sizes, changed, control, calibration, trial):
    """Whether any two samples that are alike are said to differ; the overall test if all are."""
    rng = np.random.default_rng([17, trial])
    samples = problems.several(rng, sizes, changed, effect=1.0)
    res = nosplit.k_sample_test(
        samples,
        control=control,
        kernels="paper2",
        calibration=calibration,
        follow_up=bool(len(changed)),
        rng=trial,
        workers=1,
    )
    if not len(changed):
        return res.reject(0.05)
    kind = [k in changed for k in range(len(sizes))]
    return any(kind[int(a)] == kind[int(b)] for a, b in res.differing(0.05))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--ignored", type=int, default=200, help="trials of the test that ignores")
    parser.add_argument("--only", default="", help="rows whose names match this")
    options = parser.parse_args()
    names = [name for name in (*DESIGNS, *SEVERAL) if re.search(options.only, name)]
    # Between these lie all rows of a test of level .05, but for one in a thousand runs.
    outside = 0.001 / len(names) / 2
    low, high = (binom.ppf(q, options.trials, 0.05) for q in (outside, 1 - outside))
    print(f"between {low / options.trials:.4f} and {high / options.trials:.4f} is within chance")
    print(f"{'design':44s} level    ignored  seconds a test", flush=True)
    for name in names:
        start = time.process_time()
        if name in DESIGNS:
            problem, test, more = DESIGNS[name]
            run = partial(rejects, problem, test, more)
            level = np.mean([run(t, ignored=False) for t in range(options.trials)])
        else:
            level = np.mean([any_false(*SEVERAL[name], t) for t in range(options.trials)])
        seconds = (time.process_time() - start) / options.trials
        naive = ""
        if name in DESIGNS:
            naive = f"{np.mean([run(t, ignored=True) for t in range(options.ignored)]):.3f}"
        print(f"{name:44s} {level:.4f}   {naive:8s} {seconds:.3f}", flush=True)


if __name__ == "__main__":
    main()
