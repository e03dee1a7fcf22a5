"""Power of the default test on large samples, beside what people would use instead.

    python -m benchmarks.power.sketches --trials 100
    PYTHONPATH=OLD/src python -m benchmarks.power.sketches --only nosplit   # another version

`--only nosplit` needs nothing but nosplit, so that another version of it can be measured with the
same data.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import nosplit
from benchmarks.common.large_problems import PROBLEMS


def default(x, y, seed):
    return nosplit.two_sample_test(x, y, rng=seed).pvalue


def columns(x, y, seed):
    """Kolmogorov-Smirnov tests of all columns, with Bonferroni's correction."""
    from scipy.stats import ks_2samp

    return min(1.0, x.shape[1] * min(ks_2samp(a, b).pvalue for a, b in zip(x.T, y.T, strict=True)))


def boosting(x, y, seed):
    """A classifier learned on half of the rows; its accuracy on the other half."""
    from scipy.stats import norm
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    rows, labels = np.vstack([x, y]), np.repeat([0, 1], [len(x), len(y)])
    order = rng.permutation(len(rows))
    learn, test = np.array_split(order, 2)
    model = HistGradientBoostingClassifier(random_state=seed).fit(rows[learn], labels[learn])
    right = np.mean(model.predict(rows[test]) == labels[test])
    return float(norm.sf((right - 0.5) * 2 * np.sqrt(len(test))))


TESTS = {"nosplit": default, "KS, Bonferroni": columns, "boosting on halves": boosting}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--only", choices=list(TESTS), nargs="*", default=list(TESTS))
    options = parser.parse_args()
    print("| problem | " + " | ".join(f"{name} | s" for name in options.only) + " |")
    print("|---|" + "--:|--:|" * len(options.only))
    for label, draw in PROBLEMS.items():
        found = {name: [0, 0.0] for name in options.only}
        for trial in range(options.trials):
            x, y = draw(options.rows, np.random.default_rng([20_000, trial]))
            for name in options.only:
                start = time.process_time()
                found[name][0] += TESTS[name](x, y, trial) <= 0.05
                found[name][1] += time.process_time() - start
        each = ((hits / options.trials, s / options.trials) for hits, s in found.values())
        cells = (f"{share:.2f} | {seconds:.2f}" for share, seconds in each)
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
